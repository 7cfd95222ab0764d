//! Which project a call means: the one it names, the workspace itself, or the only one in it.
//!
//! Promise: nothing is guessed. Where several could be meant, or the project is above the workspace, the answer says what to
//! do instead.

use std::path::{Path, PathBuf};

use mica_agent::ToolError;
use mica_tools::Workspace;
use synapse_lang::project::disk;

use super::MiProject;

/// What is wanted of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Something to build: a build file with modules is one thing.
    Whole,
    /// Something with artifacts of its own: of several modules, one has to be said.
    Part,
}

/// The folder of the project that is meant. Where there is none, it is the workspace.
///
/// # Errors
/// When the name leads to no project of the workspace, when several could be meant, and when the workspace is a folder
/// inside of a project.
pub(crate) fn choose(
    workspace: &Workspace,
    named: Option<&str>,
    wanted: Wanted,
) -> Result<PathBuf, ToolError> {
    let root = workspace.root();
    if let Some(named) = named.map(str::trim).filter(|named| !named.is_empty()) {
        return the_named(workspace, named);
    }
    let is_built = wanted == Wanted::Whole && root.join("pom.xml").is_file();
    if disk::is_project(root) || is_built {
        return Ok(root.to_owned());
    }
    let inside = inside(root);
    match inside.as_slice() {
        [only] => return Ok(root.join(only)),
        [] => {}
        several => {
            return Err(ToolError::new(format!(
                "There are several projects here: {}. Say project.",
                several.join(", ")
            )));
        }
    }
    match disk::root_of(root).filter(|_| !root.join("pom.xml").is_file()) {
        Some(above) => Err(ToolError::new(format!(
            "The project is {0}: start mica there (mica -C {0}). Nothing was done.",
            above.display()
        ))),
        None => Ok(root.to_owned()),
    }
}

fn the_named(workspace: &Workspace, named: &str) -> Result<PathBuf, ToolError> {
    let root = workspace.root();
    if named == "." {
        return Ok(root.to_owned());
    }
    let folder = workspace.existing(named)?.path();
    let is_inside = folder.starts_with(root);
    if is_inside && (disk::is_project(&folder) || folder.join("pom.xml").is_file()) {
        return Ok(folder);
    }
    let known = match inside(root).as_slice() {
        [] => String::new(),
        known => format!(" There are: {}.", known.join(", ")),
    };
    Err(ToolError::new(format!(
        "{named} is no project of this workspace: a folder in it with pom.xml or src/main/wso2mi.{known} Nothing was done."
    )))
}

/// The projects in a folder that is none, relative to it: its modules with artifacts, or what lies right below.
pub(crate) fn inside(root: &Path) -> Vec<String> {
    let modules: Vec<String> = MiProject::read(root)
        .map(|project| project.parts().map(|part| part.path.clone()).collect())
        .unwrap_or_default();
    if !modules.is_empty() {
        return modules;
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut below: Vec<String> = entries
        .filter(|entry| disk::is_project(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    below.sort();
    below
}

#[cfg(test)]
mod tests;
