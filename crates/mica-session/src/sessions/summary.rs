//! What a list shows of a session, without reading it: from the index, and where that is behind, from the file's ends.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Sessions;
use crate::contents::Digest;
use crate::entry::{ForkedFrom, Header};
use crate::error::SessionError;
use crate::id::SessionId;
use crate::index::{self, Fit};
use crate::line::{Skimmed, skim};
use crate::node::{Kind, Link};
use crate::paths;
use crate::session::read_first_line;
use crate::source::read_at;
use crate::upcast::{self, First};

/// How much of either end is read where there is no index: enough for a few entries.
const END: u64 = 64 * 1024;

/// How much may follow what an index knows and still be read for a list.
const LITTLE: u64 = 1024 * 1024;

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Names it.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// The folder that it is about.
    pub project: String,
    /// What people call it.
    pub name: Option<String>,
    /// The beginning of the first user message.
    pub opening: Option<String>,
    /// When it was begun.
    pub created: Timestamp,
    /// When the last entry was appended.
    pub changed: Timestamp,
    /// How many entries it has. `None` when that would take reading all of it.
    pub entries: Option<u64>,
    /// How many answers of models it has, on all branches. `None` as for `entries`.
    pub turns: Option<u64>,
    /// The marks that people set. `None` as for `entries`.
    pub labels: Option<Vec<String>>,
    /// The size of its file.
    pub bytes: u64,
    /// The size of what is kept beside it.
    pub blob_bytes: u64,
    /// The model that spoke or was chosen last.
    pub model: Option<String>,
    /// Where it was forked from.
    pub forked_from: Option<ForkedFrom>,
}

impl Summary {
    /// What to call it in a list: its name, or how it begins, or that it is empty.
    pub fn title(&self) -> &str {
        self.name.as_deref().or(self.opening.as_deref()).unwrap_or("(empty)")
    }
}

/// A list of sessions.
#[derive(Debug, Default)]
pub struct Listing {
    /// The sessions, the one that changed last first.
    pub sessions: Vec<Summary>,
    /// Files that are named like sessions and cannot be read as such.
    pub unreadable: Vec<SessionError>,
}

impl Sessions {
    /// Lists the sessions of one project, or of all.
    pub fn list(&self, project: Option<&Path>) -> Listing {
        let mut listing = Listing::default();
        for path in self.files(project) {
            match self.summary(&path) {
                Ok(summary) => listing.sessions.push(summary),
                Err(error) => listing.unreadable.push(error),
            }
        }
        listing.sessions.sort_by_key(|session| Reverse((session.changed, session.id)));
        listing
    }

    /// What a list shows of one session.
    ///
    /// # Errors
    /// When it is no session that this version can read.
    pub fn summary(&self, path: &Path) -> Result<Summary, SessionError> {
        let reading = || SessionError::io("read", path);
        let file = File::open(path).map_err(reading())?;
        let facts = file.metadata().map_err(reading())?;
        let first = read_first_line(&file).map_err(reading())?;
        let whole = first.strip_suffix(b"\n").unwrap_or_default();
        let header = match upcast::first_line(path, whole, self.means.steps)? {
            First::Current(header) => header,
            // Old files are few and become new ones when they are opened for writing: they may be read as a whole.
            First::Older(_) => {
                let session = self.open(path, crate::session::Access::Read)?;
                return Ok(of(path, facts.len(), session.header().clone(), &session.digest(), Count::Known));
            }
        };
        let (digest, count) = digest(path, &file, &facts, &header, first.len() as u64).map_err(reading())?;
        Ok(of(path, facts.len(), header, &digest, count))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    Known,
    Unknown,
}

fn of(path: &Path, bytes: u64, header: Header, digest: &Digest, count: Count) -> Summary {
    Summary {
        id: header.id,
        path: path.to_owned(),
        project: header.project,
        name: digest.name.clone(),
        opening: digest.opening.clone(),
        created: header.created,
        changed: digest.changed,
        entries: (count == Count::Known).then_some(digest.entries),
        turns: (count == Count::Known).then_some(digest.turns),
        labels: (count == Count::Known).then(|| digest.labels.values().cloned().collect()),
        bytes,
        blob_bytes: blob_bytes(path),
        model: digest.model.clone(),
        forked_from: header.forked_from,
    }
}

fn blob_bytes(path: &Path) -> u64 {
    let folders = [paths::blobs(path), paths::spill(path), paths::children(path)];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    files.filter_map(|file| file.metadata().ok()).map(|facts| facts.len()).sum()
}

fn digest(
    path: &Path,
    file: &File,
    facts: &std::fs::Metadata,
    header: &Header,
    header_length: u64,
) -> io::Result<(Digest, Count)> {
    let length = facts.len();
    let cover = index::load_cover(path)
        .and_then(|cover| Some((cover.fit(file, facts).ok()?, cover)))
        .filter(|(fit, _)| *fit != Fit::No);
    let (mut digest, from) = match cover {
        Some((Fit::Whole, cover)) => return Ok((cover.digest, Count::Known)),
        Some((_, cover)) => (cover.digest, cover.covered),
        None => (Digest::of(header), header_length),
    };
    if length - from <= LITTLE {
        lines(file, from, length, Ends::Lines, &mut digest)?;
        return Ok((digest, Count::Known));
    }
    if digest.opening.is_none() {
        lines(file, from, from + END, Ends::Lines, &mut digest)?;
    }
    lines(file, length - END, length, Ends::Middle, &mut digest)?;
    Ok((digest, Count::Unknown))
}

/// Where a stretch of the file begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Lines,
    /// Somewhere in a line, which is passed over.
    Middle,
}

/// Learns from the whole lines of a stretch of the file.
fn lines(file: &File, from: u64, to: u64, begins: Ends, digest: &mut Digest) -> io::Result<()> {
    let mut bytes = vec![0; usize::try_from(to - from).unwrap_or(0)];
    read_at(file, &mut bytes, from)?;
    let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
    let start =
        if begins == Ends::Middle { memchr::memchr(b'\n', &bytes).map_or(whole, |at| at + 1) } else { 0 };
    for line in bytes.get(start..whole).unwrap_or_default().split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Skimmed { node, model } = skim(line, 0);
        digest.entries += 1;
        digest.changed = digest.changed.max(node.time);
        match node.link {
            Link::Name(name) => digest.name = Some(name.into_string()),
            Link::Label(target, Some(label)) => {
                digest.labels.insert(target, label.into_string());
            }
            Link::Label(target, None) => {
                digest.labels.remove(&target);
            }
            _ => {}
        }
        digest.turns += u64::from(node.kind == Kind::Assistant);
        if node.kind == Kind::User && digest.opening.is_none() && begins == Ends::Lines {
            digest.opening = Some(node.preview.into_string());
        }
        if let Some(model) = model {
            digest.model = Some(model.into_string());
        }
    }
    Ok(())
}

impl Digest {
    /// What is known of a session from its header alone.
    fn of(header: &Header) -> Self {
        Digest {
            entries: 0,
            changed: header.created,
            name: header.name.clone(),
            opening: None,
            model: None,
            turns: 0,
            labels: BTreeMap::new(),
        }
    }
}
