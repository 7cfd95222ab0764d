//! Ends an answer that takes too long: too long without an event, or too long in all.
//!
//! Only what the model says counts as an event. Keep-alive comments, pings and progress notes produce none, so a
//! connection that is merely held open runs into the idle limit. Both clocks stand still while the reader is busy
//! with what it was given, and while a [`Pause`] is held.

use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::error::AiError;
use crate::event::StreamEvent;
use crate::id::MessageId;
use crate::message::Assistant;
use crate::provider::Provider;
use crate::request::Request;
use crate::stream::{ModelStream, Outcome};

/// The time a model may take, shared by all the calls of a run.
///
/// Clones share one clock: what one call used, the next one does not have.
#[derive(Debug, Clone)]
pub struct ModelClock {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    idle: Duration,
    total: Option<Duration>,
    spent: Mutex<Duration>,
    pauses: watch::Sender<u32>,
}

impl ModelClock {
    /// A clock that allows `idle` without an event, and `total` for all calls together.
    pub fn new(idle: Duration, total: Option<Duration>) -> Self {
        let pauses = watch::Sender::new(0);
        Self { shared: Arc::new(Shared { idle, total, spent: Mutex::new(Duration::ZERO), pauses }) }
    }

    /// Stops the clock until the pause is dropped. Pauses may overlap.
    pub fn pause(&self) -> Pause {
        self.shared.pauses.send_modify(|count| *count += 1);
        Pause { shared: Arc::clone(&self.shared) }
    }

    /// What the model has used so far. A call that is still running is counted when it ends.
    pub fn spent(&self) -> Duration {
        *self.shared.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ModelClock {
    /// Two minutes without an event, no limit in all.
    fn default() -> Self {
        Self::new(Duration::from_secs(120), None)
    }
}

/// Keeps a [`ModelClock`] from running.
#[derive(Debug)]
pub struct Pause {
    shared: Arc<Shared>,
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.shared.pauses.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// A provider whose answers are ended when they take too long.
#[derive(Debug, Clone)]
pub struct Watched<P> {
    inner: P,
    clock: ModelClock,
}

impl<P> Watched<P> {
    /// Watches `inner` with `clock`.
    pub fn new(inner: P, clock: ModelClock) -> Self {
        Self { inner, clock }
    }
}

impl<P: Provider + 'static> Provider for Watched<P> {
    fn prepare(&self, request: &Arc<Request>) {
        self.inner.prepare(request);
    }

    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        // The answer is cut by cancelling it, so that it ends as it always does: with what had arrived.
        let cut = cancel.child_token();
        let answer = request.answer.clone();
        let mut stream = self.inner.stream(request, cut.clone());
        let clock = self.clock.clone();
        ModelStream::new(|sink| async move {
            let mut watch = Watch::new(&clock);
            loop {
                let event = tokio::select! {
                    biased;
                    event = stream.next() => event,
                    error = watch.run_out() => {
                        cut.cancel();
                        let partial = last_words(stream, answer).await;
                        return Outcome::Failed { partial, error };
                    }
                };
                // The reader's time is not the model's.
                watch.stop();
                match event {
                    Some(StreamEvent::Done { message }) => return Outcome::Done(*message),
                    Some(StreamEvent::Error { partial, error }) => {
                        return Outcome::Failed { partial: *partial, error };
                    }
                    Some(event) => {
                        watch.heard();
                        sink.send(event);
                        sink.flush().await;
                    }
                    None => return stream.outcome().await,
                }
            }
        })
    }
}

/// What had arrived when a stream was cut. A stream that does not end within a second of being told to is dropped.
async fn last_words(stream: ModelStream, answer: MessageId) -> Assistant {
    let mut message = match tokio::time::timeout(Duration::from_secs(1), stream.outcome()).await {
        Ok(outcome) => outcome.message().clone(),
        Err(_) => Outcome::read_before().message().clone(),
    };
    message.id = answer;
    message
}

/// The two clocks of one call.
struct Watch<'a> {
    clock: &'a ModelClock,
    pauses: watch::Receiver<u32>,
    /// Time since the last event, and time of this call, as far as they were counted.
    quiet: Duration,
    used: Duration,
    running: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(clock: &'a ModelClock) -> Self {
        let pauses = clock.shared.pauses.subscribe();
        Self { clock, pauses, quiet: Duration::ZERO, used: Duration::ZERO, running: None }
    }

    /// Counts what ran and stands still.
    fn stop(&mut self) {
        if let Some(since) = self.running.take() {
            let ran = since.elapsed();
            self.quiet += ran;
            self.used += ran;
        }
    }

    fn heard(&mut self) {
        self.quiet = Duration::ZERO;
    }

    /// Runs until a limit is reached. May be dropped and called again: what ran until then is counted.
    async fn run_out(&mut self) -> AiError {
        loop {
            self.stop();
            let (idle, total) = (self.clock.shared.idle, self.clock.shared.total);
            if self.quiet >= idle {
                return AiError::Idle { limit: idle };
            }
            let left = total.map(|total| (total, total.saturating_sub(self.clock.spent() + self.used)));
            if let Some((limit, Duration::ZERO)) = left {
                return AiError::Deadline { limit };
            }
            let paused = *self.pauses.borrow_and_update() > 0;
            let now = Instant::now();
            let wake = async {
                if paused {
                    pending::<()>().await;
                }
                let next = left.map_or(idle - self.quiet, |(_, left)| left.min(idle - self.quiet));
                sleep_until(now + next).await;
            };
            if !paused {
                self.running = Some(now);
            }
            tokio::select! {
                () = wake => {}
                changed = self.pauses.changed() => {
                    if changed.is_err() {
                        // Cannot be: the clock that is borrowed here holds the other end.
                        pending::<()>().await;
                    }
                }
            }
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.stop();
        *self.clock.shared.spent.lock().unwrap_or_else(PoisonError::into_inner) += self.used;
    }
}

#[cfg(test)]
mod tests;
