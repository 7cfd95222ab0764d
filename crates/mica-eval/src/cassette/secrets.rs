//! What must not be written: keys that are known, and what looks like one.

use std::sync::LazyLock;

use fancy_regex::Regex;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

/// The shortest value that is taken for a secret: shorter ones are words.
const SHORTEST: usize = 8;

/// What a key looks like: those that providers and hosts of code give out, and tokens that are signed.
static LOOKS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const PATTERNS: [&str; 6] = [
        r"\bsk-[A-Za-z0-9_-]{16,}",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\bxox[abpr]-[A-Za-z0-9-]{10,}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/-]{16,}",
    ];
    PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
});

/// Values that must not be written.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// These, besides what looks like a key. Those that are too short to be one are not looked for.
    pub fn known(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        // The longest first: one may be the beginning of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// A text without them.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for value in &self.0 {
            text = text.replace(value.as_str(), REDACTED);
        }
        for looks in LOOKS.iter() {
            text = looks.replace_all(&text, REDACTED).into_owned();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let secrets =
            Secrets::known(["correct-horse".to_owned(), "correct-horse-battery".to_owned(), "ab".to_owned()]);
        assert_eq!(secrets.redact(text), expect);
    }

    #[test]
    fn what_is_known_and_what_looks_like_a_key_is_taken_out() {
        assert_eq!(LOOKS.len(), 6, "every pattern reads");
        check("PASSWORD=correct-horse-battery ab", "PASSWORD=[redacted] ab");
        check("key sk-proj-0123456789abcdef01", "key [redacted]");
        check("Authorization: Bearer 0123456789abcdef.x", "Authorization: Bearer [redacted]");
        check("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0", "[redacted]");
        check("ghp_0123456789012345678901234567890123456 AKIAIOSFODNN7EXAMPLE", "[redacted] [redacted]");
        check("ask-me-anything-about-everything", "ask-me-anything-about-everything");
    }
}
