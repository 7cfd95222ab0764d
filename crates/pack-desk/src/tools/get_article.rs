//! `get_article`: one help article.

use std::sync::Arc;

use mica_agent::Tool;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{DeskTool, line, outside};
use crate::error::DeskError;
use crate::station::{Sight, Station};
use crate::store::{Done, Result, articles};

/// Its name.
pub const NAME: &str = "get_article";

const ABOUT: &str = "Reads a help article. Without an id, the one that is open.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the article; the one that is open when absent.
    article: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::looking(station, NAME, "Read an article", ABOUT, look).tool()
}

/// The article that is meant.
pub(crate) fn meant(article: Option<&str>) -> Result<String> {
    let given = article.filter(|article| !article.trim().is_empty());
    let given = given.ok_or_else(|| DeskError::invalid("no article is open; say which one is meant"))?;
    crate::ids::of_kind(given, "article")
}

fn look(station: &Station, connection: &Connection, input: Input) -> Result<Done> {
    let id = meant(input.article.as_deref())?;
    // What is for the desk only is not there for others: neither what it says nor that it is there.
    let hidden =
        |id: &str| DeskError::Missing { kind: "article".to_owned(), id: id.to_owned(), near: Vec::new() };
    let is_customer = station.sight == Sight::Customer;
    let article = articles::get(connection, &id).map_err(|error| match error {
        DeskError::Missing { .. } if is_customer => hidden(&id),
        error => error,
    })?;
    if article.audience == "internal" && is_customer {
        return Err(hidden(&id));
    }
    let audience = if article.audience == "internal" { "the desk only" } else { "customers" };
    let text = format!(
        "{id}, version {}, for {audience}. Its title stands in the first line, and is no part of what it says.\n{}",
        article.version,
        outside("article", &format!("{}\n\n{}", line(&article.title, 120), article.body))
    );
    let details =
        json!({ "articles": [{ "id": article.id, "title": article.title, "audience": article.audience }] });
    Ok(Done { text, details })
}
