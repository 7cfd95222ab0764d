//! Keeps the tree of entries of a session safe, on disk, and gives it back.
//!
//! It must not know: what the entries mean to a domain, what goes into a model's window, products. It reads no clock, no
//! environment and no home folder; it is given them.
//!
//! Its nouns: [`Sessions`] is a folder of sessions. A [`Session`] is an open one: [`Entry`] after entry is appended at its
//! leaf. Its [`Tree`] says how they hang together.
//!
//! ```
//! use mica_ai::User;
//! use mica_session::{Access, Durability, Message, Sessions};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let noon = jiff::Timestamp::from_second(1_800_000_000)?;
//! let sessions = Sessions::new(folder.path(), move || noon);
//! let mut session = sessions.create("/home/user/orders".as_ref(), None)?;
//! let question = session.append(Message::from(User::text("Why does it fail?")), Durability::Now)?;
//! session.append(Message::from(User::text("No: why is it slow?")), Durability::Now)?;
//!
//! // Go back, and on from there: a branch. Where the conversation stands is stored, too.
//! session.navigate(Some(question))?;
//! let path = session.path().to_owned();
//! drop(session);
//!
//! let session = sessions.open(&path, Access::Read)?;
//! assert_eq!(session.live()?.messages().count(), 1);
//! assert_eq!(session.tree().len(), 3);
//! assert_eq!(sessions.list(None).sessions[0].title(), "Why does it fail?");
//! # Ok(())
//! # }
//! ```

mod blob;
mod contents;
pub mod entry;
mod error;
mod export;
mod files;
mod id;
mod index;
mod line;
mod lock;
mod node;
mod notice;
mod paths;
mod session;
mod sessions;
mod source;
mod tree;
#[cfg(unix)]
pub mod undo;
mod unfinished;
mod upcast;

pub use blob::Limits;
pub use entry::{Body, ChildOf, Compaction, Entry, Header, Mode, RunId, Version};
pub use error::SessionError;
pub use export::{Format, Scope};
pub use files::{Durability, Readers, Worth, replace_file};
pub use id::{BadId, EntryId, SessionId};
pub use mica_ai::Message;
pub use node::{Kind, Link, Node, PREVIEW};
pub use notice::Notice;
pub use session::{Access, Clock, Entries, Session};
pub use sessions::{Goes, Listing, Plan, Retention, Sessions, Spared, Summary, Why};
pub use tree::{Live, Row, Tree, TreeError};
pub use unfinished::{Unfinished, unfinished};
