//! `mica memory`: a person looks at the memory and changes it.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};
use mica_ext::memory::{MemoryError, Scope, Section};

use crate::cli::knowhow::{MemoryCommand, MemoryScope, MemorySection};
use crate::equipment::memory::{command, memory};
use crate::surroundings::Surroundings;

impl From<MemoryScope> for Scope {
    fn from(scope: MemoryScope) -> Self {
        match scope {
            MemoryScope::Project => Self::Project,
            MemoryScope::Global => Self::Global,
        }
    }
}

impl From<MemorySection> for Section {
    fn from(section: MemorySection) -> Self {
        match section {
            MemorySection::Preferences => Self::Preferences,
            MemorySection::Context => Self::Context,
            MemorySection::LearnedPatterns => Self::LearnedPatterns,
        }
    }
}

/// The text to print.
///
/// # Errors
/// What [`MemoryError`] says, and an editor that does not work.
pub fn run(command: &MemoryCommand, surroundings: &Surroundings) -> Result<String> {
    let memory = memory(surroundings);
    let told = |error: MemoryError| anyhow!(error.told());
    match command {
        MemoryCommand::Show => Ok(format!("{}\n", command::shown(&memory))),
        MemoryCommand::Path => {
            let line = |scope: Scope| format!("{:<7}  {}\n", scope.name(), memory.path(scope).display());
            Ok(Scope::ALL.map(line).concat())
        }
        MemoryCommand::Add { scope, section, words } => {
            let scope = (*scope).into();
            let line = memory.add(scope, (*section).into(), &words.join(" ")).map_err(told)?;
            Ok(format!("remembered in {}: {line}\n", memory.path(scope).display()))
        }
        MemoryCommand::Forget { scope, words } => {
            let scope = (*scope).into();
            let line = memory.forget(scope, &words.join(" ")).map_err(told)?;
            Ok(format!("no longer in {}: {line}\n", memory.path(scope).display()))
        }
        MemoryCommand::Edit { scope } => {
            let scope = (*scope).into();
            // What somebody else wrote is looked at before it becomes the user's own.
            memory.notes(scope).map_err(told)?;
            edit(memory.path(scope), surroundings)?;
            memory.edited(scope).map_err(told)?;
            Ok(String::new())
        }
    }
}

/// Opens the person's editor, and waits for its end.
#[allow(
    clippy::disallowed_methods,
    reason = "the person's own editor at their own terminal: nothing that the sandbox is for"
)]
fn edit(path: &Path, surroundings: &Surroundings) -> Result<()> {
    let editor = surroundings.variable("VISUAL").or_else(|| surroundings.variable("EDITOR"));
    let editor = editor.with_context(|| {
        format!("set VISUAL or EDITOR to the editor that you want, or open {} yourself", path.display())
    })?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let mut words = editor.split_whitespace();
    let program = words.next().context("EDITOR is empty")?;
    let status = std::process::Command::new(program).args(words).arg(path).status();
    let status = status.with_context(|| format!("{program} cannot be started"))?;
    ensure!(status.success(), "{program} ended with {status}; {} is as it left it", path.display());
    Ok(())
}
