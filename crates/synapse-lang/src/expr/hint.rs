//! What people meant when they wrote something that does not parse: the well-known traps, each with its way out.

mod elsewhere;

use super::functions;
use super::lexer::{Lexed, Token, TokenKind};
use super::parser::{Problem, SyntaxError};
use crate::diagnostic::Edit;
use crate::text::Span;

/// The trap behind an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trap {
    /// Nothing is written.
    Empty,
    /// A string does not end, or holds an unknown escape.
    Quote,
    /// A word or sign that cannot follow a dot.
    AfterDot,
    /// `params.x`, `props.x`, `headers` alone: a part of the root is missing.
    Root,
    /// A filter holds what filters cannot.
    Filter,
    /// A sign before a value.
    Sign,
    /// `!x` or `not x`.
    Negation,
    /// `AND`, `True`: case matters.
    Case,
    /// A function that does not exist.
    Function,
    /// A bare name.
    Name,
    /// A function without parentheses, or a field with them.
    Call,
    /// A minus that belongs to a number.
    Minus,
    /// A number with an exponent.
    Exponent,
    /// Two values without an operator between them.
    Operator,
    /// Characters that the runtime drops.
    Dropped,
    /// Something else.
    Other,
}

/// The way out of a trap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// Which trap it is.
    pub trap: Trap,
    /// What to write and why.
    pub message: String,
    /// The change that does it, when it is evident.
    pub edit: Option<Edit>,
}

impl Hint {
    pub(super) fn say(trap: Trap, message: impl Into<String>) -> Self {
        Self { trap, message: message.into(), edit: None }
    }

    fn replace(trap: Trap, message: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { trap, message: message.into(), edit: Some(Edit::replace(span, text)) }
    }
}

/// The names that an expression can begin with.
pub const ROOTS: [&str; 8] = ["payload", "vars", "headers", "configs", "params", "props", "properties", "$"];

struct Scene<'a> {
    text: &'a str,
    lexed: &'a Lexed,
    /// The token at the error, and how many stand before it.
    at: usize,
}

impl<'a> Scene<'a> {
    fn token(&self, offset: isize) -> Option<Token> {
        self.at.checked_add_signed(offset).and_then(|at| self.lexed.tokens.get(at)).copied()
    }

    fn kind(&self, offset: isize) -> Option<TokenKind> {
        self.token(offset).map(|token| token.kind)
    }

    fn word(&self, offset: isize) -> &'a str {
        self.token(offset).map_or("", |token| token.span.of(self.text))
    }

    fn span(&self, offset: isize) -> Span {
        self.token(offset).map(|token| token.span).unwrap_or_default()
    }

    /// From one token to another.
    fn between(&self, from: isize, to: isize) -> Span {
        Span::new(self.span(from).start, self.span(to).end)
    }
}

/// Finds the trap behind an error.
pub(super) fn explain(text: &str, lexed: &Lexed, error: &SyntaxError) -> Option<Hint> {
    let at = lexed.tokens.iter().position(|token| token.span == error.span).unwrap_or(lexed.tokens.len());
    let scene = Scene { text, lexed, at };
    match error.problem {
        Problem::TooDeep | Problem::TooLong => None,
        Problem::Empty => Some(Hint::say(Trap::Empty, "write a value, such as `payload.name`")),
        Problem::Leftover { .. } | Problem::Unexpected { .. } => quote(&scene)
            .or_else(|| elsewhere::form(&scene))
            .or_else(|| after_dot(&scene))
            .or_else(|| in_filter(&scene))
            .or_else(|| operand(&scene))
            .or_else(|| operator(&scene))
            .or_else(|| dropped(&scene)),
    }
}

fn quote(scene: &Scene<'_>) -> Option<Hint> {
    let stray = scene.lexed.tokens.iter().any(|token| token.kind == TokenKind::Quote);
    let here =
        matches!(scene.kind(0), Some(TokenKind::Quote)) || matches!(scene.kind(-1), Some(TokenKind::Quote));
    (stray && here).then(|| {
        Hint::say(Trap::Quote, "a string does not end, or holds an escape other than \\b \\t \\n \\f \\r \\\" \\' \\\\ \\/ \\uXXXX")
    })
}

/// What stands behind a dot and cannot.
fn after_dot(scene: &Scene<'_>) -> Option<Hint> {
    // The error may be reported at the dot (the path ended before it) or behind it.
    let dot = match (scene.kind(0), scene.kind(-1)) {
        (Some(TokenKind::Dot | TokenKind::DoubleDot), _) => 0,
        (_, Some(TokenKind::Dot | TokenKind::DoubleDot)) => -1,
        _ => return None,
    };
    let name = scene.word(dot + 1);
    let bracket = |from: isize| {
        let span = scene.between(from, dot + 1);
        Hint::replace(
            Trap::AfterDot,
            format!("`{name}` cannot follow a dot: write `[\"{name}\"]`"),
            span,
            format!("[\"{name}\"]"),
        )
    };
    match (scene.kind(dot - 1), scene.kind(dot + 1)) {
        (Some(TokenKind::Params), _) if name == "uriParams" => {
            Some(Hint::replace(Trap::Root, "it is called `pathParams`", scene.span(dot + 1), "pathParams"))
        }
        (Some(TokenKind::Params), Some(_)) => Some(Hint::say(
            Trap::Root,
            format!("say which parameter it is: `params.pathParams.{name}` or `params.queryParams.{name}`"),
        )),
        (Some(TokenKind::Properties), _) if name == "transport" => Some(Hint::replace(
            Trap::Root,
            "transport headers are `headers.x`",
            scene.between(dot - 1, dot + 1),
            "headers",
        )),
        (Some(TokenKind::Properties), Some(TokenKind::Identifier)) => Some(Hint::replace(
            Trap::Root,
            format!("say the scope: `props.synapse.{name}` or `props.axis2.{name}`"),
            scene.span(dot + 1),
            format!("synapse.{name}"),
        )),
        // `props.synapse.uri.var.id`: the name itself has dots.
        (Some(TokenKind::Identifier), Some(TokenKind::Identifier)) => {
            let parts = dotted_from_scope(scene, dot)?;
            let name = parts.of(scene.text).trim_start_matches('.').to_owned();
            Some(Hint::replace(
                Trap::Root,
                format!("a name with dots needs brackets: `[\"{name}\"]`"),
                parts,
                format!("[\"{name}\"]"),
            ))
        }
        (
            _,
            Some(
                TokenKind::FilterWord | TokenKind::Boolean | TokenKind::Null | TokenKind::And | TokenKind::Or,
            ),
        ) => Some(bracket(dot)),
        (_, Some(TokenKind::Number)) => Some(Hint::replace(
            Trap::AfterDot,
            format!("an index needs brackets: `[{name}]`"),
            scene.between(dot, dot + 1),
            format!("[{name}]"),
        )),
        (_, Some(TokenKind::At)) => {
            let name = scene.between(dot + 1, dot + 2).of(scene.text).to_owned();
            Some(Hint::replace(
                Trap::AfterDot,
                format!("`{name}` cannot follow a dot: write `[\"{name}\"]`"),
                scene.between(dot, dot + 2),
                format!("[\"{name}\"]"),
            ))
        }
        (_, None) => Some(Hint::say(Trap::Other, "a name belongs behind the dot")),
        _ => None,
    }
}

/// The span of `.a.b.c` behind `props.synapse` or `params.pathParams`, around a dot in it.
fn dotted_from_scope(scene: &Scene<'_>, dot: isize) -> Option<Span> {
    let mut first = dot;
    while matches!(scene.kind(first - 1), Some(TokenKind::Identifier))
        && scene.kind(first - 2) == Some(TokenKind::Dot)
    {
        first -= 2;
    }
    let scope = matches!(scene.kind(first - 1), Some(TokenKind::PropertyScope | TokenKind::ParamKind));
    let mut last = dot + 1;
    while scene.kind(last + 1) == Some(TokenKind::Dot) && scene.kind(last + 2) == Some(TokenKind::Identifier)
    {
        last += 2;
    }
    scope.then(|| scene.between(first, last))
}

fn in_filter(scene: &Scene<'_>) -> Option<Hint> {
    match (scene.kind(-1), scene.kind(0)) {
        (Some(TokenKind::At), Some(TokenKind::OpenBracket)) => {
            Some(Hint::say(Trap::Filter, "brackets cannot follow `@` in a filter: write `@.name`"))
        }
        (Some(TokenKind::FilterWord), Some(TokenKind::OpenBracket)) => Some(Hint::say(
            Trap::Filter,
            format!("`{}` does not work in filters: compare with `==` and join with `||`", scene.word(-1)),
        )),
        _ => None,
    }
}

/// What stands where a value belongs and is none.
fn operand(scene: &Scene<'_>) -> Option<Hint> {
    if scene.kind(-1).is_some_and(TokenKind::ends_a_value) || is_field(scene, -1) {
        return None;
    }
    if let Some(hint) = unfinished(scene) {
        return Some(hint);
    }
    let word = scene.word(0);
    match scene.kind(0)? {
        TokenKind::Minus => Some(Hint::replace(
            Trap::Sign,
            "there is no minus sign before a value: write `0 - …` or `… * -1`",
            scene.span(0),
            "0 - ",
        )),
        TokenKind::Plus => Some(Hint::say(Trap::Sign, "there is no plus sign before a value")),
        TokenKind::Not => {
            let simple = matches!(scene.kind(1), Some(TokenKind::OpenParen));
            let message = "`!` works only in filters: write `not(…)`";
            Some(if simple {
                Hint::replace(Trap::Negation, message, scene.span(0), "not")
            } else {
                Hint::say(Trap::Negation, message)
            })
        }
        TokenKind::Aggregate => Some(Hint::say(
            Trap::Call,
            format!(
                "`{word}` belongs behind a path, as in `payload.items.{word}`; a function needs its argument between the parentheses"
            ),
        )),
        TokenKind::Identifier => Some(identifier(scene, word)),
        TokenKind::Quote => Some(Hint::say(Trap::Quote, "a string does not end, or holds an unknown escape")),
        TokenKind::FilterWord | TokenKind::At => {
            Some(Hint::say(Trap::Name, format!("`{word}` has a meaning only in filters")))
        }
        _ => None,
    }
}

/// A root or function that ends before it is complete.
fn unfinished(scene: &Scene<'_>) -> Option<Hint> {
    let name = scene.word(-1);
    match scene.kind(-1)? {
        TokenKind::Function => {
            let trap = if name == "not" { Trap::Negation } else { Trap::Call };
            Some(Hint::say(trap, format!("`{name}` is a function: write `{name}(…)`")))
        }
        TokenKind::Headers | TokenKind::Vars | TokenKind::Configs => {
            Some(Hint::say(Trap::Root, format!("`{name}` needs a name: `{name}.x` or `{name}[\"x\"]`")))
        }
        TokenKind::Params => Some(Hint::say(
            Trap::Root,
            "say which parameter it is: `params.pathParams.x`, `params.queryParams.x` or `params.functionParams.x`",
        )),
        TokenKind::Properties => {
            Some(Hint::say(Trap::Root, format!("say the scope: `{name}.synapse.x` or `{name}.axis2.x`")))
        }
        TokenKind::ParamKind if scene.kind(-3) == Some(TokenKind::Params) => {
            Some(Hint::say(Trap::Root, format!("`params.{name}` needs a name: `params.{name}.x`")))
        }
        TokenKind::PropertyScope if scene.kind(-3) == Some(TokenKind::Properties) => {
            Some(Hint::say(Trap::Root, format!("`props.{name}` needs a name: `props.{name}.x`")))
        }
        _ => None,
    }
}

fn identifier(scene: &Scene<'_>, word: &str) -> Hint {
    let span = scene.span(0);
    let lower = word.to_ascii_lowercase();
    if matches!(&*lower, "true" | "false" | "null") {
        return Hint::replace(Trap::Case, format!("case matters: write `{lower}`"), span, lower);
    }
    if scene.kind(1) == Some(TokenKind::OpenParen) {
        if let Some(hint) = elsewhere::function(word, span) {
            return hint;
        }
        let names = functions::all().iter().map(|one| one.name.as_str());
        return match nearest(word, names) {
            Some(name) => Hint::replace(
                Trap::Function,
                format!("there is no function `{word}`; did you mean `{name}`?"),
                span,
                name,
            ),
            None => Hint::say(Trap::Function, format!("there is no function `{word}`")),
        };
    }
    match word {
        "var" => return Hint::replace(Trap::Name, "it is called `vars`", span, "vars"),
        "config" => return Hint::replace(Trap::Name, "it is called `configs`", span, "configs"),
        "attributes" => {
            return Hint::say(
                Trap::Name,
                "there is no `attributes`; a response's attributes are in its variable: `vars.x.attributes`",
            );
        }
        _ => {}
    }
    match nearest(word, ROOTS.into_iter()) {
        Some(root) => {
            Hint::replace(Trap::Name, format!("there is no `{word}`; did you mean `{root}`?"), span, root)
        }
        None => Hint::say(
            Trap::Name,
            format!("a bare name is no value: write `payload.{word}`, `vars.{word}` or `'{word}'`"),
        ),
    }
}

/// What stands behind a complete value and is no operator.
fn operator(scene: &Scene<'_>) -> Option<Hint> {
    let word = scene.word(0);
    match scene.kind(0)? {
        TokenKind::Number if word.starts_with('-') => {
            let digits = word.trim_start_matches('-');
            Some(Hint::replace(
                Trap::Minus,
                format!(
                    "a minus directly before digits belongs to the number: write ` - {digits}` with blanks on both sides"
                ),
                scene.span(0),
                format!(" - {digits}"),
            ))
        }
        TokenKind::Identifier => match &*word.to_ascii_lowercase() {
            lower @ ("and" | "or") => Some(Hint::replace(
                Trap::Case,
                format!("case matters: write `{lower}`"),
                scene.span(0),
                lower,
            )),
            "e" => Some(Hint::say(Trap::Exponent, "numbers have no exponent")),
            lower if scene.kind(-1) == Some(TokenKind::Number) && lower.starts_with('e') => {
                Some(Hint::say(Trap::Exponent, "numbers have no exponent"))
            }
            _ => {
                dropped(scene).or_else(|| Some(Hint::say(Trap::Operator, "an operator is missing before it")))
            }
        },
        TokenKind::OpenParen if scene.kind(-1) == Some(TokenKind::Identifier) || is_field(scene, -1) => {
            Some(Hint::say(Trap::Call, format!("`{}` is a field here, not a function", scene.word(-1))))
        }
        TokenKind::Not => Some(Hint::say(Trap::Negation, "`!` works only in filters: write `not(…)`")),
        TokenKind::Colon => {
            dropped(scene).or_else(|| Some(Hint::say(Trap::Other, "`:` belongs to `condition ? a : b`")))
        }
        TokenKind::Number | TokenKind::Text | TokenKind::Payload | TokenKind::Vars | TokenKind::Function => {
            dropped(scene).or_else(|| Some(Hint::say(Trap::Operator, "an operator is missing before it")))
        }
        _ => None,
    }
}

/// Characters that were dropped before the error often explain it.
fn dropped(scene: &Scene<'_>) -> Option<Hint> {
    let start = scene.token(0).map_or(u32::MAX, |token| token.span.start);
    let span = scene.lexed.dropped.iter().rev().find(|span| span.start < start)?;
    let text = span.of(scene.text);
    let sign = text.chars().next()?;
    let only = Span::new(span.start, span.start + u32::try_from(sign.len_utf8()).unwrap_or(1));
    Some(match sign {
        '=' => {
            Hint::replace(Trap::Dropped, "`=` is dropped by the runtime: write `==` to compare", only, "==")
        }
        '&' => Hint::replace(Trap::Dropped, "`&` is dropped by the runtime: write `and` or `&&`", only, "&&"),
        '|' => Hint::replace(Trap::Dropped, "`|` is dropped by the runtime: write `or` or `||`", only, "||"),
        '{' | '}' => {
            Hint::say(Trap::Dropped, "there are no object literals: `{` and `}` are dropped by the runtime")
        }
        _ if sign.is_alphanumeric() => Hint::say(
            Trap::Dropped,
            format!(
                "`{sign}` is dropped by the runtime: names with other than ASCII letters need brackets, as in `[\"na\u{ef}ve\"]`"
            ),
        ),
        _ => Hint::say(Trap::Dropped, format!("`{sign}` is dropped by the runtime")),
    })
}

/// Behind a dot every word is the name of a field.
fn is_field(scene: &Scene<'_>, at: isize) -> bool {
    matches!(scene.kind(at - 1), Some(TokenKind::Dot | TokenKind::DoubleDot))
        && !matches!(scene.kind(at - 2), Some(TokenKind::Params | TokenKind::Properties))
}

/// The known name nearest to a misspelt one, when one is near enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let scored = names.map(|name| {
        let case = name.eq_ignore_ascii_case(word);
        (if case { 0 } else { distance(&word.to_ascii_lowercase(), &name.to_ascii_lowercase()) }, name)
    });
    scored.filter(|(score, _)| *score <= allowed).min_by_key(|(score, _)| *score).map(|(_, name)| name)
}

/// Letters to change, add, remove or swap.
fn distance(left: &str, right: &str) -> usize {
    let left = left.chars().take(64).collect::<Vec<_>>();
    let right = right.chars().take(64).collect::<Vec<_>>();
    let mut before: Vec<usize> = Vec::new();
    let mut row = (0..=right.len()).collect::<Vec<_>>();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let change = row.get(j).copied().unwrap_or(0) + usize::from(a != b);
            let add = next.last().copied().unwrap_or(0) + 1;
            let remove = row.get(j + 1).copied().unwrap_or(0) + 1;
            let swapped = i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            let swap = if swapped { before.get(j - 1).copied().unwrap_or(0) + 1 } else { usize::MAX };
            next.push(change.min(add).min(remove).min(swap));
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}
