//! Runs a command under a boundary that the kernel enforces. The only crate that starts processes.
//!
//! It must not know: what a command is for, who asked for it, or whether somebody agreed. It is given a [`Boundary`] and
//! keeps it, or says that it cannot and runs nothing.
//!
//! Its nouns: a [`Boundary`] says what a command may touch, a [`Tier`] how much of that the kernel enforces here, and a
//! [`Sandbox`] runs [`Command`]s to an [`Ended`].
//!
//! Invariant: when a command has ended, nothing that it started is running. Invariant: a boundary that cannot be built
//! is an error, never a weaker boundary.
//!
//! ```no_run
//! use std::collections::BTreeMap;
//! use std::path::Path;
//!
//! use mica_sandbox::{Around, Boundary, Command, Places, Sandbox, Stub};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), mica_sandbox::SandboxError> {
//! let sandbox = Sandbox::negotiate(Stub::this_program()).await;
//! let environment = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
//! let around = Around { home: Some(Path::new("/home/user")), environment: &environment, temporary: Path::new("/tmp") };
//! let boundary = Boundary::project(Path::new("/home/user/project"), &around, &Places::builtin()?)?;
//! let command = Command::new("make", "/home/user/project").argument("test");
//! let finished = sandbox.run_to_end(command, &boundary, 64 * 1024, CancellationToken::new()).await?;
//! assert!(finished.ended.how.is_success(), "{}", finished.ended.how);
//! # Ok(())
//! # }
//! ```

#[cfg(not(unix))]
compile_error!("processes are kept by their keeper, which needs Unix sockets and signals");

#[cfg(unix)]
mod aftermath;
pub mod boundary;
mod child;
mod command;
pub mod denial;
mod error;
mod groups;
mod held;
mod launch;
pub mod network;
mod notice;
pub mod outcome;
pub mod places;
mod plan;
mod ready;
mod sandbox;
pub mod stub;
mod supervise;
pub mod tier;

pub use boundary::{Around, Boundary, Limits, Network, UnixSockets, Weak};
pub use child::{Child, Chunk, Stream};
pub use command::{Command, Streaming};
pub use denial::Denial;
pub use error::SandboxError;
pub use network::Host;
pub use notice::Notice;
pub use outcome::{Ended, How, Limit, Usage};
pub use places::Places;
pub use sandbox::{Finished, Kept, Sandbox, Stub};
pub use tier::{Missing, Report, Tier};
