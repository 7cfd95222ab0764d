//! The many ways to say that a conversation is too long, with the numbers some of them give.
//!
//! Only few servers have a code for it. The texts are matched whole phrase by whole phrase: a phrase that a rate
//! limit could use, such as "too many tokens" alone, is not among them.

use serde_json::Value;

/// Tokens the model takes and tokens that were sent, as far as they were said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) limit: Option<u64>,
    pub(super) sent: Option<u64>,
}

/// Phrases in lower case. `{limit}` and `{sent}` stand for numbers, `{}` for one that does not matter, and `*` for
/// anything in between. Those with numbers come before those they contain.
const PHRASES: &[&str] = &[
    // Claude.
    "prompt is too long: {sent} tokens > {limit} maximum",
    "prompt is too long",
    "input length and `max_tokens` exceed context limit: {sent} + {} > {limit}",
    "input length and `max_tokens` exceed context limit",
    // OpenAI, Azure, and those who copied the words: DeepSeek, OpenRouter, vLLM, Groq.
    "maximum context length is {limit} tokens. however, you requested about {sent} tokens",
    "maximum context length is {limit} tokens. however, you requested {sent} tokens",
    "maximum context length is {limit} tokens. however, your messages resulted in {sent} tokens",
    "maximum context length is {limit} tokens. however, your request has {sent} input tokens",
    "maximum context length is {limit} tokens and your request has {sent} input tokens",
    "maximum context length of {limit} tokens. you requested a total of {sent} tokens",
    "maximum context length is {limit} tokens",
    "input tokens exceed the configured limit of {limit} tokens. your messages resulted in {sent} tokens",
    "input tokens exceed the configured limit of {limit} tokens",
    "exceeds the context window",
    "reduce the length of the messages or completion. current length is {sent} while limit is {limit}",
    "reduce the length of the messages",
    "context_length_exceeded",
    // vLLM and SGLang.
    "prompt (length {sent}) is longer than the maximum model length of {limit}",
    "the input ({sent} tokens) is longer than the model's context length ({limit} tokens)",
    // llama.cpp, Ollama, LM Studio.
    "request ({sent} tokens) exceeds the available context size ({limit} tokens)",
    "exceeds the available context size",
    "prompt too long; exceeded max context length",
    "input length exceeds the context length",
    "tokens to keep from the initial prompt is greater than the context length",
    // Text Generation Inference.
    "`inputs` tokens + `max_new_tokens` must be <= {limit}. given: {sent} `inputs` tokens",
    "`inputs` must have less than {limit} tokens. given: {sent}",
    // Others, by name: xAI, Mistral, Gemini, Bedrock (twice), Cohere (twice), GitHub, Kimi, MiniMax, Z.ai, Qwen.
    "maximum prompt length is {limit} but the request contains {sent}",
    "prompt contains {sent} tokens*too large for model with {limit} maximum context length",
    "too large for model with {limit} maximum context length",
    "input token count ({sent}) exceeds the maximum number of tokens allowed ({limit})",
    "input token count exceeds the maximum number of tokens allowed",
    "input is too long for requested model",
    "number of input tokens exceeds maximum length",
    "total number of tokens in the prompt cannot exceed {limit} - received {sent}",
    "too many tokens: size limit exceeded*limit for this model is {limit} tokens",
    "prompt token count of {sent} exceeds the limit of {limit}",
    "exceeded model token limit: {limit}",
    "context window exceeds limit",
    "prompt exceeds max length",
    "range of input length should be [1, {limit}]",
];

/// A single request that is larger than a whole minute's quota. Waiting does not help, shortening does.
const LARGER_THAN_QUOTA: &str = "request too large for *tokens per min*limit {limit}, requested {sent}";

/// Whether a text says that the conversation is too long, and what sizes it gives.
pub(super) fn in_text(text: &str) -> Option<Sizes> {
    let text = text.to_ascii_lowercase();
    PHRASES.iter().find_map(|phrase| find(phrase, &text))
}

/// Whether a rate limit can never be met by this request, however long one waits.
pub(super) fn in_rate_limit(text: &str) -> Option<Sizes> {
    find(LARGER_THAN_QUOTA, &text.to_ascii_lowercase())
}

/// The sizes in members of their own: llama.cpp.
pub(super) fn in_members(error: &Value) -> Sizes {
    Sizes { limit: error["n_ctx"].as_u64(), sent: error["n_prompt_tokens"].as_u64() }
}

/// Finds a phrase anywhere in a text.
fn find(phrase: &str, text: &str) -> Option<Sizes> {
    let first = &phrase[..phrase.find(['{', '*']).unwrap_or(phrase.len())];
    text.match_indices(first).find_map(|(at, _)| follow(phrase, &text[at..]))
}

/// Follows a phrase from the beginning of a text.
fn follow(phrase: &str, text: &str) -> Option<Sizes> {
    let (mut phrase, mut text) = (phrase, text);
    let mut sizes = Sizes::default();
    while !phrase.is_empty() {
        if let Some(rest) = phrase.strip_prefix('*') {
            let literal = &rest[..rest.find(['{', '*']).unwrap_or(rest.len())];
            text = &text[text.find(literal)?..];
            phrase = rest;
        } else if let Some(rest) = phrase.strip_prefix('{') {
            let (slot, after) = rest.split_once('}')?;
            let (number, left) = leading_number(text)?;
            match slot {
                "limit" => sizes.limit = Some(number),
                "sent" => sizes.sent = Some(number),
                _ => {}
            }
            (phrase, text) = (after, left);
        } else {
            let literal = &phrase[..phrase.find(['{', '*']).unwrap_or(phrase.len())];
            text = text.strip_prefix(literal)?;
            phrase = &phrase[literal.len()..];
        }
    }
    Some(sizes)
}

/// A number at the beginning of a text, with or without commas, and what follows it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let mut end = 0;
    for (at, byte) in text.bytes().enumerate() {
        let grouped = byte == b',' && text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
        if !byte.is_ascii_digit() && !grouped {
            break;
        }
        end = at + 1;
    }
    let number = text[..end].replace(',', "").parse().ok()?;
    Some((number, &text[end..]))
}

#[cfg(test)]
mod tests;
