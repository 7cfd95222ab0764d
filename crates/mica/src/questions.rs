//! Questions from a run to the person who watches it.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Ask, Decision, Hooks};
use mica_policy::rules::Headless;
use mica_tools::plan;
use tokio::sync::{Semaphore, mpsc, oneshot};

/// A question that waits for its answers.
pub struct Question {
    /// What is asked.
    pub asks: Vec<Ask>,
    /// Where the answers go, one for each.
    pub reply: oneshot::Sender<Vec<Decision>>,
    /// Who waits for them.
    pub asker: Asker,
}

/// Who waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// An agent at work. Once it is stopped, it waits no more.
    Working,
    /// A run that was suspended: it goes on with the answers, and waits on when there are none.
    Suspended,
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

/// Answers for nobody: a run that is not kept cannot go on when somebody comes, so what would be asked is refused.
pub struct Unwatched;

#[async_trait]
impl Hooks for Unwatched {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let plans = |ask: &Ask| [plan::ENTER, plan::EXIT].contains(&ask.call.name.as_str());
        let reason = "nobody watches this run, and it is not kept, so it cannot wait for somebody who agrees. Go on without \
                      it: end with what you would do, and say what is left undone.";
        let answers = Headless.approve(asks).await?;
        let answer = |(ask, answer): (&Ask, Decision)| {
            if plans(ask) { Decision::Refuse { reason: reason.to_owned() } } else { answer }
        };
        Some(asks.iter().zip(answers).map(answer).collect())
    }
}

#[async_trait]
impl Hooks for Questions {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        // Never closed. Given back when the answer is there, or nobody waits for it any more.
        let _turn = self.turn.acquire().await;
        let (reply, answers) = oneshot::channel();
        self.person.send(Question { asks: asks.to_vec(), reply, asker: Asker::Working }).await.ok()?;
        answers.await.ok()
    }
}
