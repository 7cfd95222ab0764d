//! Tests of request bodies, member for member: `bodies/NAME.json` is what a request must come to.
//! `UPDATE_FIXTURES=1` writes the expectations anew.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::body;
use crate::arguments::Arguments;
use crate::error::AiError;
use crate::id::{CallId, MessageId};
use crate::message::{
    Assistant, Block, Content, Dialect, Image, ImageSource, Message, Origin, ResultStatus, Seal, StopReason,
    Text, Thinking, ToolCall, ToolResult, User,
};
use crate::model::{CacheFacts, CacheKind, Effort, Model, Parameter, Prices, ReasoningFacts, ReasoningStyle};
use crate::request::{CacheMark, CachePoint, CacheTtl, OutputFormat, Request, Strictness, ToolDef};

mod conversation;
mod marks;
mod settings;

/// A model that thinks in a style: `adaptive`, `budget`, `effort` or `none`.
pub(crate) fn model(style: &str) -> Model {
    let style: ReasoningStyle = serde_json::from_value(json!(style)).unwrap();
    let levels = match style {
        ReasoningStyle::Adaptive | ReasoningStyle::Effort => {
            vec![Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh, Effort::Max]
        }
        ReasoningStyle::Budget => vec![Effort::Minimal, Effort::Low, Effort::Medium, Effort::High],
        ReasoningStyle::None | ReasoningStyle::Always => Vec::new(),
    };
    Model {
        id: "claude-test".into(),
        name: "Claude Test".into(),
        deployment: "my-claude".into(),
        dialect: Dialect::Messages,
        context: 200_000,
        max_input: None,
        max_output: 64_000,
        tools: true,
        images: true,
        structured_output: true,
        reasoning: ReasoningFacts { style, levels, min_budget: None },
        rejects: Vec::new(),
        cache: CacheFacts {
            kind: CacheKind::Marks,
            minimum: 1024,
            max_marks: 4,
            lookback: 20,
            ttl_minutes: vec![5, 60],
        },
        prices: None::<Prices>,
    }
}

fn origin() -> Origin {
    Origin { dialect: Dialect::Messages, provider: "foundry".into(), model: "my-claude".into() }
}

/// A request to a model of a style, asking for 8000 tokens.
fn request(style: &str, messages: Vec<Message>) -> Request {
    Request { messages, max_output: Some(8000), ..Request::new(Arc::new(model(style))) }
}

fn with_model(mut request: Request, change: impl FnOnce(&mut Model)) -> Request {
    let mut model = (*request.model).clone();
    change(&mut model);
    request.model = Arc::new(model);
    request
}

fn said(id: &str, text: &str) -> Message {
    said_all(id, vec![Content::text(text)])
}

fn said_all(id: &str, content: Vec<Content>) -> Message {
    User { id: MessageId::from(id), content }.into()
}

fn answer(id: &str, blocks: Vec<Block>) -> Message {
    let stop = if blocks.iter().any(|block| matches!(block, Block::ToolCall(_))) {
        StopReason::ToolUse
    } else {
        StopReason::Stop
    };
    Assistant { blocks, stop, ..Assistant::empty(MessageId::from(id), origin()) }.into()
}

fn words(text: &str) -> Block {
    Block::Text(Text { text: text.into(), ..Text::default() })
}

fn thought(text: &str, seal: Option<Seal>) -> Block {
    Block::Thinking(Thinking { text: text.into(), seal })
}

fn call(id: &str, name: &str, arguments: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: CallId::from(id),
        name: name.into(),
        arguments: Arguments::from_text(arguments),
    })
}

fn result(id: &str, call: &str, content: Vec<Content>, status: ResultStatus) -> Message {
    ToolResult { id: MessageId::from(id), call: CallId::from(call), tool: "tool".into(), content, status }
        .into()
}

fn png() -> Content {
    Content::Image(Image {
        media_type: "image/png".into(),
        source: ImageSource::Base64("iVBORw0KGgo=".into()),
    })
}

fn tool(name: &str) -> ToolDef {
    ToolDef {
        name: name.into(),
        description: format!("Does {name}."),
        schema: json!({
            "type": "object",
            "properties": { "at": { "$ref": "#/$defs/place" } },
            "required": ["at"],
            "additionalProperties": false,
            "$defs": { "place": { "type": "string", "minLength": 1 } },
        }),
        strictness: Strictness::Guide,
    }
}

fn mark(at: CachePoint, ttl: CacheTtl) -> CacheMark {
    CacheMark { at, ttl }
}

fn on_message(id: &str) -> CachePoint {
    CachePoint::Message(MessageId::from(id))
}

fn built(request: &Request) -> Value {
    body(request, &origin()).unwrap()
}

/// The words of a refusal to send.
fn refusal(request: &Request) -> String {
    match body(request, &origin()).unwrap_err() {
        AiError::BadRequest { reply } => reply.message,
        other => panic!("not a bad request: {other:?}"),
    }
}

/// Compares a body, the order of its members included, with `bodies/NAME.json`.
fn check(name: &str, request: &Request) {
    let found = serde_json::to_string_pretty(&built(request)).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/dialect/messages/request/bodies")
        .join(name)
        .with_extension("json");
    #[allow(clippy::disallowed_methods, reason = "a switch for the person who runs the tests")]
    if std::env::var_os("UPDATE_FIXTURES").is_some_and(|value| value == "1") {
        #[allow(clippy::disallowed_methods, reason = "a test keeps its own expectations")]
        fs::write(&path, &found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} differs; UPDATE_FIXTURES=1 accepts what is new");
}

#[test]
fn plain() {
    check("plain", &request("none", vec![said("u1", "Hello")]));
}

#[test]
fn everything_at_once_keeps_its_order() {
    let mut all =
        request("none", vec![said("u1", "Hello"), answer("a1", vec![words("Hi.")]), said("u2", "More")]);
    all.system = vec!["You are mica.".into(), "The org is Acme.".into()];
    all.tools = vec![tool("read"), ToolDef { strictness: Strictness::Enforce, ..tool("write") }].into();
    all.temperature = Some(0.2);
    all.stop = vec!["END".into(), "\n".into()];
    all.end_user = Some("user-7f".into());
    all.output = OutputFormat::JsonSchema {
        name: "verdict".into(),
        schema: json!({ "type": "object", "properties": { "ok": { "type": "boolean" } } }),
    };
    check("everything", &all);
}

#[test]
fn nothing_to_say_is_not_sent() {
    for messages in [vec![], vec![said("u1", " \n")], vec![said_all("u1", vec![])]] {
        assert_eq!(
            refusal(&request("none", messages)),
            "there is nothing to send: add a user message that says something"
        );
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let one = request(
        "adaptive",
        vec![said("u1", "Hello"), answer("a1", vec![call("t1", "read", "{\"b\":1,\"a\":2}")])],
    );
    assert_eq!(built(&one).to_string(), built(&one.clone()).to_string());
    assert!(
        built(&one).to_string().contains(r#""input":{"b":1,"a":2}"#),
        "members stay as the model ordered them"
    );
}

#[test]
fn marks_mean_nothing_to_a_model_without_them() {
    let mut plan = with_model(request("none", vec![said("u1", "Hello")]), |model| {
        model.cache = CacheFacts { kind: CacheKind::Prefix, ..CacheFacts::NONE };
    });
    plan.cache.marks = vec![mark(CachePoint::System(9), CacheTtl::Long); 9];
    check("plain", &plan);
}

#[test]
fn rejected_parameters_are_left_out() {
    let mut all = with_model(request("none", vec![said("u1", "Hello")]), |model| {
        model.rejects = vec![Parameter::Temperature, Parameter::TopP, Parameter::Stop];
    });
    all.temperature = Some(0.5);
    all.top_p = Some(0.9);
    all.stop = vec!["END".into()];
    check("plain", &all);
}
