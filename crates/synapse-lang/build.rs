//! Reads the data of the language when the crate is built: the model, and the pages of the codes.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "cargo speaks to build scripts this way")]

#[path = "build/model.rs"]
mod model;
#[path = "build/pages.rs"]
mod pages;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    pages::write();
    model::write()
}
