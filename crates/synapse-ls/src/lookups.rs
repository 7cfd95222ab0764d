//! Names that expressions look up: `vars.x`, `configs.x`, `params.pathParams.x` and the like.
//!
//! They are found among the tokens and not in the tree, so that an expression that is still being typed has them too.

use std::ops::Range;

use synapse_lang::check::value;
use synapse_lang::expr::lexer::{Token, TokenKind, lex};
use synapse_lang::model::Model;
use synapse_lang::syntax::{Document, Element, Spot, unescape};
use synapse_lang::text::Span;

use crate::view::View;

/// Where a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// `vars`.
    Variable,
    /// `configs`.
    Config,
    /// `headers`.
    Header,
    /// `params.queryParams`.
    QueryParam,
    /// `params.pathParams`.
    PathParam,
    /// `params.functionParams`.
    FunctionParam,
    /// `props.synapse`.
    Synapse,
    /// `props.axis2`.
    Axis2,
}

/// A name that is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lookup {
    /// Where.
    pub(crate) root: Root,
    /// The name, without quotes.
    pub(crate) name: String,
    /// Where the name stands in the expression, without quotes.
    pub(crate) range: Range<usize>,
}

/// The root whose name is to be typed next, when the tokens end with one and its dot.
pub(crate) fn expects_name(text: &str, tokens: &[Token]) -> Option<Root> {
    let (last, before) = tokens.split_last()?;
    if last.kind != TokenKind::Dot {
        return None;
    }
    let (root, length) = root(text, before)?;
    let start = before.len().checked_sub(length)?;
    let after_dot = start.checked_sub(1).and_then(|at| before.get(at)).is_some_and(is_dot);
    (!after_dot).then_some(root)
}

/// The root that a list of tokens ends with, and how many tokens it has.
fn root(text: &str, tokens: &[Token]) -> Option<(Root, usize)> {
    let word = |token: &Token| token.span.of(text);
    match tokens {
        [.., one] if one.kind == TokenKind::Vars => Some((Root::Variable, 1)),
        [.., one] if one.kind == TokenKind::Configs => Some((Root::Config, 1)),
        [.., one] if one.kind == TokenKind::Headers => Some((Root::Header, 1)),
        [.., first, dot, kind] if dot.kind == TokenKind::Dot && first.kind == TokenKind::Params => {
            let root = match word(kind) {
                "queryParams" => Root::QueryParam,
                "pathParams" => Root::PathParam,
                "functionParams" => Root::FunctionParam,
                _ => return None,
            };
            Some((root, 3))
        }
        [.., first, dot, scope] if dot.kind == TokenKind::Dot && first.kind == TokenKind::Properties => {
            let root = match word(scope) {
                "synapse" => Root::Synapse,
                "axis2" => Root::Axis2,
                _ => return None,
            };
            Some((root, 3))
        }
        _ => None,
    }
}

fn is_dot(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Dot | TokenKind::DoubleDot)
}

/// All names that an expression looks up.
pub(crate) fn of(text: &str) -> Vec<Lookup> {
    let tokens = lex(text).tokens;
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let Some((root, length)) = tokens.get(..=at).and_then(|before| root(text, before)) else { continue };
        let first = at + 1 - length;
        if first.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(is_dot) {
            continue;
        }
        let mut rest = tokens.get(at + 1..).unwrap_or_default().iter();
        let mut next = rest.next();
        if next.is_some_and(|token| token.kind == TokenKind::Dot) {
            next = rest.next();
        }
        if next.is_some_and(|token| token.kind == TokenKind::OpenBracket) {
            next = rest.next().filter(|token| token.kind == TokenKind::Text);
        }
        let Some(name) = next else { continue };
        let range = Range::from(name.span);
        let range =
            if name.kind == TokenKind::Text { range.start + 1..range.end.saturating_sub(1) } else { range };
        let word = text.get(range.clone()).unwrap_or_default();
        let is_word = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if name.kind == TokenKind::Text || is_word {
            found.push(Lookup { root, name: word.to_owned(), range });
        }
    }
    found
}

/// All names that the expressions of a document look up, with their places in it and the elements that have them.
pub(crate) fn in_document<'a>(view: &View<'a>) -> Vec<(Lookup, Span, Element<'a>)> {
    let mut found = Vec::new();
    for value in value::of(&view.tree(), Model::get()) {
        for range in value.expressions() {
            let text = value.text().get(range.clone()).unwrap_or_default();
            for lookup in of(text) {
                let place = range.start + lookup.range.start..range.start + lookup.range.end;
                found.push((lookup, value.source_span(place), value.placed.element));
            }
        }
    }
    found
}

/// An expression that is being typed.
pub(crate) struct Typed {
    /// What stands between its `${` and the cursor, as read.
    pub(crate) text: String,
    /// The quote of the attribute that it stands in.
    pub(crate) quote: Option<char>,
}

/// The expression that a cursor is in.
pub(crate) fn typed(document: &Document, offset: u32) -> Option<Typed> {
    let (start, quote) = match document.node_at(offset).spot {
        Spot::AttributeValue(attribute) => (attribute.value_span().start, attribute.quote()),
        Spot::Text(piece) | Spot::CData(piece) => (piece.inner_span().start, None),
        _ => return None,
    };
    let before = Span::new(start, offset).of(document.source());
    let inside =
        before.rfind("${").and_then(|at| before.get(at + 2..)).filter(|inside| !inside.contains('}'))?;
    Some(Typed { text: unescape(inside).into_text().into_owned(), quote })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_all_their_forms() {
        let check = |text: &str, expected: &[(Root, &str)]| {
            let found = of(text);
            let found: Vec<(Root, &str)> = found.iter().map(|one| (one.root, one.name.as_str())).collect();
            assert_eq!(found, expected, "{text}");
            for one in of(text) {
                assert_eq!(&text[one.range], one.name, "{text}");
            }
        };
        check("vars.a + vars[\"b\"]", &[(Root::Variable, "a"), (Root::Variable, "b")]);
        check("configs.url", &[(Root::Config, "url")]);
        check("params.pathParams.id", &[(Root::PathParam, "id")]);
        check(
            "params.functionParams.x + props.axis2.HTTP_SC",
            &[(Root::FunctionParam, "x"), (Root::Axis2, "HTTP_SC")],
        );
        check("payload.vars.x", &[]);
        check("vars.", &[]);
        check("payload[?(@.a == vars.min)]", &[(Root::Variable, "min")]);
        // Names that are words of the language elsewhere.
        check("vars.length", &[(Root::Variable, "length")]);
    }
}
