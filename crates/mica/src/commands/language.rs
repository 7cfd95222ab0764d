//! The commands of the Synapse language: what they share, and which is run.
//!
//! They need no settings, no home and no model, and none of them starts the runtime of the agent.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::{check, explain, expr, fix, format, graph, knowledge, lsp, new, outline};
use crate::cli::language::LanguageCommand;
use crate::exit::Exit;
use crate::render::paint::Paint;

/// What a command says, and how it ends.
#[derive(Debug)]
pub struct Said {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
    /// How it ends.
    pub exit: Exit,
}

impl Said {
    /// It went well.
    pub fn done(out: String) -> Self {
        Self { out, err: String::new(), exit: Exit::Done }
    }

    /// Adds what could not be read, which decides how the command ends.
    #[must_use]
    pub fn and_troubles(mut self, troubles: &[String]) -> Self {
        for trouble in troubles {
            self.err.push_str("mica: ");
            self.err.push_str(trouble);
            self.err.push('\n');
            self.exit = Exit::Usage;
        }
        self
    }
}

/// Runs a command in a folder.
pub fn run(command: &LanguageCommand, folder: Option<&Path>) -> Exit {
    let said = enter(folder).and_then(|()| said(command)).unwrap_or_else(|error| Said {
        out: String::new(),
        err: format!("mica: {}\n", crate::told(&error)),
        exit: Exit::Usage,
    });
    // A reader that went away wanted no more.
    let _ = std::io::stdout().write_all(said.out.as_bytes());
    let _ = std::io::stderr().write_all(said.err.as_bytes());
    said.exit
}

fn enter(folder: Option<&Path>) -> Result<()> {
    match folder {
        Some(folder) => std::env::set_current_dir(folder)
            .with_context(|| format!("{} is not a folder that can be worked in", folder.display())),
        None => Ok(()),
    }
}

fn said(command: &LanguageCommand) -> Result<Said> {
    let paint = Paint::for_output();
    match command {
        LanguageCommand::Check(flags) => check::run(flags, paint),
        LanguageCommand::Fix(flags) => fix::run(flags, paint),
        LanguageCommand::Expr(flags) => expr::run(flags, paint),
        LanguageCommand::Explain { code, list } => {
            if *list {
                Ok(explain::list(paint))
            } else {
                explain::run(code.as_deref().unwrap_or_default(), paint)
            }
        }
        LanguageCommand::Graph { path, format } => graph::run(path.as_deref(), *format),
        LanguageCommand::Format(flags) => format::run(flags),
        LanguageCommand::Outline { file, format } => outline::run(file, *format, paint),
        LanguageCommand::Knowledge { command } => knowledge::run(command, paint),
        LanguageCommand::New(flags) => new::run(flags),
        LanguageCommand::Lsp => Ok(lsp::run()),
    }
}
