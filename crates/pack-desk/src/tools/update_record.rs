//! `update_record`: changes fields of one company or contact.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::search_records::data;
use super::{DeskTool, diff, outside, rows, standing, text};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::entities::{self, Entity, Kind};
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "update_record";

const ABOUT: &str = "Changes fields of one company or contact. Say which record: it is never guessed from what is open. A person \
                     sees the change and is asked, so do not ask them yourself: call it. Companies have name, domain, city, tier \
                     (key, standard, small), status (active, trial, at risk, paused, lost), owner and about; contacts have name, \
                     company, email, phone, title and status (active, left, do not contact).";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the record.
    record: String,
    /// The fields that change, with their new values. An empty text empties a field.
    changes: Map<String, Value>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Change a record", ABOUT, change)
        .previewing(preview)
        .touching(|input| vec![input.record.clone()])
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("records.write")
        .minting(mint)
        .digesting(|args| format!("Change {}: {}", text(args, "record"), said(args.get("changes"))))
        .shown_as("record-diff")
        .amending("changes")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    let act = standing::resting(act(), station, |_, connection, input: Input| {
        let id = crate::ids::record(connection, &input.record, None)?;
        standing::record(connection, Base::default(), &id, input.changes.keys())
    });
    standing::settling(act, station, |station, _, args| {
        standing::settle_owner(station, args.get_mut("changes"));
        Ok(())
    })
}

fn preview(_: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let id = crate::ids::record(connection, &input.record, None)?;
    let before = entities::get(connection, &id)?;
    let changes = changes(connection, &before, &input.changes)?;
    let reached =
        reached(before.kind, &changes).map(|reached| format!(". {}", reached.trim())).unwrap_or_default();
    let title = format!("{} ({id}){reached}", super::line(&before.name, 80));
    Ok(diff(&title, &rows(&named(&before, &changes)), &rows(&changes)))
}

/// What it means that an address changes, or whose colleague somebody is: mail may go there that could not before.
pub(crate) fn reached(kind: Kind, changes: &Map<String, Value>) -> Option<String> {
    let opens = |name: &str| changes.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let is_so = kind == Kind::Contact && (opens("email") || opens("company"));
    is_so.then(|| "Mail in conversations with this company may go to this address from then on.\n".to_owned())
}

/// Changes as they would be kept.
fn changes(
    connection: &Connection,
    before: &Entity,
    changes: &Map<String, Value>,
) -> Result<Map<String, Value>> {
    if changes.is_empty() {
        return Err(DeskError::invalid("no field is given; say what changes"));
    }
    let mut changes = entities::checked(connection, before.kind, changes)?;
    changes.iter_mut().filter(|(_, value)| value.is_null()).for_each(|(_, value)| *value = json!(""));
    Ok(changes)
}

/// The same fields as they are.
fn named(before: &Entity, changes: &Map<String, Value>) -> Map<String, Value> {
    changes.keys().map(|name| (name.clone(), json!(before.get(name).unwrap_or_default()))).collect()
}

fn change(_: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let id = crate::ids::record(tx, &input.record, None)?;
    if input.changes.is_empty() {
        return Err(DeskError::invalid("no field is given; say what changes"));
    }
    let (before, after) = entities::update(tx, hand, &id, &input.changes)?;
    let details = json!({ "records": [data(&after)], "before": data(&before) });
    if before.version == after.version {
        return Ok(Done { text: format!("{id} is like that already; nothing changed."), details });
    }
    // What was there before was written by anybody.
    Ok(Done { text: format!("Changed {id}.\n{}", outside("changes", &summary(&before, &after))), details })
}

/// What changed, in one line.
pub(crate) fn summary(before: &Entity, after: &Entity) -> String {
    let fields = after.kind.fields().iter().map(|field| field.name);
    let changed = fields.filter(|name| before.get(name) != after.get(name));
    let said =
        |value: Option<&str>| value.map_or_else(|| "nothing".to_owned(), |value| super::line(value, 60));
    let changed: Vec<String> = changed
        .map(|name| format!("{name} {} → {}", said(before.get(name)), said(after.get(name))))
        .collect();
    changed.join("; ")
}

/// Changes in one line, as the model gave them.
pub(crate) fn said(changes: Option<&Value>) -> String {
    let members = changes.and_then(Value::as_object).into_iter().flatten();
    let said: Vec<String> = members
        .map(|(name, value)| {
            format!("{name} = {}", super::line(value.as_str().unwrap_or(&value.to_string()), 60))
        })
        .collect();
    said.join(", ")
}

fn mint(args: &Args, _: &Minting) -> Minted {
    let (record, changes) = (text(args, "record"), said(args.get("changes")));
    Minted { text: format!("Would change {record}: {changes}."), details: json!({ "record": record }) }
}
