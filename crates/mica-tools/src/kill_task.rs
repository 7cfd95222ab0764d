//! `kill_task`: stops a task, and says what came of it.

use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{Args, Effect, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::task_output::touched;
use crate::tasks::{Stop, TaskState, Tasks, Until};

/// The name models call it by.
pub const NAME: &str = "kill_task";

/// How long a task has to end before the answer says that it has not yet: longer than the grace that commands have.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct KillTaskArgs {
    /// The task's id, such as shell-1.
    id: String,
}

/// Stops tasks. Only those that this session began, so no mode minds it.
pub struct KillTask {
    tasks: Tasks,
    spec: ToolSpec,
}

impl KillTask {
    /// A tool for the tasks of a session.
    pub fn new(tasks: &Tasks) -> Self {
        let description = "Stops a background task that you began, with everything it started, and says how it ended. \
                           What it printed can still be read afterwards.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<KillTaskArgs>());
        spec.label = "Stop task".to_owned();
        spec.effect = Effect::Idempotent;
        Self { tasks: tasks.clone(), spec }
    }
}

#[async_trait]
impl Tool for KillTask {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        touched(args)
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: KillTaskArgs = read(args)?;
        let stop = self.tasks.stop(&args.id)?;
        if stop == Stop::Told {
            self.tasks.wait(&args.id, Until::End, PATIENCE, &cx.cancel).await?;
        }
        let reading = self.tasks.read(&args.id, u64::MAX)?;
        let id = &reading.task.id;
        let said = match (&stop, &reading.task.state) {
            (Stop::Was(ending), _) => format!("{id} had ended already: it {ending}. Nothing was done."),
            (Stop::Told, TaskState::Ended(ending)) => {
                format!("{id} has ended: it {ending}, after {} s.", reading.task.ran.as_secs())
            }
            (Stop::Told, TaskState::Running) => {
                format!("{id} was told to stop, and has not ended yet. Look again in a moment.")
            }
        };
        Ok(ToolOutput::text(said).with_details(json!({ "task": reading.task })))
    }
}

#[cfg(test)]
mod tests;
