//! Who works on a thread, and how far its session is: one record, changed only by who holds it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use mica_ai::id::MessageId;
use serde::{Deserialize, Serialize};

use super::ThreadError;
use crate::records::{self, Kept, RecordError, Records};
use crate::runners::clock::{Clock, later};
use crate::runners::key::key;
use crate::runners::opening::{Origin, Said};

/// The kind of record.
pub(crate) const KIND: &str = "thread_position";

/// How far the session of a thread is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Position {
    /// The agent.
    pub agent: String,
    /// The thread.
    pub thread: String,
    /// The last message that was answered: the session has it, and all before it.
    pub heard: Option<String>,
    /// What is being answered.
    pub answering: Option<Answering>,
    /// Who holds it.
    pub held: Option<Held>,
    /// How often somebody came while it was held.
    pub wanted: u64,
    /// Whoever held it last stopped before they were done.
    pub left: bool,
    /// Messages that could not be answered.
    pub given_up: Vec<String>,
    /// What went wrong the last time.
    pub problem: Option<String>,
}

/// Who holds a thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// A name that is used once.
    pub by: String,
    /// Until when, without a sign of life.
    pub until: Timestamp,
}

/// What is being answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answering {
    /// The message.
    pub message: String,
    /// How the session reads it.
    pub text: String,
    /// How often it failed.
    pub tries: u32,
}

impl Answering {
    pub(super) fn said(&self) -> Said {
        Said {
            text: self.text.clone(),
            source: Some(self.message.clone()),
            origin: Origin::Thread,
            surroundings: None,
        }
    }
}

impl Position {
    /// All there are that can be read.
    pub(super) async fn all(records: &dyn Records) -> Result<Vec<Self>, RecordError> {
        let all = records::readable(records, KIND).await?;
        Ok(all.into_iter().map(|(_, _, position)| position).collect())
    }

    /// Whether something is left to do that nobody does.
    pub(super) fn is_left(&self, now: Timestamp) -> bool {
        match &self.held {
            Some(held) => held.until <= now,
            None => self.left,
        }
    }
}

/// The record of one thread.
#[derive(Clone)]
pub(super) struct Hold {
    records: Arc<dyn Records>,
    agent: String,
    thread: String,
    time: Duration,
}

impl Hold {
    pub(super) fn new(records: Arc<dyn Records>, agent: &str, thread: &str, time: Duration) -> Self {
        Self { records, agent: agent.to_owned(), thread: thread.to_owned(), time }
    }

    pub(super) async fn read(&self) -> Result<(Position, Option<u64>), RecordError> {
        match self.records.get(KIND, &self.id()).await? {
            Some(kept) => Ok((read(&kept)?, Some(kept.version))),
            None => {
                let (agent, thread) = (self.agent.clone(), self.thread.clone());
                Ok((Position { agent, thread, ..Position::default() }, None))
            }
        }
    }

    /// Takes hold of it. `None`: somebody else has it, and they will see that it was wanted.
    pub(super) async fn take(&self, now: Timestamp) -> Result<Option<Holding>, RecordError> {
        let me = MessageId::fresh().to_string();
        loop {
            let (mut position, version) = self.read().await?;
            let free = position.held.as_ref().is_none_or(|held| held.until <= now);
            if free {
                position.held = Some(Held { by: me.clone(), until: later(now, self.time) });
                position.left = false;
            } else {
                position.wanted += 1;
            }
            match self.write(&position, version).await {
                Ok(version) if free => {
                    return Ok(Some(Holding { hold: self.clone(), me, position, version }));
                }
                Ok(_) => return Ok(None),
                // Each conflict is a write that somebody else finished, so this ends.
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn write(&self, position: &Position, expected: Option<u64>) -> Result<u64, RecordError> {
        let doc = serde_json::to_value(position).map_err(|error| store(&error))?;
        self.records.put(KIND, &self.id(), &doc, expected).await
    }

    fn id(&self) -> String {
        key([self.agent.as_str(), &self.thread])
    }
}

/// A thread that is held.
pub(super) struct Holding {
    hold: Hold,
    me: String,
    position: Position,
    version: u64,
}

impl Holding {
    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// Changes the record, and shows a sign of life.
    pub(super) async fn change(
        &mut self,
        now: Timestamp,
        change: impl Fn(&mut Position) + Send + Sync,
    ) -> Result<(), ThreadError> {
        let until = later(now, self.hold.time);
        self.rewrite(&|position| {
            change(position);
            if let Some(held) = &mut position.held {
                held.until = until;
            }
        })
        .await
    }

    /// Lets it go, unless somebody came since it was last looked at: then there may be something new, and it stays held.
    /// Answers whether it did.
    pub(super) async fn let_go(&mut self, now: Timestamp) -> Result<bool, ThreadError> {
        let mut free = self.position.clone();
        free.held = None;
        match self.hold.write(&free, Some(self.version)).await {
            Ok(version) => {
                (self.position, self.version) = (free, version);
                Ok(true)
            }
            Err(RecordError::Conflict { .. }) => self.change(now, |_| {}).await.map(|()| false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lets it go before it is done. A sweep goes on with it.
    pub(super) async fn leave(mut self) -> Result<(), ThreadError> {
        let left = |position: &mut Position| (position.held, position.left) = (None, true);
        match self.rewrite(&left).await {
            Ok(()) | Err(ThreadError::Lost { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Waits for something, and shows signs of life meanwhile. It is dropped when the thread belongs to somebody else.
    pub(super) async fn while_alive<T>(
        &mut self,
        clock: &Clock,
        work: impl Future<Output = T>,
    ) -> Result<T, ThreadError> {
        tokio::pin!(work);
        let pause = (self.hold.time / 3).max(Duration::from_millis(1));
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(pause) => self.change(clock(), |_| {}).await?,
            }
        }
    }

    async fn rewrite(&mut self, change: &(dyn Fn(&mut Position) + Send + Sync)) -> Result<(), ThreadError> {
        loop {
            let mut position = self.position.clone();
            change(&mut position);
            match self.hold.write(&position, Some(self.version)).await {
                Ok(version) => {
                    (self.position, self.version) = (position, version);
                    return Ok(());
                }
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
            let (newest, version) = self.hold.read().await?;
            let mine = newest.held.as_ref().is_some_and(|held| held.by == self.me);
            let (true, Some(version)) = (mine, version) else {
                return Err(ThreadError::Lost { thread: self.hold.thread.clone() });
            };
            (self.position, self.version) = (newest, version);
        }
    }
}

fn read(kept: &Kept) -> Result<Position, RecordError> {
    serde_json::from_value(kept.doc.clone()).map_err(|error| store(&error))
}

fn store(error: &serde_json::Error) -> RecordError {
    RecordError::Store { kind: KIND.to_owned(), problem: error.to_string() }
}
