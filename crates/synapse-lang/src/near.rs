//! Which known word was probably meant.

/// The known word nearest to what was written, when it is near enough to be a slip of the fingers.
///
/// A word that differs in case alone is always near. Otherwise a third of the letters may be wrong, at most three.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (written.chars().count() / 3).clamp(1, 3);
    let folded = written.to_lowercase();
    let distance = |word: &str| {
        if word.eq_ignore_ascii_case(written) {
            0
        } else {
            strsim::osa_distance(&folded, &word.to_lowercase())
        }
    };
    let candidates = known.into_iter().filter(|word| word.len().abs_diff(written.len()) <= allowed);
    candidates
        .map(|word| (distance(word), word))
        .filter(|(far, _)| *far <= allowed)
        .min()
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let known = ["category", "level", "separator", "id"];
        assert_eq!(nearest("catgory", known), Some("category"));
        assert_eq!(nearest("LEVEL", known), Some("level"));
        assert_eq!(nearest("seperater", known), Some("separator"));
        assert_eq!(nearest("xy", known), None);
        assert_eq!(nearest("description", known), None);
    }
}
