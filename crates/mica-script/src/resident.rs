//! A script that stays: it keeps its state, has several calls under way, and timers.
//!
//! Calls enter through one function, which the owner's own code makes of the host functions before any script runs; what
//! scripts find of the host is up to that code. Calls take turns as in every JavaScript program: one goes on while another
//! awaits something. Each has its own computing time. What cuts a script off in the middle (its time, its memory) ends the
//! resident for good: what it had in mind would be done in the time of others.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::cage::{GRACE, STACK};
use crate::console::Console;
use crate::engine::Around;
use crate::engine::residence::{Call, Residence, Resides};
use crate::error::ScriptError;
use crate::host::Host;
use crate::limits::Limits;
use crate::modules::{Modules, Resolver};
use crate::slots::Slot;
use crate::watch::{Busy, Watch};

/// Calls that wait for their turn. Further callers wait for a place.
const QUEUE: usize = 64;

/// What a resident is made of.
pub struct Household {
    /// How much it may take. `time` is for each call and `wait` for what timers begin; how long a call may wait is up to
    /// its caller.
    pub limits: Limits,
    /// What its code may ask for.
    pub host: Host,
    /// An expression: a function of the host's functions and the natives (`setTimer(id, ms)`, `clearTimer(id)`,
    /// `current()`, the number of the call that runs) that returns the function through which calls enter. That is called
    /// with what is called, the number of the call, and a text; it returns a text or nothing, or a promise of it. It is
    /// called with `abort` when a call should end, and with `timer` and the id when a timer fires.
    pub code: &'static str,
    /// Is told of what nobody may be waiting for: a timer that fails, and the end of the resident.
    pub trouble: Box<dyn Fn(&ScriptError) + Send>,
}

/// A script that stays. Dropping it stops what runs in it.
pub struct Resident {
    jobs: mpsc::Sender<Call>,
    console: Arc<Mutex<Console>>,
    busy: Busy,
    limits: Limits,
    /// Why it is no more.
    end: Arc<OnceLock<String>>,
    lost: AtomicBool,
    _life: DropGuard,
}

impl Resident {
    /// A resident on a thread of its own, in which nothing has run yet but its own code.
    ///
    /// # Errors
    /// [`ScriptError::Ended`] when the machine has no thread for it.
    pub fn new(household: Household, resolver: impl Resolver + 'static) -> Result<Self, ScriptError> {
        let Household { limits, host, code, trouble } = household;
        let slot = Slot::take()?;
        let (jobs, mut queue) = mpsc::channel(QUEUE);
        let (console, busy) = (Arc::<Mutex<Console>>::default(), Busy::default());
        let (life, end) = (CancellationToken::new(), Arc::<OnceLock<String>>::default());
        let work = {
            let (limits, console, busy) = (limits.clone(), Arc::clone(&console), busy.clone());
            let (life, end) = (life.clone(), Arc::clone(&end));
            move || {
                let modules = Modules::new(Box::new(resolver), limits.source);
                let residence = Some(Residence::new(code));
                let around =
                    Rc::new(Around::new(limits, host, console, modules, Watch::new(life, busy), residence));
                // Time only: whoever gives host functions that need more runs them elsewhere. Waking is cheaper so.
                let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else {
                    return;
                };
                let lived = runtime.block_on(async {
                    let resides = Resides::new(&around, trouble)?;
                    resides.live(&mut queue).await
                });
                if let Err(error) = lived {
                    let _ = end.set(error.to_string());
                }
                drop(slot);
            }
        };
        thread::Builder::new()
            .name("resident".to_owned())
            .stack_size(limits.stack.saturating_add(STACK))
            .spawn(work)
            .map_err(|error| ScriptError::Ended { reason: format!("no thread for it: {error}") })?;
        let lost = AtomicBool::new(false);
        Ok(Self { jobs, console, busy, limits, end, lost, _life: life.drop_guard() })
    }

    /// Calls in. The number is the caller's, and no other call under way has it. When `cancel` fires, the script is told,
    /// has a moment to end in its own words, and is left to itself. Dropping the future is a cancellation, too.
    ///
    /// # Errors
    /// [`ScriptError`]. After [`ScriptError::TimedOut`], [`ScriptError::OutOfMemory`] and [`ScriptError::Ended`] there is
    /// no resident any more.
    pub async fn call(
        &self,
        number: u64,
        what: &'static str,
        with: String,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ScriptError> {
        if self.lost.load(Ordering::Acquire) {
            return Err(self.ended());
        }
        let cancel = cancel.child_token();
        let _stops = cancel.clone().drop_guard();
        let (reply, mut answer) = oneshot::channel();
        let call = Call { number, what, with, cancel: cancel.clone(), reply };
        if let Err(unsent) = self.jobs.try_send(call) {
            match unsent {
                mpsc::error::TrySendError::Closed(_) => return Err(self.ended()),
                mpsc::error::TrySendError::Full(call) => {
                    self.jobs.send(call).await.map_err(|_| self.ended())?;
                }
            }
        }
        tokio::select! {
            biased;
            answer = &mut answer => answer.unwrap_or_else(|_| Err(self.ended())),
            () = self.stuck() => {
                self.lost.store(true, Ordering::Release);
                let _ = self.end.set("a step in it could not be interrupted".to_owned());
                Err(ScriptError::TimedOut { after: self.limits.time, frames: Vec::new() })
            }
        }
    }

    /// Takes what scripts printed.
    pub fn console(&self) -> Console {
        std::mem::take(&mut *self.console.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ended(&self) -> ScriptError {
        let reason = self.end.get().cloned().unwrap_or_else(|| "something in it broke".to_owned());
        ScriptError::Ended { reason }
    }

    /// Ends when the engine should have stopped long ago.
    async fn stuck(&self) {
        loop {
            tokio::time::sleep(GRACE / 4).await;
            if self.busy.until().is_some_and(|until| Instant::now() >= until + GRACE) {
                return;
            }
        }
    }
}
