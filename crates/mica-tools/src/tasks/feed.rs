//! The owner's side of a task: tells what is printed and how it ended.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Ending, Task, TaskId, TaskState};

/// The owner's side of a task. Dropping it without an end is an end, too: [`Ending::Lost`].
pub struct Feed {
    task: Arc<Task>,
}

impl Feed {
    pub(super) fn new(task: Arc<Task>) -> Self {
        Self { task }
    }

    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.task.id
    }

    /// Fires when the task should stop.
    pub fn cancel(&self) -> &CancellationToken {
        &self.task.cancel
    }

    /// Tells what was printed: what is new, never all of it again.
    pub fn append(&self, text: &str) {
        if !text.is_empty() {
            self.task.change(|work| work.transcript.append(text));
        }
    }

    /// Tells how it ended.
    pub fn end(self, ending: Ending) {
        self.finish(ending);
    }

    fn finish(&self, ending: Ending) {
        let now = (self.task.clock)();
        self.task.change(|work| {
            if !work.state.has_ended() {
                work.state = TaskState::Ended(ending);
                work.ended = Some(now);
            }
        });
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.finish(Ending::Lost);
    }
}
