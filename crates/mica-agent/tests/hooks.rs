//! What hooks can do besides judging and recording: wait for people at the gate, change what is sent for one request, look
//! at what a call came to in the end, and have nothing to say.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Record};
use mica_agent::{
    Agent, Context, EventKind, HookStack, Hooks, Listener, Outcome, Patience, ToolError, ToolOutput,
    ToolSpec, TypedTool, Verdict,
};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model, User};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Look {
    fail: bool,
}

/// A run of one call with these hooks. Returns what the model read of it, and what it was sent.
async fn run(
    hooks: Arc<dyn Hooks>,
    fail: bool,
    listener: Option<Arc<dyn Listener>>,
) -> (String, ScriptedModel) {
    let script = Scenario::new()
        .turn(Turn::new().call("look", json!({ "fail": fail })))
        .turn(Turn::new().text("Done."));
    let model = ScriptedModel::new(script);
    let mut context =
        Context::new(Arc::new(model.clone()), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    context.tools.add(Arc::new(TypedTool::new("look", "Looks.", |look: Look, _| async move {
        if look.fail { Err(ToolError::new("failed")) } else { Ok(ToolOutput::text("worked")) }
    })));
    let agent = Agent::new(context, vec![hooks]);
    if let Some(listener) = listener {
        agent.listen(listener);
    }
    let outcome = agent.prompt("Go.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let told = agent.with(|cx| format!("{:?}", cx.messages[2])).await.unwrap();
    let Some((_, told)) = told.split_once("text: \"") else { panic!("{told}") };
    (told.split('"').next().unwrap().to_owned(), model)
}

/// Waits at the gate: for a person, or for something else.
struct Waits {
    person: bool,
    deadline: Duration,
}

#[async_trait]
impl Hooks for Waits {
    fn deadline(&self) -> Duration {
        self.deadline
    }

    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        let hour = tokio::time::sleep(Duration::from_secs(3600));
        if self.person {
            Patience::current().person(hour).await;
        } else {
            hour.await;
        }
        Verdict::Pass
    }
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_gate_waits_for_people_and_for_nobody_else() {
    let (usual, long) = (Duration::from_secs(30), Duration::from_secs(7200));
    let late = "The check before this call did not answer, so it was not run.";
    for (person, deadline, expected) in
        [(true, usual, "worked"), (false, usual, late), (false, long, "worked")]
    {
        // In a stack, too: the longest counts for all of it.
        let stack = HookStack::new(vec![Arc::new(mica_agent::NoHooks), Arc::new(Waits { person, deadline })]);
        assert_eq!(run(Arc::new(stack), false, None).await.0, expected);
    }
}

/// Has nothing to say, and breaks when it is asked all the same.
struct Silent;

#[async_trait]
impl Hooks for Silent {
    fn says(&self, _: Point) -> bool {
        false
    }

    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        panic!("asked at the gate")
    }

    async fn transform(&self, _: &mut Vec<Message>, _: &Context) -> Vec<WindowChange> {
        panic!("asked about the window")
    }

    async fn after_tool(&self, _: &ToolCall, _: &ToolSpec, _: &mut ToolOutput) {
        panic!("asked after a tool")
    }

    async fn after_call(&self, _: &ToolCall, _: &ToolSpec, _: &mut Result<ToolOutput, ToolError>) {
        panic!("asked after a call")
    }

    async fn steering(&self) -> Vec<Message> {
        panic!("asked for messages")
    }

    async fn record(&self, _: Record<'_>) -> Result<(), String> {
        panic!("asked to keep something")
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_with_nothing_to_say_are_not_asked() {
    assert_eq!(run(Arc::new(Silent), false, None).await.0, "worked");
}

/// Turns results into failures and back, and adds a word to what is sent.
struct Swaps;

#[async_trait]
impl Hooks for Swaps {
    async fn after_call(&self, _: &ToolCall, _: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        *made = match made {
            Ok(output) => Err(ToolError::new(format!("not {}", output.content.len()))),
            Err(error) => Ok(ToolOutput::text(format!("not {}", error.message))),
        };
    }

    async fn transform(&self, messages: &mut Vec<Message>, cx: &Context) -> Vec<WindowChange> {
        let before = messages.len() as u64;
        messages.push(User { content: vec![Content::text("Mind the gap.")], ..User::text("") }.into());
        assert_eq!(cx.messages.len() as u64, before, "what is kept is as it was");
        vec![WindowChange { kind: "test".to_owned(), reason: "a word".to_owned(), before, after: before + 1 }]
    }
}

#[derive(Default)]
struct Windows(Mutex<Vec<(u64, u64)>>);

#[async_trait]
impl Listener for Windows {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::Window { .. })
    }

    async fn event(&self, event: mica_agent::Event) {
        if let EventKind::Window { change } = event.kind {
            self.0.lock().unwrap().push((change.before, change.after));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_call_came_to_and_what_is_sent_can_be_changed() {
    let windows = Arc::new(Windows::default());
    let (told, model) = run(Arc::new(Swaps), false, Some(windows.clone())).await;
    assert_eq!(told, "not 1");
    let lengths: Vec<usize> = model.requests().iter().map(|request| request.messages.len()).collect();
    assert_eq!(lengths, [2, 4]);
    assert_eq!(*windows.0.lock().unwrap(), [(1, 2), (3, 4)]);
    assert_eq!(run(Arc::new(Swaps), true, None).await.0, "not failed");
}

/// Always has something to add.
struct Adds;

#[async_trait]
impl Hooks for Adds {
    async fn asides(&self) -> Vec<Message> {
        vec![User::text("By the way.").into()]
    }
}

#[tokio::test(start_paused = true)]
async fn an_aside_goes_with_results_and_is_never_asked_about_by_itself() {
    let (_, model) = run(Arc::new(HookStack::new(vec![Arc::new(Adds)])), false, None).await;
    let requests = model.requests();
    let asides = |request: &mica_ai::Request| {
        request.messages.iter().filter(|message| format!("{message:?}").contains("By the way.")).count()
    };
    // Not with the prompt, once with the result, and no third request behind the answer.
    assert_eq!(requests.iter().map(|request| asides(request)).collect::<Vec<_>>(), [0, 1]);
}
