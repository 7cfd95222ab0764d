//! What a sample message tells about the surroundings: kinds instead of values.

use std::collections::{BTreeMap, HashMap};

use super::env::{Env, InTemplate, Known};
use super::kind::{Atom, Kind};
use super::shape::Shape;
use crate::expr::ast::Place;
use crate::expr::context::{Context, Variable};
use crate::java;
use crate::json::{self, Json};

impl Shape {
    /// The shape of a JSON value.
    #[must_use]
    pub fn of(value: &Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::String(_) => Self::Text,
            Json::Number(number) => {
                let number = number.normalised();
                if number.tests_as_int() {
                    Self::Int
                } else if number.tests_as_long() {
                    Self::Long
                } else if number.tests_as_double() {
                    Self::Double
                } else {
                    Self::Big
                }
            }
            Json::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            Json::Object(object) => Self::Object {
                fields: object.iter().map(|(name, value)| (name.to_owned(), Self::of(value))).collect(),
                more: false,
            },
        }
    }
}

impl Kind {
    /// The kind of a header, property, parameter or configuration with a text: a number when it reads as one.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self::one(if java::parse_int(text).is_some() {
            Atom::Int
        } else if java::parse_long(text).is_some() {
            Atom::Long
        } else if java::parse_double(text).is_some() {
            Atom::Double
        } else {
            Atom::Text
        })
    }
}

impl Known {
    /// A variable that holds JSON.
    #[must_use]
    pub fn json(value: &Json) -> Self {
        let shape = Shape::of(value);
        Self { kind: shape.element(), shape }
    }
}

impl Env {
    /// The surroundings of a sample: nothing else is set than what it holds.
    #[must_use]
    pub fn of_sample(context: &Context) -> Self {
        let mut texts = HashMap::new();
        let mut add = |place: Place, from: &BTreeMap<String, String>, prefix: &str| {
            for (name, text) in from {
                if let Some(name) = name.strip_prefix(prefix) {
                    texts.insert((place, name.to_owned()), Kind::of_text(text));
                }
            }
        };
        add(Place::Header, &context.headers, "");
        add(Place::Config, &context.configs, "");
        add(Place::Synapse, &context.syn, "");
        add(Place::PathParam, &context.syn, "uri.var.");
        add(Place::QueryParam, &context.syn, "query.param.");
        add(Place::Axis2, &context.ax, "");
        if let Some(parameters) = &context.func {
            add(Place::FunctionParam, parameters, "");
        }
        let xml = context.has_xml_payload();
        let payload = context.payload.as_deref().filter(|_| !xml).and_then(|text| json::parse(text).ok());
        Self {
            variables: context.vars.iter().map(|(name, value)| (name.clone(), held(value))).collect(),
            all_variables: true,
            payload: payload.as_ref().map_or(Shape::Any, Shape::of),
            texts,
            all_texts: true,
            path_parameters: None,
            template_parameters: None,
            in_template: if context.func.is_some() { InTemplate::Yes } else { InTemplate::No },
            wanted: super::Wanted::Unknown,
        }
    }
}

fn held(variable: &Variable) -> Known {
    let atom = match variable {
        Variable::Int(_) => Atom::Int,
        Variable::Long(_) => Atom::Long,
        Variable::Double(_) => Atom::Double,
        Variable::String(_) => Atom::Text,
        Variable::Boolean(_) => Atom::Boolean,
        Variable::Json(text) => return Known::json(&text.0),
        Variable::Map(_) => Atom::Map,
        Variable::Xml(_) => Atom::Xml,
    };
    Known::of(Kind::one(atom))
}
