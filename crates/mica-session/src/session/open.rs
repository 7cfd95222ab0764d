//! Opening and creating: the header is judged, the index is used as far as it fits, the rest is read, the tail mended.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::{Access, Clock, Session, To, Writer};
use crate::blob::Limits;
use crate::contents::Contents;
use crate::entry::{Header, Version};
use crate::error::SessionError;
use crate::files::{self, Appender, Durability, Worth};
use crate::id::EntryIds;
use crate::index::{self, Fit};
use crate::line;
use crate::lock::Lock;
use crate::node::Kind;
use crate::notice::Notice;
use crate::paths;
use crate::source::Source;
use crate::upcast::{self, First, Upcaster};

/// How much of a first line is read: paths and names are short, and what is longer is no header.
const HEADER_LIMIT: u64 = 1024 * 1024;

/// How much may have to be read again before a reader writes a new index.
const WORTH_AN_INDEX: u64 = 1024 * 1024;

/// What opening needs beside a path.
#[derive(Clone)]
pub(crate) struct Means {
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) steps: &'static [Upcaster],
}

/// Makes a session: its header is on the disk when this returns.
pub(crate) fn create(
    path: &Path,
    header: &Header,
    lines: &[u8],
    means: &Means,
) -> Result<Session, SessionError> {
    let mut bytes = line::write_header(header).map_err(|source| SessionError::Unwritable { source })?;
    bytes.extend_from_slice(lines);
    if let Some(folder) = path.parent() {
        files::make_folder(folder).map_err(SessionError::io("make", folder))?;
    }
    files::write_new(path, &bytes).map_err(SessionError::io("create", path))?;
    open(path, Access::Write, means)
}

/// A session whose file is made with its first entry.
pub(crate) fn draft(path: &Path, header: Header, means: &Means) -> Session {
    Session {
        path: path.to_owned(),
        header,
        contents: Contents::default(),
        source: Source::Memory(Vec::new()),
        writer: Some(Writer { to: To::Draft(means.clone()), ids: EntryIds::after(None) }),
        clock: means.clock.clone(),
        limits: means.limits,
        indexed: 0,
    }
}

/// Opens a session.
pub(crate) fn open(path: &Path, access: Access, means: &Means) -> Result<Session, SessionError> {
    let reading = SessionError::io("open", path);
    let file = match access {
        Access::Read => File::open(path),
        Access::Write => files::open_log(path),
    };
    let file = file.map_err(reading)?;
    let lock = match access {
        Access::Read => None,
        Access::Write => Some(Lock::take(path)?),
    };
    let first = read_first_line(&file).map_err(SessionError::io("read", path))?;
    // A first line without its line break was never finished, however much of it can be read.
    let whole = first.strip_suffix(b"\n").unwrap_or_default();
    match upcast::first_line(path, whole, means.steps)? {
        First::Current(header) => open_current(path, file, header, first.len() as u64, lock, means),
        First::Older(version) => open_older(path, file, version, lock, means),
    }
}

pub(crate) fn read_first_line(file: &File) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let mut start = file;
    start.seek(SeekFrom::Start(0))?;
    BufReader::with_capacity(4096, start.take(HEADER_LIMIT)).read_until(b'\n', &mut line)?;
    Ok(line)
}

fn open_current(
    path: &Path,
    file: File,
    header: Header,
    header_length: u64,
    lock: Option<Lock>,
    means: &Means,
) -> Result<Session, SessionError> {
    // Before anything is read: what is written meanwhile makes the file newer than this, never older.
    let facts = file.metadata().map_err(SessionError::io("read", path))?;
    let known = indexed(path, &file, &facts).filter(|contents| is_true(&file, contents));
    let from_index = known.as_ref().map_or(0, |contents| contents.covered);
    let mut contents = known.unwrap_or_else(|| Contents::beginning_at(header_length));
    let indexed = if from_index > 0 { contents.tree.len() } else { 0 };
    let tail = read_on(&file, &mut contents).map_err(SessionError::io("read", path))?;
    let mut session = Session {
        path: path.to_owned(),
        header,
        contents,
        source: Source::File(file),
        writer: None,
        clock: means.clock.clone(),
        limits: means.limits,
        indexed,
    };
    match lock {
        Some(lock) => session.begin_writing(lock, &tail)?,
        None if tail.is_empty() => {}
        None => session.contents.notices.push(Notice::UnfinishedTail { bytes: tail.len() as u64 }),
    }
    if session.contents.covered.saturating_sub(from_index) > WORTH_AN_INDEX {
        // With what was known of the file before it was read, unless it was mended since.
        match (&session.source, &session.writer) {
            (Source::File(file), None) => session.save_index_as_of(file, &facts),
            _ => session.save_index(),
        }
    }
    Ok(session)
}

fn indexed(path: &Path, file: &File, facts: &std::fs::Metadata) -> Option<Contents> {
    let (cover, contents) = index::load(path)?;
    let fit = cover.fit(file, facts).unwrap_or(Fit::No);
    (fit != Fit::No).then_some(contents)
}

/// A last look before an index is believed: the line of the leaf must be the entry that the index says it is.
fn is_true(file: &File, contents: &Contents) -> bool {
    let tree = &contents.tree;
    let Some(position) = tree.leaf().and_then(|leaf| tree.position(leaf)) else { return true };
    let (node, place) = (&tree.nodes()[position], contents.places[position]);
    let mut bytes = vec![0; place.length as usize];
    if crate::source::read_at(file, &mut bytes, place.offset).is_err() {
        return false;
    }
    node.kind == Kind::Malformed || line::skim(&bytes, place.offset).node.id == node.id
}

fn read_on(mut file: &File, contents: &mut Contents) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(contents.covered))?;
    contents.read_on(BufReader::with_capacity(256 * 1024, file))
}

/// A file of an older version. For reading it is brought up to date in memory; for writing it is replaced, and kept.
fn open_older(
    path: &Path,
    mut file: File,
    version: Version,
    lock: Option<Lock>,
    means: &Means,
) -> Result<Session, SessionError> {
    let mut old = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut old));
    read.map_err(SessionError::io("read", path))?;
    let new = upcast::upcast(&old, version, means.steps)?;
    let end = new.iter().position(|byte| *byte == b'\n').map_or(new.len(), |at| at + 1);
    let header = match upcast::first_line(path, new[..end].trim_ascii_end(), means.steps)? {
        First::Current(header) => header,
        First::Older(found) => return Err(SessionError::Version { path: path.to_owned(), found }),
    };
    if let Some(lock) = lock {
        let kept = paths::free(path, &format!("v{}", version.major));
        files::write_new(&kept, &old).map_err(SessionError::io("write", &kept))?;
        files::replace(path, &new, Worth::Truth).map_err(SessionError::io("write", path))?;
        let file = files::open_log(path).map_err(SessionError::io("open", path))?;
        let mut session = open_current(path, file, header, end as u64, Some(lock), means)?;
        session.contents.notices.push(Notice::Upcast { from: version, kept });
        return Ok(session);
    }
    let mut contents = Contents::beginning_at(end as u64);
    let tail = contents.read_on(&new[end..]).map_err(SessionError::io("read", path))?;
    if !tail.is_empty() {
        contents.notices.push(Notice::UnfinishedTail { bytes: tail.len() as u64 });
    }
    Ok(Session {
        path: path.to_owned(),
        header,
        contents,
        source: Source::Memory(new),
        writer: None,
        clock: means.clock.clone(),
        limits: means.limits,
        indexed: 0,
    })
}

impl Session {
    /// Makes the session writable: what is behind the last whole line is completed or moved away first.
    fn begin_writing(&mut self, lock: Lock, tail: &[u8]) -> Result<(), SessionError> {
        let file = files::open_log(&self.path).map_err(SessionError::io("open", &self.path))?;
        let covered = self.contents.covered;
        let is_whole = !tail.is_empty() && line::skim(tail, covered).node.kind != Kind::Malformed;
        if !tail.is_empty() && !is_whole {
            let saved = paths::free(&self.path, "torn");
            files::write_new(&saved, tail).map_err(SessionError::io("write", &saved))?;
            files::cut(&file, covered).map_err(SessionError::io("mend", &self.path))?;
            self.contents.notices.push(Notice::TornTail { bytes: tail.len() as u64, saved });
        }
        let mut appender = Appender::new(file, covered + if is_whole { tail.len() as u64 } else { 0 });
        if is_whole {
            // All of the entry is there, so it is kept; only the line break did not make it.
            let mended = appender.append(b"\n", Durability::Now);
            mended.map_err(|source| SessionError::Append { path: self.path.clone(), source })?;
            self.contents.take_in(tail);
            self.contents.notices.push(Notice::TailCompleted);
        }
        let last = self.contents.tree.nodes().iter().map(|node| node.id).max();
        self.writer = Some(Writer { to: To::File { appender, _lock: lock }, ids: EntryIds::after(last) });
        Ok(())
    }

    /// What appends to the file, which is made now if it is not there yet.
    pub(super) fn appender(&mut self) -> Result<&mut Appender, SessionError> {
        if let Some(Writer { to: To::Draft(means), .. }) = &self.writer {
            let mut made = create(&self.path, &self.header, &[], means)?;
            std::mem::swap(&mut self.source, &mut made.source);
            std::mem::swap(&mut self.contents, &mut made.contents);
            if let (Some(ours), Some(theirs)) = (&mut self.writer, made.writer.take()) {
                ours.to = theirs.to;
            }
        }
        match &mut self.writer {
            Some(Writer { to: To::File { appender, .. }, .. }) => Ok(appender),
            _ => Err(SessionError::ReadOnly { path: self.path.clone() }),
        }
    }
}
