//! XML bodies as JSON and JSON as XML, the way the runtime's converter does it by default, and messages as envelopes.
//!
//! Attributes become members with `@` before their name, text beside them the member `$`, siblings of one name an
//! array; a text that is a number or boolean becomes one, an empty element null.

use super::context::Context;
use super::value::{Failure, refuse};
use crate::java::Decimal;
use crate::json::{self, Json, Number, Object};
use crate::syntax::escape_text;
use crate::xpath::{Forest, NodeRef, tree::Kind};

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// The message as SOAP envelope.
pub(super) fn envelope(context: &Context) -> String {
    let body = context.payload.as_deref().unwrap_or_default();
    if context.has_xml_payload() && is_envelope(body) {
        return body.to_owned();
    }
    let inside = if context.has_xml_payload() {
        without_declaration(body).to_owned()
    } else {
        json::parse(body).map(|json| to_xml(&json)).unwrap_or_default()
    };
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"{SOAP}\"><soapenv:Header/><soapenv:Body>{inside}</soapenv:Body></soapenv:Envelope>"
    )
}

fn without_declaration(body: &str) -> &str {
    let body = body.trim_start();
    match body.strip_prefix("<?xml") {
        Some(rest) => rest.split_once("?>").map_or(body, |(_, rest)| rest.trim_start()),
        None => body,
    }
}

fn is_envelope(body: &str) -> bool {
    let mut forest = Forest::default();
    forest.add(body).is_ok_and(|root| {
        forest
            .children(root)
            .into_iter()
            .any(|child| matches!(forest.kind(child), Some(Kind::Element(name)) if name.local == "Envelope"))
    })
}

/// The first element of the body of a message.
fn first_element(forest: &mut Forest, text: &str) -> Option<NodeRef> {
    let root = forest.add(text).ok()?;
    let elements = |forest: &Forest, node: NodeRef| {
        let children = forest.children(node).into_iter();
        children.filter(|child| matches!(forest.kind(*child), Some(Kind::Element(_)))).collect::<Vec<_>>()
    };
    let local = |forest: &Forest, node: NodeRef| match forest.kind(node) {
        Some(Kind::Element(name)) => name.local.clone(),
        _ => String::new(),
    };
    let top = elements(forest, root).first().copied()?;
    if local(forest, top) != "Envelope" {
        return Some(top);
    }
    let body = elements(forest, top).into_iter().find(|child| local(forest, *child) == "Body")?;
    elements(forest, body).first().copied()
}

/// The body of a message as XML: what is in the envelope, or all of it.
pub(super) fn body(text: &str) -> String {
    let mut forest = Forest::default();
    match first_element(&mut forest, text) {
        Some(element) => forest.write(element),
        None => text.to_owned(),
    }
}

/// The body of a message as JSON.
pub(super) fn to_json(text: &str) -> Result<Json, Failure> {
    let mut forest = Forest::default();
    let Some(element) = first_element(&mut forest, text) else {
        return refuse("Error while fetching the payload, Payload is empty");
    };
    Ok(element_to_json(&forest, element))
}

/// An element as JSON; the wrappers that stand for JSON in XML are taken away again.
pub(super) fn element_to_json(forest: &Forest, element: NodeRef) -> Json {
    let Some(Kind::Element(name)) = forest.kind(element) else { return Json::Null };
    match name.local.as_str() {
        "jsonObject" => content(forest, element),
        "jsonArray" => Json::Array(
            forest
                .children(element)
                .into_iter()
                .filter(|child| matches!(forest.kind(*child), Some(Kind::Element(_))))
                .map(|child| content(forest, child))
                .collect(),
        ),
        local => Json::Object([(local.to_owned(), content(forest, element))].into_iter().collect()),
    }
}

fn content(forest: &Forest, element: NodeRef) -> Json {
    let mut object = Object::new();
    for attribute in forest.attributes(element) {
        if let Some(Kind::Attribute(name, value)) = forest.kind(attribute) {
            object.insert(format!("@{}", name.local), Json::String(value.clone()));
        }
    }
    let mut has_elements = false;
    for child in forest.children(element) {
        let Some(Kind::Element(name)) = forest.kind(child) else { continue };
        has_elements = true;
        let value = content(forest, child);
        let merged = match object.get(&name.local).cloned() {
            None => value,
            Some(Json::Array(mut elements)) => {
                elements.push(value);
                Json::Array(elements)
            }
            Some(before) => Json::Array(vec![before, value]),
        };
        object.insert(name.local.clone(), merged);
    }
    let text = forest.own_text(element);
    if has_elements {
        return Json::Object(object);
    }
    if object.is_empty() {
        return if text.is_empty() { Json::Null } else { scalar(&text) };
    }
    if !text.trim().is_empty() {
        object.insert("$", scalar(&text));
    }
    Json::Object(object)
}

/// Numbers and booleans become what they are.
fn scalar(text: &str) -> Json {
    match text {
        "true" => Json::Bool(true),
        "false" => Json::Bool(false),
        _ if is_json_number(text) => Json::Number(Number::lazy(text)),
        _ => Json::String(text.to_owned()),
    }
}

fn is_json_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zero = digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    let starts = digits.starts_with(|first: char| first.is_ascii_digit());
    let ends = digits.ends_with(|last: char| last.is_ascii_digit());
    starts && ends && !leading_zero && Decimal::parse(text).is_some()
}

/// JSON as XML, in the wrapper that says what it is.
pub(super) fn to_xml(json: &Json) -> String {
    match json {
        Json::Array(elements) => {
            let inside = elements.iter().map(|element| member("jsonElement", element)).collect::<String>();
            format!("<jsonArray><?xml-multiple jsonElement?>{inside}</jsonArray>")
        }
        other => format!("<jsonObject>{}</jsonObject>", to_xml_inside(other)),
    }
}

/// The elements of JSON as XML, as payload formats take them out of the wrapper.
pub(super) fn to_elements(json: &Json) -> String {
    match json {
        Json::Object(object) => object
            .iter()
            .map(|(name, value)| match value {
                Json::Array(elements) => elements.iter().map(|element| member(name, element)).collect(),
                other => member(name, other),
            })
            .collect(),
        other => to_xml_inside(other),
    }
}

/// JSON as XML without the wrapper.
fn to_xml_inside(json: &Json) -> String {
    match json {
        Json::Object(object) => object.iter().map(|(name, value)| members(name, value)).collect(),
        Json::Array(elements) => elements.iter().map(|element| member("jsonElement", element)).collect(),
        Json::Null => String::new(),
        Json::String(text) => escape_text(text).into_owned(),
        other => other.to_string(),
    }
}

fn members(name: &str, value: &Json) -> String {
    match value {
        Json::Array(elements) => {
            let inside = elements.iter().map(|element| member(name, element)).collect::<String>();
            format!("<?xml-multiple {name}?>{inside}")
        }
        other => member(name, other),
    }
}

fn member(name: &str, value: &Json) -> String {
    let valid = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_alphanumeric() || matches!(one, '_' | '-' | '.'));
    let name = if valid {
        name.to_owned()
    } else {
        format!("_JsonReader_PS_{}", name.replace(|one: char| !one.is_alphanumeric(), "_"))
    };
    match to_xml_inside(value).as_str() {
        "" => format!("<{name}/>"),
        inside => format!("<{name}>{inside}</{name}>"),
    }
}
