//! The sweep: open threads in which nobody answered the customer for days.
//!
//! Promises: a sweep of a time finds no more than it may, however often it is done again; it says nothing again that somebody
//! put off, said no to, or has not decided about yet, unless something changed.

use jiff::{SignedDuration, Timestamp};
use mica_domain::approvals::Deed;
use mica_domain::capture::{Bundle, Outdated, State, Subject};
use mica_domain::triggers::{Fire, FireState, Happened, What};
use serde_json::json;

use super::triggers::{Ran, THREAD};
use super::{Office, OfficeError};
use crate::store::threads;

/// How long a thread may be quiet before the sweep looks at it.
pub const QUIET: SignedDuration = SignedDuration::from_hours(72);
/// Threads of one sweep at most.
const SWEPT: usize = 5;
/// The trigger of what the sweep finds.
const QUIET_THREAD: &str = "quiet-thread";
/// The trigger whose times the sweep has.
pub(super) const SWEEP: &str = "nightly-sweep";

/// Between the time of a sweep and the thread that it found.
const AT: char = '@';

/// Whether a sweep of a time found what fired.
fn is_of(fire: &Fire, occurrence: &str) -> bool {
    fire.occurrence.strip_prefix(occurrence).is_some_and(|rest| rest.starts_with(AT))
}

/// Whether somebody put the decision about a bundle off until later than now, whatever changed since.
fn is_put_off(bundle: &Bundle, now: Timestamp) -> bool {
    match (&bundle.state, bundle.trail.last().map(|trace| &trace.deed)) {
        (State::Snoozed { until }, _)
        | (State::Stale { because: Outdated::Activity }, Some(Deed::Snoozed { until })) => *until > now,
        _ => false,
    }
}

impl Office {
    /// The sweep, now: looks at open threads in which nobody answered the customer for days, the oldest first.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn sweep(&self) -> Result<Vec<Ran>, OfficeError> {
        let occurrence = (self.means.now)().to_string();
        let mut all = Vec::new();
        for thread in self.quiet(&occurrence).await? {
            all.push(self.found(&occurrence, &thread).await?);
        }
        self.happened(all).await
    }

    /// The same for one thread, however long it was quiet.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn sweep_one(&self, thread: &str) -> Result<Vec<Ran>, OfficeError> {
        let id = thread.to_owned();
        let thread = self.means.store.read(move |connection| threads::get(connection, &id)).await?;
        let happened = self.found(&(self.means.now)().to_string(), &thread).await?;
        self.happened(vec![happened]).await
    }

    /// Puts what a sweep of a time finds on record, for the dispatcher to run. Answers the threads.
    pub(super) async fn sweep_at(&self, occurrence: &str) -> Result<Vec<String>, OfficeError> {
        for thread in self.quiet(occurrence).await? {
            let happened = self.found(occurrence, &thread).await?;
            self.dispatcher().happened(&happened).await?;
        }
        // Also those that were found before, when it is done again.
        let mut all = self.dispatcher().fires(QUIET_THREAD).await?;
        all.retain(|fire| is_of(fire, occurrence));
        Ok(all.into_iter().filter_map(|fire| Some(fire.subject?.id)).collect())
    }

    /// Threads that wait for too long, the oldest first, and about which there is something new to say: as many as a sweep
    /// has left to find.
    async fn quiet(&self, occurrence: &str) -> Result<Vec<threads::Thread>, OfficeError> {
        let search = threads::Search {
            status: Some("open".to_owned()),
            before: Some((self.means.now)() - QUIET),
            unanswered: true,
            limit: Some(50),
            ..Default::default()
        };
        let found =
            self.means.store.read(move |connection| Ok(threads::search(connection, &search)?.0)).await?;
        let (bundles, fires) = (self.bundles().list().await?, self.dispatcher().fires(QUIET_THREAD).await?);
        let most = SWEPT.saturating_sub(fires.iter().filter(|fire| is_of(fire, occurrence)).count());
        let mut quiet = Vec::new();
        for thread in found.into_iter().rev() {
            if quiet.len() < most && !self.is_settled(&thread.id, &bundles, &fires).await? {
                quiet.push(thread);
            }
        }
        Ok(quiet)
    }

    /// Whether the sweep has nothing new to say about a thread: an agent looks at it already, somebody put the decision about
    /// it off, or it was swept before, and since somebody said no or has not decided yet nothing has changed there.
    async fn is_settled(
        &self,
        thread: &str,
        bundles: &[Bundle],
        fires: &[Fire],
    ) -> Result<bool, OfficeError> {
        let is_it = |subject: Option<&Subject>| subject.is_some_and(|subject| subject.id == thread);
        let looks = |fire: &Fire| matches!(fire.state, FireState::Pending { .. } | FireState::Running { .. });
        if fires.iter().any(|fire| is_it(fire.subject.as_ref()) && looks(fire)) {
            return Ok(true);
        }
        let about: Vec<&Bundle> =
            bundles.iter().filter(|bundle| is_it(bundle.about.subject.as_ref())).collect();
        let now = (self.means.now)();
        if about.iter().any(|bundle| is_put_off(bundle, now)) {
            return Ok(true);
        }
        let mark = self.mark(thread).await?;
        Ok(about.iter().any(|bundle| {
            let stands = bundle.state == State::Rejected || bundle.is_undecided();
            stands && bundle.about.kind == QUIET_THREAD && !bundle.about.base.is_outdated_by(&mark)
        }))
    }

    async fn found(&self, occurrence: &str, thread: &threads::Thread) -> Result<Happened, OfficeError> {
        let id = format!("{occurrence}{AT}{}", thread.id);
        let mut happened = self.about(&id, What::Event { event: THREAD.to_owned() }, &thread.id).await?;
        happened.fields.insert("subject".to_owned(), json!(thread.subject));
        happened.fields.insert("since".to_owned(), json!(thread.last_message.to_string()));
        Ok(happened)
    }
}

#[cfg(test)]
mod tests;
