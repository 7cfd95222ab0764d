//! Questions from a run to the person who watches it.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Ask, Decision, Hooks};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// A question that waits for its answers.
pub struct Question {
    /// What is asked.
    pub asks: Vec<Ask>,
    /// Where the answers go, one for each.
    pub reply: oneshot::Sender<Vec<Decision>>,
}

/// Passes questions on, one after the other: a person answers one at a time, and several agents may ask. When nobody takes
/// them, the run is suspended.
#[derive(Clone)]
pub struct Questions {
    person: mpsc::Sender<Question>,
    turn: Arc<Semaphore>,
}

impl Questions {
    /// A way to ask, and where the questions arrive.
    pub fn new() -> (Self, mpsc::Receiver<Question>) {
        let (person, questions) = mpsc::channel(4);
        (Self { person, turn: Arc::new(Semaphore::new(1)) }, questions)
    }
}

#[async_trait]
impl Hooks for Questions {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        // Never closed. Given back when the answer is there, or nobody waits for it any more.
        let _turn = self.turn.acquire().await;
        let (reply, answers) = oneshot::channel();
        self.person.send(Question { asks: asks.to_vec(), reply }).await.ok()?;
        answers.await.ok()
    }
}
