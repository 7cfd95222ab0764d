//! Fires triggers, and runs what they fired.

mod payload;
mod running;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::capture::Base;
use crate::records::{RecordError, Records};
use crate::rights::Rights;
use crate::runners::{Clock, Opening, key, later, parts, until};
use crate::triggers::definition::{Missed, On, Trigger, TriggerSet};
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

/// Bounds of what runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatcherLimits {
    /// Runs at the same time, in one process.
    pub at_once: usize,
    /// Runs of one agent at the same time, in one process.
    pub per_agent: usize,
    /// Fires of one trigger that may wait. What comes then is skipped, and that is on record.
    pub pending: usize,
    /// Agents that may have triggered one another in a row.
    pub depth: usize,
    /// How late a time may be seen without being missed.
    pub grace: Duration,
    /// How long a run is waited for that gives no sign of life.
    pub claim: Duration,
    /// How often a fire is begun before it is given up.
    pub tries: u32,
    /// Until it is tried again where a session is not free.
    pub unfree: Duration,
    /// Letters of what somebody wrote.
    pub words: usize,
    /// Letters of a field, and of a summary on record times ten.
    pub field: usize,
    /// Between two looks at most.
    pub longest: Duration,
}

impl Default for DispatcherLimits {
    fn default() -> Self {
        Self {
            at_once: 4,
            per_agent: 2,
            pending: 100,
            depth: 3,
            grace: Duration::from_secs(120),
            claim: Duration::from_secs(60),
            tries: 3,
            unfree: Duration::from_secs(10),
            words: 1_000,
            field: 200,
            longest: Duration::from_secs(60),
        }
    }
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
    notify: Notify,
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
        let places = Arc::new(Places::new(&limits));
        let inner = Inner {
            name: name.into(),
            triggers: Mutex::new(Arc::new(triggers)),
            records,
            opening,
            agents,
            clock,
            limits,
            places,
            notify: Notify::new(),
        };
        Self { inner: Arc::new(inner) }
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
        let mut works = JoinSet::new();
        let mut begun = BTreeSet::new();
        loop {
            self.inner.begin_due(now, &mut works, &mut begun).await?;
            // What waited for a place has one now.
            if works.join_next().await.is_none() {
                return Ok(());
            }
        }
    }

    /// Fires and runs until it is cancelled. What runs then is dropped where it is; whoever looks next goes on from there.
    pub async fn run(&self, cancel: CancellationToken) {
        let inner = &self.inner;
        let mut works = JoinSet::new();
        loop {
            let now = (inner.clock)();
            let next = match inner.begin_due(now, &mut works, &mut BTreeSet::new()).await {
                Ok(next) => next,
                Err(error) => {
                    tracing::error!(%error, "what is triggered cannot be read");
                    None
                }
            };
            let wait = next.map_or(inner.limits.longest, |next| until(now, next)).min(inner.limits.longest);
            tokio::select! {
                () = cancel.cancelled() => return,
                () = inner.notify.notified() => {}
                () = tokio::time::sleep(wait.max(Duration::from_millis(50))) => {}
                Some(worked) = works.join_next() => {
                    // What could not be kept is tried again, and not at once.
                    if !worked.unwrap_or(false) {
                        tokio::select! {
                            () = cancel.cancelled() => return,
                            () = tokio::time::sleep(inner.limits.unfree) => {}
                        }
                    }
                }
            }
        }
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
        let mut fires = Vec::new();
        for (id, kept) in self.records.list(FIRE).await? {
            match fire::parse(FIRE, &kept) {
                Ok(fire) => fires.push((fire, kept.version)),
                Err(error) => tracing::error!(id, %error, "a fire cannot be read"),
            }
        }
        Ok(fires)
    }

    /// Begins what is due and has a place. Answers when to look again.
    async fn begin_due(
        self: &Arc<Self>,
        now: Timestamp,
        works: &mut JoinSet<bool>,
        begun: &mut BTreeSet<String>,
    ) -> Result<Option<Timestamp>, RecordError> {
        let mut next = self.schedules(now).await?;
        let fires = self.fires().await?;
        let set = self.triggers();
        // What others run is on record; what runs here may not be there yet.
        let elsewhere = |trigger: &str| {
            let theirs = |fire: &Fire| matches!(&fire.state, FireState::Running { by, until } if *by != self.name && *until > now);
            fires.iter().filter(|(fire, _)| fire.trigger == trigger && theirs(fire)).count()
        };
        let mut waiting: Vec<&(Fire, u64)> = fires.iter().collect();
        waiting.sort_by_key(|(fire, _)| fire.due);
        for (fire, version) in waiting {
            let Some(due) = fire.due_at() else { continue };
            if due > now {
                next = Some(next.map_or(due, |next| next.min(due)));
                continue;
            }
            let at_once = set.get(&fire.trigger).map_or(1, |trigger| trigger.at_once);
            let here = at_once.saturating_sub(elsewhere(&fire.trigger));
            if begun.contains(&fire.id()) {
                continue;
            }
            let Some(place) = self.places.take(fire, here) else { continue };
            begun.insert(fire.id());
            let (inner, fire, version) = (Arc::clone(self), fire.clone(), *version);
            works.spawn(mica_ai::id::apart(async move {
                let _place = place;
                let id = fire.id();
                match inner.work(fire, version, now).await {
                    // Somebody else is at it.
                    Ok(()) | Err(RecordError::Conflict { .. }) => true,
                    Err(error) => {
                        tracing::error!(id, %error, "what a fire came to could not be kept");
                        false
                    }
                }
            }));
        }
        Ok(next)
    }

    /// Fires the triggers whose time has come. Answers when the next time comes.
    async fn schedules(&self, now: Timestamp) -> Result<Option<Timestamp>, RecordError> {
        let set = self.triggers();
        let mut next: Option<Timestamp> = None;
        for trigger in set.all().iter().filter(|trigger| trigger.enabled) {
            let (On::Schedule { cron, zone, missed }, Some(schedule)) =
                (&trigger.on, set.schedule(&trigger.id))
            else {
                continue;
            };
            let text = format!("{cron} {zone}");
            let kept = fire::read::<TriggerState>(&*self.records, STATE, &trigger.id).await?;
            let (mut state, version) = kept.map_or_else(Default::default, |(state, at)| (state, Some(at)));
            let settled = state.settled.filter(|_| state.schedule.as_ref() == Some(&text));
            let last = settled.and_then(|settled| schedule.last(settled, now));
            if let Some(due) = last {
                let on_time = until(due, now) <= self.limits.grace;
                if on_time || *missed == Missed::Once {
                    self.fire_at(trigger, due, now).await?;
                } else {
                    state.missed = Some(due);
                }
            }
            if last.is_some() || settled.is_none() {
                (state.settled, state.schedule) = (Some(now), Some(text));
                match fire::write(&*self.records, STATE, &trigger.id, &state, version).await {
                    // Somebody else saw the same time.
                    Ok(_) | Err(RecordError::Conflict { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            if let Some(then) = schedule.next(now) {
                next = Some(next.map_or(then, |next| next.min(then)));
            }
        }
        Ok(next)
    }

    async fn fire_at(&self, trigger: &Trigger, due: Timestamp, now: Timestamp) -> Result<(), RecordError> {
        let occurrence = due.to_string();
        let fire = Fire {
            trigger: trigger.id.clone(),
            agent: trigger.agent.clone(),
            due,
            payload: payload::time(trigger, due),
            session: key(["fire", &trigger.id, &occurrence]),
            occurrence,
            invoker: None,
            subject: None,
            base: Base::default(),
            chain: Chain::default(),
            state: self.first_state(trigger, &Chain::default(), now).await?,
            tries: 0,
        };
        self.begin(&fire).await.map(drop)
    }

    /// Changes what is remembered of a trigger.
    async fn remember(
        &self,
        trigger: &str,
        change: impl Fn(&mut TriggerState) + Send,
    ) -> Result<(), RecordError> {
        loop {
            let kept = fire::read::<TriggerState>(&*self.records, STATE, trigger).await?;
            let (mut state, version) = kept.map_or_else(Default::default, |(state, at)| (state, Some(at)));
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
