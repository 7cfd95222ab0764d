//! What goes wrong: tools, hooks, the record, the model, and limits. Every run ends with one typed outcome.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Record, Recovery, Step};
use mica_agent::{
    Agent, Ask, Context, Decision, Event, EventKind, Hooks, Limit, Listener, Outcome, RunError, ToolError,
    ToolOutput, ToolSpec, Verdict,
};
use mica_ai::message::ToolCall;
use mica_ai::request::ToolChoice;
use mica_ai::{
    AiError, Assistant, Message, ModelStream, Origin, Outcome as Answered, Provider, Request, StopReason,
};
use mica_testkit::{At, Call, Fault, Step as Says, Stop, StreamError, Turn};
use serde_json::json;
use support::{Journal, Rig, calls, context, ended, says};
use tokio_util::sync::CancellationToken;

/// The result of one call.
async fn result_of(tool: &str, args: serde_json::Value) -> String {
    let rig = Rig::new([calls([("a", tool, args)]), says("Done.")]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.asked(), 2, "the model reads what happened and goes on");
    rig.said().await[2].clone()
}

#[tokio::test(start_paused = true)]
async fn every_failure_of_a_tool_is_a_result() {
    let fail = json!({ "then": "fail", "say": "No such file. List the folder." });
    assert_eq!(result_of("look", fail).await, "result a failed: No such file. List the folder.");
    let panic = json!({ "then": "panic", "say": "oops" });
    assert_eq!(
        result_of("look", panic.clone()).await,
        "result a failed: The tool broke (oops). It changed nothing. Try another way."
    );
    assert_eq!(
        result_of("change", panic).await,
        "result a failed: The tool broke (oops). What it changed until then is unknown: look before you call it \
         again. Try another way."
    );
    assert_eq!(
        result_of("look", json!({ "then": "hang" })).await,
        "result a failed: The call did not finish within 60 s and was stopped. It changed nothing. Ask for less at \
         once, or another way."
    );
    assert_eq!(
        result_of("look", json!({ "then": "obey" })).await,
        "result a failed: Stopped halfway.",
        "at its deadline it is told to stop, and may say how far it came"
    );
    assert_eq!(
        result_of("loook", json!({})).await,
        "result a failed: There is no tool \"loook\". Did you mean \"look\"? Nothing was done."
    );
    assert_eq!(
        result_of("deploy", json!({})).await,
        "result a failed: There is no tool \"deploy\". The tools are: alone, change, finish, look, risky, small, switch. \
         Nothing was done."
    );
}

#[tokio::test(start_paused = true)]
async fn too_much_output_loses_its_middle_and_keeps_characters_whole() {
    let part = "ß".repeat(25);
    let cut = format!("{part}\n[… 1900 of 2000 bytes are left out here …]\n{part}");
    assert_eq!(result_of("small", json!({ "then": "large" })).await, format!("result a ok: {cut}"));
    assert_eq!(result_of("small", json!({ "then": "large_error" })).await, format!("result a failed: {cut}"));
}

#[tokio::test(start_paused = true)]
async fn malformed_arguments_run_nothing() {
    for raw in ["", "{\"say\": ", "[1]", "{oops}"] {
        let turn = Turn::new().step(Says::Call(Call::raw("look", raw).with_id("a")));
        let rig = Rig::new([turn, says("Done.")]);
        assert_eq!(ended(&rig.prompt("Go.").await), "completed", "{raw}");
        assert_eq!(rig.ran(), Vec::<String>::new(), "{raw}");
        assert!(rig.said().await[2].starts_with("result a failed: "), "{raw}");
    }
}

#[tokio::test(start_paused = true)]
async fn details_go_to_listeners_and_never_to_the_model() {
    let rig = Rig::new([calls([("a", "look", json!({ "then": "details", "say": "x" }))]), says("Done.")]);
    rig.prompt("Go.").await;
    let details = rig.events().into_iter().find_map(|event| match event.kind {
        EventKind::CallEnd { details, .. } => details,
        _ => None,
    });
    assert_eq!(details, Some(json!({ "lines": 3 })));
    assert!(!format!("{:?}", rig.model.requests()[1].messages).contains("lines"));
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_flood_of_progress_holds_up_no_deadline() {
    let rig = Rig::new([calls([("a", "look", json!({ "then": "flood" }))]), says("Done.")]);
    // Nothing waits for the clock while the flood goes on, so it is moved by hand.
    let clock = tokio::spawn(async {
        loop {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    });
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    clock.abort();
    assert!(rig.said().await[2].starts_with("result a failed: The call did not finish within 60 s"));
    let told = rig.told();
    let end = told.iter().position(|told| told.starts_with("call_end")).unwrap();
    assert!(
        told[end..].iter().all(|told| !told.starts_with("progress")),
        "nothing about a call after its end"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_outlives_its_call_tells_nothing_more() {
    let rig = Rig::new([
        calls([("a", "look", json!({ "then": "linger", "say": "here" }))]),
        calls([("b", "look", json!({ "ms": 500 }))]),
        says("Done."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let told = rig.told();
    assert!(told.iter().all(|told| !told.starts_with("progress")), "{told:?}");
    assert_eq!(told.last().unwrap(), "run_end completed");
}

/// Takes its time over every event, each time another one.
#[derive(Default)]
struct Slow(Mutex<Vec<u64>>);

#[async_trait]
impl Listener for Slow {
    async fn event(&self, event: Event) {
        tokio::time::sleep(Duration::from_millis(50 * (7 - event.seq % 7))).await;
        self.0.lock().unwrap().push(event.seq);
    }
}

/// Cannot bear some events.
struct Fainting;

#[async_trait]
impl Listener for Fainting {
    async fn event(&self, event: Event) {
        assert!(!event.seq.is_multiple_of(3), "too much");
    }
}

#[tokio::test(start_paused = true)]
async fn slow_and_broken_listeners_hear_everything_in_order_and_break_nothing() {
    let read = |say: &str| json!({ "ms": 20, "say": say, "news": say });
    let rig = Rig::new([
        calls([("a", "look", read("1")), ("b", "look", read("2")), ("c", "look", read("3"))]),
        says("Done."),
    ]);
    let slow = Arc::new(Slow::default());
    rig.agent.listen(Arc::new(Fainting));
    rig.agent.listen(slow.clone());
    let mut subscribed = rig.agent.subscribe();
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    let all: Vec<u64> = (0..rig.events().len() as u64).collect();
    assert_eq!(*slow.0.lock().unwrap(), all);
    let mut heard = Vec::new();
    while let Ok(event) = subscribed.try_recv() {
        heard.push(event.seq);
    }
    assert_eq!(heard, all);
}

/// Panics in one hook.
struct Breaks(&'static str);

impl Breaks {
    fn at(&self, hook: &str) {
        assert!(self.0 != hook, "{hook} broke");
    }
}

#[async_trait]
impl Hooks for Breaks {
    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        self.at("before_turn");
        Ok((Step::Go, Vec::new()))
    }
    fn shape(&self, _: &mut Request, _: &Context) {
        self.at("shape");
    }
    async fn on_failure(&self, _: &AiError, _: &mut Context) -> Result<Recovery, RunError> {
        self.at("on_failure");
        Ok(Recovery::GiveUp)
    }
    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        self.at("gate");
        Verdict::Pass
    }
    async fn approve(&self, _: &[Ask]) -> Option<Vec<Decision>> {
        self.at("approve");
        None
    }
    async fn after_tool(&self, _: &ToolCall, _: &ToolSpec, output: &mut ToolOutput) {
        output.content.clear();
        self.at("after_tool");
    }
    async fn after_failure(&self, _: &ToolCall, _: &ToolSpec, error: &mut ToolError) {
        error.message = "taken out".to_owned();
        self.at("after_failure");
    }
    async fn steering(&self) -> Vec<Message> {
        self.at("steering");
        Vec::new()
    }
    async fn follow_up(&self) -> Vec<Message> {
        self.at("follow_up");
        Vec::new()
    }
    async fn record(&self, _: Record<'_>) -> Result<(), String> {
        self.at("record");
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn promise_6_a_hook_that_breaks_means_no() {
    let outcome = async |hook: &'static str, turns: [Turn; 2]| {
        let rig = Rig::with(turns, vec![Arc::new(Breaks(hook))]);
        let outcome = ended(&rig.prompt("Go.").await);
        assert_eq!(rig.told().last().unwrap(), &format!("run_end {outcome}"), "{hook}");
        let result = rig.said().await.into_iter().find(|said| said.starts_with("result")).unwrap_or_default();
        (outcome, result, rig.ran().len())
    };
    let look = || [calls([("a", "look", json!({ "say": "secret" }))]), says("Done.")];
    for hook in ["before_turn", "shape", "steering"] {
        assert_eq!(outcome(hook, look()).await, ("failed hook".to_owned(), String::new(), 0), "{hook}");
    }
    assert_eq!(outcome("record", look()).await, ("failed record".to_owned(), String::new(), 0));
    let cut = Turn::new().text("Hm").fault(Fault::Cut {
        at: At::Middle,
        place: mica_testkit::Where::Between,
        then: mica_testkit::Then::Broken,
    });
    let failing = [cut, says("Never.")];
    assert_eq!(outcome("on_failure", failing).await, ("failed hook".to_owned(), String::new(), 0));
    let (ended, _, ran) = outcome("follow_up", look()).await;
    assert_eq!((ended.as_str(), ran), ("failed hook", 1));
    let broke = "result a failed: The check before this call broke, so it was not run.";
    assert_eq!(outcome("gate", look()).await, ("completed".to_owned(), broke.to_owned(), 0));
    let withheld = "result a failed: The tool did its work, but a check of its result broke, so the result is \
                    withheld. Look at what it changed before you go on.";
    assert_eq!(outcome("after_tool", look()).await, ("completed".to_owned(), withheld.to_owned(), 1));
    let fail = || [calls([("a", "look", json!({ "say": "secret", "then": "fail" }))]), says("Done.")];
    let withheld = "result a failed: The call failed, and a check of what it said about it broke, so that is withheld. It \
                    changed nothing.";
    let (ended, said, _) = outcome("after_failure", fail()).await;
    assert_eq!(ended, "completed");
    assert!(said.starts_with(&withheld[..90]) && !said.contains("secret"), "{said}");
    let (_, said, _) = outcome("nothing", fail()).await;
    assert_eq!(said, "result a failed: taken out");
    let nobody = "result a failed: Nobody answered whether this call may run, so it was not run.";
    let risky = [calls([("a", "risky", json!({}))]), says("Done.")];
    assert_eq!(outcome("approve", risky).await, ("completed".to_owned(), nobody.to_owned(), 0));
}

/// A gate that does not answer.
struct Silent;

#[async_trait]
impl Hooks for Silent {
    async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn promise_6_a_gate_that_does_not_answer_means_no() {
    let rig = Rig::with([calls([("a", "look", json!({}))]), says("Done.")], vec![Arc::new(Silent)]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(
        rig.said().await[2],
        "result a failed: The check before this call did not answer, so it was not run."
    );
}

/// A store whose n-th write fails.
struct Full {
    at: usize,
    writes: AtomicUsize,
}

#[async_trait]
impl Hooks for Full {
    async fn record(&self, _: Record<'_>) -> Result<(), String> {
        if self.writes.fetch_add(1, Ordering::SeqCst) == self.at {
            return Err("no space left".to_owned());
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn promise_5_nothing_is_asked_that_could_not_be_recorded() {
    let turns = || {
        [
            calls([
                ("a", "change", json!({ "ms": 10 })),
                ("b", "risky", json!({ "ms": 10 })),
                ("c", "change", json!({ "ms": 10 })),
            ]),
            says("Done."),
        ]
    };
    struct Yes;
    #[async_trait]
    impl Hooks for Yes {
        async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
            Some(vec![Decision::Allow; asks.len()])
        }
    }
    // The user, the turn, the answer, the question, what was said to it, three results, the turn, the answer.
    for (at, asked) in [0, 0, 1, 1, 1, 1, 1, 1, 1, 2].into_iter().enumerate() {
        let full = Arc::new(Full { at, writes: AtomicUsize::new(0) });
        let rig = Rig::with(turns(), vec![full.clone(), Arc::new(Yes)]);
        // What was said to a question and is not on record was not said: it is still asked.
        let end = if at == 4 { "suspended b" } else { "failed record" };
        assert_eq!(ended(&rig.prompt("Go.").await), end, "{at}");
        assert_eq!(rig.asked(), asked, "{at}");
        assert_eq!(full.writes.load(Ordering::SeqCst), at + 1, "nothing is written after a write failed");
        let told = rig.told();
        assert_eq!(*told.last().unwrap(), format!("run_end {end}"), "{at}");
        assert_eq!(told[told.len() - 2].split(' ').next().unwrap(), "turn_end", "{at}");
        match at {
            0..=4 => assert_eq!(rig.ran(), Vec::<String>::new(), "{at}"),
            // The write under way is told to stop; the last one does not begin.
            5 => assert_eq!(rig.ran(), ["a", "b"], "what cannot be recorded is not done"),
            _ => {}
        }
    }
    let full = Arc::new(Full { at: 10, writes: AtomicUsize::new(0) });
    assert_eq!(ended(&Rig::with(turns(), vec![full, Arc::new(Yes)]).prompt("Go.").await), "completed");
}

/// Reaches a limit before a turn.
struct Limited {
    turn: u32,
    step: fn(Limit) -> Step,
}

#[async_trait]
impl Hooks for Limited {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if cx.tally.turns < self.turn {
            return Ok((Step::Go, Vec::new()));
        }
        let change = WindowChange { kind: "pruning".into(), reason: "full".into(), before: 9, after: 5 };
        let limit = Limit { name: "turns".into(), reached: "2 of 2".into() };
        Ok(((self.step)(limit), vec![change]))
    }
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_limit_stops_the_run() {
    let rig = Rig::with(
        [calls([("a", "look", json!({ "say": "seen" }))]), says("Never.")],
        vec![Arc::new(Limited { turn: 2, step: Step::Stop })],
    );
    assert_eq!(ended(&rig.prompt("Go.").await), "exhausted turns");
    assert_eq!(rig.asked(), 1);
    assert_eq!(
        rig.told()[8..],
        ["turn_end 1", "turn_start 2", "window pruning", "turn_end 2", "run_end exhausted turns"]
    );
    assert_eq!(rig.said().await[2], "result a ok: seen", "what was done is kept");
}

#[tokio::test(start_paused = true)]
async fn promise_9_a_limit_lets_the_model_say_goodbye() {
    let rig = Rig::with(
        [
            calls([("a", "look", json!({}))]),
            says("Half done.").step(Says::Call(Call::new("look", json!({})).with_id("b"))),
        ],
        vec![Arc::new(Limited { turn: 2, step: Step::Close })],
    );
    assert_eq!(ended(&rig.prompt("Go.").await), "exhausted turns");
    let requests = rig.model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].tool_choice, ToolChoice::None);
    assert_eq!(requests[1].tools, requests[0].tools, "the tools stay, so that the cached prefix holds");
    assert_eq!(requests[1].messages[..requests[0].messages.len()], requests[0].messages);
    assert_eq!(rig.ran(), ["a"]);
    let note = "[Note from the system, not from the user: the limit of turns is reached: 2 of 2. No more tools can be \
                called. Say in a few sentences what is done, what is not, and how to go on.]";
    assert_eq!(
        rig.said().await[3..],
        [
            format!("user: {note}"),
            "assistant: Half done. [b] tool_use".to_owned(),
            "result b failed: Not run: the run has reached a limit and ends here.".to_owned(),
        ]
    );
    // Where even that fails, the limit is still what ended the run.
    let rig = Rig::with(
        [Turn::error("azure_429_retry_after_ms".into())],
        vec![Arc::new(Limited { turn: 1, step: Step::Close })],
    );
    assert_eq!(ended(&rig.prompt("Go.").await), "exhausted turns");
}

/// Does something about every failure, or says so.
#[derive(Default)]
struct Hopeful(AtomicUsize);

#[async_trait]
impl Hooks for Hopeful {
    async fn on_failure(&self, _: &AiError, _: &mut Context) -> Result<Recovery, RunError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Recovery::AskAgain)
    }
}

fn broken() -> Turn {
    let error = StreamError::Overloaded;
    calls([("x", "look", json!({ "say": "long enough to be cut" }))])
        .fault(Fault::InStream { error, at: At::Event(3) })
}

#[tokio::test(start_paused = true)]
async fn promise_9_asking_again_has_an_end() {
    let hopeful = Arc::new(Hopeful::default());
    let rig = Rig::with([broken().repeat(10)], vec![hopeful.clone()]);
    assert_eq!(ended(&rig.prompt("Go.").await), "failed overloaded");
    assert_eq!((rig.asked(), hopeful.0.load(Ordering::SeqCst)), (4, 3));
}

#[tokio::test(start_paused = true)]
async fn a_failure_a_hook_did_something_about_is_asked_again_in_the_same_turn() {
    let rig = Rig::with([broken(), says("Fine.")], vec![Arc::new(Hopeful::default())]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    let broken_off = "failed: Not run: the answer that called it was broken off.";
    let told = rig.told();
    assert_eq!(
        told[3..6],
        ["answer_start".to_owned(), "answer_end error".into(), format!("result x {broken_off}")]
    );
    assert!(told[6].starts_with("notice "), "{told:?}");
    assert_eq!(told[7..], ["answer_start", "answer_end stop", "turn_end 1", "run_end completed"]);
    assert_eq!(rig.ran(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn promise_9_pauses_have_an_end() {
    let pause = says("Still at it.").stop(Stop::Pause);
    let rig = Rig::new([pause.clone().repeat(3), says("Done.")]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.asked(), 4);
    let rig = Rig::new([pause.repeat(100)]);
    assert_eq!(ended(&rig.prompt("Go.").await), "exhausted pauses");
    assert_eq!(rig.asked(), 6);
}

#[tokio::test(start_paused = true)]
async fn answers_that_end_otherwise() {
    let one = async |turn: Turn| {
        let rig = Rig::new([turn, says("Again.")]);
        let outcome = ended(&rig.prompt("Go.").await);
        assert_eq!(rig.ran(), Vec::<String>::new());
        let said = rig.said().await;
        let called = said.iter().filter(|said| said.contains("[a]")).count();
        assert_eq!(said.iter().filter(|said| said.starts_with("result a failed")).count(), called);
        (outcome, rig.asked())
    };
    let call = || calls([("a", "look", json!({}))]);
    assert_eq!(one(says("No").stop(Stop::Length)).await, ("exhausted output".to_owned(), 1));
    assert_eq!(one(call().stop(Stop::Length)).await, ("completed".to_owned(), 2));
    assert_eq!(one(Turn::new().refusal("I will not.")).await, ("completed".to_owned(), 1));
    assert_eq!(one(call().refusal("I will not.").stop(Stop::Refusal)).await, ("completed".to_owned(), 1));
    assert_eq!(one(says("Bad").stop(Stop::ContentFilter)).await, ("failed content_filtered".to_owned(), 1));
    assert_eq!(one(call().stop(Stop::ContentFilter)).await, ("failed content_filtered".to_owned(), 1));
    assert_eq!(one(says("Well?").stop(Stop::ToolUse)).await, ("completed".to_owned(), 1));
    assert_eq!(
        one(Turn::error("azure_429_retry_after_ms".into())).await,
        ("failed rate_limited".to_owned(), 1)
    );
}

#[tokio::test(start_paused = true)]
async fn calls_of_an_answer_that_merely_stopped_run() {
    // Some servers say `stop` although there are calls.
    let rig = Rig::new([calls([("a", "look", json!({ "say": "seen" }))]).stop(Stop::Stop), says("Done.")]);
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(rig.ran(), ["a"]);
}

/// A provider that gives all calls one id.
struct Careless(Mutex<Vec<Assistant>>);

impl Provider for Careless {
    fn stream(&self, request: Arc<Request>, _: CancellationToken) -> ModelStream {
        let mut answer = self.0.lock().unwrap().remove(0);
        answer.id = request.answer.clone();
        ModelStream::new(|_| async move { Answered::Done(answer) })
    }
}

#[tokio::test(start_paused = true)]
async fn calls_with_the_same_id_are_told_apart() {
    let origin = Origin { dialect: mica_ai::Dialect::Chat, provider: "x".into(), model: "y".into() };
    let call = |say: &str| {
        mica_ai::Block::ToolCall(ToolCall {
            id: "same".into(),
            name: "risky".into(),
            arguments: mica_ai::arguments::Arguments::from_value(&json!({ "say": say })),
        })
    };
    let mut asks = Assistant::empty("m".into(), origin.clone());
    asks.blocks = vec![call("1"), call("2")];
    asks.stop = StopReason::ToolUse;
    let mut done = Assistant::empty("m".into(), origin);
    done.stop = StopReason::Stop;
    let journal = Journal::default();
    let agent = Agent::new(context(Arc::new(Careless(Mutex::new(vec![asks, done]))), &journal), Vec::new());
    let outcome = agent.prompt("Go.").await.unwrap();
    assert_eq!(ended(&outcome), "suspended same same_2");
    let Outcome::Suspended { asks } = outcome else { panic!("suspended") };
    let deny = Decision::Deny { reason: "no".to_owned() };
    agent.resume(mica_agent::Decisions::to(&asks, [Decision::Allow, deny])).await.unwrap();
    let said: Vec<String> = agent.with(|cx| cx.messages.iter().map(support::said).collect()).await.unwrap();
    assert_eq!(said[2..4], ["result same ok: 1", "result same_2 failed: The person declined: no"]);
}

#[tokio::test(start_paused = true)]
async fn promise_10_equal_call_ids_of_two_answers_have_different_effect_keys() {
    let rig = Rig::new([
        calls([("call_0", "change", json!({}))]),
        calls([("call_0", "change", json!({}))]),
        says("Done."),
    ]);
    rig.prompt("Go.").await;
    let keys: Vec<String> = rig.journal.lock().unwrap().iter().map(|ran| ran.effect_key.clone()).collect();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1]);
}
