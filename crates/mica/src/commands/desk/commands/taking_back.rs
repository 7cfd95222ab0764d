//! Takes back what was done: mail that has not left, and changes of articles.

use std::fmt::Write as _;

use anyhow::Result;
use pack_desk::ids;
use pack_desk::store::{articles, mail};

use super::super::room::Room;
use super::super::screen::row;

/// Takes mail back that has not left.
pub async fn unsend(room: &Room, rest: &str) -> Result<String> {
    let id = ids::of_kind(rest, "mail")?;
    let hand = room.office.station(&room.who).own_hand();
    let mail = room.office.means().store.write(move |tx| mail::unsend(tx, &hand, &id)).await?;
    Ok(format!("{} was taken back", mail.id))
}

/// What can be taken back in articles; or takes it back.
pub async fn undo(room: &Room, id: &str) -> Result<String> {
    let store = &room.office.means().store;
    if id.is_empty() {
        let all = store.look(|connection| articles::undoable(connection, None))?;
        let mut out = String::new();
        for snapshot in &all {
            let why = if snapshot.why.is_empty() { "the run ended well" } else { &snapshot.why };
            let _ = writeln!(out, "{}  {}: {}", row(&snapshot.id), row(&snapshot.article), row(why));
        }
        return Ok(if out.is_empty() { "nothing can be taken back".to_owned() } else { out });
    }
    if room.copilot.offers().iter().any(|offer| offer.id == id) {
        return Ok(room.copilot.undo(id).await?);
    }
    let (id, hand) = (id.to_owned(), room.office.station(&room.who).own_hand());
    let article = store.write(move |tx| articles::undo(tx, &hand, &id)).await?;
    Ok(format!("{} says again what it said before", article.id))
}
