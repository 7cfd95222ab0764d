//! What the checker says: a finding with its code, its place, its reason and, where one is evident, its repair.

use crate::text::Span;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A better way exists.
    Hint,
    /// Worth knowing; often meant that way.
    Info,
    /// Likely not what was meant.
    Warning,
    /// It does not deploy, or it fails when it runs.
    Error,
}

impl Severity {
    /// The word that stands in output and on command lines.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The severity of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Hint, Self::Info, Self::Warning, Self::Error].into_iter().find(|one| one.word() == word)
    }
}

/// What the runtime does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The artifact does not deploy.
    Deploy,
    /// An exception at run time; the fault sequence takes over.
    Fault,
    /// An exception that the expression engine does not catch: a fault with an unhelpful message.
    Crash,
    /// The value becomes the empty string and the flow goes on.
    Empty,
    /// The runtime never looks at it.
    Ignored,
    /// It runs, but does something else than it seems to say.
    Surprise,
    /// A matter of taste or of a newer, better form.
    Style,
}

impl Class {
    /// The word that stands in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Fault => "fault",
            Self::Crash => "crash",
            Self::Empty => "empty",
            Self::Ignored => "ignored",
            Self::Surprise => "surprise",
            Self::Style => "style",
        }
    }

    /// The class of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Deploy, Self::Fault, Self::Crash, Self::Empty, Self::Ignored, Self::Surprise, Self::Style]
            .into_iter()
            .find(|one| one.word() == word)
    }
}

/// The stable name of a finding, `SYN0123`. Its documentation is `docs/synapse/SYN0123.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SYN{:04}", self.0)
    }
}

impl std::str::FromStr for Code {
    type Err = NotACode;

    /// Reads `SYN0123`, `syn123` or `123`.
    fn from_str(text: &str) -> Result<Self, NotACode> {
        let digits = match text.get(..3) {
            Some(prefix) if prefix.eq_ignore_ascii_case("syn") => text.get(3..).unwrap_or_default(),
            _ => text,
        };
        let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        number.map(Self).ok_or_else(|| NotACode(text.to_owned()))
    }
}

/// A text that is not a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a code: codes look like SYN0123")]
pub struct NotACode(pub String);

/// A change of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards.
    pub text: String,
}

/// How far a repair may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Safety {
    /// It does what was evidently meant; applied without asking.
    Safe,
    /// It changes behaviour, or is one of several ways: a person looks at it.
    Review,
}

impl Safety {
    /// The word that stands in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Review => "review",
        }
    }
}

/// A repair of one finding. Its edits do not overlap and belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as an instruction: "Wrap the expression in `${}`".
    pub title: String,
    /// Whether it may be applied without a look.
    pub safety: Safety,
    /// The changes, in any order.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A repair that may be applied without a look.
    #[must_use]
    pub fn safe(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { title: title.into(), safety: Safety::Safe, edits }
    }

    /// A repair that a person looks at.
    #[must_use]
    pub fn review(title: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { title: title.into(), safety: Safety::Review, edits }
    }
}

impl Edit {
    /// Puts a text in the place of another.
    #[must_use]
    pub fn replace(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }

    /// Puts a text at a place.
    #[must_use]
    pub fn insert(offset: u32, text: impl Into<String>) -> Self {
        Self { span: Span::at(offset), text: text.into() }
    }

    /// Takes a text away.
    #[must_use]
    pub const fn remove(span: Span) -> Self {
        Self { span, text: String::new() }
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable name.
    pub code: Code,
    /// What the runtime does.
    pub class: Class,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong and why, in one or two sentences.
    pub message: String,
    /// Repairs, the best first.
    pub fixes: Vec<Fix>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_in_the_forms_people_type() {
        for text in ["SYN0123", "syn123", "123", "Syn0123"] {
            assert_eq!(text.parse(), Ok(Code(123)), "{text}");
        }
        for text in ["", "SYN", "SYN+12", "E0123", "SYN99999999", "12a", "\u{20ac}\u{20ac}"] {
            assert_eq!(text.parse::<Code>(), Err(NotACode(text.to_owned())), "{text}");
        }
        assert_eq!(Code(7).to_string(), "SYN0007");
    }
}
