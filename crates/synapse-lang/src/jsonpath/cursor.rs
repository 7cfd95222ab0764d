//! A place in a path's text, with the searches that the compilers of paths and filters share.
//!
//! The end can be moved inwards while characters behind it stay readable, as in the library: which texts are
//! refused depends on it.

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is no path, said by the library's own check. Inside a filter it makes the library try the other
    /// reading of an expression.
    Invalid(String),
    /// The text ended or a literal is malformed: nothing else is tried.
    Broken(String),
}

pub(super) fn invalid<T>(reason: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Invalid(reason.into()))
}

/// A cursor over the characters of a text.
#[derive(Debug, Clone)]
pub(super) struct Cursor {
    chars: Vec<char>,
    pub(super) at: usize,
    /// One past the last character that belongs to the text.
    end: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let end = chars.len();
        Self { chars, at: 0, end }
    }

    pub(super) const fn len(&self) -> usize {
        self.end
    }

    pub(super) fn char_at(&self, at: usize) -> Result<char, Stop> {
        self.chars.get(at).copied().ok_or_else(|| Stop::Broken("the text ends too early".to_owned()))
    }

    pub(super) fn current(&self) -> Result<char, Stop> {
        self.char_at(self.at)
    }

    pub(super) fn current_is(&self, character: char) -> Result<bool, Stop> {
        Ok(self.current()? == character)
    }

    pub(super) fn next_is(&self, character: char) -> bool {
        self.has(self.at + 1) && self.chars.get(self.at + 1) == Some(&character)
    }

    pub(super) fn last_is(&self, character: char) -> bool {
        self.end.checked_sub(1).and_then(|last| self.chars.get(last)) == Some(&character)
    }

    pub(super) const fn has(&self, at: usize) -> bool {
        at < self.end
    }

    pub(super) const fn in_bounds(&self) -> bool {
        self.has(self.at)
    }

    /// Whether the current character is the last one, or the cursor is past it.
    pub(super) const fn at_tail(&self) -> bool {
        self.at + 1 >= self.end
    }

    /// The characters of a range; a range that does not lie in the text breaks off.
    pub(super) fn slice(&self, from: usize, to: usize) -> Result<String, Stop> {
        let chars =
            self.chars.get(from..to).ok_or_else(|| Stop::Broken("the text ends too early".to_owned()))?;
        Ok(chars.iter().collect())
    }

    pub(super) fn trim(&mut self) {
        self.skip_blanks();
        while self.at + 1 < self.end && self.last_is(' ') {
            self.end -= 1;
        }
    }

    pub(super) const fn drop_last(&mut self) {
        self.end = self.end.saturating_sub(1);
    }

    /// Steps over blanks, but never past the last character.
    pub(super) fn skip_blanks(&mut self) {
        while self.at + 1 < self.end && self.chars.get(self.at) == Some(&' ') {
            self.at += 1;
        }
    }

    /// The first character after a place that is no blank; a blank when there is none.
    pub(super) fn significant_after(&self, at: usize) -> char {
        let next = self.index_after_blanks(at);
        if self.has(next) { self.chars.get(next).copied().unwrap_or(' ') } else { ' ' }
    }

    /// Where a character stands, if it is the first after a place that is no blank.
    pub(super) fn find_significant(&self, at: usize, character: char) -> Result<Option<usize>, Stop> {
        let next = self.index_after_blanks(at);
        Ok((self.char_at(next)? == character).then_some(next))
    }

    fn index_after_blanks(&self, at: usize) -> usize {
        let mut next = at + 1;
        while self.has(next) && self.chars.get(next) == Some(&' ') {
            next += 1;
        }
        next
    }

    /// Where the last character before a place stands that is no blank.
    pub(super) fn significant_before(&self, at: usize) -> Option<usize> {
        let before = self.chars.get(..at.min(self.end))?;
        before.iter().rposition(|character| *character != ' ')
    }

    /// The first place from `from` on where a character stands.
    pub(super) fn find(&self, from: usize, character: char) -> Option<usize> {
        self.chars.get(from..self.end)?.iter().position(|known| *known == character).map(|at| from + at)
    }

    /// The first place after `at` where a character stands without a backslash before it.
    pub(super) fn find_unescaped(&self, at: usize, character: char) -> Option<usize> {
        let mut escaped = false;
        for place in at + 1..self.end {
            let known = self.chars.get(place).copied()?;
            if escaped {
                escaped = false;
            } else if known == '\\' {
                escaped = true;
            } else if known == character {
                return Some(place);
            }
        }
        None
    }

    /// Where the bracket that opens at `from` closes, not counting brackets in strings and, on demand, in
    /// regular expressions.
    pub(super) fn find_closing(
        &self,
        from: usize,
        open: char,
        close: char,
        skip_regex: bool,
    ) -> Result<Option<usize>, Stop> {
        if self.char_at(from)? != open {
            return invalid(format!("'{open}' is expected"));
        }
        let mut opened = 1_usize;
        let mut at = from + 1;
        while self.has(at) {
            let quote = self.char_at(at)?;
            if quote == '\'' || quote == '"' {
                let Some(end) = self.find_unescaped(at, quote) else {
                    return invalid("a string does not end");
                };
                at = end + 1;
            }
            if skip_regex && self.char_at(at)? == '/' {
                let Some(end) = self.find_unescaped(at, '/') else {
                    return invalid("a pattern does not end");
                };
                at = end + 1;
            }
            let character = self.char_at(at)?;
            if character == open {
                opened += 1;
            }
            if character == close {
                opened -= 1;
                if opened == 0 {
                    return Ok(Some(at));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Takes a character that must stand next, after blanks.
    pub(super) fn expect(&mut self, character: char) -> Result<(), Stop> {
        self.skip_blanks();
        if !self.current_is(character)? {
            return invalid(format!("'{character}' is expected"));
        }
        self.at += 1;
        Ok(())
    }

    /// Takes a text if it stands next, after blanks.
    pub(super) fn take(&mut self, text: &str) -> bool {
        self.skip_blanks();
        let length = text.chars().count();
        let stands = self.has(self.at + length - 1)
            && self
                .chars
                .get(self.at..self.at + length)
                .is_some_and(|here| here.iter().copied().eq(text.chars()));
        if stands {
            self.at += length;
        }
        stands
    }
}

/// Resolves the escapes of a quoted name or string; an unknown escape is the character itself.
pub(super) fn unescape(text: &str) -> Result<String, Stop> {
    let mut out = String::with_capacity(text.len());
    let mut units: Vec<u16> = Vec::new();
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        if character != '\\' {
            flush(&mut units, &mut out);
            out.push(character);
            continue;
        }
        let Some(escape) = chars.next() else {
            flush(&mut units, &mut out);
            out.push('\\');
            break;
        };
        if escape == 'u' {
            let digits: String = chars.by_ref().take(4).collect();
            if digits.chars().count() < 4 {
                // The library drops an escape that the text ends in.
                break;
            }
            match u16::from_str_radix(&digits, 16) {
                Ok(unit) if !digits.starts_with('+') => units.push(unit),
                _ => return Err(Stop::Broken(format!("'\\u{digits}' is no character"))),
            }
            continue;
        }
        flush(&mut units, &mut out);
        out.push(match escape {
            'r' => '\r',
            'f' => '\u{c}',
            't' => '\t',
            'n' => '\n',
            'b' => '\u{8}',
            other => other,
        });
    }
    flush(&mut units, &mut out);
    Ok(out)
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    let drained = std::mem::take(units);
    out.extend(char::decode_utf16(drained).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)));
}
