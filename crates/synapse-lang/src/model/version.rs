//! The versions of the runtime the language knows, and how they compare.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A version of Micro Integrator, `4.4.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Version {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
    /// The third number; zero when it was not written.
    pub patch: u16,
}

impl Version {
    /// The oldest version whose language is described.
    pub const OLDEST: Self = Self::new(4, 1, 0);
    /// The version that brought expressions, variables and the newer mediators.
    pub const EXPRESSIONS: Self = Self::new(4, 4, 0);
    /// The newest version whose language is described.
    pub const NEWEST: Self = Self::new(4, 6, 0);

    /// The version of three numbers.
    #[must_use]
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// Whether something that exists from `since` until before `until` exists in this version.
    #[must_use]
    pub fn has(self, since: Option<Self>, until: Option<Self>) -> bool {
        since.is_none_or(|since| self >= since) && until.is_none_or(|until| self < until)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version: versions look like 4.4.0")]
pub struct NotAVersion(pub String);

impl FromStr for Version {
    type Err = NotAVersion;

    /// Reads `4.4.0`, `4.4`, and the same with a qualifier that does not count: `4.4.0-SNAPSHOT`, `4.3.0-alpine`.
    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let wrong = || NotAVersion(text.to_owned());
        let numbers = text.trim().split(['-', '_', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.').map(|part| part.parse::<u16>().map_err(|_| wrong()));
        let major = parts.next().ok_or_else(wrong)??;
        let minor = parts.next().ok_or_else(wrong)??;
        let patch = parts.next().transpose()?.unwrap_or(0);
        Ok(Self { major, minor, patch })
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared() {
        for (text, expect) in [
            ("4.4.0", Ok(Version::new(4, 4, 0))),
            ("4.3", Ok(Version::new(4, 3, 0))),
            ("4.6.1-SNAPSHOT", Ok(Version::new(4, 6, 1))),
            ("4.3.0-alpine", Ok(Version::new(4, 3, 0))),
            ("4.2.0.8", Ok(Version::new(4, 2, 0))),
            ("latest", Err(NotAVersion("latest".into()))),
            ("4", Err(NotAVersion("4".into()))),
            ("", Err(NotAVersion(String::new()))),
        ] {
            assert_eq!(text.parse::<Version>(), expect, "{text}");
        }
        assert!(Version::new(4, 10, 0) > Version::new(4, 9, 9));
        assert!(!Version::new(4, 3, 0).has(Some(Version::EXPRESSIONS), None));
        assert!(Version::new(4, 4, 0).has(Some(Version::EXPRESSIONS), None));
        assert!(!Version::new(4, 4, 0).has(None, Some(Version::EXPRESSIONS)));
    }
}
