//! The smallest artifact parts that use a connector, made from its definition.
//!
//! Promise: what is made has nothing that the checker would report, and no parameter that the definition does not have.

use synapse_lang::model::Version;
use synapse_lang::syntax::escape_text;

use super::definition::{Connection, Definition, Init, Kind, Operation, Parameter};

/// What stands where only the user knows the value.
pub const OPEN: &str = "to be set";

/// An example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The local entry of the connection, and the file it belongs in.
    pub connection: Option<(String, String)>,
    /// A step of a flow, or for an inbound endpoint the whole artifact.
    pub step: Option<String>,
    /// What the example cannot show.
    pub note: Option<String>,
}

/// The example of a connector, with a kind of connection and an operation that were asked for, if they were.
#[must_use]
pub fn example(
    definition: &Definition,
    runtime: Version,
    connection: Option<&Connection>,
    operation: Option<&Operation>,
) -> Example {
    if definition.kind != Kind::Connector {
        return inbound(definition);
    }
    let connection = connection.or_else(|| {
        let known = definition.connections.iter().find(|one| one.parameters.is_some());
        known.or(definition.connections.first())
    });
    let key = format!("{}_CONNECTION", definition.name.to_uppercase());
    let entry = match definition.init {
        Init::LocalEntry | Init::Inline => Some(local_entry(definition, connection, &key)),
        Init::Nothing | Init::Unknown => None,
    };
    let visible = || definition.operations.iter().filter(|one| !one.hidden && one.name != "init");
    // One with few parameters that must be there is the shortest lesson.
    let known = visible().filter(|one| one.parameters.is_some());
    let operation = operation.or_else(|| known.clone().next()).or_else(|| visible().next());
    let step =
        operation.map(|operation| step(definition, operation, entry.is_some().then_some(&key), runtime));
    let unknown = operation.is_some_and(|one| one.parameters.is_none())
        || (entry.is_some() && connection.is_none_or(|one| one.parameters.is_none()));
    let note = unknown.then(|| {
        "Some parameters are not in the snapshot: put the connector's zip into src/main/wso2mi/resources/connectors, \
         or look them up, before you use it."
            .to_owned()
    });
    let path = format!("src/main/wso2mi/artifacts/local-entries/{key}.xml");
    Example { connection: entry.map(|entry| (path, entry)), step, note }
}

fn local_entry(definition: &Definition, connection: Option<&Connection>, key: &str) -> String {
    let name = &definition.name;
    let mut rows = Vec::new();
    if let Some(connection) = connection {
        rows.push(element("connectionType", &connection.name));
        rows.push(element("name", key));
    }
    let init = definition.operations.iter().find(|one| one.name == "init");
    let parameters = match connection {
        Some(connection) => connection.parameters.as_ref(),
        None => init.and_then(|init| init.parameters.as_ref()),
    };
    match parameters {
        Some(parameters) => rows.extend(needed(parameters).map(|one| element(&one.name, &value(one)))),
        None => rows.push("<!-- Its parameters are not known here. -->".to_owned()),
    }
    let rows: String = rows.iter().map(|row| format!("        {row}\n")).collect();
    format!(
        "<localEntry xmlns=\"http://ws.apache.org/ns/synapse\" key=\"{key}\">\n    <{name}.init>\n{rows}    </{name}.init>\n</localEntry>\n"
    )
}

fn step(definition: &Definition, operation: &Operation, key: Option<&String>, runtime: Version) -> String {
    let tag = format!("{}.{}", definition.name, operation.name);
    let mut rows = Vec::new();
    let mut key = key;
    for parameter in operation.parameters.iter().flatten() {
        match parameter.name.as_str() {
            "responseVariable" if runtime >= Version::EXPRESSIONS => {
                let variable = tag.replace('.', "_");
                rows.push(element("responseVariable", &format!("{variable}_1")));
            }
            "responseVariable" | "overwriteBody" => {}
            // An operation of several connections names them in children of its own.
            "connections" if parameter.required => {
                let inner = key.map(|key| element("llmConfigKey", key)).unwrap_or_default();
                rows.push(format!("<connections>{inner}</connections>"));
                key = None;
            }
            _ if parameter.required && parameter.condition.is_none() => {
                rows.push(element(&parameter.name, &value(parameter)));
            }
            _ => {}
        }
    }
    let attribute = key.map(|key| format!(" configKey=\"{key}\"")).unwrap_or_default();
    if rows.is_empty() {
        return format!("<{tag}{attribute}/>\n");
    }
    let rows: String = rows.iter().map(|row| format!("    {row}\n")).collect();
    format!("<{tag}{attribute}>\n{rows}</{tag}>\n")
}

fn inbound(definition: &Definition) -> Example {
    let name = format!("{}Inbound", definition.name);
    let Some(implementation) = &definition.implementation else {
        let note = "Its class is not in the snapshot: look it up before you use it.".to_owned();
        return Example { connection: None, step: None, note: Some(note) };
    };
    let attribute = if implementation.contains('.') { "class" } else { "protocol" };
    let parameters = definition.parameters.as_ref();
    let rows = parameters.into_iter().flatten().filter(|one| one.required).map(|one| {
        format!("        <parameter name=\"{}\">{}</parameter>\n", one.name, escape_text(&value(one)))
    });
    let rows: String = rows.collect();
    let inner =
        if rows.is_empty() { String::new() } else { format!("    <parameters>\n{rows}    </parameters>\n") };
    let step = format!(
        "<inboundEndpoint xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{name}\" {attribute}=\"{implementation}\" sequence=\"request\" onError=\"fault\" suspend=\"false\">\n{inner}</inboundEndpoint>\n"
    );
    let note = parameters.is_none().then(|| "Its parameters are not in the snapshot.".to_owned());
    Example { connection: None, step: Some(step), note }
}

/// Parameters without which nothing works, whatever the others are.
fn needed(parameters: &[Parameter]) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(|one| one.required && one.condition.is_none())
}

fn value(parameter: &Parameter) -> String {
    let default = parameter.default.clone().filter(|value| !value.is_empty());
    // Where a number or a name must stand, words would be reported.
    let open = match parameter.kind.as_deref() {
        Some("integer") => "1000",
        Some("boolean") => "true",
        // The flow that the example names, too.
        Some("sequence") => "request",
        _ => OPEN,
    };
    default.or_else(|| parameter.values.first().cloned()).unwrap_or_else(|| open.to_owned())
}

fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escape_text(text))
}

#[cfg(test)]
mod tests;
