//! `mica sessions`: look at, export, fork, mark, go back in, and delete.

pub mod find;
pub mod list;
pub mod prune;
pub mod tree;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use mica_session::{Access, EntryId, Format, Listing, Scope, Session, Sessions};
use serde_json::Value;

use crate::cli::{ExportForm, Form, SessionsCommand};
use crate::config::Values;
use crate::surroundings::Surroundings;
use tree::Rows;

/// The folder of all sessions.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
pub fn folder(surroundings: &Surroundings) -> Sessions {
    Sessions::new(surroundings.data.join("sessions"), jiff::Timestamp::now)
}

/// The text to print. `yes`: what would be asked is answered already.
///
/// # Errors
/// A session that is not there, or that cannot be read.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
pub fn run(
    command: &SessionsCommand,
    values: &Values,
    yes: bool,
    surroundings: &Surroundings,
) -> Result<String> {
    let sessions = folder(surroundings);
    let read =
        |id: &str| Ok::<Session, anyhow::Error>(sessions.open(&find::session(&sessions, id)?, Access::Read)?);
    let write = |id: &str| {
        Ok::<Session, anyhow::Error>(sessions.open(&find::session(&sessions, id)?, Access::Write)?)
    };
    match command {
        SessionsCommand::List { all, json, format } => {
            let project = (!all).then_some(surroundings.folder.as_path());
            if *json || *format == Form::Json {
                return Ok(format!("{}\n", rows(&sessions.list(project))));
            }
            Ok(list::table(&sessions, project, jiff::Timestamp::now(), surroundings.columns))
        }
        SessionsCommand::Show { id } => Ok(read(id)?.export(Format::Markdown, Scope::Branch)?),
        SessionsCommand::Tree { id, all, format } => {
            let session = read(id)?;
            let which = if *all { Rows::All } else { Rows::Spoken };
            let children = sessions.children(session.path());
            Ok(match format {
                Form::Json => format!("{}\n", tree::value(&session, &children)),
                Form::Text => {
                    let tree = tree::text(&session, which, surroundings.columns);
                    tree + &tree::children(&children, jiff::Timestamp::now(), surroundings.columns)
                }
            })
        }
        SessionsCommand::Export { id, form, output } => {
            let format = match form {
                ExportForm::Markdown => Format::Markdown,
                ExportForm::Html => Format::Html,
            };
            let document = read(id)?.export(format, Scope::Branch)?;
            match output {
                None => Ok(document),
                Some(path) => {
                    write_document(path, &document)?;
                    Ok(format!("{} is written\n", path.display()))
                }
            }
        }
        SessionsCommand::Fork { id, at } => {
            Ok(format!("{}\n", fork(&sessions, &read(id)?, at.as_deref())?.header().id))
        }
        SessionsCommand::Label { id, entry, text, remove } => {
            let text = (!remove).then(|| text.join(" "));
            Ok(label(&mut write(id)?, entry, text.as_deref())? + "\n")
        }
        SessionsCommand::Name { id, text } => Ok(name(&mut write(id)?, &text.join(" "))? + "\n"),
        SessionsCommand::Goto { id, entry, summary } => {
            let mut session = write(id)?;
            let to = find::place(session.tree(), entry)?;
            Ok(go(&mut session, to, summary.as_deref())? + "\n")
        }
        SessionsCommand::Uncompact { id } => Ok(uncompact(&mut write(id)?)? + "\n"),
        SessionsCommand::Prune { older_than, keep, max_size, dry_run } => {
            let asked = prune::Asked {
                older_than: *older_than,
                keep: *keep,
                max_size: max_size.as_deref(),
                dry_run: *dry_run,
                yes,
            };
            prune::run(&sessions, &asked, &values.sessions)
        }
        SessionsCommand::Rm { ids } => {
            // All are found before one is deleted: a typing mistake in the last leaves the first alone.
            let paths = ids.iter().map(|id| find::session(&sessions, id)).collect::<Result<Vec<_>>>()?;
            let mut out = String::new();
            for (id, path) in ids.iter().zip(paths) {
                sessions.delete(&path)?;
                let _ = writeln!(out, "{id} is deleted");
            }
            Ok(out)
        }
    }
}

/// A list of sessions as JSON.
pub fn rows(listing: &Listing) -> Value {
    list::rows(listing)
}

/// A new session with what one said until an entry; until its leaf when none is named.
///
/// # Errors
/// An entry that is not there, or files that cannot be made.
pub fn fork(sessions: &Sessions, session: &Session, at: Option<&str>) -> Result<Session> {
    let entry = match at {
        Some(at) => find::entry(session.tree(), at)?,
        None => session.tree().leaf().context("the session is empty: there is nothing to fork")?,
    };
    Ok(sessions.fork(session, entry)?)
}

/// Marks an entry; takes its mark away when there is no text.
///
/// # Errors
/// An entry that is not there, or a file that cannot be written.
pub fn label(session: &mut Session, entry: &str, text: Option<&str>) -> Result<String> {
    let at = find::entry(session.tree(), entry)?;
    let text = text.map(str::trim);
    let was = session.tree().label(at).map(str::to_owned);
    match (text, was) {
        (Some(""), _) => bail!("a label has at least one character; --remove takes one away"),
        (None, None) => bail!("{} has no label", at.short()),
        (text, _) => {
            session.label(at, text)?;
            session.sync()?;
            Ok(match text {
                Some(text) => format!("{} is labelled {text:?}", at.short()),
                None => format!("{} has no label any more", at.short()),
            })
        }
    }
}

/// Names a session.
///
/// # Errors
/// An empty name, or a file that cannot be written.
pub fn name(session: &mut Session, text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() {
        bail!("a name has at least one character");
    }
    session.rename(text)?;
    session.sync()?;
    Ok(format!("{} is called {text:?}", session.header().id.short()))
}

/// Moves the leaf, and keeps there what is said of the branch that is left.
///
/// # Errors
/// A file that cannot be written.
pub fn go(session: &mut Session, to: Option<EntryId>, summary: Option<&str>) -> Result<String> {
    let from = session.tree().leaf();
    if from == to {
        return Ok("the conversation is there already".to_owned());
    }
    match summary.map(str::trim).filter(|summary| !summary.is_empty()) {
        Some(summary) => {
            session.navigate_with(to, summary)?;
        }
        None => {
            session.navigate(to)?;
        }
    }
    session.sync()?;
    // Where a run began or ended tells nobody anything: the last thing that was said does.
    let path = session.tree().path(to);
    let place = match path.iter().rev().find(|node| tree::speaks(node.kind)) {
        Some(node) => {
            let preview = list::clip(&node.preview, 40);
            format!("at {} ({}: {preview})", node.id.short(), tree::who(node.kind))
        }
        None => "before its first entry".to_owned(),
    };
    let back = from.map_or("start".to_owned(), |from| from.short());
    Ok(format!("the conversation goes on {place}\nit was at {back}: going there undoes this"))
}

/// Undoes the compaction in force.
///
/// # Errors
/// When there is none, or a file cannot be written.
pub fn uncompact(session: &mut Session) -> Result<String> {
    let was = session.tree().leaf();
    let Some(compaction) = session.uncompact()? else {
        bail!("no compaction is in force in this conversation: there is nothing to undo");
    };
    let tokens = match session.entry(compaction)?.body {
        mica_session::Body::Compaction(compaction) => compaction.tokens_before,
        _ => 0,
    };
    let back = was.map(|was| was.short()).unwrap_or_default();
    Ok(format!(
        "everything is in the window again, {tokens} tokens and what came since; it is compacted anew when that is too \
         much\nthe conversation was at {back}: going there undoes this"
    ))
}

#[allow(clippy::disallowed_methods, reason = "the person named the file to write")]
fn write_document(path: &Path, document: &str) -> Result<()> {
    std::fs::write(path, document).with_context(|| format!("{} cannot be written", path.display()))
}
