//! `task_output`: shows what a task printed since it was last looked at, and whether it still runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{Args, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::arguments::read;
use crate::tasks::{Reading, TaskState, Tasks, Until};

/// The name models call it by.
pub const NAME: &str = "task_output";

/// The longest a call waits, in seconds. Short of what a provider's cache lasts, so that waiting does not cost the prompt.
pub const LONGEST: u64 = 240;

/// Which task, and how long to wait.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskOutputArgs {
    /// The task's id, such as shell-1.
    id: String,
    /// Seconds to wait before answering, at most 240. Not at all if left out.
    wait_seconds: Option<u64>,
    /// What to wait for. The end of the task if left out.
    until: Option<Wanted>,
    /// Show all that is kept, not only what is new.
    all: Option<bool>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    /// The end.
    End,
    /// New output, or the end.
    News,
}

/// Reads tasks.
pub struct TaskOutput {
    tasks: Tasks,
    spec: ToolSpec,
    /// Up to where each task was read: what is new differs for each reader, and this tool is one.
    seen: Mutex<BTreeMap<String, u64>>,
}

impl TaskOutput {
    /// A tool for the tasks of a session.
    pub fn new(tasks: &Tasks) -> Self {
        let description = format!(
            "Shows what a background task printed since you last looked, and whether it still runs. With wait_seconds it \
             waits for the end (or for until: news) and answers as soon as that is there, at most after {LONGEST} \
             seconds. Waiting is better than asking again and again. A long output is shown from both ends; the answer \
             says which file has all of it."
        );
        let mut spec = ToolSpec::new(NAME, description, schema_of::<TaskOutputArgs>());
        spec.label = "Task output".to_owned();
        spec.deadline = Duration::from_secs(LONGEST + 30);
        Self { tasks: tasks.clone(), spec, seen: Mutex::default() }
    }

    fn seen(&self, id: &str) -> u64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied().unwrap_or(0)
    }

    fn saw(&self, id: &str, next: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(id.to_owned(), next);
        // What is forgotten need not be remembered here.
        let known: Vec<String> = self.tasks.list().into_iter().map(|task| task.id.to_string()).collect();
        seen.retain(|id, _| known.contains(id));
    }
}

#[async_trait]
impl Tool for TaskOutput {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        touched(args)
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let args: TaskOutputArgs = read(args)?;
        let wants_all = args.all.unwrap_or(false);
        let from = if wants_all { 0 } else { self.seen(&args.id) };
        let wait = Duration::from_secs(args.wait_seconds.unwrap_or(0).min(LONGEST));
        if !wait.is_zero() {
            let until = match args.until.unwrap_or(Wanted::End) {
                Wanted::End => Until::End,
                Wanted::News => Until::News { from: self.seen(&args.id) },
            };
            self.tasks.wait(&args.id, until, wait, &cx.cancel).await?;
        }
        let reading = self.tasks.read(&args.id, from)?;
        self.saw(&args.id, reading.next);
        let mut text = show(&reading, from);
        if args.wait_seconds.is_some_and(|wanted| wanted > LONGEST) && !reading.task.state.has_ended() {
            text.push_str(&format!("\n[waited {LONGEST} s, which is the longest]"));
        }
        Ok(ToolOutput::text(text).with_details(json!({ "task": reading.task })))
    }
}

/// What a call on a task touches: the task.
pub(crate) fn touched(args: &Args) -> Vec<Resource> {
    let id = args.get("id").and_then(serde_json::Value::as_str);
    id.map(|id| Resource::named("task", id)).into_iter().collect()
}

/// A reading as the model sees it: the state first, because it is what decides what to do next.
pub(crate) fn show(reading: &Reading, from: u64) -> String {
    let mut lines = vec![format!("{}.", reading.task)];
    if !reading.rest.is_empty() {
        lines.push(reading.rest.clone());
    }
    match (reading.text.is_empty(), from, &reading.task.state) {
        (true, 0, TaskState::Running) => lines.push("[it has printed nothing yet]".to_owned()),
        (true, 0, TaskState::Ended(_)) => lines.push("[it printed nothing]".to_owned()),
        (true, ..) => lines.push("[nothing new since the last look]".to_owned()),
        (false, ..) => lines.push(format!("\n{}", reading.text.trim_end_matches('\n'))),
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;
