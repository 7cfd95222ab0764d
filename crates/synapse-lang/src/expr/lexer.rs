//! Cuts the text of an expression into tokens, the way the runtime's generated lexer does.
//!
//! The longest match wins, and among equals the rule that stands first. Text that no rule matches is not an error for
//! the runtime: it is dropped, together with the character that ended the attempt, and evaluation goes on with the
//! rest. The lexer keeps every dropped piece so that a checker can report it.

use super::functions;
use crate::text::Span;

/// What a token is. The names follow the roles in the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `in`, `nin`, `subsetof`, `anyof`, `noneof`, `size`, `empty`, `=~`: reserved everywhere.
    FilterWord,
    /// `length()`, `sum()` and the like: one token, without blanks.
    Aggregate,
    /// `vars`.
    Vars,
    /// `payload` or `$`.
    Payload,
    /// `headers`.
    Headers,
    /// `configs`.
    Configs,
    /// `params`.
    Params,
    /// `props` or `properties`.
    Properties,
    /// `and` or `&&`.
    And,
    /// `or` or `||`.
    Or,
    /// `!`, which has a meaning only in filters.
    Not,
    /// `..`.
    DoubleDot,
    /// `*`.
    Asterisk,
    /// `+`.
    Plus,
    /// `-` that no digit follows.
    Minus,
    /// `/`.
    Slash,
    /// `%`.
    Percent,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `>`.
    Greater,
    /// `<`.
    Less,
    /// `>=`.
    GreaterEqual,
    /// `<=`.
    LessEqual,
    /// `(`.
    OpenParen,
    /// `)`.
    CloseParen,
    /// `[`.
    OpenBracket,
    /// `]`.
    CloseBracket,
    /// `.`.
    Dot,
    /// `,`.
    Comma,
    /// `:`.
    Colon,
    /// A quote that begins no complete string.
    Quote,
    /// `true` or `false`.
    Boolean,
    /// A number; a minus directly before the digits belongs to it.
    Number,
    /// `queryParams`, `pathParams`, `functionParams`.
    ParamKind,
    /// `axis2`, `synapse`.
    PropertyScope,
    /// The name of a function.
    Function,
    /// `property`, the name that may follow `registry(…)`.
    SecondaryFunction,
    /// A string with its quotes.
    Text,
    /// `null`.
    Null,
    /// Any other name. Hyphens belong to names.
    Identifier,
    /// `?`.
    Question,
    /// `@`.
    At,
}

impl TokenKind {
    /// Whether a value may be complete with it, so that an operator can follow.
    #[must_use]
    pub const fn ends_a_value(self) -> bool {
        matches!(
            self,
            Self::Number
                | Self::Text
                | Self::Boolean
                | Self::Null
                | Self::Identifier
                | Self::CloseParen
                | Self::CloseBracket
                | Self::Payload
                | Self::Aggregate
        )
    }
}

/// A token and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The tokens of a text, and what was dropped between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lexed {
    /// The tokens in order, without blanks.
    pub tokens: Vec<Token>,
    /// The pieces that the runtime drops without a word.
    pub dropped: Vec<Span>,
}

const FILTER_WORDS: [&str; 7] = ["in", "nin", "subsetof", "anyof", "noneof", "size", "empty"];
const AGGREGATES: [&str; 10] =
    ["length()", "size()", "min()", "max()", "avg()", "sum()", "stddev()", "keys()", "first()", "last()"];

/// Cuts a text into tokens. It never fails: what is no token is dropped, as at run time.
#[must_use]
pub fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(blanks) = blanks(rest) {
            at += blanks;
            continue;
        }
        match next(rest) {
            Ok((kind, length)) => {
                lexed.tokens.push(Token { kind, span: span(at, at + length) });
                at += length;
            }
            Err(length) => {
                lexed.dropped.push(span(at, at + length));
                at += length;
            }
        }
    }
    lexed
}

fn span(start: usize, end: usize) -> Span {
    let clamp = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Span::new(clamp(start), clamp(end))
}

fn blanks(rest: &str) -> Option<usize> {
    let length = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    (length > 0).then_some(length)
}

/// The next token and its length, or the length of what is dropped.
fn next(rest: &str) -> Result<(TokenKind, usize), usize> {
    use TokenKind as T;
    let Some(first) = rest.chars().next() else { return Err(0) };
    let second = rest[first.len_utf8()..].chars().next();
    let pair = |wanted: char| second == Some(wanted);
    let found = match first {
        '"' | '\'' => string(rest).map_or((T::Quote, 1), |length| (T::Text, length)),
        '0'..='9' => (T::Number, number(rest)),
        '-' if second.is_some_and(|digit| digit.is_ascii_digit()) => (T::Number, number(rest)),
        'a'..='z' | 'A'..='Z' | '_' => word(rest),
        '$' => (T::Payload, 1),
        '&' if pair('&') => (T::And, 2),
        '|' if pair('|') => (T::Or, 2),
        '=' if pair('=') => (T::Equal, 2),
        '=' if pair('~') => (T::FilterWord, 2),
        // A rule had begun to match here, so recovery drops the character that broke the match too.
        '&' | '|' | '=' => return Err(1 + second.map_or(0, char::len_utf8)),
        '!' if pair('=') => (T::NotEqual, 2),
        '!' => (T::Not, 1),
        '.' if pair('.') => (T::DoubleDot, 2),
        '.' => (T::Dot, 1),
        '>' if pair('=') => (T::GreaterEqual, 2),
        '>' => (T::Greater, 1),
        '<' if pair('=') => (T::LessEqual, 2),
        '<' => (T::Less, 1),
        '*' => (T::Asterisk, 1),
        '+' => (T::Plus, 1),
        '-' => (T::Minus, 1),
        '/' => (T::Slash, 1),
        '%' => (T::Percent, 1),
        '(' => (T::OpenParen, 1),
        ')' => (T::CloseParen, 1),
        '[' => (T::OpenBracket, 1),
        ']' => (T::CloseBracket, 1),
        ',' => (T::Comma, 1),
        ':' => (T::Colon, 1),
        '?' => (T::Question, 1),
        '@' => (T::At, 1),
        _ => return Err(first.len_utf8()),
    };
    Ok(found)
}

/// `-?[0-9]+(\.[0-9]+)?`
fn number(rest: &str) -> usize {
    let digits =
        |from: usize| rest.as_bytes().iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(rest.starts_with('-'));
    let whole = sign + digits(sign);
    match rest.as_bytes().get(whole) {
        Some(b'.') if digits(whole + 1) > 0 => whole + 1 + digits(whole + 1),
        _ => whole,
    }
}

/// The length of a complete string, or nothing when it does not end or holds an escape that does not exist.
fn string(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let quote = *bytes.first()?;
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            byte if byte == quote => return Some(at + 1),
            b'\\' => at += 1 + escape(bytes.get(at + 1..)?)?,
            _ => at += 1,
        }
    }
}

fn escape(after: &[u8]) -> Option<usize> {
    let octal = |at: usize| after.get(at).is_some_and(|byte| (b'0'..=b'7').contains(byte));
    match after.first()? {
        b'b' | b't' | b'n' | b'f' | b'r' | b'"' | b'\'' | b'\\' | b'/' => Some(1),
        b'u' => after.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(5),
        // A third digit is ordinary text as far as the extent of the string is concerned.
        _ => (octal(0) && octal(1)).then_some(2),
    }
}

fn word(rest: &str) -> (TokenKind, usize) {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = rest.bytes().take_while(belongs).count();
    let name = rest.get(..length).unwrap_or_default();
    if let Some(aggregate) = AGGREGATES.iter().find(|one| one.len() == length + 2 && rest.starts_with(**one))
    {
        return (TokenKind::Aggregate, aggregate.len());
    }
    (keyword(name), length)
}

fn keyword(name: &str) -> TokenKind {
    use TokenKind as T;
    match name {
        _ if FILTER_WORDS.contains(&name) => T::FilterWord,
        "vars" => T::Vars,
        "payload" => T::Payload,
        "headers" => T::Headers,
        "configs" => T::Configs,
        "params" => T::Params,
        "props" | "properties" => T::Properties,
        "and" => T::And,
        "or" => T::Or,
        "true" | "false" => T::Boolean,
        "queryParams" | "pathParams" | "functionParams" => T::ParamKind,
        "axis2" | "synapse" => T::PropertyScope,
        "property" => T::SecondaryFunction,
        "null" => T::Null,
        _ if functions::find(name).is_some() => T::Function,
        _ => T::Identifier,
    }
}

#[cfg(test)]
mod tests;
