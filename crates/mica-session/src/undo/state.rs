//! What is at a path: nothing, a file by the hash of its bytes and its mode, a link by its target, a folder.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// SHA-256 of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash that was computed elsewhere, as 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::paths::hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("no SHA-256 in hexadecimal digits"))
    }
}

/// What the system says of a file without reading it. As long as it says the same, the bytes are the same, unless they
/// were written within one tick of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Bytes.
    pub size: u64,
    /// When the bytes changed, in nanoseconds.
    pub mtime: i64,
    /// When anything about it changed, in nanoseconds.
    pub ctime: i64,
    /// Its number on its file system.
    pub ino: u64,
}

/// A regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// Its bytes. `None`: they were not read, because it is too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// How many bytes. 0 for a change that was announced and not made yet.
    #[serde(default)]
    pub size: u64,
    /// Its permissions. `None`: not known yet, because it is about to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// What stands for the bytes that were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Nothing.
    Absent,
    /// A regular file.
    File(FileState),
    /// A symbolic link.
    Link {
        /// Where it leads, as it is written.
        target: Name,
    },
    /// A folder.
    Folder {
        /// Its permissions, when they are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<u32>,
    },
    /// Something that is not kept: a pipe, a socket, a device, or a folder that tools fill.
    Other,
}

impl State {
    /// Whether what is there now is what was recorded. Modes of folders are no reason for a quarrel.
    pub fn fits(&self, now: &State) -> bool {
        match (self, now) {
            (State::File(left), State::File(now)) => {
                let mode = left.mode.is_none() || now.mode.is_none() || left.mode == now.mode;
                let bytes = match (left.hash, now.hash) {
                    (Some(left), Some(now)) => left == now,
                    _ => left.stamp.is_some() && left.stamp == now.stamp,
                };
                mode && bytes
            }
            (State::Folder { .. }, State::Folder { .. }) => true,
            (left, now) => left == now,
        }
    }

    /// Whether making this of `now` changes anything, modes of folders included.
    pub(crate) fn differs(&self, now: &State) -> bool {
        match (self, now) {
            (State::Folder { mode: Some(left) }, State::Folder { mode: Some(now) }) => left != now,
            (left, now) => !left.fits(now),
        }
    }

    /// One word for it.
    pub fn word(&self) -> &'static str {
        match self {
            State::Absent => "nothing",
            State::File(_) => "a file",
            State::Link { .. } => "a link",
            State::Folder { .. } => "a folder",
            State::Other => "something else",
        }
    }

    /// The bytes it stands for.
    pub fn size(&self) -> u64 {
        if let State::File(file) = self { file.size } else { 0 }
    }
}

/// A path below the project, or the target of a link: text where it is text, bytes where it is not.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub PathBuf);

impl Name {
    /// As a path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl From<&Path> for Name {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_os_str().as_bytes().serialize(serializer),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes(Vec<u8>),
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::Text(text) => PathBuf::from(text),
            Written::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: &[u8], mode: Option<u32>) -> State {
        let size = bytes.len() as u64;
        State::File(FileState { hash: Some(ContentHash::of(bytes)), size, mode, stamp: None })
    }

    #[test]
    fn states_survive_being_written_and_names_need_not_be_text() {
        let odd = Name(PathBuf::from(OsString::from_vec(vec![b'a', 0xff])));
        for state in [
            State::Absent,
            file(b"x", Some(0o644)),
            State::Link { target: odd },
            State::Folder { mode: None },
            State::Other,
        ] {
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<State>(&text).unwrap(), state, "{text}");
        }
    }

    #[test]
    fn a_mode_that_is_not_known_fits_any() {
        assert!(file(b"x", None).fits(&file(b"x", Some(0o600))));
        assert!(!file(b"x", Some(0o644)).fits(&file(b"x", Some(0o600))));
        assert!(!file(b"x", None).fits(&file(b"y", None)));
        assert!(!State::Absent.fits(&file(b"", None)));
    }
}
