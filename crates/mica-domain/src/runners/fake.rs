//! A product for tests: sessions in memory, with a point before and after everything that can be seen from outside, where a
//! test can end the process or let something happen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::{Ask, Outcome};
use tokio::sync::Notify;

use crate::capture::About;
use crate::records::testing::{Passing, Points};
use crate::runners::opening::{
    Conversation, Extras, Heard, OpenError, Opening, Opens, Past, Said, SayError, Turned,
};

/// Points that are passed one after the other.
#[derive(Default)]
pub(crate) struct Steps {
    passed: AtomicUsize,
    /// Where the process ends.
    stop: Option<usize>,
    stopped: Notify,
    happens: Mutex<Option<Happens>>,
}

type Happens = Box<dyn FnMut(usize) + Send>;

impl Steps {
    pub(crate) fn stopping(at: usize) -> Arc<Self> {
        Arc::new(Self { stop: Some(at), ..Self::default() })
    }

    /// Something happens at points.
    pub(crate) fn when(self: &Arc<Self>, happens: impl FnMut(usize) + Send + 'static) {
        *self.happens.lock().unwrap() = Some(Box::new(happens));
    }

    pub(crate) async fn step(&self) {
        let at = self.passed.fetch_add(1, Ordering::SeqCst);
        if let Some(happens) = self.happens.lock().unwrap().as_mut() {
            happens(at);
        }
        if self.stop == Some(at) {
            self.stopped.notify_one();
            std::future::pending::<()>().await;
        }
        tokio::task::yield_now().await;
    }

    /// Runs something until its end, or until the process ends. Answers whether it came to its end.
    pub(crate) async fn run(self: &Arc<Self>, work: impl Future<Output = ()>) -> bool {
        tokio::select! {
            biased;
            () = self.stopped.notified() => false,
            () = work => true,
        }
    }
}

/// Records with points.
pub(crate) type Stepped = Passing<Steps>;

#[async_trait]
impl Points for Steps {
    async fn looks(&self) {
        self.step().await;
    }

    async fn writes(&self) {
        self.step().await;
    }
}

/// A line of a conversation: who, what, and its name.
pub(crate) type Line = (&'static str, String, Option<String>);

/// What is kept of a session.
#[derive(Default)]
pub(crate) struct Kept_ {
    pub(crate) lines: Vec<Line>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) gone: bool,
    pub(crate) opens: Option<Opens>,
    running: bool,
}

/// What the model says to the lines it is shown.
pub(crate) type Answers = Arc<dyn Fn(&[Line]) -> Turned + Send + Sync>;

/// Sessions in memory.
#[derive(Clone)]
pub(crate) struct Fake {
    pub(crate) sessions: Arc<Mutex<BTreeMap<String, Arc<Mutex<Kept_>>>>>,
    pub(crate) steps: Arc<Steps>,
    pub(crate) answers: Answers,
}

impl Fake {
    /// Sessions whose model says `ok` and how many it was told since it last spoke.
    pub(crate) fn new() -> Self {
        let answers = |lines: &[Line]| {
            let told = lines.iter().rev().take_while(|(by, ..)| *by == "user").count();
            completed(&format!("ok {told}"))
        };
        Self { sessions: Arc::default(), steps: Arc::default(), answers: Arc::new(answers) }
    }

    pub(crate) fn answering(mut self, answers: impl Fn(&[Line]) -> Turned + Send + Sync + 'static) -> Self {
        self.answers = Arc::new(answers);
        self
    }

    /// The same sessions, in a process with other points.
    pub(crate) fn stepped(&self, steps: &Arc<Steps>) -> Self {
        Self { steps: Arc::clone(steps), ..self.clone() }
    }

    pub(crate) fn session(&self, key: &str) -> Arc<Mutex<Kept_>> {
        Arc::clone(self.sessions.lock().unwrap().entry(key.to_owned()).or_default())
    }

    pub(crate) fn lines(&self, key: &str) -> Vec<Line> {
        self.session(key).lock().unwrap().lines.clone()
    }

    fn at(&self, key: &str) -> Arc<dyn Conversation> {
        Arc::new(Talk {
            kept: self.session(key),
            steps: Arc::clone(&self.steps),
            answers: Arc::clone(&self.answers),
        })
    }
}

pub(crate) fn completed(text: &str) -> Turned {
    Turned { outcome: Outcome::Completed, text: text.to_owned(), details: Vec::new() }
}

#[async_trait]
impl Opening for Fake {
    async fn open(&self, opens: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        self.steps.step().await;
        self.session(&opens.session).lock().unwrap().opens = Some(opens.clone());
        Ok(self.at(&opens.session))
    }

    async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        self.steps.step().await;
        if self.session(session).lock().unwrap().gone {
            return Err(OpenError::Gone { session: session.to_owned(), reason: "deleted".to_owned() });
        }
        Ok(self.at(session))
    }
}

struct Talk {
    kept: Arc<Mutex<Kept_>>,
    steps: Arc<Steps>,
    answers: Answers,
}

/// A run that is dropped ends with its process.
struct Running(Arc<Mutex<Kept_>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.lock().unwrap().running = false;
    }
}

impl Talk {
    fn begin(&self) -> Result<Running, SayError> {
        let mut kept = self.kept.lock().unwrap();
        if kept.running {
            return Err(SayError::Busy);
        }
        if !kept.asks.is_empty() {
            return Err(SayError::Waiting);
        }
        kept.running = true;
        Ok(Running(Arc::clone(&self.kept)))
    }

    async fn answer(&self) -> Turned {
        self.steps.step().await;
        let turned = (self.answers)(&self.kept.lock().unwrap().lines.clone());
        if matches!(turned.outcome, Outcome::Completed | Outcome::Exhausted { .. }) {
            self.kept.lock().unwrap().lines.push(("assistant", turned.text.clone(), None));
        }
        self.steps.step().await;
        turned
    }
}

#[async_trait]
impl Conversation for Talk {
    async fn heard(&self, source: &str) -> Result<Heard, String> {
        self.steps.step().await;
        let kept = self.kept.lock().unwrap();
        let Some(at) = kept.lines.iter().position(|(.., name)| name.as_deref() == Some(source)) else {
            return Ok(Heard::No);
        };
        let answer = kept.lines.iter().skip(at).find(|(by, ..)| *by == "assistant");
        Ok(answer.map_or(Heard::Unanswered, |(_, text, _)| Heard::Answered { text: text.clone() }))
    }

    async fn waiting(&self) -> Vec<Ask> {
        self.steps.step().await;
        self.kept.lock().unwrap().asks.clone()
    }

    async fn recall(&self, past: Vec<Past>) -> Result<(), SayError> {
        let _running = self.begin()?;
        for past in past {
            self.steps.step().await;
            let mut kept = self.kept.lock().unwrap();
            if kept.lines.iter().any(|(.., name)| name.as_deref() == Some(past.source())) {
                continue;
            }
            kept.lines.push(match past {
                Past::User { text, source } => ("user", text, Some(source)),
                Past::Assistant { text, source } => ("assistant", text, Some(source)),
            });
        }
        Ok(())
    }

    async fn say(&self, said: Said) -> Result<Turned, SayError> {
        let _running = self.begin()?;
        self.steps.step().await;
        {
            let mut kept = self.kept.lock().unwrap();
            if said.source.is_some() && kept.lines.iter().any(|(.., name)| *name == said.source) {
                return Err(SayError::Heard { source_name: said.source.unwrap_or_default() });
            }
            kept.lines.push(("user", said.text, said.source));
        }
        Ok(self.answer().await)
    }

    async fn go_on(&self) -> Result<Turned, SayError> {
        let _running = self.begin()?;
        Ok(self.answer().await)
    }

    async fn capturing(&self, _: About) -> Result<(), String> {
        self.steps.step().await;
        Ok(())
    }
}

/// A time.
pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}
