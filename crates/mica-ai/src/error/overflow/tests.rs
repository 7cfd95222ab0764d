//! The phrases, one row per server that uses them.

use super::{Sizes, find, in_text};

#[track_caller]
fn check(text: &str, sent: Option<u64>, limit: Option<u64>) {
    assert_eq!(in_text(text), Some(Sizes { limit, sent }), "{text}");
}

#[test]
fn phrases_with_numbers() {
    check("prompt is too long: 210040 tokens > 200000 maximum", Some(210_040), Some(200_000));
    check(
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
        Some(188_240),
        Some(200_000),
    );
    check(
        "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (8000 in the messages, 2000 in the completion).",
        Some(10_000),
        Some(8192),
    );
    check(
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (1 of text input).",
        Some(150_000),
        Some(131_072),
    );
    check(
        "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 20 input tokens (5000 > 4096 - 20).",
        Some(20),
        Some(4096),
    );
    check(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens.",
        Some(280_000),
        Some(272_000),
    );
    check(
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure",
        Some(5000),
        Some(4096),
    );
    check(
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        Some(5000),
        Some(4096),
    );
    check(
        "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5096 tokens: 4096 tokens from the input messages",
        Some(5096),
        Some(4096),
    );
    check(
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Some(537_812),
        Some(131_072),
    );
    check(
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Some(40_000),
        Some(32_768),
    );
    check(
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        Some(1_196_265),
        Some(1_048_575),
    );
    check(
        "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292. Try using a shorter prompt",
        Some(4292),
        Some(4081),
    );
    check(
        "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs. The limit for this model is 128000 tokens.",
        None,
        Some(128_000),
    );
    check("prompt token count of 130000 exceeds the limit of 128000", Some(130_000), Some(128_000));
    check("Invalid request: Your request exceeded model token limit: 131072", None, Some(131_072));
    check(
        "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
        Some(9000),
        Some(8192),
    );
    check("`inputs` must have less than 1000 tokens. Given: 1200", Some(1200), Some(1000));
    check(
        "InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
        None,
        Some(30_720),
    );
    check("maximum context length is 128,000 tokens", None, Some(128_000));
}

#[test]
fn phrases_without_numbers() {
    for text in [
        "Input is too long for requested model.",
        "Your input exceeds the context window of this model.",
        "Please reduce the length of the messages or completion.",
        "the request exceeds the available context size. try increasing the context size",
        "prompt too long; exceeded max context length by 12 tokens",
        "the input length exceeds the context length",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "invalid params, context window exceeds limit (2013)",
        "Prompt exceeds max length",
        "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
        "litellm.BadRequestError: context_length_exceeded",
    ] {
        check(text, None, None);
    }
}

#[test]
fn other_complaints_are_none() {
    for text in [
        "",
        "Too many tokens, please wait before trying again.",
        "The name is too long: 70 characters, at most 64",
        "string too long. Expected a string with maximum length 64",
        "Request timed out after 500 seconds; the queue is too long",
        "maximum context length is unknown",
        "prompt contains tokens",
    ] {
        assert_eq!(in_text(text), None, "{text}");
    }
}

#[test]
fn a_phrase_is_found_behind_a_false_start() {
    let text = "size is many, size is 12,345,678 of 9";
    assert_eq!(
        find("size is {sent} of {limit}", text),
        Some(Sizes { sent: Some(12_345_678), limit: Some(9) })
    );
    assert_eq!(find("size is {sent} of {limit}", "size is 99999999999999999999999 of 1"), None);
}
