//! An agent over a pipe: JSON lines in, JSON lines out.
//!
//! A request is `{"id": …, "method": …, …}`; its answer is `{"id": …, "result": …}` or `{"id": …, "error": {"message"}}`.
//! Events are lines without an `id`: `{"event": {…}}`. Everything written is one line.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use mica_agent::{Decision, Decisions, Event, Listener, Outcome};
use mica_ai::id::CallId;
use mica_policy::mode::Mode;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::mpsc;

use crate::questions::Question;
use crate::render::json::JsonLines;
use crate::work::Work;

/// What can be asked.
#[derive(Debug, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
enum Method {
    /// Run from a prompt. Answered when the run ends.
    Prompt {
        text: String,
        #[serde(default)]
        id: Value,
    },
    /// Say something that joins before the next model call.
    Steer {
        text: String,
        #[serde(default)]
        id: Value,
    },
    /// Say something for when the run would end.
    FollowUp {
        text: String,
        #[serde(default)]
        id: Value,
    },
    /// Cut what is under way and say something instead.
    Interrupt {
        text: String,
        #[serde(default)]
        id: Value,
    },
    /// End the run.
    Abort {
        #[serde(default)]
        id: Value,
    },
    /// Answer questions: a decision for each call. The run goes on when every call that is asked about is decided.
    Approve {
        decisions: Vec<Answer>,
        #[serde(default)]
        id: Value,
    },
    /// What the agent is doing.
    State {
        #[serde(default)]
        id: Value,
    },
    /// Change how much may be done.
    Mode {
        mode: String,
        #[serde(default)]
        id: Value,
    },
    /// Summarise before the next answer.
    Compact {
        #[serde(default)]
        focus: Option<String>,
        #[serde(default)]
        id: Value,
    },
}

/// An answer to a question about one call.
#[derive(Debug, Deserialize)]
struct Answer {
    call: CallId,
    #[serde(flatten)]
    decision: Decision,
}

struct Events {
    out: Arc<JsonLines>,
}

#[async_trait]
impl Listener for Events {
    async fn event(&self, event: Event) {
        self.out.line(&json!({ "event": event }));
    }
}

/// A listener that writes events as RPC lines.
pub fn listener(out: &Arc<JsonLines>) -> Arc<dyn Listener> {
    Arc::new(Events { out: Arc::clone(out) })
}

/// What is asked, and what was answered. An answer may come before the question is open here: the event that asks is
/// told first.
#[derive(Default)]
struct Asking {
    open: Option<Question>,
    given: Vec<(CallId, Decision)>,
}

impl Asking {
    /// Answers the question once all of its calls are decided.
    fn settle(&mut self) {
        let Some(question) = self.open.take() else { return };
        let answers = Decisions(self.given.clone());
        let decided: Option<Vec<Decision>> =
            question.asks.iter().map(|ask| answers.of(&ask.call.id).cloned()).collect();
        match decided {
            None => self.open = Some(question),
            Some(decided) => {
                self.given.clear();
                // A run that was aborted meanwhile does not wait for it any more.
                let _ = question.reply.send(decided);
            }
        }
    }
}

/// Serves requests until the input ends.
///
/// # Errors
/// When the input cannot be read.
pub async fn serve(
    work: &Work,
    input: impl AsyncRead + Unpin,
    out: &Arc<JsonLines>,
    mut questions: mpsc::Receiver<Question>,
) -> Result<()> {
    let mut lines = BufReader::new(input).lines();
    let mut asking = Asking::default();
    let (ended, mut outcomes) = mpsc::channel::<(Value, Result<Outcome>)>(4);
    let mut running = false;
    let mut reading = true;
    loop {
        tokio::select! {
            line = lines.next_line(), if reading => match line? {
                None if running => {
                    work.agent.abort();
                    reading = false;
                }
                None => return Ok(()),
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match serde_json::from_str::<Method>(&line) {
                    Err(error) => {
                        let id = serde_json::from_str::<Value>(&line).ok().and_then(|value| value.get("id").cloned());
                        fail(out, &id.unwrap_or(Value::Null), &format!("this is no request: {error}"));
                    }
                    Ok(method) => handle(work, method, out, &mut asking, &mut running, &ended),
                },
            },
            Some(question) = questions.recv() => {
                asking.open = Some(question);
                asking.settle();
            }
            Some((id, outcome)) = outcomes.recv() => {
                running = false;
                asking = Asking::default();
                match outcome {
                    Ok(outcome) => out.line(&json!({ "id": id, "result": outcome })),
                    Err(error) => fail(out, &id, &format!("{error:#}")),
                }
                if !reading {
                    return Ok(());
                }
            }
        }
    }
}

fn handle(
    work: &Work,
    method: Method,
    out: &Arc<JsonLines>,
    asking: &mut Asking,
    running: &mut bool,
    ended: &mpsc::Sender<(Value, Result<Outcome>)>,
) {
    let done = |id: Value| out.line(&json!({ "id": id, "result": {} }));
    match method {
        Method::Prompt { id, .. } if *running => fail(out, &id, &mica_agent::Busy.to_string()),
        Method::Prompt { text, id } => {
            *running = true;
            let (work, ended) = (work.clone(), ended.clone());
            tokio::spawn(async move {
                let outcome = work.prompt(&text).await;
                let _ = ended.send((id, outcome)).await;
            });
        }
        Method::Steer { text, id } => match work.agent.steer(text) {
            Ok(()) => done(id),
            Err(full) => fail(out, &id, &full.to_string()),
        },
        Method::FollowUp { text, id } => match work.agent.follow_up(text) {
            Ok(()) => done(id),
            Err(full) => fail(out, &id, &full.to_string()),
        },
        Method::Interrupt { text, id } => match work.agent.interrupt(text) {
            Ok(()) => done(id),
            Err(full) => fail(out, &id, &full.to_string()),
        },
        Method::Abort { id } => {
            work.agent.abort();
            done(id);
        }
        Method::Approve { id, .. } if !*running => fail(out, &id, "nothing is asked: no run goes on"),
        Method::Approve { decisions, id } => {
            asking.given.extend(decisions.into_iter().map(|answer| (answer.call, answer.decision)));
            asking.settle();
            done(id);
        }
        Method::State { id } => {
            let asks = asking.open.as_ref().map(|question| question.asks.clone()).unwrap_or_default();
            out.line(&json!({ "id": id, "result": {
                "running": running,
                "mode": work.mode.get().name(),
                "model": work.choice.model.id,
                "endpoint": work.choice.endpoint.name,
                "session": work.session_id(),
                "asks": asks,
            } }));
        }
        Method::Mode { mode, id } => match mode.parse::<Mode>() {
            Ok(mode) => {
                work.mode.set(mode);
                done(id);
            }
            Err(error) => fail(out, &id, &error.to_string()),
        },
        Method::Compact { focus, id } => {
            work.window.request_compaction(focus);
            done(id);
        }
    }
}

fn fail(out: &Arc<JsonLines>, id: &Value, message: &str) {
    out.line(&json!({ "id": id, "error": { "message": message } }));
}
