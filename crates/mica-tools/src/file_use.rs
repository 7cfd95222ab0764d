//! Which files a call read and changed: facts for those who keep the window, told beside every result.
//!
//! They ride in the details of a result, which no model sees. Any tool can tell them, so whoever keeps a ledger of
//! files need not know the tools.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The files of one call, by canonical path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileUse {
    /// Files whose content the model was shown.
    pub read: Vec<PathBuf>,
    /// Files that were created or changed.
    pub changed: Vec<PathBuf>,
}

impl FileUse {
    /// One file that was read.
    pub fn read(path: PathBuf) -> Self {
        Self { read: vec![path], changed: Vec::new() }
    }

    /// One file that was changed.
    pub fn changed(path: PathBuf) -> Self {
        Self { read: Vec::new(), changed: vec![path] }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.changed.is_empty()
    }

    /// What the details of a result say about files.
    pub fn of(details: Option<&Value>) -> Self {
        let told = details.and_then(|details| details.get("files"));
        told.and_then(|files| Self::deserialize(files).ok()).unwrap_or_default()
    }

    /// Tells them in the details of a result. Details that are no object become the `value` of one.
    pub fn tell(&self, details: &mut Value) {
        if !details.is_object() {
            *details = if details.is_null() { json!({}) } else { json!({ "value": details.take() }) };
        }
        details["files"] = json!(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read() {
        let files = FileUse { read: vec!["/a".into()], changed: vec!["/b".into(), "/c".into()] };
        for mut details in [Value::Null, json!({ "diff": "x" }), json!(1)] {
            files.tell(&mut details);
            assert_eq!(FileUse::of(Some(&details)), files);
        }
        for silent in [None, Some(json!({})), Some(json!({ "files": 3 })), Some(json!([1]))] {
            assert_eq!(FileUse::of(silent.as_ref()), FileUse::default());
        }
    }
}
