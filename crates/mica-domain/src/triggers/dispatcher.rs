//! Fires triggers, and runs what they fired.

mod due;
mod limits;
mod payload;
mod running;

pub use limits::DispatcherLimits;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::records::{self, RecordError, Records};
use crate::rights::Rights;
use crate::runners::looking::{Pace, Works, look_on};
use crate::runners::{Clock, Opening, key, later, parts};
use crate::triggers::definition::{On, Trigger, TriggerSet};
use crate::triggers::fire::{self, FIRE, Fire, FireState, LastFire, STATE, TriggerState};
use crate::triggers::happened::{Chain, Happened, What};
use running::Places;

/// Who may do what, asked when something is about to run.
#[async_trait]
pub trait Agents: Send + Sync {
    /// What the policy of an agent allows it. `None`: there is no such agent any more.
    async fn agent(&self, agent: &str) -> Option<Rights>;

    /// What a person may do. `None`: there is no such person any more.
    async fn person(&self, person: &str) -> Option<Rights>;
}

/// Why something could not trigger anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// The records failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// What is told is not what the product declared.
    #[error("{id}: {problem}")]
    Happened {
        /// What happened.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no such trigger.
    #[error("there is no trigger {trigger:?}; there are: {}", known.join(", "))]
    Unknown {
        /// The one that was asked for.
        trigger: String,
        /// Those there are.
        known: Vec<String>,
    },
}

/// Fires triggers. Any number of processes may have one on the same records.
#[derive(Clone)]
pub struct Dispatcher {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    triggers: Mutex<Arc<TriggerSet>>,
    records: Arc<dyn Records>,
    opening: Arc<dyn Opening>,
    agents: Arc<dyn Agents>,
    clock: Clock,
    limits: DispatcherLimits,
    places: Arc<Places>,
    notify: Arc<Notify>,
}

impl Dispatcher {
    /// A dispatcher. Its name is its own among those that use the same records.
    pub fn new(
        name: impl Into<String>,
        triggers: TriggerSet,
        records: Arc<dyn Records>,
        opening: Arc<dyn Opening>,
        agents: Arc<dyn Agents>,
        clock: Clock,
        limits: DispatcherLimits,
    ) -> Self {
        let notify = Arc::new(Notify::new());
        let places = Arc::new(Places::new(&limits, Arc::clone(&notify)));
        let inner = Inner {
            name: name.into(),
            triggers: Mutex::new(Arc::new(triggers)),
            records,
            opening,
            agents,
            clock,
            limits,
            places,
            notify,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Its name: what runs says that it runs there.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Goes on with other triggers. What has fired runs as it was fired.
    pub fn replace(&self, triggers: TriggerSet) {
        *self.inner.triggers.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(triggers);
        self.inner.notify.notify_one();
    }

    /// The triggers.
    pub fn triggers(&self) -> Arc<TriggerSet> {
        self.inner.triggers()
    }

    /// Something happened: what is triggered by it is on record when this returns, and runs soon. Answers the fires, those
    /// that are skipped among them.
    ///
    /// # Errors
    /// [`TriggerError`]; nothing more is triggered then. It may be told again.
    pub async fn happened(&self, happened: &Happened) -> Result<Vec<Fire>, TriggerError> {
        let inner = &self.inner;
        let set = inner.triggers();
        let wrong = |problem: String| TriggerError::Happened { id: happened.id.clone(), problem };
        if let What::Event { event } = &happened.what {
            set.events().check(event, &happened.fields).map_err(wrong)?;
        } else if happened.invoker.is_none() {
            return Err(wrong("it has no invoker: whose rights would the agent have?".to_owned()));
        }
        let says = happened.words.as_ref().is_some_and(|words| !words.text.trim().is_empty());
        if matches!(happened.what, What::DirectMessage { .. }) && !says {
            return Err(wrong("a direct message has words".to_owned()));
        }
        let now = (inner.clock)();
        let mut fires = Vec::new();
        for trigger in set.all().iter().filter(|trigger| trigger.enabled && meant(trigger, happened)) {
            let session = match (&trigger.on, &happened.invoker) {
                (On::DirectMessage, Some(person)) => key(["dm", &trigger.agent, person]),
                _ => key(["fire", &trigger.id, &happened.id]),
            };
            let fire = Fire {
                trigger: trigger.id.clone(),
                occurrence: happened.id.clone(),
                agent: trigger.agent.clone(),
                due: now,
                payload: payload::happened(trigger, happened, &inner.limits),
                session,
                invoker: happened.invoker.clone(),
                subject: happened.subject.clone(),
                base: happened.base.clone(),
                chain: happened.chain.clone(),
                state: inner.first_state(trigger, &happened.chain, now).await?,
                tries: 0,
                waits: None,
            };
            if inner.begin(&fire).await? {
                fires.push(fire);
            }
        }
        inner.notify.notify_one();
        Ok(fires)
    }

    /// Fires what is due, runs what waits, and returns when that has ended.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn tick(&self, now: Timestamp) -> Result<(), RecordError> {
        self.tick_until(now, &CancellationToken::new()).await
    }

    /// The same, and begins nothing more once it is stopped. What runs then is waited for: whoever stops it ends that, too.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn tick_until(&self, now: Timestamp, stop: &CancellationToken) -> Result<(), RecordError> {
        let mut works = Works::default();
        let mut begun = BTreeSet::new();
        loop {
            if !stop.is_cancelled() {
                self.inner.begin_due(now, &mut works, &mut begun).await?;
            }
            // What waited for a place has one now.
            if works.ended().await.is_none() {
                return Ok(());
            }
        }
    }

    /// Fires and runs until it is cancelled. What runs then is dropped where it is; whoever looks next goes on from there.
    pub async fn run(&self, cancel: CancellationToken) {
        let Inner { clock, notify: woken, limits, .. } = &*self.inner;
        let pace = Pace { clock, woken, longest: limits.longest, again: limits.unfree };
        look_on(&self.inner, pace, cancel).await;
    }

    /// Withdraws fires that have not begun: somebody does not want them any more. They stay on record, with the reason. What
    /// runs goes on. Answers those that were withdrawn.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn withdraw(&self, fires: &[String], reason: &str) -> Result<Vec<Fire>, RecordError> {
        let (inner, mut withdrawn) = (&self.inner, Vec::new());
        for id in fires {
            let Some((mut fire, version)) = fire::read::<Fire>(&*inner.records, FIRE, id).await? else {
                continue;
            };
            if !matches!(fire.state, FireState::Pending { .. }) {
                continue;
            }
            fire.waits = None;
            fire.state = FireState::Skipped { at: (inner.clock)(), reason: reason.to_owned() };
            match fire::write(&*inner.records, FIRE, id, &fire, Some(version)).await {
                Ok(_) => withdrawn.push(fire),
                // It begins at this very moment.
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(withdrawn)
    }

    /// What is remembered of a trigger: when it fired last, and what went wrong last.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn state(&self, trigger: &str) -> Result<TriggerState, RecordError> {
        let state = fire::read(&*self.inner.records, STATE, trigger).await?;
        Ok(state.map(|(state, _)| state).unwrap_or_default())
    }

    /// The fires of a trigger, by occurrence.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn fires(&self, trigger: &str) -> Result<Vec<Fire>, RecordError> {
        let all = self.inner.fires().await?;
        Ok(all.into_iter().map(|(fire, _)| fire).filter(|fire| fire.trigger == trigger).collect())
    }

    /// The next times of a trigger, for people who look: none when it has no times.
    ///
    /// # Errors
    /// [`TriggerError::Unknown`].
    pub fn upcoming(&self, trigger: &str, count: usize) -> Result<Vec<Timestamp>, TriggerError> {
        let set = self.inner.triggers();
        if set.get(trigger).is_none() {
            let known = set.all().iter().map(|trigger| trigger.id.clone()).collect();
            return Err(TriggerError::Unknown { trigger: trigger.to_owned(), known });
        }
        let Some(schedule) = set.schedule(trigger) else { return Ok(Vec::new()) };
        let next = |at: &Timestamp| schedule.next(*at);
        Ok(std::iter::successors(next(&(self.inner.clock)()), next).take(count).collect())
    }

    /// The agents whose acts lead to what happens in a session: for whoever tells what happened there.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn chain(&self, session: &str, agent: &str) -> Result<Chain, RecordError> {
        let before = match parts(session).as_slice() {
            [kind, trigger, occurrence] if kind == "fire" => {
                let fire =
                    fire::read::<Fire>(&*self.inner.records, FIRE, &fire::id(trigger, occurrence)).await?;
                fire.map(|(fire, _)| fire.chain).unwrap_or_default()
            }
            _ => Chain::default(),
        };
        Ok(before.then(agent))
    }
}

fn meant(trigger: &Trigger, happened: &Happened) -> bool {
    match (&trigger.on, &happened.what) {
        (On::Event { event, filter }, What::Event { event: was }) => {
            event == was && filter.iter().all(|condition| condition.holds(&happened.fields))
        }
        (On::Mention, What::Mention { agent })
        | (On::Assignment, What::Assignment { agent })
        | (On::DirectMessage, What::DirectMessage { agent }) => *agent == trigger.agent,
        _ => false,
    }
}

impl Inner {
    fn triggers(&self) -> Arc<TriggerSet> {
        Arc::clone(&self.triggers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a fire waits for its turn, or is skipped.
    async fn first_state(
        &self,
        trigger: &Trigger,
        chain: &Chain,
        now: Timestamp,
    ) -> Result<FireState, RecordError> {
        let skipped = |reason: String| Ok(FireState::Skipped { at: now, reason });
        if chain.has(&trigger.agent) {
            return skipped(format!("{} caused it: an agent does not trigger itself", trigger.agent));
        }
        if chain.0.len() >= self.limits.depth {
            let agents = chain.0.join(", then ");
            return skipped(format!("{agents} triggered one another already: that is as far as it goes"));
        }
        let all = self.fires().await?;
        let waiting = all.iter().filter(|(fire, _)| {
            fire.trigger == trigger.id && matches!(fire.state, FireState::Pending { .. })
        });
        let waiting = waiting.count();
        if waiting >= self.limits.pending {
            return skipped(format!("{waiting} fires of it wait already"));
        }
        Ok(FireState::Pending { next: now })
    }

    /// Puts a fire on record. Answers whether it is new.
    async fn begin(&self, fire: &Fire) -> Result<bool, RecordError> {
        match fire::write(&*self.records, FIRE, &fire.id(), fire, None).await {
            Ok(_) => Ok(true),
            Err(RecordError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn fires(&self) -> Result<Vec<(Fire, u64)>, RecordError> {
        let all = records::readable(&*self.records, FIRE).await?;
        Ok(all.into_iter().map(|(_, version, fire)| (fire, version)).collect())
    }

    /// Changes what is remembered of a trigger.
    async fn remember(
        &self,
        trigger: &str,
        change: impl Fn(&mut TriggerState) + Send,
    ) -> Result<(), RecordError> {
        loop {
            let (state, version) = records::renewed::<TriggerState>(&*self.records, STATE, trigger).await?;
            let mut state = state.unwrap_or_default();
            change(&mut state);
            match fire::write(&*self.records, STATE, trigger, &state, version).await {
                Ok(_) => return Ok(()),
                // Each conflict is a write that somebody else finished, so this ends.
                Err(RecordError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn fired(&self, fire: &Fire, at: Timestamp) -> Result<(), RecordError> {
        let last = LastFire { occurrence: fire.occurrence.clone(), at };
        self.remember(&fire.trigger, |state| state.last_fire = Some(last.clone())).await
    }
}

/// When a claim that begins now ends.
fn claimed(inner: &Inner, now: Timestamp) -> Timestamp {
    later(now, inner.limits.claim)
}

#[cfg(test)]
mod tests;
