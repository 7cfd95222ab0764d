//! Undo in a program that runs: which run changes belong to, and what the model is told of files that were put back.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::{Event, EventKind, Listener};
use mica_session::undo::{Undo, Way};
use mica_tools::{Checkpoints, Workspace};

use crate::commands::undo::{self, Answer, Asked};

/// Files that the model is told by name.
const NAMED: usize = 50;

/// Undo for an agent at work. Clones are handles to the same.
#[derive(Clone)]
pub struct Undoing {
    checkpoints: Arc<Checkpoints>,
    workspace: Workspace,
    /// What was restored later than this concerns the model, and was not looked at yet.
    since: Arc<Mutex<Timestamp>>,
    /// What the model is told.
    note: Arc<Mutex<Option<String>>>,
}

impl Undoing {
    /// For an agent in this workspace, whose journal these are. What was restored since concerns it.
    pub fn new(checkpoints: Arc<Checkpoints>, workspace: Workspace, since: Timestamp) -> Self {
        Self { checkpoints, workspace, since: Arc::new(Mutex::new(since)), note: Arc::default() }
    }

    /// The store.
    pub fn undo(&self) -> &Undo {
        self.checkpoints.undo()
    }

    /// A prompt is about to begin a run of a session.
    pub fn begins(&self, session: Option<&str>, prompt: &str) {
        self.undo().about(session, Some(prompt));
        self.look();
    }

    /// Undoes or redoes, between runs.
    ///
    /// # Errors
    /// As [`undo::perform`].
    pub fn perform(&self, asked: &Asked) -> Result<Answer> {
        let answer = undo::perform(self.undo(), asked)?;
        self.workspace.forget(answer.paths.iter().map(Path::new));
        self.look();
        Ok(answer)
    }

    /// What the model is told of files that were put back: also by another program, in another terminal.
    pub fn note(&self) -> Option<String> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a person should know of changes that cannot be undone.
    pub fn take_notices(&self) -> Vec<String> {
        self.checkpoints.take_notices()
    }

    /// Looks what was restored. When that cannot be read, the model finds out by reading the files.
    fn look(&self) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let restored = self.undo().restored_since(*since).unwrap_or_default();
        let Some((time, way, paths)) = restored.last() else { return };
        for (_, _, paths) in &restored {
            self.workspace.forget(paths.iter().map(Path::new));
        }
        *since = *time;
        let did = match way {
            Way::Undo => "took changes of yours back",
            Way::Redo => "brought changes of yours back that they had taken back",
        };
        let mut named: Vec<String> =
            paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
        if paths.len() > named.len() {
            named.push(format!("and {} more", paths.len() - named.len()));
        }
        let note = format!(
            "At {} the user {did}. These are not what you left or read; read them again before you rely on them:\n{}",
            time.strftime("%Y-%m-%d %H:%M:%S UTC"),
            named.join("\n")
        );
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = Some(note);
    }
}

#[async_trait]
impl Listener for Undoing {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::RunStart | EventKind::RunEnd { .. })
    }

    async fn event(&self, event: Event) {
        let run = event.run.as_str().into();
        match event.kind {
            EventKind::RunStart => self.undo().run_begins(&run),
            EventKind::RunEnd { .. } => {
                let undo = self.undo().clone();
                // Commands that go on are looked after, which reads the disk. A failure there is told by the command.
                let _ = tokio::task::spawn_blocking(move || undo.run_ended(&run)).await;
            }
            _ => {}
        }
    }
}
