//! Which tools, or which kinds of an event, an entry is for.
//!
//! As the agents that share the convention have it: nothing and `*` are everything, words joined by `|` are exact names,
//! and everything else is a regular expression that may match anywhere in the name.

use std::fmt;

use fancy_regex::Regex;

/// A matcher that was read.
#[derive(Clone)]
pub enum Matcher {
    /// Everything.
    All,
    /// One of these names.
    Names(Vec<String>),
    /// Whatever this matches somewhere.
    Pattern(Box<Regex>),
}

impl Matcher {
    /// Reads a matcher.
    ///
    /// # Errors
    /// In words, what is wrong with the regular expression.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::All);
        }
        let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' ');
        if text.split('|').all(|name| !name.trim().is_empty() && name.chars().all(plain)) {
            return Ok(Self::Names(text.split('|').map(|name| name.trim().to_owned()).collect()));
        }
        Regex::new(text)
            .map(|pattern| Self::Pattern(Box::new(pattern)))
            .map_err(|error| format!("{text:?} is no regular expression: {error}"))
    }

    /// Whether one of these names is meant. An expression that cannot be evaluated matches: whoever wrote it wanted to be
    /// asked about something.
    pub fn is_for<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        match self {
            Self::All => true,
            Self::Names(wanted) => names.into_iter().any(|name| wanted.iter().any(|one| one == name)),
            Self::Pattern(pattern) => names.into_iter().any(|name| pattern.is_match(name).unwrap_or(true)),
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Names(names) => f.write_str(&names.join("|")),
            Self::Pattern(pattern) => f.write_str(pattern.as_str()),
        }
    }
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Matcher({self})")
    }
}

impl PartialEq for Matcher {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(matcher: &str, names: &[&str], expect: bool) {
        let read = Matcher::read(matcher).unwrap();
        assert_eq!(read.is_for(names.iter().copied()), expect, "{matcher:?} for {names:?}");
    }

    #[test]
    fn names_alternatives_patterns_and_everything() {
        for everything in ["", "*", " ", ".*"] {
            check(everything, &["shell", "Bash"], true);
        }
        check("Bash", &["shell", "Bash"], true);
        check("shell", &["shell", "Bash"], true);
        check("bash", &["shell", "Bash"], false);
        check("Edit|Write", &["file_edit", "Edit"], true);
        check("Edit | Write", &["file_write", "Write"], true);
        check("Edit|Write", &["file_edit", "NotebookEdit"], false);
        check("shell|file_.*", &["file_read"], true);
        check("shell|file_.*", &["web_fetch"], false);
        check("mcp__memory__.*", &["mcp__memory__save"], true);
        check("mcp__*", &["mcp__files__read"], true);
        check("^(?!Read$)", &["Read"], false);
        check("^(?!Read$)", &["Write"], true);
        check("startup|resume", &["resume"], true);
    }

    #[test]
    fn what_is_no_expression_is_told() {
        let error = Matcher::read("file_(").unwrap_err();
        assert!(error.starts_with("\"file_(\" is no regular expression: "), "{error}");
    }
}
