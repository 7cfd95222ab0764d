//! A script that runs: calls into it, what each of them may do, and what becomes of failures.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mica_agent::Patience;
use mica_script::console::Level;
use mica_script::resident::Household;
use mica_script::{Resident, ScriptError};
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Setting;
use super::bundle::Bundle;
use super::host::{self, Powers};
use super::permission::Grants;
use crate::concern::Failure;
use crate::extensions::Health;
use crate::world::{Severity, World};

/// How long something that happens may be held up by a script that asks neither people nor the world for anything. Tools
/// and commands may take their time: somebody wants what they come to.
const IDLE: Duration = Duration::from_millis(1500);

const BOOTSTRAP: &str = include_str!("bootstrap.js");

/// What a call under way is known by: whose clocks stand still while a person is asked, what stops it, and where it tells
/// how far it is.
#[derive(Clone)]
pub(super) struct Under {
    pub(super) patience: Patience,
    pub(super) cancel: CancellationToken,
    pub(super) progress: Option<Arc<dyn Fn(String) + Send + Sync>>,
}

impl Under {
    /// A call on behalf of the work that this task does.
    pub(super) fn new() -> Self {
        Self { patience: Patience::current(), cancel: CancellationToken::new(), progress: None }
    }
}

/// The calls under way, by number, and how much is asked of people and of the world meanwhile.
#[derive(Clone, Default)]
pub(super) struct Calls {
    under: Arc<Mutex<HashMap<u64, Under>>>,
    asks: Arc<watch::Sender<usize>>,
}

/// Something that is asked, until it is answered or nobody wants to know any more.
pub(super) struct Asking(Arc<watch::Sender<usize>>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.send_modify(|asks| *asks = asks.saturating_sub(1));
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Under>> {
        self.under.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts something that is asked.
    pub(super) fn asking(&self) -> Asking {
        self.asks.send_modify(|asks| *asks += 1);
        Asking(Arc::clone(&self.asks))
    }

    /// Ends when nothing was asked of anybody for [`IDLE`]: what the script waits for then can only be itself.
    async fn idle(&self) {
        let mut asks = self.asks.subscribe();
        loop {
            if asks.wait_for(|asks| *asks == 0).await.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(IDLE) => return,
                changed = asks.changed() => if changed.is_err() { return },
            }
        }
    }

    /// What a call is known by. One that is over, or a timer, has nobody.
    pub(super) fn of(&self, number: u64) -> Under {
        self.lock().get(&number).cloned().unwrap_or_else(Under::new)
    }
}

/// A script that runs.
pub(super) struct Script {
    name: Arc<str>,
    resident: Resident,
    calls: Calls,
    next: AtomicU64,
    health: Health,
    world: Arc<dyn World>,
}

impl Script {
    pub(super) fn new(bundle: &Bundle, setting: Setting, grants: Grants) -> Result<Self, ScriptError> {
        let Setting { world, limits, stores_as, .. } = setting;
        let name: Arc<str> = Arc::from(bundle.name());
        let (calls, health) = (Calls::default(), Health::default());
        let powers = Powers {
            name: Arc::clone(&name),
            stores_as: stores_as.map_or_else(|| Arc::clone(&name), Arc::from),
            world: Arc::clone(&world),
            grants,
            calls: calls.clone(),
            runtime: tokio::runtime::Handle::current(),
        };
        let trouble = {
            let (name, world, health) = (Arc::clone(&name), Arc::clone(&world), health.clone());
            move |error: &ScriptError| {
                if is_end(error) {
                    health.fail(words(error));
                    world.stopped(&name);
                } else {
                    world.log(&name, Severity::Error, &format!("a timer failed: {}", words(error)));
                }
            }
        };
        let household =
            Household { limits, host: host::functions(&powers), code: BOOTSTRAP, trouble: Box::new(trouble) };
        let resident = Resident::new(household, bundle.resolver())?;
        Ok(Self { name, resident, calls, next: AtomicU64::new(1), health, world })
    }

    pub(super) fn health(&self) -> &Health {
        &self.health
    }

    pub(super) fn world(&self) -> &dyn World {
        &*self.world
    }

    /// Calls in, with a value that is told as JSON.
    pub(super) async fn call<T: Serialize + ?Sized>(
        &self,
        what: &'static str,
        with: &T,
        under: Under,
    ) -> Result<Option<String>, Failure> {
        if let Some(reason) = self.health.failure() {
            return Err(reason.to_owned());
        }
        let with = serde_json::to_string(with).map_err(|error| error.to_string())?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // A caller who does not wait any more withdraws what the script asked of people and of the world. What it left
        // under way when it ended goes on.
        let cancel = under.cancel.child_token();
        let withdraws = cancel.clone().drop_guard();
        self.calls.lock().insert(number, Under { cancel: cancel.clone(), ..under });
        let over = Over { calls: &self.calls, number };
        let made = tokio::select! {
            biased;
            made = self.resident.call(number, what, with, &cancel) => Some(made),
            () = self.calls.idle(), if what == "event" => None,
        };
        let Some(made) = made else {
            drop(withdraws);
            self.log();
            return Err(format!("it waits, and has asked nobody for anything for {IDLE:?}"));
        };
        withdraws.disarm();
        drop(over);
        self.log();
        made.map_err(|error| {
            let words = words(&error);
            if is_end(&error) {
                self.health.fail(words.clone());
                self.world.stopped(&self.name);
            }
            words
        })
    }

    /// Passes on what was printed.
    fn log(&self) {
        let printed = self.resident.console();
        for line in &printed.lines {
            let severity = match line.level {
                Level::Debug | Level::Info => Severity::Info,
                Level::Warn => Severity::Warn,
                Level::Error => Severity::Error,
            };
            self.world.log(&self.name, severity, &line.text);
        }
        if printed.dropped > 0 {
            let text = format!("{} more lines were printed than the log takes at once", printed.dropped);
            self.world.log(&self.name, Severity::Warn, &text);
        }
    }
}

/// Forgets a call when it is over, also when its caller does not wait for it.
struct Over<'a> {
    calls: &'a Calls,
    number: u64,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.number);
    }
}

/// Whether there is no script any more after this.
fn is_end(error: &ScriptError) -> bool {
    use ScriptError::{Ended, OutOfMemory, TimedOut};
    matches!(error, TimedOut { .. } | OutOfMemory { .. } | Ended { .. })
}

/// What happened, and where, in a line.
fn words(error: &ScriptError) -> String {
    let at = error.frames().first().map(|frame| format!(" (at {frame})")).unwrap_or_default();
    match error {
        ScriptError::Thrown { message, .. } if message == "null" => {
            "it threw null, which is also what is left of an error when there is no memory for it".to_owned()
        }
        ScriptError::Thrown { message, .. } if message == "undefined" => "it threw undefined".to_owned(),
        ScriptError::Thrown { kind, message, .. } if kind == "Error" => format!("{message}{at}"),
        ScriptError::Thrown { .. } | ScriptError::StackOverflow { .. } => format!("{error}{at}"),
        ScriptError::TimedOut { after, .. } => format!("it computed for longer than {after:?}{at}"),
        ScriptError::OutOfMemory { limit } => format!("it took more than {} MB of memory", limit >> 20),
        ScriptError::NeverSettles => "it awaits something that nothing will ever settle".to_owned(),
        ScriptError::Ended { reason } => reason.clone(),
        other => other.for_model(),
    }
}
