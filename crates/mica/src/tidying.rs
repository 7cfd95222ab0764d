//! Deletes old sessions when the settings say so, and what is kept for undo and is too old or too much: beside the work, at
//! most once a day, and never a session that is open or has a label. Sessions of subagents go an hour after their end,
//! whatever the settings say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mica_session::undo::{UndoError, prune_all};
use tokio::task::JoinHandle;

use crate::commands::sessions::{folder, prune};
use crate::commands::undo;
use crate::config::Values;
use crate::equipment::subagents::links;
use crate::surroundings::Surroundings;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sessions that are being deleted, or none, and what was kept for undo.
pub struct Tidying(Option<JoinHandle<Option<String>>>, Option<JoinHandle<Option<String>>>);

impl Tidying {
    /// Looks whether it is time, and begins. The session of this program must be open by now, so that it stays.
    pub fn begin(values: &Values, surroundings: &Surroundings) -> Self {
        let undo = Some(undo_data(values, surroundings));
        let retention = prune::retention(&values.sessions);
        let mark = surroundings.data.join("tidied");
        let sessions = folder(surroundings);
        let sessions = tokio::task::spawn_blocking(move || {
            #[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
            let now = jiff::Timestamp::now();
            sessions.sweep_children(None, links::kept(), now);
            let retention = match retention {
                Ok(retention) if retention != mica_session::Retention::default() => retention,
                Ok(_) => return None,
                Err(error) => return Some(format!("{error:#}")),
            };
            if !is_due(&mark) {
                return None;
            }
            set(&mark);
            let plan = sessions.plan(&retention, now);
            if plan.goes.is_empty() {
                return None;
            }
            let told = prune::carry_out(&sessions, plan.goes);
            Some(format!("{}, as [sessions] in the settings says", told.trim_end()))
        });
        Self(Some(sessions), undo)
    }

    /// Waits until it is done, and says what went.
    #[allow(clippy::print_stderr, reason = "a program speaks")]
    pub async fn end(self) {
        for working in [self.0, self.1].into_iter().flatten() {
            if let Ok(Some(told)) = working.await {
                eprintln!("mica: {told}");
            }
        }
    }
}

/// Prunes what is kept for undo. What went is not told: nobody asks for what they did a month ago, and what takes room
/// is said by `mica undo --list`. A project that somebody works in is left for the next time.
fn undo_data(values: &Values, surroundings: &Surroundings) -> JoinHandle<Option<String>> {
    let (retention, folder) = (undo::retention(&values.undo), undo::folder(surroundings));
    let mark = surroundings.data.join("undo").join("tidied");
    tokio::task::spawn_blocking(move || {
        let retention = match retention {
            Ok(retention) => retention,
            Err(error) => return Some(format!("{error:#}")),
        };
        if !folder.is_dir() || !is_due(&mark) {
            return None;
        }
        #[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
        let pruned = prune_all(&folder, &retention, jiff::Timestamp::now());
        set(&mark);
        pruned.into_iter().find_map(|(project, pruned)| match pruned {
            Err(UndoError::Busy) | Ok(_) => None,
            Err(error) => Some(format!("{} cannot be tidied: {error}", project.display())),
        })
    })
}

/// Whether the last look was long enough ago. A mark from the future was set by a clock that was wrong.
fn is_due(mark: &Path) -> bool {
    let looked = std::fs::metadata(mark).and_then(|facts| facts.modified());
    looked.ok().and_then(|looked| looked.elapsed().ok()).is_none_or(|since| since >= EVERY)
}

/// Remembers that it was looked. When that cannot be written, it is looked again next time.
#[allow(clippy::disallowed_methods, reason = "the mark is the program's own file")]
fn set(mark: &PathBuf) {
    if let Some(folder) = mark.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = std::fs::write(mark, "");
}
