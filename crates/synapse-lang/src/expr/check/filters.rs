//! Filters in paths: blanks are removed before they are read, so that words cannot work.

use super::{Look, codes};
use crate::diagnostic::{Class, Edit, Severity};
use crate::expr::ast::{Filter, IndexKind, Node, NodeKind, Path, Step, StepKind, Suffix};

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let path = match &node.kind {
        NodeKind::Call(call) => match &call.suffix {
            Some(Suffix::Path(path)) => Some(path),
            _ => None,
        },
        kind => super::paths::path_of(kind),
    };
    for (step, filter) in path.into_iter().flat_map(filters) {
        if script(step, filter, look) {
            continue;
        }
        words(filter, look);
        pattern(filter, look);
    }
}

fn filters(path: &Path) -> impl Iterator<Item = (&Step, &Filter)> {
    path.steps.iter().filter_map(|step| match &step.kind {
        StepKind::Index(index) => match &index.kind {
            IndexKind::Filter(filter) => Some((step, filter)),
            _ => None,
        },
        _ => None,
    })
}

/// `[(@.length-1)]` is no index.
fn script(step: &Step, filter: &Filter, look: &mut Look<'_>) -> bool {
    let compares =
        filter.parts.iter().any(|part| matches!(&*part.text, "==" | "!=" | "<" | ">" | "<=" | ">=" | "=~"));
    if filter.question || compares || !filter.text.contains("@.length") {
        return false;
    }
    let message = "a computed index in parentheses is read as a filter and finds nothing";
    let last = filter.text == "@.length-1";
    let finding = look.report(codes::SCRIPT_INDEX, step.span, message);
    if last {
        finding.safe("Write `[-1]`", vec![Edit::replace(step.span, "[-1]")]);
    }
    true
}

fn words(filter: &Filter, look: &mut Look<'_>) {
    for part in filter.parts.iter().filter(|part| part.value.is_none()) {
        match &*part.text {
            word @ ("and" | "or") => {
                let sign = if word == "and" { "&&" } else { "||" };
                let message = format!("`{word}` breaks a filter: write `{sign}`");
                look.report(codes::FILTER_WORDS, part.span, message)
                    .safe(format!("Write `{sign}`"), vec![Edit::replace(part.span, sign)]);
            }
            word @ ("in" | "nin" | "subsetof" | "anyof" | "noneof" | "size" | "empty") => {
                let message = format!("`{word}` loses its blanks and the filter finds nothing");
                look.report(codes::FILTER_WORDS, part.span, message)
                    .class(Class::Surprise)
                    .at_most(Severity::Warning);
            }
            _ => {}
        }
    }
}

/// `=~ /a b/` is read as `/ab/`.
fn pattern(filter: &Filter, look: &mut Look<'_>) {
    let Some(at) = filter.parts.iter().find(|part| part.text == "=~") else { return };
    let after = crate::text::Span::new(at.span.end, filter.span.end);
    let text = after.of(look.source).trim_start();
    let Some(body) = text.strip_prefix('/').and_then(|rest| rest.split_once('/')).map(|(body, _)| body)
    else {
        return;
    };
    if body.contains([' ', '\t', '\n']) {
        let message = format!(
            "blanks in a pattern are lost: `/{body}/` is read as `/{}/`",
            body.split_whitespace().collect::<String>()
        );
        let body = body.to_owned();
        let start =
            after.start + u32::try_from(after.of(look.source).find('/').unwrap_or(0)).unwrap_or(0) + 1;
        let span = crate::text::Span::new(start, start + u32::try_from(body.len()).unwrap_or(0));
        look.report(codes::FILTER_WORDS, span, message)
            .class(Class::Surprise)
            .at_most(Severity::Warning)
            .review(
                "Write a dot for each blank",
                vec![Edit::replace(span, body.replace([' ', '\t', '\n'], "."))],
            );
    }
}
