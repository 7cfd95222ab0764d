//! Which entries of a branch are in the window: the compaction in force, what it keeps, and what came later.
//!
//! A compaction is an entry like any other. It is in force on every path that it lies on; going back to before it undoes
//! it, because it is then not on the path.

use super::Tree;
use crate::id::EntryId;
use crate::node::{Kind, Link, Node};

/// The entries of a path that a model may see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// The compaction in force: the last one on the path.
    pub compaction: Option<EntryId>,
    /// What it keeps of what came before it, oldest first.
    pub kept: Vec<EntryId>,
    /// What came after it, oldest first; the whole path when there is none.
    pub later: Vec<EntryId>,
}

impl Live {
    /// All live entries in the order for a model: the compaction, what it keeps, what came later.
    pub fn ids(&self) -> impl Iterator<Item = EntryId> {
        self.compaction.iter().chain(&self.kept).chain(&self.later).copied()
    }
}

impl Tree {
    /// The live entries of the path to an entry.
    pub fn live(&self, to: Option<EntryId>) -> Live {
        let path = self.path(to);
        let ids = |nodes: &[&Node]| {
            // A summary that a later one has taken over is not said twice.
            nodes.iter().filter(|node| node.kind != Kind::Compaction).map(|node| node.id).collect()
        };
        let Some(at) = path.iter().rposition(|node| node.kind == Kind::Compaction) else {
            return Live { compaction: None, kept: Vec::new(), later: ids(&path) };
        };
        let before = &path[..at];
        let first = match path[at].link {
            Link::Kept(Some(first)) => {
                // Appending demands that the first kept entry is on the path. In a file that says otherwise, keeping too
                // much is the mistake that loses nothing.
                before.iter().position(|node| node.id == first).unwrap_or(0)
            }
            _ => before.len(),
        };
        Live { compaction: Some(path[at].id), kept: ids(&before[first..]), later: ids(&path[at + 1..]) }
    }
}
