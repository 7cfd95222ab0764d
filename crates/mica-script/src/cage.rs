//! The cage: scripts run in it, on a thread of its own, and callers await them.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::console::Console;
use crate::engine::{Around, Engine};
use crate::error::ScriptError;
use crate::host::Host;
use crate::limits::Limits;
use crate::modules::{Modules, Nothing, Resolver};
use crate::slots::Slot;
use crate::watch::{Busy, Watch};

/// Calls that wait while one runs. Further callers wait for a place.
const QUEUE: usize = 16;

/// Stack that the engine needs besides that of scripts.
pub(crate) const STACK: usize = 2 << 20;

/// How long the engine has to end a script that must stop. It asks every few thousand steps; only single steps on huge
/// values take longer, and those cannot be stopped at all.
pub(crate) const GRACE: Duration = Duration::from_millis(700);

/// A world in which scripts run: with the modules it was given, and nothing of the machine.
///
/// What modules keep in variables lives as long as the cage, or until it is made [`fresh`](Cage::fresh). A call that is
/// cut off, by time, memory or somebody, makes it fresh too: a script that was stopped half-way leaves nothing behind.
/// Calls run one after the other. Dropping the cage stops what runs in it.
pub struct Cage {
    jobs: mpsc::Sender<Job>,
    console: Arc<Mutex<Console>>,
    busy: Busy,
    limits: Limits,
    /// The thread did not come back in time, and was given up.
    lost: AtomicBool,
    _life: DropGuard,
}

type Reply<T> = oneshot::Sender<Result<T, ScriptError>>;

enum Job {
    Module { name: String, source: String, reply: Reply<()> },
    Call { module: String, function: String, args: String, cancel: CancellationToken, reply: Reply<Value> },
    Fresh { reply: Reply<()> },
}

impl Cage {
    /// A cage with these limits and no host functions.
    ///
    /// # Errors
    /// [`ScriptError::Ended`] when the machine has no thread for it.
    pub fn new(limits: Limits) -> Result<Self, ScriptError> {
        Self::with_host(limits, Host::new(), Nothing)
    }

    /// A cage whose scripts may call host functions and import what a resolver finds.
    ///
    /// # Errors
    /// Those of [`Cage::new`].
    pub fn with_host(
        limits: Limits,
        host: Host,
        resolver: impl Resolver + 'static,
    ) -> Result<Self, ScriptError> {
        let slot = Slot::take()?;
        let (jobs, queue) = mpsc::channel(QUEUE);
        let (console, busy) = (Arc::<Mutex<Console>>::default(), Busy::default());
        let life = CancellationToken::new();
        let work = {
            let (limits, console, busy) = (limits.clone(), Arc::clone(&console), busy.clone());
            let life = life.clone();
            move || {
                let modules = Modules::new(Box::new(resolver), limits.source);
                let around = Around::new(limits, host, console, modules, Watch::new(life, busy), None);
                keep(queue, &Rc::new(around));
                drop(slot);
            }
        };
        thread::Builder::new()
            .name("script".to_owned())
            .stack_size(limits.stack.saturating_add(STACK))
            .spawn(work)
            .map_err(|error| ScriptError::Ended { reason: format!("no thread for it: {error}") })?;
        Ok(Self { jobs, console, busy, limits, lost: AtomicBool::new(false), _life: life.drop_guard() })
    }

    /// Gives the cage a module. It runs when something is first called in it. A module that is given again begins anew,
    /// and so does the rest of the cage.
    ///
    /// # Errors
    /// [`ScriptError::Syntax`] and [`ScriptError::TooLarge`].
    pub async fn module(&self, name: &str, source: &str) -> Result<(), ScriptError> {
        let (name, source) = (name.to_owned(), source.to_owned());
        self.send(|reply| Job::Module { name, source, reply }, &CancellationToken::new()).await
    }

    /// Calls a function that a module exports. A promise is awaited; `undefined` is told as `null`.
    ///
    /// # Errors
    /// [`ScriptError`]. The cage goes on, unless it says [`ScriptError::Ended`].
    pub async fn call(&self, module: &str, function: &str, args: &[Value]) -> Result<Value, ScriptError> {
        self.call_until(module, function, args, &CancellationToken::new()).await
    }

    /// Calls a function, until somebody stops it. Dropping the future stops it too.
    ///
    /// # Errors
    /// Those of [`Cage::call`], and [`ScriptError::Cancelled`].
    pub async fn call_until(
        &self,
        module: &str,
        function: &str,
        args: &[Value],
        cancel: &CancellationToken,
    ) -> Result<Value, ScriptError> {
        let (module, function) = (module.to_owned(), function.to_owned());
        let args = serde_json::to_string(args)
            .map_err(|error| ScriptError::NotJson { reason: format!("the arguments: {error}") })?;
        let stop = cancel.child_token();
        let _stops = stop.clone().drop_guard();
        let given = stop.clone();
        self.send(|reply| Job::Call { module, function, args, cancel: given, reply }, &stop).await
    }

    /// Forgets what modules keep: they run again when something is called in them.
    ///
    /// # Errors
    /// [`ScriptError::Ended`].
    pub async fn fresh(&self) -> Result<(), ScriptError> {
        self.send(|reply| Job::Fresh { reply }, &CancellationToken::new()).await
    }

    /// Takes what scripts printed.
    pub fn console(&self) -> Console {
        std::mem::take(&mut *self.console.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn send<T>(
        &self,
        job: impl FnOnce(Reply<T>) -> Job,
        cancel: &CancellationToken,
    ) -> Result<T, ScriptError> {
        let ended = |reason: &str| ScriptError::Ended { reason: reason.to_owned() };
        if self.lost.load(Ordering::Acquire) {
            return Err(ended("a script could not be stopped in it"));
        }
        let (reply, mut answer) = oneshot::channel();
        tokio::select! {
            sent = self.jobs.send(job(reply)) => sent.map_err(|_| ended("something in it broke"))?,
            () = cancel.cancelled() => return Err(ScriptError::Cancelled),
        }
        tokio::select! {
            biased;
            answer = &mut answer => answer.unwrap_or_else(|_| Err(ended("something in it broke"))),
            stuck = self.stuck(cancel) => {
                self.lost.store(true, Ordering::Release);
                Err(stuck)
            }
        }
    }

    /// Ends when the engine should have answered long ago.
    async fn stuck(&self, cancel: &CancellationToken) -> ScriptError {
        let mut cancelled = None;
        loop {
            if let Some(since) = cancelled
                && Instant::now() >= since + GRACE
            {
                return ScriptError::Cancelled;
            }
            if let Some(until) = self.busy.until()
                && Instant::now() >= until + GRACE
            {
                return ScriptError::TimedOut { after: self.limits.time, frames: Vec::new() };
            }
            tokio::select! {
                () = cancel.cancelled(), if cancelled.is_none() => cancelled = Some(Instant::now()),
                () = tokio::time::sleep(GRACE / 4) => {}
            }
        }
    }
}

/// Does jobs until the cage is gone.
fn keep(mut queue: mpsc::Receiver<Job>, around: &Rc<Around>) {
    // Host functions may do anything that async functions do. Without a runtime the thread ends, and callers are told.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let mut engine: Option<Engine> = None;
    runtime.block_on(async {
        while let Some(job) = queue.recv().await {
            // Somebody who no longer waits for an answer needs none.
            match job {
                Job::Module { name, source, reply } => {
                    let added = around.modules.borrow_mut().add(&name, &source);
                    if matches!(added, Ok(true)) {
                        engine = None;
                    }
                    let _ = reply.send(added.map(drop));
                }
                Job::Fresh { reply } => {
                    engine = None;
                    let _ = reply.send(Ok(()));
                }
                Job::Call { module, function, args, cancel, reply } => {
                    let answer = match ready(&mut engine, around) {
                        Ok(engine) => engine.call(&module, &function, args, cancel).await,
                        Err(error) => Err(error),
                    };
                    if answer.as_ref().is_err_and(is_cut) {
                        engine = None;
                    }
                    let _ = reply.send(answer);
                }
            }
        }
    });
    drop(engine);
}

/// Whether a script was cut off. What it had in mind to do would be done in the time of the next call.
fn is_cut(error: &ScriptError) -> bool {
    use ScriptError::{Cancelled, Ended, OutOfMemory, TimedOut};
    matches!(error, TimedOut { .. } | OutOfMemory { .. } | Cancelled | Ended { .. })
}

fn ready<'a>(engine: &'a mut Option<Engine>, around: &Rc<Around>) -> Result<&'a Engine, ScriptError> {
    Ok(match engine {
        Some(engine) => engine,
        none => none.insert(Engine::new(around)?),
    })
}
