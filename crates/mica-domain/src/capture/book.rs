//! Collects the actions of a run, and ends as a bundle.
//!
//! Everything is kept beside the session before the model reads that it was captured, and read back from there each time: a
//! crash loses nothing, and a session that goes back to an earlier point has what was captured until there.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;
use super::bundle::{About, Bundle, State};
use super::bundles::Bundles;
use super::error::CaptureError;
use super::temp;
use crate::side::Side;

/// The kind of what is kept beside the session.
const KIND: &str = "capture";

/// Actions of one bundle at most: more than a person can decide about in earnest.
const MOST: usize = 50;

/// What happened to the book.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Begun(About),
    Captured(Box<Action>),
    Ended { bundle: String },
}

/// What is open in the book.
#[derive(Default)]
struct Read {
    about: Option<About>,
    actions: Vec<Action>,
    /// What was captured before in this session, by bundle: those ids are not given again, because the model still reads
    /// them further up.
    ended: Vec<(String, Vec<Action>)>,
}

impl Read {
    fn earlier(&self) -> impl Iterator<Item = &Action> {
        self.ended.iter().flat_map(|(_, actions)| actions)
    }
}

/// Collects the actions of the runs of a session.
pub struct Book {
    side: Arc<dyn Side>,
    /// One at a time, so that ids are given in the order in which actions are kept.
    turn: tokio::sync::Mutex<()>,
    /// Tools whose calls come here.
    covered: Mutex<BTreeSet<String>>,
}

impl Book {
    /// The book of a session.
    pub fn new(side: Arc<dyn Side>) -> Arc<Self> {
        Arc::new(Self { side, turn: tokio::sync::Mutex::default(), covered: Mutex::default() })
    }

    /// Begins to collect. What is open already goes on when it is for the same bundle; so does what was ended for it, by a
    /// run that failed or a process that died.
    ///
    /// # Errors
    /// [`CaptureError::NotEnded`] when something was captured for another bundle, by a run that a crash ended: end that first.
    pub async fn begin(&self, about: About) -> Result<(), CaptureError> {
        let _turn = self.turn.lock().await;
        let read = self.read()?;
        match read.about {
            Some(open) if open.bundle == about.bundle => Ok(()),
            Some(open) if !read.actions.is_empty() => Err(CaptureError::NotEnded { id: open.bundle }),
            Some(open) => {
                self.keep(&Change::Ended { bundle: open.bundle }).await?;
                self.keep(&Change::Begun(about)).await
            }
            None => self.keep(&Change::Begun(about)).await,
        }
    }

    /// What was captured since it was begun.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub fn actions(&self) -> Result<Vec<Action>, CaptureError> {
        Ok(self.read()?.actions)
    }

    /// Ends the run's collection: what was captured is a bundle from now on, and a person may decide. `None` when nothing
    /// was. After a crash, ending again ends the same.
    ///
    /// # Errors
    /// [`CaptureError`]. Nothing is lost: end it again.
    pub async fn end(
        &self,
        bundles: &Bundles,
        summary: &str,
        now: Timestamp,
    ) -> Result<Option<Bundle>, CaptureError> {
        let _turn = self.turn.lock().await;
        let Read { about: Some(about), actions, .. } = self.read()? else { return Ok(None) };
        let id = about.bundle.clone();
        let made = if actions.is_empty() {
            None
        } else {
            let summary = summary.to_owned();
            let state = State::Fresh;
            let bundle = Bundle { about, made: now, summary, actions, state, lease: None, trail: Vec::new() };
            Some(bundles.add(bundle).await?)
        };
        self.keep(&Change::Ended { bundle: id }).await?;
        Ok(made)
    }

    /// Says that calls of a tool come here.
    pub(crate) fn cover(&self, tool: &str) {
        self.covered.lock().unwrap_or_else(PoisonError::into_inner).insert(tool.to_owned());
    }

    /// Whether calls of a tool come here. Whoever lets a captured call pass asks first: it would be made otherwise.
    pub fn covers(&self, tool: &str) -> bool {
        self.covered.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }

    /// The ids of earlier actions of this session, those of this bundle not among them.
    pub(crate) fn earlier(&self) -> Result<Vec<String>, CaptureError> {
        Ok(self.read()?.earlier().map(|action| action.id.clone()).collect())
    }

    /// Captures: makes an action for a fresh id, and keeps it. `begin` says what to begin when nothing was.
    pub(crate) async fn capture(
        &self,
        begin: impl FnOnce() -> About,
        make: impl FnOnce(String, &[Action]) -> Result<Action, String>,
    ) -> Result<Result<Action, String>, CaptureError> {
        let _turn = self.turn.lock().await;
        let read = self.read()?;
        if read.actions.len() >= MOST {
            return Ok(Err(format!(
                "{MOST} actions await approval already, and a person has to decide about all of them. Nothing was \
                 captured. End with a summary of what is proposed, and of what is left."
            )));
        }
        let id = temp::id(read.earlier().count() + read.actions.len() + 1);
        let action = match make(id, &read.actions) {
            Ok(action) => action,
            Err(reason) => return Ok(Err(reason)),
        };
        if read.about.is_none() {
            self.keep(&Change::Begun(begin())).await?;
        }
        self.keep(&Change::Captured(Box::new(action.clone()))).await?;
        Ok(Ok(action))
    }

    fn read(&self) -> Result<Read, CaptureError> {
        let changes = self.side.all(KIND).map_err(|problem| CaptureError::Side { problem })?;
        let mut read = Read::default();
        for change in changes {
            let change: Change = serde_json::from_value(change).map_err(|error| {
                CaptureError::Unreadable { what: "captured actions".to_owned(), problem: error.to_string() }
            })?;
            match change {
                Change::Begun(about) => {
                    if let Some(at) = read.ended.iter().rposition(|(bundle, _)| *bundle == about.bundle) {
                        read.actions = read.ended.remove(at).1;
                    }
                    read.about = Some(about);
                }
                Change::Captured(action) => read.actions.push(*action),
                Change::Ended { bundle } => {
                    read.about = None;
                    read.ended.push((bundle, std::mem::take(&mut read.actions)));
                }
            }
        }
        Ok(read)
    }

    async fn keep(&self, change: &Change) -> Result<(), CaptureError> {
        let side = |problem| CaptureError::Side { problem };
        let change: Value = serde_json::to_value(change).map_err(|error| side(error.to_string()))?;
        self.side.append(KIND, change).await.map_err(side)
    }
}

#[cfg(test)]
mod tests;
