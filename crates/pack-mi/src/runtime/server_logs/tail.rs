//! The end of a file that may be large, and that grows. It is opened by whoever knows whether it may be read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes that are read at most.
const MOST_BYTES: u64 = 2 << 20;

/// The end of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tail {
    pub(crate) text: String,
    pub(crate) lines: usize,
    /// Whether there is more before it.
    pub(crate) is_cut: bool,
}

impl Tail {
    /// What was read, in words.
    pub(crate) fn words(&self) -> String {
        if self.is_cut {
            format!("its last {} lines", self.lines)
        } else {
            format!("all of its {} lines", self.lines)
        }
    }
}

/// The last lines of a file.
pub(crate) fn tail(mut file: File, lines: usize) -> io::Result<Tail> {
    let length = file.metadata()?.len();
    let from = length.saturating_sub(MOST_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    // The first line is cut in the middle.
    let text = if from > 0 { text.split_once('\n').map_or("", |(_, rest)| rest) } else { &text };
    let all = text.lines().count();
    let kept: Vec<&str> = text.lines().skip(all.saturating_sub(lines)).collect();
    Ok(Tail { lines: kept.len(), is_cut: from > 0 || all > lines, text: kept.join("\n") })
}

/// What a file has from a place on. A file that was begun anew is read from its start.
pub(crate) fn from_offset(mut file: File, offset: u64) -> io::Result<String> {
    let length = file.metadata()?.len();
    let from = if length < offset { 0 } else { offset };
    let from = from.max(length.saturating_sub(MOST_BYTES));
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_the_end_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let mut file = File::create(&path).unwrap();
        writeln!(file, "one\ntwo\nthree").unwrap();
        let tail = |lines| super::tail(File::open(&path).unwrap(), lines);
        let from_offset = |offset| super::from_offset(File::open(&path).unwrap(), offset);
        assert_eq!(tail(2).unwrap(), Tail { text: "two\nthree".to_owned(), lines: 2, is_cut: true });
        assert_eq!(tail(9).unwrap().words(), "all of its 3 lines");
        assert_eq!(from_offset(4).unwrap(), "two\nthree\n");
        assert_eq!(from_offset(4_000).unwrap(), "one\ntwo\nthree\n");
        for _ in 0..40_000 {
            writeln!(file, "{}", "ä".repeat(50)).unwrap();
        }
        let end = tail(1_000_000).unwrap();
        assert!(
            end.is_cut && end.text.len() <= 2 << 20 && end.text.lines().all(|line| line == "ä".repeat(50))
        );
    }
}
