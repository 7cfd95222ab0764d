//! `mica mcp`: servers of the Model Context Protocol, without an agent.

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
        _ => bail!("this is not there yet"),
    }
}
