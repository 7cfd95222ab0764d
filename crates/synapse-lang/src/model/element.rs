//! Elements: artifacts, mediators, endpoints, and the parts they are made of.

use serde::Deserialize;

use super::attribute::{Attribute, TextValue};
use super::condition::Condition;
use super::rule::Rule;
use super::version::Version;
use crate::diagnostic::Class;

/// An element of the language.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// What it is found by within the data: `log`, `log.property`, `artifact.api`. No two elements share one.
    pub id: String,
    /// The local name; when absent in the data, what follows the last dot of the id.
    #[serde(default)]
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub kind: Kind,
    /// The namespace it must stand in.
    #[serde(default)]
    pub namespace: Namespace,
    /// Its name for people.
    #[serde(default)]
    pub title: String,
    /// One line that says what it is for.
    pub summary: String,
    /// Traps, in a few sentences.
    #[serde(default)]
    pub notes: Option<String>,
    /// The group it is offered in, for mediators.
    #[serde(default)]
    pub group: Option<Group>,
    /// The first version that has it.
    #[serde(default)]
    pub since: Option<Version>,
    /// The first version that does not have it any more.
    #[serde(default)]
    pub until: Option<Version>,
    /// What to use instead, when it is kept only for old projects.
    #[serde(default)]
    pub legacy: Option<String>,
    /// Whether the data describe it so shallowly that nothing inside should be judged.
    #[serde(default)]
    pub shallow: bool,
    /// Its attributes.
    #[serde(default)]
    pub attributes: Vec<Attribute>,
    /// Its children that are parts.
    #[serde(default)]
    pub children: Vec<Child>,
    /// What may stand inside.
    #[serde(default)]
    pub content: Content,
    /// Its text, when it has one.
    #[serde(default)]
    pub text: Option<TextValue>,
    /// What must hold between its attributes and children.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What people write and should not.
    #[serde(default)]
    pub mistakes: Vec<Mistake>,
    /// Whether the flow goes on after it.
    #[serde(default)]
    pub flow: Flow,
    /// Whether the mediators inside work on copies: variables and properties set there are gone afterwards.
    #[serde(default)]
    pub isolates: bool,
    /// Where such files lie, for artifacts.
    #[serde(default)]
    pub file: Option<FileFacts>,
    /// Small valid documents.
    #[serde(default)]
    pub examples: Vec<Example>,
}

impl Element {
    /// The attribute of that name, among its own; see [`super::Model::attribute`] for the common ones too.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The well-known mistake of writing that attribute.
    #[must_use]
    pub fn attribute_mistake(&self, name: &str) -> Option<&Mistake> {
        self.mistakes.iter().find(|one| one.wrong.strip_prefix('@') == Some(name))
    }

    /// Whether other children than the listed parts are mediators, given whether a child is there.
    pub fn takes_mediators(&self, has_child: impl FnOnce(&str) -> bool) -> bool {
        match &self.content {
            Content::Mediators => true,
            Content::MediatorsUnless(part) => !has_child(part),
            _ => false,
        }
    }
}

/// What an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The root of a file.
    Artifact,
    /// A step of a flow.
    Mediator,
    /// A kind of endpoint, inside `endpoint`.
    Endpoint,
    /// Something inside one of those.
    #[default]
    Part,
}

/// The namespace an element must stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Namespace {
    /// That of its parent; parts only.
    #[default]
    Parent,
    /// `http://ws.apache.org/ns/synapse`; artifacts and mediators that say nothing else.
    Synapse,
    /// No namespace.
    None,
    /// Whatever namespace: it is found by its local name, or more than one is in use.
    Any,
}

/// The namespace of Synapse artifacts and mediators.
pub const SYNAPSE_NAMESPACE: &str = "http://ws.apache.org/ns/synapse";

impl Namespace {
    /// Whether a namespace (empty for none) is the right one.
    #[must_use]
    pub fn takes(self, namespace: &str) -> bool {
        match self {
            Self::Synapse => namespace == SYNAPSE_NAMESPACE,
            Self::None => namespace.is_empty(),
            Self::Any | Self::Parent => true,
        }
    }
}

/// The group a mediator is offered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Moves messages and decides what runs.
    Flow,
    /// Splits and joins messages.
    Split,
    /// Changes messages.
    Transform,
    /// Reads and writes data outside the message.
    Data,
    /// Limits, caches, guards.
    Guard,
    /// Runs code, or sends events.
    Extension,
}

/// A part that may stand inside an element.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Child {
    /// The id of the part; several parents may share one.
    pub part: String,
    /// How many there must be.
    #[serde(default)]
    pub min: u16,
    /// How many there may be; no limit when absent.
    #[serde(default)]
    pub max: Option<u16>,
    /// What too few do.
    #[serde(default = "deploy")]
    pub missing: Class,
    /// What too many do: usually the first counts and the others are not read.
    #[serde(default = "ignored")]
    pub extra: Class,
    /// When the numbers apply; always when absent.
    #[serde(default)]
    pub when: Option<Condition>,
    /// Where the part stands among all elements; found once, because every element of every document asks.
    #[serde(skip)]
    pub(super) at: usize,
}

const fn deploy() -> Class {
    Class::Deploy
}

const fn ignored() -> Class {
    Class::Ignored
}

/// What may stand inside an element.
///
/// In the data a short text: `empty`, `parts`, `mediators`, `mediators unless then`, `text`, `markup`, `mixed`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "String")]
pub enum Content {
    /// Nothing that is read.
    Empty,
    /// The children it lists; others are not read.
    #[default]
    Parts,
    /// The children it lists, and every other child is a mediator.
    Mediators,
    /// As [`Content::Mediators`], unless the named child is there: then as [`Content::Parts`].
    MediatorsUnless(String),
    /// Text, see [`Element::text`].
    Text,
    /// XML of any kind; nothing inside is judged.
    Markup,
    /// Text (see [`Element::text`]), the children it lists, or XML of any kind.
    Mixed,
    /// Parameters of a connector: any child, its text a value.
    Parameters,
}

/// A text that names no content.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of content")]
pub struct NotAContent(pub String);

impl TryFrom<String> for Content {
    type Error = NotAContent;

    fn try_from(text: String) -> Result<Self, NotAContent> {
        Ok(match text.as_str() {
            "empty" => Self::Empty,
            "parts" => Self::Parts,
            "mediators" => Self::Mediators,
            "text" => Self::Text,
            "markup" => Self::Markup,
            "mixed" => Self::Mixed,
            "parameters" => Self::Parameters,
            other => match other.strip_prefix("mediators unless ") {
                Some(part) => Self::MediatorsUnless(part.to_owned()),
                None => return Err(NotAContent(text)),
            },
        })
    }
}

/// Whether the flow goes on after a mediator.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Flow {
    /// It goes on.
    #[default]
    Continues,
    /// Nothing after it runs.
    Ends {
        /// How.
        how: Ending,
        /// When; always when absent.
        #[serde(default)]
        when: Option<Condition>,
    },
}

/// How a flow ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// The client gets an answer.
    Responds,
    /// The message goes to an endpoint; the response arrives elsewhere.
    Sends,
    /// Nobody gets anything.
    Drops,
    /// The response flow begins.
    LoopsBack,
    /// The fault sequence takes over.
    Raises,
    /// Another flow has taken the message.
    HandsOver,
}

/// Something people write, and what they should write.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    /// What is wrong: `@name` an attribute, `name` a child, `@name=value` a value.
    pub wrong: String,
    /// What is right, in the same notation; absent when nothing replaces it.
    #[serde(default)]
    pub right: Option<String>,
    /// Why, in one sentence.
    pub note: String,
}

/// Where the files of an artifact lie.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileFacts {
    /// The folder, from `src/main/wso2mi/artifacts` or, when it starts with `src/`, from the project.
    pub folder: String,
    /// The folder of the same kind in the older layout, from `synapse-config`.
    #[serde(default)]
    pub old_folder: Option<String>,
    /// How file names end.
    #[serde(default = "xml")]
    pub extension: String,
    /// The attribute that names the artifact.
    #[serde(default)]
    pub named_by: Option<String>,
    /// Whether the runtime deploys it (tests, descriptors and the like are not deployed).
    #[serde(default)]
    pub deployed: bool,
}

fn xml() -> String {
    "xml".to_owned()
}

/// A small valid document or fragment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// What it shows.
    pub title: String,
    /// The XML; the Synapse namespace is understood when it declares none.
    pub xml: String,
    /// The first version it is valid for.
    #[serde(default)]
    pub since: Option<Version>,
}
