//! What an OpenAPI definition says that an API artifact needs: a context, and for each path and method its parameters and
//! an example of the answer.
//!
//! OpenAPI 3 and Swagger 2 are read, as JSON. References within the file are followed; others are left alone.

use serde_json::Value;

/// The largest definition that is read.
const LARGEST: usize = 16 << 20;
/// Operations that are taken at most.
const MOST: usize = 2_000;
/// How often a reference may lead to another.
const DEEPEST: usize = 16;
/// The methods that a resource can have.
const METHODS: [&str; 7] = ["get", "post", "put", "delete", "patch", "head", "options"];

/// An API as far as it is needed.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenApi {
    /// A name for the artifact.
    pub name: String,
    /// The path that all its resources lie under.
    pub context: String,
    /// What can be asked.
    pub operations: Vec<ApiOperation>,
    /// What was left out.
    pub notes: Vec<String>,
    /// The definition, as it was given.
    pub text: String,
}

/// One path with one method.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiOperation {
    /// The method, in capitals.
    pub method: String,
    /// The path, with names that the runtime can use.
    pub template: String,
    /// What it does.
    pub summary: String,
    /// What it takes, one row each.
    pub parameters: Vec<String>,
    /// The status of its answer when all is well.
    pub status: u16,
    /// The example of its answer, as JSON.
    pub example: Option<Value>,
}

/// Why a definition cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenApiError {
    /// It is YAML, or nothing at all.
    #[error(
        "the definition is not JSON ({reason}); YAML is not read: convert it first, for example with `yq -o=json api.yaml > api.json`"
    )]
    NotJson {
        /// What is wrong.
        reason: String,
    },
    /// It is too large.
    #[error("the definition has {size} bytes; {LARGEST} are read at most")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// It is something else.
    #[error("this is no OpenAPI definition: it has neither `openapi` nor `swagger`")]
    NotOpenApi,
    /// There is nothing to make of it.
    #[error("the definition has no path with a method that a resource can have")]
    Empty,
}

impl OpenApi {
    /// Reads a definition.
    ///
    /// # Errors
    /// [`OpenApiError`] when it is none.
    pub fn read(text: &str) -> Result<Self, OpenApiError> {
        if text.len() > LARGEST {
            return Err(OpenApiError::TooLarge { size: text.len() });
        }
        let text = text.trim_start_matches('\u{feff}');
        let whole: Value = serde_json::from_str(text)
            .map_err(|error| OpenApiError::NotJson { reason: error.to_string() })?;
        if whole.get("openapi").is_none() && whole.get("swagger").is_none() {
            return Err(OpenApiError::NotOpenApi);
        }
        let title = whole.pointer("/info/title").and_then(Value::as_str).unwrap_or("API");
        let name = artifact_name(title);
        let mut api = Self {
            context: context(&whole, &name),
            name,
            operations: Vec::new(),
            notes: Vec::new(),
            text: text.to_owned(),
        };
        let paths = whole.get("paths").and_then(Value::as_object).into_iter().flatten();
        for (path, item) in paths {
            let item = follow(&whole, item);
            let Some(methods) = item.as_object() else { continue };
            let template = template(path);
            let same = api.operations.iter().find(|one| shape(&one.template) == shape(&template));
            let twin = same.map(|one| one.template.clone()).filter(|other| *other != template);
            for (method, operation) in methods {
                if !METHODS.contains(&method.as_str()) {
                    if method == "trace" {
                        api.notes.push(format!("TRACE {path}: resources have no such method"));
                    }
                    continue;
                }
                if let Some(twin) = &twin {
                    api.notes.push(format!("{} {path}: {twin} is the same path", method.to_uppercase()));
                    continue;
                }
                if api.operations.len() >= MOST {
                    api.notes.push(format!("{} {path}: more than {MOST} operations", method.to_uppercase()));
                    continue;
                }
                api.operations.push(read_operation(&whole, item, operation, method, &template));
            }
        }
        if api.operations.is_empty() { Err(OpenApiError::Empty) } else { Ok(api) }
    }
}

fn read_operation(
    whole: &Value,
    item: &Value,
    operation: &Value,
    method: &str,
    template: &str,
) -> ApiOperation {
    let text = |name: &str| operation.get(name).and_then(Value::as_str);
    let summary = text("summary").or(text("operationId")).or(text("description")).unwrap_or_default();
    let (status, answer) = answer(whole, operation);
    ApiOperation {
        method: method.to_uppercase(),
        template: template.to_owned(),
        summary: summary.lines().next().unwrap_or_default().trim().to_owned(),
        parameters: parameters(whole, item, operation),
        status,
        example: answer.and_then(|answer| example(whole, answer)),
    }
}

/// What a path and its method take.
fn parameters(whole: &Value, item: &Value, operation: &Value) -> Vec<String> {
    let listed = |value: &Value| -> Vec<Value> {
        value.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut rows: Vec<String> = Vec::new();
    for one in listed(item).iter().chain(&listed(operation)) {
        let one = follow(whole, one);
        let text = |name: &str| one.get(name).and_then(Value::as_str);
        let (Some(name), Some(place)) = (text("name"), text("in")) else { continue };
        let schema = one.get("schema").map(|schema| follow(whole, schema));
        let kind =
            text("type").or_else(|| schema.and_then(|schema| schema.get("type")).and_then(Value::as_str));
        let needed = one.get("required").and_then(Value::as_bool).unwrap_or_default();
        let facts = [kind, needed.then_some("required")].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let facts = if facts.is_empty() { facts } else { format!(" ({facts})") };
        let row = format!("{place} {name}{facts}");
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    if operation.get("requestBody").is_some() {
        rows.push("body".to_owned());
    }
    rows
}

/// The answer when all is well: the lowest of the 200s, else the default.
fn answer<'a>(whole: &'a Value, operation: &'a Value) -> (u16, Option<&'a Value>) {
    let answers = operation.get("responses").and_then(Value::as_object);
    let good = answers.into_iter().flatten().filter_map(|(status, answer)| {
        let status = if status.eq_ignore_ascii_case("2xx") { 200 } else { status.parse::<u16>().ok()? };
        (200..300).contains(&status).then_some((status, answer))
    });
    match good.min_by_key(|(status, _)| *status) {
        Some((status, answer)) => (status, Some(follow(whole, answer))),
        None => (200, answers.and_then(|all| all.get("default")).map(|answer| follow(whole, answer))),
    }
}

/// The example of an answer, wherever the file has it.
fn example(whole: &Value, answer: &Value) -> Option<Value> {
    // Swagger 2 has examples by media type, OpenAPI 3 has media types with examples.
    let old = answer.get("examples").and_then(Value::as_object).and_then(json_type);
    if let Some(old) = old {
        return Some(old.clone());
    }
    let content = answer.get("content").and_then(Value::as_object).and_then(json_type);
    let schema = content.unwrap_or(answer).get("schema").map(|schema| follow(whole, schema));
    let named = content
        .and_then(|content| content.get("examples"))
        .and_then(Value::as_object)
        .and_then(|all| all.values().next())
        .map(|one| follow(whole, one));
    let direct = content.and_then(|content| content.get("example"));
    let of_schema = schema.and_then(|schema| {
        let list = schema.get("examples").and_then(Value::as_array).and_then(|all| all.first());
        schema.get("example").or(list)
    });
    direct.or_else(|| named.and_then(|named| named.get("value"))).or(of_schema).cloned()
}

/// The JSON among media types.
fn json_type(types: &serde_json::Map<String, Value>) -> Option<&Value> {
    let is_json = |kind: &str| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind == "application/json" || kind.ends_with("+json")
    };
    types.iter().find(|(kind, _)| is_json(kind)).map(|(_, value)| value)
}

/// What a reference within the file leads to.
fn follow<'a>(whole: &'a Value, value: &'a Value) -> &'a Value {
    let mut value = value;
    for _ in 0..DEEPEST {
        let Some(target) = value.get("$ref").and_then(Value::as_str) else { break };
        let Some(found) = target.strip_prefix('#').and_then(|pointer| whole.pointer(pointer)) else { break };
        value = found;
    }
    value
}

/// A name that an artifact and its file can have.
fn artifact_name(title: &str) -> String {
    let words = title.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| {
                format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
            })
        })
        .collect();
    let name: String = name.chars().take(64).collect();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("Api{name}") }
}

/// The path that all resources lie under: that of the first server, else the name.
fn context(whole: &Value, name: &str) -> String {
    let server = whole.pointer("/servers/0/url").and_then(Value::as_str);
    let path = whole.get("basePath").and_then(Value::as_str).or_else(|| {
        let server = server?;
        let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
        if server.starts_with('/') { Some(server) } else { rest.find('/').and_then(|at| rest.get(at..)) }
    });
    let path: String = path.unwrap_or_default().split(['?', '#']).next().unwrap_or_default().to_owned();
    let usable = |one: char| one.is_ascii_alphanumeric() || "/-_.~".contains(one);
    let path = path.trim_end_matches('/');
    if path.len() > 1 && path.starts_with('/') && path.chars().all(usable) && !path.contains("//") {
        path.to_owned()
    } else {
        format!("/{}", name.to_lowercase())
    }
}

/// A path with names of variables that the runtime can use.
fn template(path: &str) -> String {
    let mut result = String::new();
    let mut rest = path;
    while let Some((before, inner)) = rest.split_once('{') {
        let (name, after) = inner.split_once('}').unwrap_or((inner, ""));
        let name: String = name
            .chars()
            .map(|one| if one.is_ascii_alphanumeric() || one == '_' { one } else { '_' })
            .collect();
        result.push_str(before);
        result.push_str(&format!("{{{name}}}"));
        rest = after;
    }
    result.push_str(rest);
    if result.starts_with('/') { result } else { format!("/{result}") }
}

/// A path without the names of its variables: two of the same shape are one resource.
fn shape(template: &str) -> String {
    let mut result = String::new();
    let mut inside = false;
    for one in template.chars() {
        match one {
            '{' => inside = true,
            '}' => {
                inside = false;
                result.push('*');
            }
            other if !inside => result.push(other),
            _ => {}
        }
    }
    result
}

#[cfg(test)]
mod tests;
