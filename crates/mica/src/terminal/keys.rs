//! Single keys while a run goes on: gathered into lines, without an echo.

use crate::terminal::Input;

/// A line that grows key by key.
#[derive(Debug, Default)]
struct Line {
    bytes: Vec<u8>,
    /// Inside an escape sequence, such as an arrow key sends.
    escape: Option<Escape>,
}

/// How far an escape sequence was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    Begun,
    Inside,
}

/// A line that somebody types is not longer.
const LONGEST: usize = 64 << 10;

impl Line {
    /// Takes a byte, and says what it completes.
    fn take(&mut self, byte: u8) -> Option<Input> {
        match (self.escape, byte) {
            (Some(Escape::Begun), b'[' | b'O') => self.escape = Some(Escape::Inside),
            (Some(Escape::Inside), 0x20..=0x3f) => {}
            (Some(_), 0x20..) => self.escape = None,
            (_, 0x03) => {
                *self = Self::default();
                return Some(Input::Interrupt);
            }
            (_, 0x04) if self.bytes.is_empty() => return Some(Input::End),
            (_, b'\r' | b'\n') => {
                let line = self.text();
                *self = Self::default();
                return Some(Input::Line(line));
            }
            (_, 0x7f | 0x08) => {
                let mut text = self.text();
                text.pop();
                self.bytes = text.into_bytes();
            }
            (_, 0x15) => self.bytes.clear(),
            (_, 0x17) => {
                let text = self.text();
                let kept = text.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.bytes.truncate(kept);
            }
            (_, 0x1b) => self.escape = Some(Escape::Begun),
            (_, b'\t') => self.bytes.push(b' '),
            (_, 0x20..) if self.bytes.len() < LONGEST => self.bytes.push(byte),
            _ => {}
        }
        None
    }

    /// The line so far. A character of which bytes are missing yet is left out.
    fn text(&self) -> String {
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(text) => return text.to_owned(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.bytes.len(),
        };
        String::from_utf8_lossy(self.bytes.get(..whole).unwrap_or_default()).into_owned()
    }
}

/// The keyboard, key by key. The terminal is as it was when this goes.
pub struct Keys {
    line: Line,
    /// What was being typed when a question came.
    aside: Option<Line>,
    ended: bool,
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

impl Keys {
    /// What was typed and not sent.
    pub fn line(&self) -> String {
        self.line.text()
    }

    /// Begins with what was typed before.
    pub fn begin(&mut self, text: &str) {
        self.line.bytes.extend_from_slice(text.as_bytes());
    }

    /// Begins an empty line and remembers this one.
    pub fn put_aside(&mut self) {
        self.give_back();
        self.aside = Some(std::mem::take(&mut self.line));
    }

    /// Goes on with the line that was put aside. What was typed since belongs behind it.
    pub fn give_back(&mut self) {
        if let Some(mut line) = self.aside.take() {
            line.bytes.append(&mut self.line.bytes);
            self.line = line;
        }
    }
}

#[cfg(unix)]
impl Keys {
    /// Takes the keyboard. Ctrl-C is a key too, so that it does not reach the processes that tools started.
    pub fn take() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut quiet = before.clone();
            quiet.local_modes -=
                LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &quiet);
        }
        Self { line: Line::default(), aside: None, ended: false, before }
    }

    /// What was typed by now; waits for nothing.
    pub fn pending(&mut self) -> Vec<Input> {
        let mut inputs = Vec::new();
        while !self.ended && is_ready(0) {
            inputs.extend(self.read());
        }
        inputs
    }

    /// What was typed; waits a moment for it.
    pub fn read(&mut self) -> Vec<Input> {
        use rustix::event::{Timespec, poll};
        let stdin = std::io::stdin();
        let moment = Timespec { tv_sec: 0, tv_nsec: MOMENT };
        if !is_ready(MOMENT) {
            return Vec::new();
        }
        if self.ended {
            // The input stays ready when it has ended: without a wait this would spin.
            let _ = poll(&mut [], Some(&moment));
            return Vec::new();
        }
        let mut buffer = [0; 1024];
        let count = rustix::io::read(&stdin, &mut buffer).unwrap_or(0);
        if count == 0 {
            self.ended = true;
            return vec![Input::End];
        }
        buffer.iter().take(count).filter_map(|byte| self.line.take(*byte)).collect()
    }

    /// Columns of the terminal.
    pub fn width(&self) -> usize {
        let size = rustix::termios::tcgetwinsize(std::io::stdin());
        size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(80)
    }
}

/// Nanoseconds that are waited for a key.
#[cfg(unix)]
const MOMENT: i64 = 50_000_000;

/// Whether a key comes within so many nanoseconds.
#[cfg(unix)]
fn is_ready(nanoseconds: i64) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let wait = Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&wait)).is_ok_and(|ready| ready > 0)
}

#[cfg(unix)]
impl Drop for Keys {
    fn drop(&mut self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Elsewhere lines are only taken at the prompt.
#[cfg(not(unix))]
impl Keys {
    /// Takes nothing.
    pub fn take() -> Self {
        Self { line: Line::default(), aside: None, ended: false }
    }

    /// Nothing.
    pub fn pending(&mut self) -> Vec<Input> {
        Vec::new()
    }

    /// Nothing, after a moment.
    #[allow(clippy::disallowed_methods, reason = "there is nothing to wait on")]
    pub fn read(&mut self) -> Vec<Input> {
        std::thread::sleep(std::time::Duration::from_millis(50));
        Vec::new()
    }

    /// Columns of a terminal.
    pub fn width(&self) -> usize {
        80
    }
}

#[cfg(test)]
mod tests {
    use super::{Input, Line};

    fn typed(keys: &[u8]) -> (Vec<Input>, String) {
        let mut line = Line::default();
        let inputs = keys.iter().filter_map(|byte| line.take(*byte)).collect();
        (inputs, line.text())
    }

    #[test]
    fn keys_become_lines() {
        let line = |text: &str| Input::Line(text.to_owned());
        assert_eq!(typed(b"go on\rnot s"), (vec![line("go on")], "not s".to_owned()));
        assert_eq!(typed("añ\u{7f}b\n".as_bytes()), (vec![line("ab")], String::new()));
        assert_eq!(typed(b"one two\x17"), (Vec::new(), "one ".to_owned()));
        assert_eq!(typed(b"a\x1b[A\x1b[1;5Cb\x1bOPc"), (Vec::new(), "abc".to_owned()));
        assert_eq!(typed(b"ab\x03"), (vec![Input::Interrupt], String::new()));
        assert_eq!(typed(b"a\x04\x15\x04"), (vec![Input::End], String::new()));
        assert_eq!(typed(&[b'a', 0xc3]).1, "a");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_put_aside_comes_back_in_front_of_what_was_typed_since() {
        let mut keys = super::Keys { line: Line::default(), aside: None, ended: false, before: None };
        let type_in = |keys: &mut super::Keys, text: &str| {
            text.bytes().for_each(|byte| drop(keys.line.take(byte)));
        };
        type_in(&mut keys, "half ");
        keys.put_aside();
        assert_eq!(keys.line(), "");
        type_in(&mut keys, "a ");
        // The next question comes before anything was given back.
        keys.put_aside();
        assert_eq!(keys.line(), "");
        type_in(&mut keys, "line");
        keys.give_back();
        assert_eq!(keys.line(), "half a line");
        keys.give_back();
        assert_eq!(keys.line(), "half a line");
    }
}
