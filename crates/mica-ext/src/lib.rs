//! Lets others add behaviour at run time, in a cage.
//!
//! It must not know: products and their user interfaces. It reads no environment, no home folder and no clock; whoever
//! puts it together says where things are and who can be asked.
//!
//! Its nouns: an [`Extension`] is something that others wrote; a [`Factory`] registers what it brings with a
//! [`Registry`], one trait for each [`concern`]; [`Extensions`] are all of them, among the hooks and listeners of an agent;
//! a [`World`] is what they can ask of the program.

pub mod concern;
pub mod extensions;
pub mod mcp;
pub mod registry;
pub mod script;
pub mod world;

pub use concern::{Command, Guard, Guarded, Input, Lifecycle, Moment, Prompting, Shortcut, Typed, Window};
pub use extensions::{Deadlines, Extension, Extensions, Health, Notice, Origin};
pub use registry::{Factory, Registry};
pub use world::World;
