//! Runs TypeScript with limits and no ambient authority.
//!
//! It must not know: agents, tools, products. A script sees the values it is given, and nothing of the machine: no file,
//! no network, no process, no environment, and of time and chance only what [`Limits`] say.
//!
//! Its nouns: [`strip`] turns TypeScript into a [`Stripped`] source, a [`Cage`] runs modules within [`Limits`], a
//! [`Resident`] is a script that stays and has several calls under way, and a [`Host`] is what scripts may ask for. An [`Outline`] tells what a source consists of. Every failure is a
//! [`ScriptError`], with places in the TypeScript.
//!
//! ```
//! use mica_script::{Cage, Limits};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let cage = Cage::new(Limits::default())?;
//! cage.module("sum.ts", "export const sum = (of: number[]): number => of.reduce((a, b) => a + b, 0);").await?;
//! assert_eq!(cage.call("sum.ts", "sum", &[json!([1, 2, 3])]).await?, json!(6));
//! # Ok::<(), mica_script::ScriptError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cage;
pub mod console;
mod deep;
mod engine;
pub mod error;
pub mod host;
pub mod limits;
pub mod modules;
pub mod outline;
pub mod position;
pub mod resident;
mod slots;
mod strip;
mod trace;
mod watch;

pub use cage::Cage;
pub use console::Console;
pub use error::{Frame, ScriptError};
pub use host::Host;
pub use limits::{Clock, Limits};
pub use modules::Resolver;

pub use outline::{Outline, outline};
pub use position::Position;
pub use resident::Resident;
pub use strip::{Stripped, strip};
