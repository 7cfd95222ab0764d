//! Both ends are kept, and the log has everything.

use std::sync::Arc;
use std::time::SystemTime;

use mica_context::spill::{SpillFolder, SpillLimits};
use proptest::prelude::*;

use super::*;

fn logs(root: &Path) -> Logs {
    let folder = Arc::new(SpillFolder::new(root.join("spill"), SpillLimits::default()));
    Logs { folder, clock: Arc::new(|| SystemTime::UNIX_EPOCH) }
}

const SMALL: Ends = Ends { head: 8, tail: 12 };

fn check(pieces: &[&str], from: u64, text: &str, left_out: u64) {
    let home = tempfile::tempdir().unwrap();
    let mut transcript = Transcript::new(SMALL, logs(home.path()), "t");
    for piece in pieces {
        transcript.append(piece);
    }
    assert_eq!(transcript.since(from), Part { text: text.to_owned(), left_out }, "{pieces:?} from {from}");
    // The log is made when something is left out, and not before; then it has everything.
    let whole = pieces.concat();
    match transcript.log() {
        None => assert_eq!(left_out, 0),
        Some(log) => assert_eq!(std::fs::read_to_string(log).unwrap(), whole),
    }
}

#[test]
fn both_ends_are_kept() {
    check(&[], 0, "", 0);
    check(&["abc", "def"], 0, "abcdef", 0);
    check(&["abc", "def"], 3, "def", 0);
    check(&["abc", "def"], 6, "", 0);
    check(&["12345678", "abcdefghijkl"], 0, "12345678abcdefghijkl", 0);
    check(&["12345678", "abcdefghijklm"], 0, "12345678\n[… 1 bytes are left out here …]\nbcdefghijklm", 1);
    check(
        &["0123456789012345678901234567890123456789"],
        0,
        "01234567\n[… 20 bytes are left out here …]\n890123456789",
        20,
    );
    // What was read before is not shown again, and what was dropped before it was read is counted.
    check(&["12345678", "abcdefghijklm"], 9, "bcdefghijklm", 0);
    check(&["12345678", "abcdefghijklm"], 8, "[… 1 bytes are left out here …]\nbcdefghijklm", 1);
    // The end begins with a whole line when one begins near.
    check(
        &["12345678", "aaaaaa\nb\ncccccccccc\n"],
        0,
        "12345678\n[… 9 bytes are left out here …]\ncccccccccc\n",
        9,
    );
    // No letter is cut.
    check(&["1234567ä", "öööööööööö"], 0, "1234567\n[… 10 bytes are left out here …]\nöööööö", 10);
}

#[test]
fn a_log_that_cannot_be_made_is_said() {
    let home = tempfile::tempdir().unwrap();
    drop(std::fs::File::create(home.path().join("spill")).unwrap());
    let mut transcript = Transcript::new(SMALL, logs(home.path()), "t");
    transcript.append(&"x".repeat(100));
    assert_eq!(transcript.log(), None);
    assert!(
        transcript.rest().starts_with("The rest could not be saved (making the folder"),
        "{}",
        transcript.rest()
    );
    assert_eq!(transcript.since(0).left_out, 80);
}

proptest! {
    #[test]
    fn what_is_shown_and_left_out_is_everything(pieces in prop::collection::vec("[a-zä\n]{0,30}", 0..12), at in 0usize..12) {
        let home = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::new(SMALL, logs(home.path()), "t");
        let (mut from, mut whole) = (0, String::new());
        for (index, piece) in pieces.iter().enumerate() {
            if index == at {
                from = transcript.total();
            }
            transcript.append(piece);
            whole.push_str(piece);
        }
        let part = transcript.since(from);
        let wanted = &whole[usize::try_from(from).unwrap()..];
        match part.text.split_once(&format!("[… {} bytes are left out here …]\n", part.left_out)) {
            None => prop_assert_eq!(part.text, wanted),
            Some((head, tail)) => {
                prop_assert!(wanted.ends_with(tail));
                let head = if wanted.starts_with(head) { head } else { head.strip_suffix('\n').unwrap() };
                prop_assert!(wanted.starts_with(head));
                // The last line end may be that of the note.
                prop_assert!(head.len() <= SMALL.head + 1 && tail.len() <= SMALL.tail);
                let sum = head.len() + tail.len() + usize::try_from(part.left_out).unwrap();
                prop_assert!(sum == wanted.len() || sum == wanted.len() + 1, "{} of {}", sum, wanted.len());
            }
        }
    }
}
