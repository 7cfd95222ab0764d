//! Fenced blocks of a Markdown text, with the lines they stand on.

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    /// The first word after the opening backticks: `xml`, `expr`.
    pub language: String,
    /// The other words: `bad=SYN0412`, `inert`.
    pub options: Vec<(String, String)>,
    /// What stands between the lines of backticks.
    pub text: String,
    /// The line of the opening backticks, counted from 1.
    pub line: usize,
    /// Whether it has an end.
    pub closed: bool,
}

impl Fence {
    /// The value of an option; empty for one without a value.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A run of backticks that opens or closes a block, and what follows it.
fn ticks(line: &str) -> Option<(usize, &str)> {
    let line = line.trim_start_matches(' ');
    let count = line.bytes().take_while(|byte| *byte == b'`').count();
    (count >= 3).then(|| (count, line.get(count..).unwrap_or_default()))
}

/// The blocks of a text, in their order.
#[must_use]
pub fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut walk = Walk::default();
    let mut open: Option<Fence> = None;
    for (at, line) in text.lines().enumerate() {
        match walk.step(line) {
            Part::Opens(info) => {
                let mut words = info.split_whitespace();
                let language = words.next().unwrap_or_default().to_owned();
                let options = words.map(|word| word.split_once('=').unwrap_or((word, "")));
                let options = options.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
                open = Some(Fence { language, options, text: String::new(), line: at + 1, closed: false });
            }
            Part::Inside => {
                if let Some(open) = &mut open {
                    open.text.push_str(line);
                    open.text.push('\n');
                }
            }
            Part::Closes => {
                if let Some(mut done) = open.take() {
                    done.closed = true;
                    found.push(done);
                }
            }
            Part::Prose => {}
        }
    }
    found.extend(open);
    found
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Outside of every block.
    Prose,
    /// It opens a block, with these words.
    Opens(&'a str),
    /// Inside a block.
    Inside,
    /// It closes a block.
    Closes,
}

/// Follows a text line by line, and knows what is inside a block.
#[derive(Debug, Default)]
pub(super) struct Walk {
    open: usize,
}

impl Walk {
    /// What the next line is.
    pub(super) fn step<'a>(&mut self, line: &'a str) -> Part<'a> {
        match (self.open, ticks(line)) {
            (0, Some((count, info))) => {
                self.open = count;
                Part::Opens(info)
            }
            (0, None) => Part::Prose,
            (open, Some((count, info))) if count >= open && info.trim().is_empty() => {
                self.open = 0;
                Part::Closes
            }
            _ => Part::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_with_their_lines() {
        let text = "a\n```xml bad=SYN0401 inert\n<a>\n## not a heading\n</a>\n```\n\n````text\n```\n````\n```expr\nx";
        let found = fences(text);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].language.as_str(), found[0].line, found[0].closed), ("xml", 2, true));
        assert_eq!(found[0].text, "<a>\n## not a heading\n</a>\n");
        assert_eq!(found[0].option("bad"), Some("SYN0401"));
        assert_eq!(found[0].option("inert"), Some(""));
        assert_eq!(found[0].option("since"), None);
        assert_eq!((found[1].language.as_str(), found[1].text.as_str()), ("text", "```\n"));
        assert_eq!((found[2].line, found[2].closed), (11, false));
    }
}
