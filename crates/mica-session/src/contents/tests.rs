//! Whatever lines a file has, each is an entry, in its place, and reachable.

use proptest::prelude::*;

use super::*;
use crate::entry::{Body, Entry};
use crate::line::tests::body;
use crate::line::{BlobRefs, write};

/// A line of a file that many hands were at.
#[derive(Debug, Clone)]
enum Line {
    /// An entry that names entries by number, some of which are not there or come later.
    Entry {
        id: u8,
        parent: Option<u8>,
        body: Box<Body>,
    },
    Garbage(Vec<u8>),
    Blank,
}

fn line() -> impl Strategy<Value = Line> {
    let no_break = |mut bytes: Vec<u8>| {
        bytes.retain(|byte| *byte != b'\n');
        Line::Garbage(bytes)
    };
    prop_oneof![
        8 => (0..20_u8, proptest::option::of(0..20_u8), body())
            .prop_map(|(id, parent, body)| Line::Entry { id, parent, body: Box::new(body) }),
        2 => (0..20_u8, 0..20_u8)
            .prop_map(|(id, to)| Line::Entry { id, parent: None, body: Box::new(Body::Leaf { target: Some(name(to)) }) }),
        2 => proptest::collection::vec(any::<u8>(), 1..40).prop_map(no_break),
        1 => Just(Line::Blank),
    ]
}

fn name(number: u8) -> EntryId {
    EntryId::from_bytes([number; 16])
}

fn bytes(line: &Line) -> Vec<u8> {
    match line {
        Line::Entry { id, parent, body } => {
            let parent = parent.map(name);
            let entry = Entry { id: name(*id), parent, time: Timestamp::UNIX_EPOCH, body: (**body).clone() };
            write(&entry, &BlobRefs::new()).unwrap()
        }
        Line::Garbage(bytes) => [bytes.as_slice(), b"\n"].concat(),
        Line::Blank => b"  \n".to_vec(),
    }
}

proptest! {
    #[test]
    fn every_line_is_an_entry_that_a_root_leads_to(lines in proptest::collection::vec(line(), 0..25)) {
        let file: Vec<u8> = lines.iter().flat_map(bytes).collect();
        let mut contents = Contents::default();
        let tail = contents.read_on(&file[..]).unwrap();
        prop_assert!(tail.is_empty());
        prop_assert_eq!(contents.covered, file.len() as u64);
        let spoken: Vec<&[u8]> =
            file.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).collect();
        let places: Vec<&[u8]> = contents
            .places
            .iter()
            .map(|place| &file[place.offset as usize..][..place.length as usize])
            .collect();
        prop_assert_eq!(places, spoken);
        prop_assert_eq!(contents.tree.len(), contents.places.len());
        let leaf = contents.tree.leaf().and_then(|leaf| contents.tree.node(leaf));
        prop_assert!(leaf.is_none_or(|leaf| !leaf.kind.is_aside()));
        for node in contents.tree.nodes() {
            prop_assert_eq!(contents.tree.path(Some(node.id))[0].parent, None);
        }
    }
}
