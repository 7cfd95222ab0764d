//! The forms that editors show for operations and connections: which parameters are needed, what they hold, and what
//! they are for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Entries;
use crate::connectors::definition::{Connection, Operation, Parameter};

/// How deep groups of fields are followed.
const DEEPEST: usize = 16;

/// All forms of an archive.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) operations: BTreeMap<String, Form>,
    pub(super) connections: Vec<Connection>,
    pub(super) is_inbound: bool,
    pub(super) inbound: Option<Vec<Parameter>>,
    pub(super) implementation: Option<String>,
}

/// The form of an operation.
pub(super) struct Form {
    description: String,
    connections: Vec<String>,
    parameters: Vec<Parameter>,
}

impl Form {
    /// Adds what the form knows to what the template knows. Fields that the template does not read are no parameters.
    pub(super) fn complete(&self, operation: &mut Operation) {
        if operation.description.is_empty() {
            operation.description.clone_from(&self.description);
        }
        operation.connections.clone_from(&self.connections);
        let read = operation.parameters.take();
        let mut all: Vec<Parameter> = Vec::new();
        for field in &self.parameters {
            let known = read.as_ref().map(|read| read.iter().find(|one| one.name == field.name));
            match known {
                Some(None) => {}
                Some(Some(known)) => {
                    let mut field = field.clone();
                    if field.description.is_empty() {
                        field.description.clone_from(&known.description);
                    }
                    all.push(field);
                }
                None => all.push(field.clone()),
            }
        }
        for one in read.into_iter().flatten() {
            if !all.iter().any(|known| known.name == one.name) {
                all.push(one);
            }
        }
        operation.parameters = Some(all);
    }
}

/// Reads the forms of an archive. One that cannot be read is left out.
pub(super) fn all(entries: &Entries) -> Forms {
    let mut forms = Forms::default();
    for text in entries.under("uischema/").chain(entries.text("uischema.json")) {
        let Ok(form) = serde_json::from_str::<Value>(text) else { continue };
        let text = |name: &str| form.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut fields = Fields::default();
        fields.collect(form.get("elements").unwrap_or(&Value::Null), DEEPEST);
        let description = text("title").unwrap_or_default();
        if let Some(name) = text("operationName") {
            let Fields { connections, parameters } = fields;
            forms.operations.insert(name, Form { description, connections, parameters });
        } else if let Some(name) = text("connectionName") {
            let is_name =
                |one: &Parameter| matches!(one.name.as_str(), "name" | "connectionName" | "connectionType");
            let parameters = fields.parameters.into_iter().filter(|one| !is_name(one)).collect();
            forms.connections.push(Connection { name, description, parameters: Some(parameters) });
        } else if let Some(kind) = text("type").filter(|kind| kind.contains("inbound")) {
            forms.is_inbound = true;
            forms.implementation = text("class").or(text("protocol")).or(Some(kind));
            forms.inbound = Some(fields.parameters);
        }
    }
    forms
}

/// The fields of a form.
#[derive(Default)]
struct Fields {
    connections: Vec<String>,
    parameters: Vec<Parameter>,
}

impl Fields {
    fn collect(&mut self, elements: &Value, deeper: usize) {
        for element in elements.as_array().into_iter().flatten() {
            let kind = element.get("type").and_then(Value::as_str).unwrap_or_default();
            let Some(value) = element.get("value") else { continue };
            match kind {
                "attribute" | "table" => self.field(value, kind),
                _ if deeper > 0 => self.collect(value.get("elements").unwrap_or(&Value::Null), deeper - 1),
                _ => {}
            }
        }
    }

    fn field(&mut self, value: &Value, element: &str) {
        let text = |name: &str| match value.get(name) {
            Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Some(Value::Bool(yes)) => Some(yes.to_string()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let list = |name: &str| -> Vec<String> {
            let all = value.get(name).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let Some(name) = text("name") else { return };
        let kind = text("inputType");
        if kind.as_deref() == Some("connection") || matches!(name.as_str(), "configRef" | "configKey") {
            self.connections.extend(list("allowedConnectionTypes"));
            return;
        }
        if self.parameters.iter().any(|one| one.name == name) {
            return;
        }
        self.parameters.push(Parameter {
            required: text("required").as_deref() == Some("true"),
            kind: Some(if element == "table" { "table".to_owned() } else { kind.unwrap_or_default() })
                .map(|kind| plain_kind(&kind).to_owned())
                .filter(|kind| !kind.is_empty()),
            description: text("helpTip")
                .or_else(|| text("description"))
                .or_else(|| text("displayName"))
                .unwrap_or_default(),
            default: text("defaultValue"),
            values: list("comboValues"),
            condition: value.get("enableCondition").and_then(condition),
            name,
        });
    }
}

/// What a kind of field holds.
fn plain_kind(kind: &str) -> &str {
    match kind {
        "stringOrExpression" | "textOrExpression" | "stringOrExpresion" => "string or expression",
        "integerOrExpression" => "integer or expression",
        "booleanOrExpression" => "boolean or expression",
        "combo" | "comboOrExpression" => "one of",
        "checkbox" => "boolean",
        "stringWithParamManager" | "textArea" | "textAreaOrExpression" | "string" => "string",
        other => other,
    }
}

/// When a field is shown, in words: `[{"a":"x"}]`, `["AND", {..}, [..]]`.
fn condition(value: &Value) -> Option<String> {
    fn said(value: &Value, deeper: usize) -> Option<String> {
        let deeper = deeper.checked_sub(1)?;
        match value {
            Value::Object(fields) => {
                let fields = fields.iter().filter_map(|(name, value)| {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    (!value.is_empty()).then(|| format!("{name} = {value}"))
                });
                let all: Vec<String> = fields.collect();
                (!all.is_empty()).then(|| all.join(" and "))
            }
            Value::Array(all) => {
                let word = match all.first().and_then(Value::as_str) {
                    Some(word) if word.eq_ignore_ascii_case("or") => " or ",
                    Some(word) if word.eq_ignore_ascii_case("not") => return None,
                    _ => " and ",
                };
                let parts: Vec<String> = all.iter().filter_map(|one| said(one, deeper)).collect();
                match parts.len() {
                    0 => None,
                    1 => parts.into_iter().next(),
                    _ => Some(format!("({})", parts.join(word))),
                }
            }
            _ => None,
        }
    }
    said(value, 8)
}
