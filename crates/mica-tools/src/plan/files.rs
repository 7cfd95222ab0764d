//! The files of plans: one folder for each session, one Markdown file for each plan.
//!
//! Which plan is meant is never remembered: it is the file that was changed last, so a session that is opened again has
//! it without any bookkeeping.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use mica_agent::{ToolCx, ToolError};

use crate::error::FileError;
use crate::store;
use crate::workspace::Workspace;

/// Bytes of a plan at most: what a person reads before they say yes.
pub(super) const LARGEST: u64 = 128 << 10;

/// Characters of a name, without the date.
const NAME: usize = 40;

/// The plans of a session.
#[derive(Clone)]
pub struct Plans {
    workspace: Workspace,
    folder: PathBuf,
    today: Arc<dyn Fn() -> String + Send + Sync>,
}

/// A plan as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Plans {
    /// Plans in a folder that the workspace may write ([`Workspace::with_writable`]). `today` is the date as names begin
    /// with it, such as `2026-03-01`.
    ///
    /// # Errors
    /// [`FileError`] when the folder is not one that tools may touch.
    pub fn new(
        workspace: &Workspace,
        folder: &Path,
        today: impl Fn() -> String + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let folder = workspace.resolve(&folder.to_string_lossy())?.path();
        Ok(Self { workspace: workspace.clone(), folder, today: Arc::new(today) })
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a new plan, by the date and what it is about.
    pub(super) fn fresh(&self, title: &str) -> PathBuf {
        let stem = format!("{}-{}", (self.today)(), slug(title));
        let names = (1..).map(|number| match number {
            1 => format!("{stem}.md"),
            more => format!("{stem}-{more}.md"),
        });
        let mut free = names.map(|name| self.folder.join(name)).filter(|path| !path.exists());
        // There is always a number that nobody took.
        free.next().unwrap_or_else(|| self.folder.join("plan.md"))
    }

    /// The plan that was changed last. `None` when there is none, or it is empty.
    pub(super) fn newest(&self) -> Result<Option<Plan>, FileError> {
        let Ok(files) = std::fs::read_dir(&self.folder) else { return Ok(None) };
        let changed = |path: &PathBuf| {
            let facts = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
            facts.modified().ok()
        };
        let newest = files
            .flatten()
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .filter_map(|path| Some((changed(&path)?, path)))
            .max();
        let Some((_, path)): Option<(SystemTime, PathBuf)> = newest else { return Ok(None) };
        let text = self.workspace.text(&path.to_string_lossy(), LARGEST)?.unwrap_or_default();
        Ok((!text.trim().is_empty()).then_some(Plan { path, text }))
    }

    /// Keeps a plan that was given in words, unless it is kept already. Answers where.
    pub(super) fn keep(&self, text: &str, cx: &ToolCx) -> Result<PathBuf, ToolError> {
        if let Some(plan) = self.newest()?.filter(|plan| plan.text.trim() == text.trim()) {
            return Ok(plan.path);
        }
        let path = self.fresh(title(text));
        let place = self.workspace.writable(&path.to_string_lossy())?;
        let text = format!("{}\n", text.trim_end());
        store::put(&self.workspace, &place, None, text.as_bytes(), cx)?;
        Ok(place.path())
    }
}

/// What a plan is about: its first line that says something.
pub(super) fn title(text: &str) -> &str {
    let lines = text.lines().map(|line| line.trim_start_matches('#').trim());
    lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default()
}

/// A title as a part of a file's name.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.chars() {
        if slug.len() >= NAME {
            break;
        }
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "plan".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_words() {
        for (title, expected) in [
            ("Add retries to the client", "add-retries-to-the-client"),
            ("  # Größe & Co!  ", "gr-e-co"),
            ("../../etc/passwd", "etc-passwd"),
            ("日本", "plan"),
            ("", "plan"),
            (&"long words ".repeat(9), "long-words-long-words-long-words-long-wor"),
        ] {
            let slug = slug(title);
            assert!(slug.len() <= NAME, "{slug}");
            assert_eq!(
                slug,
                expected.chars().take(NAME).collect::<String>().trim_end_matches('-'),
                "{title}"
            );
        }
        assert_eq!(title("\n\n## The plan\n\ntext"), "The plan");
    }
}
