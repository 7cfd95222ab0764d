//! An agent with a scripted model, tools that do what their arguments say, and a log of what was told.

#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{
    Access, Agent, Answer, Approval, Args, Ask, Context, Decision, Decisions, Event, EventKind, Hooks,
    Listener, Outcome, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
};
use mica_ai::event::StreamEvent;
use mica_ai::message::{Content, ResultStatus};
use mica_ai::{Dialect, Message, Model, StopReason};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::{Value, json};
use tokio::time::Instant;

/// A turn that makes these calls.
pub fn calls<const N: usize>(calls: [(&str, &str, Value); N]) -> Turn {
    calls
        .into_iter()
        .fold(Turn::new(), |turn, (id, tool, args)| turn.step(Step::Call(Call::new(tool, args).with_id(id))))
}

/// A turn that says something.
pub fn says(text: &str) -> Turn {
    Turn::new().text(text)
}

/// When calls ran, in milliseconds since the rig was made.
pub type Journal = Arc<Mutex<Vec<Ran>>>;

/// One call that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub call: String,
    pub from: u128,
    pub to: Option<u128>,
    pub effect_key: String,
}

/// A tool that does what its arguments say: wait `ms`, tell `news`, and then answer, fail, panic, hang and so on.
pub struct Probe {
    spec: ToolSpec,
    journal: Journal,
    epoch: Instant,
    kept: Mutex<Vec<ToolCx>>,
}

impl Probe {
    pub fn new(name: &str, journal: &Journal, change: impl FnOnce(&mut ToolSpec)) -> Self {
        let mut spec = ToolSpec::new(name, "Does as told.", json!({ "type": "object" }));
        spec.deadline = Duration::from_secs(60);
        change(&mut spec);
        Self { spec, journal: Arc::clone(journal), epoch: Instant::now(), kept: Mutex::default() }
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, args: &Args) -> Access {
        if args.contains_key("only_looks") { Access::Read } else { self.spec.access }
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        let names = args.get("touch").and_then(Value::as_array).cloned().unwrap_or_default();
        if names.iter().any(|name| name == "panic") {
            panic!("touched the wrong thing");
        }
        names.iter().map(|name| Resource::named("thing", name.as_str().unwrap())).collect()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let number = {
            let mut journal = self.journal.lock().unwrap();
            journal.push(Ran {
                call: cx.call.to_string(),
                from: self.epoch.elapsed().as_millis(),
                to: None,
                effect_key: cx.effect_key.clone(),
            });
            journal.len() - 1
        };
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if !text("news").is_empty() {
            cx.progress(text("news"));
        }
        tokio::time::sleep(Duration::from_millis(args.get("ms").and_then(Value::as_u64).unwrap_or(0))).await;
        let made = match text("then").as_str() {
            "fail" => Err(ToolError::new(text("say"))),
            "panic" => panic!("{}", text("say")),
            "hang" => std::future::pending().await,
            "obey" => {
                cx.cancel.cancelled().await;
                Err(ToolError::new("Stopped halfway."))
            }
            // A person who thinks for `think` milliseconds, or who is not there.
            "ask" => {
                let think = args.get("think").and_then(Value::as_u64);
                let thinking = async {
                    match think {
                        None => "nobody",
                        Some(ms) => {
                            tokio::select! {
                                () = tokio::time::sleep(Duration::from_millis(ms)) => "answered",
                                () = cx.cancel.cancelled() => "withdrawn",
                            }
                        }
                    }
                };
                Ok(ToolOutput::text(cx.person(json!(["Which?"]), thinking).await))
            }
            "large" => Ok(ToolOutput::text("ß".repeat(1000))),
            "large_error" => Err(ToolError::new("ß".repeat(1000))),
            "details" => Ok(ToolOutput::text(text("say")).with_details(json!({ "lines": 3 }))),
            "flood" => {
                let cx = cx.clone();
                tokio::spawn(async move {
                    loop {
                        cx.progress("more");
                        tokio::task::yield_now().await;
                    }
                });
                std::future::pending().await
            }
            "linger" => {
                self.kept.lock().unwrap().push(cx.clone());
                let cx = cx.clone();
                tokio::spawn(async move {
                    for _ in 0..10 {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        cx.progress("too late");
                    }
                });
                Ok(ToolOutput::text(text("say")))
            }
            _ => Ok(ToolOutput::text(text("say"))),
        };
        self.journal.lock().unwrap()[number].to = Some(self.epoch.elapsed().as_millis());
        made
    }
}

type Act = Box<dyn FnOnce(&Agent) + Send>;

/// Keeps what is told, and does something when something is told.
#[derive(Default)]
pub struct Log {
    events: Mutex<Vec<Event>>,
    /// Everything that was asked, also what was looked at already.
    asks: Mutex<Vec<Ask>>,
    acts: Mutex<Vec<(String, Act)>>,
    agent: OnceLock<Agent>,
}

#[async_trait]
impl Listener for Log {
    async fn event(&self, event: Event) {
        let told = told(&event.kind);
        if let EventKind::ApprovalAsked { ask } = &event.kind {
            self.asks.lock().unwrap().push(ask.clone());
        }
        self.events.lock().unwrap().push(event);
        let act = {
            let mut acts = self.acts.lock().unwrap();
            let at = acts.iter().position(|(at, _)| *at == told);
            at.map(|at| acts.remove(at).1)
        };
        if let (Some(act), Some(agent)) = (act, self.agent.get()) {
            act(agent);
        }
    }
}

/// An agent under test.
pub struct Rig {
    pub agent: Agent,
    pub model: ScriptedModel,
    pub journal: Journal,
    log: Arc<Log>,
}

/// The tools of a rig: `look` reads, `change` writes, `alone` is exclusive, `risky` asks, `finish` ends the run, `switch` the batch.
pub fn tools(journal: &Journal) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Probe::new("look", journal, |_| {})),
        Arc::new(Probe::new("change", journal, |spec| {
            spec.access = Access::Write;
            spec.effect = mica_agent::Effect::Unsafe;
        })),
        Arc::new(Probe::new("alone", journal, |spec| spec.access = Access::Exclusive)),
        Arc::new(Probe::new("risky", journal, |spec| {
            spec.access = Access::Write;
            spec.approval = Approval::Needed;
        })),
        Arc::new(Probe::new("finish", journal, |spec| spec.ends = mica_agent::Ends::Run)),
        Arc::new(Probe::new("switch", journal, |spec| {
            spec.access = Access::Exclusive;
            spec.ends = mica_agent::Ends::Batch;
        })),
        Arc::new(Probe::new("small", journal, |spec| spec.output_limit = 101)),
    ]
}

pub fn context(model: Arc<dyn mica_ai::Provider>, journal: &Journal) -> Context {
    let mut context = Context::new(model, Arc::new(Model::assumed("scripted", Dialect::Responses)));
    for tool in tools(journal) {
        context.tools.add(tool);
    }
    context
}

impl Rig {
    pub fn new<const N: usize>(turns: [Turn; N]) -> Self {
        Self::with(turns, Vec::new())
    }

    pub fn with<const N: usize>(turns: [Turn; N], hooks: Vec<Arc<dyn Hooks>>) -> Self {
        let model = ScriptedModel::new(turns.into_iter().fold(Scenario::new(), Scenario::turn));
        let journal = Journal::default();
        let agent = Agent::new(context(Arc::new(model.clone()), &journal), hooks);
        let log = Arc::new(Log::default());
        log.agent.set(agent.clone()).ok().unwrap();
        agent.listen(log.clone());
        Self { agent, model, journal, log }
    }

    /// Does something when this is told next.
    pub fn on(&self, told: &str, act: impl FnOnce(&Agent) + Send + 'static) {
        self.log.acts.lock().unwrap().push((told.to_owned(), Box::new(act)));
    }

    pub async fn prompt(&self, text: &str) -> Outcome {
        self.agent.prompt(text).await.unwrap()
    }

    pub async fn resume<const N: usize>(&self, answers: [(&str, Decision); N]) -> Outcome {
        let answers = answers.into_iter().map(|(call, decision)| self.answer(call, decision)).collect();
        self.agent.resume(Decisions(answers)).await.unwrap()
    }

    /// An answer to what was asked last about a call.
    pub fn answer(&self, call: &str, decision: Decision) -> Answer {
        let asks = self.log.asks.lock().unwrap();
        let asked = asks.iter().rev().find(|ask| ask.call.id.as_str() == call);
        let shown = asked.map(|ask| ask.shown.clone());
        let base = asked.and_then(|ask| ask.base.clone());
        Answer { call: call.into(), shown, base, decision }
    }

    /// All events so far.
    pub fn events(&self) -> Vec<Event> {
        self.log.events.lock().unwrap().clone()
    }

    /// What was told since the last time, without deltas and usage.
    pub fn told(&self) -> Vec<String> {
        let events = std::mem::take(&mut *self.log.events.lock().unwrap());
        let kinds = events.iter().map(|event| &event.kind);
        kinds
            .filter(|kind| !matches!(kind, EventKind::Answer { .. } | EventKind::Usage { .. }))
            .map(told)
            .collect()
    }

    /// The conversation.
    pub async fn said(&self) -> Vec<String> {
        self.agent.with(|cx| cx.messages.iter().map(said).collect()).await.unwrap()
    }

    /// How often the model was asked.
    pub fn asked(&self) -> usize {
        self.model.requests().len()
    }

    /// Which calls ran, in the order they began.
    pub fn ran(&self) -> Vec<String> {
        self.journal.lock().unwrap().iter().map(|ran| ran.call.clone()).collect()
    }

    /// When they ran.
    pub fn times(&self) -> Vec<(String, u128, Option<u128>)> {
        self.journal.lock().unwrap().iter().map(|ran| (ran.call.clone(), ran.from, ran.to)).collect()
    }
}

fn text(content: &[Content]) -> String {
    let parts = content.iter().map(|part| match part {
        Content::Text { text } => text.clone(),
        Content::Image(_) => "[image]".to_owned(),
    });
    parts.collect::<Vec<_>>().join("|")
}

fn status(status: ResultStatus) -> &'static str {
    match status {
        ResultStatus::Ok => "ok",
        ResultStatus::Failed => "failed",
    }
}

fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}

/// A message in one line.
pub fn said(message: &Message) -> String {
    match message {
        Message::User(user) => format!("user: {}", text(&user.content)),
        Message::Assistant(answer) => {
            let calls: Vec<&str> = answer.calls().map(|call| call.id.as_str()).collect();
            let stop = if answer.stop == StopReason::Stop { String::new() } else { word(answer.stop) };
            format!("assistant: {} [{}] {stop}", answer.text(), calls.join(" ")).trim_end().to_owned()
        }
        Message::ToolResult(result) => {
            format!("result {} {}: {}", result.call, status(result.status), text(&result.content))
        }
    }
}

/// An event in one line.
pub fn told(kind: &EventKind) -> String {
    match kind {
        EventKind::RunStart => "run_start".to_owned(),
        EventKind::TurnStart { turn } => format!("turn_start {turn}"),
        EventKind::Message { message } => said(message),
        EventKind::AnswerStart { .. } => "answer_start".to_owned(),
        EventKind::Answer { delta, .. } => match delta {
            StreamEvent::TextDelta { text, .. } => format!("delta {text}"),
            other => format!("delta {}", serde_json::to_value(other).unwrap()["type"].as_str().unwrap()),
        },
        EventKind::Retry(_) => "retry".to_owned(),
        EventKind::AnswerEnd { stop, .. } => format!("answer_end {}", word(stop)),
        EventKind::CallStart { call, .. } => format!("call_start {call}"),
        EventKind::CallProgress { call, news } => format!("progress {call} {news}"),
        EventKind::Question { call, questions } => format!("question {call} {questions}"),
        EventKind::QuestionOver { call } => format!("question_over {call}"),
        EventKind::CallEnd { call, status: how, .. } => format!("call_end {call} {}", status(*how)),
        EventKind::ApprovalAsked { ask } => format!("asked {}", ask.call.id),
        EventKind::ApprovalGiven { call, decision } => {
            let answer = serde_json::to_value(decision).unwrap();
            format!("given {call} {}", answer["answer"].as_str().unwrap())
        }
        EventKind::Window { change } => format!("window {}", change.kind),
        EventKind::Usage { .. } => "usage".to_owned(),
        EventKind::Subagent { agent, event } => format!("{agent} > {}", told(event)),
        EventKind::Notice { text } => format!("notice {text}"),
        EventKind::TurnEnd { turn } => format!("turn_end {turn}"),
        EventKind::RunEnd { outcome } => format!("run_end {}", ended(outcome)),
    }
}

/// An outcome in one line.
pub fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Completed => "completed".to_owned(),
        Outcome::Exhausted { limit } => format!("exhausted {}", limit.name),
        Outcome::Suspended { asks } => {
            let calls: Vec<&str> = asks.iter().map(|ask| ask.call.id.as_str()).collect();
            format!("suspended {}", calls.join(" "))
        }
        Outcome::Aborted => "aborted".to_owned(),
        Outcome::Failed { error } => {
            let error = serde_json::to_value(error).unwrap();
            format!("failed {}", error["kind"].as_str().unwrap())
        }
    }
}
