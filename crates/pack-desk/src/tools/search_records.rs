//! `search_records`: finds companies and contacts.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{DeskTool, line, more, outside};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::entities::{self, Entity, Kind, Search};
use crate::store::{Done, Result};

/// Its name.
pub const NAME: &str = "search_records";

const ABOUT: &str = "Finds companies and contacts by words of their name, address, city or title. Gives ids, which other tools \
                     take. When several fit a name, ask which one is meant.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Words that must all be there. Leave it out to list.
    query: Option<String>,
    /// Only records of this kind.
    kind: Option<Kind>,
    /// Only records with this status, for example "at risk".
    status: Option<String>,
    /// Only contacts of this company: its id.
    company: Option<String>,
    /// How many at most, up to 50.
    limit: Option<u32>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Search records", ABOUT, look).tool()
}

fn look(_: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let company = input.company.filter(|company| !company.trim().is_empty());
    let company =
        company.map(|company| crate::ids::record(connection, &company, Some(Kind::Company))).transpose()?;
    let status = input.status.map(|status| status.trim().to_lowercase().replace(['_', '-'], " "));
    let status = status.filter(|status| !status.is_empty());
    let kinds = input.kind.map_or_else(|| vec![Kind::Company, Kind::Contact], |kind| vec![kind]);
    let mut known: Vec<&str> = kinds.iter().flat_map(|kind| kind.states()).copied().collect();
    known.dedup();
    if let Some(status) = status.as_deref().filter(|status| !known.contains(status)) {
        return Err(DeskError::invalid(format!(
            "status cannot be {status:?}; it is one of {}",
            known.join(", ")
        )));
    }
    let search = Search {
        words: input.query.unwrap_or_default(),
        kind: input.kind,
        status,
        company,
        limit: input.limit,
    };
    let (found, all) = entities::search(connection, &search)?;
    let rows: Vec<String> =
        found.iter().enumerate().map(|(index, entity)| format!("{}. {}", index + 1, row(entity))).collect();
    let mut text = more(found.len(), all, "records");
    if !rows.is_empty() {
        text = format!("{text}\n{}", outside("records", &rows.join("\n")));
    }
    let records: Vec<Value> = found.iter().map(data).collect();
    Ok(Done { text, details: json!({ "records": records, "total": all }) })
}

/// A record in one line.
pub(crate) fn row(entity: &Entity) -> String {
    format!("{} ({}): {}", line(&entity.name, 80), entity.id, line(&entity.summary(), 160))
}

/// A record as cards show it.
pub(crate) fn data(entity: &Entity) -> Value {
    json!({
        "id": entity.id,
        "kind": entity.kind,
        "name": entity.name,
        "summary": entity.summary(),
        "fields": entity.fields,
        "version": entity.version,
        "updated": entity.updated,
        "deleted": entity.deleted,
    })
}
