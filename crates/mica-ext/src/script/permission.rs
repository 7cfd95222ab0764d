//! What a script may do besides listening: declared in its manifest, granted by the user.
//!
//! Nothing is needed for events, tools, commands, questions to the person, entries of its own and looking at the state.
//! What reaches further is one of these:
//!
//! | written | lets it |
//! |---|---|
//! | `exec` | run any program, and command lines of the shell |
//! | `exec:git` | run `git` with any arguments, without a shell |
//! | `fetch` | ask any host |
//! | `fetch:api.example.com` | ask this host; `*.example.com` means the hosts below it |
//! | `storage` | store values beyond the session |
//! | `messages` | say something to the model |
//! | `agent` | choose tools and how hard the model thinks |

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One permission. Written as in the table above.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Permission {
    /// Running programs: any, or the one of this name.
    Exec(Option<String>),
    /// Asking hosts: any, or those that this means.
    Fetch(Option<String>),
    /// Storing values beyond the session.
    Storage,
    /// Saying something to the model.
    Messages,
    /// Choosing tools and how hard the model thinks.
    Agent,
}

/// A permission that there is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no permission {0:?}; there is: exec, exec:PROGRAM, fetch, fetch:HOST, storage, messages, agent"
)]
pub struct UnknownPermission(String);

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownPermission(text.to_owned());
        let (kind, of) = match text.split_once(':') {
            Some((kind, of)) => (kind, Some(of)),
            None => (text, None),
        };
        let plain = |of: &str, more: &str| {
            let fits = |letter: char| letter.is_ascii_alphanumeric() || more.contains(letter);
            !of.is_empty() && of.chars().all(fits)
        };
        match (kind, of) {
            ("exec", None) => Ok(Self::Exec(None)),
            ("exec", Some(program)) if plain(program, "-_.+") => Ok(Self::Exec(Some(program.to_owned()))),
            ("fetch", None) => Ok(Self::Fetch(None)),
            ("fetch", Some(host)) if plain(host.strip_prefix("*.").unwrap_or(host), "-.") => {
                Ok(Self::Fetch(Some(host.to_ascii_lowercase())))
            }
            ("storage", None) => Ok(Self::Storage),
            ("messages", None) => Ok(Self::Messages),
            ("agent", None) => Ok(Self::Agent),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for Permission {
    type Error = UnknownPermission;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Permission> for String {
    fn from(permission: Permission) -> Self {
        permission.to_string()
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exec(None) => f.write_str("exec"),
            Self::Exec(Some(program)) => write!(f, "exec:{program}"),
            Self::Fetch(None) => f.write_str("fetch"),
            Self::Fetch(Some(host)) => write!(f, "fetch:{host}"),
            Self::Storage => f.write_str("storage"),
            Self::Messages => f.write_str("messages"),
            Self::Agent => f.write_str("agent"),
        }
    }
}

impl Permission {
    /// Whether this one is enough for what `wanted` names.
    fn covers(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Exec(None), Self::Exec(_)) | (Self::Fetch(None), Self::Fetch(_)) => true,
            (Self::Fetch(Some(host)), Self::Fetch(Some(wanted))) => match host.strip_prefix("*.") {
                Some(below) => {
                    wanted.strip_suffix(below).is_some_and(|start| start.len() > 1 && start.ends_with('.'))
                }
                None => host == wanted,
            },
            (one, other) => one == other,
        }
    }
}

/// What a script may do: what it declares and the user granted, both.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    declared: Vec<Permission>,
    granted: Vec<Permission>,
}

impl Grants {
    /// What it declares, and what was granted.
    pub fn new(declared: Vec<Permission>, granted: Vec<Permission>) -> Self {
        Self { declared, granted }
    }

    /// Whether it may do this.
    ///
    /// # Errors
    /// In words for the author, or for the user.
    pub fn need(&self, wanted: &Permission) -> Result<(), String> {
        if !self.declared.iter().any(|one| one.covers(wanted)) {
            return Err(format!(
                "this needs the permission {wanted}, which the extension does not declare: add it to the permissions in \
                 its manifest"
            ));
        }
        if !self.granted.iter().any(|one| one.covers(wanted)) {
            return Err(format!(
                "this needs the permission {wanted}, which the user has not granted to the extension"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_read_and_written() {
        for text in [
            "exec",
            "exec:git",
            "exec:clang++-18",
            "fetch",
            "fetch:api.example.com",
            "fetch:*.example.com",
            "storage",
            "messages",
            "agent",
        ] {
            assert_eq!(text.parse::<Permission>().map(|one| one.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "exec:",
            "exec:/bin/sh",
            "exec:a b",
            "fetch:https://a",
            "fetch:*",
            "fetch:a.*",
            "storage:x",
            "all",
            "Exec",
        ] {
            assert_eq!(text.parse::<Permission>(), Err(UnknownPermission(text.to_owned())));
        }
    }

    #[test]
    fn both_must_say_yes() {
        let read = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect::<Vec<Permission>>();
        for (declared, granted, wanted, allowed) in [
            (&["exec:git"][..], &["exec:git"][..], "exec:git", true),
            (&["exec"], &["exec:git"], "exec:git", true),
            (&["exec"], &["exec:git"], "exec:sh", false),
            (&["exec"], &["exec:git"], "exec", false),
            (&["exec:git"], &["exec"], "exec:sh", false),
            (&[], &["exec"], "exec:git", false),
            (&["fetch:*.a.com"], &["fetch"], "fetch:x.a.com", true),
            (&["fetch:*.a.com"], &["fetch"], "fetch:x.y.a.com", true),
            (&["fetch:*.a.com"], &["fetch"], "fetch:a.com", false),
            (&["fetch:*.a.com"], &["fetch"], "fetch:.a.com", false),
            (&["fetch:*.a.com"], &["fetch"], "fetch:xa.com", false),
            (&["fetch:a.com"], &["fetch"], "fetch:a.com.evil.org", false),
            (&["storage"], &["agent"], "storage", false),
        ] {
            let grants = Grants::new(read(declared), read(granted));
            assert_eq!(
                grants.need(&wanted.parse().unwrap()).is_ok(),
                allowed,
                "{declared:?} {granted:?} {wanted}"
            );
        }
    }
}
