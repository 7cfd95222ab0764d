//! One command: from what was asked for to how it ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mica_agent::{RunId, ToolError};
use mica_ai::id::CallId;
use mica_policy::shell::ShellGate;
use mica_sandbox::{
    Boundary, Child, Command, Ended, Host, Network, Sandbox, SandboxError, Stream, Tier, Weak,
};
use tokio_util::sync::CancellationToken;

use super::direct::Direct;
use super::{Ground, ShellSettings};
use crate::plain::Plain;
use crate::workspace::Workspace;

/// How long a command has to end by itself when it is stopped: less than a call has that is told to stop, so that what
/// it printed is still told.
const GRACE: Duration = Duration::from_secs(1);

/// The shell that commands are written for.
const BASH: &str = "bash";

/// What every command is told: nobody watches, so no colours, no pagers and no questions.
const VARIABLES: [(&str, &str); 7] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_EDITOR", "false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// A command, checked.
pub(super) struct Job {
    pub(super) command: String,
    pub(super) folder: PathBuf,
    pub(super) hosts: Vec<Host>,
    pub(super) wall: Duration,
    /// Whether it is judged to only look, and where it runs, to do no more than that.
    pub(super) looks: bool,
    pub(super) run: RunId,
    pub(super) call: CallId,
}

impl Job {
    /// Only looking counts where the kernel keeps the command to it. Where nothing does, the judgement may be wrong, and
    /// then there must be a record of what the command changed.
    fn settle(&mut self, tier: Tier) {
        self.looks &= tier != Tier::None;
    }
}

/// The hosts to grant, and a note when some of the settings' cannot be. Those that the call names are what it is for: it
/// fails without them. Those of the settings are for all commands, and most need none.
fn hosts(job: &Job, settings: &ShellSettings, tier: Tier) -> (Vec<Host>, Option<String>) {
    // Everything is reached where nothing is confined.
    if tier == Tier::None {
        return (Vec::new(), None);
    }
    let usual = if job.looks { &[][..] } else { &settings.hosts };
    if tier == Tier::Namespaces || settings.weak == Weak::Accept {
        return (job.hosts.iter().chain(usual).cloned().collect(), None);
    }
    let note = (!usual.is_empty()).then(|| {
        let names: Vec<String> = usual.iter().map(ToString::to_string).collect();
        format!(
            "the hosts of the setting shell.network ({}) could not be granted, because the sandbox reaches only the tier \
             {tier} here; the user can allow it with the setting shell.weak_network",
            names.join(", ")
        )
    });
    (job.hosts.clone(), note)
}

/// A command that runs.
pub(super) struct Started {
    child: Child,
    shell: &'static str,
    note: Option<String>,
}

/// A command that has ended.
pub(super) struct Done {
    pub(super) ended: Ended,
    /// The shell that ran it.
    pub(super) shell: &'static str,
    /// What it was not granted.
    pub(super) note: Option<String>,
    /// Files that it changed, as far as that is known.
    pub(super) changed: Vec<PathBuf>,
}

/// What commands are run with.
pub(super) struct Runner {
    pub(super) workspace: Workspace,
    pub(super) ground: Arc<dyn Ground>,
    pub(super) gate: ShellGate,
    pub(super) settings: ShellSettings,
}

impl Runner {
    /// Starts a command. When that fails, nothing was run, and the journal knows.
    pub(super) async fn start(&self, job: &mut Job, cancel: CancellationToken) -> Result<Started, ToolError> {
        if cancel.is_cancelled() {
            return Err(ToolError::new("The call was stopped before it began. Nothing was run."));
        }
        let sandbox = self.ground.sandbox().await?;
        job.settle(sandbox.tier());
        let (boundary, note) = self.boundary(job, sandbox.tier())?;
        self.begins(job).await?;
        let started = match directly(&sandbox, job, &boundary, &cancel).await {
            Some(started) => started,
            None => match spawn(&sandbox, BASH, job, &boundary, &cancel).await {
                Err(SandboxError::NotFound { .. }) => spawn(&sandbox, "sh", job, &boundary, &cancel).await,
                started => started,
            },
        };
        match started {
            Ok(started) => Ok(Started { note, ..started }),
            Err(error) => {
                self.ended(job).await;
                Err(ToolError::new(format!("{} Nothing was run.", explained(&error, &sandbox))))
            }
        }
    }

    /// The boundary, and a note when it grants less than the settings say.
    fn boundary(&self, job: &Job, tier: Tier) -> Result<(Boundary, Option<String>), ToolError> {
        let mut boundary = self.ground.boundary()?;
        if job.looks {
            boundary = boundary.read_only();
        }
        let (hosts, note) = hosts(job, &self.settings, tier);
        if !hosts.is_empty() {
            boundary.network = Network::Hosts { hosts, weak: self.settings.weak };
        }
        boundary.limits.wall = Some(job.wall);
        boundary.limits.grace = GRACE;
        let variables = VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        boundary.environment.extend(variables);
        Ok((boundary, note))
    }

    /// Hands on what a command prints, until it has ended.
    pub(super) async fn finish(&self, started: Started, job: &Job, mut tell: impl FnMut(&str)) -> Done {
        let Started { mut child, shell, note } = started;
        let (mut output, mut errors) = (Plain::default(), Plain::default());
        let mut say = |text: String| {
            if !text.is_empty() {
                tell(&text);
            }
        };
        while let Some(chunk) = child.next().await {
            say(match chunk.stream {
                Stream::Output => output.push(&chunk.bytes),
                Stream::Errors => errors.push(&chunk.bytes),
            });
        }
        say(output.finish());
        say(errors.finish());
        let ended = child.wait().await;
        Done { ended, shell, note, changed: self.ended(job).await }
    }

    /// Tells the journal, where waiting for a disk is allowed.
    async fn begins(&self, job: &Job) -> Result<(), ToolError> {
        if job.looks {
            return Ok(());
        }
        let (workspace, run, call) = (self.workspace.clone(), job.run.clone(), job.call.clone());
        let telling = tokio::task::spawn_blocking(move || workspace.journal().command_begins(&run, &call));
        let told = telling.await.unwrap_or_else(|error| Err(error.to_string()));
        told.map_err(|reason| {
            ToolError::new(format!(
                "The command was not run, because what it changes could not be recorded: {reason}."
            ))
        })
    }

    async fn ended(&self, job: &Job) -> Vec<PathBuf> {
        if job.looks {
            return Vec::new();
        }
        let (workspace, run, call) = (self.workspace.clone(), job.run.clone(), job.call.clone());
        let telling = tokio::task::spawn_blocking(move || workspace.journal().command_ended(&run, &call));
        telling.await.unwrap_or_else(|error| {
            tracing::error!(%error, "what a command changed could not be recorded");
            Vec::new()
        })
    }
}

/// Starts a program that needs no shell. None when there has to be one, if only to say what is wrong.
async fn directly(
    sandbox: &Sandbox,
    job: &Job,
    boundary: &Boundary,
    cancel: &CancellationToken,
) -> Option<Result<Started, SandboxError>> {
    let folder = job.folder.canonicalize().ok()?;
    let direct = Direct::of(&job.command, &folder, &boundary.environment)?;
    let mut boundary = boundary.clone();
    boundary.environment.extend(direct.variables(&folder));
    let command = Command::new(direct.program, &folder).arguments(direct.arguments);
    match sandbox.spawn(command, &boundary, cancel.clone()).await {
        Ok(child) => Some(Ok(Started { child, shell: BASH, note: None })),
        // It was found outside, and is not there inside. Nothing was run.
        Err(SandboxError::NotFound { .. } | SandboxError::NotRunnable { .. }) => None,
        Err(error) => Some(Err(error)),
    }
}

async fn spawn(
    sandbox: &Sandbox,
    shell: &'static str,
    job: &Job,
    boundary: &Boundary,
    cancel: &CancellationToken,
) -> Result<Started, SandboxError> {
    // What begins with a dash is a command all the same.
    let command = Command::new(shell, &job.folder).arguments(["-c", "--", job.command.as_str()]);
    let child = sandbox.spawn(command, boundary, cancel.clone()).await?;
    Ok(Started { child, shell, note: None })
}

fn explained(error: &SandboxError, sandbox: &Sandbox) -> String {
    match error {
        SandboxError::Grant { .. } => format!(
            "{error} (the sandbox reaches the tier {} here). The user can allow it with the setting \
             shell.weak_network.",
            sandbox.tier()
        ),
        error => error.for_model(),
    }
}

#[cfg(test)]
mod tests;
