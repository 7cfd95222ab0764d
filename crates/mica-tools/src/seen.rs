//! What of each file the model has seen in this session, so that it overwrites nothing it does not know.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::digest::Digest;

/// What the model knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// Nothing.
    Never,
    /// It saw a part of it as it is now.
    Partly,
    /// It saw, or wrote, all of it as it is now.
    Wholly,
    /// It saw it, and it changed since.
    Stale,
}

/// The files that were seen, by canonical path.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    files: Mutex<HashMap<PathBuf, Sight>>,
}

#[derive(Debug)]
struct Sight {
    digest: Digest,
    /// Lines that were shown, counted from 1; sorted, apart from each other.
    shown: Vec<(usize, usize)>,
    /// Lines it has.
    lines: usize,
}

impl Sight {
    fn is_whole(&self) -> bool {
        self.lines == 0 || self.shown.first() == Some(&(1, self.lines))
    }
}

impl Seen {
    /// Lines of a file were shown.
    pub(crate) fn show(
        &self,
        path: &Path,
        digest: Digest,
        lines: usize,
        shown: impl IntoIterator<Item = RangeInclusive<usize>>,
    ) {
        let mut files = self.files();
        let sight =
            files.entry(path.to_owned()).or_insert_with(|| Sight { digest, shown: Vec::new(), lines });
        if sight.digest != digest {
            *sight = Sight { digest, shown: Vec::new(), lines };
        }
        for range in shown {
            add(&mut sight.shown, (*range.start(), *range.end()));
        }
    }

    /// The model wrote all of a file.
    pub(crate) fn wrote(&self, path: &Path, digest: Digest) {
        self.files().insert(path.to_owned(), Sight { digest, shown: Vec::new(), lines: 0 });
    }

    /// The model changed a part of a file. It knows the rest as well, or as little, as before.
    pub(crate) fn edited(&self, path: &Path, before: Digest, after: Digest) {
        let known = self.known(path, before);
        let lines = if known == Known::Wholly { 0 } else { usize::MAX };
        self.files().insert(path.to_owned(), Sight { digest: after, shown: Vec::new(), lines });
    }

    /// A file was put back by somebody else: what was seen of it does not count any more.
    pub(crate) fn forget(&self, path: &Path) {
        self.files().remove(path);
    }

    /// What is known of a file that has this digest now.
    pub(crate) fn known(&self, path: &Path, now: Digest) -> Known {
        match self.files().get(path) {
            None => Known::Never,
            Some(sight) if sight.digest != now => Known::Stale,
            Some(sight) if sight.is_whole() => Known::Wholly,
            Some(_) => Known::Partly,
        }
    }

    /// A panic elsewhere cannot leave the map half changed, so a poisoned lock is still good.
    fn files(&self) -> MutexGuard<'_, HashMap<PathBuf, Sight>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a range, joining what touches.
fn add(ranges: &mut Vec<(usize, usize)>, new: (usize, usize)) {
    ranges.push(new);
    ranges.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges.drain(..) {
        match joined.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    *ranges = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_on_until_all_is_seen() {
        let (seen, path) = (Seen::default(), Path::new("/a"));
        let now = Digest::of(b"now");
        assert_eq!(seen.known(path, now), Known::Never);
        seen.show(path, now, 10, [1..=3]);
        seen.show(path, now, 10, [7..=10]);
        assert_eq!(seen.known(path, now), Known::Partly);
        seen.show(path, now, 10, [3..=6]);
        assert_eq!(seen.known(path, now), Known::Wholly);
        let later = Digest::of(b"later");
        assert_eq!(seen.known(path, later), Known::Stale);
        seen.show(path, later, 10, [1..=2]);
        assert_eq!(seen.known(path, later), Known::Partly, "what was seen of the old file does not count");
    }

    #[test]
    fn an_edit_teaches_nothing_new() {
        let (seen, path) = (Seen::default(), Path::new("/a"));
        let (one, two, three) = (Digest::of(b"1"), Digest::of(b"2"), Digest::of(b"3"));
        seen.edited(path, one, two);
        assert_eq!(seen.known(path, two), Known::Partly);
        seen.wrote(path, two);
        seen.edited(path, two, three);
        assert_eq!(seen.known(path, three), Known::Wholly);
    }
}
