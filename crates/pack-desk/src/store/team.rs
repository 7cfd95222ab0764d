//! Members of the desk, and agents that act for them.

use mica_domain::Rights;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Hand, Result, activity};
use crate::error::DeskError;

/// What a member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Admin,
    /// Everything but agents.
    Agent,
    /// Looks, and writes notes.
    Viewer,
}

impl Role {
    /// The rights that come with it.
    pub fn rights(self) -> Rights {
        const VIEWER: [&str; 4] = ["records.read", "mail.read", "kb.read", "notes.write"];
        const AGENT: [&str; 6] =
            ["records.write", "mail.sort", "mail.draft", "mail.send", "tasks.write", "kb.write"];
        match self {
            Self::Admin => Rights::All,
            Self::Agent => Rights::of(VIEWER.into_iter().chain(AGENT)),
            Self::Viewer => Rights::of(VIEWER),
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "admin" => Self::Admin,
            "agent" => Self::Agent,
            // Who cannot be placed may look.
            _ => Self::Viewer,
        }
    }
}

/// Somebody who works at the desk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Their id.
    pub id: String,
    /// Their name.
    pub name: String,
    /// Where mail reaches them.
    pub email: String,
    /// What they may do.
    pub role: Role,
    /// What they do.
    pub about: String,
}

/// An agent of the desk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentRow {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who answers for it.
    pub owner: String,
    /// What it may do at most.
    pub rights: Vec<String>,
    /// What it is told.
    pub prompt: String,
    /// Counts the changes of what it is told.
    pub version: i64,
}

/// All members, in the order of their names.
///
/// # Errors
/// Of the database.
pub fn members(connection: &Connection) -> Result<Vec<Member>> {
    let mut select =
        connection.prepare("SELECT id, name, email, role, about FROM members ORDER BY name LIMIT 50")?;
    let rows = select.query_map([], |row| {
        Ok(Member {
            id: row.get(0)?,
            name: row.get(1)?,
            email: row.get(2)?,
            role: Role::read(&row.get::<_, String>(3)?),
            about: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All agents, by id.
///
/// # Errors
/// Of the database.
pub fn agents(connection: &Connection) -> Result<Vec<AgentRow>> {
    let mut select = connection
        .prepare("SELECT id, name, owner, rights, prompt, version FROM agents ORDER BY id LIMIT 50")?;
    let rows = select.query_map([], agent_row)?;
    rows.map(|row| read(row?)).collect()
}

/// An agent.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn agent(connection: &Connection, id: &str) -> Result<AgentRow> {
    let mut select =
        connection.prepare("SELECT id, name, owner, rights, prompt, version FROM agents WHERE id = ?1")?;
    let row = select.query_row([id], agent_row).optional()?;
    row.map(read).transpose()?.ok_or_else(|| DeskError::Missing {
        kind: "agent".to_owned(),
        id: id.to_owned(),
        near: agents(connection).unwrap_or_default().into_iter().map(|agent| agent.id).collect(),
    })
}

/// Changes what an agent is told.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn set_prompt(tx: &Transaction<'_>, hand: &Hand, id: &str, prompt: &str) -> Result<AgentRow> {
    let before = agent(tx, id)?;
    tx.execute(
        "UPDATE agents SET prompt = ?2, version = version + 1, updated = ?3 WHERE id = ?1",
        (id, prompt, hand.at.as_millisecond()),
    )?;
    activity::log(tx, hand, "told", id, &json!({ "before": before.prompt, "after": prompt }))?;
    agent(tx, id)
}

/// What somebody may do: a member by their role; an agent what its owner may, as far as its own rights go.
///
/// # Errors
/// [`DeskError::Missing`], or of the database.
pub fn rights(connection: &Connection, who: &str) -> Result<Rights> {
    let role = |id: &str| -> Result<Rights> {
        let mut select = connection.prepare("SELECT role FROM members WHERE id = ?1")?;
        let role: Option<String> = select.query_row([id], |row| row.get(0)).optional()?;
        role.map(|role| Role::read(&role).rights()).ok_or_else(|| DeskError::Missing {
            kind: "member".to_owned(),
            id: id.to_owned(),
            near: Vec::new(),
        })
    };
    if who.starts_with("agent:") {
        let agent = agent(connection, who)?;
        let own = Rights::of(agent.rights.iter().map(String::as_str));
        return Ok(own.and(&role(&agent.owner)?));
    }
    role(who)
}

type AgentParts = (String, String, String, String, String, i64);

fn agent_row(row: &Row<'_>) -> rusqlite::Result<AgentParts> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
}

fn read((id, name, owner, rights, prompt, version): AgentParts) -> Result<AgentRow> {
    Ok(AgentRow { id, name, owner, rights: serde_json::from_str(&rights)?, prompt, version })
}
