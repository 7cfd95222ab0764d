//! Texts of others, made short.

/// A text of at most so many letters, and a mark where it was cut.
pub fn clip(text: &str, letters: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(letters) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
    }
}

/// The same in one line: lines and runs of spaces become one space.
pub fn one_line(text: &str, letters: usize) -> String {
    clip(&text.split_whitespace().collect::<Vec<_>>().join(" "), letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_between_letters() {
        assert_eq!(clip("  äöü ", 3), "äöü");
        assert_eq!(clip("äöüß", 3), "äöü…");
        assert_eq!(clip("a b c", 2), "a…");
        assert_eq!(one_line("a\n\n  b\tc", 10), "a b c");
    }
}
