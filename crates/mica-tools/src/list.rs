//! What is in a folder.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType};

use crate::error::FileError;
use crate::resolve::Place;

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) what: What,
}

/// What a name in a folder is. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Folder,
    File { size: u64 },
    Link { target: String },
    Other,
}

impl Entry {
    /// As it is listed: folders end with a slash, files have a size, links show where they lead.
    pub(crate) fn line(&self) -> String {
        match &self.what {
            What::Folder => format!("{}/", self.name),
            What::File { size } => format!("{}  ({size} bytes)", self.name),
            What::Link { target } => format!("{} -> {target}", self.name),
            What::Other => format!("{}  (not a regular file)", self.name),
        }
    }
}

/// The names in a folder, sorted, at most `limit`; and how many there are.
pub(crate) fn entries(folder: &Place, limit: usize) -> Result<(Vec<Entry>, usize), FileError> {
    let failed = |error| FileError::io("list", folder.shown(), error);
    let handle = folder.open_folder()?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&handle).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
    }
    names.sort();
    let total = names.len();
    names.truncate(limit);
    let entries = names.into_iter().map(|name| {
        let name = OsStr::from_bytes(&name);
        let facts = rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW);
        let what = match facts.as_ref().map(|facts| FileType::from_raw_mode(facts.st_mode)) {
            Ok(FileType::Directory) => What::Folder,
            Ok(FileType::RegularFile) => {
                What::File { size: facts.map_or(0, |facts| u64::try_from(facts.st_size).unwrap_or(0)) }
            }
            Ok(FileType::Symlink) => {
                let target = rustix::fs::readlinkat(&handle, name, Vec::new());
                What::Link {
                    target: target.map_or_else(|_| "?".to_owned(), |path| path.to_string_lossy().into()),
                }
            }
            _ => What::Other,
        };
        Entry { name: name.to_string_lossy().into_owned(), what }
    });
    Ok((entries.collect(), total))
}
