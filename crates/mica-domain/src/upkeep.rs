//! Looks after what is kept: says what of it cannot be read, and lets go of what nobody needs any more.
//!
//! Promises: what cannot be read is never deleted. What is not over is never deleted, however old it is or however many
//! there are: fires that wait or run, watches of work that goes on, bundles that somebody may still decide about or go on
//! with. What somebody writes while it is looked at stays.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::approvals::{self, Trace};
use crate::capture::{self, Bundle, State};
use crate::records::{self, RecordError, Records, Unread};
use crate::runners::thread::{POSITION, Position};
use crate::tasks::{self, Watch, WatchState};
use crate::triggers::fire::{self, Fire, FireState, TriggerState};

/// How much of what is over is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// For so long after it was over.
    pub age: SignedDuration,
    /// So many, the newest.
    pub most: usize,
    /// For so long however many there are: a product may tell what happened once more, and is heard once only as long as
    /// the first time is on record.
    pub least: SignedDuration,
}

/// How long what is over is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Fires that ended, and watches whose end was told.
    pub ended: Keep,
    /// Bundles and questions that were decided, with the record of who decided what.
    pub decided: Keep,
}

impl Default for Retention {
    /// A quarter for what ran, and two years for what was decided. Two days are always kept.
    fn default() -> Self {
        let (day, least) =
            (|days: i64| SignedDuration::from_hours(24 * days), SignedDuration::from_hours(48));
        Self {
            ended: Keep { age: day(90), most: 10_000, least },
            decided: Keep { age: day(730), most: 10_000, least },
        }
    }
}

/// A question that was decided, as far as it matters here.
#[derive(Deserialize)]
struct Question {
    trail: Vec<Trace>,
}

/// What was let go of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Fires.
    pub fires: usize,
    /// Watches.
    pub watches: usize,
    /// Bundles.
    pub bundles: usize,
    /// Questions.
    pub questions: usize,
}

/// All documents that cannot be read, of those that this library keeps.
///
/// # Errors
/// [`RecordError::Store`].
pub async fn unreadable(records: &dyn Records) -> Result<Vec<Unread>, RecordError> {
    async fn of<T: DeserializeOwned>(
        records: &dyn Records,
        kind: &str,
        all: &mut Vec<Unread>,
    ) -> Result<(), RecordError> {
        all.extend(records::sorted::<T>(records, kind).await?.1);
        Ok(())
    }
    let mut all = Vec::new();
    of::<Bundle>(records, capture::KIND, &mut all).await?;
    of::<capture::Newest>(records, capture::NEWEST, &mut all).await?;
    of::<Fire>(records, fire::FIRE, &mut all).await?;
    of::<TriggerState>(records, fire::STATE, &mut all).await?;
    of::<Watch>(records, tasks::KIND, &mut all).await?;
    of::<Position>(records, POSITION, &mut all).await?;
    of::<Question>(records, approvals::KIND, &mut all).await?;
    Ok(all)
}

/// Lets go of what is over for long enough, and of what is too many. What fails is left for the next time.
///
/// # Errors
/// [`RecordError::Store`].
pub async fn prune(
    records: &dyn Records,
    retention: &Retention,
    now: Timestamp,
) -> Result<Pruned, RecordError> {
    let fires = over(records, fire::FIRE, |fire: &Fire| match &fire.state {
        FireState::Ended { at, .. } | FireState::Skipped { at, .. } => Some(*at),
        FireState::Pending { .. } | FireState::Running { .. } => None,
    });
    let fires = delete(records, fire::FIRE, fires.await?, &retention.ended, now).await?;
    let watches = over(records, tasks::KIND, |watch: &Watch| match &watch.state {
        WatchState::Delivered { at, .. } | WatchState::Gone { at, .. } => Some(*at),
        WatchState::Watching | WatchState::Claimed { .. } => None,
    });
    let watches = delete(records, tasks::KIND, watches.await?, &retention.ended, now).await?;
    let bundles = over(records, capture::KIND, decided).await?;
    let bundles = delete(records, capture::KIND, bundles, &retention.decided, now).await?;
    if bundles > 0 {
        pointers(records).await?;
    }
    let questions =
        over(records, approvals::KIND, |question: &Question| question.trail.last().map(|last| last.at))
            .await?;
    let questions = delete(records, approvals::KIND, questions, &retention.decided, now).await?;
    Ok(Pruned { fires, watches, bundles, questions })
}

/// When a bundle was over. `None`: somebody may still decide about it, or go on with it.
fn decided(bundle: &Bundle) -> Option<Timestamp> {
    let is_over = match bundle.state {
        State::Rejected | State::Stale { .. } => true,
        State::Approved | State::PartiallyApproved => !bundle.is_open(),
        State::Fresh | State::Snoozed { .. } => false,
    };
    let last = bundle.trail.last().map_or(bundle.made, |trace| trace.at.max(bundle.made));
    (is_over && bundle.is_at_rest()).then_some(last)
}

/// One that is over: its id, its version, and when.
type Over = (String, u64, Timestamp);

/// Those that are over, the newest first.
async fn over<T: DeserializeOwned>(
    records: &dyn Records,
    kind: &str,
    ended: impl Fn(&T) -> Option<Timestamp>,
) -> Result<Vec<Over>, RecordError> {
    let found = records::sorted::<T>(records, kind).await?.0.into_iter();
    let mut over: Vec<Over> =
        found.filter_map(|(id, version, doc)| ended(&doc).map(|at| (id, version, at))).collect();
    over.sort_by(|one, other| (other.2, &other.0).cmp(&(one.2, &one.0)));
    Ok(over)
}

async fn delete(
    records: &dyn Records,
    kind: &str,
    over: Vec<Over>,
    keep: &Keep,
    now: Timestamp,
) -> Result<usize, RecordError> {
    let mut deleted = 0;
    for (place, (id, version, at)) in over.into_iter().enumerate() {
        let age = now.duration_since(at);
        if age < keep.least || (age < keep.age && place < keep.most) {
            continue;
        }
        match records.delete(kind, &id, version).await {
            Ok(()) => deleted += 1,
            // Somebody needs it after all.
            Err(RecordError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(deleted)
}

/// Lets go of notes which bundle counts for a subject, where no bundle is about it any more. While one is, the note says that
/// it is superseded.
async fn pointers(records: &dyn Records) -> Result<(), RecordError> {
    let (notes, _) = records::sorted::<capture::Newest>(records, capture::NEWEST).await?;
    let (bundles, unread) = records::sorted::<Bundle>(records, capture::KIND).await?;
    // What cannot be read may be about any of them.
    if !unread.is_empty() {
        return Ok(());
    }
    for (id, version, _) in notes {
        let is_about = |bundle: &Bundle| bundle.about.subject.as_ref().is_some_and(|one| one.key() == id);
        if bundles.iter().any(|(_, _, bundle)| is_about(bundle)) {
            continue;
        }
        match records.delete(capture::NEWEST, &id, version).await {
            Ok(()) | Err(RecordError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
