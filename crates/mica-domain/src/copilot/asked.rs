//! Keeps what people are asked, with what the run took until then, before they are asked: a question survives a crash. It is
//! over when something is said, or when a call of its answer begins: what may have had its effect is not asked about again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point, Record};
use mica_agent::{Ask, Context, Event, EventKind, Hooks, Listener, Tally, Verdict};
use mica_ai::message::ToolCall;

use crate::keeping::{Keeper, Waiting};

/// What calls are answered with that waited for a person who then said something else. None of them began: a run is
/// suspended before any call of the answer runs.
const MOVED_ON: &str = "Not run: the person was asked whether it may run, and said something else instead.";

/// What people are asked.
pub(super) struct Asked {
    keeper: Option<Keeper>,
    /// What the run took, as a call last saw it.
    tally: Mutex<Tally>,
    waiting: Mutex<Option<Waiting>>,
    /// What was asked was over when the session was opened, and its calls are not settled yet: they are, with whatever is
    /// said next. Sessions of before are left so; now the message that is said instead is what ends a question.
    abandoned: Mutex<bool>,
}

impl Asked {
    /// With what the session's last run waits for.
    pub(super) fn new(keeper: Option<Keeper>, waiting: Option<Waiting>) -> Self {
        let abandoned = Mutex::new(keeper.as_ref().is_some_and(Keeper::was_abandoned));
        Self { keeper, tally: Mutex::default(), waiting: Mutex::new(waiting), abandoned }
    }

    /// What people are asked now.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        lock(&self.waiting).clone()
    }

    /// Keeps what people are asked in a round. What they were asked before about calls of the same answer stays beside it:
    /// what they said to that counts when the run goes on, also in another process.
    async fn adds(&self, asks: &[Ask]) -> Result<(), String> {
        let mut all = self.waiting().map(|waiting| waiting.asks).unwrap_or_default();
        for ask in asks {
            match all.iter_mut().find(|before| before.call.id == ask.call.id) {
                Some(before) => before.clone_from(ask),
                None => all.push(ask.clone()),
            }
        }
        self.asks(&all).await
    }

    /// Keeps all that people are asked, unless it is kept already.
    pub(super) async fn asks(&self, asks: &[Ask]) -> Result<(), String> {
        let tally = lock(&self.tally).clone();
        let now = Waiting { asks: asks.to_vec(), tally };
        if self.waiting().is_some_and(|kept| kept.asks == now.asks) {
            return Ok(());
        }
        if let Some(keeper) = &self.keeper {
            keeper.waits(&now.asks, &now.tally).await?;
        }
        *lock(&self.waiting) = Some(now);
        Ok(())
    }

    /// Keeps what is asked as it was looked at again.
    pub(super) async fn renew(&self, asks: Vec<Ask>, tally: Tally) -> Result<(), String> {
        if let Some(keeper) = &self.keeper {
            keeper.waits(&asks, &tally).await?;
        }
        *lock(&self.waiting) = Some(Waiting { asks, tally });
        Ok(())
    }

    /// People are still asked: what was said instead could not be kept, so it was not said.
    pub(super) fn put_back(&self, waiting: &Waiting) {
        *lock(&self.waiting) = Some(waiting.clone());
    }
}

#[async_trait]
impl Hooks for Asked {
    fn says(&self, at: Point) -> bool {
        matches!(at, Point::Gate | Point::Record)
    }

    async fn gate(&self, _: &mut Gated<'_>, cx: &Context) -> Verdict {
        lock(&self.tally).clone_from(&cx.tally);
        Verdict::Pass
    }

    fn left(&self, _: &ToolCall) -> Option<String> {
        let is_left = *lock(&self.abandoned) || lock(&self.waiting).is_some();
        is_left.then(|| MOVED_ON.to_owned())
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Asked(asks) => self.adds(asks).await,
            // Whatever is said after a question ends it.
            Record::Message(_) => {
                *lock(&self.waiting) = None;
                *lock(&self.abandoned) = false;
                Ok(())
            }
            Record::TurnOpen | Record::Answered(_) => Ok(()),
        }
    }
}

/// The same as what is kept of it says, also when nothing can be recorded behind the call.
#[async_trait]
impl Listener for Asked {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::CallStart { .. })
    }

    async fn event(&self, _: Event) {
        *lock(&self.waiting) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
