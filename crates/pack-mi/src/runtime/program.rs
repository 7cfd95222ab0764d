//! One program in the sandbox: from what is to be run to how it ended, line by line.
//!
//! Promises: the journal hears of it before and after; all output is in a log; when a call is cut, the program and
//! everything it started is ended all the same, and the journal hears of that, too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mica_agent::{RunId, ToolCx, ToolError};
use mica_ai::id::CallId;
use mica_context::spill::SpillLog;
use mica_sandbox::{
    Boundary, Child, Command, Denial, Ended, Host, Network, Sandbox, SandboxError, Stream, Tier, Weak,
};
use mica_tools::Workspace;
use mica_tools::plain::Plain;
use tokio_util::sync::CancellationToken;

use super::Runtime;

/// What programs are told: nobody watches.
const VARIABLES: [(&str, &str); 2] = [("TERM", "dumb"), ("NO_COLOR", "1")];

/// What is to be run.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
    /// Variables beside those of the boundary. Never shown.
    pub(super) environment: BTreeMap<String, String>,
    /// Folders that it may write beside the project.
    pub(super) writable: Vec<PathBuf>,
    /// Secret files that a person lets it read.
    pub(super) opened: Vec<PathBuf>,
    pub(super) reach: Reach,
    /// How long it may take.
    pub(super) wall: Option<Duration>,
    /// How long it has to end by itself.
    pub(super) grace: Duration,
    /// Whether it is no work on the project: it may not write there, and the journal need not know.
    pub(super) is_server: bool,
}

/// What a program reaches.
#[derive(Debug, Clone)]
pub(super) enum Reach {
    Nothing,
    Hosts(Vec<Host>, Weak),
    /// A server listens, and talks to what it integrates.
    Everything,
}

impl Program {
    pub(super) fn new(program: impl Into<String>, folder: &Path) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.to_owned(),
            environment: BTreeMap::new(),
            writable: Vec::new(),
            opened: Vec::new(),
            reach: Reach::Nothing,
            wall: None,
            // Less than a call has that is told to stop, so that what was printed is still told.
            grace: Duration::from_secs(1),
            is_server: false,
        }
    }
}

/// A program that has ended.
pub(super) struct Ran {
    pub(super) ended: Ended,
    /// Where all that it printed is.
    pub(super) log: Option<PathBuf>,
    /// Files that it changed, as far as that is known.
    pub(super) changed: Vec<PathBuf>,
}

impl Ran {
    /// Hosts that the sandbox did not let it reach.
    pub(super) fn missed_network(&self) -> bool {
        self.ended.denials.iter().any(|denial| matches!(denial, Denial::Network { .. }))
    }
}

/// Why a program was not run.
pub(super) enum NotRun {
    /// There is no such program.
    Missing,
    /// Something else, in words.
    Other(String),
}

impl NotRun {
    pub(super) fn or_missing(self, missing: impl FnOnce() -> String) -> ToolError {
        match self {
            Self::Missing => ToolError::new(missing()),
            Self::Other(words) => ToolError::new(words),
        }
    }
}

/// A program that runs.
pub(super) struct Started {
    child: Child,
    log: Option<SpillLog>,
    /// Whom to tell of the end, and whose it was.
    journal: Option<(Workspace, RunId, CallId)>,
}

impl Runtime {
    /// The boundary of a program.
    fn boundary(&self, program: &Program, tier: Tier) -> Result<Boundary, String> {
        let mut boundary = self.shared.ground.boundary().map_err(|error| error.message)?;
        if program.is_server {
            boundary = boundary.read_only();
        }
        for folder in &program.writable {
            let real = folder.canonicalize().map_err(|error| format!("{}: {error}.", folder.display()))?;
            if let Some(secret) = boundary.hidden.iter().find(|secret| real.starts_with(secret)) {
                return Err(format!(
                    "{} is inside {}, which holds secrets. Nothing was run.",
                    folder.display(),
                    secret.display()
                ));
            }
            boundary.writable.push(real);
        }
        boundary.hidden.retain(|hidden| !program.opened.contains(hidden));
        // Everything is reached where nothing is confined.
        boundary.network = match &program.reach {
            Reach::Everything => Network::Open,
            Reach::Hosts(hosts, weak) if !hosts.is_empty() && tier != Tier::None => {
                Network::Hosts { hosts: hosts.clone(), weak: *weak }
            }
            Reach::Nothing | Reach::Hosts(..) => boundary.network,
        };
        boundary.limits.wall = program.wall;
        boundary.limits.grace = program.grace;
        if program.wall.is_none() {
            boundary.limits.cpu_seconds = None;
        }
        let variables = VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        boundary.environment.extend(variables);
        if let Some(java) = &self.settings().java_home {
            if !java.join("bin/java").is_file() {
                return Err(format!(
                    "There is no Java in {}, which the setting mi.java_home names: there is no bin/java. The user sets it to the \
                     folder of a JDK, or takes it out so that the java on the path is used. Nothing was run.",
                    java.display()
                ));
            }
            boundary.environment.insert("JAVA_HOME".to_owned(), java.display().to_string());
        }
        boundary.environment.extend(program.environment.clone());
        Ok(boundary)
    }

    /// Starts a program. When that fails, nothing was run, and the journal knows.
    pub(super) async fn start(
        &self,
        program: &Program,
        of: &str,
        cx: &ToolCx,
        cancel: CancellationToken,
    ) -> Result<Started, NotRun> {
        if cancel.is_cancelled() {
            return Err(NotRun::Other("The call was stopped before it began. Nothing was run.".to_owned()));
        }
        let sandbox = self.shared.ground.sandbox().await.map_err(|error| NotRun::Other(error.message))?;
        let boundary = self.boundary(program, sandbox.tier()).map_err(NotRun::Other)?;
        let (run, call) = (cx.run.clone(), cx.call.clone());
        if !program.is_server {
            begins(&self.workspace, &run, &call).await?;
        }
        let journal = (!program.is_server).then(|| (self.workspace.clone(), run, call));
        let command =
            Command::new(&program.program, &program.folder).arguments(program.arguments.iter().cloned());
        let child = match sandbox.spawn(command, &boundary, cancel).await {
            Ok(child) => child,
            Err(error) => {
                ended(journal).await;
                return Err(match error {
                    SandboxError::NotFound { .. } => NotRun::Missing,
                    error => NotRun::Other(format!("{} Nothing was run.", explained(&error, &sandbox))),
                });
            }
        };
        let log = match self.shared.logs.begin(of, (self.shared.clock)()) {
            Ok(log) => Some(log),
            Err(error) => {
                tracing::warn!(%error, "output has no log");
                None
            }
        };
        Ok(Started { child, log, journal })
    }

    /// Runs a program to its end. `line` hears every line; what is new is told as progress.
    pub(super) async fn run<L>(
        &self,
        program: Program,
        of: &'static str,
        cx: &ToolCx,
        line: L,
    ) -> Result<(Ran, L), NotRun>
    where
        L: FnMut(&str) + Send + 'static,
    {
        let (runtime, cx) = (self.clone(), cx.clone());
        // A task of its own: a call that is cut leaves it behind, and it still ends the program and tells the journal.
        let working = tokio::spawn(async move {
            let started = runtime.start(&program, of, &cx, cx.cancel.clone()).await?;
            let mut line = line;
            let ran = started
                .finish(|text| {
                    cx.progress(text);
                    text.lines().for_each(&mut line);
                })
                .await;
            Ok((ran, line))
        });
        working.await.unwrap_or_else(|error| Err(NotRun::Other(format!("Running {of} broke: {error}."))))
    }
}

impl Started {
    /// Hands on what it prints, in whole lines, until it has ended.
    pub(super) async fn finish(mut self, mut tell: impl FnMut(&str)) -> Ran {
        let (mut output, mut errors) = (Plain::default(), Plain::default());
        let mut log = self.log.take();
        let mut say = |text: &str| {
            if !text.is_empty() {
                if let Some(log) = &mut log {
                    log.append(text);
                }
                tell(text);
            }
        };
        while let Some(chunk) = self.child.next().await {
            let text = match chunk.stream {
                Stream::Output => output.push(&chunk.bytes),
                Stream::Errors => errors.push(&chunk.bytes),
            };
            say(&text);
        }
        say(&output.finish());
        say(&errors.finish());
        let path = log.map(|log| log.path().to_owned());
        let how = self.child.wait().await;
        let changed = ended(self.journal.take()).await;
        Ran { ended: how, log: path, changed }
    }
}

fn explained(error: &SandboxError, sandbox: &Sandbox) -> String {
    match error {
        SandboxError::Grant { .. } => format!(
            "{error} (the sandbox reaches the tier {} here). Build offline, or the user allows it with the setting \
             shell.weak_network.",
            sandbox.tier()
        ),
        error => error.for_model(),
    }
}

/// Tells the journal, where waiting for a disk is allowed.
async fn begins(workspace: &Workspace, run: &RunId, call: &CallId) -> Result<(), NotRun> {
    let (workspace, run, call) = (workspace.clone(), run.clone(), call.clone());
    let telling = tokio::task::spawn_blocking(move || workspace.journal().command_begins(&run, &call));
    telling.await.unwrap_or_else(|error| Err(error.to_string())).map_err(|reason| {
        NotRun::Other(format!("Nothing was run, because what it changes could not be recorded: {reason}."))
    })
}

async fn ended(journal: Option<(Workspace, RunId, CallId)>) -> Vec<PathBuf> {
    let Some((workspace, run, call)) = journal else { return Vec::new() };
    let telling = tokio::task::spawn_blocking(move || workspace.journal().command_ended(&run, &call));
    telling.await.unwrap_or_else(|error| {
        tracing::error!(%error, "what a program changed could not be recorded");
        Vec::new()
    })
}
