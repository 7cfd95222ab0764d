//! What the build files of a project say.

use std::collections::BTreeSet;

use super::pom::{Pom, resolve};
use crate::model::Version;
use crate::syntax::{Document, Element};
use crate::text::Span;

/// What a `pom.xml` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// The runtime that the project is built for.
    pub runtime: Option<Version>,
    /// Where it says so.
    pub runtime_span: Option<Span>,
    /// The connectors it depends on.
    pub connectors: Vec<Connector>,
    /// Its artifact id.
    pub name: Option<String>,
    /// Whether it depends on other projects, whose artifacts are not in view.
    pub has_foreign_artifacts: bool,
    /// Whether it depends on libraries, which may hold any class.
    pub has_libraries: bool,
}

/// A connector that a project depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connector {
    /// The artifact id: `mi-connector-http`.
    pub artifact: String,
    /// The version; as written when it refers to what is not in this file.
    pub version: String,
}

/// Reads a `pom.xml`.
pub(super) fn pom(text: &str) -> Facts {
    let document = Document::parse(text);
    let Some(root) = document.root().filter(|root| root.local() == "project") else {
        return Facts::default();
    };
    let chain: Vec<Pom> = Pom::read(text).into_iter().collect();
    let stated = super::pom::runtime(&chain).map(|(version, how, _)| (version, how.property()));
    let runtime = stated.and_then(|(version, property)| {
        let element = root.first("properties")?.first(property)?;
        Some((version, element.content_span()?))
    });
    let listed = || root.first("dependencies").into_iter().flat_map(|list| list.elements());
    let dependencies = listed();
    Facts {
        runtime: runtime.map(|(version, _)| version),
        runtime_span: runtime.map(|(_, span)| span),
        connectors: dependencies.filter_map(|one| connector(one, &chain)).collect(),
        name: root.first("artifactId").map(|one| one.text().trim().to_owned()),
        has_foreign_artifacts: listed().any(is_foreign) || root.first("modules").is_some(),
        has_libraries: listed().any(|one| one.first("type").is_none_or(|kind| kind.text().trim() == "jar")),
    }
}

/// A dependency on the artifacts of another project.
fn is_foreign(dependency: Element<'_>) -> bool {
    dependency.first("type").is_some_and(|one| {
        let text = one.text();
        let text = text.trim();
        text == "car"
            || text.starts_with("synapse/")
            || text.starts_with("registry/")
            || text.starts_with("carbon/")
    })
}

fn connector(dependency: Element<'_>, chain: &[Pom]) -> Option<Connector> {
    let text = |name: &str| dependency.first(name).map(|one| one.text().trim().to_owned());
    let group = text("groupId")?;
    let is_connector = group == "org.wso2.integration.connector" || text("type").as_deref() == Some("zip");
    let (artifact, version) = (text("artifactId")?, text("version").unwrap_or_default());
    let version = resolve(chain, &version).unwrap_or(version);
    is_connector.then_some(Connector { artifact, version })
}

/// The names that a `config.properties` declares, one `name:type` on a line.
pub(super) fn config_keys(text: &str) -> BTreeSet<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
    let names = lines.filter_map(|line| line.split([':', '=']).next());
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
