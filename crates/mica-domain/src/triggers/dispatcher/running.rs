//! Runs one fire: claimed, with signs of life, and on from wherever a process left it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use mica_agent::Outcome;
use tokio::sync::Notify;

use super::{DispatcherLimits, Inner, claimed};
use crate::capture::{Bundle, Bundles};
use crate::records::RecordError;
use crate::rights::Rights;
use crate::runners::{
    Extras, Heard, OpenError, Opens, Origin, Said, SayError, Turned, clip, later, outcome_name,
};
use crate::triggers::definition::{On, Trigger};
use crate::triggers::fire::{self, FIRE, Fire, FireState, LastError, Waits};

/// Places for runs, in this process.
pub(super) struct Places {
    at_once: usize,
    per_agent: usize,
    /// By fire: its trigger and its agent.
    taken: Mutex<BTreeMap<String, (String, String)>>,
    /// Told when a place is free: what waits for one, and what was put off by whoever had it, is looked at again.
    freed: Arc<Notify>,
}

impl Places {
    pub(super) fn new(limits: &DispatcherLimits, freed: Arc<Notify>) -> Self {
        let (at_once, per_agent) = (limits.at_once.max(1), limits.per_agent.max(1));
        Self { at_once, per_agent, taken: Mutex::default(), freed }
    }

    /// A place for a fire, if there is one, and it has none yet. Of its trigger there may be so many.
    pub(super) fn take(self: &Arc<Self>, fire: &Fire, of_trigger: usize) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let agents = taken.values().filter(|(_, agent)| *agent == fire.agent).count();
        let triggers = taken.values().filter(|(trigger, _)| *trigger == fire.trigger).count();
        let id = fire.id();
        let full = taken.len() >= self.at_once || agents >= self.per_agent || triggers >= of_trigger;
        if full || taken.contains_key(&id) {
            return None;
        }
        taken.insert(id.clone(), (fire.trigger.clone(), fire.agent.clone()));
        Some(Place { places: Arc::clone(self), id })
    }
}

/// A place, for as long as it lives.
pub(super) struct Place {
    places: Arc<Places>,
    id: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        self.places.freed.notify_one();
    }
}

/// What became of a try.
enum Tried {
    /// It is over.
    Ended(Box<(Turned, Option<Bundle>)>),
    /// It may not run.
    Refused(String),
    /// The session is not free, for this reason.
    Unfree(String),
    /// It failed, and may be tried again.
    Failed(String),
}

impl Inner {
    pub(super) async fn work(&self, mut fire: Fire, version: u64, now: Timestamp) -> Result<(), RecordError> {
        fire.tries += 1;
        fire.state = FireState::Running { by: self.name.clone(), until: claimed(self, now) };
        let mut version = fire::write(&*self.records, FIRE, &fire.id(), &fire, Some(version)).await?;
        self.fired(&fire, now).await?;
        let tried = {
            let copy = fire.clone();
            let work = self.tried(&copy);
            tokio::pin!(work);
            loop {
                tokio::select! {
                    biased;
                    tried = &mut work => break tried,
                    () = tokio::time::sleep(self.limits.claim / 3) => {
                        let until = claimed(self, (self.clock)());
                        fire.state = FireState::Running { by: self.name.clone(), until };
                        // Whoever took it for dead has it now, and the run is dropped here.
                        version = fire::write(&*self.records, FIRE, &fire.id(), &fire, Some(version)).await?;
                    }
                }
            }
        };
        self.settle(fire, version, tried).await
    }

    async fn settle(&self, mut fire: Fire, version: u64, tried: Tried) -> Result<(), RecordError> {
        let at = (self.clock)();
        let (outcome, summary, bundle, error) = match tried {
            Tried::Ended(ended) => {
                let (turned, bundle) = *ended;
                let error = match &turned.outcome {
                    Outcome::Failed { error } => Some(error.to_string()),
                    Outcome::Exhausted { limit } => Some(limit.to_string()),
                    _ => None,
                };
                let mut summary = clip(&turned.text, self.limits.field.saturating_mul(10));
                // Whatever the agent says, what it proposed was not done.
                if let Some(bundle) = &bundle {
                    summary = format!("{summary}\n{}", bundle.proposal()).trim_start().to_owned();
                }
                let bundle = bundle.map(|bundle| bundle.id().to_owned());
                (outcome_name(&turned.outcome).to_owned(), summary, bundle, error)
            }
            Tried::Refused(reason) => ("refused".to_owned(), String::new(), None, Some(reason)),
            Tried::Unfree(why) => {
                let since = fire.waits.as_ref().map_or(at, |waits| waits.since);
                if later(since, self.limits.patience) > at {
                    // That is nobody's failure.
                    fire.tries = fire.tries.saturating_sub(1);
                    fire.waits = Some(Waits { since, why });
                    fire.state = FireState::Pending { next: later(at, self.limits.unfree) };
                    return fire::write(&*self.records, FIRE, &fire.id(), &fire, Some(version))
                        .await
                        .map(drop);
                }
                let problem = format!("it waited since {since}, and was never free to begin: {why}");
                ("failed".to_owned(), String::new(), None, Some(problem))
            }
            Tried::Failed(problem) if fire.tries < self.limits.tries => {
                fire.state = FireState::Pending { next: later(at, self.limits.unfree) };
                fire::write(&*self.records, FIRE, &fire.id(), &fire, Some(version)).await?;
                return self.went_wrong(&fire, at, problem).await;
            }
            Tried::Failed(problem) => ("failed".to_owned(), String::new(), None, Some(problem)),
        };
        fire.waits = None;
        fire.state = FireState::Ended { at, outcome, summary, bundle, error: error.clone() };
        fire::write(&*self.records, FIRE, &fire.id(), &fire, Some(version)).await?;
        match error {
            Some(problem) => self.went_wrong(&fire, at, problem).await,
            None => Ok(()),
        }
    }

    async fn went_wrong(&self, fire: &Fire, at: Timestamp, problem: String) -> Result<(), RecordError> {
        let last = LastError { occurrence: fire.occurrence.clone(), at, problem };
        self.remember(&fire.trigger, |state| state.last_error = Some(last.clone())).await
    }

    async fn tried(&self, fire: &Fire) -> Tried {
        if fire.tries > self.limits.tries {
            return Tried::Refused(format!("it was begun {} times and never ended", fire.tries - 1));
        }
        let set = self.triggers();
        let Some(trigger) = set.get(&fire.trigger) else {
            return Tried::Refused("its trigger is not there any more".to_owned());
        };
        let rights = match self.rights(trigger, fire).await {
            Ok(rights) => rights,
            Err(reason) => return Tried::Refused(reason),
        };
        let opens = Opens {
            session: fire.session.clone(),
            agent: fire.agent.clone(),
            profile: trigger.profile(),
            rights,
            autonomy: trigger.autonomy(),
        };
        let session = match self.opening.open(&opens, Extras::default()).await {
            Ok(session) => session,
            Err(error @ OpenError::Gone { .. }) => return Tried::Refused(error.to_string()),
            Err(error @ OpenError::InUse { .. }) => return Tried::Unfree(error.to_string()),
            Err(error @ OpenError::Failed { .. }) => return Tried::Failed(error.to_string()),
        };
        let heard = match session.heard(&fire.source()).await {
            Ok(heard) => heard,
            Err(problem) => return Tried::Failed(problem),
        };
        // Each try says it: a try that failed has ended what it captured, and this one goes on with that.
        if matches!(heard, Heard::No | Heard::Unanswered)
            && opens.autonomy.captures()
            && let Err(problem) = session.capturing(fire.about()).await
        {
            return Tried::Failed(problem);
        }
        // What was answered before ran before: what the session captured last may be of another run by now.
        let ran = !matches!(heard, Heard::Answered { .. });
        let turned = match heard {
            Heard::Answered { text } => Ok(Turned { outcome: Outcome::Completed, text, details: Vec::new() }),
            Heard::Unanswered => session.go_on().await,
            Heard::No => session.say(said(trigger, fire)).await,
        };
        match turned {
            // Nothing is done twice when it goes on, so it may be tried again.
            Ok(Turned { outcome: Outcome::Failed { error }, .. }) if fire.tries < self.limits.tries => {
                Tried::Failed(error.to_string())
            }
            Ok(turned) => {
                let captured = if ran { session.captured().await } else { None };
                let bundle = match captured.filter(|bundle| is_of(bundle, fire)) {
                    Some(bundle) => Some(bundle),
                    // Somebody died between the end of the run and the note of it.
                    None => Bundles::new(Arc::clone(&self.records)).get(&fire.source()).await.ok(),
                };
                Tried::Ended(Box::new((turned, bundle)))
            }
            Err(error @ (SayError::Busy | SayError::Waiting | SayError::Heard { .. })) => {
                Tried::Unfree(error.to_string())
            }
            Err(SayError::Failed { problem }) => Tried::Failed(problem),
        }
    }

    /// What the run may do: what the agent may, as far as whoever it runs for may too.
    async fn rights(&self, trigger: &Trigger, fire: &Fire) -> Result<Rights, String> {
        let agent = self.agents.agent(&fire.agent).await;
        let agent = agent.ok_or_else(|| format!("there is no agent {:?} any more", fire.agent))?;
        let runs_for = if trigger.on.by_person() { &fire.invoker } else { &trigger.owner };
        match runs_for {
            Some(person) => match self.agents.person(person).await {
                Some(rights) => Ok(agent.and(&rights)),
                None => Err(format!("{person:?}, for whom it would run, is not there any more")),
            },
            None if trigger.on.by_person() => Err("nobody is known to have caused it".to_owned()),
            None => Ok(agent),
        }
    }
}

/// Whether a bundle is what a fire captured: one of its name, or another of that name when it was there already.
fn is_of(bundle: &Bundle, fire: &Fire) -> bool {
    let rest = bundle.id().strip_prefix(&fire.source());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn said(trigger: &Trigger, fire: &Fire) -> Said {
    let origin = match trigger.on {
        // A person who writes to an agent is there, and may say something else instead of answering.
        On::DirectMessage => Origin::Person,
        _ => Origin::Trigger { trigger: fire.trigger.clone(), fire: fire.occurrence.clone() },
    };
    Said { text: fire.payload.clone(), source: Some(fire.source()), origin, surroundings: None }
}
