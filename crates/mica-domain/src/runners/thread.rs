//! An agent in a thread with somebody outside: one long session for each agent and thread.
//!
//! Promises: whatever is said in the thread is in the session once, in its order and with its role. Every message from
//! outside is answered, also one that comes while another is answered, and none is answered twice, whatever instant a
//! process ends at.
//!
//! How that is kept: who works on a thread holds it, with an end, in one record that also has how far the session is. Who
//! comes while it is held leaves a mark in that record; it can only be let go as it was last seen, so the holder sees the
//! mark and looks again. What is about to be answered is in the record before it is, and a reply has a key that the product
//! remembers.

mod hold;
mod source;

pub(crate) use hold::KIND as POSITION;
pub use hold::{Answering, Position};
pub use source::{By, Reply, Thread, ThreadMessage};

use std::sync::Arc;
use std::time::Duration;

use mica_agent::Outcome;
use tokio_util::sync::CancellationToken;

use crate::autonomy::Autonomy;
use crate::capture::{About, Base, Subject};
use crate::profile::{Audience, Profile, RunMode, Surface};
use crate::records::{RecordError, Records};
use crate::rights::Rights;
use crate::runners::clock::Clock;
use crate::runners::key::key;
use crate::runners::opening::{
    Conversation, Extras, Heard, OpenError, Opening, Opens, SayError, Turned, outcome_name,
};
use hold::{Hold, Holding};

/// How an agent works in threads.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadSetup {
    /// The agent.
    pub agent: String,
    /// What it may do.
    pub rights: Rights,
    /// What happens to calls that a person would be asked about.
    pub autonomy: Autonomy,
    /// What kind of run.
    pub profile: Profile,
    /// How long a thread is held without a sign of life. It is renewed while the agent works.
    pub hold: Duration,
    /// Answers in a row before others get their turn.
    pub answers: u32,
    /// Failures in a row before a message is given up.
    pub tries: u32,
}

impl ThreadSetup {
    /// An agent that talks to customers, on its own: what a person would be asked about is captured.
    pub fn new(agent: impl Into<String>, rights: Rights) -> Self {
        Self {
            agent: agent.into(),
            rights,
            autonomy: Autonomy::all(crate::autonomy::ApprovalMode::Capture),
            profile: Profile {
                mode: RunMode::Autonomous,
                surface: Surface::Thread,
                audience: Audience::Customer,
            },
            hold: Duration::from_secs(60),
            answers: 8,
            tries: 3,
        }
    }
}

/// Messages that were given up which are remembered of a thread.
const GIVEN_UP: usize = 50;

/// What came of looking at a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attended {
    /// Nobody is owed an answer any more.
    Done {
        /// How many were given now.
        answers: u32,
    },
    /// Somebody else works on it. They will see what is new.
    Handed,
    /// A person must decide something first. Look again when they have.
    Waiting,
    /// There is more to answer: look again.
    More,
    /// It failed. Look again later.
    Failed {
        /// What went wrong.
        problem: String,
    },
}

/// Why a thread could not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThreadError {
    /// The records failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The thread could not be read, or a reply not be sent.
    #[error("the thread {thread}: {problem}")]
    Thread {
        /// The thread.
        thread: String,
        /// What is wrong.
        problem: String,
    },
    /// Somebody else took it over, because there was no sign of life for too long.
    #[error("somebody else works on the thread {thread} now")]
    Lost {
        /// The thread.
        thread: String,
    },
}

/// An agent in threads.
#[derive(Clone)]
pub struct ThreadAgent {
    setup: Arc<ThreadSetup>,
    threads: Arc<dyn Thread>,
    opening: Arc<dyn Opening>,
    records: Arc<dyn Records>,
    clock: Clock,
}

impl ThreadAgent {
    /// An agent in threads.
    pub fn new(
        setup: ThreadSetup,
        threads: Arc<dyn Thread>,
        opening: Arc<dyn Opening>,
        records: Arc<dyn Records>,
        clock: Clock,
    ) -> Self {
        Self { setup: Arc::new(setup), threads, opening, records, clock }
    }

    /// The session of a thread.
    pub fn session(&self, thread: &str) -> String {
        key(["thread", &self.setup.agent, thread])
    }

    /// How far a thread is, for people who look.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn position(&self, thread: &str) -> Result<Position, RecordError> {
        Ok(self.hold(thread).read().await?.0)
    }

    /// Answers whatever is to be answered in a thread. Call it whenever something was said there, as often as you like and
    /// from anywhere.
    ///
    /// # Errors
    /// [`ThreadError`]. What was begun goes on with the next call.
    pub async fn attend(&self, thread: &str) -> Result<Attended, ThreadError> {
        let Some(mut holding) = self.hold(thread).take((self.clock)()).await? else {
            return Ok(Attended::Handed);
        };
        let attended = self.attend_held(thread, &mut holding).await;
        match &attended {
            // It has been let go, or belongs to somebody else.
            Ok(Attended::Done { .. }) | Err(ThreadError::Lost { .. }) => {}
            _ => holding.leave().await?,
        }
        attended
    }

    /// Looks at every thread whose holder gave no sign of life in time, or that still has something to do: for the start
    /// of a process, and every now and then.
    ///
    /// # Errors
    /// [`RecordError::Store`].
    pub async fn sweep(&self) -> Result<Vec<(String, Result<Attended, ThreadError>)>, RecordError> {
        let now = (self.clock)();
        let mut swept = Vec::new();
        for position in Position::all(&*self.records).await? {
            if position.agent == self.setup.agent && position.is_left(now) {
                let attended = self.attend(&position.thread).await;
                swept.push((position.thread, attended));
            }
        }
        Ok(swept)
    }

    /// Sweeps every so often, until it is cancelled.
    pub async fn run(&self, every: Duration, cancel: CancellationToken) {
        loop {
            if let Err(error) = self.sweep().await {
                tracing::error!(%error, "the threads cannot be read");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
        }
    }

    fn hold(&self, thread: &str) -> Hold {
        Hold::new(Arc::clone(&self.records), &self.setup.agent, thread, self.setup.hold)
    }

    async fn attend_held(&self, thread: &str, holding: &mut Holding) -> Result<Attended, ThreadError> {
        let opens = Opens {
            session: self.session(thread),
            agent: self.setup.agent.clone(),
            profile: self.setup.profile,
            rights: self.setup.rights.clone(),
            autonomy: self.setup.autonomy.clone(),
        };
        // A thread in which there is nothing to do needs no session.
        let mut session: Option<Arc<dyn Conversation>> = None;
        let mut answers = 0;
        loop {
            let (answering, news) = match &holding.position().answering {
                Some(answering) => (Some(answering.clone()), None),
                None => match self.news(thread, holding).await? {
                    Some(news) => (None, Some(news)),
                    None if holding.let_go((self.clock)()).await? => return Ok(Attended::Done { answers }),
                    None => continue,
                },
            };
            if answers >= self.setup.answers {
                return Ok(Attended::More);
            }
            let open = match &session {
                Some(open) => Arc::clone(open),
                None => {
                    let opened = self.opening.open(&opens, Extras::default());
                    let opened = holding.while_alive(&self.clock, opened).await??;
                    session = Some(Arc::clone(&opened));
                    opened
                }
            };
            let step = match (answering, news) {
                (Some(answering), _) => self.finish(&*open, thread, answering, holding).await?,
                (None, Some(news)) => self.begin(&*open, news, holding).await?,
                (None, None) => continue,
            };
            match step {
                Step::Answered => answers += 1,
                Step::Begun => {}
                Step::Stop(attended) => return Ok(attended),
            }
        }
    }

    /// What is to be answered, and what the session must catch up on before.
    async fn news(&self, thread: &str, holding: &mut Holding) -> Result<Option<source::News>, ThreadError> {
        let after = holding.position().heard.clone();
        let messages = self.threads.messages(thread, after.as_deref());
        let messages = holding.while_alive(&self.clock, messages).await?;
        let messages = messages.map_err(|problem| self.trouble(thread, problem))?;
        Ok(source::news(messages, &self.reply_prefix(thread)))
    }

    /// Catches up, and notes what is answered next. Saying it is the next step, so that a crash comes before or after.
    async fn begin(
        &self,
        session: &dyn Conversation,
        news: source::News,
        holding: &mut Holding,
    ) -> Result<Step, ThreadError> {
        match holding.while_alive(&self.clock, session.recall(news.past)).await? {
            Ok(()) => {}
            Err(error) => return Ok(Step::Stop(stopped(&error))),
        }
        let answering = Answering { message: news.message.id.clone(), text: news.text, tries: 0 };
        holding.change((self.clock)(), |position| position.answering = Some(answering.clone())).await?;
        Ok(Step::Begun)
    }

    /// Answers what was noted, wherever it was left.
    async fn finish(
        &self,
        session: &dyn Conversation,
        thread: &str,
        answering: Answering,
        holding: &mut Holding,
    ) -> Result<Step, ThreadError> {
        let heard = holding.while_alive(&self.clock, session.heard(&answering.message)).await?;
        // Whatever it captures is about this thread, also when it is tried again.
        if matches!(heard, Ok(Heard::No | Heard::Unanswered))
            && self.setup.autonomy.captures()
            && let Err(problem) = session.capturing(self.about(thread, &answering)).await
        {
            return self.failed(answering, problem, holding).await;
        }
        let turned = match heard {
            Err(problem) => return self.failed(answering, problem, holding).await,
            Ok(Heard::Answered { text }) => {
                Ok(Turned { outcome: Outcome::Completed, text, details: Vec::new() })
            }
            Ok(Heard::Unanswered) => {
                if !session.waiting().await.is_empty() {
                    return Ok(Step::Stop(Attended::Waiting));
                }
                holding.while_alive(&self.clock, session.go_on()).await?
            }
            Ok(Heard::No) => holding.while_alive(&self.clock, session.say(answering.said())).await?,
        };
        let turned = match turned {
            Ok(turned) => turned,
            Err(SayError::Failed { problem }) => return self.failed(answering, problem, holding).await,
            Err(error) => return Ok(Step::Stop(stopped(&error))),
        };
        match &turned.outcome {
            Outcome::Completed | Outcome::Exhausted { .. } => {}
            Outcome::Suspended { .. } => return Ok(Step::Stop(Attended::Waiting)),
            Outcome::Failed { error } => return self.failed(answering, error.to_string(), holding).await,
            other @ Outcome::Aborted => {
                return self.failed(answering, outcome_name(other).to_owned(), holding).await;
            }
        }
        let text = turned.text.trim();
        if !text.is_empty() {
            let reply = Reply {
                key: format!("{}{}", self.reply_prefix(thread), key([answering.message.as_str()])),
                text: text.to_owned(),
                to: answering.message.clone(),
            };
            let replied = holding.while_alive(&self.clock, self.threads.reply(thread, &reply)).await?;
            replied.map_err(|problem| self.trouble(thread, problem))?;
        }
        let done = |position: &mut Position| {
            position.heard = Some(answering.message.clone());
            (position.answering, position.problem) = (None, None);
        };
        holding.change((self.clock)(), done).await?;
        Ok(if text.is_empty() { Step::Begun } else { Step::Answered })
    }

    /// It failed: it is tried again, until it is given up. That it was is on record.
    async fn failed(
        &self,
        mut answering: Answering,
        problem: String,
        holding: &mut Holding,
    ) -> Result<Step, ThreadError> {
        answering.tries += 1;
        let given_up = answering.tries >= self.setup.tries;
        let change = |position: &mut Position| {
            position.problem = Some(problem.clone());
            if given_up {
                position.heard = Some(answering.message.clone());
                position.given_up.push(answering.message.clone());
                let old = position.given_up.len().saturating_sub(GIVEN_UP);
                position.given_up.drain(..old);
                position.answering = None;
            } else {
                position.answering = Some(answering.clone());
            }
        };
        holding.change((self.clock)(), change).await?;
        Ok(Step::Stop(Attended::Failed { problem }))
    }

    /// What the calls are about that are captured while a message is answered.
    fn about(&self, thread: &str, answering: &Answering) -> About {
        let agent = &self.setup.agent;
        About {
            bundle: key(["thread", agent, thread, &answering.message]),
            kind: "thread".to_owned(),
            subject: Some(Subject::new("thread", thread)),
            base: Base::default(),
            by: Some(agent.clone()),
            session: Some(self.session(thread)),
        }
    }

    /// What the keys of this agent's replies in a thread begin with.
    fn reply_prefix(&self, thread: &str) -> String {
        format!("{}/", key(["reply", &self.setup.agent, thread]))
    }

    fn trouble(&self, thread: &str, problem: String) -> ThreadError {
        ThreadError::Thread { thread: thread.to_owned(), problem }
    }
}

enum Step {
    /// Something was answered.
    Answered,
    /// Something was done.
    Begun,
    /// No more now.
    Stop(Attended),
}

fn stopped(error: &SayError) -> Attended {
    match error {
        SayError::Waiting => Attended::Waiting,
        other => Attended::Failed { problem: other.to_string() },
    }
}

#[cfg(test)]
mod tests;
