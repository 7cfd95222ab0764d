//! Lets others add behaviour at run time, in a cage.
//!
//! It must not know: products and their user interfaces. It reads no environment, no home folder and no clock; whoever
//! puts it together says where things are and who can be asked.
//!
//! Its nouns: an *extension* is something that others wrote; a [`Factory`] registers what it brings with a
//! [`Registry`], one trait for each [`concern`].

pub mod concern;
pub mod mcp;
pub mod registry;

pub use concern::{Command, Guard, Guarded, Input, Lifecycle, Moment, Prompting, Shortcut, Typed, Window};
pub use registry::{Factory, Registry};
