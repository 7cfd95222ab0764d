//! Tokens of an XPath. Whether `*` and words such as `and` are operators follows from what stands before them.

use super::parser::XPathError;
use crate::text::Span;

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Dot,
    DotDot,
    At,
    Comma,
    ColonColon,
    Colon,
    Dollar,
    Slash,
    SlashSlash,
    Pipe,
    Plus,
    Minus,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `*` as a name test.
    Star,
    /// `*` between operands.
    Times,
    And,
    Or,
    Mod,
    Div,
    Name,
    Literal,
    Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Cuts a text into tokens.
pub(super) fn lex(text: &str) -> Result<Vec<Token>, XPathError> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if matches!(first, ' ' | '\t' | '\n' | '\r') {
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let (kind, length) = token(rest, first, tokens.last().map(|token| token.kind))
            .map_err(|message| XPathError { span: span(at, at + first.len_utf8()), message })?;
        tokens.push(Token { kind, span: span(at, at + length) });
        at += length;
    }
    Ok(tokens)
}

fn span(start: usize, end: usize) -> Span {
    let clamp = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Span::new(clamp(start), clamp(end))
}

fn token(rest: &str, first: char, before: Option<TokenKind>) -> Result<(TokenKind, usize), String> {
    use TokenKind as T;
    let second = rest.get(first.len_utf8()..).and_then(|rest| rest.chars().next());
    let pair = |wanted: char| second == Some(wanted);
    let digit = |character: Option<char>| character.is_some_and(|one| one.is_ascii_digit());
    Ok(match first {
        '(' => (T::OpenParen, 1),
        ')' => (T::CloseParen, 1),
        '[' => (T::OpenBracket, 1),
        ']' => (T::CloseBracket, 1),
        '.' if pair('.') => (T::DotDot, 2),
        '.' if digit(second) => (T::Number, number(rest)),
        '.' => (T::Dot, 1),
        '@' => (T::At, 1),
        ',' => (T::Comma, 1),
        ':' if pair(':') => (T::ColonColon, 2),
        ':' => (T::Colon, 1),
        '$' => (T::Dollar, 1),
        '/' if pair('/') => (T::SlashSlash, 2),
        '/' => (T::Slash, 1),
        '|' => (T::Pipe, 1),
        '+' => (T::Plus, 1),
        '-' => (T::Minus, 1),
        '=' => (T::Equal, 1),
        '!' if pair('=') => (T::NotEqual, 2),
        '<' if pair('=') => (T::LessEqual, 2),
        '<' => (T::Less, 1),
        '>' if pair('=') => (T::GreaterEqual, 2),
        '>' => (T::Greater, 1),
        '*' if is_operand(before) => (T::Times, 1),
        '*' => (T::Star, 1),
        '"' | '\'' => match rest.get(1..).and_then(|inside| inside.find(first)) {
            Some(length) => (T::Literal, length + 2),
            None => return Err("the literal does not end".to_owned()),
        },
        '0'..='9' => (T::Number, number(rest)),
        _ if starts_name(first) => {
            let length = rest.find(|character| !continues_name(character)).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            let kind = match word {
                "and" if is_operand(before) => T::And,
                "or" if is_operand(before) => T::Or,
                "mod" if is_operand(before) => T::Mod,
                "div" if is_operand(before) => T::Div,
                _ => T::Name,
            };
            (kind, length)
        }
        '{' | '}' => {
            return Err(format!(
                "`{first}` cannot stand in an XPath; is a Synapse expression meant, as in `${{…}}`?"
            ));
        }
        _ => return Err(format!("`{first}` cannot stand in an XPath")),
    })
}

fn number(rest: &str) -> usize {
    let digits = |from: usize| rest.bytes().skip(from).take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    if rest.as_bytes().get(whole) == Some(&b'.') { whole + 1 + digits(whole + 1) } else { whole }
}

/// After an operand `*` multiplies and words join.
fn is_operand(before: Option<TokenKind>) -> bool {
    use TokenKind as T;
    matches!(
        before,
        Some(
            T::CloseParen | T::CloseBracket | T::Dot | T::DotDot | T::Star | T::Name | T::Literal | T::Number
        )
    )
}

fn starts_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

fn continues_name(character: char) -> bool {
    starts_name(character) || character.is_numeric() || matches!(character, '-' | '.' | '\u{b7}')
}
