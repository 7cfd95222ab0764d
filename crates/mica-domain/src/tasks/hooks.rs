//! Notes what tools announce.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Hooks, Point, ToolOutput, ToolSpec};
use mica_ai::Content;
use mica_ai::message::ToolCall;

use crate::records::Records;
use crate::runners::Clock;
use crate::tasks::kind::{Announced, TaskKinds};
use crate::tasks::watch::Watches;
use crate::tasks::watcher::Waker;

/// Keeps a watch of whatever a call announces.
///
/// When it cannot, the model is told so with the result: the work goes on, and nobody will say when it is done.
pub struct TaskHooks {
    session: String,
    watches: Watches,
    kinds: TaskKinds,
    clock: Clock,
    waker: Waker,
}

impl TaskHooks {
    /// Hooks for a session. The waker is the watcher's, or one of its own where the watcher is in another process.
    pub fn new(
        session: impl Into<String>,
        records: Arc<dyn Records>,
        kinds: TaskKinds,
        clock: Clock,
        waker: Waker,
    ) -> Self {
        Self { session: session.into(), watches: Watches::new(records), kinds, clock, waker }
    }

    async fn note(&self, call: &ToolCall, output: &ToolOutput) -> Result<(), String> {
        let Some(task) = Announced::of(output.details.as_ref())? else { return Ok(()) };
        if self.kinds.get(&task.kind).is_none() {
            let known: Vec<&str> = self.kinds.names().collect();
            return Err(format!(
                "there is no kind {:?} of tasks; there are: {}",
                task.kind,
                known.join(", ")
            ));
        }
        let now = (self.clock)();
        let begun = self.watches.begin(&self.session, task, call.id.as_str(), now).await;
        if begun.map_err(|error| error.to_string())? {
            self.waker.wake();
        }
        Ok(())
    }
}

#[async_trait]
impl Hooks for TaskHooks {
    fn says(&self, at: Point) -> bool {
        at == Point::AfterTool
    }

    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        if let Err(problem) = self.note(call, output).await {
            tracing::error!(tool = spec.name, problem, "a task is not watched");
            output.content.push(Content::text(format!(
                "This cannot be watched ({problem}): nobody will say when it is done. Look yourself, or say so."
            )));
        }
    }
}
