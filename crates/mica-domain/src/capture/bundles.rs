//! Keeps bundles, and knows which of them still counts.
//!
//! Invariant: of the bundles about one subject that nobody decided about, one counts: the newest. A record beside them says
//! which, and is changed in one step; whoever reads an older one reads that it is superseded, also when a crash kept it from
//! being written down.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::action::Action;
use super::bundle::{Base, Bundle, Outdated, State, Subject};
use super::error::CaptureError;
use super::temp;
use crate::approvals::{Deed, Person, Trace};
use crate::records::{self, RecordError, Records};

/// The kind of record that a bundle is.
pub const KIND: &str = "bundle";

/// The kind of record that says which bundle counts for a subject.
pub(crate) const NEWEST: &str = "bundle_subject";

/// Tries of a write that others may get in before. Each of them got theirs done, so this many are many.
const TRIES: usize = 32;

/// How a product says whether something happened to a subject.
#[async_trait]
pub trait Activity: Send + Sync {
    /// How a subject stands now.
    ///
    /// # Errors
    /// In words. Nothing is applied then.
    async fn of(&self, subject: &Subject) -> Result<Base, String>;
}

/// Which bundle counts for a subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Newest {
    bundle: String,
    made: Timestamp,
}

impl Newest {
    fn of(bundle: &Bundle) -> Self {
        Self { bundle: bundle.id().to_owned(), made: bundle.made }
    }

    /// By time; two of the same moment by their ids, so that everybody finds the same one newer.
    fn cmp(&self, other: &Self) -> Ordering {
        (self.made, &self.bundle).cmp(&(other.made, &other.bundle))
    }
}

/// A bundle, and the version that was read.
pub(crate) struct Read {
    pub(crate) bundle: Bundle,
    pub(crate) version: u64,
}

/// Keeps bundles. Clones see the same ones.
#[derive(Clone)]
pub struct Bundles {
    records: Arc<dyn Records>,
    activity: Option<Arc<dyn Activity>>,
}

impl Bundles {
    /// Kept where the product keeps its records.
    pub fn new(records: Arc<dyn Records>) -> Self {
        Self { records, activity: None }
    }

    /// Asks the product whether subjects have changed, before anything is applied.
    #[must_use]
    pub fn watching(mut self, activity: Arc<dyn Activity>) -> Self {
        self.activity = Some(activity);
        self
    }

    /// Keeps a new bundle; an older one about the same subject is superseded, as far as nobody decided about it. A bundle
    /// that is there already stays as it is: a crash may have come between. A run that was tried again and proposes more
    /// goes on with its bundle, or has another one for the rest when somebody decided meanwhile. One of the same name that
    /// proposes something else is another one, and gets a name of its own: nothing that was captured is lost.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn add(&self, mut bundle: Bundle) -> Result<Bundle, CaptureError> {
        if bundle.about.base == Base::default() {
            bundle.about.base = self.standing(&bundle).await?.unwrap_or_else(|| Base::at(bundle.made));
        }
        let name = bundle.id().to_owned();
        for another in 2..=TRIES + 1 {
            match self.records.put(KIND, bundle.id(), &written(&bundle)?, None).await {
                Ok(_) => break,
                Err(RecordError::Conflict { .. }) if another <= TRIES => {}
                Err(error) => return Err(error.into()),
            }
            let Read { bundle: kept, version } = match self.read(bundle.id()).await {
                Ok(read) => read,
                // It was deleted meanwhile: the name is free.
                Err(CaptureError::Unknown { .. }) => continue,
                Err(CaptureError::Unreadable { .. }) => {
                    bundle.about.bundle = format!("{name}-{another}");
                    continue;
                }
                Err(error) => return Err(error),
            };
            if kept.proposes(&bundle) && (kept.summary == bundle.summary || !kept.is_untouched()) {
                break;
            }
            let goes_on = bundle.goes_on_from(&kept) || kept.proposes(&bundle);
            if goes_on && kept.is_untouched() {
                // The same run, further on. It is as old as it was, so that it takes nobody's place again.
                let grown = Bundle { made: kept.made, state: kept.state, ..bundle.clone() };
                match self.write(&grown, version).await {
                    Ok(_) => break,
                    Err(CaptureError::Records(RecordError::Conflict { .. })) => continue,
                    Err(error) => return Err(error),
                }
            }
            if goes_on {
                bundle.actions = rest(&kept, &bundle);
            }
            bundle.about.bundle = format!("{name}-{another}");
        }
        let kept = self.get(bundle.id()).await?;
        if let Some(subject) = &kept.about.subject
            && let Some(older) = self.claim(subject, &Newest::of(&kept)).await?
        {
            self.outdate(&older, &Outdated::Superseded { by: kept.id().to_owned() }).await?;
        }
        self.get(kept.id()).await
    }

    /// Makes a bundle the one that counts, unless a newer one does. Answers the one before it.
    async fn claim(&self, subject: &Subject, newest: &Newest) -> Result<Option<String>, CaptureError> {
        let (key, doc) = (subject.key(), to_value(newest)?);
        for _ in 0..TRIES {
            let (before, version) = records::renewed::<Newest>(&*self.records, NEWEST, &key).await?;
            if before.as_ref().is_some_and(|before| before.cmp(newest) != Ordering::Less) {
                return Ok(None);
            }
            match self.records.put(NEWEST, &key, &doc, version).await {
                Ok(_) => return Ok(before.map(|before| before.bundle)),
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(RecordError::Conflict { kind: NEWEST.to_owned(), id: key }.into())
    }

    /// A bundle, as it stands.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn get(&self, id: &str) -> Result<Bundle, CaptureError> {
        Ok(self.read(id).await?.bundle)
    }

    /// A bundle, with the version for whoever changes it.
    pub(crate) async fn read(&self, id: &str) -> Result<Read, CaptureError> {
        let unknown = || CaptureError::Unknown { id: id.to_owned() };
        let kept = self.records.get(KIND, id).await?.ok_or_else(unknown)?;
        let mut bundle: Bundle = from_value(id, &kept.doc)?;
        self.settle(&mut bundle).await?;
        Ok(Read { bundle, version: kept.version })
    }

    /// Which bundle counts for a subject. What cannot be read says nothing.
    async fn newest(&self, key: &str) -> Result<Option<Newest>, CaptureError> {
        let kept = self.records.get(NEWEST, key).await?;
        Ok(kept.and_then(|kept| match Newest::deserialize(&kept.doc) {
            Ok(newest) => Some(newest),
            Err(error) => {
                tracing::warn!(key, %error, "which bundle counts cannot be read");
                None
            }
        }))
    }

    /// Says of a bundle that it is superseded, where it is and that is not written yet.
    async fn settle(&self, bundle: &mut Bundle) -> Result<(), CaptureError> {
        let Some(subject) = &bundle.about.subject else { return Ok(()) };
        // What somebody is applying is not taken from them in the middle.
        let is_left = matches!(bundle.state, State::PartiallyApproved) && bundle.lease.is_none();
        if !is_left && !matches!(bundle.state, State::Fresh | State::Snoozed { .. }) {
            return Ok(());
        }
        let key = subject.key();
        let Some(newest) = self.newest(&key).await? else { return Ok(()) };
        if newest.cmp(&Newest::of(bundle)) == Ordering::Greater {
            bundle.state = State::Stale { because: Outdated::Superseded { by: newest.bundle } };
        }
        Ok(())
    }

    /// Writes a bundle that was read at a version, and answers the new one.
    pub(crate) async fn write(&self, bundle: &Bundle, version: u64) -> Result<u64, CaptureError> {
        Ok(self.records.put(KIND, bundle.id(), &written(bundle)?, Some(version)).await?)
    }

    /// All bundles, by id. Those that cannot be read are left out, and logged.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn list(&self) -> Result<Vec<Bundle>, CaptureError> {
        let mut bundles = Vec::new();
        for (_, _, mut bundle) in records::readable::<Bundle>(&*self.records, KIND).await? {
            self.settle(&mut bundle).await?;
            bundles.push(bundle);
        }
        Ok(bundles)
    }

    /// Those that somebody applies, or left in the middle.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn left(&self) -> Result<Vec<Bundle>, CaptureError> {
        let mut bundles = self.list().await?;
        bundles.retain(|bundle| bundle.lease.is_some());
        Ok(bundles)
    }

    /// Those that a person should decide about now, the newest first: fresh ones, and those that were snoozed until now.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn waiting(&self, now: Timestamp) -> Result<Vec<Bundle>, CaptureError> {
        let mut bundles = self.list().await?;
        bundles.retain(|bundle| match &bundle.state {
            State::Fresh => true,
            State::Snoozed { until } => *until <= now,
            _ => false,
        });
        bundles.sort_by(|one, other| Newest::of(other).cmp(&Newest::of(one)));
        Ok(bundles)
    }

    /// Something happened to a subject: the bundle about it is stale, if it was made before. Answers its id. For products
    /// that say when something happens; those that are asked are asked before anything is applied.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn touched(&self, subject: &Subject, now: &Base) -> Result<Option<String>, CaptureError> {
        let key = subject.key();
        let Some(newest) = self.newest(&key).await? else { return Ok(None) };
        let bundle = self.get(&newest.bundle).await?;
        if !bundle.about.base.is_outdated_by(now) {
            return Ok(None);
        }
        Ok(self.outdate(bundle.id(), &Outdated::Activity).await?.then_some(newest.bundle))
    }

    /// Asks the product about the subjects of all bundles that wait, and answers the ids of those that are stale now.
    ///
    /// # Errors
    /// [`CaptureError`]
    pub async fn sweep(&self) -> Result<Vec<String>, CaptureError> {
        let mut stale = Vec::new();
        for bundle in self.list().await? {
            if matches!(bundle.state, State::Fresh | State::Snoozed { .. })
                && self.is_outdated(&bundle).await?
                && self.outdate(bundle.id(), &Outdated::Activity).await?
            {
                stale.push(bundle.id().to_owned());
            }
        }
        Ok(stale)
    }

    /// Whether something happened to the subject of a bundle since, as the product says it.
    pub(crate) async fn is_outdated(&self, bundle: &Bundle) -> Result<bool, CaptureError> {
        Ok(self.standing(bundle).await?.is_some_and(|now| bundle.about.base.is_outdated_by(&now)))
    }

    /// How the subject of a bundle stands now. `None`: nobody is asked.
    pub(crate) async fn standing(&self, bundle: &Bundle) -> Result<Option<Base>, CaptureError> {
        match (&self.activity, &bundle.about.subject) {
            (Some(activity), Some(subject)) => {
                let now = activity.of(subject).await;
                Ok(Some(now.map_err(|problem| CaptureError::Activity { problem })?))
            }
            _ => Ok(None),
        }
    }

    /// Marks a bundle stale, and says whether it was. One that was decided about is not.
    pub(crate) async fn outdate(&self, id: &str, because: &Outdated) -> Result<bool, CaptureError> {
        for _ in 0..TRIES {
            let Some(kept) = self.records.get(KIND, id).await? else { return Ok(false) };
            let mut bundle: Bundle = from_value(id, &kept.doc)?;
            if !matches!(bundle.state, State::Fresh | State::Snoozed { .. }) {
                return Ok(false);
            }
            bundle.state = State::Stale { because: because.clone() };
            match self.write(&bundle, kept.version).await {
                Ok(_) => return Ok(true),
                Err(CaptureError::Records(RecordError::Conflict { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(RecordError::Conflict { kind: KIND.to_owned(), id: id.to_owned() }.into())
    }

    /// Puts the decision off: about all of it, or about what is left of it, because it was not picked or failed.
    ///
    /// # Errors
    /// [`CaptureError`]: among others when somebody decided meanwhile.
    pub async fn snooze(
        &self,
        id: &str,
        until: Timestamp,
        person: &Person,
        now: Timestamp,
    ) -> Result<Bundle, CaptureError> {
        let trace = trace(person, now, Deed::Snoozed { until });
        self.decide(id, Bundle::is_undecided, State::Snoozed { until }, trace).await
    }

    /// Says no: to all of it, or to what is left of it, because it was not picked or failed. What was done stays done.
    ///
    /// # Errors
    /// [`CaptureError`]: among others when somebody decided meanwhile.
    pub async fn reject(
        &self,
        id: &str,
        reason: &str,
        person: &Person,
        now: Timestamp,
    ) -> Result<Bundle, CaptureError> {
        let deed = Deed::Rejected { reason: reason.to_owned() };
        self.decide(id, Bundle::is_open, State::Rejected, trace(person, now, deed)).await
    }

    /// Says that a stale bundle is still right: it is fresh again, as of now. One that a newer bundle took the place of
    /// counts again in place of it, so the newer one is stale from now on.
    ///
    /// # Errors
    /// [`CaptureError`]: among others when somebody decided meanwhile.
    pub async fn renew(&self, id: &str, person: &Person, now: Timestamp) -> Result<Bundle, CaptureError> {
        let Read { mut bundle, version } = self.read(id).await?;
        let State::Stale { .. } = bundle.state else { return Err(standing(&bundle)) };
        bundle.about.base = self.standing(&bundle).await?.unwrap_or_else(|| Base::at(now));
        // Whoever is renewed is the newest from now on.
        bundle.made = now;
        // What was approved of it in part before stays so.
        bundle.state = if bundle.actions.iter().any(|action| action.status.is_final()) {
            State::PartiallyApproved
        } else {
            State::Fresh
        };
        bundle.trail.push(trace(person, now, Deed::Renewed));
        self.write(&bundle, version).await?;
        if let Some(subject) = &bundle.about.subject
            && let Some(other) = self.claim(subject, &Newest::of(&bundle)).await?
            && other != bundle.id()
        {
            self.outdate(&other, &Outdated::Superseded { by: bundle.id().to_owned() }).await?;
        }
        self.get(id).await
    }

    async fn decide(
        &self,
        id: &str,
        allowed: fn(&Bundle) -> bool,
        state: State,
        trace: Trace,
    ) -> Result<Bundle, CaptureError> {
        let Read { mut bundle, version } = self.read(id).await?;
        // What was picked is done before anybody decides about the rest.
        let is_held = bundle.lease.as_ref().is_some_and(|lease| lease.until > trace.at);
        if bundle.is_under_way() || is_held {
            return Err(under_way(&bundle, trace.at));
        }
        if !allowed(&bundle) {
            return Err(standing(&bundle));
        }
        bundle.lease = None;
        bundle.state = state;
        bundle.trail.push(trace);
        self.write(&bundle, version).await?;
        Ok(bundle)
    }
}

/// What a bundle proposes beyond an earlier part of it that somebody decided about meanwhile: with the true ids of what was
/// done of that.
fn rest(kept: &Bundle, bundle: &Bundle) -> Vec<Action> {
    let made: BTreeMap<&str, &Value> = kept.became().collect();
    let rest = bundle.actions.iter().skip(kept.actions.len()).cloned();
    rest.map(|mut action| {
        action.args = temp::replaced(&action.args, &made);
        action.needs.retain(|need| !made.contains_key(need.as_str()));
        action
    })
    .collect()
}

pub(crate) fn trace(person: &Person, at: Timestamp, deed: Deed) -> Trace {
    Trace { at, by: person.name.clone(), deed }
}

pub(crate) fn standing(bundle: &Bundle) -> CaptureError {
    CaptureError::Standing { id: bundle.id().to_owned(), state: Box::new(bundle.state.clone()) }
}

pub(super) fn under_way(bundle: &Bundle, now: Timestamp) -> CaptureError {
    let (holder, until) = match &bundle.lease {
        Some(lease) => (lease.holder.clone(), lease.until),
        None => ("somebody".to_owned(), now),
    };
    CaptureError::UnderWay { id: bundle.id().to_owned(), holder, until }
}

fn written(bundle: &Bundle) -> Result<Value, CaptureError> {
    to_value(bundle)
}

fn to_value<T: Serialize>(what: &T) -> Result<Value, CaptureError> {
    serde_json::to_value(what)
        .map_err(|error| CaptureError::Unreadable { what: "a bundle".to_owned(), problem: error.to_string() })
}

fn from_value<T: serde::de::DeserializeOwned>(id: &str, doc: &Value) -> Result<T, CaptureError> {
    T::deserialize(doc).map_err(|error| CaptureError::Unreadable {
        what: format!("bundle {id}"),
        problem: error.to_string(),
    })
}

#[cfg(test)]
mod tests;
