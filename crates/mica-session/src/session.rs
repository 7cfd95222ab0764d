//! An open session: its tree in memory, its entries on disk, and one way to add to it.
//!
//! Promise: when `append` has returned, the entry is in the file (and on the disk, with [`Durability::Now`]); when it has
//! failed, the file is as it was. Calls block on the disk: an async caller makes them where blocking is allowed.

mod open;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{Timestamp, Unit};
use mica_ai::Message;

use crate::blob::{self, Limits};
use crate::contents::{Contents, Place};
use crate::entry::{Body, BranchSummary, Entry, Header};
use crate::error::SessionError;
use crate::files::{Appender, Durability};
use crate::id::{EntryId, EntryIds};
use crate::index;
use crate::line::{self, BlobRefs};
use crate::lock::Lock;
use crate::node::Node;
use crate::notice::Notice;
use crate::paths;
use crate::source::Source;
use crate::tree::{Tree, TreeError};
use crate::unfinished::{Unfinished, unfinished};

pub(crate) use open::{Means, create, draft, open, read_first_line};

/// What tells the time. Libraries have no clock of their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Whether a session is opened to be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only to be read. Always possible, also while somebody writes.
    Read,
    /// To be changed. One program at a time.
    Write,
}

/// An open session.
pub struct Session {
    path: PathBuf,
    header: Header,
    contents: Contents,
    source: Source,
    writer: Option<Writer>,
    clock: Clock,
    limits: Limits,
    /// How many entries the index on disk has.
    indexed: usize,
}

struct Writer {
    to: To,
    ids: EntryIds,
}

/// Where a writer writes to.
enum To {
    /// The session's file, which nobody else may write to.
    File { appender: Appender, _lock: Lock },
    /// Nothing yet: the file is made for the first entry.
    Draft(Means),
}

/// Entries that were read, and what was wrong with them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    /// The entries, in the order that was asked for.
    pub entries: Vec<Entry>,
    /// What was not as it should be.
    pub notices: Vec<Notice>,
}

impl Entries {
    /// The messages among them, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.entries.iter().filter_map(|entry| match &entry.body {
            Body::Message { message } => Some(message),
            _ => None,
        })
    }
}

impl Session {
    /// The session's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tree of entries, without what they say.
    pub fn tree(&self) -> &Tree {
        &self.contents.tree
    }

    /// What people call the session.
    pub fn name(&self) -> Option<&str> {
        self.tree().name().or(self.header.name.as_deref())
    }

    /// What was found and handled when the session was opened.
    pub fn notices(&self) -> &[Notice] {
        &self.contents.notices
    }

    /// Whether this value may change the session.
    pub fn access(&self) -> Access {
        if self.writer.is_some() { Access::Write } else { Access::Read }
    }

    /// Whether nothing was appended yet and there is no file: see [`Sessions::draft`](crate::Sessions::draft).
    pub fn is_draft(&self) -> bool {
        matches!(&self.writer, Some(Writer { to: To::Draft(_), .. }))
    }

    /// Appends an entry at the leaf, and moves the leaf to it unless it stands aside.
    ///
    /// # Errors
    /// [`SessionError::Append`] when the disk refuses; [`SessionError::Tree`] when the entry names what is not there. The
    /// session is then as it was.
    pub fn append(&mut self, body: impl Into<Body>, durability: Durability) -> Result<EntryId, SessionError> {
        let mut body = body.into();
        if matches!(body, Body::Unknown { .. } | Body::Malformed { .. }) {
            return Err(SessionError::NotForAppending);
        }
        let Some(writer) = &mut self.writer else {
            return Err(SessionError::ReadOnly { path: self.path.clone() });
        };
        let (refs, blobs) = match &mut body {
            Body::Message { message } => blob::take_out(message, self.limits),
            _ => (BlobRefs::new(), Vec::new()),
        };
        // Milliseconds are what ids have, and what people can read.
        let now = (self.clock)();
        let time = now.round(Unit::Millisecond).unwrap_or(now);
        let entry = Entry { id: writer.ids.next(time), parent: self.contents.tree.leaf(), time, body };
        let node = Node::of(&entry);
        self.contents.tree.check(&node)?;
        let line = line::write(&entry, &refs).map_err(|source| SessionError::Unwritable { source })?;
        let length = u32::try_from(line.len() - 1).ok().filter(|_| line.len() <= self.limits.line);
        let Some(length) = length else {
            return Err(SessionError::TooLarge { bytes: line.len(), limit: self.limits.line });
        };
        // Last of all, so that an entry that is refused leaves nothing behind.
        let path = self.path.clone();
        let appender = self.appender()?;
        let folder = paths::blobs(&path);
        blobs.iter().try_for_each(|one| blob::keep(&folder, one))?;
        let offset =
            appender.append(&line, durability).map_err(|source| SessionError::Append { path, source })?;
        self.contents.append(&node, Place { offset, length }, line::model_of(&entry.body))?;
        self.refresh_index();
        Ok(entry.id)
    }

    /// Moves the leaf, and stores that. Answers where it was. Moving to where it is stores nothing.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn navigate(&mut self, to: Option<EntryId>) -> Result<Option<EntryId>, SessionError> {
        let from = self.tree().leaf();
        if from != to {
            self.append(Body::Leaf { target: to }, Durability::Lazy)?;
        }
        Ok(from)
    }

    /// Moves the leaf as [`Session::navigate`] does, and keeps there what happened on the branch that is left. Answers
    /// the entry that says so, which is the leaf then.
    ///
    /// From an empty branch there is nothing to keep: the leaf only moves, and the answer is `None`.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn navigate_with(
        &mut self,
        to: Option<EntryId>,
        summary: &str,
    ) -> Result<Option<EntryId>, SessionError> {
        let Some(from) = self.navigate(to)? else { return Ok(None) };
        let summary = BranchSummary { from, summary: summary.to_owned(), files: BTreeMap::new() };
        self.append(Body::BranchSummary(summary), Durability::Now).map(Some)
    }

    /// Undoes the compaction in force: goes to before it, and says again there what came after it, marks included. What
    /// was stays as a branch. Answers the compaction; `None` when there is none.
    ///
    /// # Errors
    /// As [`Session::append`]. The leaf is then where it was, if the disk takes that much.
    pub fn uncompact(&mut self) -> Result<Option<EntryId>, SessionError> {
        let was = self.tree().leaf();
        let live = self.tree().live(was);
        let Some(compaction) = live.compaction else { return Ok(None) };
        let before = self.tree().node(compaction).and_then(|node| node.parent);
        let later = self.entries(live.later)?.entries;
        self.navigate(before)?;
        let again = self.say_again(later);
        if let Err(error) = again {
            let _ = self.navigate(was);
            return Err(error);
        }
        self.sync()?;
        Ok(Some(compaction))
    }

    fn say_again(&mut self, entries: Vec<Entry>) -> Result<(), SessionError> {
        for entry in entries {
            // What was not understood cannot be written; it stays where it is.
            if matches!(entry.body, Body::Unknown { .. } | Body::Malformed { .. }) {
                continue;
            }
            let label = self.tree().label(entry.id).map(str::to_owned);
            let copy = self.append(entry.body, Durability::Lazy)?;
            if let Some(label) = label {
                self.label(copy, Some(&label))?;
            }
        }
        Ok(())
    }

    /// Marks an entry, or takes its mark away.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn label(&mut self, target: EntryId, label: Option<&str>) -> Result<EntryId, SessionError> {
        self.append(Body::Label { target, label: label.map(str::to_owned) }, Durability::Lazy)
    }

    /// Names the session.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn rename(&mut self, name: &str) -> Result<EntryId, SessionError> {
        self.append(Body::Name { name: name.to_owned() }, Durability::Lazy)
    }

    /// Puts on the disk what was appended with [`Durability::Lazy`].
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn sync(&mut self) -> Result<(), SessionError> {
        match &mut self.writer {
            Some(Writer { to: To::File { appender, .. }, .. }) => {
                appender.sync().map_err(SessionError::io("sync", &self.path))
            }
            _ => Ok(()),
        }
    }

    /// Reads one entry.
    ///
    /// # Errors
    /// When it is not there, or the file cannot be read.
    pub fn entry(&self, id: EntryId) -> Result<Entry, SessionError> {
        self.read(id).map(|(entry, _)| entry)
    }

    /// Reads entries.
    ///
    /// # Errors
    /// When one is not there, or the file cannot be read.
    pub fn entries(&self, ids: impl IntoIterator<Item = EntryId>) -> Result<Entries, SessionError> {
        let mut all = Entries::default();
        for id in ids {
            let (entry, notices) = self.read(id)?;
            all.entries.push(entry);
            all.notices.extend(notices);
        }
        Ok(all)
    }

    /// Reads the live entries of the current branch: the compaction in force, what it keeps, what came later.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn live(&self) -> Result<Entries, SessionError> {
        self.entries(self.tree().live(self.tree().leaf()).ids())
    }

    /// Reads the current branch, from its root to the leaf.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn branch(&self) -> Result<Entries, SessionError> {
        self.entries(self.tree().branch().iter().map(|node| node.id))
    }

    /// What the current branch was in the middle of when it was last written to.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unfinished(&self) -> Result<Unfinished, SessionError> {
        Ok(unfinished(&self.branch_tail()?))
    }

    /// The end of the branch in which something can be unfinished: from the last user message or the last run on.
    fn branch_tail(&self) -> Result<Vec<Entry>, SessionError> {
        use crate::node::Kind;
        let branch = self.tree().branch();
        let run = branch.iter().rposition(|node| matches!(node.kind, Kind::RunStart | Kind::RunEnd));
        let user = branch.iter().rposition(|node| node.kind == Kind::User);
        let start = match (run, user) {
            (Some(run), Some(user)) => run.min(user),
            (one, other) => one.or(other).unwrap_or(0),
        };
        Ok(self.entries(branch[start..].iter().map(|node| node.id))?.entries)
    }

    fn read(&self, id: EntryId) -> Result<(Entry, Vec<Notice>), SessionError> {
        let tree = self.tree();
        let position = tree.position(id).ok_or(TreeError::NoEntry { id })?;
        let (node, place) = (&tree.nodes()[position], self.contents.places[position]);
        let line = self.source.line(place).map_err(SessionError::io("read", &self.path))?;
        let (mut entry, refs) = line::read(&line, place.offset);
        if entry.id != id && node.kind != crate::node::Kind::Malformed {
            return Err(SessionError::Changed { path: self.path.clone() });
        }
        // Where an entry hangs is the tree's to say: a line may name a parent that is not there.
        (entry.id, entry.parent) = (id, node.parent);
        if node.kind == crate::node::Kind::Malformed && !matches!(entry.body, Body::Malformed { .. }) {
            entry.body = Body::Malformed { line, reason: "its id is taken by another entry".to_owned() };
        }
        let mut notices = Vec::new();
        if let Body::Message { message } = &mut entry.body
            && !refs.is_empty()
        {
            let lost = blob::put_back(message, &refs, &paths::blobs(&self.path));
            notices.extend(lost.into_iter().map(|hash| Notice::BlobLost { entry: id, hash }));
        }
        Ok((entry, notices))
    }

    /// What lists show.
    pub(crate) fn digest(&self) -> crate::contents::Digest {
        self.contents.digest(&self.header)
    }

    /// The lines from the root to an entry as they are in the file, and the blobs that they refer to.
    pub(crate) fn raw_path(&self, to: EntryId) -> Result<(Vec<u8>, Vec<String>), SessionError> {
        let mut lines = Vec::new();
        let mut blobs = Vec::new();
        for node in self.tree().path(Some(to)) {
            let position = self.tree().position(node.id).ok_or(TreeError::NoEntry { id: node.id })?;
            let line = self
                .source
                .line(self.contents.places[position])
                .map_err(SessionError::io("read", &self.path))?;
            blobs.extend(line::read(&line, 0).1.into_values().filter(|hash| blob::is_hash(hash)));
            lines.extend_from_slice(&line);
            lines.push(b'\n');
        }
        Ok((lines, blobs))
    }

    /// Writes the index now and then: each time the session has grown by an eighth, so that the work stays linear and
    /// what an index does not know stays small.
    fn refresh_index(&mut self) {
        let entries = self.contents.tree.len();
        if entries - self.indexed > (entries / 8).max(1024) {
            self.save_index();
        }
    }

    /// Writes the index. It is a cache: when that fails, the next opening reads more.
    fn save_index(&mut self) {
        let Source::File(file) = &self.source else { return };
        let Ok(facts) = file.metadata() else { return };
        self.save_index_as_of(file, &facts);
        self.indexed = self.contents.tree.len();
    }

    fn save_index_as_of(&self, file: &File, facts: &std::fs::Metadata) {
        let _ = index::save(&self.path, file, facts, &self.contents, self.digest());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.writer.is_some() && self.indexed != self.contents.tree.len() {
            self.save_index();
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries = self.contents.tree.len();
        f.debug_struct("Session").field("path", &self.path).field("entries", &entries).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
