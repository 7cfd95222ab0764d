//! Facts that belong to no single element: scopes, well-known properties, parameter catalogues, expression roots.

use serde::Deserialize;

use super::attribute::{Place, RefKind, Unit, ValueType};
use super::version::Version;
use crate::diagnostic::Class;

/// A scope of properties.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Its name, as `property/@scope` has it where it can be set.
    pub name: String,
    /// One line that says what lives there.
    pub summary: String,
    /// Whether `property` may set it.
    pub settable: bool,
    /// Whether `property action="remove"` does anything.
    #[serde(default)]
    pub removable: bool,
    /// How XPath reads `x` there.
    #[serde(default)]
    pub xpath: Vec<String>,
    /// How an expression reads `x` there.
    #[serde(default)]
    pub expression: Option<String>,
    /// How long values live.
    pub life: String,
}

/// A property the runtime itself reads or writes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WellKnownProperty {
    /// Its name; with [`WellKnownProperty::prefix`], how names of the family start.
    pub name: String,
    /// Whether the name stands for a family of names that start so.
    #[serde(default)]
    pub prefix: bool,
    /// One line that says what it does.
    pub summary: String,
    /// Traps.
    #[serde(default)]
    pub notes: Option<String>,
    /// The scope it counts in.
    pub scope: String,
    /// Whether flows set it, read it, or both.
    #[serde(default)]
    pub access: Access,
    /// What it may be.
    #[serde(default, rename = "type")]
    pub value: ValueType,
    /// What `property/@type` must be.
    #[serde(default)]
    pub java: JavaType,
    /// What the wrong `property/@type` does.
    #[serde(default)]
    pub wrong_type: Option<Class>,
    /// What another scope does; `None` when it also works elsewhere or is a plain name many people use.
    #[serde(default)]
    pub wrong_scope: Option<Class>,
}

/// What flows do with a well-known property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// They set it for the runtime to read.
    #[default]
    Write,
    /// The runtime sets it.
    Read,
    /// Both.
    Both,
}

/// The Java type the runtime expects of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JavaType {
    /// Any will do.
    #[default]
    Any,
    /// A string: no `type`, or `type="STRING"`.
    String,
    /// A boolean: `type="BOOLEAN"`.
    Boolean,
}

/// Parameters of a protocol or of an implementation class.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The local name of the artifact the parameters are for: `inboundEndpoint`, `messageStore`, `task`…
    pub of: String,
    /// The protocol or the full class name; empty for parameters of every one.
    pub name: String,
    /// What it is called by people.
    pub title: String,
    /// One line that says what it does.
    pub summary: String,
    /// Traps.
    #[serde(default)]
    pub notes: Option<String>,
    /// The first version that has it.
    #[serde(default)]
    pub since: Option<Version>,
    /// Its parameters.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
}

/// A parameter of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name; with [`Parameter::prefix`], how names of the family start.
    pub name: String,
    /// Whether the name stands for a family of names that start so.
    #[serde(default)]
    pub prefix: bool,
    /// One line that says what it is for.
    pub summary: String,
    /// What its absence does; `None` when it may be absent.
    #[serde(default)]
    pub required: Option<Class>,
    /// Who evaluates the value.
    #[serde(default)]
    pub place: Place,
    /// What it may be.
    #[serde(default, rename = "type")]
    pub value: ValueType,
    /// What counts when it is absent.
    #[serde(default)]
    pub default: Option<String>,
    /// What a number counts.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// What a value outside [`Parameter::value`] does.
    #[serde(default = "surprise")]
    pub wrong: Class,
    /// What it names.
    #[serde(default)]
    pub reference: Option<RefKind>,
    /// The first version that reads it.
    #[serde(default)]
    pub since: Option<Version>,
}

const fn surprise() -> Class {
    Class::Surprise
}

/// A name that `get-property` answers although nobody set it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecialName {
    /// The name.
    pub name: String,
    /// What it answers.
    pub summary: String,
}

/// A root of expressions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// How it is written: `payload`, `vars.x`.
    pub form: String,
    /// The first name: `payload`, `vars`.
    pub name: String,
    /// What it resolves to.
    pub summary: String,
    /// Traps.
    #[serde(default)]
    pub notes: Option<String>,
    /// Whether a text that looks like a number becomes one.
    #[serde(default)]
    pub auto_number: bool,
}

/// A form of value that comes from outside the artifact.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalForm {
    /// How it is written.
    pub form: String,
    /// How it starts.
    pub marker: String,
    /// Where the value comes from.
    pub summary: String,
    /// What a missing one does.
    pub missing: Class,
}

/// A version of the runtime and what it brought.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// The version.
    pub version: Version,
    /// One line that says what it brought.
    pub summary: String,
    /// Short names of what it brought, for code that asks.
    #[serde(default)]
    pub features: Vec<String>,
}

/// How connector operations, `prefix.operation`, are read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectorRule {
    /// The child or, with `@`, the attribute.
    pub name: String,
    /// What it is for.
    pub summary: String,
    /// Who evaluates it.
    #[serde(default)]
    pub place: Place,
    /// What it may be.
    #[serde(default, rename = "type")]
    pub value: ValueType,
    /// What it names.
    #[serde(default)]
    pub reference: Option<RefKind>,
    /// The first version that reads it.
    #[serde(default)]
    pub since: Option<Version>,
}
