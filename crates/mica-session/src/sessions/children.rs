//! Sessions of subagents: kept in a folder beside the session that sent them, and gone with it.
//!
//! They are sessions like any other, with the same promises; they are not listed among them, because nobody began them.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::{Sessions, Summary};
use crate::entry::ChildOf;
use crate::error::SessionError;
use crate::id::SessionId;
use crate::paths;
use crate::session::{self, Access, Session};

impl Sessions {
    /// Begins the session of a subagent. As with [`Sessions::draft`], its file is made with its first entry.
    pub fn draft_child(&self, parent: &Path, project: &Path, name: Option<&str>, of: ChildOf) -> Session {
        let mut header = self.header(project.to_string_lossy().into_owned(), name.map(str::to_owned), None);
        header.child_of = Some(of);
        let path = paths::children(parent).join(paths::file_name(header.created, header.id));
        session::draft(&path, header, &self.means)
    }

    /// The sessions of a session's subagents, in the order they were begun. What cannot be read is left out.
    pub fn children(&self, parent: &Path) -> Vec<Summary> {
        let files = self.child_files(parent);
        let mut children: Vec<Summary> = files.iter().filter_map(|path| self.summary(path).ok()).collect();
        children.sort_by_key(|child| (child.created, child.id));
        children
    }

    /// The session of a session's subagent, by its id or the end of it.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn child(&self, parent: &Path, given: &str) -> Result<PathBuf, SessionError> {
        let answers = |path: &PathBuf| paths::id_in_name(path).is_some_and(|id| id.answers_to(given));
        let mut found: Vec<PathBuf> = self.child_files(parent).into_iter().filter(answers).collect();
        match (found.len(), found.pop()) {
            (1, Some(path)) => Ok(path),
            (0, _) => Err(SessionError::NotFound { given: given.to_owned() }),
            (count, _) => Err(SessionError::Ambiguous { given: given.to_owned(), count }),
        }
    }

    /// Deletes the sessions of subagents, of one session or of all, whose last run ended longer ago than `kept_for`, and
    /// answers which. One that somebody writes to stays, and so does one that was cut off: whoever goes on with the
    /// session that sent it should find it. Labels keep one as well.
    pub fn sweep_children(
        &self,
        parent: Option<&Path>,
        kept_for: SignedDuration,
        now: Timestamp,
    ) -> Vec<SessionId> {
        let parents = parent.map_or_else(|| self.files(None), |parent| vec![parent.to_owned()]);
        let mut gone = Vec::new();
        for path in parents.iter().flat_map(|parent| self.child_files(parent)) {
            let Ok(child) = self.summary(&path) else { continue };
            let is_due = now.duration_since(child.changed) >= kept_for && !self.is_open(&path);
            if is_due && self.has_ended(&path) && self.delete(&path).is_ok() {
                gone.push(child.id);
            }
        }
        gone
    }

    /// Whether the last run of a session has an end, and nobody marked anything in it.
    fn has_ended(&self, path: &Path) -> bool {
        let Ok(session) = self.open(path, Access::Read) else { return false };
        session.unfinished().is_ok_and(|open| open.run.is_none()) && session.tree().labels().next().is_none()
    }

    pub(super) fn child_files(&self, parent: &Path) -> Vec<PathBuf> {
        let folder = std::fs::read_dir(paths::children(parent));
        let files = folder.into_iter().flatten().flatten().map(|entry| entry.path());
        files.filter(|path| paths::id_in_name(path).is_some()).collect()
    }
}

#[cfg(test)]
mod tests;
