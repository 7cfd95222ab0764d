//! What a document defines and what it names.

use super::calls::{self, Call};
use crate::check::value::{self, Reading, Value};
use crate::check::walk::{Placed, Role, Tree};
use crate::check::writes::{self, Writes};
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
    /// The path that the resources of an API start with, as the runtime tells two of them apart.
    pub context: Option<String>,
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

/// A file that a descriptor puts into the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The file or the folder, as written.
    pub file: String,
    /// Where it is in the registry: `/_system/governance/schemas/order.json`.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Where the file is written.
    pub span: Span,
}

/// What a document says about others.
#[derive(Debug, Default)]
pub(super) struct Indexed {
    pub definitions: Vec<Definition>,
    pub references: Vec<Reference>,
    pub items: Vec<Item>,
    pub writes: Writes,
    pub calls: Vec<Call>,
    /// The kinds of things that are named by values which only the runtime knows.
    pub dynamic: Vec<RefKind>,
}

/// Reads what a document defines and names.
pub(super) fn index(document: &Document) -> Indexed {
    let model = Model::get();
    let tree = Tree::of(document, model);
    let values = value::of(&tree, model);
    let mut writes = Writes::default();
    for placed in tree.placed() {
        writes.add(writes::of(&tree, placed));
    }
    Indexed {
        definitions: definitions(&tree),
        references: references_in(&tree, model, &values),
        items: tree.root().map(|root| items(root.element)).unwrap_or_default(),
        writes,
        calls: calls::calls(&tree),
        dynamic: dynamic(&tree, &values),
    }
}

/// What a document defines.
pub(crate) fn definitions(tree: &Tree<'_>) -> Vec<Definition> {
    tree.placed().iter().filter_map(definition).collect()
}

/// The kinds of things that are named by expressions.
fn dynamic(tree: &Tree<'_>, values: &[Value<'_>]) -> Vec<RefKind> {
    let mut kinds = Vec::new();
    for value in values {
        let Some(kind) = value.reference else { continue };
        if reference(value).is_none() && !value.text().trim().is_empty() && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let computed = |one: &Placed<'_>| one.element.attribute("key-expression").is_some();
    if !kinds.contains(&RefKind::Endpoint) && tree.placed().iter().any(computed) {
        kinds.push(RefKind::Endpoint);
    }
    kinds
}

/// Every place of a document that names something.
pub(crate) fn references(tree: &Tree<'_>, model: &'static Model) -> Vec<Reference> {
    references_in(tree, model, &value::of(tree, model))
}

fn references_in(tree: &Tree<'_>, model: &'static Model, values: &[Value<'_>]) -> Vec<Reference> {
    let mut found: Vec<Reference> = values.iter().filter_map(reference).collect();
    found.extend(values.iter().filter_map(|value| parameter_reference(tree, model, value)));
    found
}

/// The items of a descriptor of registry resources.
fn items(root: Element<'_>) -> Vec<Item> {
    if root.local() != "artifacts" {
        return Vec::new();
    }
    let artifacts = root.elements().filter(|one| one.local() == "artifact");
    let entries = artifacts.flat_map(|one| one.elements());
    entries
        .filter_map(|entry| {
            let is_folder = match entry.local() {
                "item" => false,
                "collection" => true,
                _ => return None,
            };
            let file = entry.first(if is_folder { "directory" } else { "file" })?;
            let path = entry.first("path").map(|one| one.text().trim().to_owned()).unwrap_or_default();
            let span = file.content_span().unwrap_or_else(|| file.name_span());
            Some(Item { file: file.text().trim().to_owned(), path, is_folder, span })
        })
        .collect()
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
        context: (kind == RefKind::Api).then(|| context(element)).flatten(),
    })
}

/// What tells an API from others: the context with its version, the host and the port.
fn context(api: Element<'_>) -> Option<String> {
    let attribute = |name: &str| api.value(name).map(|value| value.trim().to_owned()).unwrap_or_default();
    let context = attribute("context");
    let context = context.trim_end_matches('/');
    let version = attribute("version");
    let path = match attribute("version-type").as_str() {
        _ if version.is_empty() => context.to_owned(),
        "context" => context.replace("{version}", &version),
        _ => format!("{context}/{version}"),
    };
    let place = [attribute("hostname"), attribute("port"), attribute("binds-to")];
    let plain = place.iter().all(String::is_empty);
    api.attribute("context")?;
    Some(if plain { path } else { format!("{path} at {}", place.join(" ")) })
}

/// A local entry that holds a connector's init operation.
fn connection(entry: Element<'_>) -> bool {
    entry.elements().any(|child| child.local().ends_with(".init"))
}

/// A parameter that a template declares.
pub(crate) fn parameter(element: Element<'_>) -> Option<Parameter> {
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

/// What a parameter of a store, a processor, an inbound endpoint or a task names.
fn parameter_reference(tree: &Tree<'_>, model: &'static Model, value: &Value<'_>) -> Option<Reference> {
    let (of, kind_attribute) = match value.placed.id() {
        "messageStore.parameter" => ("messageStore", "class"),
        "messageProcessor.parameter" => ("messageProcessor", "class"),
        "inboundEndpoint.parameter" => ("inboundEndpoint", "protocol"),
        "task.property" => ("task", "class"),
        _ => return None,
    };
    let wanted = if of == "task" { Some("value") } else { None };
    let name = value.text().trim();
    if value.attribute() != wanted || name.is_empty() || name.contains(['$', '{']) {
        return None;
    }
    let artifact = tree.ancestors(&value.placed).find(|one| one.role == Role::Artifact)?.element;
    let implementation = artifact.value(kind_attribute).unwrap_or_default();
    let injects = |to: &str| {
        let inject = artifact.elements().find(|one| one.value("name").is_some_and(|name| name == "injectTo"));
        inject.and_then(|one| one.value("value")).is_none_or(|value| value.trim().eq_ignore_ascii_case(to))
    };
    let parameter = value.placed.element.value("name")?;
    let catalogues = model.catalogues(of).filter(|one| one.name.is_empty() || one.name == implementation);
    let kind = catalogues.flat_map(|one| &one.parameters).find(|one| one.name == parameter)?.reference?;
    // A task names both at times, and only one of them counts.
    let counts = match (of, kind) {
        ("task", RefKind::Sequence) => injects("sequence"),
        ("task", RefKind::Proxy) => injects("proxy"),
        _ => true,
    };
    counts.then(|| Reference { kind, name: name.to_owned(), span: value.span() })
}
