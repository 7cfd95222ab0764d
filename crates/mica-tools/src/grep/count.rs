//! How many matches each file has, counted on all cores.
//!
//! Files are taken in their order, and none is taken once enough was found. So what was counted is always the beginning of
//! the list, and whoever adds it up in order comes to the same end each time.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use grep_searcher::{Searcher, Sink, SinkFinish, SinkMatch};

use super::{Hunt, Mode, Rows, Stoppable, searcher};
use crate::resolve::Place;
use crate::walk;

/// What a file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// So many matches. When only files are asked for, one stands for all.
    Matches(u64),
    /// It is no text. What looked like lines before the first NUL does not count.
    Binary,
    /// It could not be read.
    Unread,
    /// The search ended before it was read.
    Stopped,
}

/// Counts, in the order of the names.
pub(super) fn count(hunt: &Hunt<'_>, folder: &Place, names: &[PathBuf]) -> Vec<Count> {
    let next = AtomicUsize::new(0);
    let total = AtomicU64::new(0);
    let work = || {
        let mut searcher = searcher(hunt.args, hunt.mode, Rows::Counted);
        let Ok(base) = folder.open_base() else { return Vec::new() };
        let mut counted = Vec::new();
        while total.load(Ordering::Relaxed) < hunt.most && !hunt.cancel.is_cancelled() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(index) else { break };
            let place = walk::below(folder, name);
            let count = match place.open_from(&base) {
                Ok(file) => one(hunt, &mut searcher, file),
                Err(_) => Count::Unread,
            };
            if let Count::Matches(found) = count {
                total.fetch_add(found, Ordering::Relaxed);
            }
            counted.push((index, count));
        }
        counted
    };
    let threads = walk::threads().min(names.len().div_ceil(FEW)).max(1);
    let mut all = vec![Count::Stopped; names.len()];
    let parts = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut parts = vec![work()];
        // A thread that panicked has counted nothing that could be told; its files read as stopped.
        parts.extend(others.into_iter().filter_map(|other| other.join().ok()));
        parts
    });
    for (index, count) in parts.into_iter().flatten() {
        if let Some(slot) = all.get_mut(index) {
            *slot = count;
        }
    }
    all
}

/// Files that are not worth another thread.
const FEW: usize = 16;

fn one(hunt: &Hunt<'_>, searcher: &mut Searcher, file: std::fs::File) -> Count {
    let mut tally = Tally { matches: 0, binary: false, hunt };
    let searched = searcher.search_reader(hunt.matcher, Stoppable { file, cancel: hunt.cancel }, &mut tally);
    match searched {
        _ if tally.binary => Count::Binary,
        Err(_) if hunt.cancel.is_cancelled() => Count::Stopped,
        Err(_) if tally.matches == 0 => Count::Unread,
        _ => Count::Matches(tally.matches),
    }
}

struct Tally<'a> {
    matches: u64,
    binary: bool,
    hunt: &'a Hunt<'a>,
}

impl Sink for Tally<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, _: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        Ok(self.hunt.mode != Mode::Files && self.matches < self.hunt.most)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), io::Error> {
        self.binary |= end.binary_byte_offset().is_some();
        Ok(())
    }
}
