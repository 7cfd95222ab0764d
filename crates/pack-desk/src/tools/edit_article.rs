//! `edit_article`: changes a help article that the run holds.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Minted, Minting};
use rusqlite::{Connection, OptionalExtension, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::get_article::meant;
use super::{DeskTool, diff, line, standing, text};
use crate::error::DeskError;
use crate::life::Life;
use crate::station::Station;
use crate::store::articles::{self, Edit};
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "edit_article";

const ABOUT: &str = "Changes a help article: one place in it, quoted exactly as it is, or all of it. A person sees the change and is \
                     asked. While you work the article is held, so nobody else changes it.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the article; the one that is open when absent.
    article: Option<String>,
    /// A new title.
    title: Option<String>,
    /// The place that changes, quoted exactly, with enough of it to be unique.
    old: Option<String>,
    /// What comes there instead.
    new: Option<String>,
    /// The whole text, when nearly all of it changes. Not together with `old`.
    body: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Edit an article", ABOUT, change)
        .previewing(preview)
        .touching(|input| input.article.iter().cloned().collect())
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("kb.write")
        .minting(mint)
        .digesting(|args| format!("Edit {}: {}", text(args, "article"), line(text(args, "new"), 60)))
        .amending("title")
        .amending("new")
        .amending("body")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    standing::resting(act(), station, |_, connection, input: Input| {
        standing::article(connection, &meant(input.article.as_deref())?)
    })
}

fn edit(input: &Input) -> Result<Option<Edit>> {
    match (&input.old, &input.new, &input.body) {
        (Some(_), _, Some(_)) => Err(DeskError::invalid("give `old` and `new`, or `body`, and not both")),
        (Some(old), Some(new), None) => Ok(Some(Edit::Replace { old: old.clone(), new: new.clone() })),
        (Some(_), None, None) | (None, Some(_), _) => {
            Err(DeskError::invalid("`old` and `new` belong together"))
        }
        (None, None, Some(body)) => Ok(Some(Edit::Body(body.clone()))),
        (None, None, None) if input.title.is_some() => Ok(None),
        (None, None, None) => Err(DeskError::invalid("nothing is given; say what changes")),
    }
}

fn preview(_: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let article = articles::get(connection, &meant(input.article.as_deref())?)?;
    let (title, body) = articles::edited(&article, input.title.as_deref(), edit(&input)?.as_ref())?;
    let whole = |title: &str, body: &str| format!("{title}\n\n{}\n", sentences(body));
    Ok(diff(&article.id, &whole(&article.title, &article.body), &whole(&title, &body)))
}

/// A text with a row for each sentence: paragraphs of one row would hide what changed in them.
fn sentences(body: &str) -> String {
    body.replace(". ", ".\n")
}

fn change(station: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let id = meant(input.article.as_deref())?;
    let edit = edit(&input)?;
    // A run that was asked and answered in another process goes on with what it held.
    let held: Option<String> = tx
        .query_row(
            "SELECT run FROM article_locks WHERE article = ?1 AND holder = ?2",
            [&id, &station.who],
            |row| row.get(0),
        )
        .optional()?;
    let token = station.token().or(held);
    let run = token.clone().unwrap_or_else(|| hand.key.clone().unwrap_or_default());
    let holding = articles::Holding { run: &run, life: station.life.as_ref().map(Life::id) };
    let (before, after) = articles::write(tx, hand, &id, holding, input.title.as_deref(), edit.as_ref())?;
    if token.is_none() {
        // Nobody would let go of it later.
        articles::release(tx, &run, true, "")?;
    }
    let text = if before.version == after.version {
        format!("{id} says that already; nothing changed.")
    } else {
        format!(
            "Changed {id}, now version {}. Searching finds the new words after the articles were indexed anew.",
            after.version
        )
    };
    let details = json!({ "articles": [{ "id": id, "title": after.title, "audience": after.audience }] });
    Ok(Done { text, details })
}

fn mint(args: &Args, _: &Minting) -> Minted {
    let article = text(args, "article");
    Minted { text: format!("Would change {article}."), details: json!({ "article": article }) }
}
