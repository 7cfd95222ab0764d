//! The words of PDF: numbers, names, texts, lists, tables, references and operators.

/// How deep lists and tables may be inside of each other.
const DEPTH: usize = 32;
/// Entries of one list or table at most.
const ENTRIES: usize = 50_000;

/// One object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Object {
    #[default]
    Null,
    Number(f64),
    Name(Vec<u8>),
    Text(Vec<u8>),
    List(Vec<Object>),
    Table(Table),
    Reference(u32),
    /// A word that is none of these: an operator, or `endobj`.
    Word(Vec<u8>),
}

/// Names and what they stand for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Table(Vec<(Vec<u8>, Object)>);

impl Table {
    pub(super) fn get(&self, name: &str) -> Option<&Object> {
        self.0.iter().rev().find(|(known, _)| known == name.as_bytes()).map(|(_, object)| object)
    }

    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        matches!(self.get(name), Some(Object::Name(found)) if found == value.as_bytes())
    }

    /// The same table with another value.
    pub(super) fn with(mut self, name: &str, value: Object) -> Self {
        self.0.push((name.as_bytes().to_vec(), value));
        self
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&[u8], &Object)> {
        self.0.iter().map(|(name, object)| (name.as_slice(), object))
    }
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// As a size or an index; what is negative or huge is none.
    pub(super) fn size(&self) -> Option<usize> {
        let number = self.number()?;
        (number.fract() == 0.0 && (0.0..4_294_967_296.0).contains(&number)).then_some(number as usize)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    pub(super) fn list(&self) -> Option<&[Object]> {
        if let Self::List(list) = self { Some(list) } else { None }
    }

    pub(super) fn table(&self) -> Option<&Table> {
        if let Self::Table(table) = self { Some(table) } else { None }
    }
}

/// Reads objects from bytes.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                let line = memchr::memchr2(b'\n', b'\r', self.rest());
                self.at += line.unwrap_or(self.rest().len());
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// The next object. `None` at the end. It always moves on.
    pub(super) fn next(&mut self) -> Option<Object> {
        self.object(DEPTH)
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        self.skip_blanks();
        let first = self.peek()?;
        Some(match first {
            b'/' => Object::Name(self.name()),
            b'(' => Object::Text(self.text()),
            b'<' if self.rest().starts_with(b"<<") => {
                self.at += 2;
                self.table(depth)
            }
            b'<' => Object::Text(self.hex()),
            b'[' => {
                self.at += 1;
                self.list(depth)
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number_or_reference(),
            b'>' | b']' | b')' | b'{' | b'}' => {
                self.at += if self.rest().starts_with(b">>") { 2 } else { 1 };
                Object::Word(vec![first])
            }
            _ => self.word(),
        })
    }

    fn word(&mut self) -> Object {
        let end = self.rest().iter().position(|byte| !is_regular(*byte)).unwrap_or(self.rest().len()).max(1);
        let word = self.rest().get(..end).unwrap_or_default();
        self.at += end;
        match word {
            b"null" | b"true" | b"false" => Object::Null,
            word => Object::Word(word.to_vec()),
        }
    }

    fn list(&mut self, depth: usize) -> Object {
        let mut list = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None => break,
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(_) if depth == 0 || list.len() >= ENTRIES => break,
                Some(_) => {}
            }
            match self.object(depth - 1) {
                // An operator in a list: the bracket was never closed.
                None | Some(Object::Word(_)) => break,
                Some(object) => list.push(object),
            }
        }
        Object::List(list)
    }

    fn table(&mut self, depth: usize) -> Object {
        let mut entries = Vec::new();
        while depth > 0 && entries.len() < ENTRIES {
            self.skip_blanks();
            if self.rest().starts_with(b">>") {
                self.at += 2;
                break;
            }
            if self.peek() != Some(b'/') {
                break;
            }
            let name = self.name();
            self.skip_blanks();
            if self.rest().starts_with(b">>") {
                self.at += 2;
                break;
            }
            match self.object(depth - 1) {
                None | Some(Object::Word(_)) => break,
                Some(object) => entries.push((name, object)),
            }
        }
        Object::Table(Table(entries))
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let end = self.rest().iter().position(|byte| !is_regular(*byte)).unwrap_or(self.rest().len());
        let raw = self.rest().get(..end).unwrap_or_default();
        self.at += end;
        let mut name = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter().copied();
        while let Some(byte) = bytes.next() {
            let mut ahead = bytes.clone();
            match (byte, ahead.next().and_then(digit), ahead.next().and_then(digit)) {
                (b'#', Some(high), Some(low)) => {
                    name.push(high * 16 + low);
                    bytes = ahead;
                }
                _ => name.push(byte),
            }
        }
        name
    }

    fn text(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    let Some(escaped) = self.peek() else { break };
                    self.at += 1;
                    match escaped {
                        b'n' => text.push(b'\n'),
                        b'r' => text.push(b'\r'),
                        b't' => text.push(b'\t'),
                        b'b' => text.push(8),
                        b'f' => text.push(12),
                        b'0'..=b'7' => {
                            let mut value = u32::from(escaped - b'0');
                            for _ in 0..2 {
                                let Some(next @ b'0'..=b'7') = self.peek() else { break };
                                value = value * 8 + u32::from(next - b'0');
                                self.at += 1;
                            }
                            text.push((value & 0xFF) as u8);
                        }
                        b'\r' if self.peek() == Some(b'\n') => self.at += 1,
                        b'\r' | b'\n' => {}
                        other => text.push(other),
                    }
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let end = memchr::memchr(b'>', self.rest()).unwrap_or(self.rest().len());
        let digits: Vec<u8> =
            self.rest().get(..end).unwrap_or_default().iter().copied().filter_map(digit).collect();
        self.at += end + 1;
        digits
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |all, one| all * 16 + one) << (8 - 4 * pair.len()))
            .collect()
    }

    fn number_or_reference(&mut self) -> Object {
        let number = self.plain_number();
        // `12 0 R` is a reference.
        if number.fract() == 0.0 && (0.0..4_294_967_296.0).contains(&number) {
            let back = self.at;
            self.skip_blanks();
            let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
            if (1..=5).contains(&digits) {
                self.at += digits;
                self.skip_blanks();
                let ends = self.bytes.get(self.at + 1).is_none_or(|byte| !is_regular(*byte));
                if self.peek() == Some(b'R') && ends {
                    self.at += 1;
                    return Object::Reference(number as u32);
                }
            }
            self.at = back;
        }
        Object::Number(number)
    }

    fn plain_number(&mut self) -> f64 {
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
        let end = self.rest().iter().take_while(|byte| is_part(byte)).count().max(1);
        let digits = self.rest().get(..end).unwrap_or_default();
        self.at += end;
        std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0.0)
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_regular(byte: u8) -> bool {
    !is_blank(byte) && !b"()<>[]{}/%".contains(&byte)
}

pub(super) fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}
