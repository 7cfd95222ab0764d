//! Variables that are read and were not set before, or were set in a copy of the message.

use std::collections::BTreeSet;

use crate::check::flow::{Way, way};
use crate::check::follow::Sight;
use crate::check::value::Value;
use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::expr::ast::{NameForm, NodeKind};
use crate::expr::check::codes;
use crate::expr::parser;
use crate::near::nearest;

use super::super::flow::named_like;
use super::guarded;
use super::state::State;
use super::trace::{Tracer, Trouble, Use};

const NEVER: u16 = codes::UNKNOWN_VARIABLE;
const PERHAPS: u16 = 651;
const LOST: u16 = 652;
/// The most elements of a document whose flows are followed.
const MOST: usize = 20_000;

/// Reads of variables that are not there.
pub(super) struct Unset;

impl Rule for Unset {
    fn codes(&self) -> &'static [u16] {
        &[NEVER, PERHAPS, LOST]
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let values = &subject.values;
        let tree = &subject.tree;
        let copies = tree.placed().iter().any(|one| matches!(one.id(), "foreach" | "scatter-gather"));
        let reads = values.iter().any(|value| value.text().contains("vars"));
        // A document of that size is made by a program, and its flows are too wide to follow.
        if !(reads || copies) || tree.placed().len() > MOST {
            return;
        }
        let tracer = Tracer::new(Sight::Project(subject.project), tree, values);
        for placed in tree.placed() {
            match placed.id() {
                "api.resource" | "proxy.target" => service(subject, &tracer, placed),
                "artifact.sequence" => {
                    tracer.steps(tree, placed, State::anything());
                }
                "artifact.template" => {
                    if let Some(body) = tree.child(placed, "sequence") {
                        tracer.steps(tree, body, State::anything());
                    }
                }
                _ => {}
            }
        }
        let mut told = BTreeSet::new();
        for one in tracer.into_uses() {
            if told.insert((one.span.start, one.span.end)) {
                report(subject, &one, findings);
            }
        }
        nobody(subject, values, findings);
    }
}

/// The flows of a resource or a target, one after the other.
fn service(subject: &Subject<'_>, tracer: &Tracer<'_, '_, '_>, owner: &Placed<'_>) {
    let tree = &subject.tree;
    // Handlers run code before the flow.
    let handled = tree.parent(owner).is_some_and(|parent| tree.child(parent, "handlers").is_some());
    let mut state = if handled { State::anything() } else { State::default() };
    for which in ["inSequence", "outSequence", "faultSequence"] {
        state = match way(tree, owner, which) {
            Way::Inline(part) => tracer.steps(tree, part, state),
            Way::Named(owner) => {
                let name = owner.element.value(which).unwrap_or_default();
                tracer.named(tree, name.trim(), state)
            }
            Way::Absent => state,
        }
        .later();
    }
}

fn report(subject: &Subject<'_>, one: &Use, findings: &mut Findings) {
    let name = &one.name;
    match &one.trouble {
        Trouble::Never { others } => {
            let meant = nearest(name, others.iter().map(String::as_str));
            let hint = match meant {
                Some(meant) => format!("; did you mean {meant}?"),
                None => ", so the expression fails".to_owned(),
            };
            let rename = meant
                .filter(|_| one.is_plain)
                .map(|meant| Fix::review(format!("Read {meant}"), vec![Edit::replace(one.span, meant)]));
            let message = format!("No step before sets the variable {name}{hint}");
            findings.report(NEVER, one.span, message).fix_if(rename).fix_if(declaration(subject, one));
        }
        Trouble::Perhaps => {
            let message = format!("The variable {name} is set on some ways only that lead here");
            findings.report(PERHAPS, one.span, message);
        }
        Trouble::Lost(what) => {
            let message = format!(
                "{name} was set inside the <{what}> before, which works on copies: what is set there is gone here"
            );
            findings.report(LOST, one.span, message);
        }
    }
}

/// A step that sets the variable, before the one that reads it.
fn declaration(subject: &Subject<'_>, one: &Use) -> Option<Fix> {
    let step = subject.tree.get(one.step).filter(|step| step.is_step())?.element;
    let name = crate::syntax::escape_attribute(&one.name, '"');
    let written = format!("<{} name=\"{name}\" value=\"\"/>", named_like(step, "variable"));
    let indentation = step.indentation()?;
    let edit = Edit::insert(step.span().start, format!("{written}\n{indentation}"));
    Some(Fix::review(format!("Set {} before", one.name), vec![edit]))
}

/// Sequences and templates of a project that is seen whole: a variable that no step of the project sets.
fn nobody(subject: &Subject<'_>, values: &[Value<'_>], findings: &mut Findings) {
    let Some(project) = subject.project.filter(|one| one.is_closed() && !one.has_opaque_steps()) else {
        return;
    };
    let fragment = |root: &&Placed<'_>| matches!(root.id(), "artifact.sequence" | "artifact.template");
    if subject.tree.root().filter(fragment).is_none() {
        return;
    }
    for value in values {
        let in_flow = value.placed.is_step()
            || subject.tree.ancestors(&value.placed).any(|one| one.role == Role::Mediator);
        for range in value.expressions().into_iter().filter(|_| in_flow) {
            let Ok(expression) = parser::parse(value.text().get(range.clone()).unwrap_or_default()) else {
                continue;
            };
            let expected = guarded(&expression);
            expression.root.walk(&mut |node| {
                let NodeKind::Variable(variable) = &node.kind else { return };
                let name = &variable.name;
                let read = name.form == NameForm::Dot || name.form == NameForm::DoubleQuoted;
                if !read || expected.contains(&name.value.as_str()) || project.writes_variable(&name.value) {
                    return;
                }
                let span = value.source_span(
                    range.start + name.span.start as usize..range.start + name.span.end as usize,
                );
                let meant = nearest(&name.value, project.written_variables());
                let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                let message = format!("No step of this project sets the variable {}{hint}", name.value);
                let fix = meant
                    .filter(|_| name.form == NameForm::Dot)
                    .map(|meant| Fix::review(format!("Read {meant}"), vec![Edit::replace(span, meant)]));
                findings.report(NEVER, span, message).fix_if(fix);
            });
        }
    }
}
