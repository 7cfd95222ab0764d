//! The sidecar index: what a session's tree is, so that opening does not read the file again.
//!
//! It is a cache and never the truth. It says which file it is about, up to which length; when that does not fit, when a
//! checksum is wrong or a number makes no sense, it is as if it were not there. A file that has grown since is read from
//! where the index ends.
//!
//! The format is binary and private, in two parts with a checksum each, so that lists read the first part only.

mod bytes;

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;

use crate::contents::{Contents, Digest, Place};
use crate::files::{self, Worth};
use crate::id::EntryId;
use crate::node::{Kind, Link, Node};
use crate::paths;
use crate::tree::Tree;

use bytes::{Reader, Writer, checksum};

/// Names the format. Another one gets another number, and the old ones are then as if they were not there.
const MAGIC: &[u8; 8] = b"micaidx2";

/// A first part that is longer is not read for a list.
const LONGEST_COVER: u64 = 1 << 20;

/// How much of the beginning and of the end of the file the fingerprint takes in.
const SAMPLE: u64 = 4096;

/// The first part of an index: what it is about, and what lists show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cover {
    /// How much of the file it knows.
    pub(crate) covered: u64,
    /// When the file was last changed, in nanoseconds, as the system counts.
    pub(crate) modified: u64,
    fingerprint: u64,
    pub(crate) digest: Digest,
}

/// How an index fits the file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Exactly.
    Whole,
    /// The file has grown since.
    Prefix,
    /// Not at all.
    No,
}

impl Cover {
    /// Compares with a file. Only the ends of the file are read.
    pub(crate) fn fit(&self, file: &File, facts: &Metadata) -> io::Result<Fit> {
        let length = facts.len();
        // A file that was touched without growing was changed by somebody who is not us.
        let stranger = length == self.covered && modified(facts) != self.modified;
        if length < self.covered || stranger || fingerprint(file, self.covered)? != self.fingerprint {
            return Ok(Fit::No);
        }
        Ok(if length == self.covered { Fit::Whole } else { Fit::Prefix })
    }
}

/// When a file was last changed, in nanoseconds.
pub(crate) fn modified(facts: &Metadata) -> u64 {
    let since = facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|since| u64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

fn fingerprint(file: &File, covered: u64) -> io::Result<u64> {
    let mut sample = vec![0; usize::try_from(covered.min(SAMPLE)).unwrap_or(0)];
    crate::source::read_at(file, &mut sample, 0)?;
    let first = checksum(&sample);
    let end = covered - sample.len() as u64;
    crate::source::read_at(file, &mut sample, end)?;
    Ok(first.rotate_left(17) ^ checksum(&sample))
}

/// Writes the index of a file. `facts` are those of the file when it had what `contents` knows.
pub(crate) fn save(
    session: &Path,
    file: &File,
    facts: &Metadata,
    contents: &Contents,
    digest: Digest,
) -> io::Result<()> {
    let fingerprint = fingerprint(file, contents.covered)?;
    let cover = Cover { covered: contents.covered, modified: modified(facts), fingerprint, digest };
    files::replace(&paths::index(session), &encode(&cover, contents), Worth::Cache)
}

/// Reads the index of a session, if there is a sound one.
pub(crate) fn load(session: &Path) -> Option<(Cover, Contents)> {
    let all = std::fs::read(paths::index(session)).ok()?;
    let (cover, rest) = decode_cover(&all)?;
    let contents = decode_nodes(&cover, rest)?;
    Some((cover, contents))
}

/// Reads the first part of the index of a session.
pub(crate) fn load_cover(session: &Path) -> Option<Cover> {
    let mut beginning = Vec::new();
    let file = File::open(paths::index(session)).ok()?;
    // Names and marks are short as a rule: then one read has the first part. One that is far longer is as good as none.
    (&file).take(4096).read_to_end(&mut beginning).ok()?;
    let stated = beginning.get(MAGIC.len()..)?.first_chunk().map(|length| u64::from_le_bytes(*length))?;
    if stated > beginning.len() as u64 && stated <= LONGEST_COVER {
        (&file).take(stated).read_to_end(&mut beginning).ok()?;
    }
    Some(decode_cover(&beginning)?.0)
}

fn encode(cover: &Cover, contents: &Contents) -> Vec<u8> {
    let mut first = Writer::default();
    first.u64(cover.covered);
    first.u64(cover.modified);
    first.u64(cover.fingerprint);
    first.u64(cover.digest.entries);
    first.time(cover.digest.changed);
    first.text(cover.digest.name.as_deref());
    first.text(cover.digest.opening.as_deref());
    first.text(cover.digest.model.as_deref());
    first.u64(cover.digest.turns);
    first.u64(cover.digest.labels.len() as u64);
    for (id, label) in &cover.digest.labels {
        first.id(*id);
        first.text(Some(label));
    }
    let mut second = Writer::default();
    for (node, place) in contents.tree.nodes().iter().zip(&contents.places) {
        second.u64(place.offset);
        second.u32(place.length);
        second.id(node.id);
        // Ids of other entries are written as their places: a fourth of the size, and a parent that is not before its
        // child shows.
        second.place(node.parent.and_then(|parent| contents.tree.position(parent)));
        second.time(node.time);
        second.u8(node.kind as u8);
        match &node.link {
            Link::None => second.u8(0),
            Link::Kept(None) => second.u8(1),
            Link::Kept(Some(first)) => {
                second.u8(2);
                // Not a place: in a file that is wrong it may name what is not there.
                second.id(*first);
            }
            Link::Label(target, label) => {
                second.u8(3);
                second.place(contents.tree.position(*target));
                second.text(label.as_deref());
            }
            Link::Name(name) => {
                second.u8(4);
                second.text(Some(name));
            }
            Link::Leaf(target) => {
                second.u8(5);
                second.place(target.and_then(|target| contents.tree.position(target)));
            }
        }
        second.text(Some(&node.preview));
    }
    let mut all = MAGIC.to_vec();
    first.seal_into(&mut all);
    second.seal_into(&mut all);
    all
}

fn decode_cover(all: &[u8]) -> Option<(Cover, &[u8])> {
    let (mut first, rest) = Reader::unseal(all.strip_prefix(MAGIC)?)?;
    let cover = Cover {
        covered: first.u64()?,
        modified: first.u64()?,
        fingerprint: first.u64()?,
        digest: Digest {
            entries: first.u64()?,
            changed: first.time()?,
            name: first.text()?.map(str::to_owned),
            opening: first.text()?.map(str::to_owned),
            model: first.text()?.map(str::to_owned),
            turns: first.u64()?,
            labels: labels(&mut first)?,
        },
    };
    Some((cover, rest))
}

fn labels(first: &mut Reader<'_>) -> Option<BTreeMap<EntryId, String>> {
    let mut labels = BTreeMap::new();
    for _ in 0..first.u64()? {
        let id = EntryId::from_bytes(first.array()?);
        labels.insert(id, first.text()??.to_owned());
    }
    Some(labels)
}

fn decode_nodes(cover: &Cover, rest: &[u8]) -> Option<Contents> {
    let (mut second, _) = Reader::unseal(rest)?;
    let entries = usize::try_from(cover.digest.entries).ok()?;
    // The checksum was right, so the count is to be trusted as far as the bytes go: an entry has more than 32.
    let capacity = entries.min(second.len() / 32);
    let mut tree = Tree::with_capacity(capacity);
    let mut places = Vec::with_capacity(capacity);
    for _ in 0..entries {
        let place = Place { offset: second.u64()?, length: second.u32()? };
        if place.offset + u64::from(place.length) >= cover.covered {
            return None;
        }
        let id = EntryId::from_bytes(second.array()?);
        let parent = known(&tree, second.place()?)?;
        let time: Timestamp = second.time()?;
        let kind = *Kind::ALL.get(usize::from(second.u8()?))?;
        let link = match second.u8()? {
            0 => Link::None,
            1 => Link::Kept(None),
            2 => Link::Kept(Some(EntryId::from_bytes(second.array()?))),
            3 => {
                let target = known(&tree, second.place()?)??;
                Link::Label(target, second.text()?.map(Box::from))
            }
            4 => Link::Name(second.text()?.map(Box::from)?),
            5 => Link::Leaf(known(&tree, second.place()?)?),
            _ => return None,
        };
        let preview = second.text()?.map(Box::from)?;
        tree.insert(Node { id, parent, time, kind, link, preview }).ok()?;
        places.push(place);
    }
    let model = cover.digest.model.as_deref().map(Box::from);
    Some(Contents::restore(tree, places, cover.covered, model))
}

/// The id at a place. The outer `None` is a place that there is not.
#[allow(clippy::option_option, reason = "there may be no place, and the place may not be there")]
fn known(tree: &Tree, place: Option<usize>) -> Option<Option<EntryId>> {
    match place {
        None => Some(None),
        Some(place) => tree.nodes().get(place).map(|node| Some(node.id)),
    }
}

#[cfg(test)]
mod tests;
