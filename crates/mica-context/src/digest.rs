//! Fingerprints of what was sent, to see whether it is still the same.
//!
//! FNV-1a over 64 bits: the same in every process and every release, so a fingerprint in a log can be compared with
//! one of yesterday. It guards against change, not against an adversary.

use std::{fmt, io};

use serde::{Deserialize, Serialize};

/// A fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Digest {
    /// The fingerprint of nothing.
    pub const EMPTY: Digest = Digest(0xcbf2_9ce4_8422_2325);

    /// The fingerprint of a text.
    pub fn of(text: &str) -> Self {
        Self::EMPTY.and(text.as_bytes())
    }

    /// The fingerprint of a value as JSON. A value that has no JSON has the fingerprint of nothing.
    pub fn of_value(value: &impl Serialize) -> Self {
        let mut writer = io::BufWriter::new(Writer(Self::EMPTY.0));
        match serde_json::to_writer(&mut writer, value).map(|()| writer.into_inner()) {
            Ok(Ok(Writer(hash))) => Self(hash),
            Ok(Err(_)) | Err(_) => Self::EMPTY,
        }
    }

    /// This fingerprint with another behind it.
    #[must_use]
    pub fn then(self, other: Digest) -> Self {
        self.and(&other.0.to_le_bytes())
    }

    /// This fingerprint with more bytes behind it. The length goes in first, so that two texts do not run together.
    #[must_use]
    pub fn and(self, bytes: &[u8]) -> Self {
        let length = (bytes.len() as u64).to_le_bytes();
        Self(bytes.iter().fold(length.iter().fold(self.0, step), step))
    }
}

fn step(hash: u64, byte: &u8) -> u64 {
    (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// Takes JSON as it is written, so that nothing is copied to be fingerprinted.
struct Writer(u64);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = bytes.iter().fold(self.0, step);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_do_not_run_together() {
        assert_ne!(Digest::of("ab").and(b"c"), Digest::of("a").and(b"bc"));
        assert_eq!(Digest::of("mica").to_string(), Digest::of("mica").to_string());
    }
}
