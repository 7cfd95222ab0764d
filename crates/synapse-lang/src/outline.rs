//! What is in a document, as a tree of names: artifacts, resources, sequences, steps.
//!
//! It is what editors show beside a file and what `mica outline` prints. Content that is not Synapse is left out, and a
//! broken document has the outline of what can be read of it.

use crate::check::walk::{Placed, Role, Tree};
use crate::model::Model;
use crate::syntax::{Document, Element};
use crate::text::Span;

/// Something in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is called in the language: the name of its element.
    pub label: String,
    /// Its own name: what tells it from others of its label. Empty when it has none.
    pub name: String,
    /// What it is.
    pub kind: ItemKind,
    /// All of it.
    pub span: Span,
    /// What to show when it is chosen: its name, or its tag's name.
    pub name_span: Span,
    /// What is in it.
    pub children: Vec<Item>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Something that is deployed.
    Artifact,
    /// An in-sequence, a branch: a part that holds steps.
    Flow,
    /// A step of a flow.
    Mediator,
    /// An operation of a connector.
    Operation,
    /// An endpoint.
    Endpoint,
    /// Another part that has a name.
    Part,
}

impl ItemKind {
    /// The word that stands in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Flow => "flow",
            Self::Mediator => "mediator",
            Self::Operation => "operation",
            Self::Endpoint => "endpoint",
            Self::Part => "part",
        }
    }
}

/// The outline of a document.
#[must_use]
pub fn outline(document: &Document) -> Vec<Item> {
    let tree = Tree::of(document, Model::get());
    // Parents stand before their children: from the back, every item is complete before its parent takes it. Nothing
    // here recurses, so depth costs no stack until the outline is dropped.
    let placed = tree.placed();
    let mut built: Vec<Vec<Item>> = (0..placed.len()).map(|_| Vec::new()).collect();
    let mut roots = Vec::new();
    for one in placed.iter().rev() {
        let mut children = built.get_mut(one.index).map(std::mem::take).unwrap_or_default();
        children.reverse();
        // What is not shown hands its children up: `then` without a name still is a flow, a plain wrapper is not.
        let items = match item(one, &tree) {
            Some(item) if depth(one, &tree) < DEEPEST => vec![Item { children, ..item }],
            _ => children,
        };
        let home = match one.parent {
            Some(parent) => built.get_mut(parent),
            None => Some(&mut roots),
        };
        if let Some(home) = home {
            home.extend(items.into_iter().rev());
        }
    }
    roots.reverse();
    roots
}

/// Below this depth items are shown beside their parents: trees of garbage are as deep as they are long.
const DEEPEST: usize = 200;

fn depth(placed: &Placed<'_>, tree: &Tree<'_>) -> usize {
    tree.ancestors(placed).take(DEEPEST + 1).count()
}

fn item(placed: &Placed<'_>, tree: &Tree<'_>) -> Option<Item> {
    let element = placed.element;
    let kind = match placed.role {
        Role::Artifact | Role::Unknown => ItemKind::Artifact,
        Role::Mediator | Role::NoMediator => ItemKind::Mediator,
        Role::Operation => ItemKind::Operation,
        Role::Endpoint => ItemKind::Endpoint,
        Role::Part if placed.takes_steps() || tree.children(placed).any(Placed::is_step) => ItemKind::Flow,
        Role::Part if named(element).is_some() => ItemKind::Part,
        Role::Part | Role::Parameter | Role::Stray => return None,
    };
    let (name, name_span) = named(element).unwrap_or_else(|| (String::new(), element.name_span()));
    Some(Item {
        label: element.name().to_owned(),
        name,
        kind,
        span: element.span(),
        name_span,
        children: Vec::new(),
    })
}

/// Attributes that tell one element from another, the best first.
const NAMES: [&str; 14] = [
    "name",
    "key",
    "uri-template",
    "url-mapping",
    "id",
    "target",
    "expression",
    "xpath",
    "source",
    "regex",
    "methods",
    "uri",
    "value",
    "description",
];

fn named(element: Element<'_>) -> Option<(String, Span)> {
    let found = NAMES.iter().find_map(|name| element.attribute(name).map(|attribute| (*name, attribute)));
    let (label, attribute) = found?;
    let value = attribute.value().trim().to_owned();
    // A resource is its methods and its path.
    let methods = element.value("methods").filter(|_| label != "methods" && element.local() == "resource");
    let name = match methods {
        Some(methods) => format!("{} {value}", methods.trim()),
        None => value,
    };
    (!name.is_empty()).then(|| (name, attribute.value_span()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(items: &[Item], depth: usize, out: &mut String) {
        for item in items {
            out.push_str(&format!(
                "{}{} {} {}\n",
                "  ".repeat(depth),
                item.kind.word(),
                item.label,
                item.name
            ));
            print(&item.children, depth + 1, out);
        }
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let mut out = String::new();
        print(&outline(&Document::parse(text)), 0, &mut out);
        assert_eq!(out, expect);
    }

    #[test]
    fn an_api_is_its_resources_and_their_steps() {
        check(
            r#"<api xmlns="http://ws.apache.org/ns/synapse" name="Orders" context="/orders">
                <resource methods="GET POST" uri-template="/{id}">
                    <inSequence>
                        <filter xpath="${true}"><then><log level="full"/></then><else><drop/></else></filter>
                        <http.get configKey="c"><relativePath>/a</relativePath></http.get>
                        <payloadFactory media-type="xml"><format><a name="not shown"/></format></payloadFactory>
                    </inSequence>
                </resource>
            </api>"#,
            "artifact api Orders\n  part resource GET POST /{id}\n    flow inSequence \n      mediator filter ${true}\n        \
             flow then \n          mediator log \n        flow else \n          mediator drop \n      \
             operation http.get \n      mediator payloadFactory \n",
        );
    }

    #[test]
    fn what_is_broken_or_unknown_has_an_outline_too() {
        check(
            "<sequence name='a'><log><property name='p'",
            "artifact sequence a\n  mediator log \n    part property p\n",
        );
        check("<html/>", "artifact html \n");
        check("", "");
    }
}
