//! Small HTTP exchanges with identity services: one request, one short answer, one deadline; and reading what they
//! say when they refuse.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::error::Reply;
use crate::transport::{HttpRequest, Transport};

/// Tokens and secrets are a few kilobytes; a vault allows 25. More is not an answer to what was asked.
const LONGEST_ANSWER: usize = 256 * 1024;

/// As much of a stranger's text as an error quotes.
const LONGEST_QUOTE: usize = 400;

/// A whole answer.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// There was no answer, and why. Not retried by the caller of the model: whoever exchanges decides.
pub(super) struct NoAnswer(pub(super) String);

/// A `GET` without a body.
pub(super) fn get(url: String) -> HttpRequest {
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    HttpRequest { method: Method::GET, url, headers, body: Bytes::new() }
}

/// A `POST` of form fields.
pub(super) fn post_form(url: String, fields: &[(&str, &str)]) -> HttpRequest {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let mut request = get(url);
    request.method = Method::POST;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    request.body = Bytes::from(body);
    request
}

/// Query parameters, encoded.
pub(super) fn query(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// A header value that does not print. `None` when the text has characters a header cannot carry.
pub(super) fn sensitive(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Sends a request and reads the whole answer, both within `limit`.
pub(super) async fn exchange(
    transport: &dyn Transport,
    request: HttpRequest,
    limit: Duration,
) -> Result<Answer, NoAnswer> {
    let whole = async {
        let response = transport.send(request).await?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = response.read(LONGEST_ANSWER).await?;
        Ok::<_, crate::AiError>(Answer { status, headers, body })
    };
    match tokio::time::timeout(limit, whole).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(NoAnswer(error.to_string())),
        Err(_) => Err(NoAnswer(format!("no answer within {} s", limit.as_secs_f32()))),
    }
}

/// Whether a secret may be sent there: over TLS, or to this machine itself.
pub(super) fn may_carry_secrets(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => matches!(host, "localhost" | "127.0.0.1" | "[::1]"),
        _ => false,
    }
}

impl Answer {
    /// The wait the answer asks for, in whole seconds.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// What a refusal says, with `secrets` blanked out in case the other side repeats what it was sent.
    pub(super) fn refusal(&self, secrets: &[&SecretString]) -> Box<Reply> {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or(Value::Null);
        let error = body.get("error").unwrap_or(&Value::Null);
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let said = text(&body, "error_description")
            .or_else(|| text(error, "message"))
            .or_else(|| text(&body, "message"))
            .or_else(|| text(&body, "Message"))
            .unwrap_or_else(|| self.plain_text());
        // Blanked before it is cut to length: half a secret would not be found any more.
        let clean = |text: &str| redact(text, secrets);
        let said = clean(&said);
        let (number, said) = split_aadsts(&said);
        let inner = error.get("innererror").unwrap_or(&Value::Null);
        let code = number
            .map(str::to_owned)
            .or_else(|| text(inner, "code"))
            .or_else(|| text(error, "code"))
            .or_else(|| error.as_str().map(str::to_owned));
        let request_id = text(&body, "correlation_id").or_else(|| {
            let header = self.headers.get("x-ms-request-id")?;
            Some(header.to_str().ok()?.to_owned())
        });
        Box::new(Reply {
            status: Some(self.status.as_u16()),
            code: code.as_deref().map(clean),
            message: quote(said),
            param: None,
            request_id: request_id.as_deref().map(clean),
        })
    }

    fn plain_text(&self) -> String {
        let text = String::from_utf8_lossy(&self.body);
        match text.trim() {
            "" => String::new(),
            // A page from a proxy or a portal says nothing a person could use here.
            page if page.starts_with('<') => "a web page instead of an answer".to_owned(),
            other => other.to_owned(),
        }
    }
}

/// Splits `AADSTS7000215: text` into its code and the text.
pub(super) fn split_aadsts(text: &str) -> (Option<&str>, &str) {
    if let Some((code, rest)) = text.split_once(':')
        && let Some(number) = code.strip_prefix("AADSTS")
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return (Some(code), rest.trim_start());
    }
    (None, text)
}

/// The first `AADSTS…` code anywhere in a text, for tools that wrap the words of the token endpoint in their own.
pub(super) fn find_aadsts(text: &str) -> Option<&str> {
    let rest = &text[text.find("AADSTS")?..];
    let digits = rest.bytes().skip(6).take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| &rest[..6 + digits])
}

/// The part of a message that says something: its first line, without the trace ids that follow, and not too long.
pub(super) fn quote(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line = line.split(" Trace ID:").next().unwrap_or(line);
    match line.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Blanks out secrets.
pub(super) fn redact(text: &str, secrets: &[&SecretString]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        let secret = secret.expose_secret();
        if secret.is_empty() {
            continue;
        }
        text = text.replace(secret, "[redacted]");
        // The form it travelled in, for answers that repeat the body they could not read.
        let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        text = text.replace(&encoded, "[redacted]");
    }
    text
}

#[cfg(test)]
mod tests;
