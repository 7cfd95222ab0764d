//! Asks again when asking again can help.
//!
//! Only before the model has said anything: from then on the reader has seen output, and a second answer would not
//! be the same. Every attempt is told as an event, and nothing below this adapter repeats a request by itself
//! except for the repairs of [`Remote`](crate::Remote), which are told the same way.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::error::{After, AiError};
use crate::event::{Retry, StreamEvent};
use crate::message::Assistant;
use crate::provider::Provider;
use crate::request::Request;
use crate::stream::{ModelStream, Outcome, Sink};

/// How often and how patiently to ask again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryPolicy {
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// The wait after the first failure, when the provider asked for none. Doubled each time.
    pub base: Duration,
    /// The longest wait. A provider that asks for more is not waited for: the run fails at once and says why.
    pub cap: Duration,
    /// How much a wait of our own varies, as a share of it, so that many clients do not come back together.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 4, base: Duration::from_secs(1), cap: Duration::from_secs(60), jitter: 0.2 }
    }
}

impl RetryPolicy {
    /// How long to wait after attempt number `attempt` (from 1) failed with `error`.
    ///
    /// # Errors
    /// The error to report when there is no next attempt: `error` itself, or [`AiError::WaitTooLong`].
    pub fn wait(&self, attempt: u32, error: AiError, random: f64) -> Result<(Duration, AiError), AiError> {
        let Some(after) = error.retry() else { return Err(error) };
        if attempt >= self.attempts {
            return Err(error);
        }
        match after {
            After::Asked(wait) if wait > self.cap => {
                Err(AiError::WaitTooLong { wait, cap: self.cap, source: Box::new(error) })
            }
            // A little later than asked: the providers' windows do not end to the millisecond.
            After::Asked(wait) => Ok((wait.mul_f64(1.0 + self.jitter * random / 10.0), error)),
            After::Backoff => {
                let doubled = self.base.saturating_mul(1 << (attempt - 1).min(16)).min(self.cap);
                let swing = 1.0 + self.jitter * (2.0 * random - 1.0);
                Ok((doubled.mul_f64(swing).min(self.cap), error))
            }
        }
    }
}

/// A provider that asks again.
#[derive(Debug, Clone)]
pub struct Retrying<P> {
    inner: P,
    policy: RetryPolicy,
}

impl<P> Retrying<P> {
    /// Asks `inner` again as `policy` says.
    pub fn new(inner: P, policy: RetryPolicy) -> Self {
        Self { inner, policy }
    }
}

impl<P: Provider + Clone + 'static> Provider for Retrying<P> {
    fn prepare(&self, request: &Arc<Request>) {
        self.inner.prepare(request);
    }

    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let (provider, policy) = (self.inner.clone(), self.policy);
        ModelStream::new(|sink| async move {
            let mut attempt = 1;
            loop {
                let stream = provider.stream(Arc::clone(&request), cancel.clone());
                let (partial, error) = match relay(stream, &sink).await {
                    Relayed::Ended(outcome) => return outcome,
                    Relayed::Silent(partial, error) => (partial, error),
                };
                match policy.wait(attempt, error, fastrand::f64()) {
                    Err(error) => return Outcome::Failed { partial, error },
                    Ok((wait, error)) => {
                        sink.send(StreamEvent::Retry(Retry {
                            attempt,
                            attempts: policy.attempts,
                            wait,
                            error,
                        }));
                        sink.flush().await;
                        tokio::select! {
                            biased;
                            () = cancel.cancelled() => {
                                return Outcome::Failed { partial, error: AiError::Cancelled };
                            }
                            () = tokio::time::sleep(wait) => attempt += 1,
                        }
                    }
                }
            }
        })
    }
}

enum Relayed {
    /// It ended, and cannot be asked again.
    Ended(Outcome),
    /// It failed before the model said anything.
    Silent(Assistant, AiError),
}

/// Passes a stream's events on, holding back what comes before the first words: it would be told twice.
async fn relay(mut stream: ModelStream, sink: &Sink) -> Relayed {
    let mut held = Vec::new();
    let mut spoken = false;
    while let Some(event) = stream.next().await {
        match event {
            StreamEvent::Done { message } => {
                sink.send_all(&mut held);
                return Relayed::Ended(Outcome::Done(*message));
            }
            StreamEvent::Error { partial, error } if spoken => {
                return Relayed::Ended(Outcome::Failed { partial: *partial, error });
            }
            StreamEvent::Error { partial, error } => return Relayed::Silent(*partial, error),
            StreamEvent::Retry(retry) => sink.send(StreamEvent::Retry(retry)),
            event if !spoken && !event.is_output() => {
                held.push(event);
                continue;
            }
            event => {
                if !spoken {
                    spoken = true;
                    sink.send_all(&mut held);
                }
                sink.send(event);
            }
        }
        sink.flush().await;
    }
    Relayed::Ended(stream.outcome().await)
}

#[cfg(test)]
mod tests;
