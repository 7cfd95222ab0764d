//! What the loop costs between two model calls: from the last byte of an answer to the next request.
//!
//! A scripted model in process makes a tool call in each of 50 turns. The floor asks the same model for the same
//! answers without any loop: it appends the answer and a result, and asks again. Both are measured in the same run, and
//! the ratio is what counts; the bar is in milliseconds because that is what people feel.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::exit,
    reason = "a benchmark is a program"
)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::StreamExt;
use mica_agent::{Agent, Context, Outcome, ToolOutput, TypedTool};
use mica_ai::message::{Content, ResultStatus};
use mica_ai::{
    Assistant, Dialect, Message, Model, ModelStream, Outcome as Answered, Provider, Request, StreamEvent,
    User,
};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

const TURNS: usize = 50;
const ROUNDS: usize = 20;
/// Deltas of each answer: about what a model says before a call.
const DELTAS: usize = 40;
/// Bytes of each result: about a small file.
const RESULT: usize = 4096;
/// The bar for the median.
const BAR: Duration = Duration::from_millis(1);

#[derive(Deserialize, JsonSchema)]
struct Read {
    #[serde(rename = "path")]
    _path: String,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    println!("{TURNS} tool turns of {DELTAS} deltas and a result of {RESULT} bytes, {ROUNDS} rounds");
    // Once each before counting.
    runtime.block_on(looped());
    runtime.block_on(bare());
    let (mut ours, mut floor) = (Measured::default(), Measured::default());
    for round in 0..ROUNDS {
        // Who goes first alternates, so that neither always finds the caches warm.
        if round % 2 == 0 {
            ours.add(runtime.block_on(looped()));
            floor.add(runtime.block_on(bare()));
        } else {
            floor.add(runtime.block_on(bare()));
            ours.add(runtime.block_on(looped()));
        }
    }
    println!("{:<26} {:>10} {:>10} {:>7}", "", "loop µs", "floor µs", "ratio");
    let row = |name: &str, ours: Duration, floor: Duration| {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let ratio = micros(ours) / micros(floor);
        println!("{name:<26} {:>10.1} {:>10.1} {ratio:>7.2}", micros(ours), micros(floor));
    };
    let (p50, p95) = (ours.gap(50), ours.gap(95));
    row("answer to request, p50", p50, floor.gap(50));
    row("answer to request, p95", p95, floor.gap(95));
    row("whole run, median", ours.whole(), floor.whole());
    println!("p50 {:.3} ms, bar {} ms: {}", p50.as_secs_f64() * 1e3, BAR.as_millis(), verdict(p50));
    if p50 > BAR {
        std::process::exit(1);
    }
}

fn verdict(p50: Duration) -> &'static str {
    if p50 <= BAR { "met" } else { "NOT MET" }
}

fn scenario() -> Scenario {
    let turn = Turn::new().text("twelve chars".repeat(DELTAS)).call("read", json!({ "path": "src/main.rs" }));
    Scenario::new().turn(turn.repeat(TURNS)).turn(Turn::new().text("Done."))
}

fn model() -> Arc<Model> {
    Arc::new(Model::assumed("bench", Dialect::Responses))
}

/// A run through the loop.
async fn looped() -> Round {
    let timed = Timed::new();
    let mut context = Context::new(Arc::new(timed.clone()), model());
    let result = "x".repeat(RESULT);
    context.tools.add(Arc::new(TypedTool::new("read", "Reads a file.", move |_: Read, _| {
        let result = result.clone();
        async move { Ok(ToolOutput::text(result)) }
    })));
    let agent = Agent::new(context, Vec::new());
    let began = Instant::now();
    let outcome = agent.prompt("Read everything.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed));
    timed.round(began.elapsed())
}

/// The least that asks the same questions.
async fn bare() -> Round {
    let timed = Timed::new();
    let result = "x".repeat(RESULT);
    let mut messages: Vec<Message> = vec![User::text("Read everything.").into()];
    let began = Instant::now();
    loop {
        let mut request = Request::new(model());
        request.messages.clone_from(&messages);
        let answer = read(timed.stream(Arc::new(request), CancellationToken::new())).await;
        let results: Vec<Message> = answer
            .calls()
            .map(|call| call.result(vec![Content::text(result.clone())], ResultStatus::Ok).into())
            .collect();
        messages.push(answer.into());
        if results.is_empty() {
            return timed.round(began.elapsed());
        }
        messages.extend(results);
    }
}

async fn read(mut stream: ModelStream) -> Assistant {
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::Done { message } => return *message,
            StreamEvent::Error { error, .. } => panic!("{error}"),
            _ => {}
        }
    }
    unreachable!("a stream ends with a terminal event")
}

/// A scripted model that notes when it is asked and when it is done.
#[derive(Clone)]
struct Timed {
    model: ScriptedModel,
    times: Arc<Mutex<Vec<Asked>>>,
}

/// When it was asked, and when it was done.
type Asked = (Instant, Option<Instant>);

impl Timed {
    fn new() -> Self {
        Self { model: ScriptedModel::new(scenario()), times: Arc::default() }
    }

    fn round(&self, whole: Duration) -> Round {
        let times = self.times.lock().unwrap();
        assert_eq!(times.len(), TURNS + 1);
        let gaps = times.windows(2).map(|pair| pair[1].0 - pair[0].1.unwrap()).collect();
        Round { gaps, whole }
    }
}

impl Provider for Timed {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let times = Arc::clone(&self.times);
        times.lock().unwrap().push((Instant::now(), None));
        let mut answer = self.model.stream(request, cancel);
        ModelStream::new(|sink| async move {
            while let Some(event) = answer.next().await {
                match event {
                    StreamEvent::Done { message } => {
                        times.lock().unwrap().last_mut().unwrap().1 = Some(Instant::now());
                        return Answered::Done(*message);
                    }
                    StreamEvent::Error { partial, error } => {
                        return Answered::Failed { partial: *partial, error };
                    }
                    event => {
                        sink.send(event);
                        sink.flush().await;
                    }
                }
            }
            unreachable!("a stream ends with a terminal event")
        })
    }
}

struct Round {
    gaps: Vec<Duration>,
    whole: Duration,
}

#[derive(Default)]
struct Measured {
    gaps: Vec<Duration>,
    wholes: Vec<Duration>,
}

impl Measured {
    fn add(&mut self, round: Round) {
        self.gaps.extend(round.gaps);
        self.wholes.push(round.whole);
    }

    fn gap(&mut self, percent: usize) -> Duration {
        self.gaps.sort_unstable();
        self.gaps[self.gaps.len() * percent / 100]
    }

    fn whole(&mut self) -> Duration {
        self.wholes.sort_unstable();
        self.wholes[self.wholes.len() / 2]
    }
}
