//! Cuts text into deltas, always at the same places and never inside a character.

/// The text in pieces of `chars` characters. An empty text has no pieces; a size of 0 counts as 1.
pub(crate) fn pieces(text: &str, chars: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(chars.max(1)).map_or(rest.len(), |(at, _)| at);
        let (piece, tail) = rest.split_at(end);
        rest = tail;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_join_to_the_text_and_respect_characters() {
        let text = "größer 🦀 als";
        for chars in 0..=20 {
            assert_eq!(pieces(text, chars).collect::<String>(), text);
        }
        assert_eq!(pieces("aß🦀c", 2).collect::<Vec<_>>(), ["aß", "🦀c"]);
        assert_eq!(pieces("", 3).count(), 0);
    }
}
