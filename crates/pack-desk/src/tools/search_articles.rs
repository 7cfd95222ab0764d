//! `search_articles`: finds help articles by their words.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, line, more, outside};
use crate::station::{Sight, Station};
use crate::store::{Done, MOST, Result, articles, bounded};

/// Its name.
pub const NAME: &str = "search_articles";

const ABOUT: &str = "Finds help articles by their words, the best first, with an excerpt of each. Look here before you answer \
                     how something is done.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What it is about, in a few words.
    query: String,
    /// How many at most, up to 50.
    limit: Option<u32>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Search articles", ABOUT, look).tool()
}

fn look(station: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let internal = station.sight == Sight::Member;
    let mut found = articles::search(connection, &input.query, internal, Some(MOST))?;
    let all = found.len();
    found.truncate(bounded(input.limit, 5) as usize);
    let rows: Vec<String> = found
        .iter()
        .enumerate()
        .map(|(index, found)| {
            let internal = if found.audience == "internal" { ", for the desk only" } else { "" };
            format!(
                "{}. {} ({}{internal}): {}",
                index + 1,
                line(&found.title, 80),
                found.id,
                line(&found.excerpt, 240)
            )
        })
        .collect();
    let mut text = more(found.len(), all, "articles");
    if !rows.is_empty() {
        text = format!("{text}\n{}", outside("articles", &rows.join("\n")));
    }
    Ok(Done { text, details: json!({ "articles": found }) })
}
