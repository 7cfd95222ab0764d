//! What exists in the language, as data: artifacts, mediators, endpoints, their attributes and rules.
//!
//! The data are the readable files under `model/`. Checks, completion, hover and reference texts all read this one
//! description, so they cannot disagree. It follows what the runtime's own readers accept, which is not what the
//! published schemas say: the order of children never matters, and an unknown attribute is never an error.
//!
//! ```
//! use synapse_lang::model::Model;
//!
//! let log = Model::get().mediator("log").ok_or("no log")?;
//! let level = log.attribute("level").ok_or("no level")?;
//! assert_eq!(level.default.as_deref(), Some("simple"));
//! # Ok::<(), &str>(())
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use self::attribute::{
    Attribute, Boolean, NewerValue, Place, RefKind, Refusal, TextValue, Unit, ValueType,
};
pub use self::condition::{Condition, Node, Thing};
pub use self::element::{
    Child, Content, Element, Ending, Example, FileFacts, Flow, Group, Kind, Mistake, Namespace,
    SYNAPSE_NAMESPACE,
};
pub use self::facts::{
    Access, Catalogue, ConnectorRule, ExternalForm, JavaType, Parameter, Release, Root, Scope, SpecialName,
    WellKnownProperty,
};
pub use self::rule::{Broken, Rule};
pub use self::version::{NotAVersion, Version};

mod attribute;
mod condition;
mod element;
mod facts;
mod rule;
mod version;

/// The language as data.
#[derive(Debug, Default)]
pub struct Model {
    data: Data,
    by_id: HashMap<String, usize>,
    mediators: HashMap<String, usize>,
}

/// The lists as they stand in the files.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Data {
    element: Vec<Element>,
    common: Vec<Attribute>,
    scope: Vec<Scope>,
    property: Vec<WellKnownProperty>,
    catalogue: Vec<Catalogue>,
    special: Vec<SpecialName>,
    root: Vec<Root>,
    external: Vec<ExternalForm>,
    release: Vec<Release>,
    connector: Vec<ConnectorRule>,
}

/// The data cannot be read, which a test of this crate rules out for the embedded ones.
#[derive(Debug, thiserror::Error)]
#[error("the description of the language cannot be read")]
pub struct BadModel(#[from] serde_json::Error);

impl Model {
    /// The embedded description, read at first use.
    #[must_use]
    pub fn get() -> &'static Self {
        static MODEL: LazyLock<Model> = LazyLock::new(|| Model::parse(EMBEDDED).unwrap_or_default());
        &MODEL
    }

    /// Reads a description from the compact form the build makes of the files.
    ///
    /// # Errors
    ///
    /// When the text is not such a description.
    pub fn parse(json: &str) -> Result<Self, BadModel> {
        let mut data: Data = serde_json::from_str(json)?;
        let mut by_id = HashMap::with_capacity(data.element.len());
        let mut mediators = HashMap::new();
        for (at, element) in data.element.iter_mut().enumerate() {
            if element.name.is_empty() {
                element.name = element.id.rsplit('.').next().unwrap_or_default().to_owned();
            }
            if element.kind != Kind::Part && element.namespace == Namespace::Parent {
                element.namespace = Namespace::Synapse;
            }
            by_id.insert(element.id.clone(), at);
            if element.kind == Kind::Mediator {
                mediators.insert(element.name.clone(), at);
            }
        }
        for child in data.element.iter_mut().flat_map(|element| &mut element.children) {
            child.at = by_id.get(&child.part).copied().unwrap_or(usize::MAX);
        }
        Ok(Self { data, by_id, mediators })
    }

    /// The element of that id.
    #[must_use]
    pub fn element(&self, id: &str) -> Option<&Element> {
        self.by_id.get(id).and_then(|at| self.data.element.get(*at))
    }

    /// All elements.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.data.element.iter()
    }

    /// The mediator of that local name.
    #[must_use]
    pub fn mediator(&self, local: &str) -> Option<&Element> {
        self.mediators.get(local).and_then(|at| self.data.element.get(*at))
    }

    /// All mediators.
    pub fn mediators(&self) -> impl Iterator<Item = &Element> {
        self.elements().filter(|element| element.kind == Kind::Mediator)
    }

    /// The artifact whose root has that local name and namespace (empty for none).
    #[must_use]
    pub fn artifact(&self, local: &str, namespace: &str) -> Option<&Element> {
        self.artifact_named(local).filter(|element| element.namespace.takes(namespace))
    }

    /// The artifact whose root has that local name, whatever its namespace.
    #[must_use]
    pub fn artifact_named(&self, local: &str) -> Option<&Element> {
        self.artifacts().find(|element| element.name == local)
    }

    /// All kinds of artifacts.
    pub fn artifacts(&self) -> impl Iterator<Item = &Element> {
        self.elements().filter(|element| element.kind == Kind::Artifact)
    }

    /// All kinds of endpoints, in the order the runtime looks for them.
    pub fn endpoints(&self) -> impl Iterator<Item = &Element> {
        self.elements().filter(|element| element.kind == Kind::Endpoint)
    }

    /// The element a child of `parent` with that local name is: a listed part, else a mediator where mediators may
    /// stand. `has_child` says whether the parent has a child of a name.
    pub fn child(
        &self,
        parent: &Element,
        local: &str,
        has_child: impl FnOnce(&str) -> bool,
    ) -> Option<&Element> {
        if let Some((_, part)) = self.part(parent, local) {
            // Without the part that makes them parts (`then`), these names are mediators like any other.
            if !matches!(parent.content, Content::MediatorsUnless(_)) {
                return Some(part);
            }
            return if parent.takes_mediators(has_child) { self.mediator(local) } else { Some(part) };
        }
        if parent.takes_mediators(has_child) { self.mediator(local) } else { None }
    }

    /// The part of that local name which `parent` lists.
    #[must_use]
    pub fn part<'m, 'e>(&'m self, parent: &'e Element, local: &str) -> Option<(&'e Child, &'m Element)> {
        self.parts(parent).find(|(_, part)| part.name == local)
    }

    /// All parts that `parent` lists.
    pub fn parts<'m, 'e>(&'m self, parent: &'e Element) -> impl Iterator<Item = (&'e Child, &'m Element)> {
        parent.children.iter().filter_map(|child| Some((child, self.data.element.get(child.at)?)))
    }

    /// The attribute of that name: the element's own, or for mediators one that all have.
    #[must_use]
    pub fn attribute<'a>(&'a self, element: &'a Element, name: &str) -> Option<&'a Attribute> {
        self.attributes(element).find(|attribute| attribute.name == name)
    }

    /// All attributes of an element, with those that all mediators have.
    pub fn attributes<'a>(&'a self, element: &'a Element) -> impl Iterator<Item = &'a Attribute> {
        let common = if element.kind == Kind::Mediator { self.data.common.as_slice() } else { &[] };
        element.attributes.iter().chain(common)
    }

    /// The attributes that all mediators have.
    #[must_use]
    pub fn common_attributes(&self) -> &[Attribute] {
        &self.data.common
    }

    /// The well-known property of that name, or the family it belongs to.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&WellKnownProperty> {
        let exact = self.data.property.iter().find(|one| !one.prefix && one.name == name);
        exact.or_else(|| self.data.property.iter().find(|one| one.prefix && name.starts_with(&one.name)))
    }

    /// All well-known properties.
    #[must_use]
    pub fn properties(&self) -> &[WellKnownProperty] {
        &self.data.property
    }

    /// All scopes.
    #[must_use]
    pub fn scopes(&self) -> &[Scope] {
        &self.data.scope
    }

    /// The scope of that name.
    #[must_use]
    pub fn scope(&self, name: &str) -> Option<&Scope> {
        self.data.scope.iter().find(|scope| scope.name == name)
    }

    /// Names that `get-property` answers although nobody set them.
    #[must_use]
    pub fn special_names(&self) -> &[SpecialName] {
        &self.data.special
    }

    /// The roots of expressions.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.data.root
    }

    /// The forms of externalised values.
    #[must_use]
    pub fn external_forms(&self) -> &[ExternalForm] {
        &self.data.external
    }

    /// The versions of the runtime, oldest first.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.data.release
    }

    /// Whether a version has a feature, by its short name: `expressions`, `foreach-collection`… A version between two
    /// described ones has what the older one has.
    #[must_use]
    pub fn has_feature(&self, version: Version, feature: &str) -> bool {
        let release = self.data.release.iter().rev().find(|release| release.version <= version);
        release.is_some_and(|release| release.features.iter().any(|one| one == feature))
    }

    /// What a connector operation may have besides its own parameters.
    #[must_use]
    pub fn connector_rules(&self) -> &[ConnectorRule] {
        &self.data.connector
    }

    /// The parameters of one protocol or implementation class of an artifact (`inboundEndpoint`, `messageStore`…).
    #[must_use]
    pub fn catalogue(&self, of: &str, name: &str) -> Option<&Catalogue> {
        self.catalogues(of).find(|one| one.name == name)
    }

    /// All catalogues of parameters for an artifact.
    pub fn catalogues(&self, of: &str) -> impl Iterator<Item = &Catalogue> {
        self.data.catalogue.iter().filter(move |one| one.of == of)
    }

    /// The protocols of inbound endpoints.
    pub fn protocols(&self) -> impl Iterator<Item = &Catalogue> {
        self.catalogues("inboundEndpoint").filter(|one| !one.name.is_empty() && !one.name.contains('.'))
    }
}

const EMBEDDED: &str = include_str!(concat!(env!("OUT_DIR"), "/model.json"));

#[cfg(test)]
mod tests;
