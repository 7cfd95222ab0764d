//! The lifecycles of capabilities around the runs of a session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mica_ai::id::carried;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::CopilotError;
use crate::capability::Capability;
use crate::lifecycle::{Ending, Lifecycle};
use crate::page::Page;
use crate::side::Side;
use crate::state::State;

/// Whose changes these are, beside the session.
const KIND: &str = "lives";

/// What happened to a lifecycle, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
enum Change {
    Began { id: String, name: String, taken: Value },
    Ended { id: String, ending: Ending },
    Undone { id: String },
}

/// Something that a lifecycle took.
#[derive(Debug, Clone, PartialEq)]
struct Life {
    name: String,
    taken: Value,
    ending: Option<Ending>,
    undone: bool,
}

/// Work of a run that did not complete, which can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Names it.
    pub id: String,
    /// The lifecycle that would do it.
    pub name: String,
    /// How the run ended.
    pub ending: Ending,
}

/// What the lifecycles of a session took, by an id that counts up.
pub(super) struct Lives {
    known: BTreeMap<String, (Page, Arc<dyn Lifecycle>)>,
    side: Arc<dyn Side>,
    lives: Mutex<BTreeMap<String, Life>>,
}

impl Lives {
    /// Those of a session, as they were kept.
    pub(super) fn open(capabilities: &[Capability], side: Arc<dyn Side>) -> Result<Self, String> {
        let known = capabilities.iter().filter_map(|capability| {
            let lifecycle = capability.lifecycle.clone()?;
            Some((lifecycle.name().to_owned(), (capability.page.clone(), lifecycle)))
        });
        let mut lives = BTreeMap::new();
        for change in side.all(KIND)? {
            match serde_json::from_value(change) {
                Ok(Change::Began { id, name, taken }) => {
                    lives.insert(id, Life { name, taken, ending: None, undone: false });
                }
                Ok(Change::Ended { id, ending }) => {
                    lives.entry(id).and_modify(|life| life.ending = Some(ending));
                }
                Ok(Change::Undone { id }) => {
                    lives.entry(id).and_modify(|life| life.undone = true);
                }
                // What cannot be read costs the way back, never the session.
                Err(error) => tracing::error!(%error, "what a lifecycle took cannot be read"),
            }
        }
        Ok(Self { known: known.collect(), side, lives: Mutex::new(lives) })
    }

    /// Those that live on a page.
    fn here<'a>(&'a self, state: &'a State) -> impl Iterator<Item = (&'a String, &'a Arc<dyn Lifecycle>)> {
        let here = |at: &Page| match at {
            Page::Global => true,
            Page::Named(name) => Some(name.as_str()) == state.page.as_deref(),
        };
        self.known.iter().filter(move |(_, (at, _))| here(at)).map(|(name, (_, lifecycle))| (name, lifecycle))
    }

    /// A run begins on a page. Answers what it took, by id; when it cannot begin, that is let go again, and nothing else is.
    pub(super) async fn begin(&self, state: &State) -> Result<Vec<String>, CopilotError> {
        let mut taken = Vec::new();
        for (name, lifecycle) in self.here(state) {
            let id = format!("{:04}", self.all().len() + 1);
            let begun = match caught(lifecycle, state.clone()).await {
                Ok(what) => {
                    taken.push(id.clone());
                    self.began(id, name, what).await
                }
                Err(reason) => Err(CopilotError::NotBegun { lifecycle: name.clone(), reason }),
            };
            if let Err(error) = begun {
                self.end_those(&taken, Ending::Aborted).await;
                return Err(error);
            }
        }
        Ok(taken)
    }

    /// Whether a run that begins on a page would take what is taken already.
    pub(super) fn is_taken(&self, state: &State) -> bool {
        let all = self.all();
        let taken = |name: &String| all.values().any(|life| life.name == *name && life.ending.is_none());
        self.here(state).any(|(name, _)| taken(name))
    }

    /// What is taken, by id.
    pub(super) fn taken(&self) -> Vec<String> {
        let all = self.all();
        all.iter().filter(|(_, life)| life.ending.is_none()).map(|(id, _)| id.clone()).collect()
    }

    async fn began(&self, id: String, name: &str, taken: Value) -> Result<(), CopilotError> {
        let life = Life { name: name.to_owned(), taken: taken.clone(), ending: None, undone: false };
        // In memory first: what cannot be kept is released all the same.
        self.all().insert(id.clone(), life);
        self.keep(&Change::Began { id, name: name.to_owned(), taken }).await
    }

    /// Whether something is taken for a run.
    pub(super) fn is_begun(&self) -> bool {
        self.known.is_empty() || !self.taken().is_empty()
    }

    /// A run has ended: all that is open is ended and released.
    pub(super) async fn end(&self, ending: Ending) {
        self.end_those(&self.taken(), ending).await;
    }

    /// The same of some of it, as far as it is open.
    pub(super) async fn end_those(&self, ids: &[String], ending: Ending) {
        let all = self.all().clone();
        let open = all.into_iter().filter(|(id, life)| life.ending.is_none() && ids.contains(id));
        for (id, life) in open {
            if let Some((_, lifecycle)) = self.known.get(&life.name) {
                let (lifecycle, taken) = (Arc::clone(lifecycle), life.taken.clone());
                ended(lifecycle, taken, ending).await;
            } else {
                tracing::error!(name = life.name, "the domain has no such lifecycle any more");
            }
            self.all().entry(id.clone()).and_modify(|life| life.ending = Some(ending));
            if let Err(error) = self.keep(&Change::Ended { id, ending }).await {
                tracing::error!(%error, "the end of a lifecycle could not be kept");
            }
        }
    }

    /// What can be taken back, the newest first.
    pub(super) fn offers(&self) -> Vec<Offer> {
        let all = self.all();
        let offer = |(id, life): (&String, &Life)| {
            let ending = life.ending.filter(|ending| *ending != Ending::Completed && !life.undone)?;
            Some(Offer { id: id.clone(), name: life.name.clone(), ending })
        };
        all.iter().rev().filter_map(offer).collect()
    }

    /// Takes the work of a run back, because a person wants it.
    pub(super) async fn undo(&self, id: &str) -> Result<String, CopilotError> {
        let unknown = || CopilotError::NoUndo { id: id.to_owned() };
        let offered = self.offers().into_iter().find(|offer| offer.id == id).ok_or_else(unknown)?;
        let (_, lifecycle) = self.known.get(&offered.name).ok_or_else(unknown)?;
        let taken = self.all().get(id).map(|life| life.taken.clone()).ok_or_else(unknown)?;
        let said = lifecycle.undo(&taken).await.map_err(|reason| CopilotError::NotUndone { reason })?;
        self.all().entry(id.to_owned()).and_modify(|life| life.undone = true);
        self.keep(&Change::Undone { id: id.to_owned() }).await?;
        Ok(said)
    }

    async fn keep(&self, change: &Change) -> Result<(), CopilotError> {
        let kept = |problem: String| CopilotError::Kept { problem };
        let value = serde_json::to_value(change).map_err(|error| kept(error.to_string()))?;
        self.side.append(KIND, value).await.map_err(kept)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Life>> {
        self.lives.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins, in a task of its own: one that breaks says no.
async fn caught(lifecycle: &Arc<dyn Lifecycle>, state: State) -> Result<Value, String> {
    let lifecycle = Arc::clone(lifecycle);
    match tokio::spawn(carried(async move { lifecycle.begin(&state).await })).await {
        Ok(begun) => begun,
        Err(error) => Err(format!("it broke: {error}")),
    }
}

/// Ends and releases, each in a task of its own: what breaks in one does not keep the other from being done.
async fn ended(lifecycle: Arc<dyn Lifecycle>, taken: Value, ending: Ending) {
    let name = lifecycle.name().to_owned();
    let (ending_one, given) = (Arc::clone(&lifecycle), taken.clone());
    match tokio::spawn(carried(async move { ending_one.end(&given, ending).await })).await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => tracing::error!(name, problem, "a lifecycle failed at the end of a run"),
        Err(error) => tracing::error!(name, %error, "a lifecycle broke at the end of a run"),
    }
    if let Err(error) = tokio::spawn(carried(async move { lifecycle.release(&taken).await })).await {
        tracing::error!(name, %error, "a lifecycle broke while it released what it took");
    }
}
