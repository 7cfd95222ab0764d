//! Dynamic values in a form that their place does not evaluate.

mod bare;
mod external;
mod forms;
mod json_eval;
mod literal;
mod queries;
mod templates;
mod untyped;
mod xpaths;

use super::Rule;
use crate::expr;

/// The rules of this family.
pub(super) static RULES: &[&dyn Rule] = &[
    &bare::Bare,
    &forms::Forms,
    &literal::Literals,
    &queries::Queries,
    &external::External,
    &json_eval::JsonEval,
    &templates::Templates,
    &untyped::Untyped,
    &xpaths::XPaths,
];

/// The roots that an expression begins with.
const ROOTS: &[&str] = &["payload", "vars", "headers", "params", "props", "properties", "configs"];

/// Whether a text, without `${}`, is evidently meant as a Synapse expression: it parses, and it uses a root.
fn is_expression(text: &str) -> bool {
    names_root(text) && expr::parse(text).is_ok()
}

/// Whether a root of expressions occurs in a text as a word of its own that is followed by `.` or `[`.
fn names_root(text: &str) -> bool {
    ROOTS.iter().any(|root| {
        text.match_indices(root).any(|(at, _)| {
            let before = text.get(..at).and_then(|rest| rest.chars().next_back());
            let after = text.get(at + root.len()..).and_then(|rest| rest.chars().next());
            !before.is_some_and(|one| one.is_alphanumeric() || "_-.:/@'\"".contains(one))
                && matches!(after, Some('.' | '['))
        })
    })
}

/// The insides of `${…}` in a literal text that are evidently meant as expressions.
fn placeholders(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at + 2) {
        let Some(end) = text.get(start..).and_then(|rest| rest.find('}')).map(|at| start + at) else { break };
        let inner = text.get(start..end).unwrap_or_default();
        if is_expression(inner) || (expr::parse(inner).is_ok() && inner.contains('(')) {
            found.push(start..end);
        }
        from = end + 1;
    }
    found
}

/// The one expression that a text is, without `${` and `}`.
fn whole(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("${")?.strip_suffix('}')?;
    (!inner.contains("${") && expr::parse(inner).is_ok()).then_some(inner)
}

/// A text with placeholders as one expression: literals and expressions, joined.
fn joined(text: &str) -> Option<String> {
    let ranges = placeholders(text);
    if ranges.is_empty() || text.contains('\'') {
        return None;
    }
    let mut pieces = Vec::new();
    let mut from = 0;
    for range in ranges {
        let before = text.get(from..range.start - 2)?;
        if !before.is_empty() {
            pieces.push(format!("'{before}'"));
        }
        pieces.push(format!("string({})", text.get(range.clone())?));
        from = range.end + 1;
    }
    let rest = text.get(from..)?;
    if !rest.is_empty() {
        pieces.push(format!("'{rest}'"));
    }
    Some(pieces.join(" + "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_told_from_paths_and_placeholders_of_other_tools() {
        for text in ["payload.a", "vars.x > 3", "payload[\"a b\"]", "5 + headers.n"] {
            assert!(is_expression(text), "{text}");
        }
        for text in
            ["//a/payload", "my-payload.x", "$ctx:payload.x y", "project.version", "a.payload.b", "payload"]
        {
            assert!(!is_expression(text), "{text}");
        }
        assert_eq!(placeholders("a ${vars.x} ${project.version} ${toUpper('a')}").len(), 2);
        assert_eq!(joined("Bad: ${vars.x}!").as_deref(), Some("'Bad: ' + string(vars.x) + '!'"));
    }
}
