//! Sessions at work: each is open once, whoever wants it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::Listener;

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
    slots: Arc<Mutex<BTreeMap<String, Arc<Slot>>>>,
    wanted: Arc<AtomicU64>,
    most: usize,
}

/// The place of one session. Whoever holds it opens or closes the session: others wait for that one, and nobody for another.
type Slot = tokio::sync::Mutex<Option<Live>>;

struct Live {
    copilot: Arc<Copilot>,
    opens: Option<Opens>,
    /// When it was last wanted, counted.
    wanted: u64,
}

impl OpenSessions {
    /// No session is at work yet.
    pub fn new(making: Arc<dyn Making>) -> Self {
        Self { making, waker: None, slots: Arc::default(), wanted: Arc::default(), most: 64 }
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
        let slot = self.slots().get(session).cloned();
        let Some(slot) = slot else { return true };
        let mut live = slot.lock().await;
        let busy = match &*live {
            Some(one) => !is_idle(one).await,
            None => false,
        };
        if !busy {
            *live = None;
        }
        !busy
    }

    async fn with(
        &self,
        session: &str,
        opens: Option<&Opens>,
        extras: Extras,
    ) -> Result<Arc<Copilot>, OpenError> {
        let wanted = self.wanted.fetch_add(1, Ordering::SeqCst);
        let slot = Arc::clone(self.slots().entry(session.to_owned()).or_default());
        let copilot = {
            let mut live = slot.lock().await;
            if let Some(one) = &mut *live {
                // One who may do something else, or brings something along, gets it only if nobody is at it.
                if extras.is_empty() && (opens.is_none() || one.opens.as_ref() == opens) {
                    one.wanted = wanted;
                    return Ok(Arc::clone(&one.copilot));
                }
                if !is_idle(one).await {
                    let problem = "it is open for somebody else".to_owned();
                    return Err(OpenError::InUse { session: session.to_owned(), problem });
                }
            }
            *live = None;
            let copilot = Arc::new(self.opened(session, opens, extras).await?);
            *live = Some(Live { copilot: Arc::clone(&copilot), opens: opens.cloned(), wanted });
            copilot
        };
        self.shrink().await;
        Ok(copilot)
    }

    async fn opened(
        &self,
        session: &str,
        opens: Option<&Opens>,
        extras: Extras,
    ) -> Result<Copilot, OpenError> {
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
        Copilot::open(setup)
            .await
            .map_err(|error| OpenError::Failed { session: session.to_owned(), problem: error.to_string() })
    }

    /// Closes what nobody uses, until there are no more than may be. One that is being opened is left alone.
    async fn shrink(&self) {
        let slots: Vec<(String, Arc<Slot>)> =
            self.slots().iter().map(|(session, slot)| (session.clone(), Arc::clone(slot))).collect();
        let mut open = Vec::new();
        for (session, slot) in &slots {
            if let Ok(live) = slot.try_lock()
                && let Some(one) = &*live
            {
                open.push((one.wanted, session, slot));
            }
        }
        let over = open.len().saturating_sub(self.most);
        open.sort_by_key(|(wanted, ..)| *wanted);
        let mut closed = 0;
        for (_, _, slot) in open {
            if closed >= over {
                break;
            }
            let Ok(mut live) = slot.try_lock() else { continue };
            let idle = match &*live {
                Some(one) => is_idle(one).await,
                None => false,
            };
            if idle {
                *live = None;
                closed += 1;
            }
        }
        drop(slots);
        // Places that nobody has a hold of, and in which nothing is open.
        let is_empty = |slot: &Arc<Slot>| slot.try_lock().is_ok_and(|live| live.is_none());
        self.slots().retain(|_, slot| Arc::strong_count(slot) > 1 || !is_empty(slot));
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
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
