//! What the parentheses of a rule speak of: one argument of each tool, and whether it is a path.

use std::collections::BTreeMap;

use mica_agent::Args;
use serde_json::Value;

use super::rule::Pattern;

/// The argument of a tool that rules speak of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// It holds a path, or a list of them.
    Path {
        /// Its name.
        argument: String,
    },
    /// It holds an address on the web, or a list of them. Rules speak of its host: `docs.rs`, `*.example.org`.
    Host {
        /// Its name.
        argument: String,
    },
    /// It holds any other text, or a list of them. A `*` in a rule fits everything in it, so a command line is no good
    /// subject: `git log *` would fit `git log; rm -r .` as well.
    Text {
        /// Its name.
        argument: String,
    },
}

/// The subjects of all tools.
#[derive(Debug, Clone, Default)]
pub struct Subjects {
    by_tool: BTreeMap<String, Subject>,
    root: Option<String>,
}

impl Subjects {
    /// No tool has one yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Absolute paths below this one are judged as paths of the project. It must be normalised.
    #[must_use]
    pub fn below(mut self, root: &str) -> Self {
        self.root = Some(tidied(root));
        self
    }

    /// Says that an argument of a tool holds a path.
    #[must_use]
    pub fn path(mut self, tool: &str, argument: &str) -> Self {
        self.by_tool.insert(tool.to_owned(), Subject::Path { argument: argument.to_owned() });
        self
    }

    /// Says that an argument of a tool holds a text that rules may speak of.
    #[must_use]
    pub fn text(mut self, tool: &str, argument: &str) -> Self {
        self.by_tool.insert(tool.to_owned(), Subject::Text { argument: argument.to_owned() });
        self
    }

    /// Says that an argument of a tool holds an address, of which rules speak by its host.
    #[must_use]
    pub fn host(mut self, tool: &str, argument: &str) -> Self {
        self.by_tool.insert(tool.to_owned(), Subject::Host { argument: argument.to_owned() });
        self
    }

    /// The tools whose rules speak of hosts.
    pub(super) fn of_hosts(&self) -> impl Iterator<Item = &str> {
        let hosts = self.by_tool.iter().filter(|(_, subject)| matches!(subject, Subject::Host { .. }));
        hosts.map(|(tool, _)| tool.as_str())
    }

    pub(super) fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }

    /// What a call says there. None when it cannot be seen.
    pub(super) fn of(&self, tool: &str, args: &Args) -> Option<Vec<Said>> {
        let (argument, said): (_, fn(&str) -> Said) = match self.by_tool.get(tool)? {
            Subject::Path { argument } => (argument, |text| Said::Path(tidied(text))),
            Subject::Host { argument } => (argument, |text| Said::Address(text.to_owned())),
            Subject::Text { argument } => (argument, |text| Said::Text(text.to_owned())),
        };
        match args.get(argument)? {
            Value::String(text) => Some(vec![said(text)]),
            Value::Array(items) => items.iter().map(|item| item.as_str().map(said)).collect(),
            _ => None,
        }
    }
}

/// What a call says about its subject.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Path(String),
    Address(String),
    Text(String),
}

impl Said {
    /// Whether a pattern fits. None when that cannot be told.
    pub(super) fn fits(&self, pattern: &Pattern, root: Option<&str>) -> Option<bool> {
        let path = match self {
            Said::Address(address) => return pattern.host.as_ref()?.fits(address),
            Said::Text(text) => return Some(pattern.text.matches(text)),
            Said::Path(path) => path,
        };
        if !pattern.relative {
            let absolute = match (path.starts_with('/'), root) {
                (true, _) => path.clone(),
                (false, Some(root)) => tidied(&format!("{root}/{path}")),
                (false, None) => return None,
            };
            return Some(pattern.path.matches(&absolute));
        }
        if let Some(path) = path.strip_prefix('/') {
            let root = root?;
            let below = root.strip_prefix('/').and_then(|root| path.strip_prefix(root));
            // `/project-old` is not below `/project`.
            return match below.map(|rest| (root == "/" || rest.is_empty() || rest.starts_with('/'), rest)) {
                Some((true, rest)) => Some(pattern.path.matches(rest.trim_start_matches('/'))),
                _ => Some(false),
            };
        }
        if path == ".." || path.starts_with("../") {
            // It leaves the project, by a way that only the disk knows.
            return None;
        }
        Some(pattern.path.matches(path))
    }
}

/// A path without `.`, `..` and doubled separators, as far as the text alone can tell. Links are the caller's business.
fn tidied(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(last) if *last != ".." => {
                    parts.pop();
                }
                _ if absolute => {}
                _ => parts.push(".."),
            },
            name => parts.push(name),
        }
    }
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}
