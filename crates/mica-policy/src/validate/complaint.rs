//! What is wrong with arguments, in words a model can act on.

use std::fmt;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

use super::nearest::nearest;

/// Characters of a value that are shown in a complaint.
const SHOWN: usize = 60;

/// Characters of a path that are shown. Names of members can be of any length.
const PATH: usize = 160;

/// Names that are listed before the rest is counted.
const NAMES: usize = 12;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// Where, as a JSON pointer. Empty for the arguments as a whole.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the arguments" } else { &self.path };
        write!(f, "{}: {}", cut(path, PATH), self.message)
    }
}

/// The complaints of one error. `schema` is the whole schema, to look names up in.
pub(crate) fn complaints(schema: &Value, error: &ValidationError<'_>) -> Vec<Complaint> {
    use ValidationErrorKind as Kind;
    let path = error.instance_path().as_str().to_owned();
    let given = error.instance();
    let one = |message: String| vec![Complaint { path: path.clone(), message }];
    match error.kind() {
        Kind::Required { property: Value::String(name) } => {
            vec![Complaint {
                path: format!("{path}/{}", escaped(name)),
                message: "is required, but missing".to_owned(),
            }]
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = known_names(schema, error);
            unexpected.iter().map(|name| unknown(&path, name, &known)).collect()
        }
        Kind::Type { kind } => one(format!("must be {}, but is {}", types(kind), shown(given))),
        Kind::Enum { options } => {
            one(format!("must be one of {}, but is {}", choices(options), shown(given)))
        }
        Kind::Constant { expected_value } => {
            one(format!("must be {}, but is {}", cut(&expected_value.to_string(), SHOWN), shown(given)))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => branches(schema, error, context)
            .unwrap_or_else(|| {
                one(format!("fits none of its {} forms; it is {}", context.len(), shown(given)))
            }),
        Kind::OneOfMultipleValid { .. } => {
            one("fits more than one of its forms, and must fit exactly one".to_owned())
        }
        Kind::Minimum { limit } => one(format!("must be {limit} or more, but is {}", shown(given))),
        Kind::Maximum { limit } => one(format!("must be {limit} or less, but is {}", shown(given))),
        Kind::ExclusiveMinimum { limit } => {
            one(format!("must be more than {limit}, but is {}", shown(given)))
        }
        Kind::ExclusiveMaximum { limit } => {
            one(format!("must be less than {limit}, but is {}", shown(given)))
        }
        Kind::MinLength { limit } => one(format!("must have {limit} characters or more")),
        Kind::MaxLength { limit } => one(format!("must have {limit} characters or less")),
        Kind::MinItems { limit } => one(format!("must have {limit} items or more")),
        Kind::MaxItems { limit } => one(format!("must have {limit} items or less")),
        Kind::UniqueItems => one("must not have the same item twice".to_owned()),
        Kind::Pattern { pattern } => {
            one(format!("must match the pattern {}, but is {}", cut(pattern, SHOWN), shown(given)))
        }
        Kind::Format { format } => one(format!("must be a valid {format}, but is {}", shown(given))),
        Kind::FalseSchema => one("must not be given".to_owned()),
        Kind::Not { .. } => one(format!("must not be {}", shown(given))),
        // The rest is rare; the validator's own words do, without the value, which may be large.
        _ => one(cut(&error.masked_with("it").to_string(), 4 * SHOWN)),
    }
}

/// The complaints of the one branch that was meant, when only one has the right type. Otherwise the types, when that is
/// all the branches say.
fn branches(
    schema: &Value,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
) -> Option<Vec<Complaint>> {
    let here = error.instance_path();
    let wrong_type = |errors: &Vec<ValidationError<'static>>| {
        errors.iter().find_map(|inner| match inner.kind() {
            ValidationErrorKind::Type { kind } if inner.instance_path() == here => Some(types(kind)),
            _ => None,
        })
    };
    let mut meant = context.iter().filter(|errors| wrong_type(errors).is_none());
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only.iter().flat_map(|inner| complaints(schema, inner)).collect()),
        (None, _) => {
            let wanted: Vec<String> = context.iter().filter_map(wrong_type).collect();
            let message = format!("must be {}, but is {}", wanted.join(" or "), shown(error.instance()));
            Some(vec![Complaint { path: here.as_str().to_owned(), message }])
        }
        _ => None,
    }
}

fn unknown(path: &str, name: &str, known: &[&str]) -> Complaint {
    let mut message = "is not a known property".to_owned();
    if let Some(meant) = nearest(name, known.iter().copied()) {
        message.push_str(&format!("; did you mean {meant:?}?"));
    } else if !known.is_empty() {
        message.push_str(&format!("; known are {}", listed(known)));
    }
    Complaint { path: format!("{path}/{}", escaped(&cut(name, SHOWN))), message }
}

/// The properties of the schema that has the keyword which complains.
fn known_names<'a>(schema: &'a Value, error: &ValidationError<'_>) -> Vec<&'a str> {
    let keyword = error.schema_path().as_str();
    let parent = keyword.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema.pointer(parent).and_then(|node| node.get("properties"));
    properties.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}

fn choices(options: &Value) -> String {
    let all: Vec<String> =
        options.as_array().into_iter().flatten().map(|choice| cut(&choice.to_string(), SHOWN)).collect();
    listed(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

fn types(kind: &TypeKind) -> String {
    let named = |name: &str| match name {
        "null" => "null".to_owned(),
        "array" | "integer" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(one) => named(one.as_str()),
        TypeKind::Multiple(several) => {
            several.iter().map(|one| named(one.as_str())).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// A value and its type, short.
fn shown(value: &Value) -> String {
    let text = cut(&value.to_string(), SHOWN);
    match value {
        Value::Null => text,
        Value::Bool(_) => format!("the boolean {text}"),
        Value::Number(_) => format!("the number {text}"),
        Value::String(_) => format!("the string {text}"),
        Value::Array(_) => format!("the array {text}"),
        Value::Object(_) => format!("the object {text}"),
    }
}

/// The start of a text, and a sign that there is more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
