//! Words in a line: links, emphasis, code.

use url::Url;

use super::noise::View;
use super::tree::{Id, Tree};

/// Bytes of an address in a link. Longer ones are data in disguise.
const ADDRESS: usize = 2_000;

/// Where links lead and what is read.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub(super) tree: &'a Tree,
    pub(super) view: &'a View,
    pub(super) base: Option<&'a Url>,
}

/// What the words are inside of. Each kind of emphasis counts once, so that nesting costs nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    link: bool,
    strong: bool,
    emphasis: bool,
    struck: bool,
}

/// Words on their way to a line.
#[derive(Debug, Default)]
pub(super) struct Words {
    text: String,
}

impl Words {
    /// Adds a text whose blanks mean nothing but "between words".
    fn flow(&mut self, text: &str) {
        for letter in text.chars() {
            if letter.is_ascii_whitespace() || letter == '\u{a0}' {
                self.space();
            } else if !is_unseen(letter) {
                self.text.push(letter);
            }
        }
    }

    /// A blank, unless one is there.
    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn line_break(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// The lines.
    pub(super) fn lines(&self) -> &str {
        self.text.trim()
    }

    /// All in one line.
    pub(super) fn line(&self) -> String {
        self.text.trim().replace('\n', " ")
    }
}

impl Page<'_> {
    /// Adds what a node says. Blocks inside become words of the line.
    pub(super) fn words(&self, id: Id, words: &mut Words) {
        self.add(id, words, Inside::default());
    }

    fn children(&self, id: Id, words: &mut Words, inside: Inside) {
        for child in &self.tree.node(id).children {
            self.add(*child, words, inside);
        }
    }

    fn add(&self, id: Id, words: &mut Words, inside: Inside) {
        if self.view.drops(self.tree, id) {
            return;
        }
        let node = self.tree.node(id);
        match node.tag {
            "" => words.flow(&node.text),
            "br" => words.line_break(),
            "img" => self.image(id, words, inside),
            "input" if node.attribute("type") == Some("checkbox") => {
                words.flow(if node.attribute("checked").is_some() { "[x] " } else { "[ ] " });
            }
            "input" => {}
            "a" if !inside.link => self.link(id, words, inside),
            "strong" | "b" if !inside.strong => {
                self.wrapped(id, words, "**", Inside { strong: true, ..inside });
            }
            "em" | "i" | "cite" | "dfn" if !inside.emphasis => {
                self.wrapped(id, words, "*", Inside { emphasis: true, ..inside });
            }
            "s" | "del" | "strike" if !inside.struck => {
                self.wrapped(id, words, "~~", Inside { struck: true, ..inside });
            }
            "code" | "kbd" | "samp" | "tt" => self.code(id, words),
            "q" => {
                words.text.push('"');
                self.children(id, words, inside);
                words.text.push('"');
            }
            "sup" | "sub" => {
                let mut inner = Words::default();
                self.children(id, &mut inner, Inside { link: true, ..inside });
                let inner = inner.line();
                let plain =
                    !inner.is_empty() && inner.chars().all(|c| c.is_alphanumeric() || "+-−".contains(c));
                if plain {
                    words.text.push(if node.tag == "sup" { '^' } else { '_' });
                }
                words.text.push_str(&inner);
            }
            "li" => {
                words.space();
                words.text.push_str("• ");
                self.children(id, words, inside);
                words.space();
            }
            _ if node.is_block() => {
                words.space();
                self.children(id, words, inside);
                words.space();
            }
            _ => self.children(id, words, inside),
        }
    }

    /// Words between two marks. Blanks at their ends stand outside, where Markdown wants them.
    fn wrapped(&self, id: Id, words: &mut Words, mark: &str, inside: Inside) {
        let mut inner = Words::default();
        // A blank that the words begin with would be lost: there is nothing before it in there.
        inner.text.push('\u{1}');
        self.children(id, &mut inner, inside);
        let all = inner.text.get(1..).unwrap_or_default();
        let core = all.trim();
        if core.is_empty() {
            if !all.is_empty() {
                words.space();
            }
            return;
        }
        if all.starts_with([' ', '\n']) {
            words.space();
        }
        // Emphasis does not reach over lines.
        let core = core.replace('\n', " ");
        words.text.push_str(mark);
        words.text.push_str(&core);
        words.text.push_str(mark);
        if all.ends_with([' ', '\n']) {
            words.space();
        }
    }

    fn code(&self, id: Id, words: &mut Words) {
        let mut raw = String::new();
        self.tree.text_of(id, &mut raw);
        let text = raw.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return;
        }
        let ticks = "`".repeat(longest_run(&text) + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        // Two pieces of code side by side would be read as one mark.
        if words.text.ends_with('`') {
            words.text.push(' ');
        }
        words.text.push_str(&format!("{ticks}{pad}{text}{pad}{ticks}"));
    }

    fn image(&self, id: Id, words: &mut Words, inside: Inside) {
        let node = self.tree.node(id);
        let mut alt = Words::default();
        alt.flow(node.attribute("alt").unwrap_or_default());
        let alt = alt.line();
        if alt.is_empty() {
            return;
        }
        let source = node.attribute("data-src").or_else(|| node.attribute("src"));
        match source.and_then(|source| self.absolute(source)).filter(|_| !inside.link) {
            Some(address) => words.text.push_str(&format!("![{}]({address})", bracketed(&alt))),
            None => words.text.push_str(&alt),
        }
    }

    fn link(&self, id: Id, words: &mut Words, inside: Inside) {
        let mut inner = Words::default();
        inner.text.push('\u{1}');
        self.children(id, &mut inner, Inside { link: true, ..inside });
        let all = inner.text.get(1..).unwrap_or_default();
        let text = all.trim().replace('\n', " ");
        if all.starts_with([' ', '\n']) {
            words.space();
        }
        words.text.push_str(&self.linked(id, &text));
        if all.ends_with([' ', '\n']) {
            words.space();
        }
    }

    /// A text that leads where an element does.
    pub(super) fn linked(&self, id: Id, text: &str) -> String {
        // Marks that link a heading to itself.
        if matches!(text, "" | "#" | "¶" | "§" | "🔗") {
            return String::new();
        }
        let address = self.tree.node(id).attribute("href").and_then(|href| self.absolute(href));
        match address {
            None => text.to_owned(),
            Some(address) => format!("[{}]({address})", bracketed(text)),
        }
    }

    /// Where a link leads, as an address that means the same elsewhere. None for what leads nowhere else.
    fn absolute(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || href.len() > ADDRESS {
            return None;
        }
        let address = match self.base {
            Some(base) => base.join(href).ok()?,
            None => match Url::parse(href) {
                Ok(address) => address,
                // Nobody said what it is relative to.
                Err(_) => return Some(marked(&href.replace([' ', '\n', '\t', '\r'], "%20"))),
            },
        };
        let leads = matches!(address.scheme(), "http" | "https" | "mailto" | "ftp");
        (leads && address.as_str().len() <= ADDRESS).then(|| marked(address.as_str()))
    }
}

/// An address that parentheses cannot end.
fn marked(address: &str) -> String {
    if address.contains(['(', ')', '<', '>']) {
        let clean = address.replace('<', "%3C").replace('>', "%3E");
        format!("<{clean}>")
    } else {
        address.to_owned()
    }
}

/// The text of a link, which brackets cannot end: pairs are fine, others are not.
fn bracketed(text: &str) -> String {
    let mut open = 0_i32;
    let balanced = text.chars().all(|letter| {
        open += match letter {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        open >= 0
    });
    if balanced && open == 0 { text.to_owned() } else { text.replace('[', "\\[").replace(']', "\\]") }
}

/// Letters that people do not see: hints for breaking words, marks of direction, and an alphabet nobody prints.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// The longest run of back-ticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}
