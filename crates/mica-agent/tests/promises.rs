//! The promises that the loop keeps, as properties.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::hooks::Record;
use mica_agent::{Ask, Context, Decision, Event, EventKind, Hooks};
use mica_ai::message::{Block, TextKind};
use mica_ai::{Message, Request, StopReason, StreamEvent, Usage};
use mica_testkit::{At, Call, Fault, Pacing, ScriptedModel, Step, Stop, StreamError, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Rig, calls, ended, says};
use tokio::sync::Notify;

/// Keeps the mark of a turn only when its request was put together, and notes how often the model was asked by then.
#[derive(Default)]
struct Slow {
    shaped: Notify,
    model: OnceLock<ScriptedModel>,
    log: Mutex<Vec<String>>,
}

#[async_trait]
impl Hooks for Slow {
    fn shape(&self, _: &mut Request, _: &Context) {
        self.log.lock().unwrap().push("shaped".to_owned());
        self.shaped.notify_one();
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        if matches!(record, Record::TurnOpen) {
            self.shaped.notified().await;
            tokio::task::yield_now().await;
            let asked = self.model.get().unwrap().requests().len();
            self.log.lock().unwrap().push(format!("open, asked {asked} times before"));
        }
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn promise_5_a_request_that_is_ready_waits_for_the_record() {
    let slow = Arc::new(Slow::default());
    let rig = Rig::with([calls([("a", "look", json!({}))]), says("Done.")], vec![slow.clone()]);
    slow.model.set(rig.model.clone()).ok().unwrap();
    assert_eq!(ended(&rig.prompt("Go.").await), "completed");
    assert_eq!(
        *slow.log.lock().unwrap(),
        ["shaped", "open, asked 0 times before", "shaped", "open, asked 1 times before"]
    );
    assert_eq!(rig.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn promise_2_a_truncated_answer_runs_nothing() {
    let answer = || {
        says("Writing.").step(Step::Interleaved(vec![
            Call::new("change", json!({ "say": "a rather long text", "touch": ["a"] })).with_id("a"),
            Call::new("look", json!({ "say": "another one" })).with_id("b"),
        ]))
    };
    let check = async |name: String, turn: Turn| {
        let rig = Rig::new([turn, says("Again.")]);
        rig.prompt("Go.").await;
        assert_eq!(rig.ran(), Vec::<String>::new(), "{name}");
        let said = rig.said().await;
        let made: usize = said
            .iter()
            .filter(|said| said.starts_with("assistant: Writing."))
            .map(|said| said.split(['[', ']']).nth(1).unwrap().split_whitespace().count())
            .sum();
        let settled =
            said.iter().filter(|said| said.starts_with("result") && said.contains("failed: Not run")).count();
        assert_eq!(made, settled, "{name}: every call is settled: {said:?}");
    };
    for stop in [Stop::Length, Stop::ContentFilter, Stop::Refusal, Stop::ContextWindowExceeded] {
        check(format!("{stop:?}"), answer().stop(stop)).await;
    }
    for event in 0..16 {
        let fault = Fault::InStream { error: StreamError::ServerError, at: At::Event(event) };
        check(format!("failed at {event}"), answer().fault(fault)).await;
    }
    for ms in 0..12 {
        let slow = answer().pacing(Pacing { chars: 6, first_ms: 5, delay_ms: 10 });
        let rig = Rig::new([slow]);
        let agent = rig.agent.clone();
        let abort = async {
            tokio::time::sleep(Duration::from_millis(10 * ms)).await;
            agent.abort();
        };
        let (outcome, ()) = futures::join!(rig.prompt("Go."), abort);
        if ended(&outcome) == "aborted" {
            assert_eq!(rig.ran(), Vec::<String>::new(), "aborted after {ms}0 ms");
        }
    }
}

/// One call of a random batch.
#[derive(Debug, Clone)]
struct Random {
    tool: &'static str,
    ms: u64,
    then: &'static str,
    touch: Vec<&'static str>,
    allowed: bool,
}

fn random() -> impl Strategy<Value = Random> {
    let tool =
        prop::sample::select(vec!["look", "look", "look", "change", "change", "alone", "risky", "nothing"]);
    let then = prop::sample::select(vec!["ok", "ok", "ok", "fail", "panic", "hang"]);
    let touch = prop::sample::subsequence(vec!["x", "y", "z"], 0..=2);
    (tool, 0..60_u64, then, touch, any::<bool>()).prop_map(|(tool, ms, then, touch, allowed)| Random {
        tool,
        ms,
        then,
        touch,
        allowed,
    })
}

impl Random {
    fn runs(&self) -> bool {
        self.tool != "nothing" && (self.tool != "risky" || self.allowed)
    }

    fn is_read(&self) -> bool {
        self.tool == "look"
    }

    /// Whether one must wait for the other, said another way than the engine says it.
    fn conflicts(&self, other: &Self) -> bool {
        if self.tool == "alone" || other.tool == "alone" || (!self.is_read() && !other.is_read()) {
            return true;
        }
        let apart = !self.touch.is_empty()
            && !other.touch.is_empty()
            && self.touch.iter().all(|thing| !other.touch.contains(thing));
        self.is_read() != other.is_read() && !apart
    }

    /// How long it takes: one that hangs is stopped at its deadline and left a moment later.
    fn takes(&self) -> u64 {
        if self.then == "hang" { 62_000 } else { self.ms }
    }
}

/// Allows what the batch says.
struct Person(Vec<bool>);

#[async_trait]
impl Hooks for Person {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let decide = |ask: &Ask| {
            let index: usize = ask.call.id.as_str()[1..].parse().unwrap();
            if self.0[index] { Decision::Allow } else { Decision::Deny { reason: "no".into() } }
        };
        Some(asks.iter().map(decide).collect())
    }
}

async fn batch(batch: &[Random], cut: Option<u64>) {
    let turn = batch.iter().enumerate().fold(Turn::new(), |turn, (index, call)| {
        let args = json!({ "ms": call.ms, "then": call.then, "touch": call.touch, "say": "x" });
        turn.step(Step::Call(Call::new(call.tool, args).with_id(format!("c{index}"))))
    });
    let allowed = batch.iter().map(|call| call.allowed).collect();
    let rig = Rig::with([turn, says("Done.")], vec![Arc::new(Person(allowed))]);
    let agent = rig.agent.clone();
    let interrupt = async {
        if let Some(ms) = cut {
            // Half a millisecond, so that it never coincides with the end of a call.
            tokio::time::sleep(Duration::from_micros(ms * 1000 + 500)).await;
            agent.abort();
        }
    };
    let (outcome, ()) = futures::join!(rig.prompt("Go."), interrupt);

    // Exactly one result for each call, in call order.
    let results: Vec<String> = agent
        .with(|cx| {
            let results = cx.messages.iter().filter_map(|message| match message {
                Message::ToolResult(result) => Some(result.call.to_string()),
                _ => None,
            });
            results.collect()
        })
        .await
        .unwrap();
    let expected: Vec<String> = (0..batch.len()).map(|index| format!("c{index}")).collect();
    assert_eq!(results, expected);

    // Each call begins when the last one it conflicts with has ended: neither earlier nor later.
    let mut schedule: Vec<(u64, u64, bool)> = Vec::new();
    for (index, call) in batch.iter().enumerate() {
        let before = (0..index).filter(|earlier| batch[*earlier].runs() && batch[*earlier].conflicts(call));
        let from = before.map(|earlier| schedule[earlier].1).max().unwrap_or(0);
        // What was cut before it began takes no time when its turn comes.
        let is_cut = cut.is_some_and(|cut| from > cut);
        let to = match cut {
            _ if is_cut => from,
            // What hangs when the run is cut is left after a moment.
            Some(cut) if call.then == "hang" => u64::max(from, cut) + 2_001,
            _ => from + call.takes(),
        };
        schedule.push((from, to, call.runs() && !is_cut));
    }
    let mut began: Vec<(String, u64)> =
        rig.times().into_iter().map(|(call, from, _)| (call, u64::try_from(from).unwrap())).collect();
    began.sort();
    let mut expected: Vec<(String, u64)> = schedule
        .iter()
        .enumerate()
        .filter(|(_, (_, _, runs))| *runs)
        .map(|(index, (from, _, _))| (format!("c{index}"), *from))
        .collect();
    expected.sort();
    assert_eq!(began, expected, "outcome {}", ended(&outcome));

    // Told once, and nothing about a call outside of its start and end.
    let told = rig.told();
    for (call, _) in &began {
        let starts = told.iter().filter(|told| **told == format!("call_start {call}")).count();
        let ends = told.iter().filter(|told| told.starts_with(&format!("call_end {call} "))).count();
        assert_eq!((starts, ends), (1, 1), "{call}");
    }
    assert_eq!(told.iter().filter(|told| told.starts_with("call_start")).count(), began.len());
}

fn in_virtual_time(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(work);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promise_3_every_call_has_one_result_in_order(
        calls in prop::collection::vec(random(), 1..12),
        cut in prop::option::weighted(0.4, 0..200_u64),
    ) {
        // The panics of the tools are meant; their reports would bury anything else.
        std::panic::set_hook(Box::new(|info| {
            if info.payload().downcast_ref::<String>().is_none_or(|said| said != "x") {
                eprintln!("{info}");
            }
        }));
        in_virtual_time(batch(&calls, cut));
    }
}

#[tokio::test(start_paused = true)]
async fn promise_9_calls_at_once_have_an_end() {
    let turn = (0..100).fold(Turn::new(), |turn, index| {
        turn.step(Step::Call(Call::new("look", json!({ "ms": 10 })).with_id(format!("c{index}"))))
    });
    let rig = Rig::new([turn, says("Done.")]);
    rig.prompt("Go.").await;
    let mut at_once = std::collections::BTreeMap::new();
    for (_, from, _) in rig.times() {
        *at_once.entry(from).or_insert(0) += 1;
    }
    assert_eq!(at_once.into_iter().collect::<Vec<_>>(), [(0, 32), (10, 32), (20, 32), (30, 4)]);
}

/// A message as it can be told by events: without seals and other things that only a provider reads.
#[derive(Debug, Clone, PartialEq)]
enum Seen {
    Whole(Message),
    Answer { id: String, blocks: Vec<Piece>, stop: StopReason, usage: Usage },
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(TextKind, String),
    Thinking(String),
    Call(String, String, String),
}

/// What a client makes of a run's events.
fn folded(events: &[Event]) -> Vec<Seen> {
    let mut seen = Vec::new();
    let mut blocks: Vec<Piece> = Vec::new();
    for event in events {
        match &event.kind {
            EventKind::Message { message } => seen.push(Seen::Whole(message.clone())),
            EventKind::AnswerStart { .. } => blocks.clear(),
            EventKind::Answer { delta, .. } => match delta {
                StreamEvent::TextStart { kind, .. } => blocks.push(Piece::Text(*kind, String::new())),
                StreamEvent::ThinkingStart { .. } => blocks.push(Piece::Thinking(String::new())),
                StreamEvent::CallStart { call, tool, .. } => {
                    blocks.push(Piece::Call(call.to_string(), tool.clone(), String::new()));
                }
                StreamEvent::TextDelta { block, text: more }
                | StreamEvent::ThinkingDelta { block, text: more }
                | StreamEvent::CallDelta { block, json: more } => match &mut blocks[*block] {
                    Piece::Text(_, text) | Piece::Thinking(text) | Piece::Call(_, _, text) => {
                        text.push_str(more);
                    }
                },
                _ => {}
            },
            EventKind::AnswerEnd { message, stop, usage } => {
                let failed = matches!(stop, StopReason::Error | StopReason::Aborted);
                if !(failed && blocks.is_empty()) {
                    let (id, blocks) = (message.to_string(), std::mem::take(&mut blocks));
                    seen.push(Seen::Answer { id, blocks, stop: *stop, usage: *usage });
                }
            }
            _ => {}
        }
    }
    seen
}

fn seen(message: &Message) -> Seen {
    let Message::Assistant(answer) = message else { return Seen::Whole(message.clone()) };
    let blocks = answer.blocks.iter().map(|block| match block {
        Block::Text(text) => Piece::Text(text.kind, text.text.clone()),
        Block::Thinking(thinking) => Piece::Thinking(thinking.text.clone()),
        Block::ToolCall(call) => {
            Piece::Call(call.id.to_string(), call.name.clone(), call.arguments.text().to_owned())
        }
        Block::Image(_) => panic!("no images here"),
    });
    Seen::Answer {
        id: answer.id.to_string(),
        blocks: blocks.collect(),
        stop: answer.stop,
        usage: answer.usage,
    }
}

#[tokio::test(start_paused = true)]
async fn promise_12_ids_and_sequence_numbers() {
    let slow = Pacing { chars: 3, first_ms: 1, delay_ms: 10 };
    let rig = Rig::new([
        Turn::new().thinking("Hm.").text("Looking.").step(Step::Interleaved(vec![
            Call::new("look", json!({ "say": "1", "news": "n", "ms": 5 })).with_id("a"),
            Call::new("change", json!({ "then": "fail", "say": "2" })).with_id("b"),
        ])),
        says("A long story that will be cut").pacing(slow),
        says("Short.").fault(Fault::InStream { error: StreamError::Overloaded, at: At::Start }),
        calls([("a", "risky", json!({ "say": "done" }))]),
        says("Allowed."),
        calls([("c", "risky", json!({}))]),
        says("Fine."),
        calls([("d", "look", json!({}))]).stop(Stop::Length),
        Turn::new().refusal("No."),
        says("Half of this").pacing(slow),
    ]);
    rig.on("delta A l", |agent| agent.interrupt("Shorter.").unwrap());
    let mut outcomes = vec![ended(&rig.prompt("One.").await)];
    outcomes.push(ended(&rig.prompt("Two.").await));
    outcomes.push(ended(&rig.resume([("a", Decision::Allow)]).await));
    outcomes.push(ended(&rig.prompt("Three.").await));
    outcomes.push(ended(&rig.prompt("Never mind.").await));
    outcomes.push(ended(&rig.prompt("Five.").await));
    rig.on("delta Hal", mica_agent::Agent::abort);
    outcomes.push(ended(&rig.prompt("Six.").await));
    assert_eq!(
        outcomes,
        ["failed overloaded", "suspended a", "completed", "suspended c", "completed", "completed", "aborted"]
    );

    let events = rig.events();
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "no gap over all runs");
    let mut runs: Vec<String> = events.iter().map(|event| event.run.to_string()).collect();
    runs.dedup();
    assert_eq!(runs.len(), 6, "a resumed run is the same run");
    let messages: Vec<Seen> = rig.agent.with(|cx| cx.messages.iter().map(seen).collect()).await.unwrap();
    assert_eq!(folded(&events), messages);
    let mut ids: Vec<String> = rig
        .agent
        .with(|cx| cx.messages.iter().map(|message| message.id().to_string()).collect())
        .await
        .unwrap();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "every message has an id of its own");
    for event in &events {
        let told: Value = serde_json::to_value(event).unwrap();
        assert!(told["seq"].is_u64() && told["run"].is_string() && told["type"].is_string(), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn promise_13_streaming_cost_is_linear() {
    let cost = async |deltas: usize| {
        let piece = "twelve chars";
        let rig = Rig::new([
            Turn::new()
                .thinking(piece.repeat(deltas))
                .text(piece.repeat(deltas))
                .call("look", json!({ "say": piece.repeat(deltas) })),
            says("Done."),
        ]);
        rig.prompt("Go.").await;
        let mut total = 0;
        let mut longest = 0;
        for event in rig.events() {
            let size = serde_json::to_string(&event).unwrap().len();
            total += size;
            if matches!(event.kind, EventKind::Answer { .. }) {
                longest = longest.max(size);
            }
        }
        (total, longest)
    };
    let (short, delta) = cost(250).await;
    let (long, same) = cost(1000).await;
    assert!(long as f64 <= short as f64 * 4.2, "{short} bytes became {long}");
    // Two digits more for a sequence number, at most: a delta never carries what came before it.
    assert!(same <= delta + 2 && delta < 400, "a delta of {delta} bytes became one of {same}");
}
