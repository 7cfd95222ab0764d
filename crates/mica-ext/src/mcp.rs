//! Servers of the Model Context Protocol: what they offer, as tools of the agent.
//!
//! Promises: nothing is started before somebody needs it; a list that was seen once is known in the next session without
//! a start; a server that breaks ends the calls it had at once and is started again, each time later; what a server says,
//! of its tools or as a result, is fenced as its words; a tool that was described otherwise when a person agreed to it is
//! asked about again; and what the model was sent is never changed by what a server does.
//!
//! Its nouns: a [`ServerConfig`] is what a person wrote, a [`Server`] is one that is looked after, [`Known`] is what was
//! seen of it, and [`Servers`] are all of them with the tools they come to.

mod asking;
pub mod auth;
mod calls;
pub mod config;
mod error;
mod gate;
mod given;
mod handler;
mod known;
mod link;
mod log;
mod names;
mod output;
pub mod programs;
mod prompts;
mod resources;
mod schema;
mod server;
mod servers;
mod stdio;
mod tool;
pub(crate) mod words;

pub use config::{Problem, ServerConfig, Source, Transport};
pub use error::McpError;
pub use gate::McpGate;
pub use given::{Given, Patience};
pub use known::{Known, KnownPrompt, KnownTool, Store};
pub use log::Log;
pub use names::public as public_name;
pub use output::told;
pub use prompts::PromptCommand;
pub use server::{Server, Standing};
pub use servers::{SentTool, Servers, Settings};
