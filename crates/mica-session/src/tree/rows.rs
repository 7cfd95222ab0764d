//! The tree as rows, for a view: each entry of the conversation once, children below their parent.
//!
//! A conversation is a long chain with few forks, so depth counts forks and not entries: the only child of an entry has
//! its depth, the children of a fork are one deeper. Where an entry forks, the branch that was begun first comes first.

use super::{NOWHERE, Tree};
use crate::id::EntryId;
use crate::node::Kind;

/// One line of a tree view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The entry.
    pub id: EntryId,
    /// How many forks are above it.
    pub depth: usize,
    /// What it is.
    pub kind: Kind,
    /// The beginning of what it says.
    pub preview: String,
    /// The mark on it.
    pub label: Option<String>,
    /// Whether it is on the current branch.
    pub on_branch: bool,
    /// Whether it is the leaf.
    pub is_leaf: bool,
}

impl Tree {
    /// All entries of the conversation as rows, depth first. What stands aside has no row.
    pub fn rows(&self) -> Vec<Row> {
        let mut on_branch = vec![false; self.nodes.len()];
        let mut at = self.leaf;
        while at != NOWHERE {
            on_branch[at as usize] = true;
            at = self.parents[at as usize];
        }
        let mut rows = Vec::with_capacity(self.nodes.len());
        // A stack of our own: a chain of a hundred thousand entries must not be a hundred thousand calls deep.
        let mut waiting = Vec::new();
        self.push_children(self.first_root, 0, &mut waiting);
        while let Some((place, depth)) = waiting.pop() {
            let node = &self.nodes[place as usize];
            rows.push(Row {
                id: node.id,
                depth,
                kind: node.kind,
                preview: node.preview.to_string(),
                label: self.label(node.id).map(str::to_owned),
                on_branch: on_branch[place as usize],
                is_leaf: self.leaf == place,
            });
            self.push_children(self.first_child[place as usize], depth, &mut waiting);
        }
        rows
    }

    fn push_children(&self, first: u32, depth: usize, waiting: &mut Vec<(u32, usize)>) {
        let start = waiting.len();
        let spoken = self.siblings_from(first).filter(|place| !self.nodes[*place as usize].kind.is_aside());
        waiting.extend(spoken.map(|place| (place, depth)));
        if waiting.len() - start > 1 {
            waiting[start..].iter_mut().for_each(|(_, depth)| *depth += 1);
        }
        waiting[start..].reverse();
    }
}
