//! An API artifact made from a definition: a resource for each path and method, with an answer that stands for the real
//! one.

use std::fmt::Write;

use serde_json::{Value, json};
use synapse_lang::syntax::{escape_attribute, escape_text};

use super::NewFile;
use super::openapi::{ApiOperation, OpenApi};

/// The artifact, and the definition beside it.
pub(super) fn files(api: &OpenApi) -> Vec<NewFile> {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"{}\" context=\"{}\">\n",
        api.name,
        escape_attribute(&api.context, '"')
    );
    for operation in &api.operations {
        text.push_str(&resource(operation));
    }
    text.push_str("</api>\n");
    // JSON is YAML, too, and the product's tools look for that ending.
    let mut definition = api.text.clone();
    if !definition.ends_with('\n') {
        definition.push('\n');
    }
    vec![
        NewFile { path: format!("src/main/wso2mi/artifacts/apis/{}.xml", api.name), content: text },
        NewFile {
            path: format!("src/main/wso2mi/resources/api-definitions/{}.yaml", api.name),
            content: definition,
        },
    ]
}

fn resource(operation: &ApiOperation) -> String {
    let ApiOperation { method, template, summary, parameters, status, example } = operation;
    let mut text = format!(
        "    <resource methods=\"{method}\" uri-template=\"{}\">\n        <inSequence>\n",
        escape_attribute(template, '"')
    );
    let mut row = |row: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "            {row}");
    };
    if !summary.is_empty() {
        row(&comment(summary));
    }
    for parameter in parameters {
        row(&comment(&format!("Takes {parameter}")));
    }
    if *status != 200 {
        row(&format!("<property name=\"HTTP_SC\" value=\"{status}\" scope=\"axis2\"/>"));
    }
    if is_empty(operation) {
        row("<property name=\"NO_ENTITY_BODY\" value=\"true\" scope=\"axis2\" type=\"BOOLEAN\"/>");
    } else {
        let (body, note) = body(example.as_ref(), method, template);
        if let Some(note) = note {
            row(&comment(&note));
        }
        row("<payloadFactory media-type=\"json\">");
        row(&format!("    <format>{}</format>", escape_text(&body)));
        row("    <args/>");
        row("</payloadFactory>");
    }
    row("<respond/>");
    text.push_str("        </inSequence>\n    </resource>\n");
    text
}

/// Whether an operation answers without a body.
fn is_empty(operation: &ApiOperation) -> bool {
    matches!(operation.status, 204 | 205) || operation.method == "HEAD"
}

impl ApiOperation {
    /// Whether its resource answers as the definition says; one that does not says that it is not implemented.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let shown = |example: &Value| body(Some(example), &self.method, &self.template).1.is_none();
        is_empty(self) || self.example.as_ref().is_some_and(shown)
    }
}

/// The answer that stands for the real one, and why it is not the example of the file.
fn body(example: Option<&Value>, method: &str, template: &str) -> (String, Option<String>) {
    let open = || pretty(&json!({ "message": format!("{method} {template} is not implemented yet") }));
    let Some(example) = example else { return (open(), None) };
    // A text that holds JSON is meant as that JSON.
    let held = example.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let text = pretty(held.as_ref().unwrap_or(example));
    // A dollar sign in a template begins an argument or an expression.
    if text.contains('$') {
        (open(), Some("The example of the definition has a dollar sign, which templates read".to_owned()))
    } else {
        (text, None)
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value)
        .unwrap_or_else(|_| "{}".to_owned())
        .replace('\n', "\n                ")
}

/// A text as a comment; two hyphens would end it.
fn comment(text: &str) -> String {
    let text: String = text.chars().filter(|one| !one.is_control()).collect();
    let mut text = text;
    while text.contains("--") {
        text = text.replace("--", "-");
    }
    format!("<!-- {} -->", text.trim().trim_end_matches('-'))
}
