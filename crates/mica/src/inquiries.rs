//! What a running call asks the person who watches: open questions, and the way for answers to get back.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, anyhow};
use async_trait::async_trait;
use mica_tools::person::Answer;
use mica_tools::{Inquiry, Person, Reply};
use tokio::sync::{Notify, oneshot};

/// An inquiry that waits for its answer.
pub struct Posed {
    /// What is asked.
    pub inquiry: Inquiry,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Reply>,
}

/// The inquiries that are open, oldest first. Clones share them.
#[derive(Clone, Default)]
pub struct Inquiries {
    open: Arc<Mutex<Vec<Posed>>>,
    came: Arc<Notify>,
}

impl Inquiries {
    fn open(&self) -> MutexGuard<'_, Vec<Posed>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the oldest one, to be answered by whoever takes it. Waits until there is one.
    pub async fn next(&self) -> Posed {
        loop {
            let came = self.came.notified();
            {
                let mut open = self.open();
                if !open.is_empty() {
                    return open.remove(0);
                }
            }
            came.await;
        }
    }

    /// Those that nobody has taken.
    pub fn list(&self) -> Vec<Inquiry> {
        self.open().iter().map(|posed| posed.inquiry.clone()).collect()
    }

    /// Answers the one that a call asks.
    ///
    /// # Errors
    /// Nothing is asked by that call, or the answers do not fit; then it stays open.
    pub fn answer(&self, call: &str, answers: Vec<Answer>) -> Result<()> {
        self.reply(call, |inquiry| {
            inquiry.check(&answers).map_err(|problem| anyhow!(problem))?;
            Ok(Reply::Answered(answers))
        })
    }

    /// Declines the one that a call asks.
    ///
    /// # Errors
    /// Nothing is asked by that call.
    pub fn decline(&self, call: &str, reason: Option<String>) -> Result<()> {
        self.reply(call, |_| Ok(Reply::Declined { reason }))
    }

    /// Declines all that are open: nobody is there any more.
    pub fn decline_all(&self) {
        for posed in std::mem::take(&mut *self.open()) {
            let _ = posed.reply.send(Reply::Declined { reason: None });
        }
    }

    fn reply(&self, call: &str, reply: impl FnOnce(&Inquiry) -> Result<Reply>) -> Result<()> {
        let mut open = self.open();
        let at = open.iter().position(|posed| posed.inquiry.call.as_str() == call);
        let at = at.with_context(|| format!("the call {call} asks nothing"))?;
        let reply = reply(&open[at].inquiry)?;
        // A run that was stopped meanwhile does not wait for it any more.
        let _ = open.remove(at).reply.send(reply);
        Ok(())
    }
}

/// Withdraws an inquiry that nobody waits for any more.
struct Withdraw<'a>(&'a Inquiries);

impl Drop for Withdraw<'_> {
    fn drop(&mut self) {
        self.0.open().retain(|posed| !posed.reply.is_closed());
    }
}

#[async_trait]
impl Person for Inquiries {
    async fn ask(&self, inquiry: Inquiry) -> Reply {
        let _withdraw = Withdraw(self);
        let (reply, answer) = oneshot::channel();
        self.open().push(Posed { inquiry, reply });
        self.came.notify_one();
        // Whoever took it went away without a word.
        answer.await.unwrap_or(Reply::Declined { reason: None })
    }
}

#[cfg(test)]
mod tests;
