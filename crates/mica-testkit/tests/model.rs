//! The scripted model as a provider: events in order, one outcome, faults as errors, cancellation.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mica_ai::message::{Content, ResultStatus, Seal, ToolResult, User};
use mica_ai::{AiError, Block, Dialect, Model, Outcome, Provider, Request, StopReason, StreamEvent};
use mica_testkit::{At, Call, Fault, Pacing, Scenario, ScriptedModel, Step, Stop, Then, Turn, When, Where};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

fn model(dialect: Dialect) -> Arc<Model> {
    Arc::new(Model { deployment: String::new(), ..Model::assumed("m", dialect) })
}

fn request(text: &str) -> Arc<Request> {
    let mut request = Request::new(model(Dialect::Messages));
    request.messages.push(User::text(text).into());
    Arc::new(request)
}

async fn told(model: &ScriptedModel, request: Arc<Request>) -> Vec<StreamEvent> {
    model.stream(request, CancellationToken::new()).collect().await
}

#[tokio::test]
async fn an_answer_is_told_block_by_block_and_ends_once() {
    let calls = vec![Call::new("a", json!({ "x": 1 })), Call::raw("b", "{oops")];
    let turn = Turn::new().thinking("Hm.").text("Hello, Wörld!").step(Step::Interleaved(calls));
    let scripted = ScriptedModel::new(Scenario::from(turn));
    let events = told(&scripted, request("hi")).await;
    assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
    let Some(StreamEvent::Done { message }) = events.last() else { panic!("{events:?}") };
    assert_eq!(message.stop, StopReason::ToolUse);
    assert_eq!(message.text(), "Hello, Wörld!");
    let calls: Vec<(&str, &str)> =
        message.calls().map(|call| (call.name.as_str(), call.arguments.text())).collect();
    assert_eq!(calls, [("a", "{\"x\":1}"), ("b", "{oops")]);
    assert!(matches!(&message.blocks[0], Block::Thinking(t) if matches!(t.seal, Some(Seal::Signature(_)))));
    assert!(message.usage.output > 0);
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Hello, Wörld!");
    assert_eq!(scripted.requests().len(), 1);
}

#[tokio::test]
async fn a_stateless_script_answers_by_tool_results() {
    let when = When { tool_result: Some("read".into()), ..When::default() };
    let scenario = Scenario::new()
        .turn(Turn::new().text("done").when(when))
        .otherwise(Turn::new().call("read", json!({})));
    let scripted = ScriptedModel::new(scenario);
    let first =
        scripted.stream(request("hi"), CancellationToken::new()).outcome().await.into_result().unwrap();
    let call = first.calls().next().unwrap().clone();
    let mut next = Request::clone(&request("hi"));
    next.messages.push(first.into());
    next.messages.push(
        ToolResult {
            id: mica_ai::id::MessageId::fresh(),
            call: call.id,
            tool: call.name,
            content: vec![Content::text("x")],
            status: ResultStatus::Ok,
        }
        .into(),
    );
    let second =
        scripted.stream(Arc::new(next), CancellationToken::new()).outcome().await.into_result().unwrap();
    assert_eq!(second.text(), "done");
}

#[tokio::test(start_paused = true)]
async fn pacing_and_cancellation_follow_the_virtual_clock() {
    let pacing = Pacing { chars: 1, first_ms: 1000, delay_ms: 100 };
    let scripted = ScriptedModel::new(Scenario::from(Turn::new().text("abcdefghij")).pacing(pacing));
    let began = Instant::now();
    told(&scripted, request("x")).await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));

    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    let outcome = scripted.stream(request("x"), cancel).outcome();
    let (outcome, ()) = futures::join!(outcome, async move {
        tokio::time::sleep(Duration::from_millis(1350)).await;
        stop.cancel();
    });
    let Outcome::Failed { partial, error } = outcome else { panic!("cancelled") };
    assert!(matches!(error, AiError::Cancelled));
    assert_eq!((partial.text().as_str(), partial.stop), ("abc", StopReason::Aborted));
}

#[tokio::test(start_paused = true)]
async fn faults_become_errors_with_what_was_said_before() {
    let failed = async |fault| {
        let scripted = ScriptedModel::new(Scenario::from(Turn::new().text("0123456789ab").fault(fault)));
        let stream = scripted.stream(request("x"), CancellationToken::new());
        match tokio::time::timeout(Duration::from_secs(60), stream.outcome()).await {
            Ok(Outcome::Failed { partial, error }) => (error.kind(), partial.text()),
            Ok(Outcome::Done(message)) => ("done", message.text()),
            Err(_) => ("stalled", String::new()),
        }
    };
    let cut = Fault::Cut { at: At::BeforeFinish, place: Where::Between, then: Then::Broken };
    assert_eq!(failed(cut).await, ("stream_cut", "0123456789ab".to_owned()));
    assert_eq!(failed(Fault::Refused).await, ("network", String::new()));
    assert_eq!(failed(Fault::InvalidJson).await.0, "protocol");
    assert_eq!(failed(Fault::Stall { at: At::Start }).await.0, "stalled");
    assert_eq!(failed(Fault::CrLf).await, ("done", "0123456789ab".to_owned()));
}

#[tokio::test]
async fn a_full_window_and_an_empty_script_are_errors() {
    let full = ScriptedModel::new(Scenario::from(Turn::new().text("x").stop(Stop::ContextWindowExceeded)));
    let error =
        full.stream(request("x"), CancellationToken::new()).outcome().await.into_result().unwrap_err();
    assert!(error.is_overflow());
    let empty = ScriptedModel::new(Scenario::new());
    let error =
        empty.stream(request("x"), CancellationToken::new()).outcome().await.into_result().unwrap_err();
    assert_eq!(error.kind(), "bad_request");
}
