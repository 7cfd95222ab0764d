//! `reply_to_thread`: writes to a customer, or keeps a draft.

use std::sync::Arc;

use mica_agent::{Args, Preview, Tool};
use mica_domain::{Act, Base, Minted, Minting};
use rusqlite::{Connection, Transaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::get_thread::meant;
use super::{DeskTool, line, outside, standing, text};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::threads::{self, Thread};
use crate::store::{Done, Hand, Result, mail};

/// Its name.
pub const NAME: &str = "reply_to_thread";

const ABOUT: &str = "Writes a reply in a conversation. With mode \"draft\" it is kept for a person to send; with mode \"send\" a \
                     person sees it and is asked, so do not ask them yourself: call it. It goes to whom the conversation is with, \
                     or to a colleague of theirs; it can go to nobody else.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Sends it, once a person agreed.
    Send,
    /// Keeps it.
    Draft,
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The id of the thread; the one that is open when absent.
    thread: Option<String>,
    /// What to write, as plain text, with a greeting and a first name under it.
    body: String,
    /// Whether it is sent or kept.
    mode: Mode,
    /// The address it goes to; that of whom the thread is with when absent.
    to: Option<String>,
}

pub(crate) fn tool(station: &Station) -> Arc<dyn Tool> {
    DeskTool::changing(station, NAME, "Reply", ABOUT, change)
        .previewing(preview)
        .touching(|input| input.thread.iter().cloned().collect())
        .tool()
}

pub(crate) fn act() -> Act {
    Act::of(NAME)
        .asking_when(asks)
        .needing("mail.draft")
        .minting(mint)
        .digesting(|args| {
            let verb = if text(args, "mode") == "draft" { "Draft" } else { "Send" };
            format!("{verb} in {}: {}", text(args, "thread"), line(text(args, "body"), 80))
        })
        .shown_as("mail")
        .amending("body")
        .amending("to")
        .amending("mode")
}

/// The same at a station.
pub(crate) fn act_at(station: &Station) -> Act {
    standing::resting(act(), station, |_, connection, input: Input| {
        let (thread, to) = addressed(connection, &input)?;
        standing::thread(connection, Base::of("the address it goes to", to), &thread.id)
    })
}

/// Sending asks, a draft does not.
fn asks(args: &Args) -> Result<bool, String> {
    match args.get("mode").map(|mode| serde_json::from_value::<Mode>(mode.clone())) {
        Some(Ok(mode)) => Ok(mode == Mode::Send),
        Some(Err(_)) | None => Err("it does not say whether it sends".to_owned()),
    }
}

/// The thread, and the address that it goes to.
fn addressed(connection: &Connection, input: &Input) -> Result<(Thread, String)> {
    let thread = threads::get(connection, &meant(input.thread.as_deref())?)?;
    let to = input.to.as_deref().map(str::trim).filter(|to| !to.is_empty());
    let Some(to) = to else {
        let to = mail::recipient(connection, &thread)?;
        return Ok((thread, to));
    };
    let address = match to.contains('@') {
        true => mail::checked_address(to)?,
        false => {
            let contact = crate::ids::record(connection, to, Some(crate::store::entities::Kind::Contact))?;
            let contact = crate::store::entities::get(connection, &contact)?;
            contact
                .get("email")
                .map(str::to_owned)
                .ok_or_else(|| DeskError::invalid(format!("{} has no address", contact.id)))?
        }
    };
    if !mail::is_part(connection, &thread, &address)? {
        let id = &thread.id;
        return Err(DeskError::invalid(if mail::wrote_in(connection, &thread, &address)? {
            format!(
                "{to:?} wrote in {id}, and is not verified: nobody knows that they have a part in it. Mail about it goes to those \
                 who have; for it to go there, a person has to make them a contact of that company first"
            )
        } else {
            format!("{to:?} has no part in {id}; mail about it goes to those who have")
        }));
    }
    Ok((thread, address))
}

/// Sending needs a right of its own, and nobody is asked about what could not be done anyway.
fn may(who: &str, connection: &Connection, mode: Mode) -> Result<()> {
    if mode == Mode::Send && !crate::store::team::rights(connection, who)?.allow("mail.send") {
        return Err(DeskError::invalid(format!("{who} may not send mail; keep a draft instead")));
    }
    Ok(())
}

fn preview(station: &Station, connection: &Connection, input: Input) -> Result<Preview> {
    let (thread, to) = addressed(connection, &input)?;
    may(&station.who, connection, input.mode)?;
    let body = mail::checked_body(&input.body)?;
    let title = match input.mode {
        Mode::Send => format!("to {to}, in {}", thread.id),
        Mode::Draft => format!("a draft to {to}, in {}", thread.id),
    };
    Ok(Preview::Text { title, text: format!("To: {to}\nSubject: {}\n\n{body}", thread.subject) })
}

fn change(station: &Station, tx: &Transaction<'_>, hand: &Hand, input: Input) -> Result<Done> {
    let (thread, to) = addressed(tx, &input)?;
    match input.mode {
        Mode::Draft => {
            let draft = mail::draft(tx, hand, &thread, &to, &input.body)?;
            let text = format!(
                "Kept as {} in {}; nothing was sent.\n{}",
                draft.id,
                thread.id,
                outside("to", &draft.recipient)
            );
            Ok(Done { text, details: json!({ "drafts": [draft] }) })
        }
        Mode::Send => {
            may(&hand.who, tx, input.mode)?;
            let sent = mail::send(tx, hand, &thread, &to, &input.body)?;
            let text = format!(
                "Sent in {} ({}). It can be taken back until {}.\n{}",
                thread.id,
                sent.id,
                station.said(sent.leaves),
                outside("to", &to)
            );
            let thread = threads::get(tx, &thread.id)?;
            Ok(Done { text, details: json!({ "mail": sent, "threads": [thread] }) })
        }
    }
}

fn mint(args: &Args, _: &Minting) -> Minted {
    let thread = args.get("thread").and_then(Value::as_str).unwrap_or("the thread");
    Minted { text: format!("Would send the reply in {thread}."), details: json!({ "thread": thread }) }
}
