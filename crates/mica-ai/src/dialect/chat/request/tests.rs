//! Bodies, whole.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{body, bytes};
use crate::arguments::Arguments;
use crate::id::{CallId, MessageId};
use crate::message::{
    Assistant, Block, Content, Dialect, Image, ImageSource, Message, Origin, ReasoningField, ResultStatus,
    Seal, StopReason, Text, TextKind, Thinking, ToolCall, ToolResult, User,
};
use crate::model::{CacheFacts, CacheKind, Effort, Model, Parameter, ReasoningFacts, ReasoningStyle};
use crate::replay::IMAGE_LEFT_OUT;
use crate::request::{CachePlan, OutputFormat, ParallelCalls, Request, Strictness, ToolChoice, ToolDef};

/// A model of a local server: few facts, no cache.
fn local() -> Model {
    Model {
        name: "Llama".to_owned(),
        max_output: 4096,
        images: true,
        structured_output: true,
        ..Model::assumed("llama-3", Dialect::Chat)
    }
}

/// A reasoning model of OpenAI, new enough to have cache breakpoints.
fn openai() -> Model {
    Model {
        reasoning: ReasoningFacts {
            style: ReasoningStyle::Effort,
            levels: vec![Effort::Low, Effort::Medium, Effort::High],
            min_budget: None,
        },
        rejects: vec![Parameter::Temperature, Parameter::TopP, Parameter::Stop, Parameter::ParallelToolCalls],
        cache: CacheFacts { kind: CacheKind::Breakpoints, ..CacheFacts::NONE },
        ..local()
    }
}

fn origin() -> Origin {
    Origin { dialect: Dialect::Chat, provider: "here".to_owned(), model: "llama-3".to_owned() }
}

fn request(model: Model, messages: Vec<Message>) -> Request {
    Request { messages, ..Request::new(Arc::new(model)) }
}

fn sent(request: &Request) -> Value {
    let body = body(request, &origin()).unwrap();
    let bytes = String::from_utf8(bytes(request, &origin()).unwrap()).unwrap();
    assert_eq!(bytes, body.to_string(), "the bytes are those of the body");
    body
}

fn messages(model: Model, messages: Vec<Message>) -> Value {
    sent(&request(model, messages))["messages"].clone()
}

fn assistant(blocks: Vec<Block>) -> Message {
    let mut message = Assistant::empty(MessageId::from("a"), origin());
    message.blocks = blocks;
    message.stop = StopReason::ToolUse;
    message.into()
}

fn said(text: &str) -> Block {
    Block::Text(Text { text: text.to_owned(), ..Text::default() })
}

fn call(id: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: CallId::from(id),
        name: "read".to_owned(),
        arguments: Arguments::from_text(arguments),
    })
}

fn result(id: &str, content: Vec<Content>) -> Message {
    ToolResult {
        id: MessageId::from(format!("r-{id}")),
        call: CallId::from(id),
        tool: "read".to_owned(),
        content,
        status: ResultStatus::Ok,
    }
    .into()
}

fn image() -> Content {
    Content::Image(Image { media_type: "image/png".to_owned(), source: ImageSource::Base64("QUJD".into()) })
}

fn tool(name: &str) -> ToolDef {
    ToolDef {
        name: name.to_owned(),
        description: "Reads.".to_owned(),
        schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
        strictness: Strictness::Guide,
    }
}

#[test]
fn the_least_that_can_be_sent() {
    assert_eq!(
        sent(&request(local(), vec![User::text("Hi").into()])),
        json!({
            "model": "llama-3",
            "stream": true,
            "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "Hi" }],
        })
    );
}

#[test]
fn a_local_server_gets_the_old_names() {
    let mut request = request(local(), vec![User::text("Hi").into()]);
    request.system = vec!["Static.".to_owned(), String::new(), "Org.".to_owned()];
    request.max_output = Some(9_999_999);
    request.effort = Some(Effort::High);
    request.temperature = Some(0.5);
    request.top_p = Some(0.9);
    request.stop = vec!["END".to_owned()];
    request.cache = CachePlan { key: Some("k".to_owned()), marks: Vec::new() };
    request.end_user = Some("u1".to_owned());
    request.tools = vec![tool("read")].into();
    request.tool_choice = ToolChoice::Allowed(vec!["read".to_owned()]);
    request.parallel = ParallelCalls::One;
    request.output =
        OutputFormat::JsonSchema { name: "answer".to_owned(), schema: json!({ "type": "object" }) };
    assert_eq!(
        sent(&request),
        json!({
            "model": "llama-3",
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_tokens": 4096,
            "temperature": 0.5,
            "top_p": 0.9,
            "stop": ["END"],
            "response_format": { "type": "json_schema", "json_schema": {
                "name": "answer", "schema": { "type": "object" }, "strict": true } },
            "user": "u1",
            "tools": [{ "type": "function", "function": { "name": "read", "description": "Reads.",
                "parameters": { "type": "object", "properties": { "path": { "type": "string" } } } } }],
            "parallel_tool_calls": false,
            "messages": [
                { "role": "system", "content": "Static.\n\nOrg." },
                { "role": "user", "content": "Hi" },
            ],
        })
    );
}

#[test]
fn openai_gets_the_new_names_and_nothing_it_rejects() {
    let mut request = request(openai(), vec![User::text("Hi").into()]);
    request.system = vec!["Static.".to_owned(), "Org.".to_owned()];
    request.max_output = Some(1000);
    request.effort = Some(Effort::Minimal);
    request.temperature = Some(0.5);
    request.top_p = Some(0.9);
    request.stop = vec!["END".to_owned()];
    request.cache = CachePlan { key: Some("k".to_owned()), marks: Vec::new() };
    request.end_user = Some("u1".to_owned());
    request.tools = vec![ToolDef { strictness: Strictness::Enforce, ..tool("read") }].into();
    request.tool_choice = ToolChoice::Allowed(vec!["read".to_owned()]);
    request.parallel = ParallelCalls::Many;
    assert_eq!(
        sent(&request),
        json!({
            "model": "llama-3",
            "stream": true,
            "stream_options": { "include_usage": true },
            "max_completion_tokens": 1000,
            "reasoning_effort": "low",
            "prompt_cache_key": "k",
            "safety_identifier": "u1",
            "tools": [{ "type": "function", "function": { "name": "read", "description": "Reads.",
                "parameters": { "type": "object", "properties": { "path": { "type": "string" } } },
                "strict": true } }],
            "tool_choice": { "type": "allowed_tools", "allowed_tools": { "mode": "auto",
                "tools": [{ "type": "function", "function": { "name": "read" } }] } },
            "messages": [
                { "role": "system", "content": "Static." },
                { "role": "system", "content": "Org." },
                { "role": "user", "content": "Hi" },
            ],
        })
    );
}

#[test]
fn tool_choices() {
    for (choice, expected) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::Tool("read".to_owned()), json!({ "type": "function", "function": { "name": "read" } })),
    ] {
        let mut request = request(local(), vec![User::text("Hi").into()]);
        request.tools = vec![tool("read")].into();
        request.tool_choice = choice;
        assert_eq!(sent(&request)["tool_choice"], expected);
    }
}

#[test]
fn what_the_model_cannot_do_is_not_sent() {
    let refusal = |change: &dyn Fn(&mut Request, &mut Model)| {
        let mut model = local();
        let mut request = request(local(), vec![User::text("Hi").into()]);
        change(&mut request, &mut model);
        request.model = Arc::new(model);
        body(&request, &origin()).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(&|request, model| {
            request.tools = vec![tool("read")].into();
            model.tools = false;
        }),
        "bad request: Llama cannot call tools"
    );
    assert_eq!(
        refusal(&|request, model| {
            request.output = OutputFormat::JsonSchema { name: "a".to_owned(), schema: json!({}) };
            model.structured_output = false;
        }),
        "bad request: Llama cannot be held to a JSON schema"
    );
    assert_eq!(
        refusal(&|request, _| request.tool_choice = ToolChoice::Required),
        "bad request: a tool call is required and there are no tools"
    );
    assert_eq!(
        refusal(&|request, _| request.tool_choice = ToolChoice::Tool("x".to_owned())),
        "bad request: the tool to call, \"x\", is not among the tools"
    );
}

#[test]
fn users_show_images_in_parts_and_speak_in_strings() {
    let url = Content::Image(Image {
        media_type: "image/jpeg".to_owned(),
        source: ImageSource::Url("https://example.com/a.jpg".to_owned()),
    });
    let user = |content: Vec<Content>| Message::from(User { id: MessageId::from("u"), content });
    assert_eq!(
        messages(local(), vec![user(vec![Content::text("a"), Content::text("b")])]),
        json!([{ "role": "user", "content": "a\n\nb" }])
    );
    assert_eq!(
        messages(local(), vec![user(vec![Content::text("Look:"), image(), url])]),
        json!([{ "role": "user", "content": [
            { "type": "text", "text": "Look:" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,QUJD" } },
            { "type": "image_url", "image_url": { "url": "https://example.com/a.jpg" } },
        ] }])
    );
    let blind = Model { images: false, ..local() };
    assert_eq!(
        messages(blind, vec![user(vec![Content::text("Look:"), image()])]),
        json!([{ "role": "user", "content": format!("Look:\n\n{IMAGE_LEFT_OUT}") }])
    );
}

#[test]
fn calls_and_results_are_replayed() {
    let conversation = vec![
        User::text("Go").into(),
        assistant(vec![said("Let me "), said("look."), call("c1", "{\"path\": \"a\"}"), call("c2", "{}")]),
        result("c1", vec![Content::text("one"), Content::text("two")]),
        result("c2", Vec::new()),
    ];
    assert_eq!(
        messages(local(), conversation),
        json!([
            { "role": "user", "content": "Go" },
            { "role": "assistant", "content": "Let me look.", "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{\"path\": \"a\"}" } },
                { "id": "c2", "type": "function", "function": { "name": "read", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": "one\ntwo" },
            { "role": "tool", "tool_call_id": "c2", "content": "(no output)" },
        ])
    );
}

#[test]
fn images_of_tools_follow_the_whole_batch() {
    let conversation = vec![
        assistant(vec![call("c1", "{}"), call("c2", "{}")]),
        result("c1", vec![Content::text("A picture."), image()]),
        result("c2", vec![Content::text("Words.")]),
        User::text("And?").into(),
    ];
    let shown = messages(local(), conversation.clone());
    assert_eq!(shown[0]["content"], Value::Null);
    assert_eq!(
        shown.as_array().unwrap()[1..],
        [
            json!({ "role": "tool", "tool_call_id": "c1", "content": "A picture.\n(an image, shown below)" }),
            json!({ "role": "tool", "tool_call_id": "c2", "content": "Words." }),
            json!({ "role": "user", "content": [
                { "type": "text", "text": "Image returned by read (call c1):" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,QUJD" } },
            ] }),
            json!({ "role": "user", "content": "And?" }),
        ]
    );
    let blind = messages(Model { images: false, ..local() }, conversation);
    assert_eq!(blind[1]["content"], format!("A picture.\n{IMAGE_LEFT_OUT}"));
    assert_eq!(blind.as_array().unwrap().len(), 4);
}

#[test]
fn reasoning_goes_back_under_the_name_it_came_with() {
    let thought = |seal: Option<Seal>| Block::Thinking(Thinking { text: "Hm. ".to_owned(), seal });
    let field = |field| Some(Seal::Field(field));
    assert_eq!(
        messages(
            local(),
            vec![assistant(vec![
                thought(field(ReasoningField::ReasoningContent)),
                said("a"),
                thought(field(ReasoningField::ReasoningContent)),
                said("b"),
            ])]
        ),
        json!([{ "role": "assistant", "content": "ab", "reasoning_content": "Hm. Hm. " }])
    );
    assert_eq!(
        messages(local(), vec![assistant(vec![thought(field(ReasoningField::Reasoning)), call("c1", "{}")])])
            [0]["reasoning"],
        "Hm. "
    );
    // Reasoning without a name to put it under becomes words; sealed for another wire, it stays here.
    assert_eq!(
        messages(
            local(),
            vec![assistant(vec![thought(None), thought(Some(Seal::Signature("s".to_owned()))), said("a")])]
        ),
        json!([{ "role": "assistant", "content": "Hm.\n\na" }])
    );
    let mut foreign =
        Assistant::empty(MessageId::from("a"), Origin { provider: "there".to_owned(), ..origin() });
    foreign.blocks = vec![thought(field(ReasoningField::Reasoning)), said("a")];
    foreign.stop = StopReason::Stop;
    let replayed = messages(local(), vec![foreign.into()]);
    assert_eq!(replayed[0].get("reasoning"), None);
}

#[test]
fn answers_of_all_kinds_are_replayed_as_words() {
    let refusal = Block::Text(Text { text: "No.".to_owned(), kind: TextKind::Refusal, phase: None });
    let Content::Image(picture) = image() else { unreachable!() };
    assert_eq!(
        messages(
            local(),
            vec![assistant(vec![refusal]), assistant(vec![Block::Image(picture)]), assistant(vec![])]
        ),
        json!([
            { "role": "assistant", "content": "No." },
            { "role": "assistant", "content": "[Made an image (image/png).]\n\n" },
        ])
    );
}

#[test]
fn arguments_that_are_no_object_do_not_poison_the_conversation() {
    for (written, replayed) in [
        ("", "{}"),
        (" \n", "{}"),
        ("{\"a\":1.0}", "{\"a\":1.0}"),
        ("{\"a\":", r#"{"not_valid_json":"{\"a\":"}"#),
        ("[1]", r#"{"not_valid_json":"[1]"}"#),
    ] {
        let shown = messages(local(), vec![assistant(vec![call("c1", written)]), result("c1", vec![])]);
        assert_eq!(shown[0]["tool_calls"][0]["function"]["arguments"], replayed, "{written}");
    }
}

#[test]
fn the_next_request_begins_with_this_one() {
    let mut conversation =
        vec![User::text("Go").into(), assistant(vec![call("c1", "{}")]), result("c1", vec![image()])];
    let mut request = request(openai(), conversation.clone());
    request.system = vec!["Static.".to_owned()];
    request.tools = vec![tool("read")].into();
    let first = sent(&request).to_string();
    conversation.extend([assistant(vec![said("Done.")]), User::text("More").into()]);
    request.messages = conversation;
    let second = sent(&request).to_string();
    assert!(second.starts_with(first.strip_suffix("]}").unwrap()), "{first}\n{second}");
}
