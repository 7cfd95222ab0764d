//! An agent that lives longer than a run: a conversation, queues, listeners, and one run at a time.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use mica_ai::User;
use tokio::sync::{Mutex as RunLock, broadcast};

use crate::approval::Decisions;
use crate::context::Context;
use crate::control::Control;
use crate::event::{self, Event, EventKind, EventSink, Listener};
use crate::hooks::{HookStack, Hooks};
use crate::id::RunId;
use crate::outcome::{Outcome, RunError};
use crate::queue::{Full, Queues, Take};
use crate::run;

/// A run is going on, and there can be only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a run is going on: steer it, queue a follow-up, interrupt it, or wait for its end")]
pub struct Busy;

/// A stateful agent. Clones are handles to the same one.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    context: RunLock<State>,
    hooks: HookStack,
    queues: Arc<Queues>,
    control: Mutex<Control>,
    listeners: Mutex<Vec<Arc<dyn Listener>>>,
    subscribers: broadcast::Sender<Event>,
    next: Arc<AtomicU64>,
    /// Shared by all who tell: the run, and the relays of subagents.
    order: Arc<RunLock<()>>,
}

struct State {
    context: Context,
    /// The run that is suspended.
    suspended: Option<RunId>,
}

/// What the calls of a suspended run are answered with when the person says something else instead.
const DECLINED: &str = "Not run: the person was asked whether it may run, and said something else instead.";

/// Events a subscriber may be behind before it misses some.
const BACKLOG: usize = 4096;

impl Agent {
    /// An agent on a conversation. The hooks are asked in order, after the agent's own queues.
    pub fn new(context: Context, hooks: Vec<Arc<dyn Hooks>>) -> Self {
        let queues = Arc::new(Queues::default());
        let mut stack = HookStack::new(vec![queues.clone()]);
        for hooks in hooks {
            stack.push(hooks);
        }
        Self {
            inner: Arc::new(Inner {
                context: RunLock::new(State { context, suspended: None }),
                hooks: stack,
                queues,
                control: Mutex::new(Control::new()),
                listeners: Mutex::new(Vec::new()),
                subscribers: broadcast::Sender::new(BACKLOG),
                next: Arc::new(AtomicU64::new(0)),
                order: Arc::default(),
            }),
        }
    }

    /// Runs from a prompt until the agent stops. Calls of a suspended run that were never decided are answered as
    /// declined: the person has moved on.
    ///
    /// # Errors
    /// [`Busy`] while another run goes on.
    pub async fn prompt(&self, message: impl Into<User>) -> Result<Outcome, Busy> {
        let mut state = self.inner.context.try_lock().map_err(|_| Busy)?;
        let control = self.begin();
        let sink = self.sink(RunId::fresh());
        let left = if state.suspended.take().is_some() { DECLINED } else { run::LEFT };
        let input = vec![message.into().into()];
        let hooks = &self.inner.hooks;
        let outcome = run::begin(input, left, &mut state.context, hooks, &sink, &control).await;
        Ok(ended(&mut state, &sink, outcome))
    }

    /// Goes on with a suspended run, in the same run. A question without an answer is a no. Answers that do not fit
    /// what was asked change nothing: the run stays suspended, and the outcome says what does not fit. A yes to other
    /// arguments than a call would run with now runs nothing: it is asked again.
    ///
    /// # Errors
    /// [`Busy`] while another run goes on.
    pub async fn resume(&self, answers: Decisions) -> Result<Outcome, Busy> {
        let mut state = self.inner.context.try_lock().map_err(|_| Busy)?;
        let control = self.begin();
        // It stays suspended until the run has taken the answers: those that do not fit change nothing.
        let sink = self.sink(state.suspended.clone().unwrap_or_else(RunId::fresh));
        let outcome = run::resume(answers, &mut state.context, &self.inner.hooks, &sink, &control).await;
        Ok(ended(&mut state, &sink, outcome))
    }

    /// Says something that joins before the next model call. The calls under way finish.
    ///
    /// # Errors
    /// [`Full`].
    pub fn steer(&self, message: impl Into<User>) -> Result<(), Full> {
        self.inner.queues.steer(message.into())
    }

    /// Says something for when the run would end.
    ///
    /// # Errors
    /// [`Full`].
    pub fn follow_up(&self, message: impl Into<User>) -> Result<(), Full> {
        self.inner.queues.follow_up(message.into())
    }

    /// Cuts what is under way and says something instead. The run goes on with it.
    ///
    /// # Errors
    /// [`Full`]; nothing is cut then.
    pub fn interrupt(&self, message: impl Into<User>) -> Result<(), Full> {
        self.control().interrupt_with(|| self.steer(message))
    }

    /// Ends the run. What was said is kept; what is queued stays queued.
    pub fn abort(&self) {
        self.control().abort();
    }

    /// Takes back what is queued.
    pub fn take_back(&self) -> Vec<User> {
        self.inner.queues.take_back()
    }

    /// Sets how much of a queue is taken at once.
    pub fn set_take(&self, take: Take) {
        self.inner.queues.set_take(take);
    }

    /// Events from now on. A subscriber that falls behind by thousands misses the oldest and is told how many.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.inner.subscribers.subscribe()
    }

    /// Adds a listener that misses nothing: runs wait for it.
    pub fn listen(&self, listener: Arc<dyn Listener>) {
        self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(listener);
    }

    /// A way to tell what happens in subagents as part of what happens here. It does not keep the agent alive.
    pub fn relay(&self) -> Relay {
        Relay { to: Arc::downgrade(&self.inner) }
    }

    /// Looks at the conversation, or changes it, between runs.
    ///
    /// # Errors
    /// [`Busy`] while a run goes on.
    pub async fn with<R>(&self, look: impl FnOnce(&mut Context) -> R) -> Result<R, Busy> {
        let mut state = self.inner.context.try_lock().map_err(|_| Busy)?;
        Ok(look(&mut state.context))
    }

    fn begin(&self) -> Control {
        let control = Control::new();
        *self.inner.control.lock().unwrap_or_else(PoisonError::into_inner) = control.clone();
        control
    }

    fn control(&self) -> Control {
        self.inner.control.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn sink(&self, run: RunId) -> EventSink {
        sink(&self.inner, run)
    }
}

fn sink(inner: &Arc<Inner>, run: RunId) -> EventSink {
    let fan_out = Arc::new(FanOut { inner: Arc::clone(inner) });
    EventSink::new(run, Arc::clone(&inner.next), fan_out).in_order(Arc::clone(&inner.order))
}

/// A way to tell what happens in subagents as part of what happens in an agent.
#[derive(Clone)]
pub struct Relay {
    to: Weak<Inner>,
}

impl Relay {
    /// A listener for a subagent, which tells its events as [`EventKind::Subagent`] under this id. Events are dropped
    /// once the agent is gone.
    pub fn of(&self, agent: impl Into<String>) -> Arc<dyn Listener> {
        Arc::new(Relaying { to: self.to.clone(), agent: agent.into() })
    }
}

struct Relaying {
    to: Weak<Inner>,
    agent: String,
}

#[async_trait]
impl Listener for Relaying {
    async fn event(&self, event: Event) {
        let Some(inner) = self.to.upgrade() else { return };
        let kind = EventKind::Subagent { agent: self.agent.clone(), event: Box::new(event.kind) };
        sink(&inner, event.run).tell(kind).await;
    }
}

fn ended(state: &mut State, sink: &EventSink, outcome: Outcome) -> Outcome {
    match &outcome {
        Outcome::Suspended { .. } => state.suspended = Some(sink.run().clone()),
        Outcome::Failed { error: RunError::Resume { .. } } => {}
        _ => state.suspended = None,
    }
    outcome
}

/// Tells every listener, and whoever subscribed.
struct FanOut {
    inner: Arc<Inner>,
}

#[async_trait]
impl Listener for FanOut {
    async fn event(&self, event: Event) {
        let listeners = self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners {
            if listener.hears(&event.kind) {
                event::hand(&*listener, event.clone()).await;
            }
        }
        // Nobody may be subscribed, which is fine.
        let _ = self.inner.subscribers.send(event);
    }
}
