//! XSD, as far as messages use it: elements, types, groups, sequences and choices, attributes, occurrences, simple types
//! with their restrictions, references within the file.
//!
//! What lies in other files is refused by name: a shape that silently lacks a part would be worse than none.

use std::collections::HashMap;

use serde_json::Value;
use synapse_lang::syntax::Element;

use super::extent::Extent;
use super::sample::{TEXT, attribute_name, parse};
use super::shape::{Field, Shape};
use super::{Kind, Schema, SchemaError};

const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// Reads an XSD. The root is the first global element that no other refers to.
///
/// # Errors
/// [`SchemaError`] when it is none, or needs another file.
pub fn read(text: &str) -> Result<Schema, SchemaError> {
    let document = parse(text)?;
    let root = document
        .root()
        .filter(|root| root.is(XSD, "schema"))
        .ok_or_else(|| bad("the root is no xs:schema"))?;
    for other in ["include", "import", "redefine", "override"] {
        if let Some(found) = root.first(other) {
            let place =
                found.value("schemaLocation").or_else(|| found.value("namespace")).unwrap_or_default();
            return Err(bad(format!(
                "xs:{other} of {place:?} is not followed: give one file that has everything, or a sample message"
            )));
        }
    }
    let reading = Reading::of(root);
    let mut elements = root.elements().filter(|one| one.is(XSD, "element")).peekable();
    let first = *elements.peek().ok_or_else(|| bad("there is no global xs:element to begin with"))?;
    let referred: Vec<String> = root
        .descendants()
        .filter(|one| one.is(XSD, "element"))
        .filter_map(|one| one.value("ref").map(|name| local(&name).to_owned()))
        .collect();
    let start = elements
        .find(|one| one.value("name").is_some_and(|name| !referred.iter().any(|other| **other == *name)))
        .unwrap_or(first);
    let name = start.value("name").ok_or_else(|| bad("a global xs:element has no name"))?.into_owned();
    let shape = reading.element_shape(start, &mut Vec::new())?;
    let shape = match shape {
        Shape::Object(_) => shape,
        text => Shape::Object(vec![Field::new(TEXT, text)]),
    };
    Ok(Schema::new(&name, Kind::Xml, shape))
}

fn bad(reason: impl Into<String>) -> SchemaError {
    SchemaError::Xsd(reason.into())
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The global parts of a schema, by kind and name.
struct Reading<'a> {
    globals: HashMap<(&'a str, String), Element<'a>>,
    extent: Extent,
}

impl<'a> Reading<'a> {
    fn of(root: Element<'a>) -> Self {
        let named =
            root.elements().filter_map(|one| Some(((one.local(), one.value("name")?.into_owned()), one)));
        Self { globals: named.collect(), extent: Extent::default() }
    }

    fn global(&self, kind: &'static str, name: &str) -> Result<Element<'a>, SchemaError> {
        let found = self.globals.get(&(kind, local(name).to_owned()));
        found.copied().ok_or_else(|| bad(format!("there is no global xs:{kind} {name:?}")))
    }

    fn element_shape(&self, element: Element<'a>, through: &mut Vec<String>) -> Result<Shape, SchemaError> {
        let _within = self.extent.enter().map_err(bad)?;
        if let Some(name) = element.value("ref") {
            let target = self.global("element", &name)?;
            return self.within(&format!("element {name}"), through, |reading, through| {
                reading.element_shape(target, through)
            });
        }
        let shape = if let Some(inner) = element.first("complexType") {
            self.complex(inner, through)?
        } else if let Some(inner) = element.first("simpleType") {
            self.simple(inner)?
        } else {
            match element.value("type") {
                Some(name) => self.named(element, &name, through)?,
                None => Shape::Text,
            }
        };
        let nillable = element.value("nillable").is_some_and(|value| matches!(&*value, "true" | "1"));
        Ok(if nillable { shape.or(Shape::Null) } else { shape })
    }

    /// A type by name: one of the language, or one of the file.
    fn named(&self, at: Element<'a>, name: &str, through: &mut Vec<String>) -> Result<Shape, SchemaError> {
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let builtin = at.lookup_namespace(prefix).is_some_and(|namespace| namespace == XSD);
        if builtin {
            return Ok(builtin_shape(local(name)));
        }
        if let Some(found) = self.globals.get(&("simpleType", local(name).to_owned())) {
            return self.simple(*found);
        }
        let found = self.global("complexType", name)?;
        self.within(&format!("type {name}"), through, |reading, through| reading.complex(found, through))
    }

    /// Goes into something that could hold itself.
    fn within(
        &self,
        what: &str,
        through: &mut Vec<String>,
        go: impl FnOnce(&Self, &mut Vec<String>) -> Result<Shape, SchemaError>,
    ) -> Result<Shape, SchemaError> {
        if through.iter().any(|one| one == what) {
            return Ok(Shape::Any);
        }
        through.push(what.to_owned());
        let shape = go(self, through);
        through.pop();
        shape
    }

    fn complex(&self, kind: Element<'a>, through: &mut Vec<String>) -> Result<Shape, SchemaError> {
        let mut fields = Vec::new();
        self.content(kind, Occurs::ONCE, through, &mut fields)?;
        if kind.value("mixed").is_some_and(|value| value == "true") {
            fields.push(Field::optional(TEXT, Shape::Text));
        }
        // Without attributes and elements, simple content is just its text.
        match fields.as_slice() {
            [only] if only.name == TEXT && !only.is_optional => Ok(only.shape.clone()),
            _ => Ok(Shape::Object(fields)),
        }
    }

    /// The fields of what a type, a group or an extension holds.
    fn content(
        &self,
        holder: Element<'a>,
        outer: Occurs,
        through: &mut Vec<String>,
        fields: &mut Vec<Field>,
    ) -> Result<(), SchemaError> {
        let _within = self.extent.enter().map_err(bad)?;
        for part in holder.elements().filter(|one| one.namespace() == Some(XSD)) {
            let occurs = Occurs::of(part)?.within(outer);
            match part.local() {
                "sequence" | "all" => self.content(part, occurs, through, fields)?,
                "choice" => self.content(part, occurs.or_not(), through, fields)?,
                "group" => {
                    let target = self.global("group", &reference(part)?)?;
                    self.content(target, occurs, through, fields)?;
                }
                "attributeGroup" => {
                    let target = self.global("attributeGroup", &reference(part)?)?;
                    self.content(target, outer, through, fields)?;
                }
                "element" => {
                    let name = part.value("name").or_else(|| part.value("ref"));
                    let name = name.ok_or_else(|| bad("an xs:element has neither name nor ref"))?;
                    let shape = self.element_shape(part, through)?;
                    let shape = if occurs.many { shape.list() } else { shape };
                    add(fields, Field { name: local(&name).to_owned(), shape, is_optional: occurs.optional });
                }
                "attribute" => {
                    let usage = part.value("use").unwrap_or_default();
                    if usage == "prohibited" {
                        continue;
                    }
                    let (name, part) = match part.value("ref") {
                        Some(name) => (local(&name).to_owned(), self.global("attribute", &name)?),
                        None => (
                            part.value("name")
                                .ok_or_else(|| bad("an xs:attribute has no name"))?
                                .into_owned(),
                            part,
                        ),
                    };
                    let shape = match (part.first("simpleType"), part.value("type")) {
                        (Some(inner), _) => self.simple(inner)?,
                        (None, Some(kind)) => self.named(part, &kind, through)?,
                        (None, None) => Shape::Text,
                    };
                    add(
                        fields,
                        Field { name: attribute_name(&name), shape, is_optional: usage != "required" },
                    );
                }
                "simpleContent" | "complexContent" => self.content(part, outer, through, fields)?,
                "extension" | "restriction" => {
                    let base = part.value("base").ok_or_else(|| bad("an extension has no base"))?;
                    let derived = part.local() == "extension" || holder.local() == "simpleContent";
                    if derived {
                        match self.named(part, &base, through)? {
                            Shape::Object(own) => own.into_iter().for_each(|field| add(fields, field)),
                            text => add(fields, Field::new(TEXT, text)),
                        }
                    }
                    self.content(part, outer, through, fields)?;
                }
                // Anything may stand here, and a mapping can name none of it.
                _ => {}
            }
        }
        Ok(())
    }

    fn simple(&self, kind: Element<'a>) -> Result<Shape, SchemaError> {
        let _within = self.extent.enter().map_err(bad)?;
        let Some(restriction) = kind.first("restriction") else { return Ok(Shape::Text) };
        let base = match (restriction.value("base"), restriction.first("simpleType")) {
            (Some(name), _) => {
                let again = self.globals.get(&("simpleType", local(&name).to_owned()));
                match again {
                    Some(other) if other.id() != kind.id() => self.simple(*other)?,
                    _ => builtin_shape(local(&name)),
                }
            }
            (None, Some(inner)) => self.simple(inner)?,
            (None, None) => Shape::Text,
        };
        let values: Vec<Value> = restriction
            .elements()
            .filter(|one| one.is(XSD, "enumeration"))
            .filter_map(|one| one.value("value").map(|value| Value::from(value.into_owned())))
            .collect();
        Ok(if base == Shape::Text && !values.is_empty() { Shape::Exactly(values) } else { base })
    }
}

fn reference(part: Element<'_>) -> Result<String, SchemaError> {
    part.value("ref")
        .map(std::borrow::Cow::into_owned)
        .ok_or_else(|| bad(format!("an xs:{} has no ref", part.local())))
}

/// Adds a field. One that is there already, in another branch of a choice, is told once.
fn add(fields: &mut Vec<Field>, field: Field) {
    match fields.iter_mut().find(|one| one.name == field.name) {
        Some(known) => {
            let shape = std::mem::replace(&mut known.shape, Shape::Any);
            known.shape = shape.or(field.shape);
        }
        None => fields.push(field),
    }
}

fn builtin_shape(name: &str) -> Shape {
    match name {
        "boolean" => Shape::Truth,
        "decimal" | "float" | "double" | "integer" | "long" | "int" | "short" | "byte"
        | "nonNegativeInteger" | "positiveInteger" | "nonPositiveInteger" | "negativeInteger"
        | "unsignedLong" | "unsignedInt" | "unsignedShort" | "unsignedByte" => Shape::Number,
        "anyType" => Shape::Any,
        _ => Shape::Text,
    }
}

/// How often something occurs.
#[derive(Clone, Copy)]
struct Occurs {
    optional: bool,
    many: bool,
}

impl Occurs {
    const ONCE: Self = Self { optional: false, many: false };

    fn of(part: Element<'_>) -> Result<Self, SchemaError> {
        let number = |name: &str| match part.value(name) {
            None => Ok(1),
            Some(value) if value == "unbounded" => Ok(u64::MAX),
            Some(value) => value.parse::<u64>().map_err(|_| bad(format!("{name}={value:?} is no number"))),
        };
        Ok(Self { optional: number("minOccurs")? == 0, many: number("maxOccurs")? > 1 })
    }

    fn within(self, outer: Self) -> Self {
        Self { optional: self.optional || outer.optional, many: self.many || outer.many }
    }

    fn or_not(self) -> Self {
        Self { optional: true, ..self }
    }
}

#[cfg(test)]
mod tests;
