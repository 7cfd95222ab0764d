//! What a run tells: events with ids and sequence numbers, deltas only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use mica_ai::event::Retry;
use mica_ai::id::{CallId, MessageId};
use mica_ai::message::ResultStatus;
use mica_ai::{Message, StopReason, StreamEvent, Usage};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::approval::{Ask, Decision};
use crate::guard;
use crate::id::RunId;
use crate::outcome::Outcome;

/// One event of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Event {
    /// Its number within the session, without gaps. A client that reconnects says the last one it has.
    pub seq: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
///
/// Order of a run: `RunStart`; turns; `RunEnd`, after which nothing of the run is told. Order of a turn: `TurnStart`;
/// the messages that join before the model is asked, each as `Message`; any `Window`; then `AnswerStart`, any `Retry`
/// and `Answer` deltas, `AnswerEnd`, `Usage` (again, when an answer failed and a hook did something about it); then
/// `ApprovalAsked` and `ApprovalGiven`, in rounds where an answer was remembered or left for later (a question that is
/// asked again takes the place of the one before); then for each call that runs `CallStart`, any `CallProgress`, any
/// `Question` with its `QuestionOver`, `CallEnd`, those of different calls interleaved; the results as `Message`, in call
/// order, each as soon as those before it are told;
/// `TurnEnd`. A call that is not run has a result and no other event.
///
/// A run that is suspended ends its turn and itself. When it goes on, `RunStart` and `TurnStart` come again with the
/// same run and the same turn, and the turn goes on with `ApprovalGiven`.
///
/// The conversation can be built from this: messages as they come, answers from their deltas. An answer that failed
/// before it said anything is not part of it.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventKind {
    /// A run began, or went on after a suspension.
    RunStart,
    /// A turn began, or went on after a suspension.
    TurnStart {
        /// Its number within the run, from 1.
        turn: u32,
    },
    /// A message that was not streamed: what a user said, or what a call came to.
    Message {
        /// The message.
        message: Message,
    },
    /// The model is being asked.
    AnswerStart {
        /// The id the answer will have.
        message: MessageId,
    },
    /// A piece of the answer.
    Answer {
        /// The answer it belongs to.
        message: MessageId,
        /// The piece. Never a terminal event.
        delta: StreamEvent,
    },
    /// An attempt to ask the model failed, and will be made again.
    Retry(Retry),
    /// The answer ended.
    AnswerEnd {
        /// The answer.
        message: MessageId,
        /// Why it ended.
        stop: StopReason,
        /// What it took.
        usage: Usage,
    },
    /// A call is about to run.
    CallStart {
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// The tool's name for people.
        label: String,
        /// The arguments it runs with, after the gate.
        arguments: Value,
    },
    /// A running call tells how far it is.
    CallProgress {
        /// The call.
        call: CallId,
        /// What is new.
        news: String,
    },
    /// A running call asks a person something, and waits.
    Question {
        /// The call.
        call: CallId,
        /// What is asked, as the tool says it.
        questions: Value,
    },
    /// What a running call asked is answered, or does not matter any more.
    QuestionOver {
        /// The call.
        call: CallId,
    },
    /// A call that ran has ended.
    CallEnd {
        /// The call.
        call: CallId,
        /// Whether it worked.
        status: ResultStatus,
        /// What the tool gave besides what the model reads.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// A person's answer is needed.
    ApprovalAsked {
        /// What is asked.
        ask: Ask,
    },
    /// A person, or a rule, answered.
    ApprovalGiven {
        /// The call.
        call: CallId,
        /// The answer.
        decision: Decision,
    },
    /// The window was changed between turns.
    Window {
        /// What was done, and why.
        change: WindowChange,
    },
    /// What the run took so far.
    Usage {
        /// All calls of the run together.
        usage: Usage,
    },
    /// Something happened in a subagent. The event around it has the subagent's run, and a number of this session: what
    /// happens in a subagent is told among the rest, in one order.
    Subagent {
        /// The subagent, by the id that it can be resumed with.
        agent: String,
        /// What happened. The order is that of any run.
        event: Box<EventKind>,
    },
    /// Something a person should know.
    Notice {
        /// In words.
        text: String,
    },
    /// A turn ended.
    TurnEnd {
        /// Its number.
        turn: u32,
    },
    /// The run ended.
    RunEnd {
        /// How.
        outcome: Outcome,
    },
}

/// What was done to the window between turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WindowChange {
    /// For example `compaction` or `pruning`.
    pub kind: String,
    /// Why.
    pub reason: String,
    /// Tokens before, as far as known.
    pub before: u64,
    /// Tokens after, as estimated.
    pub after: u64,
}

/// Someone who is told.
#[async_trait]
pub trait Listener: Send + Sync {
    /// Takes an event. The run waits until it is taken: a slow listener slows the run instead of losing events.
    /// Events come one at a time, in the order of their numbers.
    async fn event(&self, event: Event);

    /// Whether this kind of event is of any interest. Others are not handed over, so that nothing is copied for
    /// somebody who does not look at it.
    fn hears(&self, kind: &EventKind) -> bool {
        let _ = kind;
        true
    }
}

/// Where a run tells what happens. Clones share one sequence.
#[derive(Clone)]
pub struct EventSink {
    run: RunId,
    next: Arc<AtomicU64>,
    listener: Arc<dyn Listener>,
    /// Calls run side by side and all tell. Whoever holds this tells; the others wait their turn, so that a slow
    /// listener hears events in the order of their numbers.
    order: Arc<Mutex<()>>,
}

impl EventSink {
    /// A sink for a run, whose first event gets the number that `next` holds.
    pub fn new(run: RunId, next: Arc<AtomicU64>, listener: Arc<dyn Listener>) -> Self {
        Self { run, next, listener, order: Arc::default() }
    }

    /// The same, in one order with other sinks that count with the same `next`.
    #[must_use]
    pub(crate) fn in_order(mut self, order: Arc<Mutex<()>>) -> Self {
        self.order = order;
        self
    }

    /// Tells something. Returns when it is heard.
    pub async fn tell(&self, kind: EventKind) {
        let _turn = self.order.lock().await;
        let seq = self.next.fetch_add(1, Ordering::SeqCst);
        hand(&*self.listener, Event { seq, run: self.run.clone(), kind }).await;
    }

    /// The run this is for.
    pub fn run(&self) -> &RunId {
        &self.run
    }
}

/// Hands an event to a listener. One that panics misses it; the run goes on.
pub(crate) async fn hand(listener: &dyn Listener, event: Event) {
    let seq = event.seq;
    if let Err(message) = guard::caught(async { listener.event(event).await }).await {
        tracing::error!(seq, message, "a listener panicked");
    }
}

/// A listener that hears nothing.
pub struct Deaf;

#[async_trait]
impl Listener for Deaf {
    async fn event(&self, _: Event) {}
}

/// Sends events into a bounded channel; waits when it is full. Events are dropped once nobody receives.
#[async_trait]
impl Listener for tokio::sync::mpsc::Sender<Event> {
    async fn event(&self, event: Event) {
        let _ = self.send(event).await;
    }
}
