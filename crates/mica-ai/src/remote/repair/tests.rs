//! One table of refusals and what is done about them.

use serde_json::json;

use super::*;
use crate::error::Reply;

fn refused(message: &str, param: Option<&str>) -> AiError {
    let mut reply = Reply::local(message);
    reply.param = param.map(str::to_owned);
    AiError::BadRequest { reply }
}

#[test]
fn a_parameter_the_server_does_not_know_is_dropped_once() {
    let mut body = json!({ "model": "m", "prompt_cache_key": "k", "input": [] });
    let mut repairs = Repairs::default();
    let error = refused("Unknown parameter: 'prompt_cache_key'.", Some("prompt_cache_key"));
    assert_eq!(repairs.next(&error, &mut body), Some(Repair::Body));
    assert_eq!(body, json!({ "model": "m", "input": [] }));
    assert_eq!(repairs.next(&error, &mut body), None);
}

#[test]
fn the_parameter_may_be_named_in_the_text_alone() {
    let mut body = json!({ "temperature": 0.5, "model": "m" });
    let error = refused("`temperature` is deprecated for this model.", None);
    assert_eq!(Repairs::default().next(&error, &mut body), Some(Repair::Body));
    assert_eq!(body, json!({ "model": "m" }));
}

#[test]
fn a_setting_inside_thinking_is_dropped_alone() {
    let mut body = json!({ "thinking": { "type": "adaptive", "display": "summarized" } });
    let error = refused("thinking.adaptive.display: Extra inputs are not permitted", None);
    assert_eq!(Repairs::default().next(&error, &mut body), Some(Repair::Body));
    assert_eq!(body, json!({ "thinking": { "type": "adaptive" } }));
}

#[test]
fn a_parameter_that_was_not_sent_is_no_repair() {
    let mut body = json!({ "model": "m" });
    let error = refused("Unsupported value: temperature", None);
    assert_eq!(Repairs::default().next(&error, &mut body), None);
}

#[test]
fn a_word_inside_another_is_not_the_parameter() {
    let mut body = json!({ "temperature": 1, "model": "m" });
    let error = refused("my_temperature_field is wrong", None);
    assert_eq!(Repairs::default().next(&error, &mut body), None);
}

#[test]
fn breakpoints_are_taken_off_every_block_and_nowhere_else() {
    let mark = json!({ "mode": "explicit" });
    let mut body = json!({
        "prompt_cache_options": { "mode": "explicit" },
        "input": [
            { "role": "user", "content": [
                { "type": "input_text", "text": "prompt_cache_breakpoint", "prompt_cache_breakpoint": mark }] },
            { "type": "function_call_output", "output": [
                { "type": "input_text", "text": "b", "prompt_cache_breakpoint": mark }] },
        ],
    });
    let error = refused("Unknown parameter", Some("input[0].content[0].prompt_cache_breakpoint"));
    assert_eq!(Repairs::default().next(&error, &mut body), Some(Repair::Body));
    assert_eq!(
        body,
        json!({ "input": [
            { "role": "user", "content": [{ "type": "input_text", "text": "prompt_cache_breakpoint" }] },
            { "type": "function_call_output", "output": [{ "type": "input_text", "text": "b" }] },
        ] })
    );
}

#[test]
fn reasoning_and_credentials_are_tried_again_once() {
    let mut body = json!({});
    let mut repairs = Repairs::default();
    let stale = AiError::StaleReasoning { reply: Reply::local("rs_1 not found") };
    assert_eq!(repairs.next(&stale, &mut body), Some(Repair::WithoutReasoning));
    assert_eq!(repairs.next(&stale, &mut body), None);
    let mut reply = Reply::local("expired");
    reply.status = Some(401);
    let auth = AiError::Auth { tried: "a token".into(), hint: String::new(), reply };
    assert_eq!(repairs.next(&auth, &mut body), Some(Repair::FreshCredential));
    assert_eq!(repairs.next(&auth, &mut body), None);
}

#[test]
fn other_errors_are_not_repaired() {
    for error in
        [AiError::Cancelled, AiError::ContextOverflow { limit: None, sent: None, reply: Reply::local("") }]
    {
        assert_eq!(Repairs::default().next(&error, &mut json!({})), None);
    }
}
