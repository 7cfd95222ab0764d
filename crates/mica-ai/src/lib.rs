//! Turns a request into a stream of typed events from a model, on three wire dialects: OpenAI Responses, Claude
//! Messages and Chat Completions; on Azure AI Foundry, OpenAI, Anthropic and local servers.
//!
//! It must not know: agents, tools' code, files, products. It reads no environment and no home folder; it is given
//! what it needs.
//!
//! Its nouns: a [`Request`] goes to a [`Provider`], which answers a [`ModelStream`] of [`StreamEvent`]s that ends with
//! exactly one outcome.

pub mod arguments;
pub mod assemble;
pub mod auth;
pub mod catalogue;
pub mod connect;
pub mod decode;
pub mod dialect;
pub mod endpoint;
pub mod error;
pub mod event;
pub mod http;
pub mod id;
pub mod message;
pub mod model;
pub mod provider;
pub mod reasoning;
pub mod remote;
pub mod replay;
pub mod request;
pub mod retry;
#[cfg(test)]
mod scripted;
pub mod sse;
pub mod stream;
pub mod transport;
pub mod usage;
pub mod watchdog;

pub use catalogue::Catalogue;
pub use error::AiError;
pub use event::StreamEvent;
pub use message::{Assistant, Block, Content, Dialect, Message, Origin, StopReason, ToolResult, User};
pub use model::Model;
pub use provider::Provider;
pub use remote::Remote;
pub use request::Request;
pub use stream::{ModelStream, Outcome};
pub use usage::Usage;

/// The example in the README compiles, or the documentation tests fail.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
