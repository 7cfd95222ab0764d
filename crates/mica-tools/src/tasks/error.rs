//! What can go wrong with tasks.

use mica_agent::ToolError;

/// Why a task was not begun, read or stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// No task has this id.
    #[error("there is no task {id:?}")]
    Unknown {
        /// As it was given.
        id: String,
        /// Those that there are, each in a line.
        known: Vec<String>,
    },
    /// As many run as may.
    #[error("{} tasks run already", running.len())]
    TooMany {
        /// Their ids.
        running: Vec<String>,
    },
    /// The session is over.
    #[error("the session is over")]
    Closed,
}

impl TaskError {
    /// What happened and what to do instead, for the model.
    pub fn for_model(&self) -> String {
        match self {
            Self::Unknown { id, known } if known.is_empty() => {
                format!(
                    "There is no task {id:?}, and no other either. One that ended is forgotten after an hour."
                )
            }
            Self::Unknown { id, known } => {
                format!("There is no task {id:?}. These are known:\n{}", known.join("\n"))
            }
            Self::TooMany { running } => format!(
                "{} tasks run already ({}), which is the most. Nothing was begun. Stop one, or wait for one to end.",
                running.len(),
                running.join(", ")
            ),
            Self::Closed => "The session is over. Nothing was begun.".to_owned(),
        }
    }
}

impl From<TaskError> for ToolError {
    fn from(error: TaskError) -> Self {
        ToolError::new(error.for_model())
    }
}
