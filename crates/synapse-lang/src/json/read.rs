//! Reads JSON as leniently as the runtime does.
//!
//! The rules follow the behaviour of Gson's reader in its lenient mode, which `JsonParser` switches on: names
//! and values may be single-quoted or bare words, `;` separates like `,` and `=` or `=>` like `:`, empty array
//! places are null, `//`, `/* */` and `#` comments are blanks, keywords ignore case, and an empty document is
//! null. What follows the value is read without leniency: only blanks may stand there. Nothing but numbers in
//! strict form are numbers: `007`, `+5`, `.5`, `NaN` are bare words, that is strings.

use thiserror::Error;

use super::{Json, Number, Object};

/// How deep arrays and objects may lie in each other. The runtime's limit is not lower; the bound keeps
/// cloning, comparing and printing within any thread's stack.
pub const MAX_DEPTH: usize = 512;

/// From this length on the runtime takes a number for a bare word.
const LONGEST_NUMBER: usize = 1024;

/// Why a text is not JSON, not even leniently.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} at byte {at}")]
pub struct JsonError {
    /// The byte offset.
    pub at: usize,
    /// What is wrong there.
    pub kind: JsonErrorKind,
}

/// What is wrong with a text that should be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonErrorKind {
    /// The text ends inside a value.
    #[error("the text ends inside a value")]
    End,
    /// A value should stand here.
    #[error("a value is expected")]
    Value,
    /// A member name should stand here.
    #[error("a member name is expected")]
    Name,
    /// A colon should stand here.
    #[error("':' is expected")]
    Colon,
    /// A comma or the closing bracket should stand here.
    #[error("',' or ']' is expected")]
    InArray,
    /// A comma or the closing brace should stand here.
    #[error("',' or '}}' is expected")]
    InObject,
    /// A backslash with a character that makes no escape.
    #[error("unknown escape")]
    Escape,
    /// A string without its closing quote.
    #[error("a string does not end")]
    Unterminated,
    /// A block comment that does not end.
    #[error("a comment does not end")]
    Comment,
    /// Something follows the value.
    #[error("something follows the value")]
    Trailing,
    /// More than [`MAX_DEPTH`] levels.
    #[error("more than {MAX_DEPTH} levels of arrays and objects")]
    Depth,
}

/// Reads one JSON value from a text.
pub fn parse(text: &str) -> Result<Json, JsonError> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_guard();
    if reader.peek()?.is_none() {
        return Ok(Json::Null);
    }
    let value = reader.document()?;
    if value == Json::Null {
        // The runtime looks at what follows only if the value is not null.
        return Ok(value);
    }
    let rest = reader.rest().trim_start_matches([' ', '\t', '\r', '\n']);
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(reader.error_at(text.len() - rest.len(), JsonErrorKind::Trailing))
    }
}

/// An array or object that is being filled.
enum Open {
    Array(Vec<Json>),
    Object(Object, String),
}

/// What the reader found where a value may stand.
enum Start {
    Scalar(Json),
    Array,
    Object,
}

struct Reader<'text> {
    text: &'text str,
    at: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Json, JsonError> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // A value stands here, or an empty array ends.
            let in_array = matches!(open.last(), Some(Open::Array(_)));
            let first = matches!(open.last(), Some(Open::Array(elements)) if elements.is_empty());
            let mut done = match self.start(in_array, first)? {
                None => self.close(&mut open)?,
                Some(Start::Scalar(value)) => value,
                Some(start) => {
                    if open.len() >= MAX_DEPTH {
                        return Err(self.error(JsonErrorKind::Depth));
                    }
                    if matches!(start, Start::Array) {
                        open.push(Open::Array(Vec::new()));
                        continue;
                    }
                    match self.name(true)? {
                        Some(name) => {
                            open.push(Open::Object(Object::new(), name));
                            continue;
                        }
                        None => Json::Object(Object::new()),
                    }
                }
            };
            // The value is complete: put it where it belongs, and close what ends after it.
            loop {
                match open.pop() {
                    None => return Ok(done),
                    Some(Open::Array(mut elements)) => {
                        elements.push(done);
                        match self.peek()?.ok_or_else(|| self.error(JsonErrorKind::End))? {
                            b']' => {
                                self.at += 1;
                                done = Json::Array(elements);
                            }
                            b',' | b';' => {
                                self.at += 1;
                                open.push(Open::Array(elements));
                                break;
                            }
                            _ => return Err(self.error(JsonErrorKind::InArray)),
                        }
                    }
                    Some(Open::Object(mut object, name)) => {
                        object.insert(name, done);
                        match self.peek()?.ok_or_else(|| self.error(JsonErrorKind::End))? {
                            b'}' => {
                                self.at += 1;
                                done = Json::Object(object);
                            }
                            b',' | b';' => {
                                self.at += 1;
                                let Some(name) = self.name(false)? else {
                                    return Err(self.error(JsonErrorKind::Name));
                                };
                                open.push(Open::Object(object, name));
                                break;
                            }
                            _ => return Err(self.error(JsonErrorKind::InObject)),
                        }
                    }
                }
            }
        }
    }

    /// Takes the array that has just ended without an element.
    fn close(&self, open: &mut Vec<Open>) -> Result<Json, JsonError> {
        match open.pop() {
            Some(Open::Array(elements)) => Ok(Json::Array(elements)),
            _ => Err(self.error(JsonErrorKind::Value)),
        }
    }

    /// Reads a scalar or the opening of a container; `None` is the end of an empty array.
    fn start(&mut self, in_array: bool, first: bool) -> Result<Option<Start>, JsonError> {
        let byte = self.peek()?.ok_or_else(|| self.error(JsonErrorKind::End))?;
        let scalar = match byte {
            b']' if first => {
                self.at += 1;
                return Ok(None);
            }
            // An empty place in an array; the separator is read by the caller.
            b']' | b',' | b';' if in_array => Json::Null,
            b'{' | b'[' => {
                self.at += 1;
                return Ok(Some(if byte == b'[' { Start::Array } else { Start::Object }));
            }
            b'"' | b'\'' => Json::String(self.quoted(byte)?),
            _ => {
                let word = self.word();
                if word.is_empty() {
                    return Err(self.error(JsonErrorKind::Value));
                }
                bare(word)
            }
        };
        Ok(Some(Start::Scalar(scalar)))
    }

    /// Reads a member name and its colon; `None` is the end of an empty object.
    fn name(&mut self, first: bool) -> Result<Option<String>, JsonError> {
        let byte = self.peek()?.ok_or_else(|| self.error(JsonErrorKind::End))?;
        let name = match byte {
            b'}' if first => {
                self.at += 1;
                return Ok(None);
            }
            b'"' | b'\'' => self.quoted(byte)?,
            _ => {
                let word = self.word();
                if word.is_empty() {
                    return Err(self.error(JsonErrorKind::Name));
                }
                word.to_owned()
            }
        };
        match self.peek()?.ok_or_else(|| self.error(JsonErrorKind::End))? {
            b':' => self.at += 1,
            b'=' => {
                self.at += 1;
                if self.rest().starts_with('>') {
                    self.at += 1;
                }
            }
            _ => return Err(self.error(JsonErrorKind::Colon)),
        }
        Ok(Some(name))
    }

    /// Reads a bare word; empty when none stands here.
    fn word(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find(is_word_end).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn quoted(&mut self, quote: u8) -> Result<String, JsonError> {
        let opening = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut high = None;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let end = memchr::memchr2(quote, b'\\', rest.as_bytes())
                .ok_or_else(|| self.error_at(opening, JsonErrorKind::Unterminated))?;
            if end > 0 {
                push_unit(&mut text, &mut high, None);
                text.push_str(rest.get(..end).unwrap_or_default());
            }
            self.at += end + 1;
            if rest.as_bytes().get(end) == Some(&quote) {
                push_unit(&mut text, &mut high, None);
                return Ok(text);
            }
            let escape = self.text.get(self.at..).and_then(|rest| rest.chars().next());
            let escape = escape.ok_or_else(|| self.error_at(opening, JsonErrorKind::Unterminated))?;
            let at = self.at - 1;
            self.at += escape.len_utf8();
            let unit = match escape {
                'u' => {
                    let digits = self.text.get(self.at..self.at + 4);
                    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
                    let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
                    self.at += 4;
                    unit.ok_or_else(|| self.error_at(at, JsonErrorKind::Escape))?
                }
                't' => 9,
                'b' => 8,
                'n' | '\n' => 10,
                'r' => 13,
                'f' => 12,
                '\'' | '"' | '\\' | '/' => u16::try_from(u32::from(escape)).unwrap_or_default(),
                _ => return Err(self.error_at(at, JsonErrorKind::Escape)),
            };
            push_unit(&mut text, &mut high, Some(unit));
        }
    }

    /// The next byte that is neither blank nor in a comment, without taking it.
    fn peek(&mut self) -> Result<Option<u8>, JsonError> {
        loop {
            let rest = self.rest();
            let Some(&byte) = rest.as_bytes().first() else { return Ok(None) };
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'#' => self.skip_line(),
                b'/' if rest.starts_with("//") => self.skip_line(),
                b'/' if rest.starts_with("/*") => {
                    let end = rest.get(2..).and_then(|rest| rest.find("*/"));
                    let end = end.ok_or_else(|| self.error(JsonErrorKind::Comment))?;
                    self.at += end + 4;
                }
                _ => return Ok(Some(byte)),
            }
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
    }

    /// Some servers put this before JSON so that it cannot run as a script; the runtime steps over it.
    fn skip_guard(&mut self) {
        let blanks = self.text.len() - self.text.trim_start_matches([' ', '\t', '\r', '\n']).len();
        if self.text.get(blanks..).is_some_and(|rest| rest.starts_with(")]}'\n")) {
            self.at = blanks + 5;
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        self.error_at(self.at, kind)
    }

    fn error_at(&self, at: usize, kind: JsonErrorKind) -> JsonError {
        JsonError { at: at.min(self.text.len()), kind }
    }
}

/// Adds a UTF-16 unit; halves of pairs wait for each other, and one that stays alone becomes the replacement
/// character, since a Rust string cannot hold it.
fn push_unit(text: &mut String, high: &mut Option<u16>, unit: Option<u16>) {
    let units: Vec<u16> = high.take().into_iter().chain(unit).collect();
    if let [only] = units.as_slice()
        && (0xd800..0xdc00).contains(only)
        && unit.is_some()
    {
        *high = Some(*only);
        return;
    }
    if let [_, second] = units.as_slice()
        && (0xd800..0xdc00).contains(second)
    {
        text.push(char::REPLACEMENT_CHARACTER);
        *high = Some(*second);
        return;
    }
    text.extend(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}

const fn is_word_end(character: char) -> bool {
    matches!(
        character,
        '/' | '\\' | ';' | '#' | '=' | '{' | '}' | '[' | ']' | ':' | ',' | ' ' | '\t' | '\u{c}' | '\r' | '\n'
    )
}

/// What a bare word is: a keyword in any case, a number in strict form, else a string.
fn bare(word: &str) -> Json {
    if word.eq_ignore_ascii_case("true") {
        Json::Bool(true)
    } else if word.eq_ignore_ascii_case("false") {
        Json::Bool(false)
    } else if word.eq_ignore_ascii_case("null") {
        Json::Null
    } else if word.len() < LONGEST_NUMBER && is_number(word) {
        Json::Number(Number::lazy(word))
    } else {
        Json::String(word.to_owned())
    }
}

/// Whether a text is a JSON number in strict form.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || whole > 1 && unsigned.starts_with('0') {
        return false;
    }
    let mut rest = unsigned.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits(fraction);
        if length == 0 {
            return false;
        }
        rest = fraction.get(length..).unwrap_or_default();
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}
