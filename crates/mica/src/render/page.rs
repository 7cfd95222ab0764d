//! A page of Markdown for the terminal: headings, paragraphs, lists and blocks of code.
//!
//! It knows as much Markdown as the pages of the codes use; everything else is printed as it is written.

use unicode_width::UnicodeWidthStr;

use super::paint::{Paint, Style};

/// The widest paragraph that reads well.
const WIDEST: usize = 100;

/// Renders a page.
pub fn render(markdown: &str, paint: Paint) -> String {
    let mut page = Page { paint, out: String::new(), paragraph: String::new() };
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            page.flush();
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
            page.code(info, &code);
        } else if line.trim().is_empty() {
            page.flush();
        } else if line.starts_with('#') {
            page.flush();
            page.heading(line.trim_start_matches('#').trim());
        } else if line.starts_with('|') {
            page.flush();
            page.row(line);
        } else {
            if line.starts_with("- ") || line.starts_with("* ") {
                page.flush();
            }
            if !page.paragraph.is_empty() {
                page.paragraph.push(' ');
            }
            page.paragraph.push_str(line.trim());
        }
    }
    page.flush();
    page.out
}

struct Page {
    paint: Paint,
    out: String,
    paragraph: String,
}

impl Page {
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn heading(&mut self, text: &str) {
        self.blank();
        self.out.push_str(&self.paint.paint(Style::Bold, text));
        self.out.push('\n');
    }

    fn row(&mut self, line: &str) {
        if !line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ')) {
            self.out.push_str(&inline(line.trim_matches('|').trim(), self.paint));
            self.out.push('\n');
        }
    }

    fn flush(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let paragraph = std::mem::take(&mut self.paragraph);
        let (first, rest, text) = match paragraph.strip_prefix("- ").or_else(|| paragraph.strip_prefix("* "))
        {
            Some(item) => ("  - ", "    ", item),
            None => ("", "", paragraph.as_str()),
        };
        // The items of a list stand close together.
        let listed = self.out.lines().last().is_some_and(|line| line.starts_with("  "));
        if first.is_empty() || !listed {
            self.blank();
        }
        let width = self.paint.width.min(WIDEST) - first.len();
        for (at, line) in wrap(text, width).iter().enumerate() {
            self.out.push_str(if at == 0 { first } else { rest });
            self.out.push_str(&inline(line, self.paint));
            self.out.push('\n');
        }
    }

    fn code(&mut self, info: &str, code: &[&str]) {
        self.blank();
        let (label, style) = match info.split_whitespace().nth(1) {
            Some(word) if word == "bad" || word.starts_with("bad=") => ("Bad:", Style::Red),
            Some("good") => ("Good:", Style::Green),
            Some("fixed") => ("Repaired:", Style::Green),
            Some("with") => ("With:", Style::Bold),
            _ => ("", Style::Dim),
        };
        if !label.is_empty() {
            self.out.push_str(&self.paint.paint(style, label));
            let named = info.split_whitespace().find_map(|word| word.strip_prefix("path="));
            if let Some(path) = named {
                self.out.push_str(&format!(" {}", self.paint.paint(Style::Dim, path)));
            }
            let runtime = info.split_whitespace().find_map(|word| word.strip_prefix("runtime="));
            if let Some(version) = runtime {
                self.out.push_str(&format!(" {}", self.paint.paint(Style::Dim, &format!("on {version}"))));
            }
            self.out.push('\n');
        }
        for line in code {
            self.out.push_str("    ");
            self.out.push_str(&self.paint.paint(Style::Cyan, line));
            self.out.push('\n');
        }
    }
}

/// Breaks a paragraph at blanks. Code between backticks is not broken.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut inside = false;
    for word in text.split(' ') {
        match words.last_mut() {
            Some(last) if inside => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
        inside ^= word.matches('`').count() % 2 == 1;
    }
    let mut lines = vec![String::new()];
    for word in words {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(word);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
    }
    lines
}

/// Code between backticks in colour; without colours the backticks stay, since they say where code ends.
fn inline(text: &str, paint: Paint) -> String {
    if !paint.colour {
        return text.to_owned();
    }
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    let styled = parts
        .iter()
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { paint.paint(Style::Cyan, part) } else { (*part).to_owned() });
    styled.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_rendered_for_terminals() {
        let page = "# Title\n\nA paragraph of\ntwo lines with `some code`.\n\n```xml bad path=a/b.xml\n<a>\n  <b/>\n```\n\n- one\n- two\n";
        assert_eq!(
            render(page, Paint { colour: false, width: 30 }),
            "Title\n\nA paragraph of two lines with\n`some code`.\n\nBad: a/b.xml\n    <a>\n      <b/>\n  - one\n  - two\n"
        );
        assert_eq!(
            render("Has `code`.", Paint { colour: true, width: 80 }),
            "Has \u{1b}[36mcode\u{1b}[0m.\n"
        );
    }
}
