//! Generic tools: files and search, inside one workspace.
//!
//! It must not know: any domain, user interface or provider. It reads no environment, no home folder and no clock; it
//! touches no file outside of the folders it is given, and changes files in one module (`store`).
//!
//! Its nouns: a [`Workspace`] is the folder that tools work in, the tools are [`FileRead`], [`FileWrite`], [`FileEdit`],
//! [`Grep`], [`Glob`] and [`ListDir`], a [`Journal`] is told what they change, and a [`FileUse`] which files a call used.
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

mod arguments;
pub mod checkpoints;
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
pub mod journal;
mod kind;
pub mod limits;
mod list;
pub mod list_dir;
mod matching;
mod near;
mod nearest;
mod open;
mod pattern;
mod preview;
pub mod resolve;
mod seen;
mod store;
#[cfg(test)]
mod testing;
mod text;
mod walk;
pub mod workspace;

use std::sync::Arc;

use mica_agent::Tool;

pub use checkpoints::Checkpoints;
pub use digest::Digest;
pub use error::FileError;
pub use file_edit::FileEdit;
pub use file_read::{FileRead, Sight};
pub use file_use::FileUse;
pub use file_write::FileWrite;
pub use glob::Glob;
pub use grep::Grep;
pub use journal::{Before, FileChange, Journal, NoJournal};
pub use limits::Limits;
pub use list_dir::ListDir;
pub use resolve::{Found, Place};
pub use workspace::{Durability, Workspace};

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
