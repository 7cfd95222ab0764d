//! What a place names, and all the places that name it.

use gen_lsp_types::Location;
use synapse_lang::check::value::{self, Holder, Reading};
use synapse_lang::model::{Model, RefKind};
use synapse_lang::project::{File, Project};
use synapse_lang::syntax::{Document, Element, Spot};
use synapse_lang::text::Span;

use crate::lookups::{self, Root};
use crate::uri;
use crate::view::View;

/// Something with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// An artifact, by the kind that it is defined as.
    Artifact(RefKind, String),
    /// A variable of the flows in one file.
    Variable(String),
    /// A parameter of a sequence template.
    Parameter {
        /// The template.
        template: String,
        /// The parameter.
        name: String,
    },
    /// A file of the project.
    File(String),
    /// Something that has a name and no definition here: a Java class, a property.
    Foreign(RefKind, String),
}

/// A place that names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The file.
    pub(crate) path: String,
    /// Where in it.
    pub(crate) span: Span,
    /// Whether it is defined or written here.
    pub(crate) write: bool,
}

impl Site {
    fn new(path: &str, span: Span, write: bool) -> Self {
        Self { path: path.to_owned(), span, write }
    }

    /// The place for the client.
    pub(crate) fn location(&self, view: &View<'_>) -> Location {
        Location { uri: view.uri_of(&self.path), range: view.range_in(&self.path, self.span) }
    }
}

/// The kinds that a reference of a kind may be defined as.
pub(crate) const fn definition_kinds(kind: RefKind) -> &'static [RefKind] {
    use RefKind as R;
    match kind {
        R::Sequence => &[R::Sequence],
        R::Endpoint => &[R::Endpoint],
        R::Template => &[R::Template],
        R::EndpointTemplate => &[R::EndpointTemplate],
        R::LocalEntry | R::Resource => &[R::LocalEntry, R::Connection],
        R::Connection => &[R::Connection, R::LocalEntry],
        R::MessageStore => &[R::MessageStore],
        R::Proxy => &[R::Proxy],
        R::Api => &[R::Api],
        R::DataService => &[R::DataService],
        R::InboundEndpoint => &[R::InboundEndpoint],
        R::Class | R::Variable | R::Property | R::File => &[],
    }
}

/// The kinds of references that may mean a definition of a kind.
const fn reference_kinds(kind: RefKind) -> &'static [RefKind] {
    use RefKind as R;
    match kind {
        R::LocalEntry | R::Connection => &[R::LocalEntry, R::Resource, R::Connection],
        other => definition_kinds(other),
    }
}

/// What a place names, and where the name stands.
pub(crate) fn at(view: &View<'_>, offset: u32) -> Option<(Target, Span)> {
    for one in view.file.definitions() {
        if one.name_span.touches(offset) {
            return Some((Target::Artifact(one.kind, one.name.clone()), one.name_span));
        }
        if let Some(parameter) = one.parameters.iter().find(|parameter| parameter.span.touches(offset))
            && one.kind == RefKind::Template
        {
            let target = Target::Parameter { template: one.name.clone(), name: parameter.name.clone() };
            return Some((target, parameter.span));
        }
    }
    if let Some(one) = view.file.references().iter().find(|one| one.span.touches(offset)) {
        return Some((of_reference(view.project, one.kind, &one.name), one.span));
    }
    in_markup(view.document, offset).or_else(|| in_expression(view, offset))
}

fn of_reference(project: &Project, kind: RefKind, name: &str) -> Target {
    match kind {
        RefKind::Variable => return Target::Variable(name.to_owned()),
        RefKind::File => return Target::File(name.trim_start_matches('/').to_owned()),
        RefKind::Class | RefKind::Property => return Target::Foreign(kind, name.to_owned()),
        _ => {}
    }
    if let Some(path) = registry_file(project, name) {
        return Target::File(path);
    }
    let kinds = definition_kinds(kind);
    let defined = kinds.iter().find(|kind| project.definitions(**kind, name).next().is_some());
    Target::Artifact(defined.or_else(|| kinds.first()).copied().unwrap_or(kind), name.to_owned())
}

/// The file that a key of the registry names, when the project has it.
fn registry_file(project: &Project, key: &str) -> Option<String> {
    const RESOURCES: &str = "src/main/wso2mi/resources";
    let (scheme, rest) = key.split_once(':')?;
    let rest = rest.trim_start_matches('/');
    let path = match scheme {
        "resources" => format!("{RESOURCES}/{rest}"),
        "gov" | "conf" => format!("{RESOURCES}/registry/{scheme}/{rest}"),
        _ => return None,
    };
    project.has_file(&path).then_some(path)
}

/// The keys under which the files of the registry are named.
pub(crate) fn registry_keys(project: &Project) -> impl Iterator<Item = String> {
    project.other_files().filter_map(|path| {
        let rest = path.strip_prefix("src/main/wso2mi/resources/")?;
        match rest.strip_prefix("registry/").and_then(|inside| inside.split_once('/')) {
            Some((root @ ("gov" | "conf"), key)) => Some(format!("{root}:{key}")),
            Some(_) => None,
            None => Some(format!("resources:{rest}")),
        }
    })
}

/// Names in markup that the model has no reference for: passed parameters, and the variable of a response.
fn in_markup(document: &Document, offset: u32) -> Option<(Target, Span)> {
    let place = document.node_at(offset);
    match place.spot {
        Spot::AttributeValue(attribute) if attribute.name() == "name" => {
            let element = attribute.element();
            let call = element.parent().filter(|_| element.local() == "with-param")?;
            let template = call.value("target")?.trim().to_owned();
            let target = Target::Parameter { template, name: attribute.value().trim().to_owned() };
            Some((target, attribute.value_span()))
        }
        Spot::Text(piece) => {
            let element = piece.parent().filter(|element| element.local() == "responseVariable")?;
            let (name, span) = response_variable(element)?;
            Some((Target::Variable(name), span))
        }
        _ => None,
    }
}

/// The name in a `responseVariable`, without the blanks around it.
fn response_variable(element: Element<'_>) -> Option<(String, Span)> {
    let decoded = element.decoded_text();
    let text = decoded.text();
    let name = text.trim();
    let start = text.len() - text.trim_start().len();
    (!name.is_empty()).then(|| (name.to_owned(), decoded.source_span(start..start + name.len())))
}

/// The name of the template that an element stands in.
pub(crate) fn template_around(element: Element<'_>) -> Option<String> {
    let mut around = std::iter::once(element).chain(element.ancestors());
    around.find(|one| one.local() == "template")?.value("name").map(|name| name.trim().to_owned())
}

fn in_expression(view: &View<'_>, offset: u32) -> Option<(Target, Span)> {
    for (lookup, span, element) in lookups::in_document(view) {
        if !span.touches(offset) {
            continue;
        }
        return match lookup.root {
            Root::Variable => Some((Target::Variable(lookup.name), span)),
            Root::FunctionParam => {
                let template = template_around(element)?;
                Some((Target::Parameter { template, name: lookup.name }, span))
            }
            Root::Synapse | Root::Axis2 => Some((Target::Foreign(RefKind::Property, lookup.name), span)),
            _ => None,
        };
    }
    None
}

/// All places that name something, definitions first within a file.
pub(crate) fn sites(view: &View<'_>, target: &Target) -> Vec<Site> {
    let mut sites = match target {
        Target::Artifact(kind, name) => of_artifact(view.project, *kind, name),
        Target::Variable(name) => of_variable(view, name),
        Target::Parameter { template, name } => of_parameter(view, template, name),
        Target::File(path) => of_file(view.project, path),
        Target::Foreign(kind, name) => {
            let named = view.project.references(*kind, name);
            named.map(|(path, one)| Site::new(path, one.span, true)).collect()
        }
    };
    sites.sort_by(|a, b| (&a.path, a.span.start, a.span.end).cmp(&(&b.path, b.span.start, b.span.end)));
    sites.dedup_by(|a, b| a.path == b.path && a.span == b.span);
    sites
}

fn of_artifact(project: &Project, kind: RefKind, name: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    for (path, one) in project.definitions(kind, name) {
        sites.push(Site::new(path, one.name_span, true));
    }
    for kind in reference_kinds(kind) {
        for (path, one) in project.references(*kind, name) {
            sites.push(Site::new(path, one.span, false));
        }
    }
    sites
}

fn of_variable(view: &View<'_>, name: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    let written = view.file.references().iter();
    for one in written.filter(|one| one.kind == RefKind::Variable && one.name == name) {
        sites.push(Site::new(view.path, one.span, true));
    }
    for element in view.document.elements().filter(|element| element.local() == "responseVariable") {
        if let Some((found, span)) = response_variable(element)
            && found == name
        {
            sites.push(Site::new(view.path, span, true));
        }
    }
    for (lookup, span, _) in lookups::in_document(view) {
        if lookup.root == Root::Variable && lookup.name == name {
            sites.push(Site::new(view.path, span, false));
        }
    }
    sites
}

fn of_parameter(view: &View<'_>, template: &str, name: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    for (path, definition) in view.project.definitions(RefKind::Template, template) {
        for parameter in definition.parameters.iter().filter(|one| one.name == name) {
            sites.push(Site::new(path, parameter.span, true));
        }
        let Some(file) = view.project.file(path) else { continue };
        let inside = View { document: file.document(), file, path, ..*view };
        for (lookup, span, _) in lookups::in_document(&inside) {
            if lookup.root == Root::FunctionParam && lookup.name == name && definition.span.covers(span) {
                sites.push(Site::new(path, span, false));
            }
        }
        for span in in_xpath(&inside, name).into_iter().filter(|span| definition.span.covers(*span)) {
            sites.push(Site::new(path, span, false));
        }
    }
    for (path, reference) in view.project.references(RefKind::Template, template) {
        let Some(document) = view.project.file(path).map(File::document) else { continue };
        let Some(call) = document.node_at(reference.span.start).element else { continue };
        for given in call.elements().filter(|element| element.local() == "with-param") {
            if let Some(attribute) = given.attribute("name").filter(|attribute| attribute.value() == name) {
                sites.push(Site::new(path, attribute.value_span(), false));
            }
        }
    }
    sites
}

/// The places of `$func:name` in XPath.
fn in_xpath(view: &View<'_>, name: &str) -> Vec<Span> {
    const MARKER: &str = "$func:";
    let mut found = Vec::new();
    for value in value::of(&view.tree(), Model::get()) {
        let (Reading::XPath(range), Holder::Attribute(..)) = (&value.reading, &value.holder) else {
            continue;
        };
        let text = value.text().get(range.clone()).unwrap_or_default();
        for (at, _) in text.match_indices(MARKER) {
            let start = at + MARKER.len();
            let rest = text.get(start..).unwrap_or_default();
            let word = rest.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))).next();
            if word == Some(name) {
                let start = range.start + start;
                found.push(value.source_span(start..start + name.len()));
            }
        }
    }
    found
}

fn of_file(project: &Project, path: &str) -> Vec<Site> {
    let mut sites = Vec::new();
    for written in [path.to_owned(), format!("/{path}")] {
        for (of, one) in project.references(RefKind::File, &written) {
            sites.push(Site::new(of, one.span, false));
        }
    }
    for key in registry_keys(project).filter(|key| registry_file(project, key).as_deref() == Some(path)) {
        for kind in [RefKind::Resource, RefKind::LocalEntry, RefKind::Sequence, RefKind::Endpoint] {
            for (of, one) in project.references(kind, &key) {
                sites.push(Site::new(of, one.span, false));
            }
        }
    }
    sites
}

/// Where a file begins.
pub(crate) fn start_of(view: &View<'_>, path: &str) -> Option<Location> {
    let root = view.root?;
    let uri = uri::of(&root.join(path));
    view.project.has_file(path).then(|| Location { uri, range: gen_lsp_types::Range::default() })
}
