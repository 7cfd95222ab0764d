//! Words: quoting, escapes, and every kind of expansion.

use super::{Parsed, Parser, Word, fill_all, name_length, parse_with};
use crate::shell::syntax::{ByteRange, Change, Parameter, Part, Sequence};

/// What ends a word outside of quotes.
const ENDS: &[u8] = b" \t\n;&|()<>";

impl Word {
    pub(super) fn text(text: String, quoted: bool, at: ByteRange) -> Self {
        Self { parts: vec![Part::Text { text, quoted }], at }
    }

    /// The text of a word that is plain and unquoted throughout.
    pub(in crate::shell) fn plain(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// As the delimiter of a here-document, and whether any of it is quoted.
    pub(super) fn delimiter(&self) -> Option<(String, bool)> {
        let mut whole = String::new();
        let mut any_quoted = false;
        for part in &self.parts {
            let Part::Text { text, quoted } = part else { return None };
            whole.push_str(text);
            any_quoted |= quoted;
        }
        Some((whole, any_quoted))
    }
}

/// Collects the parts of a word, joining texts of one kind.
#[derive(Default)]
struct Parts {
    parts: Vec<Part>,
}

impl Parts {
    fn text(&mut self, added: &str, is_quoted: bool) {
        if let Some(Part::Text { text, quoted }) = self.parts.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(added);
            return;
        }
        self.parts.push(Part::Text { text: added.to_owned(), quoted: is_quoted });
    }
}

impl Parser<'_> {
    /// Reads one word. There must be one.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let start = self.pos;
        let mut parts = Parts::default();
        while let Some(next) = self.peek_byte() {
            match next {
                b'<' | b'>' if self.rest().get(1..2) == Some("(") => {
                    self.pos += 2;
                    let script = self.substitution(start)?;
                    parts.parts.push(Part::Process { script });
                }
                b'\'' => {
                    self.pos += 1;
                    let length = self.rest().find('\'').ok_or_else(|| self.unclosed(start))?;
                    parts.text(self.rest().get(..length).unwrap_or(""), true);
                    self.pos += length + 1;
                }
                b'"' => {
                    self.pos += 1;
                    self.double_quoted(&mut parts, start)?;
                }
                b'\\' => {
                    self.pos += 1;
                    match self.bump() {
                        Some('\n') => {}
                        Some(sign) => parts.text(sign.encode_utf8(&mut [0; 4]), true),
                        None => parts.text("\\", true),
                    }
                }
                b'$' => self.dollar(&mut parts, false)?,
                b'`' => {
                    let script = self.backticks(false)?;
                    parts.parts.push(Part::Command { script, quoted: false });
                }
                byte if ENDS.contains(&byte) => break,
                _ => {
                    let rest = self.rest();
                    let length = rest
                        .bytes()
                        .position(|byte| ENDS.contains(&byte) || b"'\"\\$`".contains(&byte))
                        .unwrap_or(rest.len())
                        .max(1);
                    parts.text(rest.get(..length).unwrap_or(rest), false);
                    self.pos += length;
                }
            }
        }
        if self.pos == start {
            return Err(self.missing());
        }
        if parts.parts.is_empty() {
            // Only escaped newlines: bash reads on as if nothing stood there, which no word can say.
            return Err(self.unexpected());
        }
        Ok(Word { parts: parts.parts, at: start..self.pos })
    }

    /// Behind the `"`, up to and with the one that closes.
    fn double_quoted(&mut self, parts: &mut Parts, start: usize) -> Parsed<()> {
        parts.text("", true);
        loop {
            match self.peek_byte() {
                None => return Err(self.unclosed(start)),
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(_) => self.quoted_piece(parts, b'"')?,
            }
        }
    }

    /// The text of a here-document: as in double quotes, but a `"` is nothing special.
    pub(super) fn here_text(&mut self) -> Parsed<Vec<Part>> {
        let mut parts = Parts::default();
        while self.peek_byte().is_some() {
            self.quoted_piece(&mut parts, 0)?;
        }
        Ok(parts.parts)
    }

    /// One piece of what is quoted with `"` (or of a here-document, where `end` is 0).
    fn quoted_piece(&mut self, parts: &mut Parts, end: u8) -> Parsed<()> {
        match self.peek_byte() {
            Some(b'\\') => {
                self.pos += 1;
                match self.peek() {
                    Some('\n') => self.pos += 1,
                    Some(sign @ ('$' | '`' | '\\')) => {
                        self.pos += 1;
                        parts.text(sign.encode_utf8(&mut [0; 4]), true);
                    }
                    Some('"') if end == b'"' => {
                        self.pos += 1;
                        parts.text("\"", true);
                    }
                    _ => parts.text("\\", true),
                }
            }
            Some(b'$') => self.dollar(parts, true)?,
            Some(b'`') => {
                let script = self.backticks(end == b'"')?;
                parts.parts.push(Part::Command { script, quoted: true });
            }
            _ => {
                let rest = self.rest();
                let length = rest
                    .bytes()
                    .position(|byte| byte == end || b"\\$`".contains(&byte))
                    .unwrap_or(rest.len())
                    .max(1);
                parts.text(rest.get(..length).unwrap_or(rest), true);
                self.pos += length;
            }
        }
        Ok(())
    }

    /// What a `$` begins.
    fn dollar(&mut self, parts: &mut Parts, quoted: bool) -> Parsed<()> {
        let start = self.pos;
        self.pos += 1;
        let Some(next) = self.peek_byte() else {
            parts.text("$", quoted);
            return Ok(());
        };
        match next {
            b'(' if self.rest().starts_with("((") => {
                self.pos += 2;
                if let Ok(inside) = self.arithmetic() {
                    parts.parts.push(Part::Arith { inside, quoted });
                } else {
                    self.retry(start + 2)?;
                    let script = self.substitution(start)?;
                    parts.parts.push(Part::Command { script, quoted });
                }
            }
            b'(' => {
                self.pos += 1;
                let script = self.substitution(start)?;
                parts.parts.push(Part::Command { script, quoted });
            }
            b'[' => {
                self.pos += 1;
                let inside = self.until_bracket()?;
                parts.parts.push(Part::Arith { inside, quoted });
            }
            b'{' => {
                self.pos += 1;
                let parameter = self.nested(|parser| parser.braced(start, quoted))?;
                parts.parts.push(Part::Parameter { parameter, quoted });
            }
            b'\'' if !quoted => {
                self.pos += 1;
                self.ansi_c(parts, start)?;
            }
            b'"' if !quoted => {
                self.pos += 1;
                self.double_quoted(parts, start)?;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let length = name_length(self.rest());
                let name = self.rest().get(..length).unwrap_or("").to_owned();
                self.pos += length;
                parts.parts.push(Part::Parameter { parameter: Parameter::named(name), quoted });
            }
            byte if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.pos += 1;
                let name = char::from(byte).to_string();
                parts.parts.push(Part::Parameter { parameter: Parameter::named(name), quoted });
            }
            _ => parts.text("$", quoted),
        }
        Ok(())
    }

    /// Behind `$(`: a script, up to and with its `)`.
    fn substitution(&mut self, start: usize) -> Parsed<Sequence> {
        let pending = std::mem::take(&mut self.pending);
        let mut script = self.sequence(&[])?;
        self.newlines()?;
        if !self.eat(")") {
            return Err(if self.pos >= self.source.len() { self.unclosed(start) } else { self.unexpected() });
        }
        if !self.pending.is_empty() {
            // A here-document that would begin behind the substitution.
            return Err(self.unexpected());
        }
        fill_all(&mut script, &mut self.bodies);
        self.pending = pending;
        Ok(script)
    }

    /// Backticks: their text is unescaped once, and then read as a script of its own.
    fn backticks(&mut self, in_quotes: bool) -> Parsed<Sequence> {
        let start = self.pos;
        self.pos += 1;
        let mut script = String::new();
        loop {
            match self.bump() {
                None => return Err(self.unclosed(start)),
                Some('`') => break,
                Some('\\') => match self.peek() {
                    Some(sign @ ('$' | '`' | '\\')) => {
                        self.pos += 1;
                        script.push(sign);
                    }
                    Some('"') if in_quotes => {
                        self.pos += 1;
                        script.push('"');
                    }
                    _ => script.push('\\'),
                },
                Some(sign) => script.push(sign),
            }
        }
        let depth = self.depth;
        let (sequence, stop) =
            self.nested(|parser| Ok(parse_with(&script, depth + 1, &mut parser.retries)))?;
        match stop {
            Some(stop) => Err(super::Stop { at: start, ..stop }),
            None => Ok(sequence),
        }
    }

    /// Behind `((`: arithmetic, up to and with `))`. Fails when it is none.
    pub(super) fn arithmetic(&mut self) -> Parsed<Word> {
        self.arith_until("(", ")", "))")
    }

    /// Behind `[`: arithmetic, up to and with `]`.
    pub(super) fn until_bracket(&mut self) -> Parsed<Word> {
        self.arith_until("[", "]", "]")
    }

    /// Arithmetic with brackets in pairs, up to and with what ends it where none is open.
    fn arith_until(&mut self, opening: &str, closing: &str, end: &str) -> Parsed<Word> {
        self.nested(|parser| {
            let start = parser.pos;
            let mut parts = Parts::default();
            let mut open = 0_usize;
            loop {
                if parser.peek_byte().is_none() {
                    return Err(parser.unclosed(start));
                }
                if open == 0 && parser.rest().starts_with(closing) {
                    if !parser.eat(end) {
                        return Err(parser.unexpected());
                    }
                    return Ok(Word { parts: parts.parts, at: start..parser.pos });
                }
                if parser.eat(opening) {
                    open += 1;
                    parts.text(opening, true);
                } else if parser.eat(closing) {
                    open -= 1;
                    parts.text(closing, true);
                } else {
                    parser.arith_piece(&mut parts)?;
                }
            }
        })
    }

    fn arith_piece(&mut self, parts: &mut Parts) -> Parsed<()> {
        match self.peek_byte() {
            Some(b'"') => {
                let start = self.pos;
                self.pos += 1;
                self.double_quoted(parts, start)
            }
            Some(b'\'') => {
                let start = self.pos;
                self.pos += 1;
                let length = self.rest().find('\'').ok_or_else(|| self.unclosed(start))?;
                parts.text(self.rest().get(..length).unwrap_or(""), true);
                self.pos += length + 1;
                Ok(())
            }
            Some(b'$' | b'`' | b'\\') => self.quoted_piece(parts, 0),
            _ => {
                if let Some(sign) = self.bump() {
                    parts.text(sign.encode_utf8(&mut [0; 4]), true);
                }
                Ok(())
            }
        }
    }

    /// Behind `${`, up to and with the `}`.
    fn braced(&mut self, start: usize, quoted: bool) -> Parsed<Parameter> {
        let mut parameter = Parameter::named(String::new());
        if self.rest().starts_with('!') && !self.rest().starts_with("!}") {
            self.pos += 1;
            parameter.change = Change::Indirect;
        } else if self.rest().starts_with('#') && !self.rest().starts_with("#}") {
            self.pos += 1;
            parameter.change = Change::Length;
        }
        let length = match name_length(self.rest()) {
            0 => {
                let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let special = self.peek_byte().is_some_and(|byte| b"@*#?-$!".contains(&byte));
                if digits == 0 { usize::from(special) } else { digits }
            }
            length => length,
        };
        if length == 0 {
            return Err(self.missing());
        }
        self.rest().get(..length).unwrap_or("").clone_into(&mut parameter.name);
        self.pos += length;
        if self.eat("[") {
            parameter.subscript = Some(self.until_bracket()?);
        }
        if self.eat("}") {
            return Ok(parameter);
        }
        let plain = parameter.change == Change::Plain;
        let change = if self.rest().starts_with('@') {
            Change::Indirect
        } else if self.eat(":-") || self.eat("-") {
            Change::Default
        } else if self.eat(":=") || self.eat("=") {
            Change::Assign
        } else if self.eat(":+") || self.eat("+") || self.eat(":?") || self.eat("?") {
            Change::Other
        } else if self.eat(":") {
            Change::Slice
        } else if self.peek_byte().is_some_and(|byte| b"#%/^,*".contains(&byte)) {
            Change::Other
        } else {
            return Err(self.missing());
        };
        if plain {
            parameter.change = change;
        }
        let word = self.braced_word(start, quoted)?;
        parameter.words.push(word);
        Ok(parameter)
    }

    fn braced_word(&mut self, start: usize, quoted: bool) -> Parsed<Word> {
        let from = self.pos;
        let mut parts = Parts::default();
        loop {
            match self.peek_byte() {
                None => return Err(self.unclosed(start)),
                Some(b'}') => {
                    let at = from..self.pos;
                    self.pos += 1;
                    return Ok(Word { parts: parts.parts, at });
                }
                Some(b'\'') if !quoted => {
                    self.pos += 1;
                    let length = self.rest().find('\'').ok_or_else(|| self.unclosed(start))?;
                    parts.text(self.rest().get(..length).unwrap_or(""), true);
                    self.pos += length + 1;
                }
                // In quotes, bash reads a `'` here by the operator; nobody has to rely on that.
                Some(b'\'') => return Err(self.unexpected()),
                Some(b'"') => {
                    self.pos += 1;
                    self.double_quoted(&mut parts, start)?;
                }
                Some(b'\\') => {
                    self.pos += 1;
                    match self.bump() {
                        Some('\n') => {}
                        Some(sign) => parts.text(sign.encode_utf8(&mut [0; 4]), true),
                        None => return Err(self.unclosed(start)),
                    }
                }
                Some(b'<' | b'>') if !quoted && self.rest().get(1..2) == Some("(") => {
                    self.pos += 2;
                    let script = self.substitution(start)?;
                    parts.parts.push(Part::Process { script });
                }
                Some(b'$') => self.dollar(&mut parts, quoted)?,
                Some(b'`') => {
                    let script = self.backticks(quoted)?;
                    parts.parts.push(Part::Command { script, quoted });
                }
                Some(_) => {
                    if let Some(sign) = self.bump() {
                        parts.text(sign.encode_utf8(&mut [0; 4]), quoted);
                    }
                }
            }
        }
    }

    /// Behind `$'`, up to and with the `'`.
    fn ansi_c(&mut self, parts: &mut Parts, start: usize) -> Parsed<()> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut ended = false;
        loop {
            let Some(sign) = self.bump() else { return Err(self.unclosed(start)) };
            match sign {
                '\'' => break,
                '\\' => {
                    let Some(escape) = self.bump() else { return Err(self.unclosed(start)) };
                    let keep = bytes.len();
                    self.escape(escape, &mut bytes);
                    // A NUL ends the text, as in C. What follows is read and thrown away.
                    ended = ended || bytes.get(keep..).is_some_and(|new| new.contains(&0));
                    if ended {
                        bytes.truncate(keep);
                    }
                }
                _ if ended => {}
                sign => bytes.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        match String::from_utf8(bytes) {
            Ok(text) => parts.text(&text, true),
            // Bytes that are no text: whatever they name, it is not known here.
            Err(_) => return Err(self.unexpected()),
        }
        Ok(())
    }

    fn escape(&mut self, escape: char, bytes: &mut Vec<u8>) {
        let simple = match escape {
            'a' => Some(7),
            'b' => Some(8),
            'e' | 'E' => Some(27),
            'f' => Some(12),
            'n' => Some(10),
            'r' => Some(13),
            't' => Some(9),
            'v' => Some(11),
            '\\' | '\'' | '"' | '?' => u8::try_from(escape).ok(),
            _ => None,
        };
        if let Some(byte) = simple {
            bytes.push(byte);
            return;
        }
        match escape {
            '0'..='7' => {
                self.pos -= 1;
                let value = self.digits(8, 3).unwrap_or(0);
                bytes.push(u8::try_from(value & 0xff).unwrap_or(0));
            }
            'x' => match self.digits(16, 2) {
                Some(value) => bytes.push(u8::try_from(value & 0xff).unwrap_or(0)),
                None => bytes.extend_from_slice(b"\\x"),
            },
            'u' | 'U' => {
                match self.digits(16, if escape == 'u' { 4 } else { 8 }) {
                    // What is no character becomes a byte that is no text, and so is refused.
                    Some(value) => match char::from_u32(value) {
                        Some(sign) => bytes.extend_from_slice(sign.encode_utf8(&mut [0; 4]).as_bytes()),
                        None => bytes.push(0xff),
                    },
                    None => bytes.extend_from_slice(if escape == 'u' { b"\\u" } else { b"\\U" }),
                }
            }
            'c' => {
                if let Some(sign) = self.bump() {
                    bytes.push(u8::try_from(u32::from(sign) & 0x1f).unwrap_or(0));
                }
            }
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    fn digits(&mut self, radix: u32, most: usize) -> Option<u32> {
        let count = self.rest().chars().take(most).take_while(|sign| sign.is_digit(radix)).count();
        let text = self.rest().get(..count)?;
        let value = u32::from_str_radix(text, radix).ok()?;
        self.pos += count;
        Some(value)
    }
}

impl Parameter {
    fn named(name: String) -> Self {
        Self { name, subscript: None, change: Change::Plain, words: Vec::new() }
    }
}
