//! The tree of a session, in memory and without bodies: the part that every store shares.
//!
//! Invariants: entries are only added; every entry but a first one has its parent before it; so from every entry one
//! path leads to a root. The leaf is an entry of the conversation or nothing, never one that stands aside.

mod live;
mod rows;

use std::collections::HashMap;

use crate::id::EntryId;
use crate::node::{Kind, Link, Node};

pub use live::Live;
pub use rows::Row;

/// The entries of a session and how they hang together.
#[derive(Debug, Clone)]
pub struct Tree {
    nodes: Vec<Node>,
    places: HashMap<EntryId, u32>,
    /// The parent of each node, by place. Kept beside `Node::parent`, so that walking up hashes nothing.
    parents: Vec<u32>,
    /// The first and the last child of each node, and its next sibling: lists without an allocation for each node.
    first_child: Vec<u32>,
    last_child: Vec<u32>,
    next_sibling: Vec<u32>,
    first_root: u32,
    last_root: u32,
    leaf: u32,
    labels: HashMap<EntryId, Box<str>>,
    name: Option<Box<str>>,
}

/// No node: the place that no node can have.
const NOWHERE: u32 = u32::MAX;

/// Why the tree does not take an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// There is an entry of that id.
    #[error("the session has an entry {id} already: an entry is appended once")]
    Twice {
        /// The id.
        id: EntryId,
    },
    /// An entry that is named is not there.
    #[error("the session has no entry {id}: name one that `Tree::nodes` lists")]
    NoEntry {
        /// The id.
        id: EntryId,
    },
    /// The leaf cannot stand on an entry that is aside.
    #[error("the entry {id} is a {kind:?}, at which no conversation goes on: name its parent")]
    Aside {
        /// The id.
        id: EntryId,
        /// What it is.
        kind: Kind,
    },
    /// A compaction would keep an entry that is not in the window.
    #[error("a compaction cannot keep from {id} on: name one of the live entries of the current branch")]
    NotLive {
        /// The entry that was to be the first kept one.
        id: EntryId,
    },
    /// The numbers that the tree counts with are used up.
    #[error("the session has as many entries as a session can have: begin another one")]
    Full,
}

impl Default for Tree {
    fn default() -> Self {
        Self::new()
    }
}

impl Tree {
    /// A tree without entries.
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            places: HashMap::new(),
            parents: Vec::new(),
            first_child: Vec::new(),
            last_child: Vec::new(),
            next_sibling: Vec::new(),
            first_root: NOWHERE,
            last_root: NOWHERE,
            leaf: NOWHERE,
            labels: HashMap::new(),
            name: None,
        }
    }

    /// A tree with room for so many entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        let mut tree = Self::new();
        tree.nodes.reserve(entries);
        tree.places.reserve(entries);
        tree.parents.reserve(entries);
        tree.first_child.reserve(entries);
        tree.last_child.reserve(entries);
        tree.next_sibling.reserve(entries);
        tree
    }

    /// Adds an entry as a store has it: under the parent that it names, and with what it says taken in.
    ///
    /// # Errors
    /// When the id is taken, or an entry that it names is not there. The tree is then as it was.
    pub fn insert(&mut self, node: Node) -> Result<(), TreeError> {
        if self.places.contains_key(&node.id) {
            return Err(TreeError::Twice { id: node.id });
        }
        let parent = self.place_or_nowhere(node.parent)?;
        if parent != NOWHERE && self.nodes[parent as usize].kind.is_aside() {
            return Err(self.aside(parent));
        }
        let place = u32::try_from(self.nodes.len()).ok().filter(|place| *place != NOWHERE);
        let place = place.ok_or(TreeError::Full)?;
        match &node.link {
            Link::Leaf(target) => {
                let target = self.place_or_nowhere(*target)?;
                if target != NOWHERE && self.nodes[target as usize].kind.is_aside() {
                    return Err(self.aside(target));
                }
                self.leaf = target;
            }
            Link::Label(target, label) => {
                self.place(*target)?;
                match label {
                    Some(label) => self.labels.insert(*target, label.clone()),
                    None => self.labels.remove(target),
                };
            }
            Link::Name(name) => self.name = Some(name.clone()),
            // What a compaction keeps is judged when it is appended and looked up when it is used, so that a file in
            // which it is wrong still opens.
            Link::None | Link::Kept(_) => {}
        }
        if !node.kind.is_aside() {
            self.leaf = place;
        }
        self.hang(place, parent);
        self.places.insert(node.id, place);
        self.nodes.push(node);
        Ok(())
    }

    fn hang(&mut self, place: u32, parent: u32) {
        self.parents.push(parent);
        self.first_child.push(NOWHERE);
        self.last_child.push(NOWHERE);
        self.next_sibling.push(NOWHERE);
        let (first, last) = if parent == NOWHERE {
            (&mut self.first_root, &mut self.last_root)
        } else {
            (&mut self.first_child[parent as usize], &mut self.last_child[parent as usize])
        };
        if *first == NOWHERE {
            *first = place;
        } else {
            self.next_sibling[*last as usize] = place;
        }
        *last = place;
    }

    /// Judges an entry before it is appended under the leaf.
    ///
    /// # Errors
    /// As [`Tree::insert`]; and a compaction must keep from a live entry on, so that a second one loses nothing that the
    /// first one kept.
    pub fn check(&self, node: &Node) -> Result<(), TreeError> {
        match &node.link {
            Link::Kept(Some(first)) => {
                let live = self.live(self.leaf());
                let kept = live.kept.contains(first) || live.later.contains(first);
                if kept { Ok(()) } else { Err(TreeError::NotLive { id: *first }) }
            }
            Link::Label(target, _) => self.place(*target).map(|_| ()),
            Link::Leaf(Some(target)) => match self.nodes[self.place(*target)? as usize].kind {
                kind if kind.is_aside() => Err(TreeError::Aside { id: *target, kind }),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Where the conversation goes on. `None` is before the first entry.
    pub fn leaf(&self) -> Option<EntryId> {
        self.nodes.get(self.leaf as usize).map(|node| node.id)
    }

    /// All entries, in the order in which they were appended.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The entry of an id.
    pub fn node(&self, id: EntryId) -> Option<&Node> {
        self.places.get(&id).map(|place| &self.nodes[*place as usize])
    }

    /// The entries of the conversation that a text names: see [`EntryId::answers_to`]. What stands aside is not among
    /// them.
    pub fn find(&self, given: &str) -> Vec<&Node> {
        if let Some(node) = given.parse().ok().and_then(|id| self.node(id)) {
            return vec![node];
        }
        self.nodes.iter().filter(|node| !node.kind.is_aside() && node.id.answers_to(given)).collect()
    }

    /// The place of an entry in [`Tree::nodes`].
    pub fn position(&self, id: EntryId) -> Option<usize> {
        self.places.get(&id).map(|place| *place as usize)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The path from the root to an entry, both included. Nothing for `None` and for an entry that is not there.
    pub fn path(&self, to: Option<EntryId>) -> Vec<&Node> {
        let mut places = Vec::new();
        let mut at = to.and_then(|id| self.places.get(&id).copied()).unwrap_or(NOWHERE);
        while at != NOWHERE {
            places.push(at);
            at = self.parents[at as usize];
        }
        places.iter().rev().map(|place| &self.nodes[*place as usize]).collect()
    }

    /// The current branch: the path to the leaf.
    pub fn branch(&self) -> Vec<&Node> {
        self.path(self.leaf())
    }

    /// What follows an entry directly, in the order of appending, what stands aside included. `None` asks for the roots.
    pub fn children(&self, of: Option<EntryId>) -> impl Iterator<Item = &Node> {
        let first = match of {
            None => self.first_root,
            Some(id) => self.places.get(&id).map_or(NOWHERE, |place| self.first_child[*place as usize]),
        };
        self.siblings_from(first).map(|place| &self.nodes[place as usize])
    }

    fn siblings_from(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |place: u32| Some(place).filter(|place| *place != NOWHERE);
        std::iter::successors(known(first), move |place| known(self.next_sibling[*place as usize]))
    }

    /// The mark on an entry: the last one that was set and not taken away.
    pub fn label(&self, id: EntryId) -> Option<&str> {
        self.labels.get(&id).map(|label| &**label)
    }

    /// All marks, in no particular order.
    pub fn labels(&self) -> impl Iterator<Item = (EntryId, &str)> {
        self.labels.iter().map(|(id, label)| (*id, &**label))
    }

    /// What people call the session, as far as an entry says so.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn place(&self, id: EntryId) -> Result<u32, TreeError> {
        self.places.get(&id).copied().ok_or(TreeError::NoEntry { id })
    }

    fn place_or_nowhere(&self, id: Option<EntryId>) -> Result<u32, TreeError> {
        id.map_or(Ok(NOWHERE), |id| self.place(id))
    }

    fn aside(&self, place: u32) -> TreeError {
        let node = &self.nodes[place as usize];
        TreeError::Aside { id: node.id, kind: node.kind }
    }
}

#[cfg(test)]
mod tests;
