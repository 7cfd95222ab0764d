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

/// The pieces of several texts, taking turns: which text, and its next piece.
pub(crate) fn in_turns(texts: &[String], chars: usize) -> Vec<(usize, &str)> {
    let mut rests: Vec<_> = texts.iter().map(|text| pieces(text, chars)).collect();
    let mut all = Vec::new();
    loop {
        let round: Vec<(usize, &str)> =
            rests.iter_mut().enumerate().filter_map(|(which, rest)| Some((which, rest.next()?))).collect();
        if round.is_empty() {
            return all;
        }
        all.extend(round);
    }
}

#[cfg(test)]
mod tests {
    use super::{in_turns, pieces};

    #[test]
    fn texts_take_turns_until_each_is_told() {
        let texts = ["abcd".to_owned(), String::new(), "x".to_owned()];
        assert_eq!(in_turns(&texts, 2), [(0, "ab"), (2, "x"), (0, "cd")]);
    }

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
