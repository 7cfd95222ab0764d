//! What a change to a file would look like, for a person who is asked about it. Nothing is changed.

use mica_agent::{Preview, ToolError};

use crate::diff::diff;

/// Bytes of a diff that a person is shown at most. Whoever wants to read more than this reads the file afterwards.
const SHOWN: usize = 256 << 10;

/// The diff of a change that can be made, or why it cannot. `plan` answers the file's name, what it has and what it
/// would have; it waits for a disk, so it is done where waiting is allowed.
pub(crate) async fn preview(
    plan: impl FnOnce() -> Result<(String, String, String), ToolError> + Send + 'static,
) -> Option<Preview> {
    let planning = tokio::task::spawn_blocking(move || match plan() {
        Ok((title, before, after)) => {
            let change = diff(&title, &before, &after, SHOWN);
            Preview::Diff { title, diff: change.diff, added: change.added, removed: change.removed }
        }
        Err(error) => Preview::Fails { reason: error.message },
    });
    planning.await.ok()
}

#[cfg(test)]
mod tests;
