//! From lines to a tree: takes in the lines of a file one by one, and never loses one.
//!
//! What a line says may be wrong: it may be no entry, name entries that are not there, or have an id that is taken. It is
//! then kept where it stands in the file, with a notice, so that whatever follows stays reachable.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use jiff::Timestamp;

use crate::entry::Header;
use crate::id::EntryId;
use crate::line::{Skimmed, skim};
use crate::node::{Kind, Link, Node};
use crate::notice::Notice;
use crate::tree::{Tree, TreeError};

/// What is known of the entries of a file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) tree: Tree,
    /// Where the line of each entry is, without its line break; in the order of `Tree::nodes`.
    pub(crate) places: Vec<Place>,
    /// How far the file is known: the end of the last whole line.
    pub(crate) covered: u64,
    /// The model that spoke or was chosen last.
    pub(crate) model: Option<Box<str>>,
    pub(crate) notices: Vec<Notice>,
    /// The last entry of the conversation in the order of the file, and the last line that was none.
    last: Option<EntryId>,
    last_malformed: Option<EntryId>,
}

/// Where a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

impl Contents {
    /// Nothing yet, of a file whose entries begin at an offset.
    pub(crate) fn beginning_at(covered: u64) -> Self {
        Self { covered, ..Self::default() }
    }

    /// Contents as an index has them.
    pub(crate) fn restore(tree: Tree, places: Vec<Place>, covered: u64, model: Option<Box<str>>) -> Self {
        let spoken = |node: &&Node| !node.kind.is_aside();
        let last = tree.nodes().iter().rfind(spoken).map(|node| node.id);
        let last_malformed =
            tree.nodes().iter().rfind(|node| node.kind == Kind::Malformed).map(|node| node.id);
        let found = tree.nodes().iter().zip(&places).filter(|(node, _)| node.kind == Kind::Malformed);
        let notices =
            found.map(|(node, place)| Notice::Malformed { entry: node.id, offset: place.offset }).collect();
        Self { tree, places, covered, model, notices, last, last_malformed }
    }

    /// Reads on from where the file is covered to, and answers what follows the last line break.
    pub(crate) fn read_on(&mut self, mut file: impl BufRead) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                return Ok(line);
            }
            self.take_in(&line[..length - 1]);
        }
    }

    /// Takes in the line at the end of what is covered.
    pub(crate) fn take_in(&mut self, line: &[u8]) {
        let offset = self.covered;
        // A blank line says nothing, so nothing is lost with it.
        if !line.trim_ascii().is_empty() {
            let Skimmed { mut node, model } = skim(line, offset);
            if node.kind == Kind::Malformed {
                node.parent = self.last;
                self.notices.push(Notice::Malformed { entry: node.id, offset });
            }
            self.insert(node, line, offset);
            self.model = model.or(self.model.take());
        }
        self.covered = offset + line.len() as u64 + 1;
    }

    fn insert(&mut self, node: Node, line: &[u8], offset: u64) {
        let mut node = node;
        // Each turn of the loop mends one thing, and there are three: the id, the parent and what the link names.
        for _ in 0..4 {
            match self.tree.insert(node.clone()) {
                Ok(()) => {
                    self.noted(
                        &node,
                        Place { offset, length: u32::try_from(line.len()).unwrap_or(u32::MAX) },
                    );
                    return;
                }
                Err(TreeError::Twice { .. }) => {
                    let id = EntryId::of_line(line, offset);
                    self.notices.push(Notice::Malformed { entry: id, offset });
                    node = Node { id, parent: self.last, kind: Kind::Malformed, link: Link::None, ..node };
                }
                Err(TreeError::NoEntry { id } | TreeError::Aside { id, .. }) if node.parent == Some(id) => {
                    self.notices.push(Notice::Misplaced { entry: node.id, names: id });
                    // A line that cannot be read is the likely one that had the id.
                    node.parent = self.last_malformed.or(self.last);
                }
                Err(TreeError::NoEntry { id } | TreeError::Aside { id, .. }) => {
                    self.notices.push(Notice::Misplaced { entry: node.id, names: id });
                    node.link = Link::None;
                }
                Err(TreeError::NotLive { .. } | TreeError::Full) => return,
            }
        }
    }

    /// Adds an entry that was just appended.
    pub(crate) fn append(&mut self, node: &Node, place: Place, model: Option<&str>) -> Result<(), TreeError> {
        self.tree.insert(node.clone())?;
        self.noted(node, place);
        self.covered = place.offset + u64::from(place.length) + 1;
        if let Some(model) = model {
            self.model = Some(model.into());
        }
        Ok(())
    }

    fn noted(&mut self, node: &Node, place: Place) {
        self.places.push(place);
        if !node.kind.is_aside() {
            self.last = Some(node.id);
        }
        if node.kind == Kind::Malformed {
            self.last_malformed = Some(node.id);
        }
    }

    /// What lists show.
    pub(crate) fn digest(&self, header: &Header) -> Digest {
        let nodes = self.tree.nodes();
        Digest {
            entries: nodes.len() as u64,
            changed: nodes.last().map_or(header.created, |node| node.time.max(header.created)),
            name: self.tree.name().map(str::to_owned).or_else(|| header.name.clone()),
            opening: nodes.iter().find(|node| node.kind == Kind::User).map(|node| node.preview.to_string()),
            model: self.model.as_deref().map(str::to_owned),
            turns: nodes.iter().filter(|node| node.kind == Kind::Assistant).count() as u64,
            labels: self.tree.labels().map(|(id, label)| (id, label.to_owned())).collect(),
        }
    }
}

/// What lists show of a session, beside its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) entries: u64,
    pub(crate) changed: Timestamp,
    pub(crate) name: Option<String>,
    /// The beginning of the first user message.
    pub(crate) opening: Option<String>,
    pub(crate) model: Option<String>,
    /// Answers of models, on all branches.
    pub(crate) turns: u64,
    /// Marks that people set, by the entries they are on.
    pub(crate) labels: BTreeMap<EntryId, String>,
}

#[cfg(test)]
mod tests;
