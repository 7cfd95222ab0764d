//! Where the desk speaks: answers on standard output, what is done for them on standard error.
//!
//! Promises: stored text reaches the terminal as text and nothing else. A reader that went away stops nothing. What is said
//! while a line is being edited stands above that line.

use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use super::fold::folded;
use crate::render::question::{plain, plain_page};
use crate::render::text::TextPrinter;
use crate::terminal::Asides;

/// Where the desk speaks.
pub struct Screen {
    printer: Arc<TextPrinter>,
    colour: bool,
    /// Whether a person looks at it.
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Says something above the line that is being edited.
    asides: Option<Asides>,
    /// Whether a line is being edited.
    prompts: bool,
    /// Keeps what is said instead of saying it: for programs.
    kept: Option<Vec<String>>,
}

impl Screen {
    /// With a printer that knows what is typed meanwhile.
    pub fn new(printer: Arc<TextPrinter>, colour: bool, terminal: bool) -> Self {
        Self { printer, colour, terminal, state: Mutex::default() }
    }

    /// Columns of the terminal, as wide as it is now. `None` where there is none.
    pub fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok().filter(|_| self.terminal)?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }

    /// Keeps what is said, for [`Screen::take`].
    pub fn keep(&self) {
        self.state().kept = Some(Vec::new());
    }

    /// What was said since.
    pub fn take(&self) -> Vec<String> {
        self.state().kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// With somebody who can say something above a line.
    pub fn beside(&self, asides: Option<Asides>) {
        self.state().asides = asides;
    }

    /// Whether colours are shown.
    pub fn colour(&self) -> bool {
        self.colour
    }

    /// A line is being edited from now on, or no more.
    pub fn prompting(&self, prompts: bool) {
        self.state().prompts = prompts;
    }

    /// Says something. Whatever a terminal would obey is spelled out.
    pub fn tell(&self, text: &str) {
        if !text.trim().is_empty() {
            self.shown(plain_page(text.trim_end()));
        }
    }

    /// Says something that has colours of its own, and was cleaned.
    pub fn painted(&self, text: &str) {
        self.shown(format!("{}\n", text.trim_end()));
    }

    /// Says what is wrong.
    pub fn fail(&self, problem: &str) {
        self.tell(&format!("✗ {problem}"));
    }

    /// Says what happens, in a dim row.
    pub fn note(&self, mark: &str, text: &str) {
        let text = text.lines().map(plain).collect::<Vec<_>>().join("\n  ");
        if self.state().kept.is_some() {
            return;
        }
        if self.is_prompting() {
            let row = format!("{mark} {text}");
            self.aside(if self.colour { format!("\x1b[2m{row}\x1b[0m\n") } else { format!("{row}\n") });
        } else {
            self.printer.aside(mark, &text);
        }
    }

    /// Says something to whoever started the program, on standard error.
    pub fn complain(&self, text: &str) {
        let _ = std::io::stderr().write_all(plain_page(text).as_bytes());
    }

    /// The same, in rows that fit: not for what is to be copied.
    pub fn warn(&self, text: &str) {
        let text = plain_page(text);
        let text = self.columns().map_or_else(|| text.clone(), |columns| folded(&text, columns));
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn shown(&self, text: String) {
        let text = match self.columns() {
            Some(columns) => folded(&text, columns),
            None => text,
        };
        if let Some(kept) = &mut self.state().kept {
            kept.push(text);
            return;
        }
        if self.is_prompting() {
            self.aside(text);
        } else {
            self.printer.tell(&text);
        }
    }

    fn is_prompting(&self) -> bool {
        let state = self.state();
        state.prompts && state.asides.is_some()
    }

    fn aside(&self, text: String) {
        if let Some(asides) = &mut self.state().asides {
            asides.print(text);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stored text as a part of a row: one line, whatever it has.
pub fn row(text: &str) -> String {
    plain(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A stored text of several lines, each so far in.
pub fn indented(text: &str, by: usize) -> String {
    let space = " ".repeat(by);
    let line = |line: &str| {
        if line.trim().is_empty() { "\n".to_owned() } else { format!("{space}{}\n", plain(line)) }
    };
    text.trim_end().lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_text_is_text() {
        assert_eq!(row("a\nb\t\x1b[31mc"), "a b \\u{1b}[31mc");
        assert_eq!(indented("a\x1b[2J\n\nb\n", 2), "  a\\u{1b}[2J\n\n  b\n");
    }
}
