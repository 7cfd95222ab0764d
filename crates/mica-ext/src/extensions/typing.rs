//! What people type and press: commands, inputs, keys, and what joins a prompt.

use super::Extensions;
use crate::concern::{Failure, Typed};

/// Something that an extension adds to a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The extension.
    pub extension: String,
    /// What it adds.
    pub text: String,
}

/// A command that an extension brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its name, without the slash.
    pub name: String,
    /// What it does, in a line.
    pub description: String,
    /// The extension.
    pub extension: String,
}

/// A key that an extension brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortcutInfo {
    /// The key, as `ctrl+shift+t`.
    pub key: String,
    /// What it does, in a line.
    pub description: String,
    /// The extension.
    pub extension: String,
}

impl Extensions {
    /// The commands there are. One whose name the program has itself is the program's.
    pub fn commands(&self) -> Vec<CommandInfo> {
        let loaded = self.loaded();
        let told = loaded.commands.iter().map(|one| CommandInfo {
            name: one.it.name().to_owned(),
            description: one.it.description().to_owned(),
            extension: one.name().to_owned(),
        });
        told.collect()
    }

    /// Does a command. `None`: there is none of this name.
    ///
    /// # Errors
    /// In words. A command that failed can be tried again.
    pub async fn command(&self, name: &str, arguments: &str) -> Option<Result<Typed, Failure>> {
        let loaded = self.loaded();
        let one = loaded.commands.iter().find(|one| one.it.name() == name)?;
        let made = self.ask(one, self.inner.deadlines.command, one.it.run(arguments)).await;
        Some(made.map_err(|reason| format!("extension {}: /{name}: {reason}", one.name())))
    }

    /// The keys there are.
    pub fn shortcuts(&self) -> Vec<ShortcutInfo> {
        let loaded = self.loaded();
        let told = loaded.shortcuts.iter().map(|one| ShortcutInfo {
            key: one.it.key().to_owned(),
            description: one.it.description().to_owned(),
            extension: one.name().to_owned(),
        });
        told.collect()
    }

    /// Does what a key does. `None`: there is none.
    ///
    /// # Errors
    /// In words.
    pub async fn shortcut(&self, key: &str) -> Option<Result<(), Failure>> {
        let loaded = self.loaded();
        let one = loaded.shortcuts.iter().find(|one| one.it.key() == key)?;
        let made = self.ask(one, self.inner.deadlines.command, one.it.run()).await;
        Some(made.map_err(|reason| format!("extension {}: {key}: {reason}", one.name())))
    }

    /// What becomes of something a person typed that is no command. Each sees what the one before made of it; the first
    /// that deals with it, or refuses it, is the last.
    pub async fn typed(&self, text: &str) -> Typed {
        let loaded = self.loaded();
        let mut now: Option<String> = None;
        for one in loaded.inputs.iter().filter(|one| one.is_on()) {
            let seen = now.as_deref().unwrap_or(text);
            let limit = self.inner.deadlines.input;
            match self.ask_or_leave(one, "its look at what is typed", limit, one.it.input(seen)).await {
                None | Some(Typed::Go) => {}
                Some(Typed::Instead(other)) => now = Some(other),
                Some(ended @ (Typed::Handled(_) | Typed::Refused(_))) => return ended,
            }
        }
        now.map_or(Typed::Go, Typed::Instead)
    }

    /// What extensions add to a prompt, in order. It rides with the prompt, at the tail.
    pub async fn before_run(&self, prompt: &str) -> Vec<Said> {
        let loaded = self.loaded();
        let mut all = Vec::new();
        for one in loaded.prompting.iter().filter(|one| one.is_on()) {
            let limit = self.inner.deadlines.input;
            let asked = self.ask_or_leave(one, "its addition to prompts", limit, one.it.before_run(prompt));
            if let Some(Some(text)) = asked.await
                && !text.trim().is_empty()
            {
                all.push(Said { extension: one.name().to_owned(), text });
            }
        }
        all
    }
}
