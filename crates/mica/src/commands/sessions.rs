//! `mica sessions`: look at, export, fork and delete.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use mica_session::{Access, EntryId, Format, Listing, Scope, Session, Sessions, Summary};
use serde_json::{Value, json};

use crate::cli::{ExportForm, SessionsCommand};
use crate::surroundings::Surroundings;

/// The folder of all sessions.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
pub fn folder(surroundings: &Surroundings) -> Sessions {
    Sessions::new(surroundings.data.join("sessions"), jiff::Timestamp::now)
}

/// The text to print.
///
/// # Errors
/// A session that is not there, or that cannot be read.
pub fn run(command: &SessionsCommand, surroundings: &Surroundings) -> Result<String> {
    let sessions = folder(surroundings);
    match command {
        SessionsCommand::List { all, json } => {
            let project = (!all).then_some(surroundings.folder.as_path());
            Ok(list(&sessions, project, *json))
        }
        SessionsCommand::Show { id } => {
            let session = sessions.open(&sessions.find(id)?, Access::Read)?;
            Ok(session.export(Format::Markdown, Scope::Branch)?)
        }
        SessionsCommand::Export { id, form, output } => {
            let session = sessions.open(&sessions.find(id)?, Access::Read)?;
            let format = match form {
                ExportForm::Markdown => Format::Markdown,
                ExportForm::Html => Format::Html,
            };
            let document = session.export(format, Scope::Branch)?;
            match output {
                None => Ok(document),
                Some(path) => {
                    write(path, &document)?;
                    Ok(format!("{} is written\n", path.display()))
                }
            }
        }
        SessionsCommand::Fork { id, at } => {
            let session = sessions.open(&sessions.find(id)?, Access::Read)?;
            Ok(format!("{}\n", fork(&sessions, &session, at.as_deref())?.header().id))
        }
        SessionsCommand::Rm { ids } => {
            let mut out = String::new();
            for id in ids {
                let path = sessions.find(id)?;
                sessions.delete(&path)?;
                let _ = writeln!(out, "{id} is deleted");
            }
            Ok(out)
        }
    }
}

/// A new session with what one said until an entry; until its leaf when none is named.
///
/// # Errors
/// An entry that is not there, or files that cannot be made.
pub fn fork(sessions: &Sessions, session: &Session, at: Option<&str>) -> Result<Session> {
    let entry = match at {
        Some(at) => at.parse::<EntryId>().with_context(|| format!("{at:?} is no entry"))?,
        None => session.tree().leaf().context("the session is empty: there is nothing to fork")?,
    };
    Ok(sessions.fork(session, entry)?)
}

#[allow(clippy::disallowed_methods, reason = "the person named the file to write")]
fn write(path: &Path, document: &str) -> Result<()> {
    std::fs::write(path, document).with_context(|| format!("{} cannot be written", path.display()))
}

fn list(sessions: &Sessions, project: Option<&Path>, as_json: bool) -> String {
    let listing = sessions.list(project);
    if as_json {
        return format!("{}\n", rows(&listing));
    }
    let mut out = String::new();
    for summary in &listing.sessions {
        let title: String = summary.title().chars().take(70).collect();
        let id: String = summary.id.to_string();
        let when = summary.changed.strftime("%Y-%m-%d %H:%M");
        let place = if project.is_none() { format!("  {}", summary.project) } else { String::new() };
        let _ = writeln!(out, "{id}  {when}  {title}{place}");
    }
    for error in &listing.unreadable {
        let _ = writeln!(out, "note: {error}");
    }
    if listing.sessions.is_empty() {
        out.push_str(if project.is_some() {
            "there are no sessions of this folder; --all lists those of every folder\n"
        } else {
            "there are no sessions\n"
        });
    }
    out
}

/// A list of sessions as JSON.
pub fn rows(listing: &Listing) -> Value {
    listing.sessions.iter().map(row).collect()
}

fn row(summary: &Summary) -> Value {
    json!({
        "id": summary.id,
        "title": summary.title(),
        "project": summary.project,
        "created": summary.created,
        "changed": summary.changed,
        "entries": summary.entries,
        "bytes": summary.bytes,
        "model": summary.model,
    })
}
