//! Modes: how much a run may do. Ask looks, plan looks and writes its plan, edit does what it is asked.
//!
//! Tools stay in what the model sees, whatever the mode: taking them away would change the cached prompt, and a model
//! that misses a tool looks for a way around it. A denied call says why, and what to do instead.

mod folder;
mod gate;
mod switch;
mod table;

pub use folder::PlanFolder;
pub use gate::ModeGate;
pub use switch::ModeSwitch;
pub use table::{BadTable, Cell, Exception, ModeTable};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a run may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Look and answer.
    Ask,
    /// Look, and write a plan.
    Plan,
    /// Change things.
    #[default]
    Edit,
}

impl Mode {
    /// All of them, the most careful first.
    pub const ALL: [Mode; 3] = [Mode::Ask, Mode::Plan, Mode::Edit];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Plan => "plan",
            Mode::Edit => "edit",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no mode has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mode {name:?}; the modes are ask, plan and edit")]
pub struct UnknownMode {
    /// The name.
    pub name: String,
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        let found = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| UnknownMode { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests;
