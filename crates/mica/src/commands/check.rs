//! `mica check`: what is wrong with Synapse files, in the form that was asked for.

use std::io::Read;
use std::time::Instant;

use anyhow::{Context as _, Result};
use synapse_lang::diagnostic::Severity;

use super::language::Said;
use crate::cli::language::{CheckFlags, FindingsForm, Least};
use crate::exit::Exit;
use crate::render::findings::{Report, github, json, sarif, text};
use crate::render::paint::Paint;
use crate::sources::{self, Checkable, Sources, View};

/// Checks files.
///
/// # Errors
/// When a path does not exist or the runtime is not known.
pub fn run(flags: &CheckFlags, paint: Paint) -> Result<Said> {
    let start = Instant::now();
    let runtime = sources::runtime(flags.runtime.as_deref())?;
    let view = if flags.standalone { View::Standalone } else { View::Projects };
    let (mut sources, what) = if flags.stdin {
        let text = sources::decode(input()?);
        Sources::unsaved(flags.path.as_deref(), &text.text, &view)?
    } else {
        (Sources::find(&flags.paths, view)?, Checkable::Files)
    };
    sources.set_runtime(runtime);
    let mut troubles = std::mem::take(&mut sources.unreadable);
    let mut files = Vec::new();
    for checked in sources.check(runtime, &what) {
        match checked {
            Ok(checked) => files.push(checked),
            Err(trouble) => troubles.push(trouble),
        }
    }
    let report = Report { files: &files, least: least(flags.severity), took: start.elapsed() };
    let out = match flags.format {
        FindingsForm::Text => text::print(&report, paint),
        FindingsForm::Json => json::print(&report)?,
        FindingsForm::Sarif => sarif::print(&report)?,
        FindingsForm::Github => github::print(&report),
    };
    let exit = if report.counts().errors > 0 { Exit::Error } else { Exit::Done };
    Ok(Said { out, err: String::new(), exit }.and_troubles(&troubles))
}

/// All of standard input.
///
/// # Errors
/// When it cannot be read.
pub fn input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
    Ok(bytes)
}

const fn least(least: Least) -> Severity {
    match least {
        Least::Hint => Severity::Hint,
        Least::Info => Severity::Info,
        Least::Warning => Severity::Warning,
        Least::Error => Severity::Error,
    }
}
