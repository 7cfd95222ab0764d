//! Ids of sessions and entries: UUIDs of version 7 in newtypes, so that they sort by the time they were made and a
//! session is never handed over where an entry belongs. They are written as text; in memory they take 16 bytes, because
//! opening a long session holds one for every entry.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::{NoContext, Uuid};

/// Characters of a short id.
const SHORT: usize = 8;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh id for something that is made at `time`. Ids of one millisecond do not sort.
            pub fn fresh(time: Timestamp) -> Self {
                Self(version7(time))
            }

            /// The end of it. Ids begin with their time, so those that were made together differ at the end only.
            pub fn short(&self) -> String {
                let text = self.to_string();
                text.get(text.len() - SHORT..).unwrap_or_default().to_owned()
            }

            /// Whether a text names it: by all of it, by its beginning, or by four or more characters of its end.
            pub fn answers_to(&self, given: &str) -> bool {
                let (text, given) = (self.to_string(), given.to_ascii_lowercase());
                !given.is_empty() && (text.starts_with(&given) || (given.len() >= 4 && text.ends_with(&given)))
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                Uuid::parse_str(text)
                    .map(Self)
                    .map_err(|_| BadId { what: $what, given: text.to_owned() })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

id! {
    /// Names one entry for as long as its session lives. A fork keeps the ids of the entries it copies.
    EntryId, "entry"
}

id! {
    /// Names one session.
    SessionId, "session"
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no {what} id: ids are UUIDs, like 01890a5d-ac96-774b-bcce-b302099a8057")]
pub struct BadId {
    /// What was to be named.
    pub what: &'static str,
    /// What was given.
    pub given: String,
}

/// Makes the entry ids of one writer, each greater than the one before, even within a millisecond and when the clock
/// is set back.
#[derive(Debug, Default)]
pub(crate) struct EntryIds {
    last: u128,
}

impl EntryIds {
    /// Goes on after an id that is there already.
    pub(crate) fn after(last: Option<EntryId>) -> Self {
        Self { last: last.map_or(0, |id| id.0.as_u128()) }
    }

    pub(crate) fn next(&mut self, time: Timestamp) -> EntryId {
        let fresh = version7(time).as_u128();
        // The low 62 bits are random, so the step by one stays clear of the version and variant bits in practice.
        self.last = if fresh > self.last { fresh } else { self.last.wrapping_add(1) };
        EntryId(Uuid::from_u128(self.last))
    }
}

impl EntryId {
    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The id of a line that has none of its own: made from its bytes and its place, so that it is the same every time.
    pub(crate) fn of_line(line: &[u8], offset: u64) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::new().chain_update(offset.to_le_bytes()).chain_update(line).finalize();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

fn version7(time: Timestamp) -> Uuid {
    let milliseconds = u64::try_from(time.as_millisecond()).unwrap_or(0);
    let nanoseconds = u32::try_from(milliseconds % 1000).unwrap_or(0) * 1_000_000;
    Uuid::new_v7(uuid::Timestamp::from_unix(NoContext, milliseconds / 1000, nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_ids_only_grow_even_when_the_clock_does_not() {
        let mut ids = EntryIds::default();
        let noon = Timestamp::from_second(1_800_000_000).unwrap();
        let earlier = Timestamp::from_second(1_700_000_000).unwrap();
        let made: Vec<EntryId> =
            (0..1000).map(|n| ids.next(if n % 3 == 0 { earlier } else { noon })).collect();
        assert!(made.is_sorted_by(|one, other| one < other));
        assert!(EntryIds::after(made.last().copied()).next(earlier) > made[999]);
    }

    #[test]
    fn ids_are_version_7_and_tell_their_time() {
        let time = Timestamp::from_millisecond(1_800_000_000_123).unwrap();
        let id = SessionId::fresh(time);
        assert_eq!(id.0.get_version_num(), 7);
        assert_eq!(id.0.get_timestamp().unwrap().to_unix(), (1_800_000_000, 123_000_000));
        assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
    }

    #[test]
    fn ids_answer_to_their_ends() {
        let id: EntryId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        assert_eq!(id.short(), "099a8057");
        for (given, names) in [
            ("01890a5d-ac96-774b-bcce-b302099a8057", true),
            ("0", true),
            ("01890A5D-", true),
            ("8057", true),
            ("099A8057", true),
            ("057", false),
            ("ac96", false),
            ("", false),
        ] {
            assert_eq!(id.answers_to(given), names, "{given:?}");
        }
    }

    #[test]
    fn what_is_no_id_is_named() {
        let error = "yesterday".parse::<EntryId>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"yesterday\" is no entry id: ids are UUIDs, like 01890a5d-ac96-774b-bcce-b302099a8057"
        );
    }
}
