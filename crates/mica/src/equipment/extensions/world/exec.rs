//! Commands of extensions: judged like those of the model, run in the same sandbox, and seen by undo.
//!
//! An extension that was allowed a program may run what a person would be asked about; what never runs does not run for it
//! either, and a mode that changes nothing holds for it, too.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::future::BoxFuture;
use mica_agent::RunId;
use mica_ai::id::CallId;
use mica_ext::world::{Exec, Executed, Program, Refusal};
use mica_policy::shell::{Class, ShellGate};
use mica_sandbox::{Command, How, Stream};
use mica_tools::{Ground, Workspace};
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// Bytes of each stream that are kept.
const MOST: usize = 256 << 10;

/// What every command is told: nobody watches.
const VARIABLES: [(&str, &str); 5] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// What runs commands.
pub struct Commands {
    /// Where they run.
    pub ground: Arc<dyn Ground>,
    /// Who judges them.
    pub gate: ShellGate,
    /// The folder they work in, and who records what they change.
    pub workspace: Workspace,
    /// How many ran.
    pub count: AtomicU64,
}

impl Commands {
    /// Runs one. Where nothing confines it, whatever is not evidently safe needs a yes, as it does for the model.
    pub async fn exec<'a>(
        &self,
        root: &Path,
        run: RunId,
        by: &str,
        exec: Exec,
        yes: impl FnOnce(String) -> BoxFuture<'a, bool>,
        cancel: &CancellationToken,
    ) -> Result<Executed, Refusal> {
        let folder = match &exec.cwd {
            None => root.to_owned(),
            Some(below) => {
                let folder = root.join(below).canonicalize();
                let folder =
                    folder.map_err(|error| Refusal::failed(format!("{}: {error}", below.display())))?;
                if !folder.starts_with(root) {
                    let reason = format!("{} is outside of the project", below.display());
                    return Err(Refusal::Denied { reason });
                }
                folder
            }
        };
        let (line, command) = match &exec.what {
            Program::Shell(line) => {
                (line.clone(), Command::new("bash", &folder).arguments(["-c".to_owned(), line.clone()]))
            }
            Program::Argv(words) => {
                let (program, rest) =
                    words.split_first().ok_or_else(|| Refusal::failed("there is nothing to run"))?;
                (quoted(words), Command::new(program, &folder).arguments(rest.iter().cloned()))
            }
        };
        let within = folder.display().to_string();
        let class = self.judge(&line, exec.cwd.as_ref().map(|_| within.as_str()))?;
        let denied = |error: mica_agent::ToolError| Refusal::Denied { reason: error.message };
        let sandbox = self.ground.sandbox().await.map_err(denied)?;
        let needs_yes = sandbox.tier() == mica_sandbox::Tier::None
            && class != Class::Safe
            && !self.gate.given().allows_everything();
        if needs_yes && !yes(line.clone()).await {
            let reason = "nothing confines commands here (`mica doctor` says why), and nobody said yes to it"
                .to_owned();
            return Err(Refusal::Denied { reason });
        }
        let looks = self.gate.only_looks(&line, &within) && sandbox.tier() != mica_sandbox::Tier::None;
        let mut boundary = self.ground.boundary().map_err(denied)?;
        if looks {
            boundary = boundary.read_only();
        }
        boundary.limits.wall = Some(exec.timeout);
        let variables = VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        boundary.environment.extend(variables);
        let command = if exec.stdin.is_some() { command.with_input() } else { command };
        // Several may run at a time.
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let call = CallId::from(format!("extension_{by}_{number}"));
        if !looks {
            let (journal, run, call) = (self.workspace.clone(), run.clone(), call.clone());
            let begun =
                tokio::task::spawn_blocking(move || journal.journal().command_begins(&run, &call)).await;
            begun.map_err(|error| error.to_string()).and_then(|begun| begun).map_err(Refusal::failed)?;
        }
        let ran = async {
            let mut child = sandbox.spawn(command, &boundary, cancel.clone()).await?;
            if let (Some(text), Some(mut input)) = (exec.stdin, child.take_input()) {
                // A program that does not read to the end is free not to.
                tokio::spawn(async move { input.write_all(text.as_bytes()).await });
            }
            let (mut output, mut errors) = (Printed::default(), Printed::default());
            while let Some(chunk) = child.next().await {
                match chunk.stream {
                    Stream::Output => output.add(&chunk.bytes),
                    Stream::Errors => errors.add(&chunk.bytes),
                }
            }
            Ok::<_, mica_sandbox::SandboxError>((child.wait().await, output, errors))
        };
        let ran = ran.await;
        if !looks {
            let (journal, run, call) = (self.workspace.clone(), run, call);
            let _ = tokio::task::spawn_blocking(move || journal.journal().command_ended(&run, &call)).await;
        }
        let (ended, output, errors) = ran.map_err(|error| Refusal::failed(error.to_string()))?;
        let code = match ended.how {
            How::Exited(code) => Some(code),
            _ => None,
        };
        Ok(Executed { stdout: output.text(), stderr: errors.text(), code, killed: code.is_none() })
    }

    /// What never runs does not run for an extension either. A path means what it means in the folder it runs in.
    fn judge(&self, line: &str, folder: Option<&str>) -> Result<Class, Refusal> {
        let judged = match folder {
            None => self.gate.judge(line),
            Some(folder) => self.gate.judge_in(line, folder),
        };
        let judged = judged.map_err(Refusal::failed)?;
        if let Some(rule) = self.gate.given().denies(&judged) {
            return Err(Refusal::Denied { reason: format!("the rule \"deny shell({rule})\" forbids it") });
        }
        match judged.class {
            Class::Blocked => Err(Refusal::Denied { reason: judged.reason }),
            class @ (Class::Ask | Class::Safe) => Ok(class),
        }
    }
}

/// The beginning of a stream, and how much there was after it.
#[derive(Default)]
struct Printed {
    bytes: Vec<u8>,
    more: usize,
}

impl Printed {
    fn add(&mut self, bytes: &[u8]) {
        let taken = bytes.len().min(MOST - self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        self.more += bytes.len() - taken;
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        if self.more == 0 {
            text.into_owned()
        } else {
            format!("{text}\n[{} more bytes were left out]", self.more)
        }
    }
}

/// Words as a shell reads them, for whoever judges command lines.
fn quoted(words: &[String]) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are() {
        let check = |words: &[&str], expect: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(quoted(&words), expect);
        };
        check(&["git", "stash", "create"], "git stash create");
        check(&["git", "commit", "-m", "it's; rm -rf /", ""], "git commit -m 'it'\\''s; rm -rf /' ''");
        check(&["echo", "$HOME", "*"], "echo '$HOME' '*'");
    }
}
