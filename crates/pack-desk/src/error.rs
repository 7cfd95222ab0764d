//! What can go wrong at the desk.

use std::path::PathBuf;

/// Why something at the desk could not be done.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// There is nothing of an id.
    #[error("there is no {kind} {id:?}{}", likely(.near))]
    Missing {
        /// What was looked for.
        kind: String,
        /// The id that was given.
        id: String,
        /// Ids that are like it.
        near: Vec<String>,
    },
    /// A value cannot be used.
    #[error("{problem}")]
    Invalid {
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// Somebody else holds it.
    #[error("{article} is being edited by {holder}; nothing was changed. Try again when they are done")]
    Held {
        /// The article.
        article: String,
        /// Who holds it.
        holder: String,
    },
    /// The file is used by somebody else, who does not let go.
    #[error("{} is locked by another program, and was not free in time; close that program, or try again", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is broken.
    #[error("{} is damaged ({problem}); move it away and a fresh desk is made, or bring a copy back", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        problem: String,
    },
    /// The file is of a later version of this program.
    #[error("{} is of version {found}, and this program knows up to {known}; use a newer mica", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// The file is a database of something else.
    #[error("{} is a database, but none of a desk; name another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened at all.
    #[error("{} cannot be opened: {problem}", path.display())]
    Unopened {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// The database failed.
    #[error("the desk's database failed: {0}")]
    Sql(#[from] rusqlite::Error),
    /// What is kept as JSON cannot be read.
    #[error("what the desk kept cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// The seed is wrong.
    #[error("the data that comes along is wrong in {file}: {problem}")]
    Seed {
        /// The file.
        file: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// The work was cut off.
    #[error("the work was cut off: {0}")]
    Cut(String),
}

impl DeskError {
    /// A value that cannot be used.
    pub(crate) fn invalid(problem: impl Into<String>) -> Self {
        Self::Invalid { problem: problem.into() }
    }

    /// For the model: what happened, and what to do.
    pub fn for_model(&self) -> String {
        match self {
            Self::Missing { .. } | Self::Invalid { .. } => format!("{}. Nothing was done.", capital(&self.to_string())),
            Self::Held { .. } => format!("{}.", capital(&self.to_string())),
            Self::Locked { .. } => "The desk's data is locked by another program. Nothing was done. Try once more.".to_owned(),
            _ => "The desk's data cannot be used at the moment. Nothing was done. Tell the person; do not try again.".to_owned(),
        }
    }
}

/// A sentence begins with a capital letter; an id or an address stays what it is.
fn capital(text: &str) -> String {
    if text.split_whitespace().next().is_some_and(|word| word.contains([':', '@'])) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn likely(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}
