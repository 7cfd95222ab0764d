//! The files of a folder and its subfolders, in an order that is always the same.

use std::path::{Path, PathBuf};

use ignore::types::{Types, TypesBuilder};
use ignore::{Walk, WalkBuilder};
use mica_agent::ToolError;

use crate::resolve::Place;

/// Which files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those that a project is made of: not hidden, not ignored.
    Project,
    /// All but those of git itself.
    All,
}

/// A file that was found.
pub(crate) struct Step {
    /// Its canonical path.
    pub(crate) path: PathBuf,
    /// Relative to the folder that is searched.
    pub(crate) relative: PathBuf,
}

impl Step {
    /// The file as a place that can be opened.
    pub(crate) fn place(&self, folder: &Place) -> Place {
        Place {
            relative: folder.relative.join(&self.relative),
            found: crate::resolve::Found::File,
            ..folder.clone()
        }
    }
}

/// The regular files below a folder, by path. Links are not followed. What cannot be read is counted in `unread`.
pub(crate) fn files(
    folder: &Place,
    scope: Scope,
    types: Option<Types>,
    unread: &mut usize,
) -> impl Iterator<Item = Step> {
    let root = folder.path();
    walk(&root, scope, types)
        .filter_map(move |found| match found {
            Ok(entry) => Some(entry),
            Err(_) => {
                *unread += 1;
                None
            }
        })
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(move |entry| {
            let relative = entry.path().strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
            Step { path: entry.into_path(), relative }
        })
}

fn walk(root: &Path, scope: Scope, types: Option<Types>) -> Walk {
    let project = scope == Scope::Project;
    let mut builder = WalkBuilder::new(root);
    builder
        .standard_filters(false)
        .hidden(project)
        .parents(project)
        .ignore(project)
        .git_ignore(project)
        .git_exclude(project)
        // The user's own list is in the home folder, which libraries do not read.
        .git_global(false)
        // A list in a folder counts whether or not the folder is under git.
        .require_git(false)
        .follow_links(false)
        .sort_by_file_path(Path::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    if let Some(types) = types {
        builder.types(types);
    }
    builder.build()
}

/// A kind of files by its name, such as `rust` or `xml`.
pub(crate) fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    builder.build().map_err(|_| {
        ToolError::new(format!(
            "There is no file type {name:?}. Types are named like languages (rust, js, ts, py, java, xml, yaml, md); or \
             use glob, for example \"*.{name}\"."
        ))
    })
}
