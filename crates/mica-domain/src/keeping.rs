//! Keeps a run in its session: what was said is on disk before the model is asked again.
//!
//! What belongs to a session and is no part of its conversation goes into entries of its own, along the branch: a session
//! that goes back to an earlier point has what was written until there.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::Record;
use mica_agent::{Ask, Event, EventKind, Hooks, Listener, Tally};
use mica_ai::id::MessageId;
use mica_session::entry::{Body, RunId};
use mica_session::{Durability, EntryId, Kind, Session, SessionError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use crate::runners::outcome_name as word;
use crate::side::Side;

pub mod window;

use window::left_behind_id;

/// A session that a run writes to.
#[derive(Clone)]
pub struct Keeper {
    inner: Arc<Mutex<Inner>>,
    /// Whether the last that is kept is a question, so that the first call behind it must be told of.
    asks: Arc<AtomicBool>,
}

struct Inner {
    session: Session,
    /// What goes before the next entry. A model or a mode alone is nothing that was said, so it begins no session.
    before: Vec<Body>,
}

impl Inner {
    fn append(&mut self, body: Body, durability: Durability) -> Result<EntryId, SessionError> {
        while let Some(before) = self.before.first() {
            self.session.append(before.clone(), Durability::Lazy)?;
            self.before.remove(0);
        }
        self.session.append(body, durability)
    }
}

/// An open session, for as long as nobody else needs it.
pub struct Opened<'a>(MutexGuard<'a, Inner>);

impl Deref for Opened<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.0.session
    }
}

/// Nothing was said yet, so there is no session to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing was said yet, so there is no session to change")]
pub struct NothingSaid;

/// A run that waits for people, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Waiting {
    /// What is asked.
    pub asks: Vec<Ask>,
    /// What the run took until then.
    pub tally: Tally,
}

/// Whose entry a [`Waiting`] is.
const WAITING: &str = "mica.waiting";

/// Whose entry says that a question was answered, and what it was about has begun: it is not asked again.
const TAKEN: &str = "mica.taken";

/// Whose entry it is that has what a domain remembers.
const DOMAIN: &str = "mica.domain";

impl Keeper {
    /// Writes to this session.
    pub fn new(session: Session) -> Self {
        let inner = Arc::new(Mutex::new(Inner { session, before: Vec::new() }));
        Self { inner, asks: Arc::default() }
    }

    /// The session, to look at.
    pub fn session(&self) -> Opened<'_> {
        Opened(self.inner())
    }

    /// Changes the session itself: its name, its labels, its leaf.
    ///
    /// # Errors
    /// [`NothingSaid`], and what `change` says.
    pub fn change<T, E: From<NothingSaid>>(
        &self,
        change: impl FnOnce(&mut Session) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut inner = self.inner();
        if inner.session.is_draft() {
            return Err(NothingSaid.into());
        }
        change(&mut inner.session)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest entry of a kind on the branch of which `pick` makes something. Others are not read.
    pub fn newest<T>(&self, kind: Kind, pick: impl Fn(Body) -> Option<T>) -> Option<T> {
        let session = self.session();
        let branch = session.tree().branch();
        let mut found = branch.iter().rev().filter(|node| node.kind == kind);
        found.find_map(|node| pick(session.entry(node.id).ok()?.body))
    }

    /// Keeps a setting: at once in a session in which something was said, else before the first thing that is said.
    ///
    /// # Errors
    /// What the store said.
    pub fn set(&self, setting: Body) -> Result<(), SessionError> {
        if self.session().is_draft() {
            self.before_next(setting);
            return Ok(());
        }
        self.inner().append(setting, Durability::Lazy).map(|_| ())
    }

    /// Keeps a setting before the next thing that is said. One of its kind that waits already gives way.
    pub fn before_next(&self, setting: Body) {
        let is_same = |waiting: &Body| match (waiting, &setting) {
            (Body::Custom { custom: one, .. }, Body::Custom { custom: other, .. }) => one == other,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        };
        let mut inner = self.inner();
        inner.before.retain(|waiting| !is_same(waiting));
        inner.before.push(setting);
    }

    /// Keeps something that is no part of what was said: at once in a session in which something was, else before the first
    /// thing that is said. Answers its id, when it has one already.
    ///
    /// # Errors
    /// What the store said, in words.
    pub async fn append_aside(&self, body: Body) -> Result<Option<String>, String> {
        if self.session().is_draft() {
            self.inner().before.push(body);
            return Ok(None);
        }
        let keeper = self.clone();
        let append = move || keeper.inner().append(body, Durability::Lazy);
        let id = tokio::task::spawn_blocking(append).await.map_err(|error| error.to_string())?;
        id.map(|id| Some(id.to_string())).map_err(|error| error.to_string())
    }

    /// What waits for the first thing that is said.
    pub fn waiting_aside(&self) -> Vec<Body> {
        self.inner().before.clone()
    }

    /// Keeps what a suspended run waits for.
    ///
    /// # Errors
    /// What the store said.
    pub async fn waits(&self, asks: &[Ask], tally: &Tally) -> Result<(), String> {
        let waiting = Waiting { asks: asks.to_vec(), tally: tally.clone() };
        let value = serde_json::to_value(waiting).map_err(|error| error.to_string())?;
        self.append(Body::Custom { custom: WAITING.to_owned(), value }, Durability::Now).await?;
        self.asks.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// What the session's last run waits for, when nothing was said since and nothing of it has begun: a call that may have
    /// had its effect is not asked about again.
    pub fn waiting(&self) -> Option<Waiting> {
        let waiting: Option<Waiting> = self.last_asked().and_then(|value| serde_json::from_value(value).ok());
        self.asks.store(waiting.is_some(), Ordering::SeqCst);
        waiting
    }

    /// What was last kept about questions, when nothing was said and nothing has begun since.
    fn last_asked(&self) -> Option<Value> {
        let session = self.session();
        let branch = session.branch().ok()?;
        branch.entries.into_iter().rev().find_map(|entry| match entry.body {
            Body::Custom { custom, value } if custom == WAITING => Some(Some(value)),
            Body::Custom { custom, .. } if custom == TAKEN => Some(None),
            Body::Message { .. } => Some(None),
            _ => None,
        })?
    }

    /// Whether what the last run waited for is over, and nothing was said since. Sessions of before say so; now the message
    /// that is said instead ends a question.
    pub fn was_abandoned(&self) -> bool {
        let last = self.last_asked();
        last.is_some_and(|value| value.get("abandoned").and_then(Value::as_bool).unwrap_or(false))
    }

    /// When something was last said here. A session that was just begun: now.
    pub fn last_spoken(&self) -> jiff::Timestamp {
        let session = self.session();
        let last = session.tree().branch().last().and_then(|node| session.entry(node.id).ok());
        last.map_or(session.header().created, |entry| entry.time)
    }

    /// What a domain remembered last.
    pub fn remembered(&self, domain: &str) -> Option<Value> {
        self.newest(Kind::Custom, |body| match body {
            Body::Custom { custom, mut value } if custom == DOMAIN && value["pack"] == domain => {
                Some(value["state"].take())
            }
            _ => None,
        })
    }

    /// The entry of a message on the current branch.
    pub fn entry_of(&self, message: &MessageId) -> Option<EntryId> {
        let session = self.session();
        let branch = session.branch().ok()?;
        branch.entries.iter().rev().find_map(|entry| match &entry.body {
            Body::Message { message: found } if found.id() == message => Some(entry.id),
            Body::BranchSummary(_) if *message == left_behind_id(entry.id) => Some(entry.id),
            _ => None,
        })
    }

    /// Appends. Waiting for the disk is done off the run's task; handing bytes to the system takes microseconds, less
    /// than going to another thread and back.
    pub async fn append(&self, body: Body, durability: Durability) -> Result<(), String> {
        // Making the file of a session waits for the disk as well.
        if durability == Durability::Lazy && !self.session().is_draft() {
            return self.inner().append(body, durability).map(|_| ()).map_err(|error| error.to_string());
        }
        let keeper = self.clone();
        let written = tokio::task::spawn_blocking(move || keeper.inner().append(body, durability));
        // Where there is one processor for both, the disk is told first: it works while this goes on.
        std::thread::yield_now();
        match written.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[async_trait]
impl Hooks for Keeper {
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            // One wait for the disk per model call: what the turn before left is made safe with this mark.
            Record::TurnOpen => self.append(Body::TurnOpen { run: None }, Durability::Now).await,
            Record::Message(message) => self.append(message.clone().into(), Durability::Lazy).await,
            // The caller keeps it together with what the run took; answers are kept by whoever keeps questions.
            Record::Asked(_) | Record::Answered(_) => Ok(()),
        }
    }
}

#[async_trait]
impl crate::Memory for Keeper {
    async fn keep(&self, domain: &str, state: &Value) -> Result<(), String> {
        // The mark of the turn that follows is waited for, and makes this safe with it.
        let value = json!({ "pack": domain, "state": state });
        self.append(Body::Custom { custom: DOMAIN.to_owned(), value }, Durability::Lazy).await
    }
}

/// Before the kinds of changes, so that they meet no entry of anybody else.
const SIDE: &str = "mica.side.";

#[async_trait]
impl Side for Keeper {
    async fn append(&self, kind: &str, change: Value) -> Result<(), String> {
        let body = Body::Custom { custom: format!("{SIDE}{kind}"), value: change };
        // Not the first thing of a session: what nobody spoke of need not be kept.
        self.append_aside(body).await.map(|_| ())
    }

    fn all(&self, kind: &str) -> Result<Vec<Value>, String> {
        let wanted = format!("{SIDE}{kind}");
        let (waiting, session) = (self.waiting_aside(), self.session());
        let nodes = session.tree().branch();
        let customs = nodes.into_iter().filter(|node| node.kind == Kind::Custom);
        let read = session.entries(customs.map(|node| node.id)).map_err(|error| error.to_string())?;
        let bodies = read.entries.into_iter().map(|entry| entry.body).chain(waiting);
        Ok(bodies
            .filter_map(|body| match body {
                Body::Custom { custom, value } if custom == wanted => Some(value),
                _ => None,
            })
            .collect())
    }
}

#[async_trait]
impl Listener for Keeper {
    fn hears(&self, kind: &EventKind) -> bool {
        match kind {
            EventKind::RunStart | EventKind::RunEnd { .. } => true,
            EventKind::CallStart { .. } => self.asks.load(Ordering::SeqCst),
            _ => false,
        }
    }

    async fn event(&self, event: Event) {
        let run = RunId::from(event.run.as_str());
        let kept = match &event.kind {
            EventKind::RunStart => self.append(Body::RunStart { run }, Durability::Lazy).await,
            // Before the call runs, which waits for this.
            EventKind::CallStart { call, .. } => {
                self.asks.store(false, Ordering::SeqCst);
                let value = json!({ "call": call });
                self.append(Body::Custom { custom: TAKEN.to_owned(), value }, Durability::Now).await
            }
            EventKind::RunEnd { outcome } => {
                let outcome = word(outcome).to_owned();
                self.append(Body::RunEnd { run, outcome }, Durability::Now).await
            }
            _ => return,
        };
        // Markers say how a run went; the messages themselves are recorded, and a failure there ends the run.
        let _ = kept;
    }
}

#[cfg(test)]
mod tests;
