//! What a connector is and can do.

use std::path::PathBuf;

use synapse_lang::model::Version;

/// The group of the connectors of today.
pub const GROUP: &str = "org.wso2.integration.connector";

/// Which way messages go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Operations in a flow.
    Connector,
    /// An inbound endpoint: messages come in by it.
    Inbound,
    /// An inbound endpoint that the runtime has without any archive.
    Bundled,
}

/// How a connector is told where to connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Init {
    /// A local entry with its `init`, named by `configKey`.
    LocalEntry,
    /// An `init` in the flow, before its operations.
    Inline,
    /// It needs none.
    Nothing,
    /// Not known here.
    Unknown,
}

/// Where a definition comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The archive in the project.
    Archive(PathBuf),
    /// The store; stale when it could not be asked now.
    Store {
        /// Whether an old answer had to do.
        stale: bool,
    },
    /// The facts that come along.
    Snapshot,
}

/// A connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The prefix of its operations: `http`.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Which way messages go.
    pub kind: Kind,
    /// The group.
    pub group: String,
    /// The artifact id.
    pub artifact: String,
    /// The newest version that is known, or that of the archive.
    pub version: Option<String>,
    /// What it is for.
    pub summary: String,
    /// The oldest runtime that it works with.
    pub since: Option<Version>,
    /// How it is told where to connect to.
    pub init: Init,
    /// Its kinds of connections.
    pub connections: Vec<Connection>,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Whether these are all of them.
    pub complete: bool,
    /// Whether group and artifact are known, so that a build file can name it.
    pub has_coordinates: bool,
    /// For inbound endpoints: the protocol or the class that the artifact names.
    pub implementation: Option<String>,
    /// For inbound endpoints: what is configured. Nothing when it is not known.
    pub parameters: Option<Vec<Parameter>>,
    /// Other names people use.
    pub aliases: Vec<String>,
    /// Where all this comes from.
    pub source: Source,
}

/// A kind of connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// What `connectionType` says.
    pub name: String,
    /// What it connects to.
    pub description: String,
    /// Its parameters, without `name` and `connectionType`. Nothing when they are not known.
    pub parameters: Option<Vec<Parameter>>,
}

/// An operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operation {
    /// Its name without the prefix.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Whether it is meant for the connector itself only.
    pub hidden: bool,
    /// The kinds of connections that it can be used with; all when empty.
    pub connections: Vec<String>,
    /// Its parameters. Nothing when they are not known.
    pub parameters: Option<Vec<Parameter>>,
    /// What it answers, as paths with their types. Empty when that is not known.
    pub output: Vec<String>,
}

/// A parameter: a child element of an operation or of an `init`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// What it holds, when that is known.
    pub kind: Option<String>,
    /// What it is for.
    pub description: String,
    /// What holds without it.
    pub default: Option<String>,
    /// The values it can have, when they are few.
    pub values: Vec<String>,
    /// When it is needed at all: `authType = OAuth`.
    pub condition: Option<String>,
}

/// An operation that a checker can hold flows against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkable<'a> {
    /// Its name without the prefix.
    pub name: &'a str,
    /// The parameters that the runtime reads, when they are known.
    pub parameters: Option<&'a [Parameter]>,
}

impl Definition {
    /// An operation, whatever the case of its letters and with or without the prefix.
    #[must_use]
    pub fn operation(&self, name: &str) -> Option<&Operation> {
        let own = name.strip_prefix(&format!("{}.", self.name)).unwrap_or(name);
        let exact = self.operations.iter().find(|one| one.name == own);
        exact.or_else(|| self.operations.iter().find(|one| one.name.eq_ignore_ascii_case(own)))
    }

    /// A kind of connection, whatever the case of its letters.
    #[must_use]
    pub fn connection(&self, name: &str) -> Option<&Connection> {
        self.connections.iter().find(|one| one.name.eq_ignore_ascii_case(name))
    }

    /// The operations as a checker may want them: nothing when there may be others. Names are without the prefix;
    /// parameters are those that the runtime reads, when they are known.
    #[must_use]
    pub fn checkable(&self) -> Option<Vec<Checkable<'_>>> {
        // Only the archive itself is proof that there are no others.
        if !self.complete || !matches!(self.source, Source::Archive(_)) {
            return None;
        }
        let operations = self.operations.iter();
        Some(
            operations
                .map(|one| Checkable { name: &one.name, parameters: one.parameters.as_deref() })
                .collect(),
        )
    }

    /// All names that mean it.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.name.as_str(), self.artifact.as_str(), self.title.as_str()]
            .into_iter()
            .chain(self.aliases.iter().map(String::as_str))
    }
}

/// What is left of a name when everything is left out that people write or forget: case, marks, and the words that
/// every artifact id has.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    let cut = |text: &str| -> String {
        let mut text = text.trim().to_owned();
        for start in [
            "org.wso2.carbon.esb.connector.",
            "org.wso2.carbon.connector.",
            "mi-connector-",
            "esb-connector-",
            "mi-module-",
            "mi-inbound-",
            "esb-inbound-",
        ] {
            if let Some(rest) = text.strip_prefix(start) {
                text = rest.to_owned();
            }
        }
        for end in [".zip", " connector", "-connector", "connector", " module", "-module"] {
            match text.strip_suffix(end) {
                Some(rest) if !rest.is_empty() => text = rest.to_owned(),
                _ => {}
            }
        }
        text
    };
    cut(&lower).chars().filter(char::is_ascii_alphanumeric).collect()
}
