//! The journal that lets everything be undone: what tools and commands change goes into the undo store of the project.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mica_agent::RunId;
use mica_ai::id::CallId;
use mica_session::undo::{Announced, ContentHash, Undo};

use crate::journal::{FileChange, Journal};

/// Files that a notice names.
const NAMED: usize = 5;

/// Keeps changes in an undo store. Changes that it cannot keep are refused.
pub struct Checkpoints {
    undo: Undo,
    notices: Mutex<Vec<String>>,
}

impl Checkpoints {
    /// Keeps changes in this store.
    pub fn new(undo: Undo) -> Self {
        Self { undo, notices: Mutex::default() }
    }

    /// The store.
    pub fn undo(&self) -> &Undo {
        &self.undo
    }

    /// What a person should know: changes that cannot be undone. Each is told once.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices())
    }

    fn notices(&self) -> MutexGuard<'_, Vec<String>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Checkpoints {
    fn changing(&self, change: &FileChange) -> Result<(), String> {
        let after = ContentHash::from_hex(&change.after.to_string())
            .ok_or_else(|| "the digest of the new content is none".to_owned())?;
        let announced = Announced {
            run: &change.run.as_str().into(),
            call: change.call.as_str(),
            path: &change.path,
            before: change.before.as_ref().map(|before| before.bytes.as_slice()),
            after,
        };
        self.undo.changing(announced).map_err(|error| format!("it could not be undone: {error}"))
    }

    fn changed(&self, change: FileChange) {
        // It was announced, so it can be undone; that it was made is seen when it is.
        if let Err(error) = self.undo.changed(change.call.as_str(), &change.path) {
            self.notices().push(format!("a change of {} is not confirmed: {error}", change.path.display()));
        }
    }

    fn command_begins(&self, run: &RunId, call: &CallId) -> Result<(), String> {
        let begun = self.undo.command_begins(&run.as_str().into(), call.as_str());
        begun.map_err(|error| format!("what the command changes could not be undone: {error}"))
    }

    fn command_ended(&self, _run: &RunId, call: &CallId) -> Vec<PathBuf> {
        match self.undo.command_ended(call.as_str()) {
            Ok(ended) => {
                if !ended.not_kept.is_empty() {
                    self.notices().push(not_kept(&ended.not_kept));
                }
                if ended.incomplete {
                    self.notices().push(
                        "the project is too large to look through: not every change of commands can be undone"
                            .to_owned(),
                    );
                }
                let root = self.undo.project();
                ended.changed.iter().map(|path| root.join(path)).collect()
            }
            Err(error) => {
                self.notices().push(format!("what a command changed is not recorded: {error}"));
                Vec::new()
            }
        }
    }
}

fn not_kept(paths: &[PathBuf]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    let more = paths.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "a command changed what is not kept, because it is too large or in a folder that tools fill, so this cannot be \
         undone: {}{more}",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play commands")]

    use std::fs;
    use std::sync::Arc;

    use mica_session::undo::OnConflict;
    use serde_json::json;

    use super::*;
    use crate::testing::{call, cx};
    use crate::{FileEdit, FileRead, FileWrite, Sight, Workspace};

    #[tokio::test]
    async fn promise_8_what_tools_and_commands_change_goes_back_and_has_to_be_read_again() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "one\n").unwrap();
        let undo = Undo::new(&outer.path().join("undo"), &root, jiff::Timestamp::now).unwrap();
        let checkpoints = Arc::new(Checkpoints::new(undo));
        let workspace =
            Workspace::new(&root).unwrap().with_journal(Arc::clone(&checkpoints) as Arc<dyn Journal>);
        let (read, edit, write) =
            (FileRead::new(&workspace, Sight::Blind), FileEdit::new(&workspace), FileWrite::new(&workspace));
        let run = mica_session::RunId::from("the run");
        checkpoints.undo().run_begins(&run);
        let edited = json!({ "path": "a.txt", "old": "one", "new": "two" });
        call(&edit, edited).await.unwrap();
        call(&write, json!({ "path": "new/b.txt", "content": "b\n" })).await.unwrap();
        let context = cx();
        checkpoints.command_begins(&context.run, &context.call).unwrap();
        fs::remove_file(root.join("a.txt")).unwrap();
        let canonical = root.canonicalize().unwrap();
        assert_eq!(checkpoints.command_ended(&context.run, &context.call), [canonical.join("a.txt")]);
        checkpoints.undo().run_ended(&run).unwrap();

        call(&read, json!({ "path": "new/b.txt" })).await.unwrap();
        let undo = checkpoints.undo();
        let done = undo.carry_out(&undo.plan_undo(None, &[]).unwrap(), OnConflict::Refuse).unwrap();
        workspace.forget(done.restored.iter().map(|step| step.path.path()));
        assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "one\n");
        assert!(!root.join("new").exists());
        undo.carry_out(&undo.plan_redo(&[]).unwrap(), OnConflict::Refuse).unwrap();
        let refused = call(&write, json!({ "path": "new/b.txt", "content": "c\n" })).await.unwrap_err();
        assert!(refused.contains("read"), "{refused}");
        assert!(checkpoints.take_notices().is_empty());
    }

    #[tokio::test]
    async fn promise_8_a_change_that_could_not_be_undone_is_not_made() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(outer.path().join("undo"), "a file where the store should be").unwrap();
        let undo = Undo::new(&outer.path().join("undo"), &root, jiff::Timestamp::now).unwrap();
        let workspace = Workspace::new(&root).unwrap().with_journal(Arc::new(Checkpoints::new(undo)));
        let write = FileWrite::new(&workspace);
        let refused = call(&write, json!({ "path": "a.txt", "content": "a" })).await.unwrap_err();
        assert!(refused.contains("it could not be undone: cannot make"), "{refused}");
        assert!(!root.join("a.txt").exists());
    }
}
