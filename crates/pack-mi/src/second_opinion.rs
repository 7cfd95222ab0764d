//! A second opinion: what another language server says about a file, beside what is found here.
//!
//! The server is a program that the user configured. It is started when it is first asked, in the sandbox and with nothing
//! writable, and spoken to over its pipes.
//!
//! Promises: no question takes longer than its deadline, whatever the server does; a server that breaks is started again a
//! few times and then left alone; what it says is bounded, and marked as its word.

mod frames;
mod merge;
mod session;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use mica_tools::Ground;
use serde::Serialize;
use synapse_lang::diagnostic::{Diagnostic, Severity};
use synapse_lang::text::{Lines, Unit};
use tokio::sync::{mpsc, oneshot};

pub use merge::{Ours, merged};

use crate::checking::Checked;

/// Questions that wait for the server. A full queue means that it is stuck, and the question is answered with that.
const QUEUE: usize = 8;
/// Bytes of a file that are sent.
const LARGEST: usize = 2 << 20;
/// Files that are asked about after a write.
const ASKED: usize = 10;
/// Findings that are told of each.
const TOLD: usize = 10;

/// The server that is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageServer {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it is called in results.
    pub name: String,
    /// What it calls the language of files.
    pub language: String,
    /// How long a question may take.
    pub deadline: Duration,
    /// How often it is started again.
    pub restarts: u32,
}

impl LanguageServer {
    /// A server with usual limits: three seconds are what a person waits after a write, and a server that broke four times
    /// will break again.
    pub fn new(command: Vec<String>) -> Self {
        let program = command.first().map(String::as_str).unwrap_or_default();
        let name =
            Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or("server").to_owned();
        Self { command, name, language: "xml".to_owned(), deadline: Duration::from_secs(3), restarts: 3 }
    }
}

/// Something that another server found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Foreign {
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// How bad it is.
    #[serde(serialize_with = "word")]
    pub severity: Severity,
    /// What it says.
    pub message: String,
    /// Its name there.
    pub code: Option<String>,
    /// Who says it.
    pub source: String,
}

fn word<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(severity.word())
}

impl std::fmt::Display for Foreign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
        write!(
            f,
            "{}:{}: {}: {} [{}{code}]",
            self.line,
            self.column,
            self.severity.word(),
            self.message,
            self.source
        )
    }
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// What was found.
    Found(Vec<Foreign>),
    /// No answer in time. The server may answer the next question.
    Late,
    /// There is no answer, and why.
    None(String),
}

impl Opinion {
    /// What was found, if anything.
    pub fn findings(&self) -> &[Foreign] {
        match self {
            Self::Found(findings) => findings,
            Self::Late | Self::None(_) => &[],
        }
    }
}

/// A question for the server.
struct Question {
    path: PathBuf,
    text: String,
    answer: oneshot::Sender<Opinion>,
}

/// Another language server. Cheap to clone; it ends with the last clone.
#[derive(Clone)]
pub struct SecondOpinion {
    shared: Arc<Shared>,
}

struct Shared {
    server: LanguageServer,
    ground: Arc<dyn Ground>,
    root: PathBuf,
    /// To the task that speaks with it, once somebody asked.
    questions: OnceLock<mpsc::Sender<Question>>,
    /// What went wrong, once somebody was told.
    told: Mutex<Option<String>>,
}

impl SecondOpinion {
    /// A server for the files of a folder. Nothing is started yet.
    pub fn new(server: LanguageServer, ground: Arc<dyn Ground>, root: &Path) -> Self {
        let shared = Shared {
            server,
            ground,
            root: root.to_owned(),
            questions: OnceLock::new(),
            told: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// What the server is called.
    pub fn name(&self) -> &str {
        &self.shared.server.name
    }

    fn questions(&self) -> &mpsc::Sender<Question> {
        let Shared { server, ground, root, questions, .. } = &*self.shared;
        questions.get_or_init(|| {
            let (questions, asked) = mpsc::channel(QUEUE);
            tokio::spawn(session::serve(server.clone(), Arc::clone(ground), root.clone(), asked));
            questions
        })
    }

    /// What the server says about files that were checked and that was not said of them: as the model reads it.
    pub async fn about(&self, checked: &[Checked]) -> Option<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut trouble = None;
        // All of them together have the time of one: who writes waits.
        let until = tokio::time::Instant::now() + self.shared.server.deadline;
        for file in checked.iter().take(ASKED) {
            let asking = self.diagnostics(&file.path, &file.text);
            let Ok(opinion) = tokio::time::timeout_at(until, asking).await else { break };
            if let Opinion::None(why) = &opinion {
                trouble = self.untold(why);
            }
            let places = Lines::of(&file.text);
            let line = |one: &Diagnostic| places.position(&file.text, one.span.start, Unit::Scalar).line + 1;
            let ours: Vec<Ours<'_>> =
                file.found.iter().map(|one| Ours { line: line(one), message: &one.message }).collect();
            for one in merged(&ours, opinion.findings()).iter().take(TOLD) {
                lines.push(format!("  {}:{one}", file.shown));
            }
        }
        let said = (!lines.is_empty()).then(|| format!("{} also says:\n{}", self.name(), lines.join("\n")));
        let trouble = trouble.map(|why| format!("[No second opinion: {why}.]"));
        let all: Vec<String> = said.into_iter().chain(trouble).collect();
        (!all.is_empty()).then(|| all.join("\n"))
    }

    /// A reason that nobody was told yet: a server that is not there is news once, and not with every write.
    fn untold(&self, why: &str) -> Option<String> {
        let mut told = self.shared.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_deref() == Some(why) {
            return None;
        }
        *told = Some(why.to_owned());
        Some(why.trim_end_matches('.').to_owned())
    }

    /// What the server says about a text, as if it were in this file. Takes its deadline at most.
    pub async fn diagnostics(&self, path: &Path, text: &str) -> Opinion {
        if text.len() > LARGEST {
            return Opinion::None("the file is too large to be sent".to_owned());
        }
        let (answer, answered) = oneshot::channel();
        let question = Question { path: path.to_owned(), text: text.to_owned(), answer };
        let asking = async {
            if self.questions().send(question).await.is_err() {
                return Opinion::None("the server is gone".to_owned());
            }
            answered.await.unwrap_or_else(|_| Opinion::None("the server is gone".to_owned()))
        };
        tokio::time::timeout(self.shared.server.deadline, asking).await.unwrap_or(Opinion::Late)
    }
}
