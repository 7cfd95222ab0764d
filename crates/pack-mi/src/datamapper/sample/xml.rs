//! XML, as the runtime hands it to a mapping: the root is the value itself, attributes are fields that begin with `attr_`,
//! a prefix becomes a part of the name, and the text of an element that has more than text is `_ELEMVAL`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use synapse_lang::syntax::{Document, Element, Node};

use super::super::shape::{Field, Shape};
use super::super::{Kind, Schema, SchemaError};
use super::{Sampled, fitted, plain, scalar, shape_of};

/// The field of an element's own text, when it has attributes or elements besides.
pub(crate) const TEXT: &str = "_ELEMVAL";

/// What the name of an attribute becomes.
pub(crate) fn attribute_name(name: &str) -> String {
    format!("attr_{}", name.replace(':', "_"))
}

/// Elements within elements that are read at most: deeper ones are no message.
const DEEPEST: usize = 64;

pub(super) fn read(text: &str) -> Result<Sampled, SchemaError> {
    let document = parse(text)?;
    let root = document
        .root()
        .ok_or_else(|| SchemaError::Xml { line: 1, reason: "there is no element".to_owned() })?;
    let raw = value(root, 0)?;
    // A root of nothing but text is an object all the same: a mapping gets one.
    let raw = if raw.is_object() { raw } else { Value::Object(Map::from_iter([(TEXT.to_owned(), raw)])) };
    let mut value = raw.clone();
    let shape = plain(lists(&mut value, shape_of_all(&[&raw])));
    fitted(&mut value, &shape);
    let mut schema = Schema::new(root.name(), Kind::Xml, shape);
    schema.namespaces = namespaces(root);
    Ok(Sampled { schema, value })
}

/// Reads XML that has no mistakes.
pub(crate) fn parse(text: &str) -> Result<Document, SchemaError> {
    let document = Document::parse(text);
    match document.problems().first() {
        None => Ok(document),
        Some(problem) => {
            let before = text.get(..problem.span.start as usize).unwrap_or_default();
            Err(SchemaError::Xml { line: before.matches('\n').count() + 1, reason: problem.to_string() })
        }
    }
}

/// The prefixes that the document declares, with what they stand for.
fn namespaces(root: Element<'_>) -> Vec<(String, String)> {
    let mut found = BTreeMap::new();
    for element in std::iter::once(root).chain(root.descendants()) {
        for attribute in element.attributes().filter(|one| one.prefix() == Some("xmlns")) {
            found.entry(attribute.local().to_owned()).or_insert_with(|| attribute.value().into_owned());
        }
    }
    found.into_iter().collect()
}

/// An element as a mapping sees it. Elements that are repeated are a list.
fn value(element: Element<'_>, depth: usize) -> Result<Value, SchemaError> {
    if depth > DEEPEST {
        let reason = format!("elements are nested more than {DEEPEST} times");
        return Err(SchemaError::Xml { line: 1, reason });
    }
    let mut members = Map::new();
    for attribute in element.attributes().filter(|one| !one.is_declaration()) {
        // What only says how to read the document is no data.
        if attribute.namespace() == Some("http://www.w3.org/2001/XMLSchema-instance") {
            continue;
        }
        members.insert(attribute_name(attribute.name()), scalar(&attribute.value()));
    }
    for child in element.elements() {
        let value = value(child, depth + 1)?;
        match members.entry(child.name().replace(':', "_")) {
            serde_json::map::Entry::Vacant(entry) => drop(entry.insert(value)),
            serde_json::map::Entry::Occupied(mut entry) => match entry.get_mut() {
                Value::Array(items) => items.push(value),
                one => *one = Value::Array(vec![one.take(), value]),
            },
        }
    }
    let text = own_text(element);
    if members.is_empty() {
        return Ok(scalar(&text));
    }
    if !text.is_empty() {
        members.insert(TEXT.to_owned(), scalar(&text));
    }
    Ok(Value::Object(members))
}

/// The text between the elements of an element.
fn own_text(element: Element<'_>) -> String {
    let pieces = element.children().filter_map(|node| match node {
        Node::Text(piece) => Some(piece.text().into_owned()),
        Node::CData(piece) => piece.raw().strip_prefix("<![CDATA[")?.strip_suffix("]]>").map(str::to_owned),
        _ => None,
    });
    pieces.collect::<String>().trim().to_owned()
}

/// What several elements of one name look like. Where one of them repeats a child, the child is a list in all of them.
fn shape_of_all(values: &[&Value]) -> Shape {
    if values.iter().any(|value| value.is_object()) {
        let mut fields: Vec<Field> = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for members in values.iter().filter_map(|value| value.as_object()) {
            names.extend(
                members.keys().map(String::as_str).filter(|name| !names.contains(name)).collect::<Vec<_>>(),
            );
        }
        for name in names {
            let found: Vec<Option<&Value>> = values.iter().map(|value| value.get(name)).collect();
            let is_list = found.iter().flatten().any(|value| value.is_array());
            let single: Vec<&Value> = found
                .iter()
                .flatten()
                .flat_map(|value| value.as_array().map_or(std::slice::from_ref(*value), Vec::as_slice))
                .collect();
            let shape = shape_of_all(&single);
            let shape = if is_list { shape.list() } else { shape };
            // An element that is there with nothing but text in it has none of the fields.
            let is_optional = found.iter().any(Option::is_none);
            fields.push(Field { name: name.to_owned(), shape, is_optional });
        }
        let has_text = values.iter().any(|value| !value.is_object() && value.as_str() != Some(""));
        if has_text && !fields.iter().any(|field| field.name == TEXT) {
            fields.push(Field::optional(TEXT, Shape::Text));
        }
        return Shape::Object(fields);
    }
    values.iter().map(|value| shape_of(value)).fold(Shape::Any, Shape::or)
}

/// Makes lists of single elements where the shape says so. Answers the shape.
fn lists(value: &mut Value, shape: Shape) -> Shape {
    wrap(value, &shape);
    shape
}

fn wrap(value: &mut Value, shape: &Shape) {
    match shape {
        Shape::List(item) => {
            if !value.is_array() {
                *value = Value::Array(vec![value.take()]);
            }
            if let Value::Array(items) = value {
                items.iter_mut().for_each(|one| wrap(one, item));
            }
        }
        Shape::Object(fields) => {
            if !value.is_object() {
                let text = value.take();
                let empty = text.as_str() == Some("");
                let own = [(TEXT.to_owned(), text)].into_iter().filter(|_| !empty);
                *value = Value::Object(own.collect());
            }
            for field in fields {
                if let Some(value) = value.get_mut(&field.name) {
                    wrap(value, &field.shape);
                }
            }
        }
        _ => {}
    }
}
