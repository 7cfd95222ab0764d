//! How a thing is found in what a tool gave: by its shape, which is data.

use serde::{Deserialize, Serialize};

/// The shape of a thing in what tools give.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// What is found.
    pub thing: String,
    /// Keys that hold the id. The first that is there counts.
    pub id: Vec<String>,
    /// Keys that must be there, and hold something.
    pub required: Vec<String>,
    /// Keys that must not be there.
    pub forbidden: Vec<String>,
    /// Fields of the snapshot.
    pub keeps: Vec<String>,
}
