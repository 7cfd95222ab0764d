//! What a session was begun with: the tools of servers that are sent, the memory, the index of skills.
//!
//! Promise: a session that another process goes on with sends the same system prompt and the same tools for their part, byte
//! for byte, so what a provider has cached of it still counts. What is other by now is told at the tail.

use mica_ext::mcp::SentTool;
use mica_ext::memory::Snapshot;
use mica_ext::skills::Began;
use mica_session::Kind;
use mica_session::entry::Body;
use serde::{Deserialize, Serialize};

use mica_domain::keeping::Keeper;

/// Whose entry it is.
const BEGUN: &str = "mica.begun";

/// What a session was begun with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// Tools of servers. Nothing, when no server was there.
    pub mcp: Option<Vec<SentTool>>,
    /// The memory.
    pub memory: Snapshot,
    /// The skills.
    pub skills: Began,
}

impl Begun {
    /// What the session began with, when something was said in it. One that was kept otherwise begins anew.
    pub fn of(keeper: &Keeper) -> Option<Self> {
        let session = keeper.session();
        let branch = session.tree().branch();
        let said = [Kind::User, Kind::Assistant, Kind::Compaction];
        if !branch.iter().any(|node| said.contains(&node.kind)) {
            return None;
        }
        // It stands before what was said, so it is among the first.
        let mut entries = branch.iter().filter(|node| node.kind == Kind::Custom);
        entries.find_map(|node| match session.entry(node.id).ok()?.body {
            Body::Custom { custom, value } if custom == BEGUN => serde_json::from_value(value).ok(),
            _ => None,
        })
    }

    /// Keeps it, with the next thing that is said.
    ///
    /// # Errors
    /// Never: it is plain data.
    pub fn keep(&self, keeper: &Keeper) -> serde_json::Result<()> {
        let value = serde_json::to_value(self)?;
        keeper.before_next(Body::Custom { custom: BEGUN.to_owned(), value });
        Ok(())
    }
}
