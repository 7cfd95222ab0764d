//! The server as a client sees it: messages in, messages out, over pipes.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "the tests write the projects that the server reads, and fail by panicking"
)]

mod actions;
mod bad_input;
mod client;
mod completion;
mod diagnostics;
mod endurance;
mod explain;
mod lifecycle;
mod names;
mod shapes;
mod workspace;

use client::sequence;
