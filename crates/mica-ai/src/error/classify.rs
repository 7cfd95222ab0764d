//! Tells what a provider's failure means: from the status, headers and body of a response, or from an error event
//! inside a stream. Decisions are made on statuses, codes and types; texts are read only for what has no code.

use std::time::SystemTime;

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::body::Said;
use super::codes::{self, Meaning};
use super::overflow::{self, Sizes};
use super::{AiError, FilterHit, Reply, hints};

/// What was asked, for the texts of an error.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// The deployment or model.
    pub model: String,
    /// The credential and scope that were used; never its value.
    pub tried: String,
    /// What to do when the credential is not accepted.
    pub hint: String,
    /// The host that was asked. Some hosts say things by saying nothing.
    pub host: String,
}

/// Hosts that answer a conversation that is too long with a bare 400.
const SILENT_ON_OVERFLOW: &[&str] = &["cerebras.ai", "mistral.ai"];

/// What to do about refusals that no other credential would help with, by what their texts hold.
const REFUSALS: &[(&str, &str)] = &[
    ("virtual network", NETWORK_RULE),
    ("firewall", NETWORK_RULE),
    ("public access is disabled", NETWORK_RULE),
    ("private endpoint", NETWORK_RULE),
    ("suspended", SUSPENDED),
    ("subscription is disabled", SUSPENDED),
    ("data action", ROLE),
    ("does not have access", ROLE),
    ("key based authentication is disabled", "This resource takes no keys: sign in with an identity."),
    ("country, region, or territory", "The provider does not serve the region this request came from."),
];
const NETWORK_RULE: &str = "The resource's network rules keep this machine out: allow its address there, or use the private endpoint.";
const SUSPENDED: &str = "The resource or its subscription is suspended: ask whoever administers it.";
const ROLE: &str = "The identity is known but may not call models: give it the role \"Cognitive Services OpenAI User\" on the \
     resource and allow some minutes for it to take effect.";

/// The error of a response whose status is not a success. `now` is for waits that are given as dates by servers
/// that do not say what time it is for them.
pub fn response(
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    asked: &Asked,
    now: SystemTime,
) -> AiError {
    let said = Said::in_body(body);
    let status = status.as_u16();
    let is_empty = body.iter().all(u8::is_ascii_whitespace);
    let meaning = if status == 400 && is_empty && is_silent_on_overflow(&asked.host) {
        Meaning::Overflow
    } else {
        meaning(&said, Some(status)).unwrap_or(Meaning::BadRequest)
    };
    let after = match meaning {
        Meaning::RateLimited => {
            hints::wait(headers, now).or_else(|| hints::in_error(&said.object, &said.message))
        }
        // The headers that count quotas are on every answer, and say nothing about a failure.
        _ => hints::outright(headers, now),
    };
    let reply = Reply {
        status: Some(status),
        request_id: request_id(headers).or(said.request_id.clone()),
        ..reply(&said)
    };
    error(meaning, &said, reply, after, asked)
}

/// The error of an error event inside a stream. `error` is the object that holds `code` or `type`, and `message`;
/// `asked` is not known here, so authorisation errors carry no credential.
///
/// What is not known is taken as a failure on the provider's side: it had accepted the request.
pub fn in_stream(error_object: &Value) -> AiError {
    let said = Said::in_value(error_object);
    let meaning = meaning(&said, said.status).unwrap_or(Meaning::Overloaded);
    let after = match meaning {
        Meaning::RateLimited => hints::in_error(&said.object, &said.message),
        _ => None,
    };
    error(meaning, &said, reply(&said), after, &Asked::default())
}

/// What a content filter found: the categories that are `filtered` or `detected`. Takes the object that has a
/// member for each category.
pub(crate) fn filter_hits(results: &Value) -> Vec<FilterHit> {
    let struck = |result: &Value| result["filtered"] == true || result["detected"] == true;
    let Some(results) = results.as_object() else {
        return Vec::new();
    };
    results
        .iter()
        .filter(|(_, result)| struck(result) || result.as_array().is_some_and(|all| all.iter().any(struck)))
        .map(|(category, result)| FilterHit {
            category: category.clone(),
            severity: result["severity"].as_str().map(str::to_owned),
        })
        .collect()
}

fn is_silent_on_overflow(host: &str) -> bool {
    SILENT_ON_OVERFLOW
        .iter()
        .filter_map(|known| host.strip_suffix(known))
        .any(|rest| rest.is_empty() || rest.ends_with('.'))
}

fn meaning(said: &Said, status: Option<u16>) -> Option<Meaning> {
    let coded = said.codes.iter().find_map(|code| codes::meaning(code));
    if status == Some(429) || coded == Some(Meaning::RateLimited) {
        return Some(limited(said, coded));
    }
    if codes::is_vague(coded)
        && !matches!(status, Some(401..=403))
        && let Some(told) = told(&said.message)
    {
        return Some(told);
    }
    // A vague code says less than the status does.
    match coded {
        Some(coded) if !codes::is_vague(Some(coded)) => Some(coded),
        vague => status.and_then(by_status).or(vague),
    }
}

/// What a rate limit means. Not every one passes by waiting, and not every one is about a quota.
fn limited(said: &Said, coded: Option<Meaning>) -> Meaning {
    let text = said.message.to_ascii_lowercase();
    match coded {
        Some(Meaning::Billing) => Meaning::Billing,
        Some(Meaning::Overloaded) => Meaning::Overloaded,
        _ if overflow::in_rate_limit(&text).is_some() => Meaning::Overflow,
        _ if text.contains("high demand") || text.contains("overloaded") => Meaning::Overloaded,
        _ => Meaning::RateLimited,
    }
}

/// What the words of an error mean, where codes do not say it.
fn told(message: &str) -> Option<Meaning> {
    let text = message.to_ascii_lowercase();
    let has = |needle: &str| text.contains(needle);
    if (has("rs_") && (has("not found") || has("without its required")))
        || (has("encrypted content") && (has("could not be verified") || has("could not be decrypted")))
        || has("invalid `signature` in `thinking` block")
        || has("`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified")
    {
        return Some(Meaning::Stale);
    }
    if overflow::in_text(&text).is_some() {
        return Some(Meaning::Overflow);
    }
    if has("credit balance is too low") {
        return Some(Meaning::Billing);
    }
    None
}

fn by_status(status: u16) -> Option<Meaning> {
    Some(match status {
        401 | 403 => Meaning::Auth,
        402 => Meaning::Billing,
        404 | 410 => Meaning::NotFound,
        413 => Meaning::Overflow,
        429 => Meaning::RateLimited,
        // 408, 409 and 425: a lock or a wait of theirs ran out; the request is as good as before. What a server has
        // not implemented (501, 505) it will not have next time.
        408 | 409 | 425 | 500 | 502..=504 | 506..=599 => Meaning::Overloaded,
        400..=599 => Meaning::BadRequest,
        _ => return None,
    })
}

fn error(
    meaning: Meaning,
    said: &Said,
    reply: Reply,
    after: Option<std::time::Duration>,
    asked: &Asked,
) -> AiError {
    let reply = Box::new(reply);
    match meaning {
        Meaning::RateLimited => AiError::RateLimited { after, reply },
        Meaning::Overloaded => AiError::Overloaded { after, reply },
        Meaning::Overflow => {
            let members = overflow::in_members(&said.object);
            let text = overflow::in_text(&said.message)
                .or_else(|| overflow::in_rate_limit(&said.message))
                .unwrap_or_default();
            let Sizes { limit, sent } =
                Sizes { limit: members.limit.or(text.limit), sent: members.sent.or(text.sent) };
            AiError::ContextOverflow { limit, sent, reply }
        }
        Meaning::Filtered => AiError::ContentFiltered { categories: all_hits(&said.object), reply },
        Meaning::Auth => {
            let text = said.message.to_ascii_lowercase();
            let known = REFUSALS.iter().find(|(needle, _)| text.contains(needle)).map(|(_, hint)| *hint);
            let hint = known.unwrap_or(&asked.hint).to_owned();
            AiError::Auth { tried: or_else(&asked.tried, "the credential"), hint, reply }
        }
        Meaning::NotFound => AiError::NotFound { model: or_else(&asked.model, "the model"), reply },
        Meaning::Stale => AiError::StaleReasoning { reply },
        Meaning::Billing => AiError::Billing { reply },
        Meaning::BadRequest => AiError::BadRequest { reply },
    }
}

/// What a content filter found, from the places where Azure puts it.
fn all_hits(error: &Value) -> Vec<FilterHit> {
    let inner = &error["innererror"];
    let nested = error["content_filters"].as_array().into_iter().flatten();
    let mut hits: Vec<FilterHit> = [inner, error]
        .into_iter()
        .chain(nested)
        .flat_map(|holder| [&holder["content_filter_result"], &holder["content_filter_results"]])
        .flat_map(filter_hits)
        .collect();
    let mut seen = std::collections::HashSet::new();
    hits.retain(|hit| seen.insert(hit.category.clone()));
    hits
}

fn reply(said: &Said) -> Reply {
    Reply {
        status: None,
        code: said.codes.first().cloned(),
        message: said.message.clone(),
        param: said.param.clone(),
        request_id: said.request_id.clone(),
    }
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    ["x-request-id", "apim-request-id", "request-id"]
        .iter()
        .filter_map(|name| headers.get(*name)?.to_str().ok())
        .find(|id| !id.is_empty())
        .map(str::to_owned)
}

fn or_else(text: &str, instead: &str) -> String {
    if text.is_empty() { instead.to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
