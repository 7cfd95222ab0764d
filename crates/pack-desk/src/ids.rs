//! Ids: `kind:name`, everywhere. What models make of them is put right where that is safe, and nowhere else.
//!
//! Promise: whatever comes out is an id of the kind that was wanted. An id that could mean two things means neither.

use rusqlite::{Connection, OptionalExtension};

use crate::error::DeskError;
use crate::store::entities::{self, Kind, Search};
use crate::store::{Result, team};

/// A name as it stands in ids: small letters, digits and dashes.
pub fn slug(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        let plain = match letter {
            'a'..='z' | '0'..='9' => letter,
            'à'..='æ' => 'a',
            'ç' => 'c',
            'è'..='ë' => 'e',
            'ì'..='ï' => 'i',
            'ñ' => 'n',
            'ò'..='ö' | 'ø' => 'o',
            'ù'..='ü' => 'u',
            'ß' => 's',
            _ => '-',
        };
        if plain != '-' || (!out.is_empty() && !out.ends_with('-')) {
            out.push(plain);
        }
    }
    out.trim_end_matches('-').chars().take(60).collect()
}

/// An id without what was put before it once too often: `contact:contact:ana-silva`, `records/contact:ana-silva`, the
/// plural of a kind, a link of the desk.
pub fn reduced(text: &str) -> String {
    let text = text.trim().trim_matches(['`', '"', '\'', '<', '>', '(', ')']);
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let mut parts: Vec<&str> =
        text.split([':', '/']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let Some(name) = parts.pop() else { return String::new() };
    let kind = parts.iter().rev().find_map(|part| singular(part));
    kind.map_or_else(|| name.to_owned(), |kind| format!("{kind}:{name}"))
}

fn singular(part: &str) -> Option<&'static str> {
    Some(match part.to_lowercase().as_str() {
        "company" | "companies" => "company",
        "contact" | "contacts" => "contact",
        "thread" | "threads" => "thread",
        "task" | "tasks" => "task",
        "article" | "articles" | "kb" => "article",
        "member" | "members" => "member",
        "agent" | "agents" => "agent",
        "draft" | "drafts" => "draft",
        "note" | "notes" => "note",
        "job" | "jobs" => "job",
        "mail" | "outbox" => "mail",
        _ => return None,
    })
}

/// The id of something whose kind is known: with the kind before it when that was left out.
///
/// # Errors
/// [`DeskError::Invalid`] when it is the id of something else.
pub fn of_kind(text: &str, kind: &str) -> Result<String> {
    let id = reduced(text);
    if id.is_empty() {
        return Err(DeskError::invalid(format!("the id of a {kind} is missing")));
    }
    match id.split_once(':') {
        None => Ok(format!("{kind}:{}", id.to_lowercase())),
        Some((found, name)) if found == kind => Ok(format!("{kind}:{}", name.to_lowercase())),
        Some((found, _)) => {
            Err(DeskError::invalid(format!("{id} is the id of a {found}, and a {kind} is needed")))
        }
    }
}

/// The id of a record: a full id, or a name that only one record has.
///
/// # Errors
/// [`DeskError::Missing`] with those that are like it; [`DeskError::Invalid`] when several fit.
pub fn record(connection: &Connection, text: &str, kind: Option<Kind>) -> Result<String> {
    let id = reduced(text);
    let kinds = kind.map_or_else(|| vec![Kind::Company, Kind::Contact], |kind| vec![kind]);
    if let Some((found, name)) = id.split_once(':') {
        let id = format!("{found}:{}", slug(name));
        if !kinds.iter().any(|kind| kind.name() == found) {
            let wanted: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            return Err(DeskError::invalid(format!(
                "{id} is the id of a {found}, and one of a {} is needed",
                wanted.join(" or a ")
            )));
        }
        return entities::get(connection, &id).map(|entity| entity.id);
    }
    let mut fits = Vec::new();
    for kind in kinds {
        let id = format!("{}:{}", kind.name(), slug(&id));
        if entities::get(connection, &id).is_ok() {
            fits.push(id);
        }
    }
    if fits.is_empty() {
        let words = Search { words: text.trim().to_owned(), kind, limit: Some(4), ..Search::default() };
        let (found, _) = entities::search(connection, &words)?;
        let exact = |entity: &&entities::Entity| entity.name.to_lowercase() == text.trim().to_lowercase();
        fits = found.iter().filter(exact).map(|entity| entity.id.clone()).collect();
        if fits.is_empty() {
            let near = found.into_iter().map(|entity| entity.id).collect();
            return Err(DeskError::Missing { kind: "record".to_owned(), id: text.to_owned(), near });
        }
    }
    match fits.as_slice() {
        [one] => Ok(one.clone()),
        several => {
            Err(DeskError::invalid(format!("{text:?} could be {}; give the full id", several.join(" or "))))
        }
    }
}

/// The id of a member: an id, a name, a first name, an address.
///
/// # Errors
/// [`DeskError::Missing`] with all members; [`DeskError::Invalid`] when several fit.
pub fn member(connection: &Connection, text: &str) -> Result<String> {
    let wanted = reduced(text.trim().trim_start_matches('@')).to_lowercase();
    let wanted = wanted.strip_prefix("member:").unwrap_or(&wanted).to_owned();
    let members = team::members(connection)?;
    let fits = |member: &&team::Member| {
        let name = member.name.to_lowercase();
        member.id == format!("member:{wanted}")
            || name == wanted
            || slug(&name) == slug(&wanted)
            || name.split_whitespace().next() == Some(&wanted)
            || member.email == text.trim().to_lowercase()
    };
    let found: Vec<&str> = members.iter().filter(fits).map(|member| member.id.as_str()).collect();
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(DeskError::Missing {
            kind: "member".to_owned(),
            id: text.to_owned(),
            near: members.iter().map(|member| member.id.clone()).collect(),
        }),
        several => Err(DeskError::invalid(format!("{text:?} could be {}", several.join(" or ")))),
    }
}

/// The id of whom something can be given to: a member, or an agent of the desk.
///
/// # Errors
/// As for [`member`].
pub fn actor(connection: &Connection, text: &str) -> Result<String> {
    let wanted = reduced(text.trim().trim_start_matches('@')).to_lowercase();
    let name = wanted.rsplit(':').next().unwrap_or(&wanted);
    if !wanted.starts_with("member:") {
        let mut select = connection.prepare("SELECT id FROM agents WHERE id = ?1 OR lower(name) = ?2")?;
        let agent: Option<String> =
            select.query_row([format!("agent:{name}"), name.to_owned()], |row| row.get(0)).optional()?;
        if let Some(agent) = agent {
            return Ok(agent);
        }
    }
    member(connection, text)
}

/// Whether something is there that notes and tasks can be about.
///
/// # Errors
/// [`DeskError::Missing`].
pub fn anything(connection: &Connection, text: &str) -> Result<String> {
    let id = reduced(text);
    let table = match id.split_once(':').map(|(kind, _)| kind) {
        Some("thread") => "threads",
        Some("task") => "tasks",
        Some("article") => "articles",
        _ => return record(connection, text, None),
    };
    let id = id.to_lowercase();
    let select = format!("SELECT id FROM {table} WHERE id = ?1");
    let found: Option<String> = connection.query_row(&select, [&id], |row| row.get(0)).optional()?;
    found.ok_or_else(|| DeskError::Missing {
        kind: id.split(':').next().unwrap_or_default().to_owned(),
        id: id.clone(),
        near: Vec::new(),
    })
}

#[cfg(test)]
mod tests;
