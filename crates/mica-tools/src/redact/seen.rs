//! What a file or folder was when it was looked at, so that it can be told whether it still is.
//!
//! Two looks are the same when it is the same file with the same times: whatever is written into a file, and whatever comes
//! into a folder or leaves it, changes one. Invariant: a look counts only when it was taken well after those times. Times
//! come in steps, of milliseconds here and of two seconds elsewhere, and what changes twice within a step shows it once.

use std::path::Path;
use std::time::{Duration, SystemTime};

/// The longest step in which a file system counts time, with room to spare.
const STEP: Duration = Duration::from_secs(3);

/// A file, a folder, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// This one.
    #[cfg_attr(not(unix), allow(dead_code, reason = "what tells files apart is asked of Unix"))]
    There { device: u64, inode: u64, bytes: u64, modified: SystemTime, changed: SystemTime },
    /// Nothing, or nothing that can be looked at.
    Nothing,
    /// It cannot be told from another.
    #[cfg_attr(unix, allow(dead_code, reason = "Unix tells files apart"))]
    Unknown,
}

impl Seen {
    /// What is at a path now, behind links.
    pub(super) fn at(path: &Path) -> Self {
        let Ok(facts) = path.metadata() else { return Self::Nothing };
        Self::of(&facts)
    }

    #[cfg(unix)]
    fn of(facts: &std::fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let time = |seconds: i64, nanos: i64| {
            let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
            SystemTime::UNIX_EPOCH + since
        };
        Self::There {
            device: facts.dev(),
            inode: facts.ino(),
            bytes: facts.len(),
            modified: time(facts.mtime(), facts.mtime_nsec()),
            changed: time(facts.ctime(), facts.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    fn of(_: &std::fs::Metadata) -> Self {
        Self::Unknown
    }

    /// Whether a later change would be seen, when this was looked at `now`.
    pub(super) fn is_settled(&self, now: SystemTime) -> bool {
        match self {
            Self::There { modified, changed, .. } => [modified, changed]
                .into_iter()
                .all(|time| now.duration_since(*time).is_ok_and(|since| since >= STEP)),
            Self::Nothing => true,
            Self::Unknown => false,
        }
    }
}
