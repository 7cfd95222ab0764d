//! Forms and functions of other languages, and what stands for them in this one.

use super::{Hint, Scene, Trap};
use crate::expr::functions;
use crate::expr::lexer::TokenKind;
use crate::text::Span;

/// Functions of other languages, and what stands for them here.
const MEANT: &[(&str, &str)] = &[
    ("ceiling", "ceil"),
    ("coalesce", "`exists(a) ? a : b`"),
    ("concat", "`a + b`"),
    ("count", "length"),
    ("date", "`formatDateTime(now(), 'yyyy-MM-dd')`"),
    ("double", "float"),
    ("get-property", "`props.synapse.x`, `props.axis2.x` or `headers.x`"),
    ("if", "`condition ? a : b`"),
    ("int", "integer"),
    ("isEmpty", "`length(x) == 0`"),
    ("isNull", "`not(exists(x))`"),
    ("json-eval", "the path itself, as in `payload.a.b`"),
    ("len", "length"),
    ("lower", "toLower"),
    ("lower-case", "toLower"),
    ("lowercase", "toLower"),
    ("number", "float"),
    ("parseFloat", "float"),
    ("parseInt", "integer"),
    ("size", "length"),
    ("starts-with", "startsWith"),
    ("str", "string"),
    ("string-length", "length"),
    ("substr", "subString"),
    ("toInteger", "integer"),
    ("toLowerCase", "toLower"),
    ("toString", "string"),
    ("toUpperCase", "toUpper"),
    ("upper", "toUpper"),
    ("upper-case", "toUpper"),
    ("uppercase", "toUpper"),
];

/// What stands here for a function of another language.
pub(super) fn function(word: &str, span: Span) -> Option<Hint> {
    let (_, meant) = MEANT.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))?;
    Some(if functions::find(meant).is_some() {
        let message = format!("there is no function `{word}`; it is called `{meant}`");
        Hint::replace(Trap::Function, message, span, *meant)
    } else {
        Hint::say(Trap::Function, format!("there is no function `{word}`: write {meant}"))
    })
}

/// Forms of other languages: `$ctx:x`, `a ?? b`, `a?.b`, `payload.$ref`.
pub(super) fn form(scene: &Scene<'_>) -> Option<Hint> {
    let dollar = scene.kind(-1) == Some(TokenKind::Payload) && scene.word(-1) == "$";
    if dollar && scene.kind(-2) == Some(TokenKind::Dot) && scene.kind(0) == Some(TokenKind::Identifier) {
        let name = scene.between(-1, 0).of(scene.text).to_owned();
        return Some(Hint::replace(
            Trap::AfterDot,
            format!("`{name}` cannot follow a dot: write `[\"{name}\"]`"),
            scene.between(-2, 0),
            format!("[\"{name}\"]"),
        ));
    }
    if dollar && scene.kind(1) == Some(TokenKind::Colon) {
        let root = match scene.word(0) {
            "ctx" => "props.synapse",
            "axis2" => "props.axis2",
            "trp" => "headers",
            "func" => "params.functionParams",
            "url" => "params.queryParams",
            _ => return None,
        };
        let name = scene.word(2);
        let message = format!("`${}:{name}` is XPath: write `{root}.{name}`", scene.word(0));
        return Some(Hint::replace(Trap::Name, message, scene.between(-1, 2), format!("{root}.{name}")));
    }
    match (scene.kind(-1), scene.kind(0)) {
        (Some(TokenKind::Question), Some(TokenKind::Question)) => Some(Hint::say(
            Trap::Other,
            "there is no operator for defaults: write `exists(payload.x) ? payload.x : 'default'`",
        )),
        (Some(TokenKind::Question), Some(TokenKind::Dot)) => Some(Hint::say(
            Trap::Other,
            "there is no `?.`: ask first, as in `exists(payload.x.y) ? payload.x.y : ''`",
        )),
        _ => None,
    }
}
