//! Keeps one value fresh for many callers: tokens, and keys read from a vault.
//!
//! What it promises:
//! - Many callers, one fetch: whoever comes while a fetch is under way waits for that one, and shares its failure.
//! - A value is replaced before it ends. Only the first caller in that window waits for the new one, and not for
//!   long; the others go on with the old value. When the early fetch fails, the old value is used until it ends.
//! - Every wait has a deadline.
//! - A caller that goes away takes nothing with it. The fetch belongs to those who wait for it: while one is left it
//!   goes on, and when none is left it is dropped, so that no task is without an owner.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use tokio::time::Instant;

use crate::error::AiError;

/// How long before its end a value is replaced when nobody said when. Azure's own clients use five minutes.
const AHEAD: Duration = Duration::from_secs(300);

/// A value counts as over this much before its end, for the time a request travels and for clocks that differ.
const MARGIN: Duration = Duration::from_secs(30);

/// Longer lifetimes are cut to this, so that a nonsensical number cannot overflow the clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How long a caller that still has a valid value waits for a new one.
const EARLY_WAIT: Duration = Duration::from_secs(5);

/// After an early fetch failed, how long the old value is used without asking again.
const EARLY_PAUSE: Duration = Duration::from_secs(30);

/// A value that was just fetched.
pub(super) struct Fresh<T> {
    /// The value.
    pub(super) value: T,
    /// How long it may be used, from the moment the fetch began.
    pub(super) lifetime: Duration,
    /// When to replace it, if its issuer said so.
    pub(super) refresh_in: Option<Duration>,
}

type Outcome<T> = Result<Arc<T>, AiError>;
type Flight<T> = BoxFuture<'static, Outcome<T>>;

/// One value, shared.
pub(super) struct Cache<T> {
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    held: Option<Held<T>>,
    /// Weak, so that a fetch nobody waits for any more is dropped instead of being resumed long after.
    flight: Option<WeakShared<Flight<T>>>,
    /// No early fetch before this.
    pause_until: Option<Instant>,
}

struct Held<T> {
    value: Arc<T>,
    refresh_at: Instant,
    ends_at: Instant,
}

impl<T> Held<T> {
    fn new(fresh: Fresh<T>, asked_at: Instant) -> Self {
        let Fresh { value, lifetime, refresh_in } = fresh;
        let lifetime = lifetime.min(LONGEST);
        let usable = lifetime.saturating_sub(MARGIN.min(lifetime / 10));
        // A short-lived value would be inside the five minutes from the start: it is replaced at half time.
        let ahead = if lifetime > AHEAD * 2 { lifetime - AHEAD } else { lifetime / 2 };
        let refresh_at = asked_at + refresh_in.unwrap_or(ahead).min(usable);
        Self { value: Arc::new(value), refresh_at, ends_at: asked_at + usable }
    }
}

/// What a caller should do, decided under the lock.
enum Step<T> {
    Use(Arc<T>),
    Wait(Shared<Flight<T>>),
    Try { flight: Shared<Flight<T>>, old: Arc<T> },
}

impl<T: Send + Sync + 'static> Cache<T> {
    pub(super) fn new() -> Self {
        Self { state: Arc::new(Mutex::new(State { held: None, flight: None, pause_until: None })) }
    }

    /// The value, fetched when it must be. `late` makes the error for a fetch that takes longer than `deadline`.
    pub(super) async fn get<F>(
        &self,
        deadline: Duration,
        fetch: F,
        late: impl FnOnce() -> AiError + Send + 'static,
    ) -> Outcome<T>
    where
        F: Future<Output = Result<Fresh<T>, AiError>> + Send + 'static,
    {
        match self.step(deadline, fetch, late) {
            Step::Use(value) => Ok(value),
            Step::Wait(flight) => flight.await,
            Step::Try { flight, old } => match tokio::time::timeout(EARLY_WAIT, flight).await {
                Ok(Ok(new)) => Ok(new),
                failed => {
                    lock(&self.state).pause_until = Some(Instant::now() + EARLY_PAUSE);
                    match failed {
                        Ok(Err(error)) => {
                            tracing::warn!(%error, "an early refresh failed; what is held is still valid");
                        }
                        _ => tracing::warn!("an early refresh is slow; what is held is still valid"),
                    }
                    Ok(old)
                }
            },
        }
    }

    /// Forgets the value. A fetch that is under way goes on: what it brings is newer than what is forgotten here.
    pub(super) fn forget(&self) {
        let mut state = lock(&self.state);
        state.held = None;
        state.pause_until = None;
    }

    fn step<F>(
        &self,
        deadline: Duration,
        fetch: F,
        late: impl FnOnce() -> AiError + Send + 'static,
    ) -> Step<T>
    where
        F: Future<Output = Result<Fresh<T>, AiError>> + Send + 'static,
    {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let under_way = state.flight.as_ref().and_then(WeakShared::upgrade);
        let old = state.held.as_ref().filter(|held| now < held.ends_at);
        if let Some(held) = old {
            let paused = state.pause_until.is_some_and(|until| now < until);
            if now < held.refresh_at || paused || under_way.is_some() {
                return Step::Use(held.value.clone());
            }
        }
        let old = old.map(|held| held.value.clone());
        let flight = under_way.unwrap_or_else(|| {
            let flight = fly(self.state.clone(), now, deadline, fetch, late).shared();
            state.flight = flight.downgrade();
            flight
        });
        match old {
            Some(old) => Step::Try { flight, old },
            None => Step::Wait(flight),
        }
    }
}

/// The fetch itself: within its deadline, and with its result put where later callers find it.
fn fly<T, F>(
    state: Arc<Mutex<State<T>>>,
    asked_at: Instant,
    deadline: Duration,
    fetch: F,
    late: impl FnOnce() -> AiError + Send + 'static,
) -> Flight<T>
where
    T: Send + Sync + 'static,
    F: Future<Output = Result<Fresh<T>, AiError>> + Send + 'static,
{
    async move {
        let outcome = tokio::time::timeout(deadline, fetch).await.unwrap_or_else(|_| Err(late()));
        let mut state = lock(&state);
        state.flight = None;
        let held = Held::new(outcome?, asked_at);
        let value = held.value.clone();
        state.held = Some(held);
        Ok(value)
    }
    .boxed()
}

/// Nothing panics while the lock is held, and the state is whole between any two statements, so a poisoned lock is
/// as good as any.
fn lock<T>(state: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
