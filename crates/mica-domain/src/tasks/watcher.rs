//! Looks at background work, and tells sessions when it has ended.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::event::{Event, EventKind, Listener};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::records::{RecordError, Records};
use crate::runners::looking::{Looks, Pace, Works, look_on, sooner};
use crate::runners::{Clock, Conversation, Heard, OpenError, Opening, SayError, Turned, later, outcome_name};
use crate::tasks::kind::TaskKinds;
use crate::tasks::notice::Notice;
use crate::tasks::watch::{Watch, WatchState, Watches};

/// How often and how long is looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatcherLimits {
    /// Until the second look. It doubles with each.
    pub first: Duration,
    /// Between two looks at most.
    pub longest: Duration,
    /// Until it is tried again to tell a session that was not free.
    pub unfree: Duration,
    /// How long somebody who is about to tell a session is waited for before they are taken for dead.
    pub claim: Duration,
    /// How often the run that it begins may fail before it is left at that.
    pub tries: u32,
    /// Sessions that are told at the same time.
    pub at_once: usize,
}

impl Default for WatcherLimits {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(2),
            longest: Duration::from_secs(60),
            unfree: Duration::from_secs(5),
            claim: Duration::from_secs(60),
            tries: 3,
            at_once: 4,
        }
    }
}

/// The name of an outcome that is tried again.
const FAILED: &str = "failed";

/// Wakes a watcher: something new is to be watched, or a session has become free.
///
/// As a [`Listener`] of an agent it does so whenever a run ends. A call that comes while the watcher works is not lost.
#[derive(Clone, Default)]
pub struct Waker {
    notify: Arc<Notify>,
    freed: Arc<AtomicBool>,
}

impl Waker {
    /// There is something new.
    pub fn wake(&self) {
        self.notify.notify_one();
    }

    /// A session has become free: what waits for that is tried at once.
    pub fn freed(&self) {
        self.freed.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }
}

#[async_trait]
impl Listener for Waker {
    async fn event(&self, _: Event) {
        self.freed();
    }

    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::RunEnd { .. })
    }
}

/// Watches background work for all sessions of a product. Any number of processes may have one.
#[derive(Clone)]
pub struct Watcher {
    inner: Arc<Inner>,
}

struct Inner {
    /// Names it, in claims.
    name: String,
    watches: Watches,
    kinds: TaskKinds,
    opening: Arc<dyn Opening>,
    clock: Clock,
    limits: WatcherLimits,
    waker: Waker,
    at_once: Arc<Semaphore>,
    /// What this process is busy with: a run can take longer than a look.
    under_way: Mutex<BTreeSet<String>>,
}

impl Watcher {
    /// A watcher. Its name is its own among those that use the same records; the waker is the one that the sessions of
    /// this process have.
    pub fn new(
        name: impl Into<String>,
        records: Arc<dyn Records>,
        kinds: TaskKinds,
        opening: Arc<dyn Opening>,
        clock: Clock,
        limits: WatcherLimits,
        waker: Waker,
    ) -> Self {
        let at_once = Arc::new(Semaphore::new(limits.at_once.max(1)));
        let inner = Inner {
            name: name.into(),
            watches: Watches::new(records),
            kinds,
            opening,
            clock,
            limits,
            waker,
            at_once,
            under_way: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Wakes it.
    pub fn waker(&self) -> Waker {
        self.inner.waker.clone()
    }

    /// What it watches.
    pub fn watches(&self) -> &Watches {
        &self.inner.watches
    }

    /// Looks at everything that is due, tells the sessions whose work has ended, and returns when they have answered.
    ///
    /// # Errors
    /// [`RecordError::Store`] when it is not known what is due.
    pub async fn tick(&self, now: Timestamp) -> Result<(), RecordError> {
        let mut works = Works::default();
        self.look(now, &mut works).await?;
        while works.ended().await.is_some() {}
        Ok(())
    }

    /// Watches until it is cancelled. What is under way then is dropped where it is; whoever looks next goes on from there.
    pub async fn run(&self, cancel: CancellationToken) {
        let Inner { clock, waker, limits, .. } = &*self.inner;
        let pace = Pace { clock, woken: &waker.notify, longest: limits.longest, again: limits.unfree };
        look_on(self, pace, cancel).await;
    }
}

impl Looks for Watcher {
    async fn look(&self, now: Timestamp, works: &mut Works) -> Result<Option<Timestamp>, RecordError> {
        let freed = self.inner.waker.freed.swap(false, Ordering::SeqCst);
        let mut next: Option<Timestamp> = None;
        for (watch, version) in self.inner.watches.all().await? {
            let Some(due) = watch.due() else { continue };
            let eager = freed && watch.ready && watch.state == WatchState::Watching;
            if due > now && !eager {
                next = sooner(next, due);
                continue;
            }
            let Some(busy) = Busy::with(&self.inner, watch.id()) else { continue };
            let inner = Arc::clone(&self.inner);
            works.begin(watch.id(), busy, async move { inner.look(watch, version, now).await });
        }
        Ok(next)
    }
}

/// Marks a watch as being worked on, for as long as it lives.
struct Busy {
    inner: Arc<Inner>,
    id: String,
}

impl Busy {
    fn with(inner: &Arc<Inner>, id: String) -> Option<Self> {
        let mut under_way = inner.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.insert(id.clone()).then(|| Self { inner: Arc::clone(inner), id })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.inner.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl Inner {
    async fn look(&self, watch: Watch, version: u64, now: Timestamp) -> Result<(), RecordError> {
        match self.news(&watch, now).await {
            Ok(Some(notice)) => self.tell(watch, version, notice, now).await,
            Ok(None) => self.put_off(watch, version, now, None).await,
            Err(problem) => self.put_off(watch, version, now, Some(problem)).await,
        }
    }

    /// What there is to tell, from the truth as it is now.
    async fn news(&self, watch: &Watch, now: Timestamp) -> Result<Option<Notice>, String> {
        let task = || watch.task.clone();
        let Some(kind) = self.kinds.get(&watch.task.kind) else {
            return Err(format!("there is no kind {:?} of tasks here", watch.task.kind));
        };
        let overdue = || {
            let over = later(watch.since, kind.deadline()) <= now;
            over.then(|| Notice::overdue(task(), kind.deadline()))
        };
        match kind.load(&watch.task.reference).await {
            Ok(None) => Ok(Some(Notice::missing(task()))),
            Ok(Some(found)) if kind.is_terminal(&found) => {
                Ok(Some(Notice::ended(task(), kind.summarise(&found))))
            }
            Ok(Some(_)) => Ok(overdue()),
            Err(problem) => overdue().map(Some).ok_or(problem),
        }
    }

    async fn tell(
        &self,
        mut watch: Watch,
        version: u64,
        notice: Notice,
        now: Timestamp,
    ) -> Result<(), RecordError> {
        let _turn = self.at_once.acquire().await;
        let session = match self.opening.reopen(&watch.session).await {
            Ok(session) => session,
            Err(OpenError::Gone { reason, .. }) => {
                watch.state = WatchState::Gone { at: now, reason };
                return self.watches.put(&watch, Some(version)).await.map(|_| ());
            }
            Err(error @ OpenError::InUse { .. }) => {
                watch.problem = Some(error.to_string());
                return self.unfree(watch, version, now).await;
            }
            Err(error @ OpenError::Failed { .. }) => {
                return self.put_off(watch, version, now, Some(error.to_string())).await;
            }
        };
        if !session.waiting().await.is_empty() {
            return self.unfree(watch, version, now).await;
        }
        let claimed = match &watch.state {
            WatchState::Claimed { notice, .. } => Some(notice.clone()),
            _ => None,
        };
        let claim = later(now, self.limits.claim);
        watch.state = WatchState::Claimed { by: self.name.clone(), until: claim, notice: notice.clone() };
        let version = self.watches.put(&watch, Some(version)).await?;
        match told(&*session, &watch, notice, claimed).await {
            // It is in the session, and nobody answered: the next try goes on from there.
            Ok((_, outcome)) if outcome == FAILED && watch.failures + 1 < self.limits.tries => {
                watch.failures += 1;
                self.put_off(watch, version, now, Some("the run that it began failed".to_owned())).await
            }
            Ok((notice, outcome)) => {
                let at = (self.clock)();
                (watch.ready, watch.problem) = (true, None);
                watch.state = WatchState::Delivered { at, notice, outcome };
                self.watches.put(&watch, Some(version)).await.map(|_| ())
            }
            Err(SayError::Busy | SayError::Waiting | SayError::Heard { .. }) => {
                self.unfree(watch, version, now).await
            }
            Err(error) => self.put_off(watch, version, now, Some(error.to_string())).await,
        }
    }

    /// The session is not free: it is tried again soon.
    async fn unfree(&self, mut watch: Watch, version: u64, now: Timestamp) -> Result<(), RecordError> {
        watch.state = WatchState::Watching;
        watch.ready = true;
        watch.next = later(now, self.limits.unfree);
        self.watches.put(&watch, Some(version)).await.map(|_| ())
    }

    /// It is looked at again, later each time.
    async fn put_off(
        &self,
        mut watch: Watch,
        version: u64,
        now: Timestamp,
        problem: Option<String>,
    ) -> Result<(), RecordError> {
        let wait = self.limits.first.saturating_mul(1 << watch.looks.min(20)).min(self.limits.longest);
        watch.state = WatchState::Watching;
        watch.next = later(now, wait);
        watch.looks = watch.looks.saturating_add(1);
        watch.problem = problem;
        self.watches.put(&watch, Some(version)).await.map(|_| ())
    }
}

/// Tells a session, unless it knows. Answers what it knows now, and how the run ended that it began. Whoever claimed it
/// before may have died after they told it.
async fn told(
    session: &dyn Conversation,
    watch: &Watch,
    notice: Notice,
    claimed: Option<Notice>,
) -> Result<(Notice, String), SayError> {
    let source = watch.source();
    let name = |turned: Turned| outcome_name(&turned.outcome).to_owned();
    match session.heard(&source).await.map_err(|problem| SayError::Failed { problem })? {
        Heard::No => session.say(notice.said(source)).await.map(|turned| (notice, name(turned))),
        Heard::Unanswered => session.go_on().await.map(|turned| (claimed.unwrap_or(notice), name(turned))),
        Heard::Answered { .. } => Ok((claimed.unwrap_or(notice), "completed".to_owned())),
    }
}
