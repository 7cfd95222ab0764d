//! What goes wrong where an assistant is built into a product, each as a test that it does not go wrong here. One test for
//! each way, through what a product sees of a copilot; how it is kept from happening is tested beside the code that does it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

#[path = "../support/mod.rs"]
mod support;

mod asking;
mod history;
mod limits;
mod places;
mod runs;
mod shop;
mod wire;
