//! The stream of a model's answer, built so that it cannot end without an outcome.
//!
//! A producer is a future that is handed a [`Sink`] and must return an [`Outcome`]. It can send deltas but has no
//! way to send a terminal event, and the stream has no way to end but by the producer's return. So there is
//! exactly one terminal event, it is the last one, and forgetting it does not compile.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};

use crate::error::AiError;
use crate::event::StreamEvent;
use crate::id::MessageId;
use crate::message::{Assistant, Dialect, Origin, StopReason};

/// How an answer ended.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It is complete.
    Done(Assistant),
    /// It failed, or was cancelled.
    Failed {
        /// What arrived until then.
        partial: Assistant,
        /// Why.
        error: AiError,
    },
}

impl Outcome {
    /// The message, whole or not.
    pub fn message(&self) -> &Assistant {
        match self {
            Outcome::Done(message) => message,
            Outcome::Failed { partial, .. } => partial,
        }
    }

    /// The answer to asking a stream for its outcome after its terminal event was already taken.
    pub(crate) fn read_before() -> Self {
        let origin = Origin { dialect: Dialect::Responses, provider: String::new(), model: String::new() };
        Outcome::Failed {
            partial: Assistant::empty(MessageId::from(""), origin),
            error: AiError::Protocol { detail: "the stream was read to its end before".to_owned() },
        }
    }

    /// The whole message, or the error.
    ///
    /// # Errors
    /// The error the answer ended with; what arrived until then is dropped.
    pub fn into_result(self) -> Result<Assistant, AiError> {
        match self {
            Outcome::Done(message) => Ok(message),
            Outcome::Failed { error, .. } => Err(error),
        }
    }
}

/// A model's answer as it arrives.
///
/// Nothing runs in the background: the request is made and read while the stream is polled, and dropping the
/// stream drops the connection.
pub struct ModelStream {
    queue: Arc<Queue>,
    producer: Option<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
}

impl ModelStream {
    /// A stream of what `produce` sends, ended by what it returns.
    pub fn new<F, P>(produce: F) -> Self
    where
        F: FnOnce(Sink) -> P,
        P: Future<Output = Outcome> + Send + 'static,
    {
        let queue = Arc::new(Queue::default());
        let producer = produce(Sink { queue: Arc::clone(&queue) });
        Self { queue, producer: Some(Box::pin(producer)) }
    }

    /// A stream that fails at once.
    pub fn failed(partial: Assistant, error: AiError) -> Self {
        Self::new(|_| async move { Outcome::Failed { partial, error } })
    }

    /// Reads to the end and answers the outcome.
    pub async fn outcome(mut self) -> Outcome {
        loop {
            match self.next().await {
                Some(StreamEvent::Done { message }) => return Outcome::Done(*message),
                Some(StreamEvent::Error { partial, error }) => {
                    return Outcome::Failed { partial: *partial, error };
                }
                Some(_) => {}
                None => return Outcome::read_before(),
            }
        }
    }
}

impl Stream for ModelStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        if let Some(event) = self.queue.pop() {
            return Poll::Ready(Some(event));
        }
        let Some(producer) = self.producer.as_mut() else {
            return Poll::Ready(None);
        };
        match producer.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                self.producer = None;
                // Deltas sent just before the end come first; the terminal event queues behind them.
                self.queue.close(outcome);
                Poll::Ready(self.queue.pop())
            }
            // The producer yields after each batch it sent (see `Sink::flush`), so this is where deltas surface.
            Poll::Pending => self.queue.pop().map_or(Poll::Pending, |event| Poll::Ready(Some(event))),
        }
    }
}

impl std::fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelStream").field("ended", &self.producer.is_none()).finish_non_exhaustive()
    }
}

/// Where a producer puts its events.
pub struct Sink {
    queue: Arc<Queue>,
}

impl Sink {
    /// Sends an event. Terminal events are refused silently: only the producer's return value ends a stream.
    pub fn send(&self, event: StreamEvent) {
        debug_assert!(!event.is_terminal(), "a producer ends its stream by returning an outcome");
        if !event.is_terminal() {
            self.queue.lock().push_back(event);
        }
    }

    /// Sends events and empties the list.
    pub fn send_all(&self, events: &mut Vec<StreamEvent>) {
        events.retain(|event| !event.is_terminal());
        self.queue.lock().extend(events.drain(..));
    }

    /// Waits until the reader has taken what was sent. Called after each batch, it bounds the queue to one batch:
    /// a slow reader slows the connection down instead of filling memory.
    pub async fn flush(&self) {
        std::future::poll_fn(|cx| {
            if self.queue.lock().is_empty() {
                Poll::Ready(())
            } else {
                // The reader drains the queue before it polls the producer again.
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
    }
}

#[derive(Default)]
struct Queue {
    events: Mutex<VecDeque<StreamEvent>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<StreamEvent>> {
        // Nothing can panic while the lock is held, so a poisoned queue is still a good one.
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self) -> Option<StreamEvent> {
        self.lock().pop_front()
    }

    fn close(&self, outcome: Outcome) {
        let terminal = match outcome {
            Outcome::Done(message) => StreamEvent::Done { message: Box::new(message) },
            Outcome::Failed { mut partial, error } => {
                partial.stop =
                    if matches!(error, AiError::Cancelled) { StopReason::Aborted } else { StopReason::Error };
                StreamEvent::Error { partial: Box::new(partial), error }
            }
        };
        self.lock().push_back(terminal);
    }
}

#[cfg(test)]
mod tests;
