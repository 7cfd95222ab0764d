//! `mica mcp serve` as other agents use it: the real binary over standard input and output and over HTTP, asked by hand,
//! by the official client and by mica's own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "helpers of tests are tests"
)]

mod mcp_serve {
    mod clients;
    mod http;
    mod lines;
    mod places;
    pub mod stage;
}
