//! Mappings that need no thought: fields of the same name and kind, also within objects and lists.
//!
//! Two names are the same when they differ only in case, underscores and the like. A field that stands alone on one side
//! and within an object on the other is found by its path (`customer.name` for `customerName`), or by its name when only
//! one field has it. What is not sure is left out and listed.

use super::Schema;
use super::shape::{Field, Shape};
use super::typescript::{access, key};

/// A mapping, and what it leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AutoMapped {
    /// What stands between the braces of the function.
    pub(crate) body: String,
    /// How many fields are mapped.
    pub(crate) mapped: usize,
    /// Fields of the target that nothing was found for, and why.
    pub(crate) left: Vec<(String, &'static str)>,
}

const NOTHING: &str = "nothing of that name";
const OTHER: &str = "there is something of that name, but of another kind";

/// Maps what is obvious.
pub(crate) fn map(input: &Schema, output: &Schema) -> AutoMapped {
    let mut mapping = Mapping { mapped: 0, left: Vec::new() };
    let expression = match (&input.shape, &output.shape) {
        (Shape::List(from), Shape::List(to)) => mapping.items("input", "item", from, to, 0, ""),
        (Shape::Object(_), Shape::Object(to)) => {
            let source = Source::of(&input.shape, "input");
            Some(mapping.object(to, &source, 0, ""))
        }
        (_, to) => {
            let item = if let Shape::List(item) = to { item } else { to };
            let reason = if matches!(to, Shape::List(_)) {
                "the target is a list, the source is not"
            } else {
                "the source is a list, the target is not"
            };
            mapping.left.extend(item.fields().iter().map(|field| (field.name.clone(), reason)));
            None
        }
    };
    let body = match expression {
        Some(expression) => format!("return {expression};"),
        None => super::typescript::empty_body(output).to_owned(),
    };
    AutoMapped { body, mapped: mapping.mapped, left: mapping.left }
}

/// A value that fields are looked for in.
struct Source<'a> {
    /// The field, what leads to it, and its names from here on.
    found: Vec<(&'a Field, String, Vec<&'a str>)>,
}

impl<'a> Source<'a> {
    fn of(shape: &'a Shape, expression: &str) -> Self {
        let mut source = Self { found: Vec::new() };
        source.add(shape, expression, false, &[]);
        source
    }

    fn add(&mut self, shape: &'a Shape, expression: &str, is_optional: bool, names: &[&'a str]) {
        for field in shape.fields() {
            let inner = format!("{expression}{}", access(&field.name, is_optional));
            let names: Vec<&str> = names.iter().copied().chain([field.name.as_str()]).collect();
            let may_miss = is_optional || field.is_optional || field.shape.present() != &field.shape;
            self.found.push((field, inner.clone(), names.clone()));
            self.add(&field.shape, &inner, may_miss, &names);
        }
    }

    /// The field that a name means: one right here, one whose path says the name, or the only one of that name.
    fn named(
        &self,
        name: &str,
        fits: impl Fn(&Field) -> bool,
    ) -> Result<(&'a Field, &str, bool), &'static str> {
        let wanted = plain(name);
        let here = self
            .found
            .iter()
            .filter(|(_, _, names)| matches!(names.as_slice(), [only] if plain(only) == wanted));
        let by_path =
            self.found.iter().filter(|(_, _, names)| names.len() > 1 && plain(&names.concat()) == wanted);
        let by_name =
            self.found.iter().filter(|(field, _, names)| names.len() > 1 && plain(&field.name) == wanted);
        let mut reason = NOTHING;
        for several in [here.collect::<Vec<_>>(), by_path.collect(), by_name.collect()] {
            let fitting: Vec<_> = several.iter().filter(|(field, ..)| fits(field)).collect();
            match fitting.as_slice() {
                [(field, expression, names)] => {
                    let may_miss = field.is_optional || expression.contains("?.") && !names.is_empty();
                    return Ok((field, expression, may_miss));
                }
                [] if several.is_empty() => {}
                [] => reason = OTHER,
                _ => reason = "several have that name",
            }
        }
        Err(reason)
    }
}

struct Mapping {
    mapped: usize,
    left: Vec<(String, &'static str)>,
}

impl Mapping {
    /// An object literal with what was found.
    fn object(&mut self, to: &[Field], source: &Source<'_>, depth: usize, path: &str) -> String {
        let mut lines = Vec::new();
        for field in to {
            let here = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
            if let Some(value) = self.value(field, source, depth + 1, &here) {
                lines.push(format!("{}{}: {value}", "    ".repeat(depth + 1), key(&field.name)));
            }
        }
        if lines.is_empty() {
            return "{}".to_owned();
        }
        format!("{{\n{}\n{}}}", lines.join(",\n"), "    ".repeat(depth))
    }

    fn value(&mut self, to: &Field, source: &Source<'_>, depth: usize, path: &str) -> Option<String> {
        match to.shape.present() {
            Shape::Object(fields) => {
                // An object of that name is where its fields are looked for first; what is not there may be elsewhere.
                let inner = source.named(&to.name, |field| matches!(field.shape.present(), Shape::Object(_)));
                let before = (self.mapped, self.left.len());
                let literal = match inner {
                    Ok((field, expression, may_miss)) => {
                        let mut within = Source { found: Vec::new() };
                        within.add(&field.shape, expression, may_miss, &[]);
                        self.object(fields, &within, depth, path)
                    }
                    Err(_) => self.object(fields, source, depth, path),
                };
                if self.mapped == before.0 {
                    self.left.truncate(before.1);
                    self.left.push((path.to_owned(), NOTHING));
                    return None;
                }
                Some(literal)
            }
            Shape::List(item) => {
                let found = source.named(&to.name, |field| matches!(field.shape.present(), Shape::List(_)));
                match found {
                    Ok((field, expression, may_miss)) => {
                        let Shape::List(from) = field.shape.present() else { return None };
                        let dots = if may_miss { "?" } else { "" };
                        let name = format!("{}Item", camel(&field.name));
                        self.items(&format!("{expression}{dots}"), &name, from, item, depth, path)
                    }
                    Err(reason) => {
                        self.left.push((path.to_owned(), reason));
                        None
                    }
                }
            }
            leaf => match source.named(&to.name, |field| same(field.shape.present(), leaf)) {
                Ok((_, expression, _)) => {
                    self.mapped += 1;
                    Some(expression.to_owned())
                }
                Err(reason) => {
                    self.left.push((path.to_owned(), reason));
                    None
                }
            },
        }
    }

    /// A list from a list, item by item.
    fn items(
        &mut self,
        list: &str,
        name: &str,
        from: &Shape,
        to: &Shape,
        depth: usize,
        path: &str,
    ) -> Option<String> {
        let path = format!("{path}[]");
        if from.is_leaf() && to.is_leaf() {
            if same(from.present(), to.present()) {
                self.mapped += 1;
                return Some(list.trim_end_matches('?').to_owned());
            }
            self.left.push((path, OTHER));
            return None;
        }
        let (Shape::Object(_), Shape::Object(fields)) = (from.present(), to.present()) else {
            self.left.push((path, OTHER));
            return None;
        };
        let before = (self.mapped, self.left.len());
        let source = Source::of(from, name);
        let literal = self.object(fields, &source, depth + 1, &path);
        if self.mapped == before.0 {
            self.left.truncate(before.1);
            self.left.push((path, NOTHING));
            return None;
        }
        // A braced body with a return: what the build of data mappers reads.
        let indent = "    ".repeat(depth);
        Some(format!("{list}.map(({name}) => {{\n{indent}    return {literal};\n{indent}}})"))
    }
}

/// Whether a value of one shape can stand where the other is wanted.
fn same(from: &Shape, to: &Shape) -> bool {
    match (from, to) {
        (_, Shape::Any) => from.is_leaf(),
        (Shape::Exactly(_), Shape::Text) => {
            matches!(from, Shape::Exactly(values) if values.iter().all(serde_json::Value::is_string))
        }
        (Shape::Text, Shape::Exactly(_)) => false,
        (from, to) => from == to && *from != Shape::Any,
    }
}

/// A name without what people write differently.
fn plain(name: &str) -> String {
    let name = name.strip_prefix("attr_").unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A name for a variable.
fn camel(name: &str) -> String {
    let mut word = String::new();
    let mut upper = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            upper = !word.is_empty();
            continue;
        }
        if word.is_empty() {
            word.extend(c.to_lowercase());
        } else if upper {
            word.extend(c.to_uppercase());
        } else {
            word.push(c);
        }
        upper = false;
    }
    if word.starts_with(|c: char| c.is_alphabetic()) { word } else { format!("list{word}") }
}

#[cfg(test)]
mod tests;
