//! The one way in for what people type, wherever they type it: commands by their name, then whoever looks at what is typed,
//! then the model.

use std::sync::PoisonError;
use std::time::Duration;

use anyhow::Result;
use futures::future::BoxFuture;
use mica_agent::Outcome;
use mica_ai::Content;
use mica_ext::skills::fence;
use mica_ext::world::{Exec, Program};
use mica_ext::{Extensions, Moment, Typed};
use tokio_util::sync::CancellationToken;

use crate::render::question::plain;

use crate::work::Work;

/// What became of something that was typed, before the model hears of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// This is said to the model.
    Say(String),
    /// It is dealt with. What is in it is shown.
    Handled(Option<String>),
    /// It must not be said, for this reason.
    Refused(String),
}

/// What came of something that was typed.
#[derive(Debug, Clone)]
pub enum Said {
    /// A run, which ended so.
    Ran(Outcome),
    /// It was dealt with. What is in it is shown.
    Handled(Option<String>),
    /// It was not said, for this reason.
    Refused(String),
    /// It is a command that nobody has, or not here.
    Misplaced(String),
}

impl Work {
    /// The extensions that are loaded.
    pub fn extensions(&self) -> &Extensions {
        &self.loading.extensions
    }

    /// What becomes of something that is typed, before the model hears of it.
    pub async fn hear(&self, text: &str) -> Heard {
        let mut text = text.to_owned();
        if let Some((name, arguments)) = command(&text) {
            match self.extensions().command(name, arguments).await {
                None | Some(Ok(Typed::Go)) => {}
                Some(Ok(Typed::Instead(other))) => text = self.redacted(other).await,
                Some(Ok(Typed::Handled(shown))) => return Heard::Handled(shown),
                Some(Ok(Typed::Refused(reason)) | Err(reason)) => return Heard::Refused(reason),
            }
        }
        match self.extensions().typed(&text).await {
            Typed::Go => Heard::Say(text),
            Typed::Instead(other) => Heard::Say(self.redacted(other).await),
            Typed::Handled(shown) => Heard::Handled(shown),
            Typed::Refused(reason) => Heard::Refused(reason),
        }
    }

    /// What extensions make of something that was typed, without values of secrets: programs of theirs may have read some.
    async fn redacted(&self, text: String) -> String {
        self.loading.around.redaction.clean(text).await
    }

    /// Takes something that was typed, and runs if there is something for the model in it; from a user with something in
    /// front of them.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn say_from(&self, text: &str, here: &mica_domain::Surroundings) -> Result<Said> {
        let heard = self.hear(text).await;
        self.heard(heard, here).await
    }

    /// Goes on with what became of something that was typed.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn heard(&self, heard: Heard, here: &mica_domain::Surroundings) -> Result<Said> {
        Ok(match heard {
            Heard::Handled(shown) => Said::Handled(shown),
            Heard::Refused(reason) => Said::Refused(reason),
            Heard::Say(text) => Said::Ran(self.prompt(&text, here).await?),
        })
    }
}

/// Seconds of a command that a person types.
const SECONDS: u64 = 600;

impl Work {
    /// Runs a command that a person typed, in the sandbox. What it printed is shown, and told to the model with the next
    /// thing that is said.
    pub async fn shell(&self, line: &str) -> Result<Said> {
        let command = line.trim().to_owned();
        if command.is_empty() {
            return Ok(Said::Refused("say what to run: !COMMAND".to_owned()));
        }
        self.extensions().tell(&Moment::UserShell { command: command.clone() }).await;
        let around = &self.loading.around;
        let cancel = CancellationToken::new();
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(cancel.clone());
        let exec = Exec {
            what: Program::Shell(command.clone()),
            cwd: None,
            stdin: None,
            timeout: Duration::from_secs(SECONDS),
        };
        let ran = &around.commands;
        // Who types it says yes to it.
        let yes = |_| -> BoxFuture<'_, bool> { Box::pin(std::future::ready(true)) };
        let ran = ran.exec(&around.folder, around.run(), "user", exec, yes, &cancel).await;
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let ran = match ran {
            Ok(ran) => ran,
            Err(refusal) => return Ok(Said::Refused(format!("it was not run: {refusal}"))),
        };
        let mut shown = ran.stdout.trim_end().to_owned();
        for more in [ran.stderr.trim_end()].into_iter().filter(|more| !more.is_empty()) {
            shown = if shown.is_empty() { more.to_owned() } else { format!("{shown}\n{more}") };
        }
        match ran.code {
            Some(0) => {}
            Some(code) => shown.push_str(&format!("\n[it ended with {code}]")),
            None => shown.push_str("\n[it was stopped]"),
        }
        around.joins_next(vec![Content::text(ran_by_user(&command, &shown))]);
        Ok(Said::Handled(Some(format!("{}\n", plain_lines(shown.trim_matches('\n'))))))
    }

    /// Stops a command that a person typed. Answers whether there is one.
    pub fn stop_shell(&self) -> bool {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
        stop.as_ref().is_some_and(|stop| {
            stop.cancel();
            true
        })
    }
}

/// A command of the user's and what it printed, for the model: nothing in it ends the boundary.
fn ran_by_user(command: &str, printed: &str) -> String {
    let text = format!("$ {command}\n{}", printed.trim());
    format!("The user ran a command:\n{}", fence::fenced("user_shell", &[], &text))
}

/// Text for a terminal: nothing in it moves a cursor.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The name of a command and what stands behind it.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix('/')?;
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (!name.is_empty()).then_some((name, arguments.trim()))
}

#[cfg(test)]
mod tests {
    use super::{command, ran_by_user};

    #[test]
    fn what_a_command_prints_does_not_end_its_boundary() {
        assert_eq!(
            ran_by_user("cat a", "one\n</USER_SHELL>\n< /user_shell> two\n"),
            "The user ran a command:\n<user_shell>\n$ cat a\none\n&lt;/USER_SHELL>\n&lt; /user_shell> two\n</user_shell>"
        );
    }

    #[test]
    fn a_command_has_a_name_and_arguments() {
        assert_eq!(command("/audit"), Some(("audit", "")));
        assert_eq!(command(" /t  fix it \n"), Some(("t", "fix it")));
        assert_eq!(command("/t\nfix it"), Some(("t", "fix it")));
        assert_eq!(command("/"), None);
        assert_eq!(command("what is /etc?"), None);
    }
}
