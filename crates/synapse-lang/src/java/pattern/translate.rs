//! From the text of a Java pattern to the text of the same pattern for the Rust engine.

use std::iter::Peekable;
use std::str::CharIndices;

use super::{PatternError, PatternFlags};

/// How deep groups and classes may lie in each other.
const MAX_NESTING: usize = 100;

/// What ends a line in Java.
const LINE_ENDS: &str = "\\n\\r\\x{85}\\x{2028}\\x{2029}";

pub(super) fn translate(pattern: &str, flags: PatternFlags) -> Result<String, PatternError> {
    let mut translator = Translator {
        chars: pattern.char_indices().peekable(),
        length: pattern.len(),
        out: String::with_capacity(pattern.len() * 2),
        flags,
        groups: Vec::new(),
        captures: 0,
        repeatable: false,
    };
    translator.run()?;
    Ok(translator.out)
}

struct Translator<'pattern> {
    chars: Peekable<CharIndices<'pattern>>,
    length: usize,
    out: String,
    flags: PatternFlags,
    /// The flags that hold again after each open group.
    groups: Vec<PatternFlags>,
    captures: usize,
    /// Whether a quantifier may stand here.
    repeatable: bool,
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), PatternError> {
        while let Some(character) = self.next() {
            let repeatable = std::mem::replace(&mut self.repeatable, true);
            match character {
                '\\' => self.escape()?,
                '[' => {
                    let class = self.class(0)?;
                    self.push_class(&class);
                }
                '(' => self.open()?,
                ')' => {
                    self.flags = self.groups.pop().ok_or_else(|| self.error("unmatched ')'"))?;
                    self.out.push(')');
                }
                '.' => self.out.push_str(match (self.flags.dot_all, self.flags.unix_lines) {
                    (true, _) => "(?s:.)",
                    (false, true) => "[^\\n]",
                    (false, false) => "[^\\n\\r\\x{85}\\x{2028}\\x{2029}]",
                }),
                '^' => self.line_start(),
                '$' => self.line_end(self.flags.multiline),
                '|' => {
                    self.out.push('|');
                    self.repeatable = false;
                }
                '*' | '+' | '?' | '{' => {
                    if !repeatable {
                        return Err(self.error("nothing stands before the quantifier"));
                    }
                    self.quantifier(character)?;
                }
                ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' if self.flags.comments => {
                    self.repeatable = repeatable;
                }
                '#' if self.flags.comments => {
                    self.repeatable = repeatable;
                    while self.next().is_some_and(|c| c != '\n') {}
                }
                literal => self.literal(literal),
            }
        }
        if self.groups.is_empty() { Ok(()) } else { Err(self.error("a group does not close")) }
    }

    fn next(&mut self) -> Option<char> {
        self.chars.next().map(|(_, character)| character)
    }

    fn peek(&mut self) -> Option<char> {
        self.chars.peek().map(|(_, character)| *character)
    }

    fn take(&mut self, character: char) -> bool {
        self.chars.next_if(|(_, next)| *next == character).is_some()
    }

    fn error(&mut self, reason: &str) -> PatternError {
        let at = self.chars.peek().map_or(self.length, |(at, _)| *at);
        PatternError::Syntax { at, reason: reason.to_owned() }
    }

    fn literal(&mut self, character: char) {
        let ascii_only = self.flags.ignore_case && !self.flags.unicode_case;
        if ascii_only && character.is_ascii_alphabetic() {
            self.out.push('[');
            self.out.push(character.to_ascii_lowercase());
            self.out.push(character.to_ascii_uppercase());
            self.out.push(']');
        } else if self.flags.ignore_case && !ascii_only {
            self.out.push_str("(?i:");
            push_escaped(&mut self.out, character);
            self.out.push(')');
        } else {
            push_escaped(&mut self.out, character);
        }
    }

    fn push_class(&mut self, class: &str) {
        if self.flags.ignore_case {
            self.out.push_str("(?i:");
            self.out.push_str(class);
            self.out.push(')');
        } else {
            self.out.push_str(class);
        }
    }

    fn line_start(&mut self) {
        self.out.push_str(match (self.flags.multiline, self.flags.unix_lines) {
            (false, _) => "\\A",
            (true, true) => "(?:(?!\\z)(?:\\A|(?<=\\n)))",
            (true, false) => "(?:(?!\\z)(?:\\A|(?<=[\\n\\x{85}\\x{2028}\\x{2029}])|(?<=\\r)(?!\\n)))",
        });
    }

    fn line_end(&mut self, multiline: bool) {
        let text = match (multiline, self.flags.unix_lines) {
            (false, true) => "(?=\\n?\\z)".to_owned(),
            (true, true) => "(?=\\n|\\z)".to_owned(),
            (false, false) => format!("(?:(?=(?:\\r\\n|[{LINE_ENDS}])?\\z)(?!(?<=\\r)\\n))"),
            (true, false) => format!("(?:(?=[{LINE_ENDS}]|\\z)(?!(?<=\\r)\\n))"),
        };
        self.out.push_str(&text);
    }

    fn quantifier(&mut self, character: char) -> Result<(), PatternError> {
        self.repeatable = false;
        if character == '{' {
            let bounds = self.bounds()?;
            self.out.push_str(&bounds);
        } else {
            self.out.push(character);
        }
        if let Some(mode @ ('?' | '+')) = self.peek() {
            self.next();
            self.out.push(mode);
        }
        Ok(())
    }

    fn bounds(&mut self) -> Result<String, PatternError> {
        let mut text = String::new();
        while let Some(character) = self.next().filter(|c| *c != '}') {
            text.push(character);
            if text.len() > 20 {
                break;
            }
        }
        let (least, most) =
            text.split_once(',').map_or((text.as_str(), None), |(least, most)| (least, Some(most)));
        let number = |text: &str| crate::java::parse_int(text).filter(|_| !text.starts_with(['+', '-']));
        let least = number(least);
        let most = match most {
            None => least,
            Some("") => Some(i32::MAX),
            Some(most) => number(most),
        };
        match (least, most) {
            (Some(least), Some(most)) if least <= most => Ok(format!("{{{text}}}")),
            _ => Err(self.error("illegal repetition")),
        }
    }

    fn open(&mut self) -> Result<(), PatternError> {
        if self.groups.len() >= MAX_NESTING {
            return Err(PatternError::Unsupported { reason: "too many groups in each other".to_owned() });
        }
        self.repeatable = false;
        if !self.take('?') {
            self.captures += 1;
            self.groups.push(self.flags);
            self.out.push('(');
            return Ok(());
        }
        let kind = self.next().ok_or_else(|| self.error("a group does not close"))?;
        match kind {
            ':' | '=' | '!' | '>' => {
                self.groups.push(self.flags);
                self.out.push_str("(?");
                self.out.push(kind);
            }
            '<' => {
                self.groups.push(self.flags);
                if let Some(look @ ('=' | '!')) = self.peek() {
                    self.next();
                    self.out.push_str("(?<");
                    self.out.push(look);
                    return Ok(());
                }
                let name = self.name('>')?;
                self.captures += 1;
                self.out.push_str(&format!("(?<{name}>"));
            }
            _ => self.inline_flags(kind)?,
        }
        Ok(())
    }

    fn name(&mut self, end: char) -> Result<String, PatternError> {
        let mut name = String::new();
        while let Some(character) = self.next() {
            if character == end && name.starts_with(|first: char| first.is_ascii_alphabetic()) {
                return Ok(name);
            }
            if !character.is_ascii_alphanumeric() {
                break;
            }
            name.push(character);
        }
        Err(self.error("this is no group name"))
    }

    fn inline_flags(&mut self, first: char) -> Result<(), PatternError> {
        let (mut flags, mut on, mut letter) = (self.flags, true, first);
        loop {
            match letter {
                '-' if on => on = false,
                ')' => {
                    // They hold up to the end of the group around.
                    self.flags = flags;
                    return Ok(());
                }
                ':' => {
                    self.groups.push(self.flags);
                    self.flags = flags;
                    self.out.push_str("(?:");
                    return Ok(());
                }
                _ if flags.set(letter, on) => {}
                _ => return Err(self.error("unknown inline modifier")),
            }
            letter = self.next().ok_or_else(|| self.error("unknown inline modifier"))?;
        }
    }

    fn escape(&mut self) -> Result<(), PatternError> {
        let character = self.next().ok_or_else(|| self.error("a backslash ends the pattern"))?;
        match character {
            'b' | 'B' | 'A' | 'G' | 'z' => {
                self.out.push('\\');
                self.out.push(character);
            }
            'Z' => self.line_end(false),
            'R' => self.out.push_str("(?:\\r\\n|[\\n\\x{b}\\x{c}\\r\\x{85}\\x{2028}\\x{2029}])"),
            'Q' => {
                self.repeatable = false;
                while let Some(character) = self.next() {
                    if character == '\\' && self.peek() == Some('E') {
                        self.next();
                        break;
                    }
                    self.literal(character);
                    self.repeatable = true;
                }
            }
            'k' => {
                if !self.take('<') {
                    return Err(self.error("\\k is followed by <name>"));
                }
                let name = self.name('>')?;
                self.out.push_str(&format!("(?:\\k<{name}>)"));
            }
            '1'..='9' => {
                let mut group = usize::try_from(u32::from(character) - u32::from('0')).unwrap_or_default();
                // Further digits belong to the number as long as there are so many groups.
                while let Some(digit) = self.peek().and_then(|next| next.to_digit(10)) {
                    let longer = group * 10 + usize::try_from(digit).unwrap_or_default();
                    if longer > self.captures {
                        break;
                    }
                    group = longer;
                    self.next();
                }
                self.out.push_str(&format!("(?:\\{group})"));
            }
            _ => match self.class_escape(character)? {
                Escaped::Class(class) => self.push_class(&class),
                Escaped::Literal(literal) => self.literal(literal),
            },
        }
        Ok(())
    }

    /// An escape that may stand in a class as well.
    fn class_escape(&mut self, character: char) -> Result<Escaped, PatternError> {
        let unicode = self.flags.unicode_classes;
        let class = match character {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' if unicode => format!("\\{character}"),
            'd' => "[0-9]".to_owned(),
            'D' => "[^0-9]".to_owned(),
            'w' => "[a-zA-Z0-9_]".to_owned(),
            'W' => "[^a-zA-Z0-9_]".to_owned(),
            's' => "[ \\t\\n\\x{b}\\x{c}\\r]".to_owned(),
            'S' => "[^ \\t\\n\\x{b}\\x{c}\\r]".to_owned(),
            'h' => "[ \\t\\x{a0}\\x{1680}\\x{180e}\\x{2000}-\\x{200a}\\x{202f}\\x{205f}\\x{3000}]".to_owned(),
            'H' => {
                "[^ \\t\\x{a0}\\x{1680}\\x{180e}\\x{2000}-\\x{200a}\\x{202f}\\x{205f}\\x{3000}]".to_owned()
            }
            'v' => "[\\n\\x{b}\\x{c}\\r\\x{85}\\x{2028}\\x{2029}]".to_owned(),
            'V' => "[^\\n\\x{b}\\x{c}\\r\\x{85}\\x{2028}\\x{2029}]".to_owned(),
            'p' | 'P' => self.property(character == 'P')?,
            't' => return Ok(Escaped::Literal('\t')),
            'n' => return Ok(Escaped::Literal('\n')),
            'r' => return Ok(Escaped::Literal('\r')),
            'f' => return Ok(Escaped::Literal('\u{c}')),
            'a' => return Ok(Escaped::Literal('\u{7}')),
            'e' => return Ok(Escaped::Literal('\u{1b}')),
            '0' => return self.octal(),
            'x' => return self.hex(),
            'u' => return self.hex_digits(4),
            'c' => {
                let control = self.next().and_then(|c| char::from_u32(u32::from(c) ^ 64));
                return control.map(Escaped::Literal).ok_or_else(|| self.error("\\c needs a character"));
            }
            'N' | 'X' => {
                return Err(PatternError::Unsupported { reason: format!("\\{character} is not known") });
            }
            letter if letter.is_ascii_alphabetic() => return Err(self.error("unknown escape")),
            other => return Ok(Escaped::Literal(other)),
        };
        Ok(Escaped::Class(class))
    }

    fn octal(&mut self) -> Result<Escaped, PatternError> {
        let (mut value, mut digits) = (0, 0);
        while let Some(digit) = self.peek().and_then(|next| next.to_digit(8)) {
            // Three digits only up to \0377.
            if digits == 3 || digits == 2 && value > 31 {
                break;
            }
            value = value * 8 + digit;
            digits += 1;
            self.next();
        }
        let character = char::from_u32(value).filter(|_| digits > 0);
        character.map(Escaped::Literal).ok_or_else(|| self.error("\\0 needs an octal digit"))
    }

    fn hex(&mut self) -> Result<Escaped, PatternError> {
        if !self.take('{') {
            return self.hex_digits(2);
        }
        let mut digits = String::new();
        while let Some(character) = self.next().filter(|c| *c != '}') {
            digits.push(character);
        }
        let value = u32::from_str_radix(&digits, 16).ok().filter(|_| !digits.starts_with('+'));
        let character = value.and_then(char::from_u32);
        character.map(Escaped::Literal).ok_or_else(|| self.error("this is no code point"))
    }

    fn hex_digits(&mut self, count: usize) -> Result<Escaped, PatternError> {
        let mut value = 0;
        for _ in 0..count {
            let digit = self.next().and_then(|c| c.to_digit(16));
            value = value * 16 + digit.ok_or_else(|| self.error("a hexadecimal digit is missing"))?;
        }
        let unpaired = || PatternError::Unsupported { reason: "half a surrogate pair".to_owned() };
        char::from_u32(value).map(Escaped::Literal).ok_or_else(unpaired)
    }

    fn property(&mut self, negated: bool) -> Result<String, PatternError> {
        let name = if self.take('{') {
            let mut name = String::new();
            loop {
                match self.next() {
                    Some('}') => break name,
                    Some(character) => name.push(character),
                    None => return Err(self.error("a property name does not end")),
                }
            }
        } else {
            let letter = self.next().ok_or_else(|| self.error("a property name is missing"))?;
            letter.to_string()
        };
        let ascii = match name.as_str() {
            _ if self.flags.unicode_classes => "",
            "Lower" => "a-z",
            "Upper" => "A-Z",
            "ASCII" => "\\x00-\\x7f",
            "Alpha" => "a-zA-Z",
            "Digit" => "0-9",
            "Alnum" => "a-zA-Z0-9",
            "Punct" => "!-/:-@\\[-`{-~",
            "Graph" => "!-~",
            "Print" => " -~",
            "Blank" => " \\t",
            "Cntrl" => "\\x00-\\x1f\\x7f",
            "XDigit" => "0-9a-fA-F",
            "Space" => " \\t\\n\\x{b}\\x{c}\\r",
            _ => "",
        };
        let hat = if negated { "^" } else { "" };
        if !ascii.is_empty() {
            return Ok(format!("[{hat}{ascii}]"));
        }
        let name = match name.as_str() {
            "javaLowerCase" | "Lower" => "Lowercase",
            "javaUpperCase" | "Upper" => "Uppercase",
            "javaWhitespace" | "Space" => "White_Space",
            "javaLetter" => "L",
            "javaDigit" | "Digit" => "Nd",
            "javaAlphabetic" | "Alpha" => "Alphabetic",
            other => {
                let after = ["general_category=", "gc=", "script=", "sc=", "Is"];
                after.iter().find_map(|prefix| other.strip_prefix(prefix)).unwrap_or(other)
            }
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(self.error("unknown character property"));
        }
        Ok(format!("[{hat}\\p{{{name}}}]"))
    }

    /// Reads a class after its opening bracket.
    fn class(&mut self, depth: usize) -> Result<String, PatternError> {
        if depth >= MAX_NESTING {
            return Err(PatternError::Unsupported { reason: "too many classes in each other".to_owned() });
        }
        let mut class = String::from("[");
        if self.take('^') {
            class.push('^');
        }
        let mut is_empty = true;
        loop {
            let character = self.next().ok_or_else(|| self.error("a class does not close"))?;
            let low = match character {
                ']' if !is_empty => break,
                ' ' | '\t' | '\n' | '\r' if self.flags.comments => continue,
                '[' => {
                    class.push_str(&self.class(depth + 1)?);
                    is_empty = false;
                    continue;
                }
                '&' if self.take('&') => {
                    class.push_str("&&");
                    continue;
                }
                '\\' => match self.in_class_escape()? {
                    Escaped::Class(nested) => {
                        class.push_str(&nested);
                        is_empty = false;
                        continue;
                    }
                    Escaped::Literal(literal) => literal,
                },
                literal => literal,
            };
            is_empty = false;
            push_escaped(&mut class, low);
            if self.peek() == Some('-') {
                self.next();
                match self.peek() {
                    // A hyphen before the end, or before another class, is itself.
                    Some(']' | '[') => class.push_str("\\-"),
                    _ => {
                        let high = self.range_end()?;
                        if high < low {
                            return Err(self.error("illegal character range"));
                        }
                        class.push('-');
                        push_escaped(&mut class, high);
                    }
                }
            }
        }
        class.push(']');
        Ok(class)
    }

    fn range_end(&mut self) -> Result<char, PatternError> {
        match self.next() {
            Some('\\') => match self.in_class_escape()? {
                Escaped::Literal(literal) => Ok(literal),
                Escaped::Class(_) => Err(self.error("illegal character range")),
            },
            Some(character) => Ok(character),
            None => Err(self.error("a class does not close")),
        }
    }

    fn in_class_escape(&mut self) -> Result<Escaped, PatternError> {
        let escape = self.next().ok_or_else(|| self.error("a backslash ends the pattern"))?;
        if escape == 'Q' {
            let mut class = String::from("[");
            while let Some(character) = self.next() {
                if character == '\\' && self.peek() == Some('E') {
                    self.next();
                    break;
                }
                push_escaped(&mut class, character);
            }
            class.push(']');
            return Ok(Escaped::Class(class));
        }
        self.class_escape(escape)
    }
}

/// What an escape stands for.
enum Escaped {
    Class(String),
    Literal(char),
}

/// Adds a character that stands for itself.
fn push_escaped(out: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(character);
}
