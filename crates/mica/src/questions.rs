//! Questions from a run to the person who watches it.

use async_trait::async_trait;
use mica_agent::{Ask, Decision, Hooks};
use tokio::sync::{mpsc, oneshot};

/// A question that waits for its answers.
pub struct Question {
    /// What is asked.
    pub asks: Vec<Ask>,
    /// Where the answers go, one for each.
    pub reply: oneshot::Sender<Vec<Decision>>,
}

/// Passes questions on. When nobody takes them, the run is suspended.
#[derive(Clone)]
pub struct Questions {
    person: mpsc::Sender<Question>,
}

impl Questions {
    /// A way to ask, and where the questions arrive.
    pub fn new() -> (Self, mpsc::Receiver<Question>) {
        let (person, questions) = mpsc::channel(4);
        (Self { person }, questions)
    }
}

/// Answers for nobody: a run that is not kept cannot wait until somebody comes.
pub struct Unwatched;

#[async_trait]
impl Hooks for Unwatched {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let reason = "nobody watches this run, and it is not kept, so it cannot wait. Go on without it, and say at the end \
                      what is left undone.";
        Some(asks.iter().map(|_| Decision::Refuse { reason: reason.to_owned() }).collect())
    }
}

#[async_trait]
impl Hooks for Questions {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let (reply, answers) = oneshot::channel();
        self.person.send(Question { asks: asks.to_vec(), reply }).await.ok()?;
        answers.await.ok()
    }
}
