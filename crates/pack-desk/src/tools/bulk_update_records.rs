//! `bulk_update_records`: the same change for several records, all of them or none.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::search_records::data;
use super::update_record::{reached, said, summary};
use super::{DeskTool, line, outside, standing};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::entities;
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "bulk_update_records";

/// Records of one call at most.
const MOST: usize = 50;

const ABOUT: &str = "Makes the same change to several companies, or to several contacts: all of them or none. Name each of them. A \
                     person sees the list and is asked.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The ids of the records, all of one kind, 50 at most.
    records: Vec<String>,
    /// The fields that change, with their new values.
    changes: Map<String, Value>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Change several records", ABOUT, change)
        .previewing(preview)
        .touching(|input| input.records.clone())
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("records.write")
        .minting(mint)
        .digesting(|args| format!("Change {} records: {}", count(args), said(args.get("changes"))))
        .shown_as("bulk")
        .amending("records")
        .amending("changes")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    let act = standing::resting(act(), station, |_, connection, input: Input| {
        let ids = ids(connection, &input.records)?;
        ids.iter().try_fold(Base::default(), |base, id| {
            standing::record(connection, base, id, input.changes.keys())
        })
    });
    standing::settling(act, station, |station, _, args| {
        standing::settle_owner(station, args.get_mut("changes"));
        Ok(())
    })
}

/// The ids that are meant, each once.
fn ids(connection: &Connection, records: &[String]) -> Result<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    if records.is_empty() || records.len() > 2 * MOST {
        return Err(DeskError::invalid(format!("name 1 to {MOST} records")));
    }
    for record in records {
        let id = crate::ids::record(connection, record, None)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if ids.is_empty() || ids.len() > MOST {
        return Err(DeskError::invalid(format!("name 1 to {MOST} records")));
    }
    Ok(ids)
}

fn preview(_: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let ids = ids(connection, &input.records)?;
    let mut text = format!("Each of them: {}\n", said(Some(&Value::Object(input.changes.clone()))));
    for (index, id) in ids.iter().enumerate() {
        let entity = entities::get(connection, id)?;
        if index == 0 {
            text.extend(reached(entity.kind, &input.changes));
        }
        entities::checked(connection, entity.kind, &input.changes)?;
        let now: Vec<String> = input
            .changes
            .keys()
            .map(|name| format!("{name} is {}", entity.get(name).unwrap_or("empty")))
            .collect();
        text.push_str(&format!("- {} ({id}), {}\n", line(&entity.name, 60), now.join(", ")));
    }
    Ok(Preview::Text { title: format!("{} records", ids.len()), text })
}

fn change(_: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    if input.changes.is_empty() {
        return Err(DeskError::invalid("no field is given; say what changes"));
    }
    let (mut records, mut rows) = (Vec::new(), Vec::new());
    for id in ids(tx, &input.records)? {
        let (before, after) = entities::update(tx, hand, &id, &input.changes)?;
        if before.version != after.version {
            rows.push(format!("- {id}: {}", summary(&before, &after)));
        }
        records.push(data(&after));
    }
    let mut text = format!("Changed {} of {} records.", rows.len(), records.len());
    if !rows.is_empty() {
        text = format!("{text}\n{}", outside("changes", &rows.join("\n")));
    }
    Ok(Done { text, details: json!({ "records": records }) })
}

fn count(args: &Args) -> usize {
    args.get("records").and_then(Value::as_array).map_or(0, Vec::len)
}

fn mint(args: &Args, _: &Minting) -> Minted {
    let text = format!("Would change {} records: {}.", count(args), said(args.get("changes")));
    Minted { text, details: json!({ "count": count(args) }) }
}
