//! The protocol side of the server: what every MCP server needs, and nothing that mica knows.
//!
//! An [`Offer`] says what there is. A [`Desk`] answers requests from it, in both eras of the protocol, and [`http`] and
//! [`stdio`] carry them. It knows nothing of the rest of the program, so that the protocol's own test suite can be run
//! against another offer on the very same code (`tests/mcp_conformance.rs`).

pub mod desk;
pub mod http;
pub mod offer;
pub mod pages;
pub mod stdio;

pub use desk::Desk;
pub use offer::{Asked, Offer};
