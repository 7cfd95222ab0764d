//! One rule, read from its text.

use std::fmt;
use std::str::FromStr;

use super::host::HostPattern;
use crate::glob::{Glob, Style};

/// A pattern of calls: `file_write`, `file_*`, `*`, `file_write(src/**)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    tool: Glob,
    argument: Option<Pattern>,
}

/// What stands in the parentheses. Which of the two is meant depends on the tool it is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) path: Glob,
    pub(super) text: Glob,
    /// None when it can be no host.
    pub(super) host: Option<HostPattern>,
    /// Whether it speaks of paths below the project.
    pub(super) relative: bool,
}

impl Rule {
    /// Whether it speaks of tools alone, whatever their arguments.
    pub fn is_of_tools(&self) -> bool {
        self.argument.is_none()
    }

    /// Whether a tool's name fits.
    pub fn names(&self, tool: &str) -> bool {
        self.tool.matches(tool)
    }

    /// Whether it names this very tool, and no pattern of tools.
    pub(super) fn is_about(&self, tool: &str) -> bool {
        self.text.split('(').next() == Some(tool)
    }

    pub(super) fn argument(&self) -> Option<&Pattern> {
        self.argument.as_ref()
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    /// Nothing is there.
    #[error("the rule is empty; it should look like file_write or file_write(src/**)")]
    Empty,
    /// It begins with the parentheses.
    #[error("the rule {rule:?} names no tool before its parentheses; use * for any tool")]
    NoTool {
        /// The text.
        rule: String,
    },
    /// A name that no tool can have.
    #[error(
        "the rule {rule:?} has {sign:?} in the name of the tool; names have letters, digits, _, -, . and *"
    )]
    ToolName {
        /// The text.
        rule: String,
        /// What is not allowed.
        sign: char,
    },
    /// The parentheses do not close, or something comes after them.
    #[error("the rule {rule:?} must end with the ) that closes its parentheses")]
    Unclosed {
        /// The text.
        rule: String,
    },
    /// There is nothing between the parentheses.
    #[error("the rule {rule:?} has nothing in its parentheses; leave them out for any argument")]
    NoArgument {
        /// The text.
        rule: String,
    },
    /// A pattern that is no host, for a tool whose rules speak of hosts.
    #[error(
        "the rule {rule:?} must name a host, such as docs.rs, *.example.org or docs.rs:8443: {tool} goes by the host alone"
    )]
    NoHost {
        /// The text.
        rule: String,
        /// The tool.
        tool: String,
    },
    /// A pattern that cannot be read.
    #[error("the rule {rule:?} cannot be read: {message}")]
    Pattern {
        /// The text.
        rule: String,
        /// What is wrong.
        message: String,
    },
}

impl FromStr for Rule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let text = text.trim();
        let rule = || text.to_owned();
        if text.is_empty() {
            return Err(BadRule::Empty);
        }
        let (name, argument) = match text.split_once('(') {
            None if text.contains(')') => return Err(BadRule::Unclosed { rule: rule() }),
            None => (text, None),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(|| BadRule::Unclosed { rule: rule() })?;
                (name, Some(inside))
            }
        };
        if name.is_empty() {
            return Err(BadRule::NoTool { rule: rule() });
        }
        let allowed = |sign: char| sign.is_ascii_alphanumeric() || "_-.*?".contains(sign);
        if let Some(sign) = name.chars().find(|sign| !allowed(*sign)) {
            return Err(BadRule::ToolName { rule: rule(), sign });
        }
        let glob = |pattern: &str, style| {
            Glob::new(pattern, style).map_err(|message| BadRule::Pattern { rule: rule(), message })
        };
        let argument = match argument {
            None => None,
            Some(inside) if inside.trim().is_empty() => return Err(BadRule::NoArgument { rule: rule() }),
            Some(inside) => Some(Pattern {
                path: glob(inside.strip_prefix("./").unwrap_or(inside), Style::Path)?,
                text: glob(inside, Style::Text)?,
                host: HostPattern::read(inside),
                relative: !inside.starts_with('/'),
            }),
        };
        Ok(Self { text: rule(), tool: glob(name, Style::Text)?, argument })
    }
}
