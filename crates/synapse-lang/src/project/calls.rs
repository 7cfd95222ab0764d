//! Which sequences, templates and endpoints of a document run which others.
//!
//! Invariant: whatever a check follows by name from inside one of them is among its calls, so that the graph of a
//! project ([`super::graph`]) knows every way there is.

use crate::check::value::{self, Reading};
use crate::check::walk::{Placed, Role, Tree};
use crate::model::{Model, Place, RefKind};
use crate::text::Span;

/// How sure it is that a call happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    /// Whenever what holds it runs.
    Always,
    /// When the message is so, or when no step before ended the flow.
    Perhaps,
    /// On the side, later, or in a form that may mean something else: good for following, not for accusing.
    Aside,
}

/// A sequence, a template or an endpoint runs another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Who runs it: its kind and its name.
    pub from: (RefKind, String),
    /// What it runs.
    pub to: (RefKind, String),
    /// Where that is named.
    pub span: Span,
    /// When.
    pub when: When,
}

impl Call {
    /// Whether two calls differ in their places at most.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (&self.from, &self.to, self.when) == (&other.from, &other.to, other.when)
    }
}

/// The calls of a document, in the order of their places.
pub(crate) fn calls(tree: &Tree<'_>) -> Vec<Call> {
    let mut found = Vec::new();
    for artifact in tree.placed().iter().filter(|one| one.role == Role::Artifact) {
        let Some((kind, body)) = body(tree, artifact) else { continue };
        let Some(name) = artifact.element.value("name") else { continue };
        let from = (kind, name.trim().to_owned());
        let own = Some(body).filter(|_| kind == RefKind::Endpoint);
        for placed in own.into_iter().chain(tree.descendants(body)) {
            add(tree, body, placed, &from, &mut found);
        }
    }
    found
}

/// The kind of a sequence, a template or an endpoint, and the element that holds what it does.
pub(crate) fn body<'t, 'a>(
    tree: &'t Tree<'a>,
    artifact: &'t Placed<'a>,
) -> Option<(RefKind, &'t Placed<'a>)> {
    match artifact.id() {
        "artifact.sequence" => Some((RefKind::Sequence, artifact)),
        "artifact.template" => Some((RefKind::Template, tree.child(artifact, "sequence")?)),
        "artifact.endpoint" => Some((RefKind::Endpoint, artifact)),
        _ => None,
    }
}

/// What one element of a body runs.
fn add(
    tree: &Tree<'_>,
    body: &Placed<'_>,
    placed: &Placed<'_>,
    from: &(RefKind, String),
    found: &mut Vec<Call>,
) {
    let plain = plain(placed);
    for written in placed.element.attributes().filter(|one| one.prefix().is_none()) {
        let known = placed.definition.and_then(|one| Model::get().attribute(one, written.local()));
        let usual = plain.filter(|(_, attribute)| *attribute == written.local());
        let kind = match (usual, known.and_then(|one| one.reference)) {
            (Some((kind, _)), _) => kind,
            (None, Some(kind @ RefKind::Sequence)) if written.local() != "onError" => kind,
            (None, _) if placed.element.local() == "sequence" && written.local() == "key" => {
                RefKind::Sequence
            }
            _ => continue,
        };
        let name = written.value();
        let place = known.map_or(Place::Literal, |known| known.place);
        let when = if usual.is_some() && value::read(place, &name) == Reading::Literal {
            when(tree, body, placed, kind)
        } else {
            When::Aside
        };
        let to = (kind, name.trim().to_owned());
        found.push(Call { from: from.clone(), to, span: written.value_span(), when });
    }
}

/// The attribute by which an element runs something as soon as its turn comes, and what that is.
fn plain(placed: &Placed<'_>) -> Option<(RefKind, &'static str)> {
    match placed.id() {
        "sequence" if placed.element.attribute("name").is_none() => Some((RefKind::Sequence, "key")),
        "call-template" => Some((RefKind::Template, "target")),
        "endpoint" | "artifact.endpoint" => Some((RefKind::Endpoint, "key")),
        "filter.then" | "filter.else" | "target" | "aggregate.onComplete" => {
            Some((RefKind::Sequence, "sequence"))
        }
        _ => None,
    }
}

fn when(tree: &Tree<'_>, body: &Placed<'_>, placed: &Placed<'_>, kind: RefKind) -> When {
    let mut above = tree.ancestors(placed).take_while(|one| one.index != body.index);
    let runs = |one: &Placed<'_>| matches!(one.id(), "sequence" | "call-template" | "template.sequence");
    // Endpoints are looked up as soon as the first of them is used.
    let is_certain =
        kind == RefKind::Endpoint || runs(placed) && above.all(runs) && !ends_before(tree, placed);
    if is_certain { When::Always } else { When::Perhaps }
}

/// Whether a step before may have ended the flow.
fn ends_before(tree: &Tree<'_>, placed: &Placed<'_>) -> bool {
    let Some(parent) = tree.parent(placed) else { return false };
    let mut before = tree.children(parent).take_while(|one| one.index < placed.index);
    before.any(|one| one.is_step() && !matches!(one.id(), "log" | "property" | "variable" | "payloadFactory"))
}
