//! `create_task`: gives somebody something to do.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::list_tasks::{row, whose};
use super::{DeskTool, line, outside, standing, text};
use crate::station::Station;
use crate::store::tasks::{self, New};
use crate::store::{Done, Hand, Result};

/// Its name.
pub const NAME: &str = "create_task";

const ABOUT: &str =
    "Makes a task for somebody. A person is asked first, so do not ask them yourself: call it.";

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// What is to be done, in one line.
    title: String,
    /// What whoever does it must know.
    detail: Option<String>,
    /// Who does it: a member or an agent, "me", or nobody when absent.
    assignee: Option<String>,
    /// The record it is about: its id.
    about: Option<String>,
    /// The thread it comes from: its id.
    thread: Option<String>,
    /// Until when, for example "tomorrow 5pm", "next Friday" or "2026-11-20 17:00".
    deadline: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Create a task", ABOUT, change).previewing(preview).tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .needing("tasks.write")
        .minting(mint)
        .digesting(|args| format!("Task: {}", line(text(args, "title"), 80)))
        .shown_as("task")
        .amending("title")
        .amending("detail")
        .amending("assignee")
        .amending("deadline")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    let act = standing::resting(act(), station, |station, connection, input: Input| {
        let New { about, thread, .. } = new(station, connection, input)?;
        let ids = [about, thread].into_iter().flatten();
        ids.into_iter().try_fold(Base::default(), |base, id| standing::anything(connection, base, &id))
    });
    standing::settling(act, station, |station, connection, args| {
        standing::settle(args, "assignee", |who| whose(station, connection, who))?;
        standing::settle(args, "deadline", |due| {
            let due = crate::deadline::parse(due, (station.now)(), &station.zone)?;
            Ok(station.exactly(due))
        })
    })
}

fn new(station: &Station, connection: &Connection, input: Input) -> Result<New> {
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let assignee = given(input.assignee).map(|who| whose(station, connection, &who)).transpose()?;
    let about = given(input.about).map(|about| crate::ids::anything(connection, &about)).transpose()?;
    let thread = given(input.thread).map(|thread| crate::ids::of_kind(&thread, "thread")).transpose()?;
    if let Some(thread) = &thread {
        crate::store::threads::get(connection, thread)?;
    }
    let now = (station.now)();
    let deadline =
        given(input.deadline).map(|due| crate::deadline::parse(&due, now, &station.zone)).transpose()?;
    Ok(New {
        title: input.title.trim().to_owned(),
        detail: input.detail.unwrap_or_default().trim().to_owned(),
        assignee: assignee.filter(|who| who != "none"),
        about,
        thread,
        deadline,
    })
}

fn preview(station: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let new = new(station, connection, input)?;
    let mut text = format!("For: {}\n", new.assignee.as_deref().unwrap_or("nobody"));
    if let Some(due) = new.deadline {
        text.push_str(&format!("Due: {}\n", station.said(due)));
    }
    for (name, value) in [("About", &new.about), ("Thread", &new.thread)] {
        if let Some(value) = value {
            text.push_str(&format!("{name}: {value}\n"));
        }
    }
    if !new.detail.is_empty() {
        text.push_str(&format!("\n{}\n", new.detail));
    }
    Ok(Preview::Text { title: new.title, text })
}

fn change(station: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let task = tasks::create(tx, hand, &new(station, tx, input)?)?;
    let text = format!("Made {}.\n{}", task.id, outside("task", &row(station, &task)));
    Ok(Done { text, details: json!({ "tasks": [task] }) })
}

fn mint(args: &Args, minting: &Minting) -> Minted {
    let title = text(args, "title");
    Minted {
        text: format!("Would make the task {title:?}."),
        details: json!({ "tasks": [{ "id": minting.id, "title": title }] }),
    }
}
