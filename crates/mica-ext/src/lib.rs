//! Lets others add behaviour at run time, in a cage.
//!
//! It must not know: products and their user interfaces. It reads no environment, no home folder and no clock; whoever
//! puts it together says where things are and who can be asked.
//!
//! Its nouns: an [`Extension`] is something that others wrote; a [`Factory`] registers what it brings with a
//! [`Registry`], one trait for each [`concern`]; [`Extensions`] are all of them, among the hooks and listeners of an agent;
//! a [`World`] is what they can ask of the program; [`script`] makes extensions of TypeScript.
//!
//! ```
//! use std::sync::Arc;
//!
//! use mica_ext::script::{self, Bundle, Setting};
//! use mica_ext::world::NoWorld;
//! use mica_ext::{Extensions, Typed};
//!
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
//! # runtime.block_on(async {
//! let source = r#"
//!     import type { ExtensionFactory } from "mica";
//!     const shout: ExtensionFactory = (api) => {
//!         api.on("input", (event) => ({ action: "transform", text: event.text.toUpperCase() }));
//!     };
//!     export default shout;
//! "#;
//! let bundle = Bundle::of_source("shout", source)?;
//! let extension = script::load(&bundle, Setting::new(Arc::new(NoWorld))).await?;
//! let extensions = Extensions::new(vec![extension]);
//! // Among the hooks and listeners of an agent: `Arc::new(extensions.clone())`, twice.
//! assert_eq!(extensions.typed("hello").await, Typed::Instead("HELLO".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod concern;
pub mod extensions;
pub mod hooks;
pub mod mcp;
pub mod memory;
pub mod registry;
pub mod script;
pub mod skills;
pub mod templates;
pub mod world;

pub use concern::{
    Command, CompactTrigger, Guard, Guarded, Input, Lifecycle, Moment, Prompting, Shortcut, Typed, Window,
};
pub use extensions::{Deadlines, Extension, Extensions, Health, Notice, Origin};
pub use registry::{Factory, Registry};
pub use world::World;
