//! `create_record`: a new company or contact.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::search_records::{data, row};
use super::update_record::reached;
use super::{DeskTool, outside, rows, standing, text};
use crate::station::Station;
use crate::store::entities::{self, Kind};
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "create_record";

const ABOUT: &str =
    "Makes a new company or contact. Search first, so that nobody is there twice. A person is asked.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What it is.
    kind: Kind,
    /// Its name.
    name: String,
    /// Its other fields, for example {"company": "company:initech", "email": "eva@initech.test"}.
    fields: Option<Map<String, Value>>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Create a record", ABOUT, change).previewing(preview).tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("records.write")
        .minting(mint)
        .digesting(|args| format!("New {}: {}", text(args, "kind"), text(args, "name")))
        .shown_as("record-diff")
        .amending("name")
        .amending("fields")
}

/// The same at a station: somebody else may make the same one meanwhile.
pub(crate) fn act_at(station: &Station) -> Act {
    let act = standing::resting(act(), station, |_, connection, input: Input| {
        let like = like(connection, input.kind, &input.name)?;
        let ids: Vec<String> = like.into_iter().map(|entity| entity.id).collect();
        Ok(Base::of("records like it", ids.join(" ")))
    });
    standing::settling(act, station, |station, _, args| {
        standing::settle_owner(station, args.get_mut("fields"));
        Ok(())
    })
}

/// Records that are called so.
fn like(connection: &Connection, kind: Kind, name: &str) -> Result<Vec<entities::Entity>> {
    let same =
        entities::Search { words: name.to_owned(), kind: Some(kind), limit: Some(3), ..Default::default() };
    Ok(entities::search(connection, &same)?.0)
}

fn fields(input: Input) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), Value::String(input.name));
    fields.extend(input.fields.unwrap_or_default().into_iter().filter(|(name, _)| name != "name"));
    fields
}

fn preview(_: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let (kind, name) = (input.kind, input.name.clone());
    let fields = entities::checked(connection, kind, &fields(input))?;
    let like = like(connection, kind, &name)?;
    let mut text = rows(&fields);
    text.extend(reached(kind, &fields));
    for (index, entity) in like.iter().enumerate() {
        text.push_str(&format!(
            "{}- {}\n",
            if index == 0 { "\nThere is already:\n" } else { "" },
            row(entity)
        ));
    }
    Ok(Preview::Text { title: format!("a new {}: {name}", kind.name()), text })
}

fn change(_: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let kind = input.kind;
    let entity = entities::create(tx, hand, kind, &fields(input))?;
    let text = format!("Made {}.\n{}", entity.id, outside("record", &row(&entity)));
    Ok(Done { text, details: json!({ "records": [data(&entity)] }) })
}

fn mint(args: &Args, minting: &Minting) -> Minted {
    let (kind, name) = (text(args, "kind"), text(args, "name"));
    Minted {
        text: format!("Would make the {kind} {name:?}."),
        details: json!({ "records": [{ "id": minting.id, "kind": kind, "name": name }] }),
    }
}
