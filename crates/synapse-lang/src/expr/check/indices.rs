//! Steps of paths: indices, slices, lists, aggregates, and fields that are not there.

use super::kind::{Atom, Kind};
use super::paths::{self, End, Missing};
use super::{Guard, Look, codes};
use crate::diagnostic::{Class, Edit, Severity};
use crate::expr::ast::{IndexKind, Node, NodeKind, Path, SlicePart, Step, StepKind, Suffix};
use crate::near;
use crate::text::Span;

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    let (path, root) = match &node.kind {
        NodeKind::Call(call) => match &call.suffix {
            Some(Suffix::Path(path)) => (path, false),
            _ => return,
        },
        NodeKind::Payload(access) => match &access.path {
            Some(path) => (path, true),
            None => return,
        },
        kind => match paths::path_of(kind) {
            Some(path) => (path, false),
            None => return,
        },
    };
    missing(node, look);
    let mut many = false;
    for (at, step) in path.steps.iter().enumerate() {
        match &step.kind {
            StepKind::Aggregate(name) if many => aggregate(path, step, name, root, look),
            StepKind::Index(index) => match &index.kind {
                IndexKind::Number(text) => {
                    if text.parse::<i32>().is_err() {
                        let message = format!("an index must be an int, and `{text}` is none");
                        look.report(codes::INDEX_KIND, index.span, message);
                    }
                    of_many(node, path, at, step, look);
                }
                IndexKind::Computed(inner) => computed(inner, look),
                IndexKind::List(items) => list(step, items, look),
                IndexKind::Slice(parts) => slice(step, parts, look),
                IndexKind::Text(_) | IndexKind::All | IndexKind::Filter(_) => {}
            },
            _ => {}
        }
        many = many || !paths::is_definite_step(step);
    }
}

/// Fields that a known shape does not have. What `exists()` asks for may be missing.
fn missing(node: &Node, look: &mut Look<'_>) {
    if look.guard == Guard::Exists {
        return;
    }
    let end = match &node.kind {
        NodeKind::Payload(access) => paths::end_of_payload(look.kinds, access),
        NodeKind::Variable(variable) => match paths::end_of_variable(look.kinds, variable) {
            Some(end) => end,
            None => return,
        },
        _ => return,
    };
    let End::Nothing(Missing { span, before }) = end else { return };
    if let NodeKind::Variable(variable) = &node.kind
        && let Some(known) = look.env().variables.get(&variable.name.value)
        && variable.path.as_ref().is_some_and(|path| path.span.start == span.start)
        && !known.kind.may_be(Kind::OBJECT.or(Kind::ARRAY))
    {
        let xml = known.kind.is(Kind::one(Atom::Xml));
        let name = variable.name.value.clone();
        let message = if xml {
            format!("`vars.{name}` is XML, and paths lead only into JSON: use `xpath('//…', '{name}')`")
        } else {
            format!("`vars.{name}` is {}, and paths lead only into JSON", known.kind)
        };
        look.report(codes::PATH_INTO_VALUE, span, message);
        return;
    }
    let written = span.of(look.source).trim_matches(['.', '[', ']', '"', '\'']).to_owned();
    let names = before.fields();
    let near = near::nearest(&written, names.iter().copied()).map(str::to_owned);
    let message = match &near {
        Some(near) => format!("there is no `{written}` here; did you mean `{near}`?"),
        None => format!("there is no `{written}` here"),
    };
    let finding = look.report(codes::UNKNOWN_FIELD, span, message);
    if let Some(near) = near {
        let text = span_text(span, &near);
        finding.review(format!("Write `{near}`"), vec![text]);
    }
}

fn span_text(span: Span, name: &str) -> Edit {
    Edit::replace(span, format!(".{name}"))
}

fn aggregate(path: &Path, step: &Step, name: &str, root: bool, look: &mut Look<'_>) {
    if !matches!(name, "min()" | "max()" | "avg()" | "sum()" | "stddev()") {
        return;
    }
    let from_root = root && matches!(path.steps.as_slice(), [Step { kind: StepKind::Descend(_), .. }, _]);
    if from_root {
        return;
    }
    let last = path.steps.iter().rev().find_map(|one| match &one.kind {
        StepKind::Field(name) | StepKind::Descend(name) => Some(name.clone()),
        _ => None,
    });
    let way = last.map_or_else(String::new, |field| format!(", or `$..{field}.{name}` for all in the body"));
    let message = format!(
        "`{name}` works on an array of numbers and crashes on a list of matches: put them in a variable{way}"
    );
    look.report(codes::AGGREGATE_OF_MANY, step.span, message);
}

/// `[?(…)][0]` takes the first of each match, not the first match.
fn of_many(node: &Node, path: &Path, at: usize, step: &Step, look: &mut Look<'_>) {
    let Some(before) = at.checked_sub(1).and_then(|before| path.steps.get(before)) else { return };
    let filtered = matches!(&before.kind, StepKind::Index(index) if matches!(index.kind, IndexKind::Filter(_) | IndexKind::Slice(_)));
    if !filtered {
        return;
    }
    let message = "the index is applied to each match, not to the list of matches: write `array(…)[0]`";
    let edits = vec![Edit::insert(node.span.start, "array("), Edit::insert(step.span.start, ")")];
    look.report(codes::INDEX_OF_MANY, step.span, message).review("Wrap the matches in `array()`", edits);
}

fn computed(inner: &Node, look: &mut Look<'_>) {
    let kind = look.kind(inner);
    // A long may be small; those of JSON never are.
    let fits = Kind::INT.or(Kind::TEXT).or(Kind::one(Atom::Long));
    if !kind.cannot_be(fits) {
        return;
    }
    let double = kind.is(Kind::DOUBLE);
    let what = kind.without(Kind::NULL);
    let message = if kind.is(Kind::NULL) {
        "an index must be an int or the name of a field, and this is null".to_owned()
    } else {
        format!("an index must be an int or the name of a field, and this is {what}")
    };
    let finding = look.report(codes::INDEX_KIND, inner.span, message);
    if double {
        finding.review("Round it", super::around(inner, "round(", ")"));
    }
}

fn list(step: &Step, items: &[Node], look: &mut Look<'_>) {
    if items.iter().any(|item| matches!(item.ungrouped().kind, NodeKind::Text(_))) {
        let message = "a list of names crashes: read the fields one by one";
        look.report(codes::NAME_LIST, step.span, message);
    }
}

fn slice(step: &Step, parts: &[SlicePart], look: &mut Look<'_>) {
    let colons = parts.iter().filter(|part| matches!(part, SlicePart::Colon)).count();
    let bounds = parts.len() - colons;
    if bounds == 0 {
        let message = "a slice without bounds crashes: write `[*]`";
        look.report(codes::SLICE, step.span, message)
            .safe("Write `[*]`", vec![Edit::replace(step.span, "[*]")]);
    } else if colons == 2 && !matches!(parts.last(), Some(SlicePart::Colon)) {
        let message = if matches!(parts, [SlicePart::Colon, SlicePart::Colon, _]) {
            "the step of a slice is not read as one: `[::2]` picks the element 2"
        } else {
            "the step of a slice is ignored: `[0:3:2]` is `[0:3]`"
        };
        look.report(codes::SLICE, step.span, message).class(Class::Surprise).at_most(Severity::Warning);
    }
}
