//! What the tools change, told to whoever can undo it.

use std::path::PathBuf;

use mica_agent::RunId;
use mica_ai::id::CallId;

use crate::digest::Digest;

/// One change of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// The canonical path.
    pub path: PathBuf,
    /// The run that made it.
    pub run: RunId,
    /// The call that made it.
    pub call: CallId,
    /// What the file was before. `None`: there was none.
    pub before: Option<Before>,
    /// What it is now. Undoing is safe as long as it still is.
    pub after: Digest,
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Its digest.
    pub digest: Digest,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Keeps changes, so that they can be undone.
///
/// Called from blocking threads, once before and once after each change. A process that is killed in between leaves a
/// change announced and perhaps made: `after` tells which.
pub trait Journal: Send + Sync {
    /// A change is about to be made. Nothing is changed unless it returns `Ok`: what cannot be recorded cannot be
    /// undone.
    ///
    /// # Errors
    /// In words. The file stays as it is.
    fn changing(&self, change: &FileChange) -> Result<(), String> {
        let _ = change;
        Ok(())
    }

    /// A change was made.
    fn changed(&self, change: FileChange);

    /// A command that may change files is about to run. It is not run unless this returns `Ok`.
    ///
    /// # Errors
    /// In words.
    fn command_begins(&self, run: &RunId, call: &CallId) -> Result<(), String> {
        let _ = (run, call);
        Ok(())
    }

    /// A command has ended, with all that it started. Answers the files that it changed, by canonical path.
    fn command_ended(&self, run: &RunId, call: &CallId) -> Vec<PathBuf> {
        let _ = (run, call);
        Vec::new()
    }
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoJournal;

impl Journal for NoJournal {
    fn changed(&self, _: FileChange) {}
}
