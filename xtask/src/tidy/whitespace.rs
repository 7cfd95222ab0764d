//! No whitespace at the end of a line.

use super::{Finding, is_below};

/// Folders of data whose bytes mean something, spaces and line ends included.
const DATA: &[&str] = &["seeds", "fixtures", "snapshots"];

/// Finds whitespace at the end of lines.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if DATA.iter().any(|folder| is_below(path, folder)) {
        return Vec::new();
    }
    // Not `lines()`, which takes a CR for a part of the line end.
    let lines = text.split('\n').enumerate();
    lines
        .filter(|(_, line)| line.ends_with(char::is_whitespace))
        .map(|(index, _)| Finding::new(path, index + 1, "whitespace at the end of the line: remove it"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_tabs_and_carriage_returns_are_found() {
        let findings = check("a.md", "one\ntwo \nthree\t\nfour\r\nfive\n");
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn data_is_left_alone() {
        assert_eq!(check("crates/x/tests/fixtures/a.sse", "data: \n"), []);
        assert_eq!(check("crates/x/src/fixtures.rs", "data: \n").len(), 1);
    }

    #[test]
    fn clean_text_is_fine() {
        assert_eq!(check("a.md", "one\n\n  two\n"), []);
    }
}
