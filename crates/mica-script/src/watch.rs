//! Whether a script may go on: asked by the engine every few thousand steps.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// Why a script was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Time,
    Cancelled,
}

/// Until when the engine may be busy with a script. Told to those who wait for it from outside: an engine that does not
/// ask whether it may go on cannot be trusted to say that it does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Busy(Arc<Mutex<Option<Instant>>>);

impl Busy {
    pub(crate) fn until(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// The clock and the stop button of the call that runs.
pub(crate) struct Watch {
    deadline: Cell<Option<Instant>>,
    waited: Cell<Duration>,
    /// `None`: nobody stops the call that runs.
    cancel: RefCell<Option<CancellationToken>>,
    life: CancellationToken,
    cut: Cell<Option<Cut>>,
    busy: Busy,
}

impl Watch {
    pub(crate) fn new(life: CancellationToken, busy: Busy) -> Self {
        Self {
            deadline: Cell::new(None),
            waited: Cell::new(Duration::ZERO),
            cancel: RefCell::new(None),
            life,
            cut: Cell::new(None),
            busy,
        }
    }

    /// A call begins.
    pub(crate) fn begin(&self, time: Duration, cancel: Option<CancellationToken>) {
        self.cut.set(None);
        self.waited.set(Duration::ZERO);
        *self.cancel.borrow_mut() = cancel;
        self.run_until(Instant::now().checked_add(time));
    }

    /// A call has ended.
    pub(crate) fn end(&self) {
        self.run_until(None);
        self.cut.set(None);
        *self.cancel.borrow_mut() = None;
    }

    /// Lets a script that was cut say where it was.
    pub(crate) fn allow(&self, time: Duration) -> Option<Cut> {
        let cut = self.cut.take();
        self.deadline.set(Instant::now().checked_add(time));
        cut
    }

    fn run_until(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
        self.busy.set(deadline);
    }

    /// Whether the script must stop; remembers why.
    pub(crate) fn is_over(&self) -> bool {
        let stopped = self.cancel.borrow().as_ref().is_some_and(CancellationToken::is_cancelled);
        let cut = if stopped || self.life.is_cancelled() {
            Some(Cut::Cancelled)
        } else {
            let late = self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline);
            late.then_some(Cut::Time)
        };
        if cut.is_some() && self.cut.get().is_none() {
            self.cut.set(cut);
        }
        cut.is_some()
    }

    /// Nobody computes; somebody is waited for. Its end says how long.
    pub(crate) fn pause(&self) -> Pause<'_> {
        let left = self.deadline.get().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        self.run_until(None);
        Pause { watch: self, since: Instant::now(), left }
    }

    /// How long this call has waited.
    pub(crate) fn waited(&self) -> Duration {
        self.waited.get()
    }

    /// Resolves when the call is cancelled, or the cage is gone.
    pub(crate) fn cancelled(&self) -> impl Future<Output = ()> + use<> {
        let (cancel, life) = (self.cancel.borrow().clone(), self.life.clone());
        async move {
            match cancel {
                None => life.cancelled_owned().await,
                Some(cancel) => tokio::select! {
                    () = cancel.cancelled_owned() => {}
                    () = life.cancelled_owned() => {}
                },
            }
        }
    }
}

/// While it lives, time does not count.
pub(crate) struct Pause<'a> {
    watch: &'a Watch,
    since: Instant,
    left: Option<Duration>,
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.watch.waited.set(self.watch.waited.get() + self.since.elapsed());
        self.watch.run_until(self.left.and_then(|left| Instant::now().checked_add(left)));
    }
}
