//! The file of a mapping: interfaces and a function, laid out as the editor of data mappers reads and writes them.

use mica_script::outline::{FunctionOutline, Outline, TypeOutline, TypeShape};
use mica_script::{ScriptError, outline};
use serde_json::Value;

use super::extent::Extent;
use super::shape::{Field, Shape};
use super::{Kind, Schema};

/// The function that maps.
pub(crate) const FUNCTION: &str = "mapFunction";

const INDENT: &str = "    ";

/// Writes the file of a mapping. The body is what stands between the braces of its function, indented or not.
pub(crate) fn write(input: &Schema, output: &Schema, body: &str) -> String {
    let from = type_name(&input.title);
    let mut to = type_name(&output.title);
    if from == to {
        to = format!("Output{to}");
    }
    let list = |schema: &Schema, name: &str| match schema.shape {
        Shape::List(_) => format!("{name}[]"),
        _ => name.to_owned(),
    };
    format!(
        "import * as dmUtils from \"./dm-utils\";\ndeclare var DM_PROPERTIES: any;\n\n{}\n{}\n\n\n/**\n * functionName : \
         map_S_{}_S_{}\n * inputVariable : input{}\n*/\nexport function {FUNCTION}(input: {}): {} {{\n{}\n}}\n\n",
        interface(input, &from, "inputType"),
        interface(output, &to, "outputType"),
        input.title,
        output.title,
        input.title,
        list(input, &from),
        list(output, &to),
        indented(body),
    )
}

/// What a mapping returns before anybody has mapped anything.
pub(crate) fn empty_body(output: &Schema) -> &'static str {
    if matches!(output.shape, Shape::List(_)) { "return []" } else { "return {}" }
}

/// A body with the indentation of a function, keeping that of its lines to each other. Texts in backticks may go over
/// several lines, whose blanks are theirs: such a body stays as it is.
pub(crate) fn indented(body: &str) -> String {
    if body.contains('`') {
        return body.trim_matches('\n').trim_end().to_owned();
    }
    let lines: Vec<&str> = body.trim_matches('\n').trim_end().lines().collect();
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let least = lines.iter().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let lines = lines.iter().map(|line| match line.get(least..) {
        Some(rest) if !rest.trim().is_empty() => format!("{INDENT}{}", rest.trim_end()),
        _ => String::new(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn interface(schema: &Schema, name: &str, kind: &str) -> String {
    let mut text = format!(
        "/*\n* title : {},\n* {kind} : \"{}\",\n",
        Value::from(schema.title.as_str()),
        schema.kind.name()
    );
    if !schema.namespaces.is_empty() {
        let each = schema.namespaces.iter().map(|(prefix, url)| {
            format!(
                "{{\"prefix\": {}, \"url\": {}}}",
                Value::from(prefix.as_str()),
                Value::from(url.as_str())
            )
        });
        text += &format!("* namespaces :[{}]\n", each.collect::<Vec<_>>().join(","));
    }
    // Nothing that a sample says may end the comment.
    let text = text.replace("*/", "* /");
    let root = match &schema.shape {
        Shape::List(item) => item,
        other => other,
    };
    let mut body = String::new();
    members(root.fields(), 1, &mut body);
    format!("{text}*/\ninterface {name} {{\n{body}}}\n")
}

fn members(fields: &[Field], depth: usize, text: &mut String) {
    for field in fields {
        let optional = if field.is_optional { "?" } else { "" };
        text.push_str(&INDENT.repeat(depth));
        text.push_str(&format!("{}{optional}: {}\n", key(&field.name), type_of(&field.shape, depth)));
    }
}

fn type_of(shape: &Shape, depth: usize) -> String {
    match shape {
        Shape::Any => "any".to_owned(),
        Shape::Text => "string".to_owned(),
        Shape::Number => "number".to_owned(),
        Shape::Truth => "boolean".to_owned(),
        Shape::Null => "null".to_owned(),
        Shape::Exactly(values) => union(values.iter().map(Value::to_string)),
        Shape::OneOf(shapes) => union(shapes.iter().map(|shape| type_of(shape, depth))),
        Shape::List(item) => format!("{}[]", type_of(item, depth)),
        Shape::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Shape::Object(fields) => {
            let mut text = "{\n".to_owned();
            members(fields, depth + 1, &mut text);
            format!("{text}{}}}", INDENT.repeat(depth))
        }
    }
}

fn union(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(" | ")),
    }
}

/// A name as a key of an object: in quotes when it is no word.
pub(crate) fn key(name: &str) -> String {
    if is_word(name) { name.to_owned() } else { Value::from(name).to_string() }
}

/// The field of a value.
pub(crate) fn access(name: &str, is_optional: bool) -> String {
    match (is_word(name), is_optional) {
        (true, false) => format!(".{name}"),
        (true, true) => format!("?.{name}"),
        (false, false) => format!("[{}]", Value::from(name)),
        (false, true) => format!("?.[{}]", Value::from(name)),
    }
}

fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

/// The interface of a title: `ns1:employees` is `Employees`.
fn type_name(title: &str) -> String {
    let local = title.rsplit(':').next().unwrap_or(title);
    let mut name = String::new();
    let mut upper = true;
    for c in local.chars() {
        if !(c.is_alphanumeric() || c == '_') {
            upper = true;
            continue;
        }
        if upper {
            name.extend(c.to_uppercase());
        } else {
            name.push(c);
        }
        upper = false;
    }
    if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        name.insert_str(0, "Root");
    }
    name
}

/// A mapping that is there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MappingFile {
    pub(crate) input: Schema,
    pub(crate) output: Schema,
    pub(crate) function: FunctionOutline,
}

/// Why a file is no mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MappingError {
    #[error("{}", .0.for_model())]
    Script(ScriptError),
    #[error("it has no function {FUNCTION}")]
    NoFunction,
    #[error("its {FUNCTION} does not say {0}")]
    NoType(&'static str),
}

/// Reads the file of a mapping, whoever wrote it.
pub(crate) fn read(source: &str, name: &str) -> Result<MappingFile, MappingError> {
    let outline = outline(source, name).map_err(MappingError::Script)?;
    let function = outline.functions.iter().find(|function| function.name == FUNCTION);
    let function = function.cloned().ok_or(MappingError::NoFunction)?;
    let from =
        function.parameters.first().and_then(Option::as_ref).ok_or(MappingError::NoType("what it takes"))?;
    let to = function.returns.as_ref().ok_or(MappingError::NoType("what it returns"))?;
    let input = schema(from, &outline, "inputType");
    let output = schema(to, &outline, "outputType");
    Ok(MappingFile { input, output, function })
}

fn schema(shape: &TypeShape, outline: &Outline, kind: &str) -> Schema {
    let named = match shape {
        TypeShape::Named(name) => Some(name),
        TypeShape::List(item) => match item.as_ref() {
            TypeShape::Named(name) => Some(name),
            _ => None,
        },
        _ => None,
    };
    let found = named.and_then(|name| outline.types.iter().find(|one| one.name == *name));
    let comment = found.and_then(|found| found.comment.as_deref()).unwrap_or_default();
    let title = said(comment, "title").or_else(|| named.cloned()).unwrap_or_else(|| "root".to_owned());
    let kind = said(comment, kind).and_then(|name| Kind::named(&name)).unwrap_or(Kind::Json);
    Schema::new(
        &title,
        kind,
        Types { all: &outline.types, extent: Extent::default() }.resolved(shape, &mut Vec::new()),
    )
}

/// What a comment says of a name: `* title : "root",`.
fn said(comment: &str, name: &str) -> Option<String> {
    comment.lines().find_map(|line| {
        let rest =
            line.trim().trim_start_matches('*').trim().strip_prefix(name)?.trim_start().strip_prefix(':')?;
        let value = rest.trim().trim_end_matches(',').trim_matches('"');
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// The types of a file.
struct Types<'a> {
    all: &'a [TypeOutline],
    extent: Extent,
}

impl Types<'_> {
    fn resolved(&self, shape: &TypeShape, through: &mut Vec<String>) -> Shape {
        // Types that use others twice, and those twice again, would never end.
        let Ok(_within) = self.extent.enter() else { return Shape::Any };
        match shape {
            TypeShape::String => Shape::Text,
            TypeShape::Number => Shape::Number,
            TypeShape::Boolean => Shape::Truth,
            TypeShape::Null => Shape::Null,
            TypeShape::Any => Shape::Any,
            TypeShape::Exactly(value) => Shape::Exactly(vec![value.clone()]),
            TypeShape::List(item) => self.resolved(item, through).list(),
            TypeShape::OneOf(shapes) => shapes
                .iter()
                .map(|shape| self.resolved(shape, through))
                .reduce(Shape::or)
                .unwrap_or(Shape::Any),
            TypeShape::Object(members) => Shape::Object(
                members
                    .iter()
                    .map(|member| Field {
                        name: member.name.clone(),
                        shape: self.resolved(&member.shape, through),
                        is_optional: member.is_optional,
                    })
                    .collect(),
            ),
            TypeShape::Named(name) => {
                let found = self.all.iter().find(|one| one.name == *name).filter(|_| !through.contains(name));
                let Some(found) = found else { return Shape::Any };
                through.push(name.clone());
                let shape = self.resolved(&found.shape, through);
                through.pop();
                shape
            }
        }
    }
}

#[cfg(test)]
mod tests;
