//! Takes back what was done: mail that has not left, and changes of articles.

use std::fmt::Write as _;

use anyhow::Result;
use pack_desk::store::{articles, mail};
use pack_desk::{DeskError, ids};

use super::super::room::Room;
use super::super::screen::row;

/// Takes mail back that has not left.
pub async fn unsend(room: &Room, rest: &str) -> Result<String> {
    let id = ids::of_kind(rest, "mail")?;
    let hand = room.office.station(&room.who).own_hand();
    let mail = room.office.means().store.write(move |tx| mail::unsend(tx, &hand, &id)).await?;
    Ok(format!("{} was taken back", mail.id))
}

/// What runs changed in articles and nobody took back, the newest first, each with why it cannot be taken back as things
/// stand.
///
/// # Errors
/// Data that cannot be read.
pub fn undoable(room: &Room) -> Result<Vec<(articles::Snapshot, Option<String>)>> {
    let all = room.office.means().store.look(|connection| {
        let mut all = Vec::new();
        for snapshot in articles::undoable(connection, None)? {
            let problem = match articles::is_as_left(connection, &snapshot.article, &snapshot.run) {
                Ok(()) => None,
                Err(problem @ (DeskError::Held { .. } | DeskError::Invalid { .. })) => {
                    Some(problem.to_string())
                }
                Err(error) => return Err(error),
            };
            all.push((snapshot, problem));
        }
        Ok(all)
    })?;
    Ok(all)
}

/// What can be taken back in articles; or takes it back.
pub async fn undo(room: &Room, id: &str) -> Result<String> {
    let store = &room.office.means().store;
    if id.is_empty() {
        let mut out = String::new();
        for (snapshot, problem) in undoable(room)? {
            let why = match (&problem, snapshot.why.as_str()) {
                (Some(problem), _) => format!("cannot be taken back now: {problem}"),
                (None, "") => "the run ended well".to_owned(),
                (None, why) => why.to_owned(),
            };
            let _ = writeln!(out, "{}  {}: {}", row(&snapshot.id), row(&snapshot.article), row(&why));
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
