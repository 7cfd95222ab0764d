//! Undo in a program that runs: which run changes belong to, and what the model is told of files that were put back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    news: Arc<Mutex<News>>,
}

/// What was restored between two prompts.
#[derive(Default)]
struct News {
    restored: Vec<(Timestamp, Way, Vec<PathBuf>)>,
    /// Whether a prompt went out with it. Then the next restore begins anew.
    told: bool,
}

impl Undoing {
    /// For an agent in this workspace, whose journal these are. What was restored since concerns it.
    pub fn new(checkpoints: Arc<Checkpoints>, workspace: Workspace, since: Timestamp) -> Self {
        Self { checkpoints, workspace, since: Arc::new(Mutex::new(since)), news: Arc::default() }
    }

    /// The store.
    pub fn undo(&self) -> &Undo {
        self.checkpoints.undo()
    }

    /// A prompt is about to begin a run of a session.
    pub fn begins(&self, session: Option<&str>, prompt: &str) {
        self.undo().about(session, Some(prompt));
        self.resumes();
    }

    /// A run is about to go on that waited.
    pub fn resumes(&self) {
        self.look();
        self.news().told = true;
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
        let news = self.news();
        (!news.restored.is_empty()).then(|| note(&news.restored))
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a person should know of changes that cannot be undone.
    pub fn take_notices(&self) -> Vec<String> {
        self.checkpoints.take_notices()
    }

    /// Looks what was restored. When that cannot be read, the model finds out by reading the files.
    fn look(&self) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let restored = self.undo().restored_since(*since).unwrap_or_default();
        let Some((time, ..)) = restored.last() else { return };
        for (_, _, paths) in &restored {
            self.workspace.forget(paths.iter().map(Path::new));
        }
        *since = *time;
        let mut news = self.news();
        if std::mem::take(&mut news.told) {
            news.restored.clear();
        }
        news.restored.extend(restored);
    }
}

/// What was restored, with all files once.
fn note(restored: &[(Timestamp, Way, Vec<PathBuf>)]) -> String {
    let did = restored.iter().map(|(time, way, _)| {
        let did = match way {
            Way::Undo => "took changes of yours back",
            Way::Redo => "brought changes of yours back that they had taken back",
        };
        format!("At {} the user {did}.", time.strftime("%Y-%m-%d %H:%M:%S UTC"))
    });
    let paths: BTreeSet<&PathBuf> = restored.iter().flat_map(|(_, _, paths)| paths).collect();
    let mut named: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    if paths.len() > named.len() {
        named.push(format!("and {} more", paths.len() - named.len()));
    }
    format!(
        "{} These are not what you left or read; read them again before you rely on them:\n{}",
        did.collect::<Vec<_>>().join(" "),
        named.join("\n")
    )
}

#[async_trait]
impl Listener for Undoing {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::RunStart | EventKind::RunEnd { .. })
    }

    async fn event(&self, event: Event) {
        let run = event.run.as_str().into();
        match event.kind {
            EventKind::RunStart => {
                let undo = self.undo().clone();
                // With commands in the background this looks through the project.
                let _ = tokio::task::spawn_blocking(move || undo.run_begins(&run)).await;
            }
            EventKind::RunEnd { .. } => {
                let undo = self.undo().clone();
                // Commands that go on are looked after, which reads the disk. A failure there is told by the command.
                let _ = tokio::task::spawn_blocking(move || undo.run_ended(&run)).await;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "tests play tools")]

    use mica_session::undo::{Announced, ContentHash, OnConflict};

    use super::*;

    /// As a tool changes a file in a run of its own.
    fn edit(undo: &Undo, name: &str) {
        let (file, run) = (undo.project().join(name), name.into());
        let after = ContentHash::of(b"made");
        undo.changing(Announced { run: &run, call: "c", path: &file, before: None, after }).unwrap();
        std::fs::write(&file, "made").unwrap();
        undo.changed("c", &file).unwrap();
        undo.run_ended(&run).unwrap();
    }

    /// The files that the model is told.
    fn told(undoing: &Undoing) -> Vec<String> {
        let note = undoing.note().unwrap_or_default();
        note.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn promise_8_all_that_was_restored_between_two_prompts_is_told_and_nothing_older() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("work");
        std::fs::create_dir(&root).unwrap();
        let undo = Undo::new(&outer.path().join("undo"), &root, Timestamp::now).unwrap();
        let checkpoints = Arc::new(Checkpoints::new(undo.clone()));
        let undoing = Undoing::new(checkpoints, Workspace::new(&root).unwrap(), Timestamp::now());
        for name in ["a", "b", "c"] {
            edit(&undo, name);
        }
        let asked = Asked {
            way: Way::Undo,
            run: None,
            files: Vec::new(),
            dry_run: false,
            on_conflict: OnConflict::Refuse,
        };
        assert_eq!(undoing.note(), None);
        undoing.perform(&asked).unwrap();
        undoing.perform(&asked).unwrap();
        assert_eq!(told(&undoing), ["b", "c"]);
        undoing.begins(None, "next");
        assert_eq!(told(&undoing), ["b", "c"], "as long as this run goes on");
        // In another terminal, while the run waits.
        undo.carry_out(&undo.plan_undo(None, &[]).unwrap(), OnConflict::Refuse).unwrap();
        undoing.resumes();
        assert_eq!(told(&undoing), ["a"]);
    }
}
