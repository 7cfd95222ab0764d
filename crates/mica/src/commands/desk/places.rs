//! Where a member is, and what is in front of them: pages, and things by their ids.

use anyhow::{Result, bail};
use mica_domain::refs::Ref;
use pack_desk::store::{articles, entities, tasks, threads};
use pack_desk::{Desk, Office, ids};

/// A page by its name.
///
/// # Errors
/// There is none, with what is like it.
pub fn page(name: &str) -> Result<&'static str> {
    if let Some(page) = Desk::PAGES.iter().find(|page| **page == name) {
        return Ok(page);
    }
    let near = mica_agent::nearest::nearest(name, Desk::PAGES.iter().copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
    bail!("there is no page {name:?}{near} (the pages are: {})", Desk::PAGES.join(", "))
}

/// What an id stands for, as a reference of the page.
///
/// # Errors
/// An id of nothing.
pub fn reference(office: &Office, text: &str) -> Result<Ref> {
    let (id, label) = office.means().store.look(|connection| {
        let reduced = ids::reduced(text);
        if let Some(("agent" | "member", _)) = reduced.split_once(':') {
            return Ok((ids::actor(connection, &reduced)?, String::new()));
        }
        let id = ids::anything(connection, text)?;
        let label = match kind(&id) {
            "thread" => threads::get(connection, &id)?.subject,
            "article" => articles::get(connection, &id)?.title,
            "task" => tasks::get(connection, &id)?.title,
            _ => entities::get(connection, &id)?.name,
        };
        Ok((id, label))
    })?;
    let one = Ref::open(shown_as(&id), id);
    Ok(if label.is_empty() { one } else { one.called(label) })
}

/// What a line mentions by id with an `@` before it.
pub fn mentions(text: &str) -> Vec<Ref> {
    let words = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    let ids = words.map(|word| ids::reduced(word.trim_end_matches(['.', ',', '!', '?', ';'])));
    ids.filter(|id| id.contains(':')).map(|id| Ref::mentioned(shown_as(&id), id)).collect()
}

/// The kind of thing that an id is of.
pub fn kind(id: &str) -> &str {
    id.split_once(':').map_or("", |(kind, _)| kind)
}

/// The kind of reference that an id is.
fn shown_as(id: &str) -> String {
    match kind(id) {
        "company" | "contact" | "" => "record".to_owned(),
        kind => kind.to_owned(),
    }
}
