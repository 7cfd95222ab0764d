//! What a build file says: coordinates, properties, modules and dependencies, with references to properties resolved
//! as far as the files at hand allow.
//!
//! Reading never fails: of a file that is not well-formed, what can be read is read.

use std::collections::BTreeMap;

use crate::model::Version;
use crate::syntax::{Document, Element};

/// How often a value may lead to another; deeper is a circle.
const DEEPEST: usize = 16;

/// A `pom.xml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pom {
    /// The group, when it is not that of its parent.
    pub group: Option<String>,
    /// The artifact id.
    pub artifact: Option<String>,
    /// The version, when it is not that of its parent.
    pub version: Option<String>,
    /// `pom`, `jar` and so on, as written.
    pub packaging: Option<String>,
    /// What it inherits from.
    pub parent: Option<Parent>,
    /// Its properties, as written.
    pub properties: BTreeMap<String, String>,
    /// The folders of its modules, as written.
    pub modules: Vec<String>,
    /// Its dependencies.
    pub dependencies: Vec<Dependency>,
}

/// The parent that a build file names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parent {
    /// The group.
    pub group: String,
    /// The artifact id.
    pub artifact: String,
    /// The version.
    pub version: String,
    /// Where it lies, relative to the folder of the build file; nothing when it is to be taken from a repository.
    pub path: Option<String>,
}

/// A dependency, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependency {
    /// The group.
    pub group: String,
    /// The artifact id.
    pub artifact: String,
    /// The version; empty when something else decides it.
    pub version: String,
    /// `jar`, `zip`, `car` and so on; nothing when it is not written, which means `jar`.
    pub kind: Option<String>,
}

impl Dependency {
    /// Whether it is a connector: its group says so, or it is an archive.
    #[must_use]
    pub fn is_connector(&self) -> bool {
        self.group == "org.wso2.integration.connector" || self.kind.as_deref() == Some("zip")
    }
}

/// How a build file says for which runtime it builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// The property `project.runtime.version`.
    Property,
    /// The tag of the image in `dockerfile.base.image`.
    Image,
}

impl Statement {
    /// The property that says it.
    #[must_use]
    pub const fn property(self) -> &'static str {
        match self {
            Self::Property => "project.runtime.version",
            Self::Image => "dockerfile.base.image",
        }
    }
}

impl Pom {
    /// Reads a build file; nothing when it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let document = Document::parse(text);
        let root = document.root().filter(|root| root.local() == "project")?;
        let properties = root.first("properties").into_iter().flat_map(|list| list.elements());
        let modules = root.first("modules").into_iter().flat_map(|list| list.elements());
        let dependencies = root.first("dependencies").into_iter().flat_map(|list| list.elements());
        Some(Self {
            group: text_of(root, "groupId"),
            artifact: text_of(root, "artifactId"),
            version: text_of(root, "version"),
            packaging: text_of(root, "packaging"),
            parent: root.first("parent").map(parent),
            properties: properties
                .map(|one| (one.local().to_owned(), one.text().trim().to_owned()))
                .collect(),
            modules: modules
                .filter(|one| one.local() == "module")
                .map(|one| one.text().trim().to_owned())
                .filter(|path| !path.is_empty())
                .collect(),
            dependencies: dependencies
                .filter(|one| one.local() == "dependency")
                .map(|one| Dependency {
                    group: text_of(one, "groupId").unwrap_or_default(),
                    artifact: text_of(one, "artifactId").unwrap_or_default(),
                    version: text_of(one, "version").unwrap_or_default(),
                    kind: text_of(one, "type"),
                })
                .collect(),
        })
    }

    fn own(&self, name: &str) -> Option<String> {
        let parent = self.parent.as_ref();
        let inherited = |of: fn(&Parent) -> &String| parent.map(|one| of(one).clone());
        match name {
            "project.version" | "pom.version" | "version" => {
                self.version.clone().or_else(|| inherited(|one| &one.version))
            }
            "project.groupId" | "pom.groupId" => self.group.clone().or_else(|| inherited(|one| &one.group)),
            "project.artifactId" | "pom.artifactId" => self.artifact.clone(),
            "project.parent.version" => inherited(|one| &one.version),
            "project.parent.groupId" => inherited(|one| &one.group),
            "project.parent.artifactId" => inherited(|one| &one.artifact),
            _ => self.properties.get(name).cloned(),
        }
    }
}

/// The value of a property: what the nearest of the build files says, a module first and its parents behind it.
#[must_use]
pub fn property(chain: &[Pom], name: &str) -> Option<String> {
    chain.iter().find_map(|pom| pom.own(name)).and_then(|text| resolve(chain, &text))
}

/// A text with its references to properties resolved; nothing when one of them is not known here.
#[must_use]
pub fn resolve(chain: &[Pom], text: &str) -> Option<String> {
    resolve_within(chain, text, DEEPEST)
}

fn resolve_within(chain: &[Pom], text: &str, deeper: usize) -> Option<String> {
    let Some((before, rest)) = text.split_once("${") else { return Some(text.to_owned()) };
    let (name, after) = rest.split_once('}')?;
    let deeper = deeper.checked_sub(1)?;
    let value = chain.iter().find_map(|pom| pom.own(name.trim()))?;
    let value = resolve_within(chain, &value, deeper)?;
    Some(format!("{before}{value}{}", resolve_within(chain, after, deeper)?))
}

/// The runtime that build files state, with the index of the one that says it. A module is asked before its parent,
/// and in each the property before the image.
#[must_use]
pub fn runtime(chain: &[Pom]) -> Option<(Version, Statement, usize)> {
    chain.iter().enumerate().find_map(|(index, pom)| {
        let stated = |how: Statement| {
            let text = resolve(chain, pom.properties.get(how.property())?)?;
            let text = match how {
                Statement::Property => text.as_str(),
                Statement::Image => text.rsplit_once(':')?.1,
            };
            text.trim().parse().ok().map(|version| (version, how, index))
        };
        stated(Statement::Property).or_else(|| stated(Statement::Image))
    })
}

fn text_of(element: Element<'_>, name: &str) -> Option<String> {
    let text = element.first(name)?.text().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn parent(element: Element<'_>) -> Parent {
    let text = |name: &str| text_of(element, name).unwrap_or_default();
    let path = match element.first("relativePath") {
        // An empty one says that the parent is in a repository only.
        Some(path) => Some(path.text().trim().to_owned()).filter(|path| !path.is_empty()),
        None => Some("../pom.xml".to_owned()),
    };
    Parent { group: text("groupId"), artifact: text("artifactId"), version: text("version"), path }
}

#[cfg(test)]
mod tests;
