//! `update_thread`: state, assignee, urgency and tags of a conversation.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::find_threads::row;
use super::get_thread::meant;
use super::list_tasks::whose;
use super::{DeskTool, diff, standing, text};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::threads::{self, Change, Thread};
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "update_thread";

const ABOUT: &str = "Changes the state, the assignee, the urgency or the tags of a conversation. A person is asked, unless the \
                     agent was trusted with it.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the thread; the one that is open when absent.
    thread: Option<String>,
    /// open, waiting or closed.
    status: Option<String>,
    /// Who has it: a member or an agent, "me", or "none".
    assignee: Option<String>,
    /// low, normal or high.
    priority: Option<String>,
    /// Tags that come.
    add_tags: Option<Vec<String>>,
    /// Tags that go.
    remove_tags: Option<Vec<String>>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Sort a thread", ABOUT, change)
        .previewing(preview)
        .touching(|input| input.thread.iter().cloned().collect())
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("mail.sort")
        .minting(mint)
        .digesting(|args| format!("Sort {}: {}", text(args, "thread"), said(args)))
        .amending("status")
        .amending("assignee")
        .amending("priority")
        .amending("add_tags")
        .amending("remove_tags")
}

/// The same at a station, where agents are asked about less.
pub(crate) fn act_at(station: &Station) -> Act {
    let act = if station.who.starts_with("agent:") { act_of_agents() } else { act() };
    let act = standing::resting(act, station, |_, connection, input: Input| {
        standing::thread(connection, Base::default(), &meant(input.thread.as_deref())?)
    });
    standing::settling(act, station, |station, connection, args| {
        standing::settle(args, "assignee", |who| whose(station, connection, who))
    })
}

/// The same for the desk's agents: to tag something and to say how urgent it is needs nobody.
pub(crate) fn act_of_agents() -> Act {
    act().asking_when(|args| {
        let sorts = |name: &str| matches!(name, "thread" | "priority" | "add_tags" | "remove_tags");
        Ok(args.iter().any(|(name, value)| !sorts(name) && !value.is_null()))
    })
}

fn changes(station: &Station, connection: &Connection, input: Input) -> Result<(String, Change)> {
    let id = meant(input.thread.as_deref())?;
    let lower =
        |text: Option<String>| text.map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty());
    let assignee = input.assignee.filter(|who| !who.trim().is_empty());
    let change = Change {
        status: lower(input.status),
        assignee: assignee.map(|who| whose(station, connection, &who)).transpose()?,
        priority: lower(input.priority),
        add_tags: input.add_tags.unwrap_or_default(),
        remove_tags: input.remove_tags.unwrap_or_default(),
    };
    if change == Change::default() {
        return Err(DeskError::invalid("nothing is given; say what changes"));
    }
    Ok((id, change))
}

fn preview(station: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let (id, change) = changes(station, connection, input)?;
    let (before, change) = (threads::get(connection, &id)?, threads::checked(&change)?);
    let mut after = before.clone();
    after.status = change.status.unwrap_or(after.status);
    after.priority = change.priority.unwrap_or(after.priority);
    if let Some(assignee) = change.assignee {
        after.assignee = Some(assignee).filter(|who| who != "none");
    }
    after.tags.retain(|tag| !change.remove_tags.contains(tag));
    after.tags.extend(change.add_tags);
    after.tags.sort();
    after.tags.dedup();
    Ok(diff(&format!("{} ({id})", super::line(&before.subject, 80)), &facts(&before), &facts(&after)))
}

fn facts(thread: &Thread) -> String {
    format!(
        "status: {}\nassignee: {}\npriority: {}\ntags: {}\n",
        thread.status,
        thread.assignee.as_deref().unwrap_or("nobody"),
        thread.priority,
        thread.tags.join(" ")
    )
}

fn change(station: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let (id, change) = changes(station, tx, input)?;
    let (before, after) = threads::update(tx, hand, &id, &change)?;
    let text = if before == after {
        format!("{id} is like that already; nothing changed.")
    } else {
        format!("Sorted {id}.")
    };
    let text = format!("{text}\n{}", super::outside("thread", &row(station, &after)));
    Ok(Done { text, details: json!({ "threads": [after] }) })
}

fn said(args: &Args) -> String {
    let members = args.iter().filter(|(name, value)| *name != "thread" && !value.is_null());
    let said: Vec<String> = members
        .map(|(name, value)| match value {
            Value::Array(list) => {
                let list: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                format!("{name} {}", list.join(" "))
            }
            value => format!("{name} {}", value.as_str().unwrap_or(&value.to_string())),
        })
        .collect();
    said.join(", ")
}

fn mint(args: &Args, _: &Minting) -> Minted {
    let thread = text(args, "thread");
    Minted { text: format!("Would sort {thread}: {}.", said(args)), details: json!({ "thread": thread }) }
}
