//! Words after expansion: what a command gets as an argument, as far as it is known.

use serde::Serialize;

use super::syntax::{ByteRange, Part};

/// A piece of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// `*`, `?` or `[…]`, as a pattern of file names.
    Glob(String),
    /// Text that is not known before the command runs. Where it comes from a variable, its name.
    Unknown {
        /// The variable.
        name: Option<String>,
        /// Whether it can only be a number.
        number: bool,
    },
}

/// One argument.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arg {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Whether it may turn out to be no word, or several.
    pub splits: bool,
    /// Whether it stands for every file below the path it names (`find -exec`, `grep -r`).
    pub tree: bool,
    /// Where it stands.
    pub at: ByteRange,
}

impl Arg {
    /// An argument that is known.
    pub fn known(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Text(text.into())], ..Self::default() }
    }

    /// An argument that is not known at all, and may be any number of words.
    pub fn unknown() -> Self {
        Self { pieces: vec![Piece::Unknown { name: None, number: false }], splits: true, ..Self::default() }
    }

    /// The text, when all of it is known and no part is a pattern.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether any of it is unknown.
    pub fn is_dynamic(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { .. }))
    }

    /// Whether any of it is unknown and could be something else than a number.
    pub fn is_open(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { number: false, .. }))
    }

    /// The text before the first piece that is not known.
    pub fn known_start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn push(&mut self, piece: Piece) {
        if let (Some(Piece::Text(last)), Piece::Text(text)) = (self.pieces.last_mut(), &piece) {
            last.push_str(text);
            return;
        }
        self.pieces.push(piece);
    }

    /// What follows the first `length` bytes, which must be known.
    pub(super) fn after(&self, length: usize) -> Arg {
        let mut pieces = self.pieces.clone();
        if let Some(Piece::Text(text)) = pieces.first_mut() {
            *text = text.get(length..).unwrap_or("").to_owned();
            if text.is_empty() {
                pieces.remove(0);
            }
        }
        Arg { pieces, splits: self.splits, tree: self.tree, at: self.at.clone() }
    }

    /// For people: unknown parts as `$NAME` or `…`.
    pub fn shown(&self) -> String {
        let mut shown = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => shown.push_str(text),
                Piece::Unknown { name: Some(name), .. } => {
                    shown.push('$');
                    shown.push_str(name);
                }
                Piece::Unknown { name: None, .. } => shown.push('…'),
            }
        }
        shown
    }
}

impl Serialize for Arg {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown())
    }
}

/// How many words one word may become by its braces.
const MAX_BRACES: usize = 256;

#[derive(Clone)]
enum Token {
    Sign(char),
    Part(Part),
}

/// The words that braces make of one. None when there are too many to look at, or when a word of them has another variable
/// in it than was read: braces come first, so `{$,x}HOME` has `$HOME` in it, and `$a{b,c}` has `$ab`.
pub(super) fn braces(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    let mut tokens = Vec::new();
    for part in parts {
        match part {
            Part::Text { text, quoted: false } => tokens.extend(text.chars().map(Token::Sign)),
            other => tokens.push(Token::Part(other.clone())),
        }
    }
    let expanded = alternatives(&tokens, 0)?;
    if expanded.len() > 1 && expanded.iter().any(|word| names_anew(word)) {
        return None;
    }
    Some(expanded.into_iter().map(joined).collect())
}

/// Whether signs that came together may be the name of a variable.
fn names_anew(word: &[Token]) -> bool {
    let grows = |before: &Token, after: &Token| match (before, after) {
        (Token::Sign('$'), _) => true,
        (Token::Part(Part::Parameter { quoted: false, .. }), Token::Sign(sign)) => {
            sign.is_ascii_alphanumeric() || *sign == '_'
        }
        _ => false,
    };
    word.windows(2).any(|pair| matches!(pair, [before, after] if grows(before, after)))
}

fn joined(tokens: Vec<Token>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for token in tokens {
        match token {
            Token::Sign(sign) => {
                if let Some(Part::Text { text, quoted: false }) = parts.last_mut() {
                    text.push(sign);
                } else {
                    parts.push(Part::Text { text: sign.to_string(), quoted: false });
                }
            }
            Token::Part(part) => parts.push(part),
        }
    }
    parts
}

fn alternatives(tokens: &[Token], depth: usize) -> Option<Vec<Vec<Token>>> {
    if depth > 24 {
        return None;
    }
    for (start, token) in tokens.iter().enumerate() {
        if !matches!(token, Token::Sign('{')) {
            continue;
        }
        let Some((end, commas)) = closing(tokens, start) else { continue };
        let inside = tokens.get(start + 1..end).unwrap_or(&[]);
        let options: Vec<Vec<Token>> = if commas.is_empty() {
            match sequence(inside)? {
                Some(options) => options,
                None => continue,
            }
        } else {
            let mut options = Vec::new();
            let mut from = start + 1;
            for comma in commas.into_iter().chain([end]) {
                options.extend(alternatives(tokens.get(from..comma).unwrap_or(&[]), depth + 1)?);
                from = comma + 1;
            }
            options
        };
        let before = tokens.get(..start).unwrap_or(&[]);
        let behind = alternatives(tokens.get(end + 1..).unwrap_or(&[]), depth + 1)?;
        if options.len() * behind.len() > MAX_BRACES {
            return None;
        }
        let mut all = Vec::new();
        for option in &options {
            for rest in &behind {
                all.push([before, option.as_slice(), rest.as_slice()].concat());
            }
        }
        return Some(all);
    }
    Some(vec![tokens.to_vec()])
}

/// Where the brace that opens at `start` closes, and the commas between that belong to it. One that comes before any comma
/// or `..` closes nothing: bash takes it for text, so `{},}` is `}` and nothing.
fn closing(tokens: &[Token], start: usize) -> Option<(usize, Vec<usize>)> {
    let is =
        |index: usize, wanted: char| matches!(tokens.get(index), Some(Token::Sign(sign)) if *sign == wanted);
    let mut open = 0_usize;
    let mut commas = Vec::new();
    let mut dots = false;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Sign('{') => open += 1,
            Token::Sign('}') if open > 1 => open -= 1,
            Token::Sign('}') if dots || !commas.is_empty() => return Some((index, commas)),
            Token::Sign(',') if open == 1 => commas.push(index),
            Token::Sign('.') if open == 1 && is(index + 1, '.') && !is(index + 2, '}') => dots = true,
            _ => {}
        }
    }
    None
}

/// `1..5`, `a..e`, `1..9..2`. The outer None means too many, the inner one no sequence.
fn sequence(inside: &[Token]) -> Option<Option<Vec<Vec<Token>>>> {
    let mut text = String::new();
    for token in inside {
        let Token::Sign(sign) = token else { return Some(None) };
        text.push(*sign);
    }
    let fields: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match fields.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Some(None),
    };
    let Ok(step) = step.parse::<i64>() else { return Some(None) };
    let step = step.unsigned_abs().max(1);
    let words: Vec<String> = if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        if first.starts_with('+') || last.starts_with('+') {
            return None;
        }
        if from.abs_diff(to) / step >= MAX_BRACES as u64 {
            return None;
        }
        let padded = |text: &str| {
            text.trim_start_matches('-').starts_with('0') && text.trim_start_matches('-').len() > 1
        };
        let width = if padded(first) || padded(last) { first.len().max(last.len()) } else { 0 };
        counted(from, to, step).into_iter().map(|value| format!("{value:0width$}")).collect()
    } else {
        match (first.as_bytes(), last.as_bytes()) {
            ([from], [to]) if from.is_ascii_alphabetic() && to.is_ascii_alphabetic() => {
                let values = counted(i64::from(*from), i64::from(*to), step);
                values
                    .into_iter()
                    .filter_map(|value| u8::try_from(value).ok())
                    .map(|byte| char::from(byte).to_string())
                    .collect()
            }
            _ => return Some(None),
        }
    };
    Some(Some(words.into_iter().map(|word| word.chars().map(Token::Sign).collect()).collect()))
}

fn counted(from: i64, to: i64, step: u64) -> Vec<i64> {
    let step = i64::try_from(step).unwrap_or(i64::MAX);
    let mut values = vec![from];
    let mut value = from;
    loop {
        let next = if to >= from { value.checked_add(step) } else { value.checked_sub(step) };
        match next {
            Some(next) if (to >= from && next <= to) || (to < from && next >= to) => {
                values.push(next);
                value = next;
            }
            _ => return values,
        }
    }
}
