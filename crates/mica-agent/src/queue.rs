//! Messages that arrive while a run goes on: some join before the next model call, some wait for the end.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_ai::{Message, User};

use crate::hooks::Hooks;

/// How much of a queue is taken at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Take {
    /// One message, the oldest: the model answers each.
    #[default]
    One,
    /// All of them: the model answers them together.
    All,
}

/// How many messages a queue holds. A person does not type more; a program that sends more is told so.
pub const LONGEST: usize = 64;

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{LONGEST} messages are waiting already: let the run take some first")]
pub struct Full;

/// The two queues of an agent.
#[derive(Debug, Default)]
pub struct Queues {
    steering: Mutex<VecDeque<User>>,
    follow_up: Mutex<VecDeque<User>>,
    take: Mutex<Take>,
}

impl Queues {
    /// Queues a message that joins before the next model call.
    ///
    /// # Errors
    /// [`Full`].
    pub fn steer(&self, message: User) -> Result<(), Full> {
        push(&self.steering, message)
    }

    /// Queues a message that waits until the run would end.
    ///
    /// # Errors
    /// [`Full`].
    pub fn follow_up(&self, message: User) -> Result<(), Full> {
        push(&self.follow_up, message)
    }

    /// Sets how much is taken at once.
    pub fn set_take(&self, take: Take) {
        *lock(&self.take) = take;
    }

    /// Takes back everything that waits: steering first.
    pub fn take_back(&self) -> Vec<User> {
        let mut all: Vec<User> = lock(&self.steering).drain(..).collect();
        all.extend(lock(&self.follow_up).drain(..));
        all
    }

    /// How many wait: to steer, and to follow.
    pub fn waiting(&self) -> (usize, usize) {
        (lock(&self.steering).len(), lock(&self.follow_up).len())
    }

    fn taken(&self, queue: &Mutex<VecDeque<User>>) -> Vec<Message> {
        let take = *lock(&self.take);
        let mut queue = lock(queue);
        let count = if take == Take::All { queue.len() } else { queue.len().min(1) };
        queue.drain(..count).map(Message::from).collect()
    }
}

#[async_trait]
impl Hooks for Queues {
    async fn steering(&self) -> Vec<Message> {
        self.taken(&self.steering)
    }

    async fn follow_up(&self) -> Vec<Message> {
        self.taken(&self.follow_up)
    }
}

fn push(queue: &Mutex<VecDeque<User>>, message: User) -> Result<(), Full> {
    let mut queue = lock(queue);
    if queue.len() >= LONGEST {
        return Err(Full);
    }
    queue.push_back(message);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
