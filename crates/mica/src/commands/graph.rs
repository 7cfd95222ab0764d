//! `mica graph`: which artifacts call which.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use synapse_lang::graph::Graph;
use synapse_lang::project::disk;

use super::language::Said;
use crate::cli::language::GraphForm;
use crate::sources;

/// Draws the graph of a project. A folder that is no project is drawn all the same: its files are one.
///
/// # Errors
/// When the folder cannot be read.
pub fn run(path: Option<&Path>, form: GraphForm) -> Result<Said> {
    let path = path.unwrap_or(Path::new("."));
    let real = path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => anyhow!("{}: there is no such folder", path.display()),
        _ => anyhow!("{}: {error}", path.display()),
    })?;
    let root = disk::root_of(&real).unwrap_or_else(|| real.clone());
    if !root.is_dir() {
        bail!("{}: it is in no project; name a folder", path.display());
    }
    let (project, unreadable) = sources::read_project(&root)?;
    let graph = Graph::of(&project);
    let out = match form {
        GraphForm::Mermaid => graph.mermaid(),
        GraphForm::Json => graph.json(),
        GraphForm::Svg => graph.svg(),
        GraphForm::Dot => graph.dot(),
    };
    Ok(Said::done(out).and_troubles(&unreadable))
}
