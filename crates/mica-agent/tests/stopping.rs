//! Stopping: interrupts and aborts at every point, and what is left behind.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Step};
use mica_agent::{Agent, Ask, Context, Control, Decision, EventSink, Hooks, NoHooks, RunError, Verdict};
use mica_ai::{ModelStream, Provider, Request};
use mica_testkit::{At, Fault, Pacing, Turn};
use serde_json::json;
use support::{Journal, Rig, calls, context, ended, says};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Does something a while after the run has begun.
async fn after(rig: &Rig, ms: u64, act: impl FnOnce(&Agent) + Send + 'static) -> String {
    let agent = rig.agent.clone();
    let later = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        act(&agent);
    });
    let outcome = rig.prompt("Go.").await;
    later.await.unwrap();
    ended(&outcome)
}

fn slow(text: &str) -> Turn {
    says(text).pacing(Pacing { chars: 4, first_ms: 0, delay_ms: 100 })
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_in_the_stream_cuts_the_answer_and_goes_on() {
    let rig = Rig::new([slow("Once upon a time"), says("Short.")]);
    let outcome = after(&rig, 250, |agent| agent.interrupt("Shorter.").unwrap()).await;
    assert_eq!(outcome, "completed");
    assert_eq!(
        rig.told(),
        [
            "run_start",
            "turn_start 1",
            "user: Go.",
            "answer_start",
            "answer_end aborted",
            "turn_end 1",
            "turn_start 2",
            "user: Shorter.",
            "answer_start",
            "answer_end stop",
            "turn_end 2",
            "run_end completed",
        ]
    );
    let said = rig.said().await;
    assert_eq!(
        said,
        ["user: Go.", "assistant: Once upo [] aborted", "user: Shorter.", "assistant: Short. []"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_in_tools_cuts_the_batch_and_goes_on() {
    let rig = Rig::new([
        calls([
            ("done", "look", json!({ "ms": 10, "say": "seen", "touch": ["a"] })),
            ("obeys", "look", json!({ "then": "obey" })),
            ("deaf", "look", json!({ "then": "hang" })),
            ("later", "change", json!({ "say": "written" })),
        ]),
        says("Sorry."),
    ]);
    let outcome = after(&rig, 500, |agent| agent.interrupt("Stop that.").unwrap()).await;
    assert_eq!(outcome, "completed");
    assert_eq!(rig.ran(), ["done", "obeys", "deaf"], "what had not begun does not begin");
    assert_eq!(
        rig.said().await[2..],
        [
            "result done ok: seen",
            "result obeys failed: Stopped halfway.",
            "result deaf failed: The call was interrupted. It changed nothing.",
            "result later failed: Not run: the batch was interrupted before this call began.",
            "user: Stop that.",
            "assistant: Sorry. []",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_with_nothing_queued_ends_the_run() {
    let journal = Journal::default();
    for turn in [slow("Once upon a time"), calls([("a", "look", json!({ "then": "hang" }))])] {
        let mut cx = context(Arc::new(mica_testkit::ScriptedModel::new(turn)), &journal);
        let control = Control::new();
        let sink = EventSink::new("run".into(), Arc::default(), Arc::new(mica_agent::event::Deaf));
        let input = vec![mica_ai::User::text("Go.").into()];
        let (outcome, ()) =
            futures::join!(mica_agent::run::run(input, &mut cx, &NoHooks, &sink, &control), async {
                tokio::time::sleep(Duration::from_millis(150)).await;
                control.interrupt();
            });
        assert_eq!(ended(&outcome), "aborted");
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_between_two_steps_is_not_forgotten() {
    // Told before the model is asked: there is nothing to cut, and it joins at once.
    for at in ["turn_start 1", "user: Go."] {
        let rig = Rig::new([says("Fine.")]);
        rig.on(at, |agent| agent.interrupt("Wait.").unwrap());
        assert_eq!(ended(&rig.prompt("Go.").await), "completed", "{at}");
        assert_eq!(rig.said().await, ["user: Go.", "user: Wait.", "assistant: Fine. []"], "{at}");
    }
    let rig = Rig::new([says("Fine.")]);
    rig.on("run_start", |agent| agent.interrupt("Wait.").unwrap());
    rig.prompt("Go.").await;
    assert_eq!(rig.said().await, ["user: Go.", "user: Wait.", "assistant: Fine. []"]);
    // Told when the answer is complete: its calls do not run.
    let rig = Rig::new([calls([("a", "change", json!({}))]), says("Fine.")]);
    rig.on("answer_end tool_use", |agent| agent.interrupt("Wait.").unwrap());
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(
        rig.said().await[2..],
        [
            "result a failed: Not run: the batch was interrupted before this call began.",
            "user: Wait.",
            "assistant: Fine. []"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupts_from_another_thread_never_end_a_run() {
    for _ in 0..300 {
        let rig = Rig::new([says("One."), says("Two."), says("Three.")]);
        let agent = rig.agent.clone();
        let (go, gone) = tokio::sync::oneshot::channel();
        rig.on("run_start", move |_| go.send(()).unwrap());
        let racing = tokio::spawn(async move {
            gone.await.unwrap();
            agent.interrupt("Wait.").unwrap();
        });
        let outcome = rig.prompt("Go.").await;
        racing.await.unwrap();
        assert_eq!(ended(&outcome), "completed", "{:?}", rig.told());
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_the_stream_keeps_what_was_said() {
    let rig = Rig::new([slow("Once upon a time")]);
    rig.agent.follow_up("And then?").unwrap();
    assert_eq!(after(&rig, 250, Agent::abort).await, "aborted");
    assert_eq!(
        rig.told(),
        [
            "run_start",
            "turn_start 1",
            "user: Go.",
            "answer_start",
            "answer_end aborted",
            "turn_end 1",
            "run_end aborted",
        ]
    );
    assert_eq!(rig.said().await, ["user: Go.", "assistant: Once upo [] aborted"]);
    assert_eq!(rig.agent.take_back().len(), 1, "what is queued stays queued");
}

#[tokio::test(start_paused = true)]
async fn an_abort_in_tools_waits_a_moment_for_results() {
    let rig = Rig::new([calls([
        ("obeys", "look", json!({ "then": "obey" })),
        ("deaf", "change", json!({ "then": "hang" })),
        ("later", "change", json!({})),
    ])]);
    let began = Instant::now();
    // The write waits for the read, which names nothing: only the read runs, and it obeys.
    assert_eq!(after(&rig, 500, Agent::abort).await, "aborted");
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    let not_run = "Not run: the batch was interrupted before this call began.";
    assert_eq!(
        rig.said().await[2..],
        [
            "result obeys failed: Stopped halfway.".to_owned(),
            format!("result deaf failed: {not_run}"),
            format!("result later failed: {not_run}"),
        ]
    );
    // One that does not listen is left behind.
    let rig = Rig::new([calls([("deaf", "change", json!({ "then": "hang" }))])]);
    let began = Instant::now();
    assert_eq!(after(&rig, 500, Agent::abort).await, "aborted");
    assert_eq!(began.elapsed(), Duration::from_millis(2500));
    assert_eq!(
        rig.said().await[2],
        "result deaf failed: The call was interrupted. What it changed until then is unknown: look before you call it again."
    );
    assert_eq!(rig.told().last().unwrap(), "run_end aborted");
}

/// An abort at any event ends the run soon, with everything that was said kept and every call answered.
#[tokio::test(start_paused = true)]
async fn an_abort_between_any_two_steps_ends_the_run() {
    let turns = || {
        [
            says("Looking.").step(mica_testkit::Step::Call(
                mica_testkit::Call::new("look", json!({ "ms": 5, "say": "seen", "news": "half" }))
                    .with_id("a"),
            )),
            says("Done."),
        ]
    };
    let rig = Rig::new(turns());
    rig.prompt("Go.").await;
    let all: Vec<String> = rig.events().iter().map(|event| support::told(&event.kind)).collect();
    for at in &all[..all.len() - 1] {
        let rig = Rig::new(turns());
        rig.on(at, |agent| {
            agent.steer("Queued.").unwrap();
            agent.abort();
        });
        assert_eq!(ended(&rig.prompt("Go.").await), "aborted", "{at}");
        let told = rig.told();
        assert_eq!(told.iter().filter(|told| told.starts_with("run_end")).count(), 1, "{at}");
        assert_eq!(told.last().unwrap(), "run_end aborted", "{at}");
        let starts = told.iter().filter(|told| told.starts_with("turn_start")).count();
        let ends = told.iter().filter(|told| told.starts_with("turn_end")).count();
        assert_eq!(starts, ends, "{at}: {told:?}");
        let said = rig.said().await;
        assert_eq!(said[0], "user: Go.", "{at}");
        let called = said.iter().filter(|said| said.contains("[a]")).count();
        let answered = said.iter().filter(|said| said.starts_with("result a")).count();
        assert_eq!(called, answered, "{at}: {said:?}");
        let queued =
            rig.agent.take_back().len() + said.iter().filter(|said| *said == "user: Queued.").count();
        assert_eq!(queued, 1, "{at}: what was queued is said or still queued");
    }
}

/// A person who thinks for a long time.
struct Thinker;

#[async_trait]
impl Hooks for Thinker {
    async fn approve(&self, _: &[Ask]) -> Option<Vec<Decision>> {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Some(vec![Decision::Allow])
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_while_a_person_is_asked_runs_nothing() {
    let rig =
        Rig::with([calls([("a", "risky", json!({})), ("b", "look", json!({}))])], vec![Arc::new(Thinker)]);
    assert_eq!(after(&rig, 500, Agent::abort).await, "aborted");
    assert_eq!(rig.ran(), Vec::<String>::new());
    let not_run = "failed: Not run: the batch was interrupted before this call began.";
    assert_eq!(
        rig.told()[5..],
        [
            "asked a".to_owned(),
            format!("result a {not_run}"),
            format!("result b {not_run}"),
            "turn_end 1".to_owned(),
            "run_end aborted".to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_while_a_person_is_asked_is_an_answer() {
    let rig = Rig::with([calls([("a", "risky", json!({}))]), says("Fine.")], vec![Arc::new(Thinker)]);
    let began = Instant::now();
    assert_eq!(after(&rig, 500, |agent| agent.interrupt("No, do this.").unwrap()).await, "completed");
    assert_eq!(began.elapsed(), Duration::from_millis(500));
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(rig.said().await[3..], ["user: No, do this.", "assistant: Fine. []"]);
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_persons_thinking_time_counts_against_no_clock() {
    let rig =
        Rig::with([calls([("a", "risky", json!({ "ms": 50 }))]), says("Fine.")], vec![Arc::new(Thinker)]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    let active = rig.agent.with(|cx| cx.tally.active).await.unwrap();
    assert_eq!(active, Duration::from_millis(50));
}

/// Hooks that hang.
struct Stuck(&'static str);

#[async_trait]
impl Hooks for Stuck {
    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if self.0 == "before_turn" {
            std::future::pending::<()>().await;
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        if self.0 == "gate" {
            std::future::pending::<()>().await;
        }
        Verdict::Pass
    }

    async fn after_tool(
        &self,
        _: &mica_ai::message::ToolCall,
        _: &mica_agent::ToolSpec,
        _: &mut mica_agent::ToolOutput,
    ) {
        if self.0 == "after_tool" {
            std::future::pending::<()>().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_abort_does_not_wait_for_a_hook_that_hangs() {
    for (hook, ms) in [("before_turn", 500), ("gate", 500), ("after_tool", 2500)] {
        let rig = Rig::with([calls([("a", "look", json!({}))])], vec![Arc::new(Stuck(hook))]);
        let began = Instant::now();
        assert_eq!(after(&rig, 500, Agent::abort).await, "aborted", "{hook}");
        assert_eq!(began.elapsed(), Duration::from_millis(ms), "{hook}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_stalls_can_be_aborted() {
    let rig = Rig::new([says("Hello").fault(Fault::Stall { at: At::Middle })]);
    assert_eq!(after(&rig, 500, Agent::abort).await, "aborted");
}

/// A provider that does not listen.
struct Deaf;

impl Provider for Deaf {
    fn stream(&self, _: Arc<Request>, _: CancellationToken) -> ModelStream {
        ModelStream::new(|_| std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_ignores_cancel_is_left_behind() {
    let agent = Agent::new(context(Arc::new(Deaf), &Journal::default()), Vec::new());
    let stop = agent.clone();
    let began = Instant::now();
    let (outcome, ()) = futures::join!(agent.prompt("Go."), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        stop.abort();
    });
    assert_eq!(ended(&outcome.unwrap()), "aborted");
    assert_eq!(began.elapsed(), Duration::from_millis(2500));
}

#[tokio::test(start_paused = true)]
async fn an_abort_of_one_run_is_not_one_of_the_next() {
    let rig = Rig::new([says("One.")]);
    rig.agent.abort();
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_leaves_a_conversation_that_goes_on() {
    let rig = Rig::new([calls([("a", "change", json!({ "then": "hang" }))]), says("Fine.")]);
    let cut = tokio::time::timeout(Duration::from_millis(500), rig.agent.prompt("Go.")).await;
    assert!(cut.is_err());
    assert_eq!(ended(&rig.prompt("On.").await), "completed");
    assert_eq!(
        rig.said().await[2..],
        [
            "result a failed: No result: the run ended before this call did. If it had begun, its effect is unknown.",
            "user: On.",
            "assistant: Fine. []"
        ]
    );
}
