//! `mica mcp`: servers of the Model Context Protocol, without an agent.

pub mod serve;

use anyhow::{Result, bail};

use crate::cli::Cli;
use crate::cli::mcp::McpCommand;
use crate::exit::Exit;
use crate::surroundings::Surroundings;

/// Does what was typed.
///
/// # Errors
/// In words, with what to do.
pub async fn run(command: &McpCommand, _: &Cli, _: &Surroundings) -> Result<Exit> {
    match command {
        // It needs no settings and no home, and is run before they are looked for.
        McpCommand::Serve(flags) => serve::run(flags, None).await,
        _ => bail!("this is not there yet"),
    }
}
