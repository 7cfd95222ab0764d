//! `shell`: runs a command in the sandbox, in the foreground with an end or in the background with an id.
//!
//! Promises: what is judged to only look runs with nothing writable, so that the kernel proves it, and counts as any other
//! command where no kernel does; a result says how the command ended, in words; both ends of the output are in it and all
//! of it is in a log; when the call is over, nothing that a foreground command started is running; and the journal hears
//! of every command that may write, before and after.
//!
//! Whether a command may run is decided before the call, by the gate.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::typed::schema_of;
use mica_agent::{Access, Approval, Args, Effect, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_policy::shell::ShellGate;
use mica_sandbox::{Host, Weak};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::arguments::read;
use crate::file_use::FileUse;
use crate::tasks::{Ending, TaskKind, Tasks};
use crate::workspace::Workspace;

mod direct;
mod ground;
mod run;
mod words;

pub use ground::Ground;

use run::{Job, Runner};

/// The name models call it by.
pub const NAME: &str = "shell";
/// The argument that holds the command.
pub const COMMAND: &str = "command";
/// The argument that holds the working folder.
pub const FOLDER: &str = "cwd";
/// The argument that holds the hosts.
pub const NETWORK: &str = "network";

/// What to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShellArgs {
    /// The command, as bash reads it.
    command: String,
    /// What it does, in five to ten words, for the person who watches.
    description: Option<String>,
    /// Seconds after which it is stopped.
    timeout_seconds: Option<u64>,
    /// Run it as a task that goes on while you work: servers, watchers, long builds.
    background: Option<bool>,
    /// The folder to run in, relative to the workspace. The workspace itself if left out.
    cwd: Option<String>,
    /// Hosts to reach, such as example.org or *.example.org. There is no network without; the user is asked about it.
    network: Option<Vec<String>>,
}

/// How long commands may take, and what they can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSettings {
    /// The time of a command that asks for none.
    pub timeout: Duration,
    /// The most it can ask for.
    pub longest: Duration,
    /// The time of a command in the background.
    pub background: Duration,
    /// Hosts that every command reaches that may write.
    pub hosts: Vec<Host>,
    /// What to do about hosts where the kernel can only check ports.
    pub weak: Weak,
}

impl Default for ShellSettings {
    /// Two minutes, ten at most: what a person waits for. In the background four hours: a working session, and an end.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(120),
            longest: Duration::from_secs(600),
            background: Duration::from_secs(4 * 3600),
            hosts: Vec::new(),
            weak: Weak::Refuse,
        }
    }
}

/// Runs commands.
pub struct Shell {
    spec: ToolSpec,
    runner: Arc<Runner>,
    tasks: Tasks,
}

impl Shell {
    /// A tool that runs commands in a workspace. `gate` is the one that judges its calls.
    pub fn new(
        workspace: &Workspace,
        ground: Arc<dyn Ground>,
        gate: ShellGate,
        tasks: &Tasks,
        settings: ShellSettings,
    ) -> Self {
        let description = format!(
            "Runs a command with bash in the project, inside a sandbox: it writes the project and $TMPDIR (private, gone \
             afterwards), reads the rest but no secrets, has no network unless `network` names hosts, no terminal and no \
             input. For builds, tests, version control and programs of the project; each call is a fresh shell, so use \
             `cwd` or `cd` in the command itself. Stopped after {} seconds unless timeout_seconds says otherwise (at most \
             {}). When a command ends, everything it left running is ended too: servers and other long work need \
             background: true, which answers at once with an id for `{}` and `{}`. A long output is shown from both \
             ends, with the path of a file that has all of it: no need to cut it with head or tail. Some commands are \
             asked about first, and some never run: then do not look for a way around.",
            settings.timeout.as_secs(),
            settings.longest.as_secs(),
            crate::task_output::NAME,
            crate::kill_task::NAME,
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ShellArgs>());
        spec.label = "Run command".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Unsafe;
        spec.approval = Approval::Needed;
        // The command has its own time; this is for what is around it.
        spec.deadline = settings.longest + Duration::from_secs(60);
        let runner = Runner { workspace: workspace.clone(), ground, gate, settings };
        Self { spec, runner: Arc::new(runner), tasks: tasks.clone() }
    }

    /// What was asked for, checked. With it, a note when something was asked for that there is not.
    fn job(&self, args: &ShellArgs, cx: &ToolCx) -> Result<(Job, Option<String>), ToolError> {
        let settings = &self.runner.settings;
        if args.command.trim().is_empty() {
            return Err(ToolError::new("There is no command in it. Nothing was run."));
        }
        if args.command.contains('\0') {
            return Err(ToolError::new(
                "The command has a NUL in it, which no shell can read. Nothing was run.",
            ));
        }
        let folder: PathBuf = match &args.cwd {
            None => self.runner.workspace.root().to_owned(),
            Some(cwd) => self.runner.workspace.existing(cwd)?.path(),
        };
        if !folder.starts_with(self.runner.workspace.root()) || !folder.is_dir() {
            let shown = args.cwd.as_deref().unwrap_or_default();
            return Err(ToolError::new(format!(
                "{shown:?} is no folder of the workspace, and commands run inside it. Nothing was run."
            )));
        }
        let mut hosts = Vec::new();
        for text in args.network.iter().flatten() {
            let host: Host = text.parse().map_err(|error: mica_sandbox::SandboxError| {
                ToolError::new(format!("{} Nothing was run.", error.for_model()))
            })?;
            hosts.push(host);
        }
        let (usual, most) = match args.background {
            Some(true) => (settings.background, settings.background),
            _ => (settings.timeout, settings.longest),
        };
        let wanted = args.timeout_seconds.map_or(usual, |seconds| Duration::from_secs(seconds.max(1)));
        let note = (wanted > most)
            .then(|| format!("timeout_seconds was {}; {} is the most.", wanted.as_secs(), most.as_secs()));
        let command = args.command.clone();
        let looks = self.runner.gate.only_looks(&command, &folder.display().to_string());
        let (run, call) = (cx.run.clone(), cx.call.clone());
        Ok((Job { command, folder, hosts, wall: wanted.min(most), looks, run, call }, note))
    }

    /// Runs a command to its end.
    async fn foreground(&self, job: Job, note: Option<String>, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let (runner, cx) = (Arc::clone(&self.runner), cx.clone());
        let transcript = self.tasks.transcript(NAME);
        // A task of its own: a call that is cut leaves it behind, and it still ends the command and tells the journal.
        let working = tokio::spawn(async move {
            let mut transcript = transcript;
            let mut job = job;
            let started = runner.start(&mut job, cx.cancel.clone()).await?;
            let done = runner
                .finish(started, &job, |text| {
                    transcript.append(text);
                    cx.progress(text);
                })
                .await;
            Ok::<_, ToolError>((job, done, transcript))
        });
        let (job, done, transcript) = working
            .await
            .unwrap_or_else(|error| Err(ToolError::new(format!("Running the command broke: {error}."))))?;
        let part = transcript.since(0);
        let rest = if part.left_out > 0 { transcript.rest() } else { String::new() };
        let settings = &self.runner.settings;
        let mut lines = vec![part.text.trim_end_matches('\n').to_owned()];
        if transcript.total() == 0 {
            lines = vec!["[it printed nothing]".to_owned()];
        }
        lines.extend(Some(rest).filter(|rest| !rest.is_empty()).map(|rest| format!("[{rest}]")));
        lines.extend(words::notes(&done, &job, settings).into_iter().map(|line| format!("[{line}]")));
        lines.extend(note.map(|note| format!("[{note}]")));
        let mut details = words::details(&done, &job);
        if let Some(log) = transcript.log() {
            details["log"] = json!(log);
        }
        FileUse { read: Vec::new(), changed: done.changed }.tell(&mut details);
        Ok(ToolOutput::text(lines.join("\n")).with_details(details))
    }

    /// Starts a command and leaves it running.
    async fn background(&self, job: Job, title: &str, note: Option<String>) -> Result<ToolOutput, ToolError> {
        let cancel = CancellationToken::new();
        let feed = self.tasks.begin(TaskKind::SHELL, title, cancel.clone())?;
        let id = feed.id().clone();
        let (tell, told) = tokio::sync::oneshot::channel();
        let (runner, settings) = (Arc::clone(&self.runner), self.runner.settings.clone());
        let wall = job.wall;
        tokio::spawn(async move {
            let mut job = job;
            let started = match runner.start(&mut job, cancel).await {
                Ok(started) => started,
                Err(error) => {
                    feed.end(Ending::Failed("could not be started".to_owned()));
                    let _ = tell.send(Err(error));
                    return;
                }
            };
            let _ = tell.send(Ok(()));
            let done = runner.finish(started, &job, |text| feed.append(text)).await;
            for note in words::remarks(&done, &job, &settings) {
                feed.append(&format!("[{note}]\n"));
            }
            feed.changed(done.changed.clone());
            feed.end(words::ending(&done));
        });
        told.await.unwrap_or_else(|_| Err(ToolError::new("Starting the command broke. Nothing was run.")))?;
        let mut text = format!(
            "It runs in the background as {id}, for {} s at most. Its output: `{}` with id {id}; to stop it: `{}`.",
            wall.as_secs(),
            crate::task_output::NAME,
            crate::kill_task::NAME
        );
        if let Some(note) = note {
            text = format!("{text}\n[{note}]");
        }
        Ok(ToolOutput::text(text).with_details(json!({ "task": { "id": id } })))
    }
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: ShellArgs = read(args)?;
        let (job, note) = self.job(&args, cx)?;
        if args.background == Some(true) {
            let title = words::title(args.description.as_deref(), &args.command);
            self.background(job, &title, note).await
        } else {
            self.foreground(job, note, cx).await
        }
    }
}
