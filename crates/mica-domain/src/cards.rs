//! Cards: what a fence in the model's words becomes for people.
//!
//! The model writes ids; people see cards. What a card shows comes from a table of snapshots that is filled from what tools
//! gave, is kept beside the conversation and never reaches a model. The message that is kept has the fence as the model
//! wrote it; people and models are shown different things made of it.
//!
//! | noun | what it is |
//! |---|---|
//! | [`Kinds`] | what a product declares: things, cards, probes |
//! | [`Cards`] | the cards of a session: hooks for its runs, and answers for people |
//! | [`Shown`] | an answer for people, as data |
//! | [`Reader`] | finds cards in an answer while it is written |

pub mod catalogue;
#[cfg(test)]
mod fixture;
pub mod hooks;
pub mod kind;
pub mod probe;
pub mod reader;
pub mod shown;
pub mod table;
pub mod view;
pub mod walk;

pub use kind::{Kind, KindError, Kinds, Line, Payload, Ready, Thing};
pub use probe::{Form, Found, Probe};
pub use reader::{Fence, Href, Piece, Reader, Written};
pub use shown::{Card, Item, Known, Link, Segment, Shown};
pub use table::{Snapshot, Standing};

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use mica_agent::ToolOutput;
use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use mica_ai::{Assistant, Block};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capture::{self, Bundle, Status};
use crate::copilot::Now;
use crate::side::Side;
use table::{Change, Table};

/// Whose changes they are, in what is kept beside a conversation: snapshots.
const SNAPSHOTS: &str = "cards";

/// The same: what models see of messages.
const VIEWS: &str = "cards.view";

/// Why the cards of a session cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// A mistake of the product.
    #[error(transparent)]
    Kind(#[from] KindError),
    /// What was kept of the session cannot be read.
    #[error("what is known of cards cannot be read: {0}")]
    Side(String),
}

/// The cards of a session. Clones are the same.
#[derive(Clone)]
pub struct Cards {
    inner: Arc<Inner>,
}

struct Inner {
    ready: Arc<Ready>,
    side: Arc<dyn Side>,
    now: Now,
    state: Mutex<State>,
    /// Whoever holds this keeps what is not kept yet; the others wait, so that nothing is kept twice or out of order.
    keeping: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    table: Table,
    /// What models see of texts of messages: by message and block. `None`: as it is.
    views: HashMap<String, Views>,
    /// What calls gave whose results are not on record yet.
    pending: HashMap<CallId, (Vec<Found>, Standing)>,
    /// What is not kept yet, in order.
    unkept: VecDeque<(&'static str, Value)>,
}

type Views = BTreeMap<usize, Option<String>>;

/// What models see of a message, as it is kept.
#[derive(Serialize, Deserialize)]
struct Seen {
    message: String,
    blocks: Views,
}

impl Cards {
    /// The cards of a session, with what was kept of them.
    ///
    /// # Errors
    /// [`CardError`].
    pub fn open(kinds: Kinds, side: Arc<dyn Side>, now: Now) -> Result<Self, CardError> {
        let ready = Arc::new(kinds.ready()?);
        let mut state = State::default();
        for change in side.all(SNAPSHOTS).map_err(CardError::Side)? {
            match serde_json::from_value(change) {
                Ok(change) => state.table.apply(&change),
                // What cannot be read costs a card, never the session.
                Err(error) => tracing::warn!(%error, "a snapshot that was kept is left out"),
            }
        }
        for seen in side.all(VIEWS).map_err(CardError::Side)? {
            match serde_json::from_value::<Seen>(seen) {
                Ok(seen) => {
                    state.views.entry(seen.message).or_insert(seen.blocks);
                }
                Err(error) => tracing::warn!(%error, "what models see of a message is made anew"),
            }
        }
        let (state, keeping) = (Mutex::new(state), tokio::sync::Mutex::default());
        Ok(Self { inner: Arc::new(Inner { ready, side, now, state, keeping }) })
    }

    /// What the product declared.
    pub fn kinds(&self) -> &Kinds {
        &self.inner.ready.kinds
    }

    /// The same, checked and compiled.
    pub fn ready(&self) -> &Arc<Ready> {
        &self.inner.ready
    }

    /// Reads a text of an answer while it is written.
    pub fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.inner.ready))
    }

    /// What is known of a thing, by its id or what a model made of it.
    pub fn snapshot(&self, thing: &str, id: &str) -> Option<Snapshot> {
        self.find(thing, id).1
    }

    /// How many things are known.
    pub fn known(&self) -> usize {
        self.state().table.len()
    }

    /// Looks for things in what a tool gave outside of a run: when captured calls are made, for example.
    ///
    /// # Errors
    /// In words, when it could not be kept.
    pub async fn mine(&self, output: &ToolOutput) -> Result<(), String> {
        let (found, standing) = self.look(output, &[]);
        self.learn(found, standing);
        self.flush().await
    }

    /// What was predicted under one id is there now under another. Cards that name the one show the other.
    ///
    /// # Errors
    /// In words, when it could not be kept.
    pub async fn became(&self, predicted: &str, real: &str) -> Result<(), String> {
        self.change(&Change::Became { from: predicted.to_owned(), to: real.to_owned() });
        self.flush().await
    }

    /// Captured calls of this session were made: what they came to is known, and cards that name what was predicted show it.
    /// Saying it again changes nothing.
    ///
    /// # Errors
    /// In words, when it could not be kept.
    pub async fn applied(&self, bundle: &Bundle) -> Result<(), String> {
        for action in &bundle.actions {
            let Status::Done { details, made, .. } = &action.status else { continue };
            let found = walk::walk(&self.inner.ready.probes, details);
            self.learn(found, Standing::Seen);
            let real = made.as_ref().and_then(probe::id_of);
            if let Some(real) = real.filter(|real| !self.state().table.is_known_as(&action.id, real)) {
                self.change(&Change::Became { from: action.id.clone(), to: real });
            }
        }
        self.flush().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.inner.now)()
    }

    pub(crate) fn pieces(&self, text: &str) -> Vec<Piece> {
        Reader::all(Arc::clone(&self.inner.ready), text)
    }

    pub(crate) fn find(&self, thing: &str, id: &str) -> (String, Option<Snapshot>) {
        let state = self.state();
        let (id, snapshot) = state.table.find(thing, id);
        (id, snapshot.cloned())
    }

    fn look(&self, output: &ToolOutput, given: &[&Value]) -> (Vec<Found>, Standing) {
        let probes = &self.inner.ready.probes;
        let found =
            walk::data(output).iter().flat_map(|value| walk::walk_but(probes, value, given)).collect();
        (found, standing(output))
    }

    /// A call gave something; whether it counts is known when its result is on record.
    fn found(&self, call: &ToolCall, output: &ToolOutput) {
        let given = Value::Object(call.arguments.parse().unwrap_or_default());
        let (found, standing) = self.look(output, &walk::objects(&given));
        if !found.is_empty() {
            self.state().pending.insert(call.id.clone(), (found, standing));
        }
    }

    /// The result of a call is about to be on record.
    fn settle(&self, call: &CallId, counts: bool) {
        let pending = self.state().pending.remove(call);
        if let (true, Some((found, standing))) = (counts, pending) {
            self.learn(found, standing);
        }
    }

    fn learn(&self, found: Vec<Found>, standing: Standing) {
        let at = self.now();
        let changes = self.state().table.changes(found, standing, at);
        for change in changes {
            self.change(&change);
        }
    }

    fn change(&self, change: &Change) {
        let mut state = self.state();
        state.table.apply(change);
        match serde_json::to_value(change) {
            Ok(value) => state.unkept.push_back((SNAPSHOTS, value)),
            Err(error) => tracing::error!(%error, "a snapshot cannot be written"),
        }
    }

    /// Makes what models see of an answer, unless that was made before. Answers whether it is new.
    fn seen(&self, answer: &Assistant) -> bool {
        if self.state().views.contains_key(answer.id.as_str()) {
            return false;
        }
        let mut blocks = Views::new();
        for (index, block) in answer.blocks.iter().enumerate() {
            if let Block::Text(text) = block
                && view::may_have_cards(&text.text)
            {
                let view = self.view(&text.text);
                // Also what stays as it is: cards that the product may come to have later must not change it.
                blocks.insert(index, (view != text.text).then_some(view));
            }
        }
        let seen = Seen { message: answer.id.to_string(), blocks };
        let mut state = self.state();
        match serde_json::to_value(&seen) {
            Ok(value) => state.unkept.push_back((VIEWS, value)),
            Err(error) => tracing::error!(%error, "what models see of a message cannot be written"),
        }
        state.views.insert(seen.message, seen.blocks);
        true
    }

    /// Shows an answer as models see it.
    fn put_on(&self, answer: &mut Assistant) {
        let state = self.state();
        let Some(views) = state.views.get(answer.id.as_str()) else { return };
        for (index, view) in views {
            if let (Some(Block::Text(text)), Some(view)) = (answer.blocks.get_mut(*index), view) {
                text.text.clone_from(view);
            }
        }
    }

    /// Keeps what is not kept yet. What fails is tried again the next time.
    async fn flush(&self) -> Result<(), String> {
        let _turn = self.inner.keeping.lock().await;
        loop {
            // The state is not held while it is written; what comes meanwhile comes behind.
            let Some((kind, value)) = self.state().unkept.front().cloned() else { return Ok(()) };
            self.inner.side.append(kind, value).await?;
            self.state().unkept.pop_front();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether what a tool gave is there, or is what a call would come to.
pub(crate) fn standing(output: &ToolOutput) -> Standing {
    if capture::is_captured(output.details.as_ref()) { Standing::Provisional } else { Standing::Seen }
}
