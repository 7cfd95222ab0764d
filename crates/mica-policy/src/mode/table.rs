//! The table of modes: data (`modes.toml`), and how it is read.

use mica_agent::{Access, Args, Effect, ToolSpec, Verdict};
use serde::Deserialize;

use super::{Mode, PlanFolder};
use crate::rules::Rule;

/// What a mode does with one kind of tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Nothing against it.
    Allow,
    /// Only below the plan folder.
    Plan,
    /// Not in this mode.
    #[default]
    Deny,
}

/// A tool that a mode treats otherwise than its declarations say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    /// In which mode.
    pub mode: Mode,
    /// Which tools. Without an argument: modes speak of tools.
    pub tools: Rule,
    /// What the mode does with them.
    pub cell: Cell,
}

/// What each mode does with each kind of tool.
#[derive(Debug, Clone)]
pub struct ModeTable {
    table: Table,
    exceptions: Vec<Exception>,
}

/// A table that cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the table of modes cannot be read: {source}")]
pub struct BadTable {
    #[from]
    source: toml::de::Error,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    because: Because,
    ask: Row,
    plan: Row,
    edit: Row,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Because {
    read: String,
    write: String,
    exclusive: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    instead: String,
    read: Effects,
    write: Effects,
    exclusive: Effects,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Effects {
    pure: Cell,
    idempotent: Cell,
    keyed: Cell,
    transactional: Cell,
    #[serde(rename = "unsafe")]
    unrepeatable: Cell,
}

impl Default for ModeTable {
    fn default() -> Self {
        Self::builtin()
    }
}

impl ModeTable {
    /// The table that comes with mica. A test reads it; should it ever not be readable, every mode denies everything.
    pub fn builtin() -> Self {
        Self::parse(include_str!("modes.toml"))
            .unwrap_or_else(|_| Self { table: Table::default(), exceptions: Vec::new() })
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`BadTable`] when a cell is missing, unknown, or has a value that is none.
    pub fn parse(text: &str) -> Result<Self, BadTable> {
        Ok(Self { table: toml::from_str(text)?, exceptions: Vec::new() })
    }

    /// Adds an exception. Of several that fit, the last one counts.
    #[must_use]
    pub fn except(mut self, exception: Exception) -> Self {
        self.exceptions.push(exception);
        self
    }

    /// What a mode does with a tool.
    pub fn cell(&self, mode: Mode, spec: &ToolSpec) -> Cell {
        let fits = |it: &&Exception| it.mode == mode && it.tools.is_of_tools() && it.tools.names(&spec.name);
        if let Some(exception) = self.exceptions.iter().rev().find(fits) {
            return exception.cell;
        }
        let row = self.row(mode);
        let effects = match spec.access {
            Access::Read => row.read,
            Access::Write => row.write,
            Access::Exclusive => row.exclusive,
        };
        match spec.effect {
            Effect::Pure => effects.pure,
            Effect::Idempotent => effects.idempotent,
            Effect::Keyed => effects.keyed,
            Effect::Transactional => effects.transactional,
            Effect::Unsafe => effects.unrepeatable,
        }
    }

    /// Whether a mode lets a call through. Where it does, it has no opinion on asking, except below the plan folder: that
    /// is the agent's own, and nobody is asked.
    pub fn judge(&self, mode: Mode, spec: &ToolSpec, args: &Args, folder: Option<&PlanFolder>) -> Verdict {
        let tool = &spec.name;
        let row = self.row(mode);
        let only = match (self.cell(mode, spec), folder) {
            (Cell::Allow, _) => return Verdict::Pass,
            (Cell::Plan, Some(folder)) if folder.holds(tool, args) => return Verdict::Allow,
            (Cell::Plan, Some(folder)) => {
                format!(" Only files below {} can be written.", folder.root().display())
            }
            (Cell::Plan, None) | (Cell::Deny, _) => String::new(),
        };
        let because = match spec.access {
            Access::Read => &self.table.because.read,
            Access::Write => &self.table.because.write,
            Access::Exclusive => &self.table.because.exclusive,
        };
        Verdict::Deny {
            reason: format!("{tool} is not available in {mode} mode: {because}.{only} {}", row.instead),
            rule: Some(format!("mode: {mode}")),
        }
    }

    fn row(&self, mode: Mode) -> &Row {
        match mode {
            Mode::Ask => &self.table.ask,
            Mode::Plan => &self.table.plan,
            Mode::Edit => &self.table.edit,
        }
    }
}
