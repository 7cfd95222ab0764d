//! Sessions at work: each is open once, whoever wants it.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::Listener;
use tokio::sync::Mutex;

use crate::copilot::{Copilot, Setup, Watch};
use crate::runners::opening::{Conversation, Extras, OpenError, Opening, Opens};
use crate::tasks::Waker;

/// How a product makes a session.
#[async_trait]
pub trait Making: Send + Sync {
    /// What the copilot of a session is put together from. `None` opens one that was there, as whatever it was, with what
    /// its people may do now. What `opens` says of profile, rights and autonomy is set behind this.
    ///
    /// # Errors
    /// [`OpenError`]: [`OpenError::Gone`] when there is none to open.
    async fn setup(&self, session: &str, opens: Option<&Opens>) -> Result<Setup, OpenError>;
}

/// Sessions at work. Clones are handles to the same ones.
#[derive(Clone)]
pub struct OpenSessions {
    making: Arc<dyn Making>,
    waker: Option<Waker>,
    live: Arc<Mutex<BTreeMap<String, Live>>>,
    most: usize,
}

struct Live {
    copilot: Arc<Copilot>,
    opens: Option<Opens>,
    /// When it was last wanted, counted.
    wanted: u64,
}

impl OpenSessions {
    /// No session is at work yet.
    pub fn new(making: Arc<dyn Making>) -> Self {
        Self { making, waker: None, live: Arc::default(), most: 64 }
    }

    /// Wakes whoever watches when one of them begins background work, and whenever a run in one of them ends.
    #[must_use]
    pub fn waking(mut self, waker: Waker) -> Self {
        self.waker = Some(waker);
        self
    }

    /// Keeps so many open that nobody uses. More are closed, those first that were not wanted for longest.
    #[must_use]
    pub fn keeping(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// A session at work, opened or begun.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn copilot(&self, session: &str, opens: Option<&Opens>) -> Result<Arc<Copilot>, OpenError> {
        self.with(session, opens, Extras::default()).await
    }

    /// Closes a session, if nobody uses it. Answers whether it is closed.
    pub async fn close(&self, session: &str) -> bool {
        let mut live = self.live.lock().await;
        match live.get(session) {
            Some(one) if !is_idle(one).await => false,
            _ => {
                live.remove(session);
                true
            }
        }
    }

    async fn with(
        &self,
        session: &str,
        opens: Option<&Opens>,
        extras: Extras,
    ) -> Result<Arc<Copilot>, OpenError> {
        let mut live = self.live.lock().await;
        let wanted = live.values().map(|one| one.wanted).max().unwrap_or(0) + 1;
        if let Some(one) = live.get_mut(session) {
            // One who may do something else, or brings something along, gets it only if nobody is at it.
            let same = extras.is_empty() && (opens.is_none() || one.opens.as_ref() == opens);
            if same {
                one.wanted = wanted;
                return Ok(Arc::clone(&one.copilot));
            }
            if !is_idle(one).await {
                let problem = "it is open for somebody else".to_owned();
                return Err(OpenError::Failed { session: session.to_owned(), problem });
            }
            live.remove(session);
        }
        let mut setup = self.making.setup(session, opens).await?;
        if let Some(opens) = opens {
            setup.profile = opens.profile;
            setup.rights = opens.rights.clone();
            setup.autonomy = opens.autonomy.clone();
        }
        // Work is noted under the name that the session is opened by again.
        let waker = self.waker.clone().unwrap_or_default();
        setup.watch = Some(Watch { session: session.to_owned(), waker: waker.clone() });
        setup.listeners.push(Arc::new(waker) as Arc<dyn Listener>);
        extras.into_setup(&mut setup);
        let copilot = Copilot::open(setup)
            .await
            .map_err(|error| OpenError::Failed { session: session.to_owned(), problem: error.to_string() })?;
        let copilot = Arc::new(copilot);
        let one = Live { copilot: Arc::clone(&copilot), opens: opens.cloned(), wanted };
        live.insert(session.to_owned(), one);
        self.shrink(&mut live).await;
        Ok(copilot)
    }

    /// Closes what nobody uses, until there are no more than may be.
    async fn shrink(&self, live: &mut BTreeMap<String, Live>) {
        let mut by_age: Vec<(u64, String)> =
            live.iter().map(|(key, one)| (one.wanted, key.clone())).collect();
        by_age.sort();
        for (_, session) in by_age {
            if live.len() <= self.most {
                return;
            }
            let idle = match live.get(&session) {
                Some(one) => is_idle(one).await,
                None => false,
            };
            if idle {
                live.remove(&session);
            }
        }
    }
}

/// Whether nobody has it and nothing runs in it.
async fn is_idle(live: &Live) -> bool {
    Arc::strong_count(&live.copilot) == 1 && live.copilot.agent().with(|_| ()).await.is_ok()
}

impl Extras {
    fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.hooks.is_empty() && self.variables.is_none() && self.limits.is_none()
    }

    /// Puts them into what a copilot is put together from.
    pub fn into_setup(self, setup: &mut Setup) {
        setup.tools.extend(self.tools);
        setup.hooks.extend(self.hooks);
        if self.variables.is_some() {
            setup.given.variables = self.variables;
        }
        if let Some(limits) = self.limits {
            setup.limits = limits;
        }
    }
}

#[async_trait]
impl Opening for OpenSessions {
    async fn open(&self, opens: &Opens, extras: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(self.with(&opens.session, Some(opens), extras).await?)
    }

    async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        Ok(self.with(session, None, Extras::default()).await?)
    }
}
