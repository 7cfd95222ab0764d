//! The outline of a document: its artifact, the flows in it, and their steps, with labels for people.
//!
//! Parts that are details of a step (a logged property, a parameter that is passed) are left out; parts that hold
//! steps, and the named parts of an artifact, are in.

use crate::check::walk::{Placed, Role, Tree};
use crate::model::Model;
use crate::syntax::{Document, Element};
use crate::text::Span;

/// What an entry of an outline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// The root of a file.
    Artifact,
    /// A part that holds steps: a resource, a sequence, a branch.
    Flow,
    /// A mediator.
    Step,
    /// An operation of a connector.
    Operation,
    /// An endpoint.
    Endpoint,
    /// Another part of an artifact that has a name.
    Part,
}

impl ItemKind {
    /// The word that stands in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Artifact => "artifact",
            Self::Flow => "flow",
            Self::Step => "step",
            Self::Operation => "operation",
            Self::Endpoint => "endpoint",
            Self::Part => "part",
        }
    }
}

/// An entry of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// What it is called: `resource GET /orders`, `property HTTP_SC`.
    pub label: String,
    /// All of it.
    pub span: Span,
    /// What to select: the name in the start tag.
    pub name_span: Span,
    /// How deep it stands; the artifact is at zero.
    pub depth: usize,
}

/// The longest detail of a label, in characters.
const LONGEST: usize = 60;

/// The attributes that tell elements of one name apart, the most telling first.
const TELLING: [&str; 17] = [
    "name",
    "key",
    "id",
    "target",
    "uri-template",
    "url-mapping",
    "configKey",
    "messageStore",
    "path",
    "expression",
    "xpath",
    "source",
    "regex",
    "loggerName",
    "provider",
    "class",
    "description",
];

/// The outline of a document: a list in document order, each entry with its depth.
///
/// A list and no tree, because documents may be as deep as their authors like.
#[must_use]
pub fn outline(document: &Document) -> Vec<Item> {
    let tree = Tree::of(document, Model::get());
    let mut depths: Vec<usize> = Vec::with_capacity(tree.placed().len());
    let mut items = Vec::new();
    for placed in tree.placed() {
        // The depth that the children of this entry stand at.
        let depth = placed.parent.and_then(|parent| depths.get(parent)).copied().unwrap_or(0);
        match kind(&tree, placed) {
            Some(kind) => {
                items.push(Item {
                    kind,
                    label: label(placed.element),
                    span: placed.element.span(),
                    name_span: placed.element.name_span(),
                    depth,
                });
                depths.push(depth + 1);
            }
            None => depths.push(depth),
        }
    }
    items
}

fn kind(tree: &Tree<'_>, placed: &Placed<'_>) -> Option<ItemKind> {
    if placed.element.name().is_empty() {
        return None;
    }
    match placed.role {
        Role::Artifact => Some(ItemKind::Artifact),
        Role::Mediator | Role::NoMediator => Some(ItemKind::Step),
        Role::Operation => Some(ItemKind::Operation),
        Role::Endpoint => Some(ItemKind::Endpoint),
        Role::Part => {
            let has_steps = || tree.descendants(placed).iter().any(Placed::is_step);
            if placed.takes_steps() || has_steps() {
                return Some(ItemKind::Flow);
            }
            let of_artifact = tree.parent(placed).is_some_and(|parent| parent.role == Role::Artifact);
            let named = ["name", "id", "key", "uri-template", "path"].iter();
            let mut named = named.filter(|name| placed.element.attribute(name).is_some());
            (of_artifact && named.next().is_some()).then_some(ItemKind::Part)
        }
        Role::Parameter | Role::Stray | Role::Unknown => None,
    }
}

/// What an element is called in lists: its name, and what tells it apart from others of that name.
#[must_use]
pub fn label(element: Element<'_>) -> String {
    let value = |name: &str| {
        element.value(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    };
    let detail = if element.local() == "resource" {
        let path = value("uri-template").or_else(|| value("url-mapping")).or_else(|| value("path"));
        match (value("methods").or_else(|| value("method")), path) {
            (Some(methods), Some(path)) => Some(format!("{methods} {path}")),
            (methods, path) => methods.or(path),
        }
    } else {
        TELLING.iter().find_map(|name| value(name))
    };
    match detail {
        Some(detail) => format!("{} {}", element.local(), shortened(&detail)),
        None => element.local().to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= LONGEST {
        return one_line;
    }
    let mut cut: String = one_line.chars().take(LONGEST).collect();
    cut.push('\u{2026}');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let items = outline(&Document::parse(text));
        let shown: Vec<String> = items
            .iter()
            .map(|item| format!("{}{} [{:?}]", "  ".repeat(item.depth), item.label, item.kind))
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn flows_and_steps_are_listed_and_details_are_not() {
        check(
            r#"<api xmlns="http://ws.apache.org/ns/synapse" name="Orders" context="/orders">
                 <resource methods="GET POST" uri-template="/{id}">
                   <inSequence>
                     <log><property name="a" value="b"/></log>
                     <filter xpath="${payload.a > 1}"><then><respond/></then><else><drop/></else></filter>
                     <call-template target="T"><with-param name="x" value="1"/></call-template>
                     <http.get configKey="Conn"><relativePath>/a</relativePath></http.get>
                   </inSequence>
                 </resource>
               </api>"#,
            &[
                "api Orders [Artifact]",
                "  resource GET POST /{id} [Flow]",
                "    inSequence [Flow]",
                "      log [Step]",
                "      filter ${payload.a > 1} [Step]",
                "        then [Flow]",
                "          respond [Step]",
                "        else [Flow]",
                "          drop [Step]",
                "      call-template T [Step]",
                "      http.get Conn [Operation]",
            ],
        );
    }

    #[test]
    fn broken_and_foreign_texts_have_what_outline_they_can() {
        check("", &[]);
        check("<a><b/></a>", &[]);
        check("<sequence name='S'><log", &["sequence S [Artifact]", "  log [Step]"]);
    }

    #[test]
    fn long_details_are_cut() {
        let long = "x".repeat(100);
        let items = outline(&Document::parse(format!("<sequence name='{long}'/>")));
        assert_eq!(
            items.first().map(|item| item.label.chars().count()),
            Some("sequence ".len() + LONGEST + 1)
        );
    }

    #[test]
    fn depth_costs_no_stack() {
        let text = "<sequence><sequence>".to_owned() + &"<filter><then>".repeat(50_000);
        assert_eq!(outline(&Document::parse(text)).len(), 100_002);
    }
}
