//! A compact unified diff of one file.

use std::time::Duration;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::text::floor;

/// How long the smallest diff is looked for. Two large files with nothing in common would take minutes; after this, a
/// larger diff that is as true is taken.
const PATIENCE: Duration = Duration::from_millis(500);

/// What changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Diff {
    /// Unified, three lines of context; perhaps cut, then it says so.
    pub(crate) diff: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

/// Compares two texts by lines.
pub(crate) fn diff(path: &str, before: &str, after: &str, limit: usize) -> Diff {
    let compared = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let count = |tag| compared.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let from = format!("a/{path}");
    let to = format!("b/{path}");
    let mut text = compared.unified_diff().context_radius(3).header(&from, &to).to_string();
    if text.len() > limit {
        let left_out = text.len() - floor(&text, limit);
        text.truncate(floor(&text, limit));
        text.push_str(&format!("\n[… {left_out} bytes of the diff are left out …]\n"));
    }
    Diff { diff: text, added, removed }
}

#[cfg(test)]
mod tests;
