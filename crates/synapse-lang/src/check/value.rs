//! Attributes and texts as the runtime reads them: what is evaluated, what is a literal.

use std::ops::Range;

use crate::check::walk::{Placed, Role, Tree};
use crate::model::{self, Content, Model, Place, RefKind, Refusal, ValueType};
use crate::syntax::{Attribute, Decoded};
use crate::text::Span;

/// Where a value is written.
#[derive(Clone, Copy)]
pub enum Holder<'a> {
    /// In an attribute; for attributes that the model knows, with what it says.
    Attribute(Attribute<'a>, Option<&'static model::Attribute>),
    /// Between the tags.
    Text,
}

/// What the runtime takes a value for. Ranges are bytes of the decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// A literal.
    Literal,
    /// A Synapse expression, without its `${` and `}`.
    Expression(Range<usize>),
    /// A JSONPath, without its `json-eval(` and `)`.
    JsonPath(Range<usize>),
    /// An XPath.
    XPath(Range<usize>),
    /// Text with expressions, each without its `${` and `}`.
    Template(Vec<Range<usize>>),
    /// `{{…}}`: evaluated later, by whoever gets it.
    Deferred(Range<usize>),
}

/// An attribute's value or an element's text, as the runtime reads it.
pub struct Value<'a> {
    /// The element that has it.
    pub placed: Placed<'a>,
    /// Where it is written.
    pub holder: Holder<'a>,
    /// Who evaluates it.
    pub place: Place,
    /// Why a `${…}` that the place would take does not work here.
    pub refuses: Option<&'static Refusal>,
    /// What it may be.
    pub kind: &'static ValueType,
    /// What it names.
    pub reference: Option<RefKind>,
    /// The text, with the way back to the source.
    pub decoded: Decoded<'a>,
    /// What the runtime takes it for.
    pub reading: Reading,
}

impl Value<'_> {
    /// The text as the runtime gets it.
    #[must_use]
    pub fn text(&self) -> &str {
        self.decoded.text()
    }

    /// The name of the attribute, or nothing for text.
    #[must_use]
    pub fn attribute(&self) -> Option<&str> {
        match &self.holder {
            Holder::Attribute(attribute, _) => Some(attribute.local()),
            Holder::Text => None,
        }
    }

    /// Whether it is the attribute of that name on an element of that id in the model.
    #[must_use]
    pub fn is(&self, id: &str, attribute: &str) -> bool {
        self.placed.id() == id && self.attribute() == Some(attribute)
    }

    /// Where a part of it is written.
    #[must_use]
    pub fn source_span(&self, range: Range<usize>) -> Span {
        self.decoded.source_span(range)
    }

    /// Where all of it is written; for an attribute, between the quotes.
    #[must_use]
    pub fn span(&self) -> Span {
        self.decoded.source_span(0..self.text().len())
    }

    /// The expressions in it, without `${` and `}`.
    #[must_use]
    pub fn expressions(&self) -> Vec<Range<usize>> {
        match &self.reading {
            Reading::Expression(range) => vec![range.clone()],
            Reading::Template(ranges) => ranges.clone(),
            Reading::Literal | Reading::JsonPath(_) | Reading::XPath(_) | Reading::Deferred(_) => Vec::new(),
        }
    }

    /// A text for this place: escaped as it must be written there.
    #[must_use]
    pub fn written(&self, text: &str) -> String {
        match &self.holder {
            Holder::Attribute(attribute, _) => {
                crate::syntax::escape_attribute(text, attribute.quote().unwrap_or('"')).into_owned()
            }
            Holder::Text => crate::syntax::escape_text(text).into_owned(),
        }
    }
}

/// The values of a document that the model has a place for, in the order of their elements.
#[must_use]
pub fn of<'a>(tree: &Tree<'a>, model: &'static Model) -> Vec<Value<'a>> {
    of_those(tree, model, |_| true)
}

/// The values of some elements.
pub(super) fn of_those<'a>(
    tree: &Tree<'a>,
    model: &'static Model,
    wanted: impl Fn(&Placed<'a>) -> bool,
) -> Vec<Value<'a>> {
    let mut values = Vec::new();
    for placed in tree.placed().iter().filter(|placed| wanted(placed)) {
        attributes(model, placed, &mut values);
        text(placed, &mut values);
    }
    values
}

fn attributes<'a>(model: &'static Model, placed: &Placed<'a>, values: &mut Vec<Value<'a>>) {
    let parameter = matches!(placed.role, Role::Operation | Role::Parameter);
    for attribute in placed.element.attributes().filter(|one| one.prefix().is_none() && !one.is_declaration())
    {
        let known = placed.definition.and_then(|one| model.attribute(one, attribute.local()));
        let (place, refuses, kind, reference) = match known {
            Some(known) => (known.place, known.refuses.as_ref(), &known.value, known.reference),
            None if parameter && attribute.local() != "description" => {
                let connection = attribute.local() == "configKey" && placed.role == Role::Operation;
                (Place::Value, None, &ValueType::Any, connection.then_some(RefKind::Connection))
            }
            None => continue,
        };
        let decoded = attribute.decoded();
        let reading = read(place, decoded.text());
        let holder = Holder::Attribute(attribute, known);
        values.push(Value { placed: *placed, holder, place, refuses, kind, reference, decoded, reading });
    }
}

fn text<'a>(placed: &Placed<'a>, values: &mut Vec<Value<'a>>) {
    let element = placed.element;
    if placed.role == Role::Parameter && !element.has_element_children() {
        let decoded = element.decoded_text();
        if !decoded.text().trim().is_empty() {
            let reading = read(Place::Value, decoded.text());
            let kind = &ValueType::Any;
            let holder = Holder::Text;
            let place = Place::Value;
            values.push(Value {
                placed: *placed,
                holder,
                place,
                refuses: None,
                kind,
                reference: None,
                decoded,
                reading,
            });
        }
        return;
    }
    let Some(definition) = placed.definition else { return };
    let Some(text) = &definition.text else { return };
    let decoded = match definition.content {
        Content::Mixed | Content::Markup if element.has_element_children() => element.decoded_content(),
        _ => element.decoded_text(),
    };
    if decoded.text().trim().is_empty() {
        return;
    }
    // What is only sometimes evaluated is a literal at other times: a template of FreeMarker has placeholders of the
    // same look and quite another language.
    let evaluated = text.when.as_ref().is_none_or(|when| placed.holds(when));
    let reading = if evaluated { read(text.place, decoded.text()) } else { Reading::Literal };
    values.push(Value {
        placed: *placed,
        holder: Holder::Text,
        place: text.place,
        refuses: text.refuses.as_ref(),
        kind: &text.value,
        reference: text.reference,
        decoded,
        reading,
    });
}

/// What the runtime takes a text for, in a place.
#[must_use]
pub fn read(place: Place, text: &str) -> Reading {
    let whole = 0..text.len();
    match place {
        Place::Path => path(text, whole),
        Place::Query => query(text, whole),
        Place::XPath => Reading::XPath(unwrapped(text).unwrap_or(whole)),
        Place::Value => value(text),
        Place::Template => Reading::Template(placeholders(text)),
        Place::Literal | Place::Resolved => Reading::Literal,
    }
}

fn path(text: &str, range: Range<usize>) -> Reading {
    let inner = text.get(range.clone()).unwrap_or_default();
    if inner.len() >= 3 && inner.starts_with("${") && inner.ends_with('}') {
        Reading::Expression(range.start + 2..range.end - 1)
    } else {
        query(text, range)
    }
}

fn query(text: &str, range: Range<usize>) -> Reading {
    let inner = text.get(range.clone()).unwrap_or_default();
    match inner.strip_prefix("json-eval(") {
        // The last character is cut whatever it is.
        Some(rest) => {
            let cut = rest.chars().next_back().map_or(0, char::len_utf8);
            Reading::JsonPath(range.start + "json-eval(".len()..range.end - cut)
        }
        None => Reading::XPath(range),
    }
}

fn value(text: &str) -> Reading {
    if text.len() >= 4 && text.starts_with("{{") && text.ends_with("}}") {
        return Reading::Deferred(2..text.len() - 2);
    }
    match unwrapped(text) {
        Some(range) => path(text, range),
        None => Reading::Literal,
    }
}

/// The inside of `{…}`.
fn unwrapped(text: &str) -> Option<Range<usize>> {
    (text.len() >= 2 && text.starts_with('{') && text.ends_with('}')).then(|| 1..text.len() - 1)
}

/// The insides of `${…}`; the first closing brace ends each.
fn placeholders(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at + 2) {
        // At least one character stands between the braces, even if it is one.
        let first = text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let Some(end) = text.get(start + first..).and_then(|rest| rest.find('}')) else { break };
        found.push(start..start + first + end);
        from = start + first + end + 1;
    }
    found
}

#[cfg(test)]
mod tests;
