//! Makes a long text short: its beginning and its end stay, and what is left out is said.

/// A text with its middle left out, so that about `keep` bytes of it stay. Characters stay whole.
pub(crate) fn shortened(text: &str, keep: usize) -> String {
    let head = text.floor_char_boundary(keep / 2);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(keep / 2)).max(head);
    format!(
        "{}\n[… {} of {} bytes are left out here …]\n{}",
        &text[..head],
        tail - head,
        text.len(),
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_and_end_stay() {
        assert_eq!(shortened("abcdefghij", 4), "ab\n[… 6 of 10 bytes are left out here …]\nij");
        assert_eq!(shortened("abcdefghij", 0), "\n[… 10 of 10 bytes are left out here …]\n");
    }

    #[test]
    fn characters_stay_whole_wherever_the_cut_falls() {
        let text = "aß€🦀".repeat(20);
        for keep in 0..text.len() {
            let short = shortened(&text, keep);
            let (head, rest) = short.split_once("\n[… ").unwrap();
            let (left_out, tail) = rest.split_once(" …]\n").unwrap();
            assert!(text.starts_with(head) && text.ends_with(tail), "{keep}");
            assert!(head.len() <= keep / 2 && tail.len() <= keep / 2, "{keep}");
            let gone = text.len() - head.len() - tail.len();
            assert_eq!(left_out, format!("{gone} of {} bytes are left out here", text.len()), "{keep}");
        }
    }
}
