//! Deletes old sessions when the settings say so: beside the work, at most once a day, and never a session that is open
//! or has a label. Sessions of subagents go an hour after their end, whatever the settings say.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::JoinHandle;

use crate::commands::sessions::{folder, prune};
use crate::config::Values;
use crate::equipment::subagents::links;
use crate::surroundings::Surroundings;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// Sessions that are being deleted, or none.
pub struct Tidying(Option<JoinHandle<Option<String>>>);

impl Tidying {
    /// Looks whether it is time, and begins. The session of this program must be open by now, so that it stays.
    pub fn begin(values: &Values, surroundings: &Surroundings) -> Self {
        let retention = prune::retention(&values.sessions);
        let mark = surroundings.data.join("tidied");
        let sessions = folder(surroundings);
        Self(Some(tokio::task::spawn_blocking(move || {
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
        })))
    }

    /// Waits until it is done, and says what went.
    #[allow(clippy::print_stderr, reason = "a program speaks")]
    pub async fn end(self) {
        let Some(working) = self.0 else { return };
        if let Ok(Some(told)) = working.await {
            eprintln!("mica: {told}");
        }
    }
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
