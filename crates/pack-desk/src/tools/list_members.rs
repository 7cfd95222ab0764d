//! `list_members`: who works at the desk.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, line, outside};
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
    let mut rows = Vec::new();
    for member in &members {
        let role = serde_json::to_value(member.role)?;
        let role = role.as_str().unwrap_or_default();
        rows.push(format!(
            "- {} ({}): {role}. {}",
            line(&member.name, 80),
            member.id,
            line(&member.about, 200)
        ));
    }
    for agent in &agents {
        rows.push(format!("- {} ({}): an agent of {}", line(&agent.name, 80), agent.id, agent.owner));
    }
    let text = format!(
        "{} members, {} agents.\n{}",
        members.len(),
        agents.len(),
        outside("members", &rows.join("\n"))
    );
    let agents: Vec<_> =
        agents.iter().map(|agent| json!({ "id": agent.id, "name": agent.name, "role": "agent" })).collect();
    Ok(Done { text, details: json!({ "members": members, "agents": agents }) })
}
