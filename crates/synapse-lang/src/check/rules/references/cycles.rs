//! Sequences, templates and endpoints that lead back to themselves.

use std::collections::HashSet;

use crate::check::flow::visit_named;
use crate::check::value::{self, Reading};
use crate::check::walk::{Placed, Role, Tree};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::Severity;
use crate::model::{Model, Place, RefKind};
use crate::text::Span;

const CYCLE: u16 = 908;
/// How many sequences are followed from one. Each costs a walk, for every file of the project; circles that people make
/// are short.
const MOST: usize = 40;

/// Circles among sequences, templates and endpoints.
pub(super) struct Cycles;

/// A sequence, a template or an endpoint.
type Name = (RefKind, String);

/// One runs another.
struct Edge {
    to: Name,
    span: Span,
    /// Whether it depends on the message.
    is_conditional: bool,
}

impl Rule for Cycles {
    fn codes(&self) -> &'static [u16] {
        &[CYCLE]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        for placed in subject.tree.placed().iter().filter(|one| one.role == Role::Artifact) {
            let kind = match placed.id() {
                "artifact.sequence" => RefKind::Sequence,
                "artifact.template" => RefKind::Template,
                "artifact.endpoint" => RefKind::Endpoint,
                _ => continue,
            };
            let Some(name) = placed.element.value("name") else { continue };
            let own: Name = (kind, name.trim().to_owned());
            for edge in edges(&subject.tree, placed) {
                let Some((way, conditional)) = back(subject, &own, &edge) else { continue };
                let path: Vec<&str> = way.iter().map(|(_, name)| name.as_str()).collect();
                let path = path.join(" → ");
                if conditional {
                    let message =
                        format!("This comes back here: {path}; it ends only when a condition says so");
                    findings.report(CYCLE, edge.span, message).severity(Severity::Info);
                } else {
                    let message = format!("This comes back here without end: {path}");
                    findings.report(CYCLE, edge.span, message);
                }
            }
        }
    }
}

/// The way from an edge back to its start, and whether something on it depends on the message.
fn back(subject: &Subject<'_>, own: &Name, first: &Edge) -> Option<(Vec<Name>, bool)> {
    let mut seen = HashSet::new();
    let start = vec![own.clone(), first.to.clone()];
    let mut pending = vec![(start, first.is_conditional)];
    while let Some((way, conditional)) = pending.pop() {
        let Some(last) = way.last().cloned() else { continue };
        if last == *own {
            return Some((way, conditional));
        }
        if seen.len() >= MOST || !seen.insert(last.clone()) {
            continue;
        }
        let next = visit_named(subject.project, &subject.tree, last.0, &last.1, edges).unwrap_or_default();
        for edge in next {
            let mut longer = way.clone();
            longer.push(edge.to);
            pending.push((longer, conditional || edge.is_conditional));
        }
    }
    None
}

/// What the steps inside an element run.
fn edges(tree: &Tree<'_>, body: &Placed<'_>) -> Vec<Edge> {
    let mut found = Vec::new();
    let own = Some(body).filter(|body| body.id() == "artifact.endpoint");
    for placed in own.into_iter().chain(tree.descendants(body)) {
        let (kind, attribute) = match placed.id() {
            "sequence" if placed.element.attribute("name").is_none() => (RefKind::Sequence, "key"),
            "call-template" => (RefKind::Template, "target"),
            "endpoint" | "artifact.endpoint" => (RefKind::Endpoint, "key"),
            "filter.then" | "filter.else" | "target" | "aggregate.onComplete" => {
                (RefKind::Sequence, "sequence")
            }
            _ => continue,
        };
        let Some(written) = placed.element.attribute(attribute) else { continue };
        let known = placed.definition.and_then(|one| Model::get().attribute(one, attribute));
        let place = known.map_or(Place::Literal, |known| known.place);
        let name = written.value();
        if value::read(place, &name) != Reading::Literal {
            continue;
        }
        let above = tree.ancestors(placed).take_while(|one| one.index != body.index);
        let runs = |one: &Placed<'_>| matches!(one.id(), "sequence" | "call-template" | "template.sequence");
        // Endpoints are looked up as soon as the first of them is used.
        let is_conditional = kind != RefKind::Endpoint
            && (above.chain([placed]).any(|one| !runs(one)) || ends_before(tree, placed));
        let to = (kind, name.trim().to_owned());
        found.push(Edge { to, span: written.value_span(), is_conditional });
    }
    found
}

/// Whether a step before may have ended the flow.
fn ends_before(tree: &Tree<'_>, placed: &Placed<'_>) -> bool {
    let Some(parent) = tree.parent(placed) else { return false };
    let mut before = tree.children(parent).take_while(|one| one.index < placed.index);
    before.any(|one| one.is_step() && !matches!(one.id(), "log" | "property" | "variable" | "payloadFactory"))
}
