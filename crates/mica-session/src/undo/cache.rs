//! The last scan on disk, so that the first command of a later session need not read every file again. Binary, because
//! it is read before a command and nobody else reads it.
//!
//! It is a cache for scanning, and the truth for one thing: what a command that was cut off began with.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::scan::{Entry, Scan};
use super::state::{ContentHash, FileState, Name, Stamp, State};
use crate::files::{self, Worth};

const MAGIC: &[u8] = b"mica scan 1\n";
const END: &[u8] = b"\nend\n";

/// Writes a scan.
pub(crate) fn save(path: &Path, scan: &Scan) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(64 + scan.entries.len() * 160);
    bytes.extend_from_slice(MAGIC);
    bytes.push(u8::from(scan.complete));
    bytes.extend_from_slice(&(scan.entries.len() as u64).to_le_bytes());
    for (path, entry) in &scan.entries {
        put_bytes(&mut bytes, path.as_bytes());
        let flags = u8::from(entry.racy) | u8::from(entry.hurried) << 1 | u8::from(entry.ignored) << 2;
        bytes.push(flags);
        put_stamp(&mut bytes, entry.stamp);
        match &entry.state {
            State::Absent | State::Other => bytes.push(0),
            State::Folder { mode } => {
                bytes.push(1);
                bytes.extend_from_slice(&mode.unwrap_or(u32::MAX).to_le_bytes());
            }
            State::Link { target } => {
                bytes.push(2);
                put_bytes(&mut bytes, target.path().as_os_str().as_bytes());
            }
            State::File(file) => {
                bytes.push(3);
                bytes.extend_from_slice(&file.size.to_le_bytes());
                bytes.extend_from_slice(&file.mode.unwrap_or(u32::MAX).to_le_bytes());
                bytes.push(u8::from(file.hash.is_some()));
                if let Some(hash) = &file.hash {
                    bytes.extend_from_slice(hash.as_bytes());
                }
            }
        }
    }
    bytes.extend_from_slice(END);
    files::replace(path, &bytes, Worth::Cache)
}

/// Reads a scan. `None`: there is none, or it is none.
pub(crate) fn load(path: &Path) -> Option<Scan> {
    let bytes = std::fs::read(path).ok()?;
    let mut rest = bytes.strip_prefix(MAGIC)?.strip_suffix(END)?;
    let complete = byte(&mut rest)? == 1;
    let count = usize::try_from(u64::from_le_bytes(take(&mut rest)?)).ok()?;
    // A number that cannot be true must not become memory.
    let mut entries = HashMap::with_capacity(count.min(rest.len()));
    for _ in 0..count {
        let path = get_path(&mut rest)?;
        let flags = byte(&mut rest)?;
        let stamp = get_stamp(&mut rest)?;
        let state = match byte(&mut rest)? {
            0 => State::Other,
            1 => State::Folder { mode: mode(&mut rest)? },
            2 => State::Link { target: Name(get_path(&mut rest)?) },
            3 => {
                let size = u64::from_le_bytes(take(&mut rest)?);
                let mode = mode(&mut rest)?;
                let hash = match byte(&mut rest)? {
                    0 => None,
                    _ => Some(ContentHash::from_bytes(take(&mut rest)?)),
                };
                State::File(FileState { hash, size, mode, stamp })
            }
            _ => return None,
        };
        let (racy, hurried, ignored) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        entries.insert(path.into_os_string(), Entry { state, stamp, racy, hurried, ignored });
    }
    rest.is_empty().then_some(Scan { entries, complete })
}

fn put_bytes(bytes: &mut Vec<u8>, text: &[u8]) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text);
}

fn put_stamp(bytes: &mut Vec<u8>, stamp: Option<Stamp>) {
    bytes.push(u8::from(stamp.is_some()));
    if let Some(Stamp { size, mtime, ctime, ino }) = stamp {
        bytes.extend_from_slice(&size.to_le_bytes());
        bytes.extend_from_slice(&mtime.to_le_bytes());
        bytes.extend_from_slice(&ctime.to_le_bytes());
        bytes.extend_from_slice(&ino.to_le_bytes());
    }
}

fn get_stamp(rest: &mut &[u8]) -> Option<Option<Stamp>> {
    if byte(rest)? == 0 {
        return Some(None);
    }
    Some(Some(Stamp {
        size: u64::from_le_bytes(take(rest)?),
        mtime: i64::from_le_bytes(take(rest)?),
        ctime: i64::from_le_bytes(take(rest)?),
        ino: u64::from_le_bytes(take(rest)?),
    }))
}

fn get_path(rest: &mut &[u8]) -> Option<PathBuf> {
    let length = usize::try_from(u32::from_le_bytes(take(rest)?)).ok()?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(PathBuf::from(OsString::from_vec(text.to_vec())))
}

fn mode(rest: &mut &[u8]) -> Option<Option<u32>> {
    let mode = u32::from_le_bytes(take(rest)?);
    Some((mode != u32::MAX).then_some(mode))
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    take::<1>(rest).map(|[byte]| byte)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test damages a file")]
    fn a_scan_comes_back_as_it_was_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("scan");
        let stamp = Some(Stamp { size: 3, mtime: -5, ctime: 7, ino: 9 });
        let entry = |state, stamp| Entry { state, stamp, racy: true, hurried: false, ignored: true };
        let hash = Some(ContentHash::of(b"abc"));
        let kept = FileState { hash, size: 3, mode: Some(0o755), stamp };
        let entries: HashMap<OsString, Entry> = [
            ("a", entry(State::File(kept.clone()), stamp)),
            ("b/c", entry(State::File(FileState { hash: None, ..kept }), stamp)),
            ("b", entry(State::Folder { mode: Some(0o700) }, None)),
            ("l", entry(State::Link { target: Name("../x".into()) }, stamp)),
            ("o", entry(State::Other, None)),
        ]
        .into_iter()
        .map(|(path, entry)| (OsString::from(path), entry))
        .collect();
        save(&file, &Scan { entries: entries.clone(), complete: true }).unwrap();
        let back = load(&file).unwrap();
        assert_eq!((back.entries, back.complete), (entries, true));
        let bytes = std::fs::read(&file).unwrap();
        for cut in 0..bytes.len() {
            std::fs::write(&file, &bytes[..cut]).unwrap();
            assert!(load(&file).is_none(), "cut at {cut}");
        }
    }
}
