//! Requests in, bodies out, compared whole.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::arguments::Arguments;
use crate::id::CallId;
use crate::message::{Dialect, StopReason, ToolCall};
use crate::model::fixture::model;
use crate::model::{Model, ReasoningFacts};
use crate::request::{CacheMark, CacheTtl};

fn origin() -> Origin {
    Origin { dialect: Dialect::Responses, provider: "foundry".into(), model: "test-deployment".into() }
}

/// The request most tests start from: a model without breakpoints, so that bodies stay short.
fn request() -> Request {
    let mut model = model(Dialect::Responses);
    model.cache.kind = CacheKind::Prefix;
    asking(model)
}

fn asking(model: Model) -> Request {
    let mut request = Request::new(Arc::new(model));
    request.messages = vec![user("u1", "hi")];
    request
}

fn user(id: &str, text: &str) -> Message {
    Message::User(User { id: id.into(), content: vec![Content::text(text)] })
}

fn assistant(blocks: Vec<Block>) -> Message {
    let mut message = Assistant::empty("a1".into(), origin());
    message.blocks = blocks;
    message.stop = StopReason::ToolUse;
    Message::Assistant(message)
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: Arguments::from_text(arguments),
    })
}

fn result(id: &str, content: Vec<Content>, status: ResultStatus) -> Message {
    Message::ToolResult(ToolResult {
        id: MessageId::from(format!("r-{id}")),
        call: CallId::from(id),
        tool: "read".into(),
        content,
        status,
    })
}

fn thinking(text: &str, seal: Seal) -> Block {
    Block::Thinking(Thinking { text: text.into(), seal: Some(seal) })
}

fn sent(request: &Request) -> Value {
    body(request, &origin()).unwrap()
}

fn tools() -> Vec<ToolDef> {
    let schema = json!({
        "type": "object",
        "properties": { "path": { "$ref": "#/$defs/path" } },
        "$defs": { "path": { "type": "string" } },
    });
    vec![
        ToolDef {
            name: "read".into(),
            description: "Reads.".into(),
            schema: schema.clone(),
            strictness: Strictness::Guide,
        },
        ToolDef {
            name: "write".into(),
            description: "Writes.".into(),
            schema,
            strictness: Strictness::Enforce,
        },
    ]
}

#[test]
fn a_plain_question() {
    assert_eq!(
        sent(&request()),
        json!({
            "model": "test-deployment", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"], "reasoning": { "summary": "auto" },
            "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "hi" }] }],
        })
    );
}

#[test]
fn everything_a_request_can_ask_for() {
    let mut request = request();
    request.system = vec!["static".into(), "org".into()];
    request.tools = tools().into();
    request.tool_choice = ToolChoice::Allowed(vec!["read".into()]);
    request.parallel = ParallelCalls::One;
    request.max_output = Some(500);
    request.effort = Some(Effort::Xhigh);
    request.temperature = Some(0.5);
    request.top_p = Some(0.9);
    request.output = OutputFormat::JsonSchema { name: "answer".into(), schema: json!({ "type": "object" }) };
    request.cache.key = Some("org:agent:session".into());
    request.end_user = Some("u-1".into());
    let body = sent(&request);
    let parameters = json!({
        "type": "object",
        "properties": { "path": { "$ref": "#/$defs/path" } },
        "$defs": { "path": { "type": "string" } },
    });
    assert_eq!(
        body,
        json!({
            "model": "test-deployment", "stream": true, "store": false,
            "include": ["reasoning.encrypted_content"],
            "reasoning": { "effort": "high", "summary": "auto" },
            "max_output_tokens": 500, "temperature": 0.5, "top_p": 0.9,
            "text": { "format": { "type": "json_schema", "name": "answer", "schema": { "type": "object" }, "strict": true } },
            "safety_identifier": "u-1", "prompt_cache_key": "org:agent:session",
            "tools": [
                { "type": "function", "name": "read", "description": "Reads.", "parameters": parameters, "strict": false },
                { "type": "function", "name": "write", "description": "Writes.", "parameters": parameters, "strict": true },
            ],
            "tool_choice": { "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "function", "name": "read" }] },
            "parallel_tool_calls": false,
            "instructions": "static",
            "input": [
                { "role": "developer", "content": [{ "type": "input_text", "text": "org" }] },
                { "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
            ],
        })
    );
    assert_eq!(body.as_object().unwrap().keys().next_back().unwrap(), "input", "what grows comes last");
}

#[test]
fn what_a_model_rejects_is_left_out() {
    let mut model = model(Dialect::Responses);
    model.cache.kind = CacheKind::None;
    model.reasoning = ReasoningFacts::default();
    model.rejects = vec![Parameter::Temperature, Parameter::TopP, Parameter::ParallelToolCalls];
    let mut request = asking(model);
    request.temperature = Some(1.0);
    request.top_p = Some(1.0);
    request.effort = Some(Effort::High);
    request.parallel = ParallelCalls::Many;
    request.max_output = Some(1_000_000);
    assert_eq!(
        sent(&request),
        json!({
            "model": "test-deployment", "stream": true, "store": false, "max_output_tokens": 8000,
            "input": [{ "role": "user", "content": [{ "type": "input_text", "text": "hi" }] }],
        })
    );
}

#[test]
fn efforts_are_sent_as_the_model_has_them() {
    for (wish, levels, expected) in [
        (Effort::None, vec![Effort::None, Effort::Low], json!({ "effort": "none" })),
        (Effort::Minimal, vec![Effort::Low, Effort::High], json!({ "effort": "low", "summary": "auto" })),
        (Effort::Medium, vec![Effort::Low, Effort::High], json!({ "effort": "high", "summary": "auto" })),
        (Effort::Max, vec![Effort::Medium], json!({ "effort": "medium", "summary": "auto" })),
        (Effort::Low, vec![], json!({ "summary": "auto" })),
    ] {
        let mut model = model(Dialect::Responses);
        model.reasoning.levels = levels;
        let mut request = asking(model);
        request.effort = Some(wish);
        assert_eq!(sent(&request)["reasoning"], expected, "{wish}");
    }
}

#[test]
fn a_tool_loop_is_replayed_without_ids() {
    let mut request = request();
    request.messages.extend([
        assistant(vec![
            thinking("Summary.", Seal::Encrypted("enc".into())),
            thinking("Open.", Seal::Open),
            Block::Text(Text {
                text: "Looking.".into(),
                kind: TextKind::Answer,
                phase: Some(Phase::Commentary),
            }),
            call("c1", "{\"path\": \"a\"}"),
            call("c2", "{\"path\":"),
        ]),
        result("c1", vec![Content::text("one"), Content::text("two")], ResultStatus::Ok),
        result("c2", vec![Content::text("no such file")], ResultStatus::Failed),
    ]);
    assert_eq!(
        sent(&request)["input"],
        json!([
            { "role": "user", "content": [{ "type": "input_text", "text": "hi" }] },
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Summary." }], "encrypted_content": "enc" },
            { "type": "reasoning", "summary": [], "content": [{ "type": "reasoning_text", "text": "Open." }] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Looking." }],
              "phase": "commentary" },
            { "type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\": \"a\"}" },
            { "type": "function_call", "call_id": "c2", "name": "read", "arguments": "{\"path\":" },
            { "type": "function_call_output", "call_id": "c1", "output": "one\ntwo" },
            { "type": "function_call_output", "call_id": "c2", "output": "The tool call failed:\nno such file" },
        ])
    );
}

#[test]
fn encrypted_reasoning_is_not_sent_to_another_deployment() {
    let mut request = request();
    request.messages.push(assistant(vec![
        thinking("Summary.", Seal::Encrypted("enc".into())),
        Block::Text(Text { text: "Yes.".into(), ..Text::default() }),
    ]));
    let other = Origin { model: "other-deployment".into(), ..origin() };
    let body = body(&request, &other).unwrap().to_string();
    assert!(
        !body.contains("encrypted_content\":\"enc") && !body.contains("\"reasoning\",\"summary"),
        "{body}"
    );
    let elsewhere = Origin { provider: "other-resource".into(), ..origin() };
    assert!(!super::body(&request, &elsewhere).unwrap().to_string().contains("\"enc\""));
    assert!(sent(&request).to_string().contains("\"enc\""));
}

#[test]
fn images_go_by_value_or_by_address() {
    let mut request = request();
    let image = |source| Content::Image(Image { media_type: "image/png".into(), source });
    request.messages = vec![
        Message::User(User {
            id: "u".into(),
            content: vec![
                image(ImageSource::Base64("AA==".into())),
                image(ImageSource::Url("https://example.com/a.png".into())),
            ],
        }),
        assistant(vec![call("c1", "{}")]),
        result("c1", vec![Content::text("see"), image(ImageSource::Base64("BB==".into()))], ResultStatus::Ok),
    ];
    assert_eq!(
        sent(&request)["input"],
        json!([
            { "role": "user", "content": [
                { "type": "input_image", "image_url": "data:image/png;base64,AA==" },
                { "type": "input_image", "image_url": "https://example.com/a.png" },
            ] },
            { "type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": [
                { "type": "input_text", "text": "see" },
                { "type": "input_image", "image_url": "data:image/png;base64,BB==" },
            ] },
        ])
    );
}

fn mark(at: CachePoint) -> CacheMark {
    CacheMark { at, ttl: CacheTtl::Short }
}

#[test]
fn breakpoints_are_put_where_the_caller_wants_them() {
    let mut request = asking(model(Dialect::Responses));
    request.system = vec!["static".into(), "org".into()];
    request.messages.extend([
        assistant(vec![call("c1", "{}")]),
        result("c1", vec![], ResultStatus::Ok),
        assistant(vec![Block::Text(Text { text: "Said.".into(), ..Text::default() })]),
    ]);
    request.cache.marks = vec![
        mark(CachePoint::Tools),
        mark(CachePoint::System(0)),
        mark(CachePoint::Message("u1".into())),
        // What a model said cannot carry a mark: the block before it does.
        mark(CachePoint::Message("a1".into())),
    ];
    let body = sent(&request);
    let explicit = json!({ "mode": "explicit" });
    assert_eq!(body["prompt_cache_options"], explicit);
    assert_eq!(body.get("instructions"), None);
    assert_eq!(
        body["input"],
        json!([
            { "role": "developer", "content": [
                { "type": "input_text", "text": "static", "prompt_cache_breakpoint": explicit }] },
            { "role": "developer", "content": [{ "type": "input_text", "text": "org" }] },
            { "role": "user", "content": [
                { "type": "input_text", "text": "hi", "prompt_cache_breakpoint": explicit }] },
            { "type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": [
                { "type": "input_text", "text": "(no output)", "prompt_cache_breakpoint": explicit }] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Said." }] },
        ])
    );
}

#[test]
fn marks_are_ignored_by_models_that_cache_by_themselves() {
    let mut request = request();
    request.cache.marks = vec![mark(CachePoint::System(9)); 9];
    assert!(!sent(&request).to_string().contains("prompt_cache"));
}

#[test]
fn too_many_marks_and_marks_on_nothing_are_refused_before_anything_is_sent() {
    let mut request = asking(model(Dialect::Responses));
    request.cache.marks = vec![mark(CachePoint::Message("u1".into())); 5];
    assert_eq!(
        body(&request, &origin()).unwrap_err().to_string(),
        "bad request: 5 cache marks, but test-model takes at most 4: plan fewer"
    );
    request.cache.marks = vec![mark(CachePoint::System(0))];
    assert_eq!(
        body(&request, &origin()).unwrap_err().to_string(),
        "bad request: a cache mark names part 0 of the system prompt, which has 0"
    );
}

#[test]
fn the_body_of_a_turn_is_a_prefix_of_the_next_ones() {
    let mut request = request();
    request.system = vec!["static".into(), "org".into()];
    request.tools = tools().into();
    let mut before = sent(&request).to_string();
    for turn in 0..5 {
        request.messages.extend([
            assistant(vec![thinking("Hm.", Seal::Encrypted("enc".into())), call(&format!("c{turn}"), "{}")]),
            result(&format!("c{turn}"), vec![Content::text("out")], ResultStatus::Ok),
        ]);
        let now = sent(&request).to_string();
        let open = before.strip_suffix("]}").expect("the input closes the body");
        assert!(now.starts_with(open), "turn {turn} changed what was sent before");
        before = now;
    }
}
