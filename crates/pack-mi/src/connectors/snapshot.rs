//! The connectors that are known without asking anybody: `data/connectors/*.toml`, read once.
//!
//! A parameter is one row of text, so that a table of hundreds can be read: `name! kind = default | description`, where
//! `!` marks what must be there and everything but the name may be missing. `(a, b)` in the place of the kind lists the
//! values.

use std::sync::OnceLock;

use serde::Deserialize;
use synapse_lang::model::{Catalogue, Model, RefKind, ValueType, Version};

use super::definition::{Connection, Definition, GROUP, Init, Kind, Operation, Parameter, Source};

/// The files.
static FILES: &[&str] = &[
    include_str!("../../data/connectors/core.toml"),
    include_str!("../../data/connectors/messaging.toml"),
    include_str!("../../data/connectors/cloud.toml"),
    include_str!("../../data/connectors/modules.toml"),
    include_str!("../../data/connectors/others.toml"),
    include_str!("../../data/connectors/inbound.toml"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    #[serde(default)]
    connector: Vec<Entry>,
    #[serde(default)]
    inbound: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    name: String,
    title: String,
    group: Option<String>,
    artifact: Option<String>,
    version: Option<String>,
    since: Option<String>,
    summary: String,
    init: Option<String>,
    #[serde(default)]
    aliases: Vec<String>,
    /// Operations whose names are known, and no more.
    #[serde(default)]
    named: Vec<String>,
    #[serde(default)]
    complete: bool,
    /// Whether every operation has the two parameters that say where its result goes.
    #[serde(default)]
    results: bool,
    /// Parameters that all connections share.
    #[serde(default)]
    shared: Vec<String>,
    #[serde(default)]
    connection: Vec<ConnectionEntry>,
    #[serde(default)]
    operation: Vec<OperationEntry>,
    class: Option<String>,
    parameters: Option<Vec<String>>,
    /// Whether group and artifact are known.
    #[serde(default = "yes")]
    coordinates: bool,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectionEntry {
    name: String,
    #[serde(default)]
    description: String,
    parameters: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationEntry {
    name: String,
    description: String,
    parameters: Option<Vec<String>>,
    #[serde(default)]
    connections: Vec<String>,
    #[serde(default)]
    hidden: bool,
}

/// All that come along, connectors first, each in the order of their names.
#[must_use]
pub fn all() -> &'static [Definition] {
    static ALL: OnceLock<Vec<Definition>> = OnceLock::new();
    ALL.get_or_init(|| {
        // The tests read every file; one that cannot be read would be left out here.
        let pages = FILES.iter().filter_map(|text| toml::from_str::<Page>(text).ok());
        let mut all: Vec<Definition> = pages
            .flat_map(|page| {
                let connectors = page.connector.into_iter().map(|one| definition(one, Kind::Connector));
                let inbound = page.inbound.into_iter().map(|one| definition(one, Kind::Inbound));
                connectors.chain(inbound).collect::<Vec<_>>()
            })
            .collect();
        all.extend(Model::get().protocols().map(bundled));
        all.sort_by(|one, two| (one.kind, &one.name).cmp(&(two.kind, &two.name)));
        all
    })
}

fn definition(entry: Entry, kind: Kind) -> Definition {
    let shared = parameters(&entry.shared);
    let connections = entry.connection.into_iter().map(|one| Connection {
        name: one.name,
        description: one.description,
        parameters: one.parameters.map(|own| parameters(&own).into_iter().chain(shared.clone()).collect()),
    });
    let results = if entry.results { results() } else { Vec::new() };
    let known = entry.operation.into_iter().map(|one| Operation {
        name: one.name,
        description: one.description,
        hidden: one.hidden,
        connections: one.connections,
        parameters: one.parameters.map(|own| parameters(&own).into_iter().chain(results.clone()).collect()),
        output: Vec::new(),
    });
    let named = entry.named.into_iter().map(|name| Operation { name, ..Operation::default() });
    let init = match entry.init.as_deref() {
        Some("local-entry") => Init::LocalEntry,
        Some("inline") => Init::Inline,
        Some("none") => Init::Nothing,
        _ => Init::Unknown,
    };
    Definition {
        artifact: entry.artifact.unwrap_or_else(|| match kind {
            Kind::Connector => format!("mi-connector-{}", entry.name.to_lowercase()),
            Kind::Inbound | Kind::Bundled => format!("mi-inbound-{}", entry.name.to_lowercase()),
        }),
        name: entry.name,
        title: entry.title,
        kind,
        group: entry.group.unwrap_or_else(|| GROUP.to_owned()),
        version: entry.version,
        summary: entry.summary,
        since: entry.since.and_then(|since| since.parse::<Version>().ok()),
        init,
        connections: connections.collect(),
        operations: known.chain(named).collect(),
        complete: entry.complete,
        has_coordinates: entry.coordinates,
        implementation: entry.class,
        parameters: entry.parameters.map(|own| parameters(&own)),
        aliases: entry.aliases,
        source: Source::Snapshot,
    }
}

/// An inbound endpoint that comes with the runtime, as the language describes it.
fn bundled(protocol: &Catalogue) -> Definition {
    let parameters = protocol.parameters.iter().filter(|one| !one.prefix).map(|one| {
        let (kind, values): (Option<&str>, &[String]) = match &one.value {
            _ if one.reference == Some(RefKind::Sequence) => (Some("sequence"), &[]),
            ValueType::Integer { .. } | ValueType::Long | ValueType::Number => (Some("integer"), &[]),
            ValueType::Boolean(_) => (Some("boolean"), &[]),
            ValueType::Choice { values, .. } | ValueType::Suggest(values) => (None, values),
            _ => (None, &[]),
        };
        Parameter {
            name: one.name.clone(),
            required: one.required.is_some(),
            kind: kind.map(str::to_owned),
            description: one.summary.clone(),
            default: one.default.clone(),
            values: values.to_vec(),
            condition: None,
        }
    });
    Definition {
        name: protocol.name.clone(),
        title: format!("{} inbound endpoint", protocol.title),
        kind: Kind::Bundled,
        group: String::new(),
        artifact: protocol.name.clone(),
        version: None,
        summary: protocol.summary.clone(),
        since: protocol.since,
        init: Init::Nothing,
        connections: Vec::new(),
        operations: Vec::new(),
        complete: true,
        has_coordinates: false,
        implementation: Some(protocol.name.clone()),
        parameters: Some(parameters.collect()),
        aliases: Vec::new(),
        source: Source::Snapshot,
    }
}

/// The parameters that say where a result goes.
#[must_use]
pub fn results() -> Vec<Parameter> {
    parameters(&[
        "responseVariable string | Variable that the result goes to (runtime 4.4.0 and newer)".to_owned(),
        "overwriteBody boolean = false | Whether the result becomes the body instead".to_owned(),
    ])
}

fn parameters(rows: &[String]) -> Vec<Parameter> {
    rows.iter().map(|row| parameter(row)).collect()
}

fn parameter(row: &str) -> Parameter {
    let (head, description) = row.split_once(" | ").unwrap_or((row, ""));
    let (head, default) = match head.split_once(" = ") {
        Some((head, default)) => (head, Some(default.trim().to_owned())),
        None => (head, None),
    };
    let (name, kind) = head.trim().split_once(' ').unwrap_or((head.trim(), ""));
    let kind = kind.trim();
    let values = kind.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    Parameter {
        name: name.trim_end_matches('!').to_owned(),
        required: name.ends_with('!'),
        kind: (!kind.is_empty() && values.is_none()).then(|| kind.to_owned()),
        description: description.trim().to_owned(),
        default,
        values: values
            .map(|list| list.split(',').map(|one| one.trim().to_owned()).collect())
            .unwrap_or_default(),
        condition: None,
    }
}

#[cfg(test)]
mod tests;
