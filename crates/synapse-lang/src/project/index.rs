//! What a document defines and what it names.

use crate::check::value::{self, Reading, Value};
use crate::check::walk::{Placed, Role, Tree};
use crate::model::{Model, RefKind};
use crate::syntax::{Document, Element};
use crate::text::Span;

/// Something that other files can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What it is.
    pub kind: RefKind,
    /// Its name.
    pub name: String,
    /// Where the name is written.
    pub name_span: Span,
    /// All of it.
    pub span: Span,
    /// The parameters of a template.
    pub parameters: Vec<Parameter>,
}

/// A parameter of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether a caller must give it: it is mandatory and has no default.
    pub mandatory: bool,
    /// Where the name is written.
    pub span: Span,
}

/// A place that names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it should be.
    pub kind: RefKind,
    /// The name.
    pub name: String,
    /// Where the name is written.
    pub span: Span,
}

/// Reads what a document defines and names.
pub(super) fn index(document: &Document) -> (Vec<Definition>, Vec<Reference>) {
    let model = Model::get();
    let tree = Tree::of(document, model);
    let definitions = tree.placed().iter().filter_map(definition).collect();
    let references = value::of(&tree, model).iter().filter_map(reference).collect();
    (definitions, references)
}

/// What an artifact defines.
fn definition(placed: &Placed<'_>) -> Option<Definition> {
    if placed.role != Role::Artifact {
        return None;
    }
    let element = placed.element;
    let kind = match placed.id() {
        "artifact.sequence" => RefKind::Sequence,
        "artifact.endpoint" => RefKind::Endpoint,
        "artifact.api" => RefKind::Api,
        "artifact.proxy" => RefKind::Proxy,
        "artifact.inboundEndpoint" => RefKind::InboundEndpoint,
        "artifact.messageStore" => RefKind::MessageStore,
        "artifact.data" => RefKind::DataService,
        "artifact.template" if element.first("endpoint").is_some() => RefKind::EndpointTemplate,
        "artifact.template" => RefKind::Template,
        "artifact.localEntry" if connection(element) => RefKind::Connection,
        "artifact.localEntry" => RefKind::LocalEntry,
        _ => return None,
    };
    let attribute = element.attribute("name").or_else(|| element.attribute("key"))?;
    let name = attribute.value().trim().to_owned();
    let parameters =
        element.elements().filter(|one| one.local() == "parameter").filter_map(parameter).collect();
    (!name.is_empty()).then(|| Definition {
        kind,
        name,
        name_span: attribute.value_span(),
        span: element.span(),
        parameters,
    })
}

/// A local entry that holds a connector's init operation.
fn connection(entry: Element<'_>) -> bool {
    entry.elements().any(|child| child.local().ends_with(".init"))
}

fn parameter(element: Element<'_>) -> Option<Parameter> {
    let attribute = element.attribute("name")?;
    let mandatory =
        element.value("isMandatory").is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    Some(Parameter {
        name: attribute.value().into_owned(),
        mandatory: mandatory && element.attribute("defaultValue").is_none(),
        span: attribute.value_span(),
    })
}

/// What a value names, when it is a plain name.
fn reference(value: &Value<'_>) -> Option<Reference> {
    let kind = value.reference?;
    let name = value.text().trim();
    let plain = value.reading == Reading::Literal && !name.is_empty() && !name.contains(['$', '{']);
    plain.then(|| Reference { kind, name: name.to_owned(), span: value.span() })
}
