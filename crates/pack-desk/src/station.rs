//! What the tools of one session share: the data, who acts, the clock, and the lock of a run.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
pub use mica_domain::Now;
use serde_json::Value;

use crate::life::Life;
use crate::store::{Hand, Store};

/// Whether words for the desk only may be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sight {
    /// All of them: the session is of somebody of the desk.
    #[default]
    Member,
    /// What customers may read.
    Customer,
}

/// Runs suites of evals for the desk. How is the business of whoever puts the program together.
#[async_trait]
pub trait Suites: Send + Sync {
    /// The names of those there are.
    fn names(&self) -> Vec<String>;

    /// Runs one, and tells how far it is: what is done, of how much.
    ///
    /// # Errors
    /// In words.
    async fn run(
        &self,
        suite: &str,
        store: &Store,
        progress: &(dyn Fn(i64, i64) + Send + Sync),
    ) -> Result<Value, String>;
}

/// What the tools of one session share.
#[derive(Clone)]
pub struct Station {
    /// The data.
    pub store: Store,
    /// Who acts: a member, or an agent.
    pub who: String,
    /// The clock.
    pub now: Now,
    /// Where the desk's days begin and end.
    pub zone: TimeZone,
    /// What may be read.
    pub sight: Sight,
    /// What runs evals.
    pub suites: Arc<dyn Suites>,
    /// The life of the process. `None`: what is begun here belongs to nobody, and whoever looks may take it over.
    pub life: Option<Life>,
    /// What the run that goes on holds articles with.
    token: Arc<Mutex<Option<String>>>,
}

impl Station {
    /// A station.
    pub fn new(store: Store, who: impl Into<String>, now: Now, zone: TimeZone) -> Self {
        Self {
            store,
            who: who.into(),
            now,
            zone,
            sight: Sight::default(),
            suites: Arc::new(crate::suite::Built),
            life: None,
            token: Arc::default(),
        }
    }

    /// For somebody who may read less.
    #[must_use]
    pub fn seeing(mut self, sight: Sight) -> Self {
        self.sight = sight;
        self
    }

    /// For somebody else.
    #[must_use]
    pub fn of(mut self, who: &str) -> Self {
        who.clone_into(&mut self.who);
        self
    }

    /// In a life: what is begun here is taken over once that is over, and not before.
    #[must_use]
    pub fn living(mut self, life: Life) -> Self {
        self.life = Some(life);
        self
    }

    /// With other suites of evals.
    #[must_use]
    pub fn evaluating(mut self, suites: Arc<dyn Suites>) -> Self {
        self.suites = suites;
        self
    }

    /// Who changes something now, by a call: whoever approved it, when somebody was asked.
    pub fn hand(&self, key: impl Into<String>) -> Hand {
        let who = mica_domain::approvals::approver().unwrap_or_else(|| self.who.clone());
        Hand { who, at: (self.now)(), key: Some(key.into()) }
    }

    /// Who changes something now, by themselves.
    pub fn own_hand(&self) -> Hand {
        Hand { who: self.who.clone(), at: (self.now)(), key: None }
    }

    /// A moment that means the same everywhere and always, in the desk's zone.
    pub fn exactly(&self, moment: Timestamp) -> String {
        moment.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// A moment as the desk says it.
    pub fn said(&self, moment: Timestamp) -> String {
        moment.to_zoned(self.zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
    }

    pub(crate) fn token(&self) -> Option<String> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_token(&self, token: Option<String>) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }
}
