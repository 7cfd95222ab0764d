//! The end of a run: the domain, the lifecycles and the record of the session are done with it before anybody else hears.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::{Point, Record};
use mica_agent::{Event, EventKind, Hooks, Listener, Outcome, RunError};
use mica_ai::id::{CallId, MessageId};
use mica_ai::{Assistant, Block, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::asked::Asked;
use super::lives::Lives;
use super::setup::Now;
use crate::capture::{Book, Bundle, Bundles};
use crate::hooks::DomainHooks;
use crate::keeping::word;
use crate::lifecycle::Ending;
use crate::profile::RunMode;
use crate::runners::Turned;
use crate::side::Side;

/// Whose changes these are, beside the session: answers as people see them, and what runs that nobody watched came to.
const SHOWN: &str = "shown";
const AUDIT: &str = "audit";

/// What a run that nobody watched came to, for whoever looks later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// When it ended.
    pub time: jiff::Timestamp,
    /// How, in one word.
    pub outcome: String,
    /// Its own summary. Empty when it said nothing.
    pub summary: String,
    /// What it proposed, in one line each: none of it was done, whatever the summary says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposed: Vec<String>,
    /// The bundle that has it, for a person to decide about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<String>,
}

/// Ends runs.
pub(super) struct Closing {
    pub(super) domain: Arc<DomainHooks>,
    pub(super) lives: Arc<Lives>,
    pub(super) asked: Arc<Asked>,
    pub(super) side: Arc<dyn Side>,
    pub(super) clock: Now,
    pub(super) book: Arc<Book>,
    pub(super) bundles: Bundles,
    pub(super) run: Mutex<Run>,
}

/// The run that goes on, or went on last.
#[derive(Default)]
pub(super) struct Run {
    /// It began, and has not ended.
    open: bool,
    /// Calls that run, and their tools.
    calls: BTreeMap<CallId, String>,
    /// What they gave, in the order they ended.
    details: Vec<(String, Value)>,
    /// The last answer that said something, and what.
    words: Option<(MessageId, String)>,
    /// Those words as people see them.
    text: String,
    /// What was captured.
    bundle: Option<Bundle>,
}

impl Closing {
    /// A run begins.
    pub(super) fn begins(&self) {
        *self.run() = Run { open: true, ..Run::default() };
    }

    /// A run goes on, possibly one of a process that ended.
    pub(super) fn goes_on(&self) {
        self.run().open = true;
    }

    /// Whether a run began that has not ended.
    pub(super) fn is_open(&self) -> bool {
        self.run().open
    }

    /// What the last run captured.
    pub(super) fn bundle(&self) -> Option<Bundle> {
        self.run().bundle.clone()
    }

    /// What the last run came to.
    pub(super) fn turned(&self, outcome: Outcome) -> Turned {
        let run = self.run();
        Turned { outcome, text: run.text.clone(), details: run.details.clone() }
    }

    /// A run has ended, or is suspended. Whoever comes first does what is to be done; it is done once.
    pub(super) async fn ends(&self, outcome: &Outcome) {
        let words = self.run().words.clone();
        if let Outcome::Suspended { asks } = outcome {
            if let Err(problem) = self.asked.asks(asks).await {
                tracing::error!(problem, "what people are asked could not be kept");
            }
            self.run().text = words.map(|(_, text)| text).unwrap_or_default();
            return;
        }
        let Some(ending) = Ending::of(outcome) else { return };
        // Answers that do not fit end nothing: what was asked still is.
        if matches!(outcome, Outcome::Failed { error: RunError::Resume { .. } }) {
            return;
        }
        if !std::mem::take(&mut self.run().open) {
            return;
        }
        if let Err(problem) = self.domain.run_ended(outcome).await {
            tracing::error!(problem, "what the domain remembers could not be kept");
        }
        self.lives.end(ending).await;
        self.close(outcome, words).await;
    }

    /// A run that waited is over, because a person said something else: what it had taken is let go, as far as that is not
    /// done yet. What the next one needs is taken.
    pub(super) async fn gives_way(&self, taken: &[String]) {
        let (outcome, words) = (Outcome::Aborted, self.run().words.clone());
        if let Err(problem) = self.domain.run_ended(&outcome).await {
            tracing::error!(problem, "what the domain remembers could not be kept");
        }
        self.lives.end_those(taken, Ending::Aborted).await;
        self.close(&outcome, words).await;
    }

    async fn close(&self, outcome: &Outcome, words: Option<(MessageId, String)>) {
        let text = match words {
            None => String::new(),
            Some((message, said)) => {
                let text = self.finished(said.clone());
                if text != said {
                    self.keep(SHOWN, json!({ "message": message, "text": text })).await;
                }
                text
            }
        };
        // Whatever the run came to, what it captured is not lost.
        let bundle = match self.book.end(&self.bundles, &text, (self.clock)()).await {
            Ok(bundle) => bundle,
            Err(error) => {
                tracing::error!(%error, "what was captured could not be kept");
                None
            }
        };
        if self.domain.profile().mode == RunMode::Autonomous {
            let actions = bundle.iter().flat_map(|bundle| &bundle.actions);
            let audit = Audit {
                time: (self.clock)(),
                outcome: word(outcome).to_owned(),
                summary: text.clone(),
                proposed: actions.map(|action| action.digest.clone()).collect(),
                bundle: bundle.as_ref().map(|bundle| bundle.id().to_owned()),
            };
            self.keep(AUDIT, json!(audit)).await;
        }
        self.run().bundle = bundle;
        self.run().text = text;
    }

    /// The last words as people see them. A domain that breaks over them has changed nothing.
    fn finished(&self, said: String) -> String {
        let finish = std::panic::AssertUnwindSafe(|| self.domain.finish_text(said.clone()));
        std::panic::catch_unwind(finish).unwrap_or_else(|_| {
            tracing::error!("a domain broke over the last words of a run");
            said
        })
    }

    async fn keep(&self, kind: &str, value: Value) {
        if let Err(problem) = self.side.append(kind, value).await {
            tracing::error!(kind, problem, "what a run came to could not be kept");
        }
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers as people see them, where that differs from what the model said.
pub(super) fn shown(side: &dyn Side) -> Result<BTreeMap<MessageId, String>, String> {
    #[derive(Deserialize)]
    struct Change {
        message: MessageId,
        text: String,
    }
    let read = |value| serde_json::from_value::<Change>(value).map_err(|error| error.to_string());
    side.all(SHOWN)?.into_iter().map(|value| read(value).map(|one| (one.message, one.text))).collect()
}

/// What runs that nobody watched came to, the oldest first.
pub(super) fn audits(side: &dyn Side) -> Result<Vec<Audit>, String> {
    let read = |value| serde_json::from_value(value).map_err(|error| error.to_string());
    side.all(AUDIT)?.into_iter().map(read).collect()
}

/// The words of an answer.
pub(super) fn words(answer: &Assistant) -> String {
    let texts = answer.blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

#[async_trait]
impl Hooks for Closing {
    fn says(&self, at: Point) -> bool {
        at == Point::Record
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        if let Record::Message(Message::Assistant(answer)) = record {
            let said = words(answer);
            if !said.trim().is_empty() {
                self.run().words = Some((answer.id.clone(), said));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Listener for Closing {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::CallStart { .. } | EventKind::CallEnd { .. } | EventKind::RunEnd { .. })
    }

    async fn event(&self, event: Event) {
        match event.kind {
            EventKind::CallStart { call, tool, .. } => drop(self.run().calls.insert(call, tool)),
            EventKind::CallEnd { call, details, .. } => {
                let mut run = self.run();
                let tool = run.calls.remove(&call).unwrap_or_default();
                run.details.extend(details.map(|details| (tool, details)));
            }
            EventKind::RunEnd { outcome } => self.ends(&outcome).await,
            _ => {}
        }
    }
}
