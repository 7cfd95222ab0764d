//! The log of a project: one line for each thing that was announced, done or taken back, in the order it happened.
//!
//! Promise: a line is whole or is not there. Any number of processes append, one at a time, under a lock that ends with
//! its process. What a killed process left of a line is cut off before the next one is written: nobody acted on it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::UndoError;
use super::state::{Name, State};
use crate::entry::RunId;
use crate::files::{self, Appender, Durability, Worth};
use crate::id::EntryId;

/// The version of the format.
const VERSION: &str = "1.0";

/// One path that becomes something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Relative to the project.
    pub path: Name,
    /// What was there.
    pub before: State,
    /// What is there then.
    pub after: State,
}

/// Which way a restore went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Runs were taken back.
    Undo,
    /// An undo was taken back.
    Redo,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first one.
    Undo { version: String, project: String },
    /// A run is about to change something for the first time.
    Run {
        run: RunId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
        time: Timestamp,
    },
    /// A tool is about to change a file. `folders` are those that are made for it.
    Changing {
        id: EntryId,
        run: RunId,
        call: String,
        #[serde(flatten)]
        change: Change,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<Name>,
        time: Timestamp,
    },
    /// It did.
    Changed { id: EntryId, after: State },
    /// A command is about to run. What it changes is what differs afterwards from the last scan.
    Command { run: RunId, call: String, time: Timestamp },
    /// What commands changed so far. `ended`: this one will change no more. `perhaps`: only commands in the background
    /// were at work, between runs, so it may as well have been somebody else.
    Commanded {
        run: RunId,
        call: String,
        ended: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        perhaps: bool,
        changes: Vec<Change>,
        time: Timestamp,
    },
    /// Files are about to be restored.
    Restoring {
        id: EntryId,
        way: Way,
        /// The runs that it takes back.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        undid: Vec<RunId>,
        /// The run before which everything, or some of it, is restored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<RunId>,
        /// The undo that it takes back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redoes: Option<EntryId>,
        changes: Vec<Change>,
        time: Timestamp,
    },
    /// They are.
    Restored { id: EntryId },
    /// Of a newer version, or damaged. Left alone.
    #[serde(other)]
    Unknown,
}

/// The log of a project.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    path: PathBuf,
    project: String,
}

impl Log {
    pub(crate) fn new(path: PathBuf, project: &Path) -> Self {
        Self { path, project: project.to_string_lossy().into_owned() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until nobody else writes. Made when it is not there.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, UndoError> {
        let at = &self.path;
        if let Some(folder) = at.parent() {
            files::make_folder(folder).map_err(UndoError::io("make", folder))?;
        }
        let lock = crate::paths::sidecar(at, "lock");
        let lock = files::open_lock(&lock).map_err(UndoError::io("make the lock", &lock))?;
        lock.lock().map_err(UndoError::io("lock", at))?;
        let file = match files::open_log(at) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let header = Line::Undo { version: VERSION.to_owned(), project: self.project.clone() };
                files::create_log(at, &written(&[header])?).map_err(UndoError::io("make", at))?
            }
            Err(error) => return Err(UndoError::io("open", at)(error)),
        };
        let length = mend(&file).map_err(UndoError::io("mend", at))?;
        Ok(Locked { log: self, file, length, _lock: lock })
    }

    /// All lines, as they are now; none when there is no log. An unfinished one at the end is left out.
    pub(crate) fn read(&self) -> Result<Vec<Line>, UndoError> {
        match fs::read(&self.path) {
            Ok(bytes) => parsed(&bytes, &self.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(UndoError::io("read", &self.path)(error)),
        }
    }
}

/// The log, as long as nobody else can write to it.
pub(crate) struct Locked<'a> {
    log: &'a Log,
    file: File,
    length: u64,
    _lock: File,
}

impl Locked<'_> {
    pub(crate) fn append(&mut self, lines: &[Line], durability: Durability) -> Result<(), UndoError> {
        let bytes = written(lines)?;
        let at = &self.log.path;
        let file = self.file.try_clone().map_err(UndoError::io("write to", at))?;
        Appender::new(file, self.length).append(&bytes, durability).map_err(UndoError::io("write to", at))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Where the next line goes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The lines from a place on. All of them, when the log is shorter than that: it was pruned since.
    pub(crate) fn since(&mut self, place: u64) -> Result<Vec<Line>, UndoError> {
        let at = &self.log.path;
        let place = if place > self.length { 0 } else { place };
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(place))
            .and_then(|_| (&self.file).take(self.length - place).read_to_end(&mut bytes))
            .map_err(UndoError::io("read", at))?;
        parsed(&bytes, at)
    }

    /// Keeps the header and the lines from a number on, as they are written.
    pub(crate) fn drop_before(&mut self, line: usize) -> Result<(), UndoError> {
        let at = &self.log.path;
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| (&self.file).take(self.length).read_to_end(&mut bytes))
            .map_err(UndoError::io("read", at))?;
        let kept: Vec<u8> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .enumerate()
            .filter(|(number, _)| *number == 0 || *number >= line)
            .flat_map(|(_, line)| line.iter().copied())
            .collect();
        files::replace(at, &kept, Worth::Truth).map_err(UndoError::io("replace", at))?;
        self.file = files::open_log(at).map_err(UndoError::io("open", at))?;
        self.length = kept.len() as u64;
        Ok(())
    }
}

/// Cuts off what is behind the last line break. Answers the length.
fn mend(mut file: &File) -> io::Result<u64> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut end = length;
    let mut block = [0; 4096];
    while end > 0 {
        let from = end.saturating_sub(block.len() as u64);
        let part = block.get_mut(..usize::try_from(end - from).unwrap_or(0)).unwrap_or_default();
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            end = from + at as u64 + 1;
            break;
        }
        end = from;
    }
    if end < length {
        files::cut(file, end)?;
    }
    Ok(end)
}

fn written(lines: &[Line]) -> Result<Vec<u8>, UndoError> {
    let mut bytes = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut bytes, line).map_err(|source| UndoError::Unwritable { source })?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

fn parsed(bytes: &[u8], path: &Path) -> Result<Vec<Line>, UndoError> {
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if !line.ends_with(b"\n") {
            break;
        }
        let line: Line = serde_json::from_slice(line).unwrap_or(Line::Unknown);
        if let Line::Undo { version, .. } = &line
            && version.split('.').next() != VERSION.split('.').next()
        {
            return Err(UndoError::Version { path: path.to_owned(), found: version.clone() });
        }
        lines.push(line);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str) -> Line {
        Line::Run { run: RunId::from(name), session: None, words: None, time: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_line_that_was_cut_off_is_gone_before_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path().join("a/log.jsonl"), Path::new("/p"));
        log.lock().unwrap().append(&[run("one"), run("two")], Durability::Now).unwrap();
        let whole = fs::read(log.path()).unwrap();
        let second = whole.len() - written(&[run("two")]).unwrap().len();
        for cut in second..whole.len() {
            #[allow(clippy::disallowed_methods, reason = "a test plays a crash")]
            fs::write(log.path(), &whole[..cut]).unwrap();
            assert_eq!(log.read().unwrap()[1..], [run("one")], "cut at {cut}");
            log.lock().unwrap().append(&[run("three")], Durability::Now).unwrap();
            assert_eq!(log.read().unwrap()[1..], [run("one"), run("three")], "cut at {cut}");
        }
    }

    #[test]
    fn lines_that_are_not_known_stay_when_older_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path().join("log.jsonl"), Path::new("/p"));
        log.lock().unwrap().append(&[run("one"), run("two")], Durability::Now).unwrap();
        let mut text = fs::read_to_string(log.path()).unwrap();
        text.push_str("{\"kind\":\"of tomorrow\",\"x\":1}\nnonsense\n");
        #[allow(clippy::disallowed_methods, reason = "a test plays a newer program")]
        fs::write(log.path(), &text).unwrap();
        log.lock().unwrap().drop_before(2).unwrap();
        let rest: Vec<&str> = text.lines().collect();
        let now = fs::read_to_string(log.path()).unwrap();
        assert_eq!(now.lines().collect::<Vec<_>>(), [rest[0], rest[2], rest[3], rest[4]]);
        assert_eq!(log.read().unwrap()[2..], [Line::Unknown, Line::Unknown]);
    }
}
