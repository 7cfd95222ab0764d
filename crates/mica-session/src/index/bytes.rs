//! Numbers, texts and checksums of the index. Reading answers `None` for whatever does not fit.

use jiff::Timestamp;

use crate::id::EntryId;

/// Collects the bytes of one part.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn u8(&mut self, number: u8) {
        self.0.push(number);
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(super) fn id(&mut self, id: EntryId) {
        self.0.extend_from_slice(id.as_bytes());
    }

    /// A place, or none: as the number after it, or zero.
    pub(super) fn place(&mut self, place: Option<usize>) {
        self.u32(place.and_then(|place| u32::try_from(place + 1).ok()).unwrap_or(0));
    }

    pub(super) fn time(&mut self, time: Timestamp) {
        self.0.extend_from_slice(&time.as_second().to_le_bytes());
        self.0.extend_from_slice(&time.subsec_nanosecond().to_le_bytes());
    }

    /// A text, or none: its length plus one, or zero.
    pub(super) fn text(&mut self, text: Option<&str>) {
        match text {
            None => self.u32(0),
            Some(text) => {
                self.u32(u32::try_from(text.len() + 1).unwrap_or(0));
                self.0.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Adds the part to a file: its length, its bytes, its checksum.
    pub(super) fn seal_into(self, all: &mut Vec<u8>) {
        all.extend_from_slice(&(self.0.len() as u64).to_le_bytes());
        all.extend_from_slice(&self.0);
        all.extend_from_slice(&checksum(&self.0).to_le_bytes());
    }
}

/// Reads the bytes of one part.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Opens the part that these bytes begin with, if it is sound, and answers what follows it.
    pub(super) fn unseal(all: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut reader = Reader(all);
        let length = usize::try_from(reader.u64()?).ok()?;
        let part = reader.take(length)?;
        (reader.u64()? == checksum(part)).then_some((Reader(part), reader.0))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    #[allow(clippy::option_option, reason = "the number may not be there, and there may be no place")]
    pub(super) fn place(&mut self) -> Option<Option<usize>> {
        let number = self.u32()? as usize;
        Some(number.checked_sub(1))
    }

    pub(super) fn time(&mut self) -> Option<Timestamp> {
        let seconds = self.array().map(i64::from_le_bytes)?;
        let nanoseconds = self.array().map(i32::from_le_bytes)?;
        Timestamp::new(seconds, nanoseconds).ok()
    }

    #[allow(clippy::option_option, reason = "the bytes may not be there, and there may be no text")]
    pub(super) fn text(&mut self) -> Option<Option<&'a str>> {
        match (self.u32()? as usize).checked_sub(1) {
            None => Some(None),
            Some(length) => std::str::from_utf8(self.take(length)?).ok().map(Some),
        }
    }
}

/// A checksum against accidents, not against people: whoever can write the index can write the session. Eight bytes at a
/// time, because it is taken of all of the index at every opening.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01B3;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(PRIME).rotate_left(29);
    let mut words = bytes.chunks_exact(8);
    let start = 0xCBF2_9CE4_8422_2325 ^ bytes.len() as u64;
    let sum = words.by_ref().fold(start, |sum, word| mix(sum, word.try_into().map_or(0, u64::from_le_bytes)));
    words.remainder().iter().fold(sum, |sum, byte| mix(sum, u64::from(*byte)))
}
