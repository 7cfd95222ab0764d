//! Definitions as text for a model: short, and true about what is not known.

use std::fmt::Write;

use synapse_lang::model::Version;

use super::definition::{Connection, Definition, Init, Kind, Operation, Parameter, Source};
use super::example::Example;
use crate::project::MiProject;

/// What is said where parameters are not known.
pub(super) const UNKNOWN: &str =
    "parameters not in the snapshot; put the connector's zip into the project or fetch it";

/// What a definition is, in some lines.
pub(super) fn summary(definition: &Definition, project: Option<&MiProject>) -> String {
    let mut text = head(definition, project);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", init(definition));
    match definition.kind {
        Kind::Connector => {
            let visible: Vec<&Operation> =
                definition.operations.iter().filter(|one| !one.hidden && one.name != "init").collect();
            let names = |known: bool| -> Vec<&str> {
                let all = visible.iter().filter(|one| one.parameters.is_some() == known);
                all.map(|one| one.name.as_str()).collect()
            };
            let (known, unknown) = (names(true), names(false));
            let whole = if definition.complete { "" } else { " (there may be more)" };
            if !known.is_empty() {
                let _ = writeln!(text, "Operations{whole}: {}", known.join(", "));
            }
            if !unknown.is_empty() {
                let _ = writeln!(text, "Operations by name only{whole} ({UNKNOWN}): {}", unknown.join(", "));
            }
            if visible.is_empty() {
                let _ = writeln!(text, "Operations: not in the snapshot");
            }
        }
        Kind::Inbound | Kind::Bundled => {
            let _ = writeln!(text, "Parameters:");
            parameters(&mut text, definition.parameters.as_deref(), &[]);
        }
    }
    text
}

/// What comes before the details: what it is, and how it connects.
pub(super) fn summary_head(definition: &Definition, project: Option<&MiProject>) -> String {
    format!("{}{}\n", head(definition, project), init(definition))
}

fn head(definition: &Definition, project: Option<&MiProject>) -> String {
    let kind = match definition.kind {
        Kind::Connector => "connector",
        Kind::Inbound => "inbound endpoint",
        Kind::Bundled => "inbound endpoint that comes with the runtime",
    };
    let mut text = format!("## {} ({kind}, prefix {})\n", definition.title, definition.name);
    if definition.kind != Kind::Connector {
        text = format!("## {} ({kind})\n", definition.title);
    }
    if !definition.summary.is_empty() {
        let _ = writeln!(text, "{}", definition.summary);
    }
    if definition.has_coordinates {
        let version = definition.version.as_deref().unwrap_or("version not known");
        let _ = writeln!(text, "Maven: {}:{}, {version}", definition.group, definition.artifact);
    } else if definition.kind != Kind::Bundled {
        let _ = writeln!(text, "Maven: the coordinates are not in the snapshot");
    }
    let declared =
        project.and_then(|project| project.connectors.iter().find(|one| one.artifact == definition.artifact));
    if let Some(declared) = declared {
        let _ = writeln!(text, "In pom.xml: {}", declared.version);
    }
    let from = match &definition.source {
        Source::Archive(path) => {
            format!("the archive in the project ({})", path.file_name().unwrap_or_default().to_string_lossy())
        }
        Source::Store { stale: false } => "the connector store".to_owned(),
        Source::Store { stale: true } => "the connector store, as it was when it last answered".to_owned(),
        Source::Snapshot => "the snapshot that comes with mica; the newest version may differ".to_owned(),
    };
    let _ = writeln!(text, "Known from: {from}");
    if let Some(since) = definition.since {
        let _ = writeln!(text, "Runtime: {since} or newer");
        if let Some(runtime) = project.and_then(MiProject::version)
            && runtime < since
        {
            let _ = writeln!(
                text,
                "This project builds for {runtime}, which is older: this version does not fit."
            );
        }
    }
    text
}

fn init(definition: &Definition) -> String {
    let name = &definition.name;
    let kinds: Vec<&str> = definition.connections.iter().map(|one| one.name.as_str()).collect();
    match definition.init {
        _ if definition.kind != Kind::Connector => {
            let implementation = definition.implementation.as_deref();
            implementation.map_or_else(
                || "Its class is not in the snapshot".to_owned(),
                |it| {
                    let attribute = if it.contains('.') { "class" } else { "protocol" };
                    format!("Artifact: <inboundEndpoint {attribute}=\"{it}\">")
                },
            )
        }
        Init::LocalEntry if kinds.is_empty() => {
            format!(
                "Connection: a local entry with <{name}.init>, named by configKey; its kinds are not in the snapshot"
            )
        }
        Init::LocalEntry => format!(
            "Connection: a local entry with <{name}.init> that has <connectionType> and <name>, named by configKey; \
             connectionType is {}",
            kinds.join(" | ")
        ),
        Init::Inline => {
            format!("Connection: <{name}.init> in a local entry named by configKey, or before the operation")
        }
        Init::Nothing => "Connection: none is needed".to_owned(),
        Init::Unknown => "Connection: not in the snapshot".to_owned(),
    }
}

/// An operation with its parameters; only those named, when some are.
pub(super) fn operation(definition: &Definition, operation: &Operation, only: &[String]) -> String {
    let mut text = format!("### {}.{}\n", definition.name, operation.name);
    if !operation.description.is_empty() {
        let _ = writeln!(text, "{}", operation.description);
    }
    if !operation.connections.is_empty() {
        let _ = writeln!(text, "Connection types: {}", operation.connections.join(", "));
    }
    parameters(&mut text, operation.parameters.as_deref(), only);
    if !operation.output.is_empty() {
        let _ = writeln!(text, "Result:");
        for row in &operation.output {
            let _ = writeln!(text, "- {row}");
        }
    }
    text
}

/// A kind of connection with its parameters.
pub(super) fn connection(definition: &Definition, connection: &Connection, only: &[String]) -> String {
    let mut text = format!("### connection {} of {}\n", connection.name, definition.name);
    if !connection.description.is_empty() {
        let _ = writeln!(text, "{}", connection.description);
    }
    let _ = writeln!(text, "- connectionType (required): {}", connection.name);
    let _ = writeln!(text, "- name (required): the key of its local entry");
    parameters(&mut text, connection.parameters.as_deref(), only);
    text
}

fn parameters(text: &mut String, parameters: Option<&[Parameter]>, only: &[String]) {
    let Some(parameters) = parameters else {
        let _ = writeln!(text, "({UNKNOWN})");
        return;
    };
    let wanted =
        |one: &&Parameter| only.is_empty() || only.iter().any(|name| name.eq_ignore_ascii_case(&one.name));
    let shown: Vec<&Parameter> = parameters.iter().filter(wanted).collect();
    if parameters.is_empty() {
        let _ = writeln!(text, "(no parameters)");
    } else if shown.is_empty() {
        let names: Vec<&str> = parameters.iter().map(|one| one.name.as_str()).collect();
        let _ = writeln!(text, "(none of the parameters asked for; it has {})", names.join(", "));
    }
    for one in shown {
        let mut facts = Vec::new();
        if one.required {
            facts.push("required".to_owned());
        }
        facts.extend(one.kind.clone());
        if !one.values.is_empty() {
            facts.push(format!("one of: {}", one.values.join(" | ")));
        }
        facts.extend(one.default.as_ref().map(|value| format!("default {value}")));
        facts.extend(one.condition.as_ref().map(|condition| format!("when {condition}")));
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join("; ")) };
        let about = if one.description.is_empty() { String::new() } else { format!(": {}", one.description) };
        let _ = writeln!(text, "- {}{facts}{about}", one.name);
    }
}

/// How it is used, as files and steps.
pub(super) fn example(example: &Example) -> String {
    let mut text = String::new();
    if let Some((path, entry)) = &example.connection {
        let _ = write!(text, "{path}:\n```xml\n{entry}```\n");
    }
    if let Some(step) = &example.step {
        let _ = write!(text, "```xml\n{step}```\n");
    }
    if let Some(note) = &example.note {
        let _ = writeln!(text, "{note}");
    }
    text
}

/// All that there is, one row each.
pub(super) fn catalogue<'a>(
    definitions: impl Iterator<Item = &'a Definition>,
    runtime: Option<Version>,
) -> String {
    let mut text = String::new();
    for one in definitions {
        let version = one.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let old = runtime.zip(one.since).filter(|(runtime, since)| runtime < since);
        let old = old.map(|(_, since)| format!(" [needs runtime {since}]")).unwrap_or_default();
        let place = match one.source {
            Source::Archive(_) => " [in the project]",
            _ => "",
        };
        let kind = match one.kind {
            Kind::Connector => one.name.clone(),
            Kind::Inbound => format!("{} (inbound)", one.artifact),
            Kind::Bundled => format!("{} (inbound, comes with the runtime)", one.name),
        };
        let _ = writeln!(text, "- {kind}{version}{place}{old}: {}", one.summary);
    }
    text
}
