//! The index: it gives back what it was made of, or is as if it were not there.

#![allow(clippy::disallowed_methods, reason = "the tests do to files what others might")]

use std::fs;

use mica_ai::{Message, User};
use proptest::prelude::*;

use super::*;
use crate::entry::Body;
use crate::files::Durability;
use crate::line::tests::body;
use crate::session::{Access, Session};
use crate::sessions::Sessions;

fn sessions(folder: &Path) -> Sessions {
    Sessions::new(folder, || "2026-03-04T12:00:00Z".parse().unwrap())
}

fn fill(session: &mut Session, bodies: Vec<Body>) {
    for body in bodies {
        // Bodies name entries that are not there; those are refused.
        let _ = session.append(body, Durability::Lazy);
    }
    let first = session.tree().nodes().first().map(|node| node.id);
    if let Some(first) = first.filter(|first| !session.tree().node(*first).unwrap().kind.is_aside()) {
        session.label(first, Some("mark")).unwrap();
        session.navigate(Some(first)).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_saved_is_loaded(bodies in proptest::collection::vec(body(), 0..12)) {
        let folder = tempfile::tempdir().unwrap();
        let mut session = sessions(folder.path()).create("/home/user/x".as_ref(), Some("n")).unwrap();
        fill(&mut session, bodies);
        let path = session.path().to_owned();
        let (nodes, leaf, digest) = (session.tree().nodes().to_vec(), session.tree().leaf(), session.digest());
        drop(session);
        if nodes.is_empty() {
            return Ok(());
        }
        let (cover, contents) = load(&path).unwrap();
        prop_assert_eq!(contents.tree.nodes(), &nodes[..]);
        prop_assert_eq!(contents.tree.leaf(), leaf);
        prop_assert_eq!(&cover.digest, &digest);
        prop_assert_eq!(load_cover(&path).unwrap(), cover);
        // Reading the file comes to the same.
        fs::remove_file(paths::index(&path)).unwrap();
        let session = sessions(folder.path()).open(&path, Access::Read).unwrap();
        prop_assert_eq!(session.tree().nodes(), &nodes[..]);
        prop_assert_eq!(session.tree().leaf(), leaf);
        prop_assert_eq!(session.digest(), digest);
    }

    #[test]
    fn a_damaged_index_is_none(at in any::<prop::sample::Index>(), bit in 0..8_u8, cut in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut session = sessions(folder.path()).create("/home/user/x".as_ref(), None).unwrap();
        fill(&mut session, vec![Message::from(User::text("one")).into(), Message::from(User::text("two")).into()]);
        let (path, nodes) = (session.path().to_owned(), session.tree().nodes().to_vec());
        drop(session);
        let mut bytes = fs::read(paths::index(&path)).unwrap();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
        fs::write(paths::index(&path), bytes).unwrap();
        prop_assert!(load(&path).is_none());
        prop_assert_eq!(sessions(folder.path()).open(&path, Access::Read).unwrap().tree().nodes().to_vec(), nodes);
    }
}

fn fit(path: &Path) -> Fit {
    let file = File::open(path).unwrap();
    load_cover(path).unwrap().fit(&file, &file.metadata().unwrap()).unwrap()
}

#[test]
fn an_index_fits_the_file_it_was_made_of_and_what_grew_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = sessions(folder.path());
    let mut session = store.create("/home/user/x".as_ref(), None).unwrap();
    fill(&mut session, vec![Message::from(User::text("one")).into()]);
    let path = session.path().to_owned();
    drop(session);
    assert_eq!(fit(&path), Fit::Whole);

    // A writer that never came to save the index.
    let index = fs::read(paths::index(&path)).unwrap();
    let mut session = store.open(&path, Access::Write).unwrap();
    session.append(Message::from(User::text("two")), Durability::Lazy).unwrap();
    let nodes = session.tree().nodes().to_vec();
    drop(session);
    fs::write(paths::index(&path), index).unwrap();
    assert_eq!(fit(&path), Fit::Prefix);
    assert_eq!(store.open(&path, Access::Read).unwrap().tree().nodes().to_vec(), nodes);

    // Somebody replaced a word by another one of the same length.
    let session = store.open(&path, Access::Write).unwrap();
    drop(session);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"one\"", "\"uno\"")).unwrap();
    assert_eq!(fit(&path), Fit::No);
    assert_eq!(&*store.open(&path, Access::Read).unwrap().tree().nodes()[0].preview, "uno");

    // Another session, and a longer one, in its place.
    let mut other = store.create("/home/user/x".as_ref(), None).unwrap();
    other.append(Message::from(User::text("another".repeat(100))), Durability::Lazy).unwrap();
    other.append(Message::from(User::text("another".repeat(100))), Durability::Lazy).unwrap();
    fs::copy(other.path(), &path).unwrap();
    assert_eq!(fit(&path), Fit::No);
    assert_eq!(store.open(&path, Access::Read).unwrap().tree().nodes(), other.tree().nodes());

    // It is shorter than it was.
    fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    assert_eq!(fit(&path), Fit::No);
    assert_eq!(store.open(&path, Access::Read).unwrap().tree().len(), 0);
}
