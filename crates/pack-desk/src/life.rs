//! One life of a process at the desk, from its start to its end: what it does there belongs to it, and nobody takes that over
//! while it lives.
//!
//! Promises: its name comes from whoever started the process, and so does the clock; a sign of life is shown with whatever is
//! taken, and every [`BEAT`](crate::store::lives::BEAT) from then on, for as long as a handle to it is there; two tasks of one
//! process never work at the same thing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use mica_domain::Now;
use rusqlite::Transaction;
use tokio::task::AbortHandle;

use crate::store::{Result, Store, lives};

/// One life of a process. Clones are handles to the same one.
#[derive(Clone)]
pub struct Life {
    inner: Arc<Inner>,
}

struct Inner {
    id: String,
    store: Store,
    now: Now,
    beating: Mutex<Option<AbortHandle>>,
    at_work: Mutex<BTreeSet<String>>,
    named: AtomicU64,
}

impl Drop for Inner {
    fn drop(&mut self) {
        let beating = self.beating.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(beating) = beating.take() {
            beating.abort();
        }
    }
}

/// Something that is worked at in this process, for as long as this is there.
pub struct AtWork {
    life: Life,
    what: String,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.life.inner.at_work.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.what);
    }
}

impl Life {
    /// A life. No other has its name, not even the same program started again.
    pub fn new(id: impl Into<String>, store: Store, now: Now) -> Self {
        let (beating, at_work, named) = (Mutex::default(), Mutex::default(), AtomicU64::new(0));
        Self { inner: Arc::new(Inner { id: id.into(), store, now, beating, at_work, named }) }
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// A name for somebody in it, that nobody else has.
    pub fn name(&self) -> String {
        format!("{}/{}", self.inner.id, self.inner.named.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What time it is.
    pub fn now(&self) -> Timestamp {
        (self.inner.now)()
    }

    /// Shows a sign of life with something that is taken, in one step.
    ///
    /// # Errors
    /// Of the database.
    pub fn beat_with(&self, tx: &Transaction<'_>) -> Result<()> {
        lives::beat(tx, &self.inner.id, self.now())
    }

    /// Shows a sign of life now, and goes on with that in the background.
    ///
    /// # Errors
    /// Of the database.
    pub async fn begin(&self) -> Result<()> {
        self.keep();
        self.beat().await
    }

    /// Shows a sign of life.
    ///
    /// # Errors
    /// Of the database.
    pub async fn beat(&self) -> Result<()> {
        let life = self.clone();
        self.inner.store.write(move |tx| life.beat_with(tx)).await
    }

    /// Goes on showing signs of life in the background, until the last handle is gone.
    pub fn keep(&self) {
        let mut beating = self.inner.beating.lock().unwrap_or_else(PoisonError::into_inner);
        // A task ends with its runtime, which need not be the end of the process.
        if beating.as_ref().is_some_and(|beating| !beating.is_finished()) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let inner = Arc::downgrade(&self.inner);
        let task = runtime.spawn(async move {
            loop {
                tokio::time::sleep(lives::BEAT).await;
                let Some(inner) = inner.upgrade() else { return };
                let life = Self { inner };
                if let Err(error) = life.beat().await {
                    tracing::warn!(%error, "a sign of life could not be shown");
                }
            }
        });
        *beating = Some(task.abort_handle());
    }

    /// Says that it is over, so that nobody waits for it.
    ///
    /// # Errors
    /// Of the database. Others wait then until its time is over.
    pub async fn end(&self) -> Result<()> {
        if let Some(beating) = self.inner.beating.lock().unwrap_or_else(PoisonError::into_inner).take() {
            beating.abort();
        }
        let id = self.inner.id.clone();
        self.inner.store.write(move |tx| lives::end(tx, &id)).await
    }

    /// The lives that go on beside it, on the same data.
    ///
    /// # Errors
    /// Of the database.
    pub async fn beside(&self) -> Result<Vec<String>> {
        let (id, now) = (self.inner.id.clone(), self.now());
        self.inner.store.read(move |connection| lives::beside(connection, &id, now)).await
    }

    /// Works at something, unless another task of this process does.
    pub fn at_work(&self, what: &str) -> Option<AtWork> {
        let mut at_work = self.inner.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.insert(what.to_owned()).then(|| AtWork { life: self.clone(), what: what.to_owned() })
    }
}
