//! What an OpenAPI definition says that an API artifact needs: a context, and for each path and method its parameters and
//! an example of the answer.
//!
//! OpenAPI 3 and Swagger 2 are read, as JSON or as YAML. References within the file are followed; others are left alone.

use std::collections::HashMap;

use serde_json::Value;

mod sample;

/// The largest definition that is read.
const LARGEST: usize = 16 << 20;
/// Operations that are taken at most.
const MOST: usize = 2_000;
/// How often a reference may lead to another.
const DEEPEST: usize = 16;
/// The methods that a resource can have.
const METHODS: [&str; 7] = ["get", "post", "put", "delete", "patch", "head", "options"];

/// Letters with marks, and what is written for them.
const FOLDED: [(&str, &str); 46] = [
    ("ä", "ae"),
    ("ö", "oe"),
    ("ü", "ue"),
    ("ß", "ss"),
    ("Ä", "Ae"),
    ("Ö", "Oe"),
    ("Ü", "Ue"),
    ("ẞ", "SS"),
    ("æ", "ae"),
    ("Æ", "Ae"),
    ("œ", "oe"),
    ("Œ", "Oe"),
    ("þ", "th"),
    ("Þ", "Th"),
    ("àáâãåāăą", "a"),
    ("ÀÁÂÃÅĀĂĄ", "A"),
    ("çćč", "c"),
    ("ÇĆČ", "C"),
    ("ďđð", "d"),
    ("ĎĐÐ", "D"),
    ("èéêëēėęě", "e"),
    ("ÈÉÊËĒĖĘĚ", "E"),
    ("ğģ", "g"),
    ("ĞĢ", "G"),
    ("ìíîïīįı", "i"),
    ("ÌÍÎÏĪĮİ", "I"),
    ("ķ", "k"),
    ("Ķ", "K"),
    ("łļľ", "l"),
    ("ŁĻĽ", "L"),
    ("ñńņň", "n"),
    ("ÑŃŅŇ", "N"),
    ("òóôõøōő", "o"),
    ("ÒÓÔÕØŌŐ", "O"),
    ("řŕ", "r"),
    ("ŘŔ", "R"),
    ("śšşș", "s"),
    ("ŚŠŞȘ", "S"),
    ("ťţț", "t"),
    ("ŤŢȚ", "T"),
    ("ùúûūůűų", "u"),
    ("ÙÚÛŪŮŰŲ", "U"),
    ("ýÿ", "y"),
    ("ÝŸ", "Y"),
    ("źżž", "z"),
    ("ŹŻŽ", "Z"),
];

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
    /// It begins like JSON, and is not.
    #[error("the definition is not JSON: {reason}")]
    NotJson {
        /// What is wrong, and where.
        reason: String,
    },
    /// It is neither JSON nor YAML.
    #[error("the definition is not YAML: {reason}")]
    NotYaml {
        /// What is wrong, and where.
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
        let whole = parsed(text)?;
        if whole.get("openapi").is_none() && whole.get("swagger").is_none() {
            return Err(OpenApiError::NotOpenApi);
        }
        let title = whole.pointer("/info/title").and_then(Value::as_str).unwrap_or("API");
        let name = artifact_name(title);
        let (context, note) = context(&whole, &name);
        let mut api = Self {
            context,
            name,
            operations: Vec::new(),
            notes: note.into_iter().collect(),
            text: text.to_owned(),
        };
        let mut taken: HashMap<(String, String), String> = HashMap::new();
        let paths = whole.get("paths").and_then(Value::as_object).into_iter().flatten();
        for (path, item) in paths {
            let item = follow(&whole, item);
            let Some(methods) = item.as_object() else { continue };
            let template = template(path);
            let shape = shape(&template);
            for (method, operation) in methods {
                if !METHODS.contains(&method.as_str()) {
                    if method == "trace" {
                        api.notes.push(format!("TRACE {path}: resources have no such method"));
                    }
                    continue;
                }
                let key = (method.clone(), shape.clone());
                if let Some(twin) = taken.get(&key) {
                    api.notes.push(format!("{} {path}: {twin} is the same path", method.to_uppercase()));
                    continue;
                }
                if api.operations.len() >= MOST {
                    api.notes.push(format!("{} {path}: more than {MOST} operations", method.to_uppercase()));
                    continue;
                }
                taken.insert(key, template.clone());
                api.operations.push(read_operation(&whole, item, operation, method, &template));
            }
        }
        // The runtime takes the first resource that matches, so the more exact ones come first.
        api.operations.sort_by_cached_key(|one| openness(&one.template));
        if api.operations.is_empty() { Err(OpenApiError::Empty) } else { Ok(api) }
    }
}

/// The definition as a tree. What begins like JSON is held to JSON, whose errors are clearer; all else is YAML, where
/// anchors are followed and everything that could grow is bounded.
fn parsed(text: &str) -> Result<Value, OpenApiError> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text)
            .map_err(|error| OpenApiError::NotJson { reason: error.to_string() });
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let reason = error.without_snippet().to_string();
        // What a programmer could set is nothing to whoever wrote the definition.
        let reason = reason
            .lines()
            .next()
            .unwrap_or_default()
            .replace(", set DuplicateKeyPolicy in Options if acceptable", "");
        OpenApiError::NotYaml { reason }
    })
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

/// The example of an answer, wherever the file has it; else one that its schema allows.
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
    let shown = direct.or_else(|| named.and_then(|named| named.get("value"))).or(of_schema).cloned();
    shown.or_else(|| sample::sample(whole, content.unwrap_or(answer).get("schema")?))
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
    let title = folded(title);
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

/// A text in which letters with marks are such as every file name can have.
fn folded(text: &str) -> String {
    let mut result = String::new();
    for one in text.chars() {
        // A mark of its own, as some systems write letters: two dots over a vowel are an umlaut.
        if one == '\u{308}' && result.ends_with(['a', 'o', 'u', 'A', 'O', 'U']) {
            result.push('e');
        } else if let Some((_, plain)) = FOLDED.iter().find(|(marked, _)| marked.contains(one)) {
            result.push_str(plain);
        } else if !('\u{300}'..='\u{36f}').contains(&one) {
            result.push(one);
        }
    }
    result
}

/// The path that all resources lie under: that of the first server, else the name. With a note when the server has a
/// path that cannot be used.
fn context(whole: &Value, name: &str) -> (String, Option<String>) {
    let server = whole.pointer("/servers/0/url").and_then(Value::as_str);
    let said = whole.get("basePath").and_then(Value::as_str).or(server).unwrap_or_default();
    let filled = fill(said, whole.pointer("/servers/0/variables"));
    let path = match filled.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)),
        None => filled.find('/').and_then(|at| filled.get(at..)),
    };
    let path = path.unwrap_or_default().split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let usable = |one: char| one.is_ascii_alphanumeric() || "/-_.~".contains(one);
    if path.len() > 1 && path.chars().all(usable) && !path.contains("//") {
        return (path.to_owned(), None);
    }
    let own = format!("/{}", name.to_lowercase());
    let why = match (path.is_empty(), path.contains('{')) {
        (true, _) => None,
        (false, true) => Some("it has a variable without a default"),
        (false, false) => Some("a context cannot have it"),
    };
    let note = why.map(|why| format!("the path of {said}: {why}; the API lies under {own}"));
    (own, note)
}

/// The address of a server with the defaults of its variables.
fn fill(address: &str, variables: Option<&Value>) -> String {
    let mut result = String::new();
    let mut rest = address;
    while let Some((before, inner)) = rest.split_once('{') {
        result.push_str(before);
        let Some((name, after)) = inner.split_once('}') else {
            result.push('{');
            rest = inner;
            continue;
        };
        let default = variables.and_then(|all| all.get(name)).and_then(|one| one.get("default"));
        match default {
            Some(Value::String(text)) => result.push_str(text),
            // A version is often written as a number, though only texts are allowed.
            Some(Value::Number(number)) => result.push_str(&number.to_string()),
            _ => result.push_str(&format!("{{{name}}}")),
        }
        rest = after;
    }
    result.push_str(rest);
    result
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
        result.push_str(&encoded(before));
        result.push_str(&format!("{{{name}}}"));
        rest = after;
    }
    result.push_str(&encoded(rest));
    if result.starts_with('/') { result } else { format!("/{result}") }
}

/// A piece of a path as requests have it: what an address cannot have, such as a blank, is encoded.
fn encoded(piece: &str) -> String {
    let mut result = String::new();
    for byte in piece.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte) {
            result.push(char::from(byte));
        } else {
            result.push_str(&format!("%{byte:02X}"));
        }
    }
    result
}

/// How much a path leaves open, part by part: nothing, some of the part, or all of it.
fn openness(template: &str) -> Vec<u8> {
    let open = |part: &str| match (part.contains('{'), part.starts_with('{') && part.ends_with('}')) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => 2,
    };
    template.split('/').map(open).collect()
}

/// A path without the names of its variables: two of the same shape and method are one resource.
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
