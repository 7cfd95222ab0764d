//! Colours for terminals, and the cleaning of what files say before a terminal gets it.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Paints, or leaves as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    /// Whether colours are used.
    pub colour: bool,
    /// How many columns a row may have.
    pub width: usize,
}

/// A way to paint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Errors, and what is bad.
    Red,
    /// Warnings.
    Yellow,
    /// What is worth knowing, and code.
    Cyan,
    /// Repairs, and what is good.
    Green,
    /// Line numbers and frames.
    Blue,
    /// What matters.
    Bold,
    /// What matters less.
    Dim,
}

impl Paint {
    /// Without colours.
    pub const PLAIN: Self = Self { colour: false, width: 100 };

    /// What standard output can show: colours on a terminal, unless `NO_COLOR` or `CLICOLOR=0` say otherwise;
    /// `CLICOLOR_FORCE` asks for them anywhere.
    #[allow(clippy::disallowed_methods, reason = "the binary is where the environment is read")]
    pub fn for_output() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let terminal = std::io::stdout().is_terminal();
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let refused = set("NO_COLOR").is_some()
            || set("CLICOLOR").is_some_and(|value| value == "0")
            || set("TERM").is_some_and(|value| value == "dumb");
        let colour = !refused && terminal || forced && set("NO_COLOR").is_none();
        let columns = if terminal { columns() } else { None };
        Self { colour, width: columns.unwrap_or(Self::PLAIN.width).clamp(60, 240) }
    }

    /// The text in a style.
    pub fn paint(&self, style: Style, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match style {
            Style::Red => "1;31",
            Style::Yellow => "1;33",
            Style::Cyan => "36",
            Style::Green => "32",
            Style::Blue => "34",
            Style::Bold => "1",
            Style::Dim => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}

/// A text from a file without what would command the terminal or turn the reading direction.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(|one| is_unfit(one) && one != '\n') {
        Cow::Owned(
            text.chars().map(|one| if is_unfit(one) && one != '\n' { '\u{fffd}' } else { one }).collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a character must not reach a terminal as it is.
pub fn is_unfit(one: char) -> bool {
    one.is_control()
        || matches!(one, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}
