//! What is due: times that have come fire, and fires that wait begin where there is a place.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Inner, payload};
use crate::capture::Base;
use crate::records::{self, RecordError};
use crate::runners::looking::{Looks, Works, sooner};
use crate::runners::{key, until};
use crate::triggers::definition::{Missed, On, Trigger};
use crate::triggers::fire::{self, Fire, FireState, STATE, TriggerState};
use crate::triggers::happened::Chain;

impl Looks for Arc<Inner> {
    async fn look(&self, now: Timestamp, works: &mut Works) -> Result<Option<Timestamp>, RecordError> {
        self.begin_due(now, works, &mut BTreeSet::new()).await
    }
}

impl Inner {
    /// Begins what is due and has a place. Answers when to look again.
    pub(super) async fn begin_due(
        self: &Arc<Self>,
        now: Timestamp,
        works: &mut Works,
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
                next = sooner(next, due);
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
            works.begin(fire.id(), place, async move { inner.work(fire, version, now).await });
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
            let (state, version) =
                records::renewed::<TriggerState>(&*self.records, STATE, &trigger.id).await?;
            let mut state = state.unwrap_or_default();
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
                next = sooner(next, then);
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
            waits: None,
        };
        self.begin(&fire).await.map(drop)
    }
}
