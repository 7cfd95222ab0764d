//! Makes readable text of what a program prints: no colours, no progress bars, no bytes that are no text.
//!
//! Works on pieces that are cut anywhere, and gives whole lines: what a carriage return takes back was never said. A line
//! that grows beyond a limit is given before it ends.
//!
//! Invariant: what comes out has no control signs but line ends and tabs, however the bytes were cut.

/// Bytes of one line that are waited for. Longer than lines that people read, short enough to be no burden.
const LINE: usize = 8 << 10;
/// Signs of a control sequence that are skipped at most. A longer one is none, and its rest is text.
const SEQUENCE: usize = 4 << 10;

/// One stream of a program, made readable piece by piece.
#[derive(Debug, Default)]
pub struct Plain {
    /// The beginning of a letter whose end has not come yet.
    cut: Vec<u8>,
    /// The line so far.
    line: String,
    state: State,
    skipped: usize,
    /// A carriage return came: what comes next, unless it is a line end, takes the place of the line.
    returned: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Behind an escape.
    Escape,
    /// In a sequence that a letter ends: colours, cursors.
    Control,
    /// In a text for the terminal that a bell or a terminator ends: titles, links.
    Command,
    /// In such a text, behind an escape.
    CommandEscape,
    /// One more sign: the choice of a character set.
    One,
}

impl Plain {
    /// What is readable now.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut out = String::new();
        let joined;
        let mut rest = if self.cut.is_empty() {
            bytes
        } else {
            joined = [std::mem::take(&mut self.cut).as_slice(), bytes].concat();
            &joined
        };
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text, &mut out);
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(good).unwrap_or_default(), &mut out);
                    let Some(length) = error.error_len() else {
                        self.cut = bad.to_vec();
                        break;
                    };
                    self.sign(char::REPLACEMENT_CHARACTER, &mut out);
                    rest = bad.get(length..).unwrap_or_default();
                }
            }
        }
        out
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        if !std::mem::take(&mut self.cut).is_empty() {
            self.sign(char::REPLACEMENT_CHARACTER, &mut out);
        }
        out.push_str(&std::mem::take(&mut self.line));
        self.returned = false;
        out
    }

    fn text(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(sign) = rest.chars().next() {
            if self.state == State::Text && !self.returned {
                let strange = |byte: u8| !matches!(byte, b' '..=b'~' | b'\n' | b'\t');
                let (easy, behind) = rest.split_at(rest.bytes().position(strange).unwrap_or(rest.len()));
                if !easy.is_empty() {
                    self.lines(easy, out);
                    rest = behind;
                    continue;
                }
            }
            self.sign(sign, out);
            rest = rest.get(sign.len_utf8()..).unwrap_or_default();
        }
    }

    /// What most output is: lines of letters. The same as sign by sign, many times as fast.
    fn lines(&mut self, text: &str, out: &mut String) {
        let (whole, mut begun) = text.split_at(text.rfind('\n').map_or(0, |at| at + 1));
        if !whole.is_empty() {
            out.push_str(&std::mem::take(&mut self.line));
            out.push_str(whole);
        }
        while !begun.is_empty() {
            let (fits, more) = begun.split_at(begun.len().min(LINE.saturating_sub(self.line.len()).max(1)));
            self.line.push_str(fits);
            if self.line.len() >= LINE {
                out.push_str(&std::mem::take(&mut self.line));
            }
            begun = more;
        }
    }

    fn sign(&mut self, sign: char, out: &mut String) {
        if self.state != State::Text {
            self.skipped += 1;
            if self.skipped > SEQUENCE {
                self.state = State::Text;
            } else {
                return self.sequence(sign, out);
            }
        }
        match sign {
            '\u{1b}' => self.enter(State::Escape),
            '\u{9b}' => self.enter(State::Control),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.enter(State::Command),
            '\n' => {
                self.returned = false;
                out.push_str(&std::mem::take(&mut self.line));
                out.push('\n');
            }
            '\r' => self.returned = true,
            '\u{8}' => {
                self.line.pop();
            }
            '\t' => self.show('\t', out),
            // Signs that no terminal shows. A run of what is no text is shown once.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | char::REPLACEMENT_CHARACTER => {
                if sign != '\u{7}' && !self.line.ends_with(char::REPLACEMENT_CHARACTER) {
                    self.show(char::REPLACEMENT_CHARACTER, out);
                }
            }
            sign => self.show(sign, out),
        }
    }

    fn show(&mut self, sign: char, out: &mut String) {
        if std::mem::take(&mut self.returned) {
            self.line.clear();
        }
        self.line.push(sign);
        if self.line.len() >= LINE {
            out.push_str(&std::mem::take(&mut self.line));
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.skipped = 0;
    }

    fn sequence(&mut self, sign: char, out: &mut String) {
        let in_command = matches!(self.state, State::Command | State::CommandEscape);
        // A line end is in no sequence of colours: this one was broken off.
        if !in_command && matches!(sign, '\n' | '\r') {
            self.state = State::Text;
            return self.sign(sign, out);
        }
        self.state = match (self.state, sign) {
            (State::Escape, '[') => State::Control,
            (State::Escape, ' ' | '#' | '%' | '('..='/') => State::One,
            (State::Control, '@'..='~')
            | (State::Command, '\u{7}' | '\u{9c}')
            | (State::CommandEscape, '\\') => State::Text,
            (_, '\u{1b}') if in_command => State::CommandEscape,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') | (State::CommandEscape, _) => State::Command,
            (_, '\u{1b}') => State::Escape,
            (State::Escape | State::One, _) => State::Text,
            (state, _) => state,
        };
    }
}

#[cfg(test)]
mod tests;
