//! Reads what a provider says in an error: the shapes of three dialects, of the gateways before them and of the
//! frameworks beneath them.

use serde_json::Value;

/// Texts longer than this are cut: they are for people, and some servers send a page or the whole request back.
const LONGEST: usize = 2 << 10;

/// What an error says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Codes and types, the most telling first.
    pub(super) codes: Vec<String>,
    /// A status, where it is in the body.
    pub(super) status: Option<u16>,
    /// The words.
    pub(super) message: String,
    /// The parameter complained about.
    pub(super) param: Option<String>,
    /// The request's id, where it is in the body.
    pub(super) request_id: Option<String>,
    /// The error object itself, for what only some errors have.
    pub(super) object: Value,
}

impl Said {
    /// Reads the body of a response.
    pub(super) fn in_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        match serde_json::from_str::<Value>(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => Self::in_value(&value),
            _ if text.starts_with('<') => Self { message: cut(words_of_page(text)), ..Self::default() },
            _ => Self { message: cut(text), ..Self::default() },
        }
    }

    /// Reads a JSON value: the error object, or what it is wrapped in.
    pub(super) fn in_value(value: &Value) -> Self {
        let outer = match value {
            // Google wraps its errors in a list.
            Value::Array(items) => items.first().unwrap_or(value),
            other => other,
        };
        let error = match outer.get("error") {
            Some(inner @ (Value::Object(_) | Value::String(_))) => inner,
            _ => outer,
        };
        let inner = error.get("innererror").unwrap_or(&Value::Null);
        let codes = [&error["code"], &inner["code"], &error["type"], &error["status"], &outer["code"]];
        let mut message = words(error).or_else(|| words(outer)).unwrap_or_else(|| value.to_string());
        if let Some(raw) = error["metadata"]["raw"].as_str() {
            // OpenRouter says only that there was an error, and puts the words of the server behind it here.
            message = format!("{message}: {raw}");
        }
        Self {
            codes: codes
                .into_iter()
                .filter_map(Value::as_str)
                .filter(|code| is_telling(code))
                .map(cut)
                .collect(),
            status: [&error["code"], &error["status"], &error["status_code"], &outer["statusCode"]]
                .into_iter()
                .find_map(as_status),
            message: cut(message),
            param: error["param"].as_str().filter(|param| !param.is_empty()).map(cut),
            request_id: outer["request_id"].as_str().map(cut),
            object: error.clone(),
        }
    }
}

/// Whether a code says more than that there was an error, or its status again.
fn is_telling(code: &str) -> bool {
    !code.is_empty() && code != "error" && !code.bytes().all(|byte| byte.is_ascii_digit())
}

fn as_status(value: &Value) -> Option<u16> {
    let number = match value {
        Value::Number(number) => u16::try_from(number.as_u64()?).ok()?,
        Value::String(text) => text.parse().ok()?,
        _ => return None,
    };
    (400..600).contains(&number).then_some(number)
}

/// The words of an error, wherever they are.
fn words(error: &Value) -> Option<String> {
    let said = match error {
        Value::String(text) => return Some(text.clone()),
        Value::Object(_) => ["message", "detail", "msg", "error_description"].iter().find_map(|key| {
            let member = &error[*key];
            (!member.is_null() && member != "").then_some(member)
        })?,
        _ => return None,
    };
    match said {
        Value::String(text) => Some(text.clone()),
        // FastAPI: a list of what did not validate.
        Value::Array(items) => {
            let each: Vec<String> =
                items.iter().map(|item| words(item).unwrap_or_else(|| item.to_string())).collect();
            Some(each.join("; "))
        }
        nested => words(nested).or_else(|| Some(nested.to_string())),
    }
}

/// The words of an HTML page: its title, or its text without markup. Gateways answer with pages.
fn words_of_page(page: &str) -> String {
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|start| {
        let from = start + lower[start..].find('>')? + 1;
        let to = from + lower[from..].find("</title")?;
        page.get(from..to)
    });
    let mut text = String::new();
    let mut rest = title.filter(|title| !title.trim().is_empty()).unwrap_or(page);
    while !rest.is_empty() {
        let (words, markup) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        text.push_str(words);
        text.push(' ');
        let tag = markup.get(..8).unwrap_or(markup).to_ascii_lowercase();
        let end = match tag.as_str() {
            _ if tag.starts_with("<script") => "</script>",
            _ if tag.starts_with("<style") => "</style>",
            _ => ">",
        };
        rest = markup.find(end).map_or("", |at| &markup[at + end.len()..]);
    }
    for (entity, character) in
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
    {
        text = text.replace(entity, character);
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(200).collect()
}

/// A text of bearable length.
fn cut(text: impl AsRef<str>) -> String {
    let text = text.as_ref().trim();
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut end = LONGEST;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
