//! Runs hooks in the sandbox of this machine.
//!
//! A hook may do what a command of the agent may: write the project, read the rest but no secrets, with a cleaned
//! environment and no network, except for hosts that the user's own file names. It has a deadline, and when it is over,
//! nothing that it started is running.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_ext::hooks::scripts::PROJECT;
use mica_ext::hooks::{End, Exec, Invocation, Owner, Ran, Runner};
use mica_sandbox::{
    Boundary, Child, Command, Host, How, Limit, Network, Sandbox, SandboxError, Stream, Tier, Weak,
};
use mica_tools::{Ground, Redaction};
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::Watched;
use crate::config::Values;
use crate::surroundings::Surroundings;

/// Bytes of an answer that are kept. One that is longer is none.
const OUTPUT: usize = 1 << 20;
/// Bytes of what is printed as errors: its beginning.
const ERRORS: usize = 64 << 10;
/// How long a hook has to end when it is told to.
const GRACE: Duration = Duration::from_millis(500);

/// What every hook is told besides: nobody watches.
const VARIABLES: [(&str, &str); 6] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // What is made of a script beside it would be taken for a change of what is trusted.
    ("PYTHONDONTWRITEBYTECODE", "1"),
];

/// Runs hooks in the sandbox.
pub struct Sandboxed {
    ground: Arc<dyn Ground>,
    project: PathBuf,
    /// The user's scripts, which stay readable where the folder around them is not.
    scripts: PathBuf,
    weak: Weak,
    watched: Arc<Vec<Watched>>,
    redaction: Redaction,
}

impl Sandboxed {
    /// In the sandbox of the agent's commands.
    pub fn new(
        ground: Arc<dyn Ground>,
        surroundings: &Surroundings,
        values: &Values,
        watched: Vec<Watched>,
    ) -> Self {
        Self {
            ground,
            project: surroundings.folder.clone(),
            scripts: surroundings.config.join("hooks"),
            weak: if values.shell.weak_network == Some(true) { Weak::Accept } else { Weak::Refuse },
            watched: Arc::new(watched),
            redaction: Redaction::new(&surroundings.folder),
        }
    }

    /// What of a project's hooks is not what was trusted.
    async fn changed(&self, invocation: &Invocation) -> Option<String> {
        if invocation.owner == Owner::User {
            return None;
        }
        let (watched, place) = (Arc::clone(&self.watched), invocation.place.clone());
        let looking = move || {
            let of_it = watched.iter().find(|one| one.is_about(&place));
            of_it.map_or_else(|| Some("nobody trusts it".to_owned()), Watched::changed)
        };
        tokio::task::spawn_blocking(looking).await.unwrap_or_else(|error| Some(error.to_string()))
    }

    fn boundary(&self, invocation: &Invocation, tier: Tier) -> Result<Boundary, String> {
        let mut boundary = self.ground.boundary().map_err(|error| error.message)?;
        boundary.limits.wall = Some(invocation.timeout);
        boundary.limits.grace = GRACE;
        let root = self.project.display().to_string();
        let given = VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let project = PROJECT.iter().map(|name| ((*name).to_owned(), root.clone()));
        boundary.environment.extend(given.chain(project).chain(invocation.env.clone()));
        if self.scripts.is_dir() {
            boundary.readable.push(self.scripts.clone());
        }
        // Everything is reached where nothing is confined.
        if !invocation.network.is_empty() && tier != Tier::None {
            let hosts: Result<Vec<Host>, SandboxError> =
                invocation.network.iter().map(|host| host.parse()).collect();
            let hosts = hosts.map_err(|error| error.to_string())?;
            boundary.network = Network::Hosts { hosts, weak: self.weak };
        }
        Ok(boundary)
    }

    fn folder(&self, invocation: &Invocation) -> Result<PathBuf, String> {
        let Some(cwd) = &invocation.cwd else { return Ok(self.project.clone()) };
        let folder = self.project.join(cwd).canonicalize();
        folder
            .ok()
            .filter(|folder| folder.starts_with(&self.project) && folder.is_dir())
            .ok_or_else(|| format!("its folder {cwd:?} is not in the project"))
    }

    async fn start(&self, invocation: &Invocation) -> Result<Child, String> {
        if let Some(changed) = self.changed(invocation).await {
            return Err(changed);
        }
        let sandbox = self.ground.sandbox().await.map_err(|error| error.message)?;
        let boundary = self.boundary(invocation, sandbox.tier())?;
        let folder = self.folder(invocation)?;
        let spawn = |command: Command| spawn(&sandbox, command.with_input(), &boundary);
        let started = match &invocation.exec {
            Exec::Program(words) => {
                // No shell puts variables in, so the one for the project is put in here.
                let root = self.project.display().to_string();
                let put_in = |word: &String| {
                    PROJECT
                        .iter()
                        .fold(word.clone(), |word, name| word.replace(&format!("${{{name}}}"), &root))
                };
                let words: Vec<String> = words.iter().map(put_in).collect();
                let (program, arguments) = words.split_first().ok_or("there is no program in it")?;
                spawn(Command::new(program, &folder).arguments(arguments.iter().cloned())).await
            }
            // What begins with a dash is a command all the same. No profile is read: what one prints is no answer.
            Exec::Shell(line) => {
                let shell = |name: &str| Command::new(name, &folder).arguments(["-c", "--", line.as_str()]);
                match spawn(shell("bash")).await {
                    Err(SandboxError::NotFound { .. }) => spawn(shell("sh")).await,
                    started => started,
                }
            }
        };
        started.map_err(|error| error.to_string())
    }
}

async fn spawn(sandbox: &Sandbox, command: Command, boundary: &Boundary) -> Result<Child, SandboxError> {
    sandbox.spawn(command, boundary, CancellationToken::new()).await
}

#[async_trait]
impl Runner for Sandboxed {
    async fn run(&self, invocation: Invocation) -> Ran {
        let mut child = match self.start(&invocation).await {
            Ok(child) => child,
            Err(reason) => return Ran::not(reason),
        };
        let mut input = child.take_input();
        let writing = async {
            if let Some(input) = &mut input {
                // One that does not read what it is told is free to.
                let _ = input.write_all(invocation.stdin.as_bytes()).await;
            }
            drop(input.take());
            std::future::pending::<()>().await;
        };
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut is_cut = false;
        let reading = async {
            while let Some(chunk) = child.next().await {
                match chunk.stream {
                    Stream::Output => is_cut |= keep(&mut stdout, &chunk.bytes, OUTPUT),
                    Stream::Errors => {
                        keep(&mut stderr, &chunk.bytes, ERRORS);
                    }
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = writing => {}
        }
        let end = match child.wait().await.how {
            How::Exited(code) => End::Exited(code),
            How::Signalled(signal) => End::Signalled(signal),
            How::Limit(Limit::Wall) => End::TimedOut,
            How::Cancelled => End::Cancelled,
            how @ (How::Limit(_) | How::Lost) => End::Limited(format!("it {how}")),
        };
        Ran { end, stdout, is_cut, stderr }
    }

    async fn clean(&self, text: String) -> String {
        self.redaction.clean(text).await
    }
}

/// Keeps the beginning. Answers whether there was more.
fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) -> bool {
    let room = most.saturating_sub(kept.len()).min(bytes.len());
    kept.extend(bytes.iter().take(room));
    room < bytes.len()
}
