//! The boundary around words that others wrote, and words that fit on one line.

pub use mica_context::fence::fenced;

/// A text on one line, of at most so many letters, in whole words.
pub fn line(text: &str, longest: usize) -> String {
    let clean: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= longest {
        return words;
    }
    let cut: String = words.chars().take(longest.saturating_sub(2)).collect();
    format!("{} …", cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_whole_words() {
        assert_eq!(line(" one\n\ttwo\u{7} three ", 20), "one two three");
        assert_eq!(line("one two three", 12), "one two …");
        assert_eq!(line("onetwothree", 6), "onet …");
    }
}
