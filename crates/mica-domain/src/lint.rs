//! Which tools a text names.

use mica_context::section::ToolNames;

/// The tools of `universe` that a text names, as often as it does.
///
/// A name with an underscore is a name wherever it stands. One without (`grep`, `glob`) may be an ordinary word, and is
/// a name only between backquotes.
pub(crate) fn named<'a>(text: &'a str, universe: &'a ToolNames) -> impl Iterator<Item = &'a str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (is_part(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let word = &text[from..at];
                let quoted = text[..from].ends_with('`') && text[at..].starts_with('`');
                if universe.has(word) && (quoted || word.contains('_')) {
                    found.push(word);
                }
                start = None;
            }
            _ => {}
        }
    }
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_texts() {
        let universe: ToolNames = ["file_read", "grep", "desk_reply"].into_iter().collect();
        for (text, expected) in [
            ("Use file_read.", vec!["file_read"]),
            ("Use `grep` or grep.", vec!["grep"]),
            ("a file_reader, my_file_read", vec![]),
            ("`desk_reply`/`desk_close`", vec!["desk_reply"]),
            ("file_read", vec!["file_read"]),
            ("grün `grep", vec![]),
        ] {
            assert_eq!(named(text, &universe).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
