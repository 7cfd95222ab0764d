//! What files had in them, by hash. What is there twice is kept once.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::state::ContentHash;
use crate::files::{self, Worth};

/// A folder of contents.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    folder: PathBuf,
}

/// What a sweep came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    pub(crate) kept_bytes: u64,
    pub(crate) removed: usize,
    pub(crate) removed_bytes: u64,
}

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        let (first, rest) = name.split_at(2);
        self.folder.join(first).join(rest)
    }

    /// Whether a content is there. One that was cut off is not.
    pub(crate) fn has(&self, hash: &ContentHash, size: u64) -> bool {
        fs::metadata(self.path(hash)).is_ok_and(|facts| facts.is_file() && facts.len() == size)
    }

    /// Whether a content is there, of whatever size.
    pub(crate) fn is_there(&self, hash: &ContentHash) -> bool {
        self.path(hash).is_file()
    }

    /// Keeps a content.
    pub(crate) fn keep(&self, hash: &ContentHash, bytes: &[u8], worth: Worth) -> io::Result<()> {
        if self.has(hash, bytes.len() as u64) {
            return Ok(());
        }
        let path = self.path(hash);
        match files::replace(&path, bytes, worth) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(parent) = path.parent() {
                    files::make_folder(&self.folder)?;
                    files::make_cache_folder(parent)?;
                }
                files::replace(&path, bytes, worth)
            }
            done => done,
        }
    }

    /// A content, if it is there and whole.
    pub(crate) fn read(&self, hash: &ContentHash) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path(hash)) {
            Ok(bytes) => Ok((ContentHash::of(&bytes) == *hash).then_some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All contents with their sizes, and what was left behind while one was written.
    fn all(&self) -> (Vec<(ContentHash, PathBuf, u64)>, Vec<PathBuf>) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        let (mut contents, mut strange) = (Vec::new(), Vec::new());
        for shard in entries(&self.folder) {
            let first = shard.file_name().to_string_lossy().into_owned();
            for entry in entries(&shard.path()) {
                let name = format!("{first}{}", entry.file_name().to_string_lossy());
                let size = entry.metadata().map_or(0, |facts| facts.len());
                match ContentHash::from_hex(&name) {
                    Some(hash) => contents.push((hash, entry.path(), size)),
                    None => strange.push(entry.path()),
                }
            }
        }
        (contents, strange)
    }

    /// The bytes of all contents.
    pub(crate) fn sizes(&self) -> Vec<(ContentHash, u64)> {
        self.all().0.into_iter().map(|(hash, _, size)| (hash, size)).collect()
    }

    /// Removes what nobody refers to.
    pub(crate) fn sweep(&self, live: &HashSet<ContentHash>) -> Swept {
        let mut swept = Swept::default();
        let (contents, strange) = self.all();
        for path in strange {
            let _ = files::remove(&path);
        }
        for (hash, path, size) in contents {
            // What cannot be removed is tried again at the next sweep.
            if live.contains(&hash) || files::remove(&path).is_err() {
                swept.kept_bytes += size;
            } else {
                swept.removed += 1;
                swept.removed_bytes += size;
            }
        }
        swept
    }
}
