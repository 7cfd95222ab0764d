//! `list_members`: who works at the desk.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::DeskTool;
use crate::station::Station;
use crate::store::{Done, Result, team};

/// Its name.
pub const NAME: &str = "list_members";

const ABOUT: &str = "Lists the people who work at the desk, and its agents. Members are colleagues; customers are contacts, and \
                     are found elsewhere.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "List members", ABOUT, look).tool()
}

fn look(_: &Station, connection: &Connection, _: Input) -> Result<Done> {
    let (members, agents) = (team::members(connection)?, team::agents(connection)?);
    let mut text = format!("{} members, {} agents.", members.len(), agents.len());
    for member in &members {
        let role = serde_json::to_value(member.role)?;
        let role = role.as_str().unwrap_or_default();
        text.push_str(&format!("\n- {} ({}): {role}. {}", member.name, member.id, member.about));
    }
    for agent in &agents {
        text.push_str(&format!("\n- {} ({}): an agent of {}", agent.name, agent.id, agent.owner));
    }
    let agents: Vec<_> =
        agents.iter().map(|agent| json!({ "id": agent.id, "name": agent.name, "role": "agent" })).collect();
    Ok(Done { text, details: json!({ "members": members, "agents": agents }) })
}
