//! Thinking, tool choice, sampling and the output format.

use serde_json::{Value, json};

use super::{
    answer, built, call, check, model, refusal, request, result, said, thought, tool, with_model, words,
};
use crate::message::{Content, ResultStatus, Seal};
use crate::model::{Effort, Parameter};
use crate::request::{OutputFormat, ParallelCalls, Request, Thoughts, ToolChoice};

fn asked(style: &str, effort: Effort) -> Request {
    Request { effort: Some(effort), ..request(style, vec![said("u1", "Hello")]) }
}

/// The members that thinking decides.
fn settings(request: &Request) -> Value {
    let body = built(request);
    let effort = body.get("output_config").and_then(|config| config.get("effort")).cloned();
    json!([body["max_tokens"], body.get("thinking").cloned(), effort])
}

#[test]
fn every_effort_on_an_adaptive_model() {
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    for (effort, sent) in [
        (Effort::Minimal, "low"),
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Xhigh, "xhigh"),
        (Effort::Max, "max"),
    ] {
        assert_eq!(settings(&asked("adaptive", effort)), json!([8000, adaptive, sent]), "{effort}");
    }
    check("effort_adaptive", &asked("adaptive", Effort::High));
    let mut unseen = asked("adaptive", Effort::High);
    unseen.thoughts = Thoughts::Hidden;
    assert_eq!(settings(&unseen), json!([8000, { "type": "adaptive", "display": "omitted" }, "high"]));
}

#[test]
fn no_effort_on_an_adaptive_model() {
    assert_eq!(settings(&asked("adaptive", Effort::None)), json!([8000, { "type": "disabled" }, null]));
    let refuses = with_model(asked("adaptive", Effort::None), |model| {
        model.rejects = vec![Parameter::ThinkingDisabled];
    });
    assert_eq!(settings(&refuses), json!([8000, null, null]));
    assert_eq!(settings(&request("adaptive", vec![said("u1", "Hello")])), json!([8000, null, null]));
}

#[test]
fn every_effort_on_a_budget_model() {
    for (effort, budget) in [
        (Effort::Minimal, 1024),
        (Effort::Low, 2048),
        (Effort::Medium, 8192),
        (Effort::High, 16_384),
        (Effort::Xhigh, 16_384),
        (Effort::Max, 16_384),
    ] {
        let thinking = json!({ "type": "enabled", "budget_tokens": budget });
        assert_eq!(settings(&asked("budget", effort)), json!([8000 + budget, thinking, null]), "{effort}");
    }
    assert_eq!(settings(&asked("budget", Effort::None)), json!([8000, null, null]));
    check("effort_budget", &asked("budget", Effort::Medium));
}

#[test]
fn a_budget_leaves_room_for_the_answer() {
    let within = |max_output: u64, wanted: u64| {
        let mut request = with_model(asked("budget", Effort::High), |model| model.max_output = max_output);
        request.max_output = Some(wanted);
        settings(&request)
    };
    let budget = |tokens: u64| json!({ "type": "enabled", "budget_tokens": tokens });
    assert_eq!(within(64_000, 64_000), json!([64_000, budget(16_384), null]));
    assert_eq!(within(10_000, 8_000), json!([10_000, budget(8_976), null]));
    assert_eq!(within(2_048, 1_000), json!([2_048, budget(1_024), null]));
    assert_eq!(within(2_047, 1_000), json!([1_000, null, null]), "no room for both: the answer wins");
}

#[test]
fn the_smallest_budget_is_a_fact_of_the_model() {
    let request =
        with_model(asked("budget", Effort::Minimal), |model| model.reasoning.min_budget = Some(4096));
    assert_eq!(settings(&request), json!([12_096, { "type": "enabled", "budget_tokens": 4096 }, null]));
}

#[test]
fn other_styles() {
    assert_eq!(settings(&asked("effort", Effort::Minimal)), json!([8000, null, "low"]));
    assert_eq!(settings(&asked("none", Effort::High)), json!([8000, null, null]));
    assert_eq!(settings(&asked("always", Effort::High)), json!([8000, null, null]));
}

#[test]
fn a_forced_call_leaves_thinking_out() {
    for choice in [ToolChoice::Required, ToolChoice::Tool("read".into())] {
        let forced = |style: &str| Request {
            tools: vec![tool("read")].into(),
            tool_choice: choice.clone(),
            temperature: Some(0.0),
            ..asked(style, Effort::High)
        };
        assert_eq!(settings(&forced("budget")), json!([8000, null, null]));
        assert_eq!(settings(&forced("adaptive")), json!([8000, { "type": "disabled" }, "high"]));
        assert_eq!(built(&forced("budget"))["temperature"], json!(0.0), "nothing thinks, so it may be set");
    }
    let forced = Request {
        tools: vec![tool("read")].into(),
        tool_choice: ToolChoice::Tool("read".into()),
        ..asked("adaptive", Effort::High)
    };
    check("forced_with_thinking", &forced);
}

#[test]
fn a_forced_call_is_safe_where_thinking_is_the_default() {
    let forced = |effort: Option<Effort>, rejects: &[Parameter]| {
        let request = with_model(asked("adaptive", Effort::Max), |model| model.rejects = rejects.to_vec());
        Request { tools: vec![tool("read")].into(), tool_choice: ToolChoice::Required, effort, ..request }
    };
    let disabled = json!({ "type": "disabled" });
    assert_eq!(settings(&forced(None, &[])), json!([8000, disabled, null]));
    assert_eq!(settings(&forced(Some(Effort::Max), &[])), json!([8000, disabled, "high"]));

    let always = [Parameter::ForcedToolChoice, Parameter::ThinkingDisabled];
    let left_to_choose = forced(Some(Effort::Max), &always);
    assert_eq!(
        settings(&left_to_choose),
        json!([8000, { "type": "adaptive", "display": "summarized" }, "max"])
    );
    assert_eq!(built(&left_to_choose).get("tool_choice"), None);
}

#[test]
fn a_budget_model_does_not_begin_to_think_inside_a_tool_loop() {
    let ok = |id: &str, call: &str| result(id, call, vec![Content::text("ok")], ResultStatus::Ok);
    let thoughtless = vec![
        said("u1", "Hello"),
        answer("a1", vec![call("t1", "read", "{}")]),
        ok("r1", "t1"),
        answer("a2", vec![call("t2", "read", "{}")]),
        ok("r2", "t2"),
    ];
    let mut thoughtful = thoughtless.clone();
    thoughtful[1] =
        answer("a1", vec![thought("Hm.", Some(Seal::Signature("s".into()))), call("t1", "read", "{}")]);
    let mut next_turn = thoughtless.clone();
    next_turn.extend([answer("a3", vec![words("Done.")]), said("u2", "And now?")]);
    let thinks = |style: &str, messages: &[_]| {
        built(&Request { effort: Some(Effort::Low), ..request(style, messages.to_vec()) })
            .get("thinking")
            .is_some()
    };
    assert!(!thinks("budget", &thoughtless));
    assert!(thinks("budget", &thoughtful));
    assert!(thinks("budget", &next_turn));
    assert!(thinks("adaptive", &thoughtless), "adaptive thinking may begin anywhere");
}

#[test]
fn thinking_decides_what_sampling_may_say() {
    let sampled = |style: &str, temperature: Option<f64>, top_p: Option<f64>| {
        let body = built(&Request { temperature, top_p, ..asked(style, Effort::Low) });
        json!([body.get("temperature"), body.get("top_p")])
    };
    assert_eq!(sampled("none", Some(0.3), None), json!([0.3, null]));
    assert_eq!(sampled("none", None, Some(0.5)), json!([null, 0.5]));
    assert_eq!(sampled("none", Some(0.3), Some(0.5)), json!([0.3, null]), "never both");
    assert_eq!(sampled("none", Some(f64::NAN), Some(0.5)), json!([null, 0.5]));
    assert_eq!(sampled("budget", Some(0.3), Some(0.5)), json!([null, null]));
    assert_eq!(sampled("adaptive", Some(0.3), Some(0.97)), json!([null, 0.97]));
}

#[test]
fn tool_choices() {
    let choice = |tool_choice: ToolChoice, parallel: ParallelCalls| {
        let request = Request {
            tools: vec![tool("read")].into(),
            tool_choice,
            parallel,
            ..request("none", vec![said("u1", "Hello")])
        };
        built(&request).get("tool_choice").cloned().unwrap_or_default()
    };
    use ParallelCalls::{Default, Many, One};
    assert_eq!(choice(ToolChoice::Auto, Default), json!(null));
    assert_eq!(choice(ToolChoice::Auto, One), json!({ "type": "auto", "disable_parallel_tool_use": true }));
    assert_eq!(choice(ToolChoice::Auto, Many), json!({ "type": "auto", "disable_parallel_tool_use": false }));
    assert_eq!(choice(ToolChoice::None, One), json!({ "type": "none" }));
    assert_eq!(choice(ToolChoice::Required, Default), json!({ "type": "any" }));
    assert_eq!(
        choice(ToolChoice::Tool("read".into()), One),
        json!({ "type": "tool", "name": "read", "disable_parallel_tool_use": true })
    );
    assert_eq!(choice(ToolChoice::Allowed(vec!["read".into()]), Default), json!(null));
}

#[test]
fn a_choice_without_tools() {
    let mut none = request("none", vec![said("u1", "Hello")]);
    none.tool_choice = ToolChoice::None;
    none.parallel = ParallelCalls::One;
    check("plain", &none);
    none.tool_choice = ToolChoice::Required;
    assert_eq!(
        refusal(&none),
        "a tool call is required but the request has no tools: add them, or ask for `Auto`"
    );
}

#[test]
fn structured_output_stands_beside_the_effort() {
    let mut request = asked("adaptive", Effort::Medium);
    request.output = OutputFormat::JsonSchema {
        name: "verdict".into(),
        schema: json!({
            "type": "object",
            "properties": { "ok": { "type": "boolean" } },
            "required": ["ok"],
            "additionalProperties": false,
        }),
    };
    check("structured_output", &request);
}

#[test]
fn the_output_limit_is_the_models_at_most() {
    let mut request = request("none", vec![said("u1", "Hello")]);
    request.max_output = Some(1_000_000);
    assert_eq!(built(&request)["max_tokens"], json!(model("none").max_output));
}
