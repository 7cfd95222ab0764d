//! The elements of a document with their places in the model.
//!
//! Invariant: the tree lists parents before their children, and what lies inside an element is the run of entries
//! that follows it. Content that is not Synapse (payloads, policies, inline definitions) is not listed.

use std::borrow::Cow;

use crate::model::{self, Condition, Content, Kind, Model};
use crate::syntax::{Document, Element};

/// What an element is at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The root of a file, or one of several in a `definitions` file.
    Artifact,
    /// A step of a flow.
    Mediator,
    /// A kind of endpoint.
    Endpoint,
    /// A part that its parent lists.
    Part,
    /// An operation of a connector, in the place of a mediator.
    Operation,
    /// A parameter of a connector's operation.
    Parameter,
    /// Stands where a mediator must stand, and is none.
    NoMediator,
    /// Stands where its parent reads nothing of that name.
    Stray,
    /// The root of a document of an unknown kind.
    Unknown,
}

/// An element with its place in the model.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    /// The element.
    pub element: Element<'a>,
    /// What it is.
    pub role: Role,
    /// What the model says about it.
    pub definition: Option<&'static model::Element>,
    /// The entry of the parent.
    pub parent: Option<usize>,
    /// Its own entry.
    pub index: usize,
    /// The entry after its last descendant.
    pub end: usize,
}

impl<'a> Placed<'a> {
    /// Whether it is a step of a flow: a mediator or a connector's operation.
    #[must_use]
    pub fn is_step(&self) -> bool {
        matches!(self.role, Role::Mediator | Role::Operation | Role::NoMediator)
    }

    /// Whether it is the mediator of that name.
    #[must_use]
    pub fn is_mediator(&self, local: &str) -> bool {
        self.role == Role::Mediator && self.element.local() == local
    }

    /// The id of its definition in the model: `log.property`; empty when it has none.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.definition.map_or("", |definition| definition.id.as_str())
    }

    /// Whether its children that are no parts are steps of a flow.
    #[must_use]
    pub fn takes_steps(&self) -> bool {
        let has = |name: &str| self.element.first(name).is_some();
        self.definition.is_some_and(|definition| definition.takes_mediators(has))
    }

    /// Whether a condition of the model holds for it.
    #[must_use]
    pub fn holds(&self, condition: &Condition) -> bool {
        self.definition.is_some_and(|definition| condition.holds(&Facts::of(self.element), definition))
    }
}

/// An element as the rules of the model ask about it, with its attributes decoded once.
pub struct Facts<'a> {
    element: Element<'a>,
    attributes: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Facts<'a> {
    /// The facts of an element.
    #[must_use]
    pub fn of(element: Element<'a>) -> Self {
        let plain = element.attributes().filter(|attribute| attribute.prefix().is_none());
        Self { element, attributes: plain.map(|attribute| (attribute.local(), attribute.value())).collect() }
    }
}

impl model::Node for Facts<'_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(local, _)| *local == name).map(|(_, value)| value.as_ref())
    }

    fn has_child(&self, name: &str) -> bool {
        self.element.first(name).is_some()
    }

    fn has_any_child(&self) -> bool {
        self.element.has_element_children()
    }

    fn has_text(&self) -> bool {
        !self.element.text().trim().is_empty()
    }

    fn parent(&self) -> Option<&str> {
        self.element.parent().map(|parent| parent.local())
    }

    fn parent_attribute(&self, name: &str) -> Option<&str> {
        self.element.parent()?.attribute(name).map(|value| value.raw())
    }

    /// As they are written: rules compare them with names and with each other, and neither has references.
    fn child_values(&self, child: &str, attribute: &str) -> Vec<Option<&str>> {
        let named = self.element.elements().filter(|one| one.local() == child);
        named.map(|one| one.attribute(attribute).map(|value| value.raw())).collect()
    }
}

/// What stands for a node that is not listed.
const NO_ENTRY: u32 = u32::MAX;

/// The elements of a document that the model has a place for.
pub struct Tree<'a> {
    placed: Vec<Placed<'a>>,
    /// The entry of each node, or [`NO_ENTRY`]. Nodes are numbered densely, so a list is a map.
    by_node: Vec<u32>,
}

impl<'a> Tree<'a> {
    /// Places the elements of a document.
    #[must_use]
    pub fn of(document: &'a Document, model: &'static Model) -> Self {
        let mut tree = Self { placed: Vec::new(), by_node: Vec::new() };
        let mut pending: Vec<(Element<'a>, Role, Option<&'static model::Element>, Option<usize>)> =
            Vec::new();
        if let Some(root) = document.root() {
            let (role, definition) = root_place(root, model);
            pending.push((root, role, definition, None));
        }
        while let Some((element, role, definition, parent)) = pending.pop() {
            let index = tree.placed.len();
            tree.placed.push(Placed { element, role, definition, parent, index, end: index + 1 });
            let before = pending.len();
            for child in element.elements() {
                if let Some((role, definition)) = child_place(element, role, definition, child, model) {
                    pending.push((child, role, definition, Some(index)));
                }
            }
            // The stack gives the last first; the tree lists the first first.
            if let Some(added) = pending.get_mut(before..) {
                added.reverse();
            }
        }
        tree.close();
        tree
    }

    /// Notes where each element's descendants end, and which entry an element has.
    fn close(&mut self) {
        let last = self.placed.iter().map(|placed| placed.element.id().index()).max();
        self.by_node = vec![NO_ENTRY; last.map_or(0, |last| last + 1)];
        for index in (0..self.placed.len()).rev() {
            let Some(entry) = self.placed.get(index) else { continue };
            let (end, parent, id) = (entry.end, entry.parent, entry.element.id());
            if let Some(entry) = self.by_node.get_mut(id.index()) {
                *entry = u32::try_from(index).unwrap_or(NO_ENTRY);
            }
            if let Some(parent) = parent.and_then(|parent| self.placed.get_mut(parent)) {
                parent.end = parent.end.max(end);
            }
        }
    }

    /// All entries, parents before their children.
    #[must_use]
    pub fn placed(&self) -> &[Placed<'a>] {
        &self.placed
    }

    /// The entry of an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Placed<'a>> {
        self.placed.get(index)
    }

    /// The entry of an element; nothing for what is not listed.
    #[must_use]
    pub fn entry(&self, element: Element<'_>) -> Option<&Placed<'a>> {
        self.by_node.get(element.id().index()).and_then(|index| self.placed.get(*index as usize))
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Option<&Placed<'a>> {
        self.placed.first()
    }

    /// The entry of the parent.
    #[must_use]
    pub fn parent(&self, placed: &Placed<'_>) -> Option<&Placed<'a>> {
        placed.parent.and_then(|parent| self.placed.get(parent))
    }

    /// The parents, the nearest first.
    pub fn ancestors(&self, placed: &Placed<'_>) -> impl Iterator<Item = &Placed<'a>> {
        std::iter::successors(self.parent(placed), |one| self.parent(one))
    }

    /// The children in their order.
    pub fn children(&self, placed: &Placed<'_>) -> impl Iterator<Item = &Placed<'a>> {
        let end = placed.end;
        let at = move |index: usize| if index < end { self.placed.get(index) } else { None };
        std::iter::successors(at(placed.index + 1), move |one| at(one.end))
    }

    /// Everything inside, parents before their children.
    #[must_use]
    pub fn descendants(&self, placed: &Placed<'_>) -> &[Placed<'a>] {
        self.placed.get(placed.index + 1..placed.end).unwrap_or_default()
    }

    /// The child of that local name.
    #[must_use]
    pub fn child(&self, placed: &Placed<'_>, local: &str) -> Option<&Placed<'a>> {
        self.children(placed).find(|child| child.element.local() == local)
    }
}

type Place = (Role, Option<&'static model::Element>);

fn root_place(root: Element<'_>, model: &'static Model) -> Place {
    let namespace = root.namespace().unwrap_or_default();
    let artifact = model.artifact(root.local(), namespace).or_else(|| model.artifact_named(root.local()));
    match artifact {
        Some(definition) => (Role::Artifact, Some(definition)),
        None => (Role::Unknown, None),
    }
}

/// The place of a child; nothing when it is content that is not judged.
fn child_place(
    parent: Element<'_>,
    role: Role,
    definition: Option<&'static model::Element>,
    child: Element<'_>,
    model: &'static Model,
) -> Option<Place> {
    match role {
        Role::Operation => return Some((Role::Parameter, None)),
        Role::Parameter | Role::NoMediator | Role::Stray | Role::Unknown => return None,
        Role::Artifact | Role::Mediator | Role::Endpoint | Role::Part => {}
    }
    let definition = definition.filter(|definition| !definition.shallow)?;
    let local = child.local();
    let has = |name: &str| parent.first(name).is_some();
    if let Some(found) = model.child(definition, local, has) {
        let role = match found.kind {
            Kind::Artifact => Role::Artifact,
            Kind::Mediator => Role::Mediator,
            Kind::Endpoint => Role::Endpoint,
            Kind::Part => Role::Part,
        };
        return Some((role, Some(found)));
    }
    match definition.content {
        Content::Markup | Content::Mixed => None,
        Content::Parameters => Some((Role::Parameter, None)),
        Content::Empty | Content::Parts | Content::Text => Some((Role::Stray, None)),
        Content::Mediators | Content::MediatorsUnless(_) => {
            if !definition.takes_mediators(has) {
                Some((Role::Stray, None))
            } else if local == "description" {
                None
            } else if local.contains('.') {
                Some((Role::Operation, None))
            } else {
                Some((Role::NoMediator, None))
            }
        }
    }
}
