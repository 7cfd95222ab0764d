//! Plays a model by script, on the wire or in process, with faults and a cache simulator.
//!
//! It must not know: products, agents, how mica parses what is played here. The wire writers follow the providers'
//! published event sequences, so that a parser which agrees with them is right and not merely consistent.
//!
//! Its nouns: a [`Scenario`] of [`Turn`]s is held by a [`Script`], which answers requests. A
//! [`ScriptedServer`] plays a script over HTTP on loopback, a [`ScriptedTransport`] plays it in process under tokio's
//! clock, and a [`ScriptedModel`] plays it as a `Provider` without any wire. A [`Fault`] spoils an answer in one
//! named way. The [`CacheSim`] tells what a provider's prompt cache would have read and written.
//!
//! ```
//! use mica_testkit::{Scenario, Turn};
//!
//! // The same scenario, by builder and as a file.
//! let built = Scenario::new()
//!     .turn(Turn::new().thinking("Look it up.").call("search", serde_json::json!({"q": "mica"})))
//!     .turn(Turn::new().text("A mineral."));
//! let read = Scenario::from_toml(
//!     r#"
//!     [[turns]]
//!     steps = [{ thinking = "Look it up." }, { call = { name = "search", args = { q = "mica" } } }]
//!
//!     [[turns]]
//!     steps = [{ text = "A mineral." }]
//!     "#,
//! )?;
//! assert_eq!(built, read);
//! # Ok::<(), mica_testkit::ScenarioError>(())
//! ```
//!
//! The whole file format is described in `docs/testkit.md`.

mod answer;
pub mod cache;
mod capture;
mod fault;
mod http1;
mod ids;
mod model;
mod pieces;
pub mod prefix;
pub mod preset;
mod route;
mod scenario;
mod script;
mod seal;
mod seen;
mod server;
mod spoil;
mod transport;
pub mod validate;
pub mod wire;

pub use answer::{Answer, Beat, Body, Head, Piece, Playback, Tail};
pub use cache::{CacheReport, CacheSim, Reason};
pub use capture::Captured;
pub use fault::{At, Expect, Fault, Named, StreamError, Then, Where};
pub use model::ScriptedModel;
pub use preset::ErrorAnswer;
pub use route::{Route, Vendor};
pub use scenario::{
    Call, Limits, Pacing, Scenario, ScenarioError, Step, Stop, Turn, TurnUsage, When, WireOptions,
};
pub use script::{Incoming, Script};
pub use seen::Seen;
pub use server::{ScriptedServer, refused_address};
pub use transport::ScriptedTransport;
