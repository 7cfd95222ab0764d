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

/// Keeps what was said. `whose` is for people who look into the folder.
///
/// # Errors
/// When the mark cannot be written.
#[allow(clippy::disallowed_methods, reason = "the trust store is this module's own")]
pub fn keep(surroundings: &Surroundings, digest: &str, answer: Answer, whose: &str) -> Result<()> {
    forget(surroundings, digest)?;
    let mark = mark(surroundings, answer, digest);
    let folder = mark.parent().context("a mark is in a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    std::fs::write(&mark, whose).with_context(|| format!("{} cannot be written", mark.display()))
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

/// One file for each content, named by its digest: no list to corrupt, and two programs can write at once.
fn mark(surroundings: &Surroundings, answer: Answer, digest: &str) -> PathBuf {
    surroundings.config.join(answer.folder()).join(digest)
}
