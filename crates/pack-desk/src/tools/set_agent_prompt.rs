//! `set_agent_prompt`: what an agent of the desk is told.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, diff, standing, text};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::{Done, Hand, Result, team};

/// Its name.
pub const NAME: &str = "set_agent_prompt";

/// Letters at most.
const LONGEST: usize = 4000;

const ABOUT: &str = "Changes what an agent of the desk is told. A person sees the change and is asked. Afterwards, run the evals.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the agent; the one that is open when absent.
    agent: Option<String>,
    /// All that it is told, not only what changes.
    prompt: String,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Instruct an agent", ABOUT, change)
        .previewing(preview)
        .touching(|input| input.agent.iter().cloned().collect())
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("agents.write")
        .minting(mint)
        .digesting(|args| format!("Instruct {}", text(args, "agent")))
        .amending("prompt")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    standing::resting(act(), station, |_, connection, input: Input| {
        standing::agent(connection, &meant(&input)?)
    })
}

fn meant(input: &Input) -> Result<String> {
    let given = input.agent.as_deref().filter(|agent| !agent.trim().is_empty());
    let given = given.ok_or_else(|| DeskError::invalid("no agent is open; say which one is meant"))?;
    let prompt = input.prompt.trim();
    if prompt.is_empty() || prompt.chars().count() > LONGEST {
        return Err(DeskError::invalid(format!("a prompt has 1 to {LONGEST} letters")));
    }
    crate::ids::of_kind(given, "agent")
}

fn preview(_: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let agent = team::agent(connection, &meant(&input)?)?;
    let rows = |prompt: &str| format!("{}\n", prompt.trim().replace(". ", ".\n"));
    Ok(diff(&format!("{} ({})", agent.name, agent.id), &rows(&agent.prompt), &rows(&input.prompt)))
}

fn change(_: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let agent = team::set_prompt(tx, hand, &meant(&input)?, input.prompt.trim())?;
    let text = format!("{} is told so from now on (version {}).", agent.id, agent.version);
    Ok(Done { text, details: json!({ "agent": agent }) })
}

fn mint(args: &Args, _: &Minting) -> Minted {
    Minted {
        text: format!("Would instruct {}.", text(args, "agent")),
        details: json!({ "agent": text(args, "agent") }),
    }
}
