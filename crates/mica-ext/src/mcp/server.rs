//! A server that is looked after: started when it is needed, started again when it broke, each time later.
//!
//! Promises: a start belongs to the session and not to whoever wanted it first, so a slow one is not begun again and again;
//! calls that are under way when a server ends end with it, at once; nothing is left when [`Server::close`] has returned.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use rmcp::model::{PaginatedRequestParams, SubscriptionFilter};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::ServerConfig;
use super::error::McpError;
use super::given::Given;
use super::known::{Known, KnownTool, Store};
use super::link::{Link, Making};
use super::log::Log;
use super::programs;
use super::words::line;
use crate::hooks::scripts::Scripts;

/// Pages of a list. One that never ends is cut.
const PAGES: usize = 64;
/// How long a list may take.
const LISTING: Duration = Duration::from_secs(30);
/// The shortest time between two looks at lists that are said to have changed.
const BETWEEN: Duration = Duration::from_secs(1);

/// A server. Clones are handles to the same one.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    config: ServerConfig,
    /// The files of the project that it is started from, as they were when the session began.
    programs: Result<Scripts, String>,
    given: Given,
    store: Store,
    log: Log,
    state: Mutex<State>,
    known: Mutex<Seen>,
    /// What tools that run unasked were when they were first seen, by their names.
    vouched: Mutex<Option<BTreeMap<String, String>>>,
    /// Counts what is new of all servers.
    news: watch::Sender<u64>,
    life: CancellationToken,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Seen {
    looked: bool,
    now: Option<Arc<Known>>,
    /// As it was when the session first knew it.
    first: Option<Arc<Known>>,
}

#[derive(Default)]
struct State {
    /// How often it broke in a row.
    times: u32,
    phase: Phase,
}

type Started = Option<Result<Arc<Link>, McpError>>;

#[derive(Default)]
enum Phase {
    #[default]
    Idle,
    Starting(watch::Receiver<Started>),
    Up {
        link: Arc<Link>,
        since: Instant,
        /// Whether it ever answered.
        answered: bool,
    },
    Paused {
        until: Instant,
        reason: McpError,
    },
}

/// How a server stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It was not needed yet.
    Idle,
    /// It is being started.
    Starting,
    /// It can be asked.
    Up,
    /// It broke, and is left alone for a while.
    Paused(String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    /// A server that is not started. `news` is told when its lists are others.
    pub fn new(config: ServerConfig, given: Given, news: watch::Sender<u64>) -> Self {
        let (store, log) = (Store::new(&given.data), Log::new(&given.data, &config.tag));
        let programs = if programs::matter(&config) {
            programs::files(&config, &given.root)
        } else {
            Ok(Scripts::new())
        };
        let inner = Inner {
            config,
            programs,
            given,
            store,
            log,
            state: Mutex::default(),
            known: Mutex::default(),
            vouched: Mutex::default(),
            news,
            life: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What was written down.
    pub fn config(&self) -> &ServerConfig {
        &self.inner.config
    }

    /// What it was given.
    pub(super) fn given(&self) -> &Given {
        &self.inner.given
    }

    /// Its log.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// What is known of it: from this session, or from one before.
    pub fn known(&self) -> Option<Arc<Known>> {
        let mut seen = lock(&self.inner.known);
        if !seen.looked {
            seen.looked = true;
            let known = self.inner.store.load(&self.inner.config).map(Arc::new);
            (seen.now, seen.first) = (known.clone(), known);
        }
        seen.now.clone()
    }

    /// What is other than it was when this session first knew it, in words.
    pub fn changed(&self) -> Option<String> {
        let seen = lock(&self.inner.known);
        seen.now.as_ref()?.since(seen.first.as_ref()?)
    }

    /// Whether a tool may run unasked because the user wrote it down, and is as it was when it was first seen with what is
    /// written. One that is described otherwise since is asked about: what the user meant was the one before.
    pub(super) fn approves(&self, tool: &KnownTool) -> bool {
        self.inner.config.approves(&tool.name) && self.vouched(std::slice::from_ref(tool))
    }

    /// Notes what tools were when they were first seen, and says whether they all still are.
    fn vouched(&self, tools: &[KnownTool]) -> bool {
        let mut vouched = lock(&self.inner.vouched);
        let first = vouched.get_or_insert_with(|| self.inner.store.vouched(&self.inner.config));
        let before = first.len();
        let mut all = true;
        for tool in tools.iter().filter(|tool| self.inner.config.approves(&tool.name)) {
            all &= *first.entry(tool.name.clone()).or_insert_with(|| tool.digest.clone()) == tool.digest;
        }
        // Where it cannot be kept, it holds for this session.
        if first.len() != before
            && let Err(error) = self.inner.store.vouch(&self.inner.config, first)
        {
            self.inner.log.happened(&format!("what its tools are could not be kept: {error}"));
        }
        all
    }

    /// How it stands.
    pub fn standing(&self) -> Standing {
        match &lock(&self.inner.state).phase {
            Phase::Idle => Standing::Idle,
            Phase::Starting(_) => Standing::Starting,
            Phase::Up { .. } => Standing::Up,
            Phase::Paused { reason, .. } => Standing::Paused(reason.to_string()),
        }
    }

    /// Begins to start it, when nobody has; nobody waits.
    pub fn begin(&self) {
        let server = self.clone();
        self.inner.tasks.spawn(async move {
            // Whoever needs it is told why not.
            let _ = server.link().await;
        });
    }

    /// Starts it when it is not, and looks at its lists.
    ///
    /// # Errors
    /// [`McpError`].
    pub async fn look(&self) -> Result<Arc<Known>, McpError> {
        let link = self.link().await?;
        self.refresh(&link).await?;
        self.known().ok_or_else(|| self.strange("it has no lists"))
    }

    /// Ends it, and waits until nothing of it is left, for so long at most. Whether it ended.
    pub async fn close(&self, wait: Duration) -> bool {
        self.inner.life.cancel();
        self.inner.tasks.close();
        let ended = tokio::time::timeout(wait, self.inner.tasks.wait()).await.is_ok();
        let log = self.inner.log.clone();
        let _ = tokio::task::spawn_blocking(move || log.flush()).await;
        ended
    }

    pub(super) fn strange(&self, reason: &str) -> McpError {
        McpError::Strange { server: self.inner.config.name.clone(), reason: line(reason, 300) }
    }

    /// It answered: what breaks next has not broken in a row.
    pub(super) fn answered(&self) {
        let mut state = lock(&self.inner.state);
        state.times = 0;
        if let Phase::Up { answered, .. } = &mut state.phase {
            *answered = true;
        }
    }

    /// The connection. Made when there is none.
    pub(super) async fn link(&self) -> Result<Arc<Link>, McpError> {
        enum Next {
            Wait(watch::Receiver<Started>),
            Pause(Instant),
        }
        loop {
            if self.inner.life.is_cancelled() {
                return Err(McpError::Stopped);
            }
            let next = {
                let mut state = lock(&self.inner.state);
                let (now, times) = (Instant::now(), state.times);
                match &state.phase {
                    Phase::Up { link, .. } if !link.dead.is_cancelled() => return Ok(Arc::clone(link)),
                    // Whoever looks after it sees the same, a moment later.
                    Phase::Up { link, since, answered } => {
                        let (lived, answered, reason) = (since.elapsed(), *answered, link.why());
                        self.broke(&mut state, lived, answered, &reason);
                        continue;
                    }
                    Phase::Starting(started) => Next::Wait(started.clone()),
                    Phase::Paused { until, reason } if *until > now => {
                        let wait = *until - now;
                        if wait > self.inner.given.patience.waits {
                            let server = self.inner.config.name.clone();
                            return Err(McpError::Waiting {
                                server,
                                times,
                                wait,
                                reason: reason.to_string(),
                            });
                        }
                        Next::Pause(*until)
                    }
                    Phase::Idle | Phase::Paused { .. } => {
                        let (done, started) = watch::channel(None);
                        state.phase = Phase::Starting(started.clone());
                        let server = self.clone();
                        self.inner.tasks.spawn(async move {
                            // A start that broke is over, too: whoever waits is told, and the next one is begun.
                            let started = AssertUnwindSafe(server.start()).catch_unwind().await;
                            let result = started.unwrap_or_else(|_| Err(server.failed(server.panicked())));
                            let _ = done.send(Some(result));
                        });
                        Next::Wait(started)
                    }
                }
            };
            match next {
                Next::Pause(until) => {
                    tokio::select! {
                        () = tokio::time::sleep_until(until) => {}
                        () = self.inner.life.cancelled() => {}
                    }
                }
                Next::Wait(mut started) => {
                    let waited = started.wait_for(Option::is_some).await.map(|done| done.clone());
                    return waited.ok().flatten().unwrap_or(Err(McpError::Stopped));
                }
            }
        }
    }

    async fn start(&self) -> Result<Arc<Link>, McpError> {
        let inner = &self.inner;
        inner.log.happened("it is started");
        let first_era = self.known().is_some_and(|known| known.is_of_the_first_era());
        let making = Making {
            config: &inner.config,
            given: &inner.given,
            log: &inner.log,
            life: &inner.life,
            tasks: &inner.tasks,
            first_era,
        };
        let server = inner.config.name.clone();
        if let Some(reason) = self.reprogrammed().await {
            return Err(self.failed(McpError::Start { server, reason }));
        }
        let made = tokio::select! {
            made = tokio::time::timeout(inner.config.startup, making.link()) => made,
            () = inner.life.cancelled() => return Err(McpError::Stopped),
        };
        let failed = match made {
            Ok(Ok(link)) => {
                let link = Arc::new(link);
                // The first list is waited for: without one, nobody knows what to ask.
                let was_known = self.known().is_some();
                let listed = if was_known { Ok(()) } else { self.refresh(&link).await };
                match listed {
                    Ok(()) => return Ok(self.up(link, was_known)),
                    Err(error) => {
                        link.stop.cancel();
                        error
                    }
                }
            }
            Ok(Err(unlinked)) if unlinked.login => McpError::Login { server },
            Ok(Err(unlinked)) => McpError::Start { server, reason: unlinked.reason },
            Err(_) => {
                let last = inner.log.last().map(|last| format!(": {last}")).unwrap_or_default();
                let reason = format!("it was not ready within {} s{last}", inner.config.startup.as_secs());
                McpError::Start { server, reason }
            }
        };
        Err(self.failed(failed))
    }

    /// Why it must not be started: what it is started from is other than what was trusted. Files of the project can be written
    /// by the agent, and a server may do more than the agent may.
    async fn reprogrammed(&self) -> Option<String> {
        if !programs::matter(&self.inner.config) {
            return None;
        }
        let server = self.clone();
        let look = move || match &server.inner.programs {
            Ok(before) => programs::changed(&server.inner.config, &server.inner.given.root, before),
            Err(problem) => Some(problem.clone()),
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_else(|error| Some(error.to_string()))
    }

    /// A start came to nothing.
    fn failed(&self, failed: McpError) -> McpError {
        let inner = &self.inner;
        inner.log.happened(&failed.to_string());
        let mut state = lock(&inner.state);
        state.times = state.times.saturating_add(1);
        let until = Instant::now() + inner.given.patience.pause(state.times);
        state.phase = Phase::Paused { until, reason: failed.clone() };
        failed
    }

    fn panicked(&self) -> McpError {
        let reason = "starting it broke, which is a defect of this program".to_owned();
        McpError::Start { server: self.inner.config.name.clone(), reason }
    }

    fn up(&self, link: Arc<Link>, looks: bool) -> Arc<Link> {
        let inner = &self.inner;
        let info = &link.info;
        inner.log.happened(&format!(
            "it can be used: {}, protocol {}",
            Known::of(info).server.unwrap_or_default(),
            info.protocol_version
        ));
        lock(&inner.state).phase =
            Phase::Up { link: Arc::clone(&link), since: Instant::now(), answered: false };
        let (server, watched) = (self.clone(), Arc::clone(&link));
        inner.tasks.spawn(async move {
            let lists = server.lists(&watched, looks);
            let listens = server.listens(&watched);
            tokio::select! {
                () = watched.dead.cancelled() => {}
                () = async { tokio::join!(lists, listens); } => {}
                () = server.inner.life.cancelled() => {
                    watched.stop.cancel();
                    return;
                }
            }
            let mut state = lock(&server.inner.state);
            let ours = match &state.phase {
                Phase::Up { link, since, answered } if Arc::ptr_eq(link, &watched) => {
                    Some((since.elapsed(), *answered))
                }
                _ => None,
            };
            if let Some((lived, answered)) = ours {
                server.broke(&mut state, lived, answered, &watched.why());
            }
        });
        link
    }

    /// It is not there any more.
    fn broke(&self, state: &mut State, lived: Duration, answered: bool, why: &str) {
        let inner = &self.inner;
        let patience = &inner.given.patience;
        state.times = if answered || lived >= patience.lived { 1 } else { state.times.saturating_add(1) };
        let last = inner.log.last().map(|last| format!(": {last}")).unwrap_or_default();
        inner.log.happened(&format!("it is gone: {why}"));
        let reason = McpError::Start { server: inner.config.name.clone(), reason: format!("{why}{last}") };
        state.phase = Phase::Paused { until: Instant::now() + patience.pause(state.times), reason };
    }

    /// Looks at lists again when the server says that they are others, and once at the beginning when they were known
    /// from before. A server that says so all the time is not asked all the time.
    async fn lists(&self, link: &Arc<Link>, mut looks: bool) {
        loop {
            if !looks {
                link.shared.changed.notified().await;
            }
            looks = false;
            if let Err(error) = self.refresh(link).await {
                self.inner.log.happened(&format!("its lists could not be read: {error}"));
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    /// In the second era, who wants to hear of changes says so.
    async fn listens(&self, link: &Arc<Link>) {
        let wants = link.info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed) == Some(true);
        if link.info.protocol_version.has_initialize() || !wants {
            return std::future::pending().await;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        if let Ok(mut heard) = link.peer.listen(filter).await {
            while let Ok(Some(_)) = heard.next().await {
                link.shared.changed.notify_one();
            }
        }
        std::future::pending::<()>().await;
    }

    /// Looks at its lists.
    async fn refresh(&self, link: &Arc<Link>) -> Result<(), McpError> {
        let server = self.inner.config.name.clone();
        let listed = tokio::select! {
            listed = tokio::time::timeout(LISTING, self.listed(link)) => listed,
            () = link.dead.cancelled() => return Err(McpError::Died { server, reason: link.why() }),
        };
        let known = listed.map_err(|_| McpError::Late { server, after: LISTING })??;
        let is_new = {
            let mut seen = lock(&self.inner.known);
            let is_new = seen.now.as_deref() != Some(&known);
            if is_new {
                let known = Arc::new(known.clone());
                seen.looked = true;
                seen.first.get_or_insert_with(|| Arc::clone(&known));
                seen.now = Some(known);
            }
            is_new
        };
        if is_new {
            if let Some(changed) = self.changed() {
                self.inner.log.happened(&format!("its tools are others: {changed}"));
            }
            self.inner.news.send_modify(|count| *count += 1);
            let server = self.clone();
            let keep = move || {
                server.vouched(&known.tools);
                server.inner.store.save(&server.inner.config, &known)
            };
            let kept = tokio::task::spawn_blocking(keep).await;
            if let Ok(Err(error)) = kept {
                self.inner.log.happened(&format!("its lists could not be kept: {error}"));
            }
        }
        Ok(())
    }

    async fn listed(&self, link: &Arc<Link>) -> Result<Known, McpError> {
        let refused = |error: rmcp::ServiceError| McpError::Refused {
            server: self.inner.config.name.clone(),
            message: super::link::scrubbed(&self.inner.config, &error.to_string()),
        };
        let page = |cursor: Option<String>| {
            let mut page = PaginatedRequestParams::default();
            page.cursor = cursor;
            Some(page)
        };
        let mut known = Known::of(&link.info);
        if link.info.capabilities.tools.is_some() {
            let (mut tools, mut cursor) = (Vec::new(), None);
            for _ in 0..PAGES {
                let listed = link.peer.list_tools(page(cursor.take())).await.map_err(refused)?;
                tools.extend(listed.tools);
                cursor = listed.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            known = known.with_tools(tools, &self.inner.config);
        }
        if link.info.capabilities.prompts.is_some() {
            // Tools are worth something without prompts; and those that were there are not gone because nobody could ask.
            match link.peer.list_prompts(page(None)).await {
                Ok(listed) => known = known.with_prompts(listed.prompts),
                // Half of what it has is nothing to keep.
                Err(error) if link.dead.is_cancelled() || self.inner.life.is_cancelled() => {
                    return Err(refused(error));
                }
                Err(_) => known.prompts = self.known().map(|known| known.prompts.clone()).unwrap_or_default(),
            }
        }
        Ok(known)
    }
}
