//! The one way in for what people type, wherever they type it: commands by their name, then whoever looks at what is typed,
//! then the model.

use anyhow::Result;
use mica_agent::Outcome;
use mica_ext::{Extensions, Typed};

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
                Some(Ok(Typed::Instead(other))) => text = other,
                Some(Ok(Typed::Handled(shown))) => return Heard::Handled(shown),
                Some(Ok(Typed::Refused(reason)) | Err(reason)) => return Heard::Refused(reason),
            }
        }
        match self.extensions().typed(&text).await {
            Typed::Go => Heard::Say(text),
            Typed::Instead(other) => Heard::Say(other),
            Typed::Handled(shown) => Heard::Handled(shown),
            Typed::Refused(reason) => Heard::Refused(reason),
        }
    }

    /// Takes something that was typed, and runs if there is something for the model in it.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn say(&self, text: &str) -> Result<Said> {
        self.say_from(text, &mica_domain::Surroundings::default()).await
    }

    /// As [`Work::say`], from a user with something in front of them.
    ///
    /// # Errors
    /// As [`Work::prompt`].
    pub async fn say_from(&self, text: &str, here: &mica_domain::Surroundings) -> Result<Said> {
        Ok(match self.hear(text).await {
            Heard::Handled(shown) => Said::Handled(shown),
            Heard::Refused(reason) => Said::Refused(reason),
            Heard::Say(text) => Said::Ran(self.prompt_from(&text, here).await?),
        })
    }
}

/// The name of a command and what stands behind it.
fn command(text: &str) -> Option<(&str, &str)> {
    let text = text.trim().strip_prefix('/')?;
    let (name, arguments) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (!name.is_empty()).then_some((name, arguments.trim()))
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_command_has_a_name_and_arguments() {
        assert_eq!(command("/audit"), Some(("audit", "")));
        assert_eq!(command(" /t  fix it \n"), Some(("t", "fix it")));
        assert_eq!(command("/t\nfix it"), Some(("t", "fix it")));
        assert_eq!(command("/"), None);
        assert_eq!(command("what is /etc?"), None);
    }
}
