//! A document as it stands in the editor.

use std::sync::Arc;

use gen_lsp_types::TextDocumentContentChangeEvent as Change;
use synapse_lang::check::Memo;
use synapse_lang::project::Project;
use synapse_lang::text::{Lines, Unit};

use crate::folder::FolderId;
use crate::places;

/// An open document.
pub(crate) struct Buffer {
    /// The client's number of its state.
    pub(crate) version: i32,
    /// Its text.
    pub(crate) text: Arc<str>,
    /// Where it is kept as a tree.
    pub(crate) home: Home,
    /// What was found in it before.
    pub(crate) memo: Memo,
}

/// Where an open document belongs.
pub(crate) enum Home {
    /// To a project, under a path.
    Folder(FolderId, String),
    /// To itself: the one file of a project of its own, under the path of [`Home::alone_path`].
    Alone(Box<Project>, &'static str),
}

impl Home {
    /// The path that a document outside of projects has in its own.
    pub(crate) fn alone_path(uri: &str) -> &'static str {
        if uri.ends_with(".dbs") { "document.dbs" } else { "document.xml" }
    }
}

/// The text after the client's changes, each of which counts from the text that the one before it left.
pub(crate) fn changed(text: &str, changes: Vec<Change>, unit: Unit) -> String {
    let mut text = text.to_owned();
    for change in changes {
        match change {
            Change::TextDocumentContentChangeWholeDocument(whole) => text = whole.text,
            Change::TextDocumentContentChangePartial(part) => {
                let lines = Lines::of(&text);
                let start = places::offset_in(&text, &lines, part.range.start, unit) as usize;
                let end = places::offset_in(&text, &lines, part.range.end, unit) as usize;
                text.replace_range(start..end.max(start), &part.text);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(before: &str, unit: Unit, changes: &serde_json::Value, after: &str) {
        let read = serde_json::from_value(changes.clone()).unwrap();
        assert_eq!(changed(before, read, unit), after, "{changes}");
    }

    fn at(from: (u32, u32), to: (u32, u32), text: &str) -> serde_json::Value {
        json!({
            "range": {
                "start": { "line": from.0, "character": from.1 },
                "end": { "line": to.0, "character": to.1 },
            },
            "text": text,
        })
    }

    #[test]
    fn changes_are_applied_one_after_the_other() {
        check("<a/>", Unit::Utf16, &json!([{ "text": "<b/>" }]), "<b/>");
        check("ab\ncd", Unit::Utf16, &json!([at((0, 1), (1, 1), "X")]), "aXd");
        check("ab", Unit::Utf16, &json!([at((0, 2), (0, 2), "c"), at((0, 3), (0, 3), "d")]), "abcd");
        check("a\r\nb", Unit::Utf16, &json!([at((0, 9), (0, 9), "!")]), "a!\r\nb");
    }

    #[test]
    fn columns_count_what_was_agreed() {
        check("\u{1f600}x", Unit::Utf16, &json!([at((0, 2), (0, 3), "y")]), "\u{1f600}y");
        check("\u{1f600}x", Unit::Utf8, &json!([at((0, 4), (0, 5), "y")]), "\u{1f600}y");
    }

    #[test]
    fn places_that_do_not_exist_are_the_nearest_that_do() {
        check("ab", Unit::Utf16, &json!([at((7, 0), (9, 9), "c")]), "abc");
        check("abc", Unit::Utf16, &json!([at((0, 2), (0, 1), "X")]), "abXc");
        // The middle of a character that takes two units.
        check("\u{1f600}x", Unit::Utf16, &json!([at((0, 1), (0, 1), "y")]), "\u{1f600}yx");
    }
}
