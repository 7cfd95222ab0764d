//! Changes of whole files by tools that know what they write: for packs, whose tools change files in ways of their own.
//!
//! Promise: all paths are looked at before the first file is written, each file is as it was or as it was meant to be,
//! and each is on record for undo. Encoding, line ends and a byte order mark of a file stay what they were.

use mica_agent::{Preview, ToolCx, ToolError};
use serde_json::{Value, json};

use crate::diff::{Diff, diff};
use crate::digest::Digest;
use crate::file_read::{editable, unencodable};
use crate::file_use::FileUse;
use crate::resolve::{Found, Place};
use crate::store;
use crate::text::{Encoding, encode};
use crate::workspace::Workspace;

/// Bytes of the diffs that a person is shown before they agree.
const SHOWN: usize = 256 << 10;

/// One file that is to have another content, or be there at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file, relative to the workspace.
    pub path: String,
    /// What it had when the change was decided; `None` when it was not there. Something else by now refuses the change.
    pub before: Option<String>,
    /// What it will have.
    pub after: String,
}

/// What was written.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The files, as people see them.
    pub shown: Vec<String>,
    /// For the interface: the diffs, and which files were changed.
    pub details: Value,
}

/// A change that can be made.
struct Planned {
    place: Place,
    bytes: Option<Vec<u8>>,
    before: String,
    content: String,
    after: Vec<u8>,
}

impl Planned {
    fn diff(&self, most: usize) -> Diff {
        diff(&self.place.shown(), &self.before, &self.content, most)
    }
}

impl Workspace {
    /// The text of a file that may be changed; `None` when there is none.
    ///
    /// # Errors
    /// [`ToolError`] when the path may not be written to, or the file is no text.
    pub fn changeable(&self, path: &str) -> Result<Option<String>, ToolError> {
        let place = self.writable(path)?;
        if place.found() == Found::Nothing {
            return Ok(None);
        }
        let bytes = place.read(self.limits().file_bytes)?;
        Ok(Some(editable(&place, &bytes)?.0))
    }

    /// Makes changes, all of which are checked before the first is made. Waits for a disk.
    ///
    /// # Errors
    /// [`ToolError`] when a file may not be changed, or is no longer what the change was decided on. When a later file
    /// fails, it names those that were written before it.
    pub fn change(&self, changes: &[Change], cx: &ToolCx) -> Result<Changed, ToolError> {
        let planned = changes.iter().map(|change| self.plan(change)).collect::<Result<Vec<_>, _>>()?;
        let (mut files, mut diffs, mut shown) = (FileUse::default(), Vec::new(), Vec::new());
        for one in planned {
            if one.bytes.as_deref() == Some(one.after.as_slice()) {
                continue;
            }
            let (path, name) = (one.place.path(), one.place.shown());
            let change = one.diff(self.limits().diff_bytes);
            let was = one.bytes.as_deref().map(Digest::of);
            store::put(self, &one.place, one.bytes, &one.after, cx).map_err(|error| {
                let done = if shown.is_empty() { "nothing".to_owned() } else { shown.join(", ") };
                ToolError::new(format!("{} Written before that: {done}.", ToolError::from(error).message))
            })?;
            // The model has not seen what a tool writes on its own: it knows as much of the file as before.
            if let Some(was) = was {
                self.seen().edited(&path, was, Digest::of(&one.after));
            }
            diffs.push(json!({
                "path": path, "created": was.is_none(), "diff": change.diff, "added": change.added, "removed": change.removed,
            }));
            files.changed.push(path);
            shown.push(name);
        }
        let mut details = json!({ "changes": diffs });
        files.tell(&mut details);
        Ok(Changed { shown, details })
    }

    /// What changes would look like, for a person who is asked about them. Waits for a disk.
    pub fn preview(&self, title: &str, changes: &[Change]) -> Preview {
        let planned = changes.iter().map(|change| self.plan(change)).collect::<Result<Vec<_>, _>>();
        let planned = match planned {
            Ok(planned) => planned,
            Err(error) => return Preview::Fails { reason: error.message },
        };
        let (mut text, mut added, mut removed) = (String::new(), 0, 0);
        for one in &planned {
            let change = one.diff(SHOWN.saturating_sub(text.len()));
            text.push_str(&change.diff);
            added += change.added;
            removed += change.removed;
        }
        Preview::Diff { title: title.to_owned(), diff: text, added, removed }
    }

    fn plan(&self, change: &Change) -> Result<Planned, ToolError> {
        let place = self.writable(&change.path)?;
        let shown = place.shown();
        let (bytes, before, encoding) = match place.found() {
            Found::Nothing => (None, String::new(), Encoding::Utf8),
            _ => {
                let bytes = place.read(self.limits().file_bytes)?;
                let (before, encoding) = editable(&place, &bytes)?;
                (Some(bytes), before, encoding)
            }
        };
        let expected = match (&change.before, &bytes) {
            (None, None) => true,
            (Some(expected), Some(_)) => *expected == before,
            _ => false,
        };
        if !expected {
            let why = match (&change.before, &bytes) {
                (None, _) => "is there already",
                (_, None) => "is gone",
                _ => "has changed meanwhile",
            };
            return Err(ToolError::new(format!("{shown} {why}. Nothing was changed.")));
        }
        let after = encode(&change.after, encoding).map_err(|missing| unencodable(&place, missing))?;
        Ok(Planned { place, bytes, before, content: change.after.clone(), after })
    }
}

#[cfg(test)]
mod tests;
