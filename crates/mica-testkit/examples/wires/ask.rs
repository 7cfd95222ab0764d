//! One conversation: the question, the tool the model asks for, the answer.

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use mica_ai::endpoint::Choice;
use mica_ai::id::MessageId;
use mica_ai::message::{Content, Message, ResultStatus, ToolCall, ToolResult, User};
use mica_ai::model::Effort;
use mica_ai::request::{CacheMark, CachePlan, CachePoint, CacheTtl, Strictness, ToolDef};
use mica_ai::{Assistant, Provider, Request, StreamEvent};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::setup::Options;
use crate::show::Screen;

/// Enough for a model that looks twice; a bound for one that never stops looking.
const TURNS: usize = 4;

/// Asks, runs the tool when it is called, and asks again. Tells whether there was an answer.
pub(crate) async fn ask(
    provider: &dyn Provider,
    choice: &Choice,
    options: &Options,
    screen: &Screen,
) -> bool {
    let mut messages: Vec<Message> = vec![User::text(options.question.as_str()).into()];
    screen.said("you", &options.question);
    for _ in 0..TURNS {
        let Some(answer) = stream(provider, request(choice, &messages), screen).await else {
            return false;
        };
        let calls: Vec<ToolCall> =
            if answer.stop.is_whole() { answer.calls().cloned().collect() } else { Vec::new() };
        messages.push(answer.into());
        if calls.is_empty() {
            return true;
        }
        for call in calls {
            let (status, text) = read_artifact(&call);
            screen.said("tool", &format!("{} → {} bytes", call.name, text.len()));
            messages.push(
                ToolResult {
                    id: MessageId::fresh(),
                    call: call.id,
                    tool: call.name,
                    content: vec![Content::text(text)],
                    status,
                }
                .into(),
            );
        }
    }
    screen.said("note", "the model wanted more turns than the demo allows");
    true
}

/// Shows an answer as it arrives. `None` when it failed.
async fn stream(provider: &dyn Provider, request: Request, screen: &Screen) -> Option<Assistant> {
    let mut watch = screen.watch(Instant::now());
    let mut events = provider.stream(Arc::new(request), CancellationToken::new());
    while let Some(event) = events.next().await {
        watch.event(&event, Instant::now());
        match event {
            StreamEvent::Done { message } => return Some(*message),
            StreamEvent::Error { .. } => return None,
            _ => {}
        }
    }
    None
}

fn request(choice: &Choice, messages: &[Message]) -> Request {
    let mut request = Request::new(Arc::clone(&choice.model));
    request.system = vec![include_str!("system.md").to_owned()];
    request.tools = vec![ToolDef {
        name: "read_artifact".to_owned(),
        description: "Reads an artifact of the integration project, by its path in the project.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "path": { "type": "string", "description": "The path, from the project's root." } },
            "required": ["path"],
            "additionalProperties": false,
        }),
        strictness: Strictness::Guide,
    }].into();
    request.messages = messages.to_vec();
    request.effort = Some(Effort::Low);
    request.max_output = Some(2000);
    let mark = |at| CacheMark { at, ttl: CacheTtl::Short };
    request.cache = CachePlan { key: Some("mica-demo".to_owned()), marks: vec![mark(CachePoint::System(0))] };
    if let Some(last) = messages.last() {
        request.cache.marks.push(mark(CachePoint::Message(last.id().clone())));
    }
    request
}

/// The demo's project has one artifact.
fn read_artifact(call: &ToolCall) -> (ResultStatus, String) {
    let path = call
        .arguments
        .parse()
        .ok()
        .and_then(|arguments| arguments.get("path").and_then(|path| path.as_str()).map(str::to_owned));
    match path {
        Some(path) if path.ends_with("OrderProxy.xml") => {
            (ResultStatus::Ok, include_str!("OrderProxy.xml").to_owned())
        }
        Some(path) => (ResultStatus::Failed, format!("There is no {path} in this project.")),
        None => (ResultStatus::Failed, "The argument `path` is missing.".to_owned()),
    }
}
