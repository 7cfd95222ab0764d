//! For clients that come and go: what a session tells, from any place that was reached, without gap and without repeats.
//!
//! Promises: a client that says the last event it has gets all that came since, also in the middle of a run; one that has
//! been away for too long, or whose place is of another process, gets the conversation as it is kept and goes on from
//! there. Nobody who follows holds a run up.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::{Ask, Event, EventKind, Listener, RunId};
use mica_ai::Message;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Copilot, CopilotError};

/// Events that are kept for clients who come back. Some thousand: minutes of an answer that is streamed.
const KEPT: usize = 4096;

/// A place in what a session tells. Numbers begin anew with each opening, so a place says of which it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The opening of the session.
    pub feed: String,
    /// The last event.
    pub seq: u64,
}

/// Keeps the newest events.
pub(super) struct Feed {
    name: String,
    kept: Mutex<VecDeque<Event>>,
    more: broadcast::Sender<Event>,
}

impl Feed {
    pub(super) fn new() -> Arc<Self> {
        let (more, _) = broadcast::channel(KEPT);
        Arc::new(Self { name: RunId::fresh().to_string(), kept: Mutex::default(), more })
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What came behind an event. `None` when some of it is not kept any more, or never was.
    fn since(kept: &VecDeque<Event>, seq: u64) -> Option<VecDeque<Event>> {
        let (oldest, newest) = (kept.front()?.seq, kept.back()?.seq);
        let is_known = seq <= newest && oldest <= seq.saturating_add(1);
        is_known.then(|| kept.iter().filter(|event| event.seq > seq).cloned().collect())
    }
}

#[async_trait]
impl Listener for Feed {
    async fn event(&self, event: Event) {
        // Kept and told under one lock, so that whoever begins to follow misses nothing in between.
        let mut kept = self.kept();
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(event.clone());
        // Nobody may follow, which is fine.
        let _ = self.more.send(event);
    }
}

/// What a client begins with that has no place.
#[derive(Debug, Clone, Default)]
pub struct Anew {
    /// The conversation, as far as it is kept.
    pub messages: Vec<Message>,
    /// What people are asked.
    pub waiting: Vec<Ask>,
}

/// A client's way through what a session tells.
pub struct Following {
    /// What to begin with, in place of everything the client had. Events that follow may tell of messages that are in it:
    /// they are the same ones, by their ids.
    pub anew: Option<Anew>,
    feed: Arc<Feed>,
    missed: VecDeque<Event>,
    more: broadcast::Receiver<Event>,
    last: Option<u64>,
}

impl Following {
    /// Where it is: say this when coming back. `None` when nothing was told yet.
    pub fn place(&self) -> Option<Place> {
        self.last.map(|seq| Place { feed: self.feed.name.clone(), seq })
    }

    /// The next event. `None` when the session is closed, or when the client is so far behind that it has to follow again.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.missed.pop_front() {
                self.last = Some(event.seq);
                return Some(event);
            }
            match self.more.recv().await {
                Ok(event) if self.last.is_some_and(|last| event.seq <= last) => {}
                Ok(event) => {
                    self.last = Some(event.seq);
                    return Some(event);
                }
                Err(RecvError::Lagged(_)) => self.missed = Feed::since(&self.feed.kept(), self.last?)?,
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl Copilot {
    /// What the session tells, from a place on; all of it anew without one, or when the place is too long ago.
    ///
    /// # Errors
    /// [`CopilotError::Kept`]; [`CopilotError::Busy`] in a run whose conversation is not kept.
    pub async fn follow(&self, from: Option<&Place>) -> Result<Following, CopilotError> {
        let feed = Arc::clone(&self.inner.feed);
        let (missed, more, newest) = {
            let kept = feed.kept();
            let known = from.filter(|place| place.feed == feed.name);
            let missed = known.and_then(|place| Feed::since(&kept, place.seq));
            let newest = kept.back().map(|event| event.seq);
            (missed.ok_or_else(|| going_on(&kept)), feed.more.subscribe(), newest)
        };
        Ok(match missed {
            Ok(missed) => Following { anew: None, last: from.map(|place| place.seq), missed, more, feed },
            Err(going_on) => {
                // Read behind the place, not before it: what is told twice is the same, what is not told is lost.
                let waiting = Box::pin(self.questions()).await?;
                let anew = Anew { messages: self.inner.messages().await?, waiting };
                let last = going_on.front().map_or(newest, |event| event.seq.checked_sub(1));
                Following { anew: Some(anew), last, missed: going_on, more, feed }
            }
        })
    }

    /// Waits until no run goes on.
    pub async fn idle(&self) {
        drop(self.inner.running.lock().await);
    }
}

/// The turn that goes on: what is being said is not in the conversation yet.
fn going_on(kept: &VecDeque<Event>) -> VecDeque<Event> {
    let turn = kept.iter().rposition(|event| matches!(event.kind, EventKind::TurnStart { .. }));
    let over = kept.iter().rposition(|event| matches!(event.kind, EventKind::TurnEnd { .. }));
    match turn {
        Some(turn) if over.is_none_or(|over| over < turn) => kept.iter().skip(turn).cloned().collect(),
        _ => VecDeque::new(),
    }
}

#[cfg(test)]
mod tests;
