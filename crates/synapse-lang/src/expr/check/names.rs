//! Hyphens belong to names, so that `payload.total-1` is the field `total-1`.

use super::{Look, codes, paths};
use crate::diagnostic::Edit;
use crate::expr::ast::{NameForm, Node, NodeKind, Place, StepKind};
use crate::text::Span;

pub(super) fn look(node: &Node, look: &mut Look<'_>) {
    if let NodeKind::Variable(variable) = &node.kind
        && variable.name.form == NameForm::Dot
        && !look.env().variables.contains_key(&variable.name.value)
    {
        name(&variable.name.value, variable.name.span, look);
    }
    if let NodeKind::Lookup(lookup) = &node.kind
        && lookup.name.form == NameForm::Dot
        && lookup.place != Place::Header
        && !look.env().texts.contains_key(&(lookup.place, lookup.name.value.clone()))
    {
        name(&lookup.name.value, lookup.name.span, look);
    }
    let Some(path) = paths::path_of(&node.kind) else { return };
    for step in &path.steps {
        let StepKind::Field(field) = &step.kind else { continue };
        let end = step.span.end;
        let length = u32::try_from(field.len()).unwrap_or(0);
        if !is_field(look.env().payload.fields().as_slice(), field) {
            name(field, Span::new(end.saturating_sub(length), end), look);
        }
    }
}

fn is_field(known: &[&str], field: &str) -> bool {
    known.contains(&field)
}

/// The names after which a hyphen was surely meant as a minus.
const ROOTS: [&str; 7] = ["payload", "vars", "headers", "params", "configs", "props", "properties"];

fn name(field: &str, span: Span, look: &mut Look<'_>) {
    let Some((before, after)) = field.rsplit_once('-') else { return };
    let number = !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
    let minus = number || ROOTS.contains(&after);
    if before.is_empty() || !minus {
        return;
    }
    let message = format!("hyphens belong to names: this reads the field `{field}`, it subtracts nothing");
    look.report(codes::HYPHEN, span, message)
        .review("Put blanks around the minus", vec![Edit::replace(span, format!("{before} - {after}"))]);
}
