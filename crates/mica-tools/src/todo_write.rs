//! `todo_write`: the model's own list of what is to be done, for itself and for the person who watches.
//!
//! Every call brings the whole list, so there is nothing to merge and nothing to get out of step. A [`Notebook`] keeps
//! it wherever the session is kept.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{
    Access, Args, Effect, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::read;

/// The name models call it by.
pub const NAME: &str = "todo_write";

/// Items of a list at most. What is longer is a plan, and belongs into a file.
const MOST: usize = 50;

/// Characters of an item at most: a line, not a page.
const LONGEST: usize = 300;

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Todo {
    /// What is to be done, as one line: "Add a retry to the order client".
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same while it is being done: "Adding a retry to the order client".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

impl Todo {
    /// The item as people read it: while it is being done, what is being done.
    pub fn shown(&self) -> &str {
        match (&self.active_form, self.status) {
            (Some(active), TodoStatus::InProgress) if !active.trim().is_empty() => active.trim(),
            _ => self.content.trim(),
        }
    }
}

/// How far something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// The mark before an item.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Pending => "[ ]",
            Self::InProgress => "[>]",
            Self::Completed => "[x]",
        }
    }
}

/// The whole list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoWriteArgs {
    /// All items, in the order they will be done. What is left out is gone.
    #[schemars(length(max = 50))]
    todos: Vec<Todo>,
}

/// Keeps a list, wherever the session is kept.
#[async_trait]
pub trait Notebook: Send + Sync {
    /// Keeps all of it.
    ///
    /// # Errors
    /// In words. The list then stays as it was.
    async fn keep(&self, todos: &[Todo]) -> Result<(), String>;
}

/// The list of a session. Clones share it.
#[derive(Clone, Default)]
pub struct Todos {
    list: Arc<Mutex<Vec<Todo>>>,
    notebook: Option<Arc<dyn Notebook>>,
}

impl Todos {
    /// A list that is kept.
    #[must_use]
    pub fn keeping(mut self, notebook: Arc<dyn Notebook>) -> Self {
        self.notebook = Some(notebook);
        self
    }

    /// The list as it stands.
    pub fn get(&self) -> Vec<Todo> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the list to what was kept before.
    pub fn restore(&self, todos: Vec<Todo>) {
        *self.list.lock().unwrap_or_else(PoisonError::into_inner) = todos;
    }

    /// The list as a model is told it, beside what is said: `None` when nothing is left to do.
    pub fn section(&self) -> Option<String> {
        let todos = self.get();
        let open = todos.iter().any(|todo| todo.status != TodoStatus::Completed);
        open.then(|| format!("Your list of what is to be done, as it stands:\n{}", checklist(&todos)))
    }
}

/// A list as rows.
pub fn checklist(todos: &[Todo]) -> String {
    let rows = todos.iter().map(|todo| format!("{} {}", todo.status.mark(), todo.shown()));
    rows.collect::<Vec<_>>().join("\n")
}

/// Writes the list.
pub struct TodoWrite {
    todos: Todos,
    spec: ToolSpec,
}

impl TodoWrite {
    /// A tool for a list.
    pub fn new(todos: &Todos) -> Self {
        let description = "Keeps your list of what is to be done; the person sees it. Give the whole list every time. \
                           Use it for work of three steps or more, keep one item in progress, and mark an item completed \
                           as soon as it is, not before. It is not for single small tasks.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<TodoWriteArgs>());
        spec.label = "Update to-do list".to_owned();
        spec.access = Access::Write;
        spec.effect = Effect::Idempotent;
        Self { todos: todos.clone(), spec }
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn touches(&self, _: &Args) -> Vec<Resource> {
        vec![Resource::named("todos", "list")]
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let TodoWriteArgs { todos } = read(args)?;
        if let Some(problem) = problem(&todos) {
            return Err(ToolError::new(format!("{problem} The list is as it was.")));
        }
        if let Some(notebook) = &self.todos.notebook {
            let kept = notebook.keep(&todos).await;
            kept.map_err(|error| ToolError::new(format!("The list could not be kept: {error}.")))?;
        }
        let output = ToolOutput::text(noted(&todos)).with_details(json!({ "todos": todos }));
        self.todos.restore(todos);
        Ok(output)
    }
}

/// What is wrong with a list, and what to do.
fn problem(todos: &[Todo]) -> Option<String> {
    if todos.len() > MOST {
        return Some(format!("The list has {} items; {MOST} are the most. Join small steps.", todos.len()));
    }
    for (at, todo) in todos.iter().enumerate() {
        let number = at + 1;
        let length = todo.content.trim().chars().count();
        if length == 0 {
            return Some(format!("Item {number} has no content. Say what is to be done, or leave it out."));
        }
        if length > LONGEST || todo.content.trim().contains('\n') {
            return Some(format!("Item {number} is longer than a line of {LONGEST} characters. Shorten it."));
        }
    }
    None
}

/// What the model reads: how far it is, and a word where the list is unclear.
fn noted(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The list is empty now.".to_owned();
    }
    let count = |status: TodoStatus| todos.iter().filter(|todo| todo.status == status).count();
    let (done, doing) = (count(TodoStatus::Completed), count(TodoStatus::InProgress));
    let mut text = format!("Noted: {done} of {} done.", todos.len());
    if doing > 1 {
        text.push_str(&format!(
            " {doing} items are in progress; work on one at a time, and mark only that one."
        ));
    } else if doing == 0 && done < todos.len() {
        text.push_str(" No item is in progress: mark the one you begin with.");
    }
    text
}

#[cfg(test)]
mod tests;
