//! The server as a client sees it: messages in, messages out, over pipes.

#![allow(clippy::disallowed_methods, reason = "the tests write the projects that the server reads")]

mod actions;
mod bad_input;
mod client;
mod completion;
mod diagnostics;
mod explain;
mod lifecycle;
mod names;
mod shapes;
mod workspace;

use client::{Client, at, sequence};
