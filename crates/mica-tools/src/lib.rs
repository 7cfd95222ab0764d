//! Generic tools: files, search and commands inside one workspace, pages of the web, a list of what is to be done,
//! questions to people, and plans.
//!
//! It must not know: any domain, user interface or provider. It reads no environment, no home folder and no clock; it
//! touches no file outside of the folders it is given, and changes files in one module (`store`).
//!
//! Its nouns: a [`Workspace`] is the folder that tools work in, the tools are [`FileRead`], [`FileWrite`], [`FileEdit`],
//! [`Grep`], [`Glob`] and [`ListDir`], a [`Journal`] is told what they change, and a [`FileUse`] which files a call used.
//! [`Shell`] runs commands on a [`Ground`]. [`Tasks`] are work that outlives the call that began it; [`TaskOutput`] and
//! [`KillTask`] are the tools for them. On the web, [`web::WebFetch`] and [`web::WebSearch`] are the tools, and a
//! [`web::Web`] is the way there. [`Todos`] is the list of a session, a [`Person`] is somebody who can be asked, and
//! [`Planning`] is what plan mode needs. [`Deferred`] tools are listed and loaded instead of being sent with every request.
//!
//! ```
//! use mica_agent::ToolSet;
//! use mica_tools::{Sight, Workspace};
//!
//! let workspace = Workspace::new(".")?;
//! let mut tools = ToolSet::default();
//! for tool in mica_tools::file_tools(&workspace, Sight::Blind) {
//!     tools.add(tool);
//! }
//! let names: Vec<&str> = tools.names().collect();
//! assert_eq!(names, ["file_edit", "file_read", "file_write", "glob", "grep", "list_dir"]);
//! # Ok::<(), mica_tools::FileError>(())
//! ```

#[cfg(not(unix))]
compile_error!("the file tools open files relative to folders, which is done for Unix only so far");

pub mod arguments;
pub mod ask_user_question;
pub mod change;
pub mod checkpoints;
pub mod deferred;
mod diff;
pub mod digest;
pub mod error;
mod excerpt;
pub mod file_edit;
pub mod file_read;
pub mod file_use;
pub mod file_write;
pub mod glob;
pub mod grep;
mod guard;
pub mod journal;
pub mod kill_task;
mod kind;
pub mod limits;
mod list;
pub mod list_dir;
mod matching;
mod near;
mod nearest;
pub mod notebook;
mod open;
mod pattern;
pub mod pdf;
pub mod person;
pub mod plain;
pub mod plan;
mod preview;
pub mod redact;
pub mod resolve;
mod seen;
pub mod shell;
mod store;
pub mod subagent;
pub mod task_output;
pub mod tasks;
#[cfg(test)]
mod testing;
mod text;
pub mod todo_write;
pub mod transcript;
mod variables;
mod walk;
pub mod web;
pub mod workspace;

use std::sync::Arc;

use mica_agent::Tool;

pub use ask_user_question::AskUserQuestion;
pub use change::{Change, Changed};
pub use checkpoints::Checkpoints;
pub use deferred::{Deferred, Shelf, Supplier};
pub use digest::Digest;
pub use error::FileError;
pub use file_edit::FileEdit;
pub use file_read::{FileRead, Sight};
pub use file_use::FileUse;
pub use file_write::FileWrite;
pub use glob::Glob;
pub use grep::Grep;
pub use journal::{Before, FileChange, Journal, NoJournal};
pub use kill_task::KillTask;
pub use limits::Limits;
pub use list_dir::ListDir;
pub use person::{Inquiry, Nobody, Person, Reply};
pub use plan::{Modes, PlanGate, Planning, Plans};
pub use redact::Redaction;
pub use resolve::{Found, Place};
pub use shell::{Ground, Shell, ShellSettings};
pub use subagent::{CreateSubagent, Profile, Profiles, Subagent, Subagents};
pub use task_output::TaskOutput;
pub use tasks::{
    Ending, Feed, TaskError, TaskId, TaskInfo, TaskKind, TaskLimits, TaskState, Tasks, WeakTasks,
};
pub use todo_write::{Todo, TodoStatus, TodoWrite, Todos};
pub use workspace::{Durability, Workspace};

/// Tools that talk to a person. An agent that works for another agent is given none of them.
pub const TALKING: [&str; 3] = [ask_user_question::NAME, plan::ENTER, plan::EXIT];

/// All tools on files, for one workspace.
pub fn file_tools(workspace: &Workspace, sight: Sight) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(FileRead::new(workspace, sight)),
        Arc::new(FileWrite::new(workspace)),
        Arc::new(FileEdit::new(workspace)),
        Arc::new(Grep::new(workspace)),
        Arc::new(Glob::new(workspace)),
        Arc::new(ListDir::new(workspace)),
    ]
}

/// The tools for the tasks of a session.
pub fn task_tools(tasks: &Tasks) -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(TaskOutput::new(tasks)), Arc::new(KillTask::new(tasks))]
}
