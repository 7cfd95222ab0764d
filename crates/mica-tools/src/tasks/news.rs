//! Tells the model that a task has ended, so that it need not ask.
//!
//! The notice joins before the next answer. When the model was about to stop, it reads it and can go on with what the task
//! came to. Each end is told once, and not at all when it was read already.

use async_trait::async_trait;
use mica_agent::Hooks;
use mica_ai::{Message, User};

use super::Tasks;

/// Tells ends of tasks.
pub struct TaskNews {
    tasks: Tasks,
}

impl TaskNews {
    /// Of the tasks of a session.
    pub fn new(tasks: &Tasks) -> Self {
        Self { tasks: tasks.clone() }
    }
}

#[async_trait]
impl Hooks for TaskNews {
    async fn steering(&self) -> Vec<Message> {
        let ended: Vec<String> = self.tasks.take_endings().iter().map(|task| format!("- {task}")).collect();
        if ended.is_empty() {
            return Vec::new();
        }
        // The model reads it as a user's message; whose words it is must be said.
        let text = format!(
            "[A notice of the program, not of the user. Background tasks have ended; `{}` shows what they printed:\n{}]",
            crate::task_output::NAME,
            ended.join("\n")
        );
        vec![User::text(text).into()]
    }
}
