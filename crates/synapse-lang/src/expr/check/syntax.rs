//! Texts that do not parse: one code for each trap, with its repair.

use super::{ExprFinding, codes};
use crate::diagnostic::{Edit, Fix, Severity};
use crate::expr::hint::{Hint, Trap};
use crate::expr::lexer::{Lexed, TokenKind, lex};
use crate::expr::parser::{Problem, SyntaxError};
use crate::text::Span;

/// The finding of a syntax error.
pub(super) fn findings(source: &str, error: &SyntaxError) -> Vec<ExprFinding> {
    let lexed = lex(source);
    let code = code(source, &lexed, error);
    let mut finding = ExprFinding::new(code, error.span, error.message());
    if code == codes::TOO_LARGE {
        finding.severity = Severity::Warning;
    }
    finding.fixes.extend(fix(source, &lexed, error, code));
    vec![finding]
}

fn code(source: &str, lexed: &Lexed, error: &SyntaxError) -> u16 {
    let ends = matches!(&error.problem, Problem::Unexpected { found, .. } if found.is_empty());
    match (&error.problem, error.hint.as_ref().map(|hint| hint.trap)) {
        (Problem::TooDeep | Problem::TooLong, _) => codes::TOO_LARGE,
        (Problem::Empty, _) | (_, Some(Trap::Empty)) => codes::EMPTY,
        (_, Some(Trap::Quote)) => codes::QUOTE,
        (_, Some(Trap::AfterDot)) => codes::RESERVED,
        (_, Some(Trap::Root)) => codes::ROOT,
        (_, Some(Trap::Filter)) => codes::FILTER_SYNTAX,
        (_, Some(Trap::Sign)) => codes::SIGN,
        (_, Some(Trap::Negation)) => codes::NEGATION,
        (_, Some(Trap::Case)) => codes::CASE,
        (_, Some(Trap::Function)) => codes::UNKNOWN_FUNCTION,
        (_, Some(Trap::Name)) => codes::BARE_NAME,
        (_, Some(Trap::Call)) => codes::NOT_A_CALL,
        (_, Some(Trap::Minus)) => codes::MINUS,
        (_, Some(Trap::Exponent)) => codes::EXPONENT,
        (_, Some(Trap::Dropped)) if has_sign(source, lexed, '=') => codes::EQUALS_SIGN,
        (_, Some(Trap::Dropped)) => codes::DROPPED,
        (_, Some(Trap::Operator)) => codes::LEFTOVER,
        (_, None) if is_unequal(source, lexed, error) => codes::EQUALS_SIGN,
        _ if ends && is_unclosed(lexed) => codes::UNCLOSED,
        (_, Some(Trap::Other)) => codes::SYNTAX,
        (Problem::Leftover { .. }, _) => codes::LEFTOVER,
        _ => codes::SYNTAX,
    }
}

fn has_sign(source: &str, lexed: &Lexed, sign: char) -> bool {
    lexed.dropped.iter().any(|span| span.of(source).starts_with(sign))
}

/// `<>`.
fn is_unequal(source: &str, lexed: &Lexed, error: &SyntaxError) -> bool {
    unequal(source, lexed, error).is_some()
}

fn unequal(source: &str, lexed: &Lexed, error: &SyntaxError) -> Option<Span> {
    let at = lexed.tokens.iter().position(|token| token.span == error.span)?;
    let (before, here) = (lexed.tokens.get(at.checked_sub(1)?)?, lexed.tokens.get(at)?);
    let span = Span::new(before.span.start, here.span.end);
    (span.of(source) == "<>").then_some(span)
}

fn is_unclosed(lexed: &Lexed) -> bool {
    let count = |kind: TokenKind| lexed.tokens.iter().filter(|token| token.kind == kind).count();
    count(TokenKind::OpenParen) > count(TokenKind::CloseParen)
        || count(TokenKind::OpenBracket) > count(TokenKind::CloseBracket)
}

fn fix(source: &str, lexed: &Lexed, error: &SyntaxError, code: u16) -> Option<Fix> {
    if let Some(span) = unequal(source, lexed, error) {
        return Some(Fix::safe("Write `!=`", vec![Edit::replace(span, "!=")]));
    }
    if let Some(Hint { edit: Some(edit), trap, .. }) = &error.hint {
        if *trap == Trap::Dropped && Span::new(0, edit.span.start).of(source).ends_with(['=', '!']) {
            return Some(Fix::safe("Write two signs", vec![Edit::remove(edit.span)]));
        }
        let title = match edit.text.trim() {
            "" => "Remove it".to_owned(),
            text => format!("Write `{text}`"),
        };
        // The case of a word and the place of a blank cannot be meant otherwise; a guessed name can.
        let sure = match trap {
            Trap::Function => edit.span.of(source).eq_ignore_ascii_case(&edit.text),
            Trap::Case | Trap::Minus | Trap::AfterDot | Trap::Negation => true,
            Trap::Root => edit.text == "pathParams" || edit.text.starts_with('['),
            _ => false,
        };
        let edits = vec![edit.clone()];
        return Some(if sure { Fix::safe(title, edits) } else { Fix::review(title, edits) });
    }
    match code {
        codes::NEGATION => negation(source, lexed, error),
        codes::UNCLOSED => closing(source, lexed),
        _ => None,
    }
}

/// `!payload.flag` and `not payload.flag`: parentheses around the operand that follows.
fn negation(source: &str, lexed: &Lexed, error: &SyntaxError) -> Option<Fix> {
    let at = lexed.tokens.iter().position(|token| token.span == error.span)?;
    let here = lexed.tokens.get(at)?;
    let (word, first) = if here.kind == TokenKind::Not {
        (here.span, at + 1)
    } else {
        (lexed.tokens.get(at.checked_sub(1)?)?.span, at)
    };
    let last = operand_end(lexed, first)?;
    let start = lexed.tokens.get(first)?.span.start;
    let end = lexed.tokens.get(last)?.span.end;
    let operand = Span::new(start, end).of(source);
    let whole = Span::new(word.start, end);
    Some(Fix::safe(format!("Write `not({operand})`"), vec![Edit::replace(whole, format!("not({operand})"))]))
}

/// The last token of a simple operand: a root or call with what follows by dots and brackets.
fn operand_end(lexed: &Lexed, first: usize) -> Option<usize> {
    use TokenKind as T;
    let mut depth = 0_usize;
    let mut last = None;
    for (at, token) in lexed.tokens.iter().enumerate().skip(first) {
        match token.kind {
            T::OpenParen | T::OpenBracket => depth += 1,
            T::CloseParen | T::CloseBracket if depth == 0 => break,
            T::CloseParen | T::CloseBracket => depth -= 1,
            _ if depth > 0 => {}
            T::Dot | T::DoubleDot | T::Aggregate => {}
            _ if at == first => {}
            _ if matches!(
                lexed.tokens.get(at - 1).map(|before| before.kind),
                Some(T::Dot | T::DoubleDot)
            ) => {}
            _ => break,
        }
        last = Some(at);
    }
    (depth == 0).then_some(last).flatten()
}

/// The closing signs that are missing at the end.
fn closing(source: &str, lexed: &Lexed) -> Option<Fix> {
    let mut open = Vec::new();
    for token in &lexed.tokens {
        match token.kind {
            TokenKind::OpenParen => open.push(')'),
            TokenKind::OpenBracket => open.push(']'),
            TokenKind::CloseParen if open.pop() != Some(')') => return None,
            TokenKind::CloseBracket if open.pop() != Some(']') => return None,
            _ => {}
        }
    }
    let missing: String = open.iter().rev().collect();
    let end = u32::try_from(source.trim_end().len()).ok()?;
    Some(Fix::review(format!("Add `{missing}` at the end"), vec![Edit::insert(end, missing)]))
}
