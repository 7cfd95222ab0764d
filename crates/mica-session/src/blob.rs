//! Large payloads outside the log: by their SHA-256, in a folder beside the session.
//!
//! Promise: what was taken out is put back byte for byte. A line that refers to blobs lists where, so a text that merely
//! looks like a reference is left alone. A blob that is missing or damaged becomes a text that says so.

use std::path::Path;

use mica_ai::Message;
use mica_ai::message::{Block, Content, Image, ImageSource};
use sha2::{Digest, Sha256};

use crate::error::SessionError;
use crate::files;
use crate::line::BlobRefs;
use crate::paths::hex;

/// From which size on payloads are kept outside the log, and how long a line may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Images of more bytes, as base64, are kept outside. Most screenshots are; icons are not worth a file.
    pub image: usize,
    /// Texts of users and tools of more bytes are kept outside. What tools print is cut below this as a rule.
    pub text: usize,
    /// A line of more bytes is refused. Reading one takes a few times its size in memory.
    pub line: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { image: 16 * 1024, text: 64 * 1024, line: 64 * 1024 * 1024 }
    }
}

/// A payload on its way out of a message.
pub(crate) struct Blob {
    pub(crate) hash: String,
    pub(crate) bytes: Vec<u8>,
}

const PREFIX: &str = "blob:";

/// Takes large payloads out of a message. Where they were, it says `blob:` and the hash.
pub(crate) fn take_out(message: &mut Message, limits: Limits) -> (BlobRefs, Vec<Blob>) {
    let mut refs = BlobRefs::new();
    let mut blobs = Vec::new();
    for (pointer, slot) in slots(message) {
        let (text, limit) = match &slot {
            Slot::Text(text) => (text.as_str(), limits.text),
            Slot::Image(image) => match &image.source {
                ImageSource::Base64(data) => (&**data, limits.image),
                ImageSource::Url(_) => continue,
            },
        };
        if text.len() <= limit {
            continue;
        }
        let hash = hash(text.as_bytes());
        blobs.push(Blob { hash: hash.clone(), bytes: text.as_bytes().to_vec() });
        slot.fill(&format!("{PREFIX}{hash}"));
        refs.insert(pointer, hash);
    }
    (refs, blobs)
}

/// Puts payloads back. Answers the hashes of those that are not there or not what they were.
pub(crate) fn put_back(message: &mut Message, refs: &BlobRefs, folder: &Path) -> Vec<String> {
    let mut lost = Vec::new();
    let mut lost_images = Vec::new();
    for (pointer, slot) in slots(message) {
        let Some(expected) = refs.get(&pointer) else { continue };
        let found = is_hash(expected).then(|| std::fs::read(folder.join(expected)).ok()).flatten();
        match found.filter(|bytes| hash(bytes) == *expected).and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => slot.fill(&text),
            None => {
                lost.push(expected.clone());
                match slot {
                    Slot::Text(text) => *text = placeholder("text", expected),
                    Slot::Image(_) => lost_images.push((pointer, expected.clone())),
                }
            }
        }
    }
    for (pointer, hash) in &lost_images {
        replace_image(message, pointer, hash);
    }
    lost
}

/// Keeps a payload. One that is there already is not written again.
pub(crate) fn keep(folder: &Path, blob: &Blob) -> Result<(), SessionError> {
    let path = folder.join(&blob.hash);
    if path.exists() {
        return Ok(());
    }
    files::make_folder(folder).map_err(SessionError::io("make", folder))?;
    // Blobs are rare and the line that needs one may be made durable by a later append, so they are durable at once.
    files::replace(&path, &blob.bytes, files::Worth::Truth).map_err(SessionError::io("write", &path))
}

/// A hash in a file is somebody's text until it is seen to be one: it must not name another folder.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn placeholder(what: &str, hash: &str) -> String {
    format!("[This {what} is not there any more: blob {hash} is missing or damaged.]")
}

/// A place in a message that may be kept outside.
enum Slot<'a> {
    Text(&'a mut String),
    Image(&'a mut Image),
}

impl Slot<'_> {
    fn fill(self, text: &str) {
        match self {
            Slot::Text(place) => text.clone_into(place),
            Slot::Image(image) => image.source = ImageSource::Base64(text.into()),
        }
    }
}

/// The places that may be kept outside, by their JSON pointers into the line.
fn slots(message: &mut Message) -> Vec<(String, Slot<'_>)> {
    let of_content = |(number, piece)| match piece {
        &mut Content::Text { ref mut text } => (format!("/message/content/{number}/text"), Slot::Text(text)),
        Content::Image(image) => (format!("/message/content/{number}/source/base64"), Slot::Image(image)),
    };
    match message {
        Message::User(user) => user.content.iter_mut().enumerate().map(of_content).collect(),
        Message::ToolResult(result) => result.content.iter_mut().enumerate().map(of_content).collect(),
        Message::Assistant(answer) => {
            let blocks = answer.blocks.iter_mut().enumerate();
            let images = blocks.filter_map(|(number, block)| match block {
                Block::Image(image) => {
                    Some((format!("/message/blocks/{number}/source/base64"), Slot::Image(image)))
                }
                _ => None,
            });
            images.collect()
        }
    }
}

/// An image that is lost becomes a text, since a provider would refuse an image that is none.
fn replace_image(message: &mut Message, pointer: &str, hash: &str) {
    let number = pointer.split('/').nth(3).and_then(|number| number.parse::<usize>().ok());
    let text = placeholder("image", hash);
    let Some(number) = number else { return };
    match message {
        Message::User(mica_ai::User { content, .. })
        | Message::ToolResult(mica_ai::ToolResult { content, .. }) => {
            if let Some(piece) = content.get_mut(number) {
                *piece = Content::text(text);
            }
        }
        Message::Assistant(answer) => {
            if let Some(block) = answer.blocks.get_mut(number) {
                *block = Block::Text(mica_ai::message::Text { text, ..Default::default() });
            }
        }
    }
}

#[cfg(test)]
mod tests;
