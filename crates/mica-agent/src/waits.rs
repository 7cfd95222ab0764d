//! Waiting for people: how long a call, or a batch of calls, did nothing but wait for somebody.
//!
//! Promise: a person's thinking time counts against no clock. While a call waits for a person its deadline stands still,
//! and what its batch takes is counted without it. The same holds for hooks, through [`Patience`].

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::cx::ToolCx;

/// How long somebody was waited for. Those of a call are also those of its batch.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    state: watch::Sender<State>,
    batch: Option<Arc<Waits>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// How many wait now.
    open: usize,
    /// Since when at least one does.
    since: Option<Instant>,
    /// How long it was before.
    before: Duration,
}

impl Waits {
    /// Those of one call.
    pub(crate) fn of_call(batch: &Arc<Waits>) -> Arc<Self> {
        Arc::new(Self { state: watch::Sender::default(), batch: Some(Arc::clone(batch)) })
    }

    /// Somebody is waited for, until what is returned is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Waiting {
        self.state.send_modify(|state| {
            state.open += 1;
            state.since.get_or_insert_with(Instant::now);
        });
        let batch = self.batch.as_ref().map(|batch| Box::new(batch.begin()));
        Waiting { waits: Arc::clone(self), _batch: batch }
    }

    /// How long it was until now.
    pub(crate) fn total(&self) -> Duration {
        let state = *self.state.borrow();
        state.before + state.since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Returns once so much time has passed without waiting for anybody.
    pub(crate) async fn worked(&self, limit: Duration) {
        let began = Instant::now();
        let mut seen = self.state.subscribe();
        loop {
            // The sender lives as long as this, so waiting cannot fail.
            let _ = seen.wait_for(|state| state.open == 0).await;
            let due = began + limit + self.total();
            tokio::select! {
                biased;
                _ = seen.wait_for(|state| state.open > 0) => {}
                () = tokio::time::sleep_until(due) => return,
            }
        }
    }
}

tokio::task_local! {
    /// The clocks of the work that a task does now.
    static CLOCKS: Arc<Waits>;
}

/// The clocks of some work that has a deadline. Whoever waits for a person in it stops them meanwhile. Cheap to clone, so
/// that it can be handed to work that is done elsewhere on behalf of this.
#[derive(Debug, Clone)]
pub struct Patience(Arc<Waits>);

impl Patience {
    /// The clocks of the work that this task does: of a hook that is asked, or of what [`Patience::within`] surrounds.
    /// Work that no clock counts has one that nobody looks at.
    pub fn current() -> Self {
        Self(CLOCKS.try_with(Arc::clone).unwrap_or_default())
    }

    /// The clocks of a running call, for what it has done elsewhere.
    pub fn of_call(cx: &ToolCx) -> Self {
        Self(Arc::clone(cx.waits()))
    }

    /// Waits for a person: all clocks around stand still.
    pub async fn person<T>(&self, answer: impl Future<Output = T>) -> T {
        let _thinking = self.0.begin();
        answer.await
    }

    /// Does some work within a limit, not counting the time of people. `None`: it took longer, and was dropped.
    pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let waits =
            Arc::new(Waits { state: watch::Sender::default(), batch: CLOCKS.try_with(Arc::clone).ok() });
        let work = CLOCKS.scope(Arc::clone(&waits), work);
        tokio::select! {
            biased;
            made = work => Some(made),
            () = waits.worked(limit) => None,
        }
    }
}

/// Somebody is being waited for.
#[derive(Debug)]
pub(crate) struct Waiting {
    waits: Arc<Waits>,
    _batch: Option<Box<Waiting>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.waits.state.send_modify(|state| {
            state.open = state.open.saturating_sub(1);
            if state.open == 0 {
                state.before += state.since.take().map(|since| since.elapsed()).unwrap_or_default();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn waits_that_overlap_count_once_and_for_the_batch_too() {
        let batch = Arc::new(Waits::default());
        let (one, other) = (Waits::of_call(&batch), Waits::of_call(&batch));
        let first = one.begin();
        tokio::time::advance(SECOND).await;
        let second = other.begin();
        tokio::time::advance(SECOND).await;
        drop(first);
        tokio::time::advance(SECOND).await;
        assert_eq!((one.total(), other.total(), batch.total()), (2 * SECOND, 2 * SECOND, 3 * SECOND));
        drop(second);
        tokio::time::advance(SECOND).await;
        assert_eq!((other.total(), batch.total()), (2 * SECOND, 3 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_stands_still_while_somebody_thinks() {
        let waits = Arc::new(Waits::default());
        let began = Instant::now();
        let person = async {
            tokio::time::sleep(SECOND).await;
            let thinking = waits.begin();
            tokio::time::sleep(1000 * SECOND).await;
            drop(thinking);
        };
        tokio::join!(waits.worked(3 * SECOND), person);
        assert_eq!(began.elapsed(), 1003 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_person_stops_every_clock_around() {
        let began = Instant::now();
        let inner = || async {
            tokio::time::sleep(SECOND).await;
            Patience::current().person(tokio::time::sleep(1000 * SECOND)).await;
            tokio::time::sleep(SECOND).await;
        };
        let outer = Patience::within(5 * SECOND, async { Patience::within(3 * SECOND, inner()).await });
        assert_eq!(outer.await, Some(Some(())));
        assert_eq!(began.elapsed(), 1002 * SECOND);
        assert_eq!(Patience::within(SECOND, inner()).await, None, "work counts all the same");
    }

    #[tokio::test(start_paused = true)]
    async fn clocks_can_be_stopped_from_elsewhere() {
        let slow = async {
            let patience = Patience::current();
            let elsewhere =
                tokio::spawn(async move { patience.person(tokio::time::sleep(100 * SECOND)).await });
            elsewhere.await.unwrap();
        };
        assert_eq!(Patience::within(SECOND, slow).await, Some(()));
    }
}
