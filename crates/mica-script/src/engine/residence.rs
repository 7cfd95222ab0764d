//! The engine of a resident: calls begin while others wait, timers fire as calls of their own.
//!
//! Invariant: whatever runs, runs on behalf of one call, within the computing time of that call, until nothing is left to
//! do at once. Between those steps nothing of the script runs.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use rquickjs::context::EvalOptions;
use rquickjs::function::Func;
use rquickjs::promise::PromiseState;
use rquickjs::{Function, Object, Persistent, Promise, Value};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::timers::{LONGEST, Timers};
use super::{Around, Engine, prelude};
use crate::error::ScriptError;

/// Timers may compute one part in so many of the time.
const SHARE: u32 = 10;

/// Calls that may be under way at a time.
const OPEN: usize = 64;

/// How long a call that was told to stop may take to end in its own words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What makes a resident.
pub(crate) struct Residence {
    /// The function that makes, of the host and the natives, the one through which all calls enter.
    pub(crate) code: &'static str,
    /// The call that what runs now belongs to.
    current: Cell<u64>,
    timers: RefCell<Timers>,
}

impl Residence {
    pub(crate) fn new(code: &'static str) -> Self {
        Self { code, current: Cell::new(0), timers: RefCell::default() }
    }

    pub(crate) fn current(&self) -> u64 {
        self.current.get()
    }
}

/// What a call gives: JSON, or nothing.
pub(crate) type Given = Result<Option<String>, ScriptError>;

/// A call that somebody makes.
pub(crate) struct Call {
    /// Its number, by which the script and the host speak of it.
    pub(crate) number: u64,
    /// What is called.
    pub(crate) what: &'static str,
    /// With what: text, mostly JSON.
    pub(crate) with: String,
    /// Fires when it should end.
    pub(crate) cancel: CancellationToken,
    pub(crate) reply: oneshot::Sender<Given>,
}

/// A call that waits.
struct Open {
    promise: Persistent<Promise<'static>>,
    /// `None` for timers: nobody waits for those.
    reply: Option<oneshot::Sender<Given>>,
    /// How long it has computed.
    used: Duration,
    /// When it is given up.
    until: Option<Instant>,
    /// Ends the wait for its cancellation.
    over: CancellationToken,
}

/// What happens next.
enum Next {
    Gone,
    Call(Call),
    Answer(super::Ticket, crate::host::Answer),
    Cancel(Option<u64>),
    Timer,
    Late,
}

type Cancels = FuturesUnordered<LocalBoxFuture<'static, Option<u64>>>;

/// A resident, on its thread.
pub(crate) struct Resides {
    engine: Engine,
    /// `None` only while it is dropped.
    enter: Option<Persistent<Function<'static>>>,
    open: HashMap<u64, Open>,
    cancels: Cancels,
    /// Numbers of timers' calls count down from here, and those of others up.
    next: u64,
    /// Timers rest until then.
    rest: Instant,
    born: Instant,
    /// How long work computed that no call waits for any more.
    stray: Duration,
    trouble: Box<dyn Fn(&ScriptError) + Send>,
}

impl Resides {
    /// A new engine with the residence's own code in it.
    pub(crate) fn new(
        around: &Rc<Around>,
        trouble: Box<dyn Fn(&ScriptError) + Send>,
    ) -> Result<Self, ScriptError> {
        let engine = Engine::bare(around)?;
        let enter = engine.with(|ctx| {
            let host = prelude(ctx, around)?;
            let natives = Object::new(ctx.clone())?;
            let (setting, clearing, asking) = (Rc::clone(around), Rc::clone(around), Rc::clone(around));
            natives.set(
                "setTimer",
                Func::from(move |id: u32, wait: f64| {
                    let wait =
                        if wait.is_finite() { wait.clamp(0.0, LONGEST.as_millis() as f64) } else { 0.0 };
                    let wait = Duration::from_secs_f64(wait / 1e3);
                    setting.residence.as_ref().is_some_and(|here| here.timers.borrow_mut().set(id, wait))
                }),
            )?;
            natives.set(
                "clearTimer",
                Func::from(move |id: u32| {
                    if let Some(here) = &clearing.residence {
                        here.timers.borrow_mut().clear(id);
                    }
                }),
            )?;
            #[allow(clippy::cast_precision_loss, reason = "a script knows no other numbers")]
            natives.set(
                "current",
                Func::from(move || asking.residence.as_ref().map_or(0.0, |here| here.current() as f64)),
            )?;
            let mut options = EvalOptions::default();
            options.filename = Some("resident.js".to_owned());
            let code = around.residence.as_ref().map_or("", |here| here.code);
            let begin: Function<'_> = ctx.eval_with_options(code, options)?;
            let enter: Function<'_> = begin.call((host, natives))?;
            Ok(Persistent::save(ctx, enter))
        })?;
        Ok(Self {
            engine,
            enter: Some(enter),
            open: HashMap::new(),
            cancels: FuturesUnordered::new(),
            next: u64::from(u32::MAX) << 16,
            rest: Instant::now(),
            born: Instant::now(),
            stray: Duration::ZERO,
            trouble,
        })
    }

    /// Lives until the queue ends, or something that cannot be mended happens.
    pub(crate) async fn live(mut self, queue: &mut mpsc::Receiver<Call>) -> Result<(), ScriptError> {
        let lived = self.lives(queue).await;
        if let Err(error) = &lived {
            (self.trouble)(error);
            let reason = error.to_string();
            for (_, open) in self.open.drain() {
                if let Some(reply) = open.reply {
                    let _ = reply.send(Err(ScriptError::Ended { reason: reason.clone() }));
                }
            }
        }
        lived
    }

    async fn lives(&mut self, queue: &mut mpsc::Receiver<Call>) -> Result<(), ScriptError> {
        let gone = self.engine.around.watch.cancelled();
        tokio::pin!(gone);
        loop {
            match self.next(queue, gone.as_mut()).await {
                Next::Gone => return Ok(()),
                Next::Call(call) => self.begin(call)?,
                Next::Answer(ticket, answer) => self.answered(ticket, answer)?,
                Next::Cancel(Some(number)) => self.cancelled(number)?,
                Next::Cancel(None) => {}
                Next::Timer => self.timer()?,
                Next::Late => self.give_up(),
            }
        }
    }

    async fn next(
        &mut self,
        queue: &mut mpsc::Receiver<Call>,
        gone: Pin<&mut impl Future<Output = ()>>,
    ) -> Next {
        let around = Rc::clone(&self.engine.around);
        let mut awaited = around.awaited.take();
        let timer = around.residence.as_ref().and_then(|here| here.timers.borrow().next());
        let timer = timer.map(|at| at.max(self.rest));
        let late = self.open.values().filter_map(|open| open.until).min();
        // A point in time that nobody waits for costs nothing: its branch is off.
        let at = |point: Option<Instant>| point.unwrap_or(self.rest);
        let next = tokio::select! {
            biased;
            () = gone => Next::Gone,
            Some(number) = self.cancels.next(), if !self.cancels.is_empty() => Next::Cancel(number),
            Some((ticket, answer)) = awaited.next(), if !awaited.is_empty() => Next::Answer(ticket, answer),
            call = queue.recv() => call.map_or(Next::Gone, Next::Call),
            () = tokio::time::sleep_until(at(timer)), if timer.is_some() => Next::Timer,
            () = tokio::time::sleep_until(at(late)), if late.is_some() => Next::Late,
        };
        // Nothing of the script ran meanwhile, so nothing was added.
        drop(around.awaited.replace(awaited));
        next
    }

    /// Runs something on behalf of a call, and what it makes ready. Answers how long it took.
    fn step<T>(
        &self,
        number: u64,
        used: Duration,
        work: impl FnOnce(&Engine) -> Result<T, ScriptError>,
    ) -> (Result<T, ScriptError>, Duration) {
        let around = &self.engine.around;
        let began = std::time::Instant::now();
        if let Some(here) = &around.residence {
            here.current.set(number);
        }
        around.trouble.take();
        around.watch.begin(around.limits.time.saturating_sub(used), None);
        let made = work(&self.engine).and_then(|made| self.engine.run_jobs().map(|()| made));
        around.watch.end();
        (made, began.elapsed())
    }

    fn begin(&mut self, call: Call) -> Result<(), ScriptError> {
        let Call { number, what, with, cancel, reply } = call;
        if cancel.is_cancelled() {
            let _ = reply.send(Err(ScriptError::Cancelled));
            return Ok(());
        }
        if self.open.len() >= OPEN {
            let message = format!("{OPEN} calls are under way in it already");
            let _ = reply.send(Err(ScriptError::Thrown {
                kind: "Error".to_owned(),
                message,
                frames: Vec::new(),
            }));
            return Ok(());
        }
        let (entered, used) = self.enter(number, what, with);
        match entered {
            Ok(Entered::Now(text)) => {
                let _ = reply.send(self.sized(text));
                // It may have let others go on.
                self.settle_open()?;
            }
            Ok(Entered::Later(promise)) => {
                let over = CancellationToken::new();
                let ended = over.clone();
                self.cancels.push(
                    async move {
                        tokio::select! {
                            () = cancel.cancelled_owned() => Some(number),
                            () = ended.cancelled_owned() => None,
                        }
                    }
                    .boxed_local(),
                );
                self.open.insert(number, Open { promise, reply: Some(reply), used, until: None, over });
                self.settle_open()?;
            }
            Err(error) => {
                fatal(error, |error| drop(reply.send(Err(error))))?;
                self.settle_open()?;
            }
        }
        Ok(())
    }

    /// Calls into the script. A promise that is settled already is its value.
    fn enter(&self, number: u64, what: &str, with: String) -> (Result<Entered, ScriptError>, Duration) {
        let (entered, used) = self.step(number, Duration::ZERO, |engine| {
            engine.with(|ctx| {
                let enter = self.entrance()?.restore(ctx)?;
                #[allow(clippy::cast_precision_loss, reason = "numbers of calls stay small")]
                let value: Value<'_> = enter.call((what, number as f64, with))?;
                Ok(match value.clone().into_promise() {
                    Some(promise) => Entered::Later(Persistent::save(ctx, promise)),
                    None => Entered::Now(text_of(&value)?),
                })
            })
        });
        let settled = match entered {
            Ok(Entered::Later(promise)) => match self.state(&promise) {
                Ok(Some(text)) => Ok(Entered::Now(text)),
                Ok(None) => Ok(Entered::Later(promise)),
                Err(error) => Err(error),
            },
            entered => entered,
        };
        (settled, used)
    }

    fn entrance(&self) -> rquickjs::Result<Persistent<Function<'static>>> {
        self.enter.clone().ok_or(rquickjs::Error::Unknown)
    }

    /// The value of a promise, if it has one.
    fn state(&self, promise: &Persistent<Promise<'static>>) -> Result<Option<Option<String>>, ScriptError> {
        self.engine.with(|ctx| {
            let promise = promise.clone().restore(ctx)?;
            match promise.state() {
                PromiseState::Pending => Ok(None),
                _ => match promise.result::<Value<'_>>() {
                    Some(value) => Ok(Some(text_of(&value?)?)),
                    None => Ok(None),
                },
            }
        })
    }

    fn answered(&mut self, ticket: super::Ticket, answer: crate::host::Answer) -> Result<(), ScriptError> {
        let asked = self.engine.around.tickets.borrow_mut().remove(&ticket);
        let Some(asked) = asked else { return Ok(()) };
        let number = asked.of;
        self.continued(number, |engine| engine.settle(asked, answer))
    }

    /// Goes on with a call, and with whatever waited for it.
    fn continued(
        &mut self,
        number: u64,
        work: impl FnOnce(&Engine) -> Result<(), ScriptError>,
    ) -> Result<(), ScriptError> {
        let used = self.open.get(&number).map(|open| open.used).unwrap_or_default();
        let (made, took) = self.step(number, used, work);
        if let Err(error) = made {
            let reply = self.close(number);
            fatal(error, |error| {
                if let Some(reply) = reply {
                    let _ = reply.send(Err(error));
                }
            })?;
            return self.settle_open();
        }
        match self.open.get_mut(&number) {
            Some(open) => open.used += took,
            None => self.strayed(took)?,
        }
        self.settle_open()
    }

    /// Counts work that belongs to a call which has ended: as much as one call may do, and a share of the time.
    fn strayed(&mut self, took: Duration) -> Result<(), ScriptError> {
        let limit = self.engine.around.limits.time;
        self.stray += took;
        if self.stray > limit + self.born.elapsed() / SHARE {
            return Err(ScriptError::TimedOut { after: limit, frames: Vec::new() });
        }
        Ok(())
    }

    /// Answers the calls that are done, and those that never will be.
    fn settle_open(&mut self) -> Result<(), ScriptError> {
        let mut done = Vec::new();
        for (number, open) in &self.open {
            match self.state(&open.promise) {
                Ok(None) => {}
                Ok(Some(text)) => done.push((*number, self.sized(text))),
                Err(error) => done.push((*number, Err(error))),
            }
        }
        let mut end = Ok(());
        for (number, given) in done {
            let timer = self.open.get(&number).is_some_and(|open| open.reply.is_none());
            match given {
                Err(error) if is_fatal(&error) => end = Err(error.clone()),
                Err(error) if timer => (self.trouble)(&error),
                given => {
                    if let Some(reply) = self.close(number) {
                        let _ = reply.send(given);
                    }
                    continue;
                }
            }
            self.close(number);
        }
        end?;
        let around = &self.engine.around;
        let waits = !around.awaited.borrow().is_empty()
            || around.residence.as_ref().is_some_and(|here| here.timers.borrow().next().is_some());
        if !waits {
            let never: Vec<u64> = self.open.keys().copied().collect();
            for number in never {
                if let Some(reply) = self.close(number) {
                    let _ = reply.send(Err(ScriptError::NeverSettles));
                }
            }
        }
        Ok(())
    }

    /// A call should end: the script is told, and what it waits for is over.
    fn cancelled(&mut self, number: u64) -> Result<(), ScriptError> {
        if !self.open.contains_key(&number) {
            return Ok(());
        }
        if let Some(open) = self.open.get_mut(&number) {
            open.until = Some(Instant::now() + LAST_WORDS);
        }
        let enter = self.enter.clone();
        #[allow(clippy::cast_precision_loss, reason = "numbers of calls stay small")]
        self.continued(number, |engine| {
            let Some(enter) = enter else { return Ok(()) };
            engine.with(|ctx| enter.restore(ctx)?.call::<_, ()>(("abort", number as f64, "")))
        })?;
        let asked: Vec<super::Ticket> = {
            let tickets = self.engine.around.tickets.borrow();
            tickets.iter().filter(|(_, asked)| asked.of == number).map(|(ticket, _)| *ticket).collect()
        };
        for ticket in asked {
            self.answered(ticket, Err("the call was stopped".to_owned()))?;
        }
        Ok(())
    }

    /// Answers calls that took too long over ending.
    fn give_up(&mut self) {
        let now = Instant::now();
        let late: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, open)| open.until.is_some_and(|until| until <= now))
            .map(|(number, _)| *number)
            .collect();
        for number in late {
            if let Some(reply) = self.close(number) {
                let _ = reply.send(Err(ScriptError::Cancelled));
            }
        }
    }

    fn timer(&mut self) -> Result<(), ScriptError> {
        let around = Rc::clone(&self.engine.around);
        let Some(id) = around.residence.as_ref().and_then(|here| here.timers.borrow_mut().take()) else {
            return Ok(());
        };
        self.next += 1;
        let number = self.next;
        let (entered, used) = self.enter(number, "timer", id.to_string());
        self.rest = Instant::now() + used * (SHARE - 1);
        match entered {
            Ok(Entered::Now(_)) => self.settle_open(),
            Ok(Entered::Later(promise)) => {
                let until = Some(Instant::now() + around.limits.wait);
                let over = CancellationToken::new();
                self.open.insert(number, Open { promise, reply: None, used, until, over });
                self.settle_open()
            }
            Err(error) => {
                fatal(error, |error| (self.trouble)(&error))?;
                self.settle_open()
            }
        }
    }

    fn close(&mut self, number: u64) -> Option<oneshot::Sender<Given>> {
        let open = self.open.remove(&number)?;
        open.over.cancel();
        open.reply
    }

    fn sized(&self, text: Option<String>) -> Given {
        let limit = self.engine.around.limits.value;
        match &text {
            Some(long) if long.len() > limit => {
                Err(ScriptError::TooLarge { what: "result", bytes: long.len(), limit })
            }
            _ => Ok(text),
        }
    }
}

impl Drop for Resides {
    fn drop(&mut self) {
        // Promises and functions must go before the engine does.
        let (open, enter) = (std::mem::take(&mut self.open), self.enter.take());
        self.engine.context.with(|_| drop((open, enter)));
        self.engine.forget();
    }
}

enum Entered {
    Now(Option<String>),
    Later(Persistent<Promise<'static>>),
}

/// What the code of the residence hands out: text, or nothing.
fn text_of(value: &Value<'_>) -> rquickjs::Result<Option<String>> {
    value.as_string().map(rquickjs::String::to_string).transpose()
}

/// Passes an error on to whoever waits, and ends the resident where it cannot go on.
fn fatal(error: ScriptError, tell: impl FnOnce(ScriptError)) -> Result<(), ScriptError> {
    let end = if is_fatal(&error) { Err(error.clone()) } else { Ok(()) };
    tell(error);
    end
}

/// Whether a script was cut off in the middle of something.
fn is_fatal(error: &ScriptError) -> bool {
    use ScriptError::{Ended, OutOfMemory, TimedOut};
    matches!(error, TimedOut { .. } | OutOfMemory { .. } | Ended { .. })
}
