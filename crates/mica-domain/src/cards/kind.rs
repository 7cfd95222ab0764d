//! Which cards a product has, as data.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::probe::Probe;

/// The cards, links and probes of a product. Data: it can be written in a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Kinds {
    /// What ids stand for.
    pub things: Vec<Thing>,
    /// What can be shown.
    pub cards: Vec<Kind>,
    /// How things are found in what tools gave.
    pub probes: Vec<Probe>,
}

/// Something that ids stand for: a record, a thread, a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thing {
    /// Its name, as in `mica://record/ID`.
    pub name: String,
    /// How one is said in one line.
    pub line: Line,
    /// Tools that its ids come from. Empty: they may come from anywhere.
    #[serde(default)]
    pub from: Vec<String>,
}

/// How a snapshot is said in one line. What is not named here never reaches a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The field that names it.
    pub name: String,
    /// Fields that say more, in order.
    #[serde(default)]
    pub details: Vec<String>,
}

/// A kind of card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// The name of its fence, without the prefix: `record-list`.
    pub name: String,
    /// What is in the fence.
    pub payload: Payload,
    /// When the model should show one. One sentence.
    #[serde(default)]
    pub about: String,
    /// Tools that must be there for it to make sense: one of them is enough. Empty: those of its thing.
    #[serde(default)]
    pub from: Vec<String>,
}

/// What is in a fence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// `{ "id": … }`: one thing.
    One {
        /// What it is.
        of: String,
    },
    /// `{ "ids": […] }`: several.
    Many {
        /// What they are.
        of: String,
    },
    /// Everything there is to show.
    Data {
        /// JSON Schema that it must follow.
        schema: Value,
    },
}
