//! `add_note`: writes something down for the desk.

use std::sync::Arc;

use mica_agent::{Args, Tool};
use mica_domain::{Act, Minted, Minting};
use rusqlite::Transaction;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, line, text};
use crate::station::Station;
use crate::store::{Done, Hand, Result, notes};

/// Its name.
pub const NAME: &str = "add_note";

const ABOUT: &str =
    "Writes a note about a record, thread, task or article. Only the desk reads notes. Nobody is asked.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What it is about: an id.
    about: String,
    /// What to remember.
    text: String,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Add a note", ABOUT, change)
        .unasked()
        .touching(|input| vec![input.about.clone()])
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("notes.write")
        .minting(mint)
        .digesting(|args| format!("Note on {}: {}", text(args, "about"), line(text(args, "text"), 80)))
}

fn change(_: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let about = crate::ids::anything(tx, &input.about)?;
    let note = notes::add(tx, hand, &about, &input.text)?;
    let text = match note.mentions.as_slice() {
        [] => format!("Noted on {about}."),
        called => format!("Noted on {about}; it calls {}.", called.join(", ")),
    };
    Ok(Done { text, details: json!({ "note": note }) })
}

fn mint(args: &Args, _: &Minting) -> Minted {
    Minted {
        text: format!("Would note on {}.", text(args, "about")),
        details: json!({ "about": text(args, "about") }),
    }
}
