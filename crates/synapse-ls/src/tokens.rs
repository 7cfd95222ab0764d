//! Semantic tokens: the parts of expressions.

use gen_lsp_types::{Range, SemanticToken, SemanticTokens};
use synapse_lang::check::value;
use synapse_lang::expr::lexer::{Token, TokenKind, lex};
use synapse_lang::model::Model;
use synapse_lang::text::Span;

use crate::places;
use crate::view::View;

/// The types of tokens; their places in the list are their numbers.
pub(crate) const TYPES: [&str; 7] =
    ["keyword", "function", "operator", "string", "number", "variable", "property"];

const KEYWORD: u32 = 0;
const FUNCTION: u32 = 1;
const OPERATOR: u32 = 2;
const STRING: u32 = 3;
const NUMBER: u32 = 4;
const VARIABLE: u32 = 5;
const PROPERTY: u32 = 6;

/// The tokens of the expressions of a document, or of a range of it.
pub(crate) fn of(view: &View<'_>, range: Option<Range>) -> SemanticTokens {
    let wanted = range.map(|range| places::span(view.document, range, view.client.unit));
    let mut found: Vec<(Span, u32)> = Vec::new();
    for value in value::of(&view.tree(), Model::get()) {
        if wanted.is_some_and(|wanted| value.span().end < wanted.start || wanted.end < value.span().start) {
            continue;
        }
        for range in value.expressions() {
            let text = value.text().get(range.clone()).unwrap_or_default();
            let tokens = lex(text).tokens;
            for at in 0..tokens.len() {
                let Some((token, kind)) = typed(&tokens, at) else { continue };
                let place = range.start + token.span.start as usize..range.start + token.span.end as usize;
                found.push((value.source_span(place), kind));
            }
        }
    }
    found.sort_by_key(|(span, _)| (span.start, span.end));
    let (mut line, mut column, mut end) = (0, 0, 0);
    let mut data = Vec::with_capacity(found.len());
    for (span, kind) in found {
        let there = view.range(span);
        // Tokens of several lines cannot be sent, and of two that overlap the first counts.
        if span.start < end || there.start.line != there.end.line || span.is_empty() {
            continue;
        }
        end = span.end;
        let delta_line = there.start.line - line;
        let delta_start =
            if delta_line == 0 { there.start.character - column } else { there.start.character };
        (line, column) = (there.start.line, there.start.character);
        let length = there.end.character - there.start.character;
        data.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type: kind,
            token_modifiers_bitset: 0,
        });
    }
    SemanticTokens { result_id: None, data }
}

/// The token at a place in a list, and its type; brackets and commas have none.
fn typed(tokens: &[Token], at: usize) -> Option<(Token, u32)> {
    use TokenKind as T;
    let kind = |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|token| token.kind);
    let token = *tokens.get(at)?;
    let before = kind(at.checked_sub(1));
    let after_dot = matches!(before, Some(T::Dot | T::DoubleDot));
    let number = match token.kind {
        T::Text => STRING,
        T::Number => NUMBER,
        T::Aggregate | T::SecondaryFunction => FUNCTION,
        T::Function if kind(at.checked_add(1)) == Some(T::OpenParen) && !after_dot => FUNCTION,
        T::Boolean | T::Null | T::Vars | T::Payload | T::Headers | T::Configs | T::Params | T::Properties
            if !after_dot =>
        {
            KEYWORD
        }
        T::And | T::Or | T::FilterWord if !after_dot => OPERATOR,
        T::Not
        | T::Asterisk
        | T::Plus
        | T::Minus
        | T::Slash
        | T::Percent
        | T::Equal
        | T::NotEqual
        | T::Greater
        | T::Less
        | T::GreaterEqual
        | T::LessEqual
        | T::Question
        | T::Colon => OPERATOR,
        T::DoubleDot
        | T::OpenParen
        | T::CloseParen
        | T::OpenBracket
        | T::CloseBracket
        | T::Dot
        | T::Comma
        | T::Quote
        | T::At => return None,
        T::ParamKind | T::PropertyScope => KEYWORD,
        // A name, or a word of the language where a name stands.
        _ if after_dot && kind(at.checked_sub(2)) == Some(T::Vars) => VARIABLE,
        _ => PROPERTY,
    };
    Some((token, number))
}
