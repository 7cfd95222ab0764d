//! Every error seen on the three wires, and what it must come to.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::{Value, json};

use super::{Asked, in_stream, response};
use crate::error::{AiError, hits_text};

const NOW: Duration = Duration::from_secs(1_784_980_800);

fn asked() -> Asked {
    Asked {
        model: "gpt-deployment".to_owned(),
        tried: "api key".to_owned(),
        hint: "check the key".to_owned(),
        host: "example.openai.azure.com".to_owned(),
    }
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect()
}

fn fail(status: u16, pairs: &[(&'static str, &'static str)], body: &[u8]) -> AiError {
    let status = StatusCode::from_u16(status).unwrap();
    response(status, &headers(pairs), body, &asked(), SystemTime::UNIX_EPOCH + NOW)
}

/// The kind, and what matters about it.
fn summary(error: &AiError) -> String {
    let kind = error.kind();
    let number = |value: &Option<u64>| value.map_or("?".to_owned(), |value| value.to_string());
    match error {
        AiError::RateLimited { after, .. } | AiError::Overloaded { after, .. } => match after {
            Some(after) => format!("{kind} after {after:?}"),
            None => kind.to_owned(),
        },
        AiError::ContextOverflow { limit, sent, .. } => format!("{kind} {}/{}", number(sent), number(limit)),
        AiError::ContentFiltered { categories, .. } => format!("{kind} {}", hits_text(categories)),
        AiError::Auth { hint, .. } => {
            format!("{kind}: {}", hint.split(' ').take(4).collect::<Vec<_>>().join(" "))
        }
        AiError::NotFound { model, .. } => format!("{kind} {model}"),
        AiError::BadRequest { reply } => match &reply.param {
            Some(param) => format!("{kind} {param}"),
            None => kind.to_owned(),
        },
        _ => kind.to_owned(),
    }
}

#[track_caller]
fn check(status: u16, pairs: &[(&'static str, &'static str)], body: &Value, expected: &str) {
    assert_eq!(summary(&fail(status, pairs, body.to_string().as_bytes())), expected);
}

#[track_caller]
fn check_stream(error: &Value, expected: &str) {
    assert_eq!(summary(&in_stream(error)), expected);
}

fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message } })
}

fn claude(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
}

#[test]
fn azure_credentials() {
    let denied = "Access denied due to invalid subscription key or wrong API endpoint.";
    check(401, &[], &error("401", denied), "auth: check the key");
    check(401, &[], &json!({ "statusCode": 401, "message": "Unauthorized" }), "auth: check the key");
    check(
        403,
        &[],
        &error("403", "Access denied due to Virtual Network/Firewall rules."),
        "auth: The resource's network rules",
    );
    check(
        403,
        &[],
        &error("AccessDenied", "Public access is disabled. Use a private endpoint."),
        "auth: The resource's network rules",
    );
    check(
        403,
        &[],
        &error("ResourceSuspended", "The resource has been suspended."),
        "auth: The resource or its",
    );
    check(
        401,
        &[],
        &error(
            "PermissionDenied",
            "The principal lacks the required data action `Microsoft.CognitiveServices/accounts/OpenAI/responses/write`.",
        ),
        "auth: The identity is known",
    );
    check(
        403,
        &[],
        &error("AuthenticationTypeDisabled", "Key based authentication is disabled for this resource."),
        "auth: This resource takes no",
    );
    let AiError::Auth { tried, .. } = fail(401, &[], b"") else {
        panic!("an empty 401 is about the credential")
    };
    assert_eq!(tried, "api key");
}

#[test]
fn names_that_do_not_exist() {
    let message = "The API deployment for this resource does not exist. If you created the deployment within the \
                   last 5 minutes, please wait a moment and try again.";
    check(404, &[], &error("DeploymentNotFound", message), "not_found gpt-deployment");
    check(404, &[], &error("404", "Resource not found"), "not_found gpt-deployment");
    check(
        404,
        &[],
        &json!({ "error": { "message": "The model `x` does not exist or you do not have access to it.", "type": "invalid_request_error", "param": null, "code": "model_not_found" } }),
        "not_found gpt-deployment",
    );
    check(
        403,
        &[],
        &error("model_not_found", "Project does not have access to model x"),
        "not_found gpt-deployment",
    );
    check(404, &[], &claude("not_found_error", "model: claude-x"), "not_found gpt-deployment");
    check(404, &[], &json!({ "error": "model 'llama9' not found" }), "not_found gpt-deployment");
    check(400, &[], &error("unknown_model", "Unknown model: x"), "not_found gpt-deployment");
    check_stream(&json!({ "code": "model_not_found", "message": "no" }), "not_found the model");
}

#[test]
fn rate_limits_and_their_waits() {
    let body = error(
        "429",
        "Requests to the Creation Operation have exceeded the token rate limit of your current pricing tier. Please retry after 6 seconds.",
    );
    check(429, &[("retry-after-ms", "1500"), ("retry-after", "2")], &body, "rate_limited after 1.5s");
    check(429, &[("retry-after", "2")], &body, "rate_limited after 2s");
    check(429, &[("retry-after", "86400")], &body, "rate_limited after 86400s");
    check(429, &[], &body, "rate_limited after 6s");
    check(
        429,
        &[("retry-after", "Sat, 25 Jul 2026 12:00:30 GMT"), ("date", "Sat, 25 Jul 2026 12:00:00 GMT")],
        &body,
        "rate_limited after 30s",
    );
    check(
        429,
        &[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")],
        &error("rate_limit_exceeded", "Rate limit reached"),
        "rate_limited after 360s",
    );
    check(
        429,
        &[],
        &claude("rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit"),
        "rate_limited",
    );
    check(
        429,
        &[],
        &json!([{ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "You exceeded your current quota, please check your plan and billing details.", "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s" }] } }]),
        "rate_limited after 37s",
    );
    check(429, &[], &json!({}), "rate_limited");
    assert_eq!(summary(&fail(429, &[], b"")), "rate_limited");
}

#[test]
fn rate_limits_are_not_misread() {
    // Each of these says something that belongs to another kind of error.
    for message in [
        "Your prompts were too long in total this minute: limit 500 requests. Please slow down.",
        "Too many tokens, please wait before trying again.",
        "Rate limit: 500 requests per minute; maximum context length is 8192 tokens for burst traffic",
        "The prompt is too long for the remaining quota of this minute (503 tokens left)",
    ] {
        check(429, &[], &error("rate_limit_exceeded", message), "rate_limited");
        check(429, &[], &json!({ "message": message }), "rate_limited");
        check_stream(&json!({ "code": "rate_limit_exceeded", "message": message }), "rate_limited");
    }
}

#[test]
fn limits_that_waiting_does_not_meet() {
    // More in one request than a minute allows: shorten. The same code as any other rate limit.
    check(
        429,
        &[("retry-after", "3")],
        &error(
            "rate_limit_exceeded",
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 45,210. The input or output tokens must be reduced in order to run successfully.",
        ),
        "context_overflow 45210/30000",
    );
    check(
        413,
        &[],
        &error(
            "rate_limit_exceeded",
            "Request too large for model `llama` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again.",
        ),
        "context_overflow 7012/6000",
    );
}

#[test]
fn money() {
    let quota = json!({ "error": { "message": "You exceeded your current quota, please check your plan and billing details.", "type": "insufficient_quota", "param": null, "code": "insufficient_quota" } });
    check(429, &[("retry-after", "1")], &quota, "billing");
    check(
        400,
        &[],
        &claude(
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
        ),
        "billing",
    );
    check(
        402,
        &[],
        &json!({ "error": { "message": "Insufficient Balance", "type": "unknown_error", "code": "invalid_request_error" } }),
        "billing",
    );
    check(
        403,
        &[],
        &claude("billing_error", "There is an issue with your organization's billing."),
        "billing",
    );
    check_stream(&json!({ "type": "insufficient_quota", "message": "quota" }), "billing");
}

#[test]
fn their_side() {
    let server = json!({ "error": { "message": "The server had an error while processing your request. Sorry about that!", "type": "server_error", "param": null, "code": null } });
    check(500, &[], &server, "overloaded");
    check(503, &[("retry-after", "20")], &error("ServiceUnavailable", "busy"), "overloaded after 20s");
    // The counters are on every answer; they are no wait for a failure.
    check(
        500,
        &[("x-ratelimit-reset-tokens", "6m0s"), ("x-ratelimit-remaining-tokens", "0")],
        &server,
        "overloaded",
    );
    check(
        429,
        &[],
        &error("429", "The system is currently experiencing high demand and cannot process your request."),
        "overloaded",
    );
    check(
        429,
        &[],
        &json!({ "error": { "type": "engine_overloaded_error", "message": "The engine is currently overloaded, please try again later" } }),
        "overloaded",
    );
    check(
        503,
        &[],
        &json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } }),
        "overloaded",
    );
    check(529, &[], &claude("overloaded_error", "Overloaded"), "overloaded");
    check(500, &[], &claude("api_error", "Internal server error"), "overloaded");
    check(504, &[], &claude("timeout_error", "Request timed out."), "overloaded");
    check(504, &[], &claude("gateway_timeout_error", "upstream"), "overloaded");
    for status in [408, 409, 425, 500, 502, 503, 504, 520, 529, 599] {
        assert_eq!(summary(&fail(status, &[], b"")), "overloaded", "{status}");
    }
    check(
        501,
        &[],
        &json!({ "error": { "code": 501, "message": "This feature is not supported", "type": "not_supported_error" } }),
        "bad_request",
    );
}

#[test]
fn content_filters() {
    check(
        400,
        &[],
        &json!({ "error": { "message": "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", "type": null, "param": "prompt", "code": "content_filter", "status": 400, "innererror": { "code": "ResponsibleAIPolicyViolation", "content_filter_result": {
            "hate": { "filtered": false, "severity": "safe" },
            "jailbreak": { "filtered": true, "detected": true },
            "self_harm": { "filtered": false, "severity": "low" },
            "violence": { "filtered": true, "severity": "medium" } } } } }),
        "content_filtered jailbreak, violence (medium)",
    );
    check(
        400,
        &[],
        &json!({ "error": { "message": "filtered", "type": "invalid_request_error", "param": "prompt", "code": "content_filter", "content_filters": [{ "blocked": true, "source_type": "prompt", "content_filter_results": {
            "jailbreak": { "detected": true, "filtered": true }, "custom_blocklists": [{ "filtered": true, "id": "names" }], "sexual": { "filtered": false, "severity": "safe" } } }] } }),
        "content_filtered jailbreak, custom_blocklists",
    );
    check_stream(&json!({ "code": "content_filter", "message": "filtered" }), "content_filtered ");
    check(
        400,
        &[],
        &error(
            "invalid_prompt",
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        ),
        "content_filtered ",
    );
}

#[test]
fn reasoning_that_is_no_longer_good() {
    check(
        400,
        &[],
        &json!({ "error": { "message": "Item with id 'rs_68af' not found. Items are not persisted when `store` is set to false.", "type": "invalid_request_error", "param": "input", "code": null } }),
        "stale_reasoning",
    );
    check(
        404,
        &[],
        &json!({ "error": { "message": "Item with id 'rs_68af' not found.", "type": "invalid_request_error" } }),
        "stale_reasoning",
    );
    check(
        400,
        &[],
        &json!({ "error": { "message": "Item 'rs_1' of type 'reasoning' was provided without its required following item.", "type": "invalid_request_error" } }),
        "stale_reasoning",
    );
    check(
        400,
        &[],
        &error("invalid_encrypted_content", "The encrypted content gAAA could not be verified."),
        "stale_reasoning",
    );
    check(
        400,
        &[],
        &json!({ "error": { "message": "The encrypted content gAAA... could not be verified. Reason: Encrypted content organization_id did not match.", "type": "invalid_request_error" } }),
        "stale_reasoning",
    );
    check(
        400,
        &[],
        &claude("invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block"),
        "stale_reasoning",
    );
    check(
        400,
        &[],
        &claude(
            "invalid_request_error",
            "messages.3.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
        ),
        "stale_reasoning",
    );
    check_stream(&json!({ "code": "previous_response_not_found", "message": "gone" }), "stale_reasoning");
}

#[test]
fn conversations_that_are_too_long() {
    let too_long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9,000 tokens. Please reduce the length of the messages.";
    check(
        400,
        &[],
        &json!({ "error": { "message": too_long, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded" } }),
        "context_overflow 9000/8192",
    );
    check(
        400,
        &[],
        &error(
            "context_length_exceeded",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        "context_overflow ?/?",
    );
    check(
        400,
        &[],
        &claude("invalid_request_error", "prompt is too long: 210040 tokens > 200000 maximum"),
        "context_overflow 210040/200000",
    );
    check(413, &[], &claude("request_too_large", "Request exceeds the maximum size"), "context_overflow ?/?");
    check(
        400,
        &[],
        &json!({ "error": { "code": 400, "message": "request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 5012, "n_ctx": 4096 } }),
        "context_overflow 5012/4096",
    );
    check(
        500,
        &[],
        &json!({ "error": { "code": 500, "message": "the request exceeds the available context size. try increasing the context size or enable context shift", "type": "server_error" } }),
        "context_overflow ?/?",
    );
    check(
        400,
        &[],
        &json!({ "object": "error", "message": "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.", "type": "BadRequestError", "param": null, "code": 400 }),
        "context_overflow 5000/4096",
    );
    check(
        422,
        &[],
        &json!({ "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`", "error_type": "validation" }),
        "context_overflow 4000/4096",
    );
    check(
        400,
        &[],
        &json!({ "error": "prompt too long; exceeded max context length by 1200 tokens" }),
        "context_overflow ?/?",
    );
    check(
        400,
        &[],
        &json!({ "object": "error", "message": { "detail": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length" }, "type": "invalid_request_error", "code": 3051 }),
        "context_overflow 40000/32768",
    );
    assert_eq!(summary(&fail(413, &[], b"")), "context_overflow ?/?");
    assert_eq!(
        summary(&fail(413, &[], b"<html><head><title>413 Request Entity Too Large</title></head></html>")),
        "context_overflow ?/?"
    );
    check_stream(
        &json!({ "type": "error", "code": "context_length_exceeded", "message": "too long" }),
        "context_overflow ?/?",
    );
    check_stream(
        &json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 5 tokens > 4 maximum" } }),
        "context_overflow 5/4",
    );
}

#[test]
fn a_bare_400_is_an_overflow_only_from_hosts_known_for_it() {
    let at = |host: &str| {
        let asked = Asked { host: host.to_owned(), ..asked() };
        summary(&response(StatusCode::BAD_REQUEST, &HeaderMap::new(), b" \n", &asked, SystemTime::UNIX_EPOCH))
    };
    assert_eq!(at("api.cerebras.ai"), "context_overflow ?/?");
    assert_eq!(at("api.mistral.ai"), "context_overflow ?/?");
    assert_eq!(at("example.com"), "bad_request");
    assert_eq!(at("notmistral.ai"), "bad_request");
    assert_eq!(at(""), "bad_request");
}

#[test]
fn wrong_requests() {
    check(
        400,
        &[],
        &json!({ "error": { "message": "Unsupported parameter: 'temperature' is not supported with this model.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_parameter" } }),
        "bad_request temperature",
    );
    check(
        400,
        &[],
        &json!({ "error": { "message": "Unknown parameter: 'prompt_cache_options'.", "type": "invalid_request_error", "param": "prompt_cache_options", "code": "unknown_parameter" } }),
        "bad_request prompt_cache_options",
    );
    check(400, &[], &claude("invalid_request_error", "max_tokens: Field required"), "bad_request");
    check(
        422,
        &[],
        &json!({ "detail": [{ "loc": ["body", "messages"], "msg": "field required", "type": "value_error.missing" }] }),
        "bad_request",
    );
    check(418, &[], &json!({}), "bad_request");
    check(
        400,
        &[],
        &error(
            "OperationNotSupported",
            "The chatCompletion operation does not work with the specified model, x.",
        ),
        "bad_request",
    );
    check_stream(&json!({ "type": "invalid_request_error", "message": "no" }), "bad_request");
}

#[test]
fn errors_inside_a_stream() {
    check_stream(&json!({ "type": "overloaded_error", "message": "Overloaded" }), "overloaded");
    check_stream(
        &json!({ "type": "server_error", "code": "server_error", "message": "sorry" }),
        "overloaded",
    );
    check_stream(
        &json!({ "code": "rate_limit_exceeded", "message": "Rate limit reached for gpt-5 on tokens per min. Please try again in 1.898s." }),
        "rate_limited after 1.898s",
    );
    check_stream(
        &json!({ "type": "too_many_requests", "code": "too_many_requests", "message": "Please retry after 6 seconds." }),
        "rate_limited after 6s",
    );
    // A wait in the text of anything but a rate limit is not one.
    check_stream(
        &json!({ "type": "server_error", "message": "Please retry after 6 seconds." }),
        "overloaded",
    );
    check_stream(&json!({ "code": 429, "message": "Provider returned error" }), "rate_limited");
    check_stream(&json!({ "code": 502, "message": "Upstream error" }), "overloaded");
    check_stream(&json!({ "code": "401", "message": "no" }), "auth: ");
    check_stream(&json!("boom"), "overloaded");
    check_stream(&json!({ "message": "never heard of" }), "overloaded");
    check_stream(&json!({ "code": "never_heard_of", "message": "x" }), "overloaded");
    check_stream(
        &json!({ "type": "error", "code": null, "message": "x", "sequence_number": 3 }),
        "overloaded",
    );
    check_stream(
        &json!({ "code": 400, "message": "Provider returned error", "metadata": { "raw": "{\"error\":\"prompt is too long: 5 tokens > 4 maximum\"}" } }),
        "context_overflow 5/4",
    );
    check_stream(&Value::Null, "overloaded");
    check_stream(&json!([]), "overloaded");
}

#[test]
fn words_for_people() {
    let message = |status: u16, body: &[u8]| match fail(status, &[], body) {
        AiError::Overloaded { reply, .. } | AiError::BadRequest { reply } => reply.message,
        other => panic!("{other:?}"),
    };
    let page = b"<!DOCTYPE html><html><head><style>p{color:red}</style><title>502 Bad Gateway</title></head><body><h1>x</h1></body></html>";
    assert_eq!(message(502, page), "502 Bad Gateway");
    let untitled =
        b"<html><body><script>alert(1)</script><h1>Gateway</h1>\n<p>Timed &amp; out</p></body></html>";
    assert_eq!(message(504, untitled), "Gateway Timed & out");
    assert_eq!(message(500, b"upstream connect error"), "upstream connect error");
    assert_eq!(message(500, b"caf\xe9"), "caf\u{fffd}");
    assert_eq!(message(500, b""), "");
    assert_eq!(
        message(422, br#"{"detail":[{"msg":"field required"},{"msg":"too short"}]}"#),
        "field required; too short"
    );
    let huge = message(500, "ü".repeat(100_000).as_bytes());
    assert_eq!((huge.len(), huge.ends_with("ü…")), (2048 + "…".len(), true));
    let huge = serde_json::to_vec(&json!({ "error": { "message": "x".repeat(1 << 20) } })).unwrap();
    assert_eq!(message(400, &huge).chars().count(), 2049);
}

#[test]
fn request_ids() {
    let id = |pairs: &[(&'static str, &'static str)], body: &[u8]| match fail(500, pairs, body) {
        AiError::Overloaded { reply, .. } => reply.request_id,
        other => panic!("{other:?}"),
    };
    assert_eq!(id(&[("x-request-id", "a"), ("apim-request-id", "b")], b"").as_deref(), Some("a"));
    assert_eq!(id(&[("apim-request-id", "b")], b"").as_deref(), Some("b"));
    assert_eq!(id(&[("request-id", "c")], b"").as_deref(), Some("c"));
    assert_eq!(id(&[], claude("api_error", "x").to_string().as_bytes()).as_deref(), Some("req_1"));
    assert_eq!(id(&[], b""), None);
}

#[test]
fn a_reply_reads_well() {
    let limited = fail(429, &[], error("429", "Slow down.").to_string().as_bytes());
    assert_eq!(limited.to_string(), "rate limited: HTTP 429: Slow down.");
    let error =
        fail(404, &[("apim-request-id", "b")], error("DeploymentNotFound", "No.").to_string().as_bytes());
    assert_eq!(
        error.to_string(),
        "\"gpt-deployment\" not found: HTTP 404 DeploymentNotFound: No. [request b]"
    );
}

proptest::proptest! {
    #[test]
    fn any_answer_has_a_meaning(status in 300u16..600, body: Vec<u8>, wait in "\\PC{0,20}") {
        let mut headers = HeaderMap::new();
        for name in ["retry-after-ms", "retry-after", "x-ratelimit-reset-tokens", "anthropic-ratelimit-tokens-reset"] {
            if let Ok(value) = HeaderValue::from_str(&wait) {
                headers.insert(name, value);
            }
        }
        let status = StatusCode::from_u16(status).unwrap();
        let error = response(status, &headers, &body, &asked(), SystemTime::UNIX_EPOCH + NOW);
        assert!(!error.for_user().is_empty());
    }

    #[test]
    fn any_page_and_any_words_are_read(words in "[<>a-z/ &;!={}\"0-9]{0,200}", prefix in "prompt is too long: |try again in |<title|<") {
        let text = format!("{prefix}{words}");
        fail(400, &[], text.as_bytes());
        in_stream(&json!({ "code": "rate_limit_exceeded", "message": text }));
    }
}
