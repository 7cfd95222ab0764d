//! What kind of run it is: who starts it, where its words are read, and by whom.

use serde::{Deserialize, Serialize};

/// Who is there while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// A person, who reads and answers.
    #[default]
    Interactive,
    /// Nobody: a trigger started it. It asks nothing, and ends with a summary for whoever looks later.
    Autonomous,
}

/// Where its words are read. Decides how they are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Beside the product, where cards are shown.
    #[default]
    Chat,
    /// In a conversation with somebody outside, as plain text.
    Thread,
    /// Nowhere: what was done counts.
    Headless,
}

/// Who reads them. Decides what may be said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Somebody of the product's own organisation.
    #[default]
    Member,
    /// Somebody from outside.
    Customer,
}

/// What kind of run it is. The same for the whole life of a session: it is part of the cached prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Profile {
    /// Who is there.
    pub mode: RunMode,
    /// Where it is read.
    pub surface: Surface,
    /// By whom.
    pub audience: Audience,
}

impl Profile {
    /// A run that nobody watches.
    pub const AUTONOMOUS: Self =
        Self { mode: RunMode::Autonomous, surface: Surface::Headless, audience: Audience::Member };
}
