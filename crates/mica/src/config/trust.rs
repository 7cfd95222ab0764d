//! What the user said about things that a project brings: kept for exactly what they were then.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::surroundings::Surroundings;

/// What was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It may be used.
    Trusted,
    /// It may not, and the user is not asked again.
    Declined,
}

/// What stands between the records of a mark: one for each place where the same content was trusted.
const BETWEEN: &str = "\n\n";

impl Answer {
    /// The folder of its marks, beside the user's settings.
    fn folder(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Declined => "declined",
        }
    }
}

/// What was said about what has this digest.
pub fn answer(surroundings: &Surroundings, digest: &str) -> Option<Answer> {
    [Answer::Trusted, Answer::Declined]
        .into_iter()
        .find(|answer| mark(surroundings, *answer, digest).exists())
}

/// Keeps what was said. `whose` is the path, and what is noted of it on the lines behind.
///
/// # Errors
/// When the mark cannot be written.
#[allow(clippy::disallowed_methods, reason = "the trust store is this module's own")]
pub fn keep(surroundings: &Surroundings, digest: &str, answer: Answer, whose: &str) -> Result<()> {
    let other = |record: &&str| path_of(record) != path_of(whose);
    let before = std::fs::read_to_string(mark(surroundings, answer, digest)).unwrap_or_default();
    // The same content may have been trusted in several places.
    let records: Vec<&str> =
        before.split(BETWEEN).filter(|record| !record.is_empty()).filter(other).chain([whose]).collect();
    forget(surroundings, digest)?;
    let mark = mark(surroundings, answer, digest);
    let folder = mark.parent().context("a mark is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(&mark, records.join(BETWEEN))
        .with_context(|| format!("{} cannot be written", mark.display()))
}

/// Whether something of this name was trusted, as it was then.
pub fn was_trusted(surroundings: &Surroundings, whose: &str) -> bool {
    let marks = std::fs::read_dir(surroundings.config.join(Answer::Trusted.folder()));
    let mut marks = marks.into_iter().flatten().flatten();
    marks.any(|mark| std::fs::read(mark.path()).is_ok_and(|text| text == whose.as_bytes()))
}

/// Forgets what was said. Answers whether it was trusted.
///
/// # Errors
/// When a mark cannot be removed.
pub fn forget(surroundings: &Surroundings, digest: &str) -> Result<bool> {
    let mut was = false;
    for answer in [Answer::Trusted, Answer::Declined] {
        let mark = mark(surroundings, answer, digest);
        match std::fs::remove_file(&mark) {
            Ok(()) => was |= answer == Answer::Trusted,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("{} cannot be removed", mark.display())),
        }
    }
    Ok(was)
}

/// What was noted when something at this path was trusted, in whatever state it was then: a note for each state. What was
/// trusted and has changed is not what was never looked at.
pub fn notes(surroundings: &Surroundings, whose: &str) -> Vec<String> {
    marks_of(surroundings, whose).into_iter().map(|(_, note)| note).collect()
}

/// Forgets that something at this path was ever trusted. Answers whether it was.
///
/// # Errors
/// When a mark cannot be removed.
#[allow(clippy::disallowed_methods, reason = "the trust store is this module's own")]
pub fn forget_all(surroundings: &Surroundings, whose: &str) -> Result<bool> {
    let marks = marks_of(surroundings, whose);
    for (mark, _) in &marks {
        let text = std::fs::read_to_string(mark).unwrap_or_default();
        let others: Vec<&str> = text.split(BETWEEN).filter(|record| path_of(record) != whose).collect();
        let changed = if others.is_empty() {
            std::fs::remove_file(mark)
        } else {
            std::fs::write(mark, others.join(BETWEEN))
        };
        changed.with_context(|| format!("{} cannot be changed", mark.display()))?;
    }
    Ok(!marks.is_empty())
}

/// The marks of trust that name this path, with what is noted behind it.
fn marks_of(surroundings: &Surroundings, whose: &str) -> Vec<(PathBuf, String)> {
    let folder = surroundings.config.join(Answer::Trusted.folder());
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let marks = entries.flatten().filter_map(|entry| {
        let text = std::fs::read_to_string(entry.path()).ok()?;
        let record = text.split(BETWEEN).find(|record| path_of(record) == whose)?;
        Some((entry.path(), record.split_once('\n').map_or("", |(_, note)| note).to_owned()))
    });
    marks.collect()
}

/// The path of a record: its first line.
fn path_of(record: &str) -> &str {
    record.split_once('\n').map_or(record, |(path, _)| path)
}

/// One file for each content, named by its digest: no list to corrupt, and two programs can write at once.
fn mark(surroundings: &Surroundings, answer: Answer, digest: &str) -> PathBuf {
    surroundings.config.join(answer.folder()).join(digest)
}
