//! Globs: `*`, `**` and `?`, and nothing else.
//!
//! A matcher of our own, because rules need three signs, a bound on the time, and an error for everything that looks
//! like more: a rule that means something else than its writer thought is worse than none. Time is the product of both
//! lengths at most.

/// What a `*` stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// At `/`: `*` is a part of one name, `**` is any number of them.
    Path,
    /// At nothing.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Letter(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `**`
    All,
    /// `**/`: nothing, or whole names with the `/` behind them.
    Names,
}

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    pieces: Vec<Piece>,
    style: Style,
}

/// Signs that mean something in other globs.
const FOREIGN: [char; 5] = ['[', ']', '{', '}', '\\'];

impl Glob {
    /// Reads a pattern. The error is what is wrong with it.
    pub(crate) fn new(text: &str, style: Style) -> Result<Self, String> {
        let negated = text.chars().next().filter(|first| *first == '!');
        if let Some(sign) = negated.or_else(|| text.chars().find(|sign| FOREIGN.contains(sign))) {
            return Err(format!("{sign:?} has no meaning here: patterns have *, ** and ? only"));
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let starts_name = pieces.is_empty() || pieces.last() == Some(&Piece::Letter('/'));
            if let Some(after) = rest.strip_prefix("**/").filter(|_| starts_name && style == Style::Path) {
                pieces.push(Piece::Names);
                // So that the next piece starts a name too: `a/**/**/b`.
                rest = after.trim_start_matches("**/");
                continue;
            }
            let (piece, length) = match first {
                '*' if rest.starts_with("**") => (Piece::All, 2),
                '*' => (if style == Style::Text { Piece::All } else { Piece::Many }, 1),
                '?' => (Piece::One, 1),
                letter => (Piece::Letter(letter), letter.len_utf8()),
            };
            pieces.push(piece);
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(Self { pieces, style })
    }

    /// Whether a whole text is one that the pattern describes.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        // reached[i]: the pieces so far can describe the first i letters.
        let mut reached = vec![false; letters.len() + 1];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        for piece in &self.pieces {
            let mut next = vec![false; letters.len() + 1];
            let mut carried = false;
            for (index, slot) in next.iter_mut().enumerate() {
                let here = reached.get(index).copied().unwrap_or(false);
                let before = index.checked_sub(1).and_then(|last| letters.get(last).copied());
                let came = index.checked_sub(1).and_then(|last| reached.get(last).copied()).unwrap_or(false);
                *slot = match piece {
                    Piece::Letter(letter) => came && before == Some(*letter),
                    Piece::One => came && before.is_some_and(|letter| self.passes(letter)),
                    Piece::Many => {
                        carried = here || (carried && before.is_some_and(|letter| self.passes(letter)));
                        carried
                    }
                    Piece::All => {
                        carried |= here;
                        carried
                    }
                    Piece::Names => {
                        let name_ended = carried && before == Some('/');
                        carried |= here;
                        here || name_ended
                    }
                };
            }
            reached = next;
        }
        reached.last().copied().unwrap_or(false)
    }

    fn passes(&self, letter: char) -> bool {
        self.style == Style::Text || letter != '/'
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(pattern: &str, style: Style, fits: &[&str], others: &[&str]) {
        let glob = Glob::new(pattern, style).unwrap();
        for text in fits {
            assert!(glob.matches(text), "{pattern} {text}");
        }
        for text in others {
            assert!(!glob.matches(text), "{pattern} {text}");
        }
    }

    #[test]
    fn paths() {
        let path = Style::Path;
        check("src/**", path, &["src/a", "src/a/b", "src/"], &["src", "srcs/a", "lib/src/a", "/src/a"]);
        check("src/*", path, &["src/a", "src/"], &["src/a/b", "src"]);
        check("**/*.rs", path, &["a.rs", "x/a.rs", "x/y/a.rs"], &["a.rs.txt", "rs"]);
        check("a/**/b", path, &["a/b", "a/x/b", "a/x/y/b"], &["a/xb", "ab", "a/b/c"]);
        check("a/**/**/b", path, &["a/b", "a/x/b"], &["a"]);
        check("?.rs", path, &["a.rs", "ä.rs"], &["ab.rs", "/.rs", ".rs"]);
        check("**", path, &["", "a", "a/b"], &[]);
        check("*", path, &["", "a"], &["a/b"]);
        check("a.rs", path, &["a.rs"], &["abrs", "A.rs"]);
        check("", path, &[""], &["a"]);
    }

    #[test]
    fn texts() {
        check("git log *", Style::Text, &["git log ", "git log a/b"], &["git log", "git push"]);
        check("*", Style::Text, &["", "a/b\nc"], &[]);
    }

    #[test]
    fn signs_of_other_globs_are_errors() {
        for pattern in ["[ab]", "{a,b}", "a\\*", "!a"] {
            assert!(Glob::new(pattern, Style::Path).is_err(), "{pattern}");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let glob = Glob::new(&"*a".repeat(200), Style::Text).unwrap();
        assert!(!glob.matches(&"a".repeat(199)));
        assert!(glob.matches(&"a".repeat(2_000)));
    }

    proptest! {
        #[test]
        fn a_text_without_signs_matches_itself_alone(text in "[a-z/.]{0,12}", other in "[a-z/.]{0,12}") {
            let glob = Glob::new(&text, Style::Path).unwrap();
            prop_assert!(glob.matches(&text));
            prop_assert_eq!(glob.matches(&other), text == other);
        }

        #[test]
        fn a_star_takes_any_name(head in "[a-z/]{0,5}", name in "[a-z.]{0,8}", tail in "[a-z/]{0,5}") {
            let glob = Glob::new(&format!("{head}*{tail}"), Style::Path).unwrap();
            let text = format!("{head}{name}{tail}");
            prop_assert!(glob.matches(&text));
        }
    }
}
