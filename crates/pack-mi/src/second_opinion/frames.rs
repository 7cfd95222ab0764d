//! Frames of the protocol: `Content-Length: n`, a blank line, n bytes of JSON.
//!
//! Invariant: memory is bounded by the largest frame, and what is no frame is an error, never skipped: who prints other
//! things there cannot be understood.

use serde_json::Value;

/// Bytes of a message.
const LARGEST: usize = 16 << 20;
/// Bytes of a head.
const HEAD: usize = 4 << 10;

/// What is wrong with what came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    /// The head has no length, or something else in it.
    #[error("it does not speak the protocol (it printed {0:?})")]
    Head(String),
    /// The length is beyond what is read.
    #[error("its message of {0} bytes is too large")]
    Large(usize),
    /// The body is no JSON.
    #[error("its message is no JSON: {0}")]
    Body(String),
}

/// Bytes that came, until they are messages.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    /// The length of the body that is read, and where it begins.
    body: Option<(usize, usize)>,
}

impl Frames {
    /// Takes bytes in.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, when all of it has come.
    pub(super) fn next(&mut self) -> Result<Option<Value>, FrameError> {
        if self.body.is_none() {
            self.body = self.head()?;
        }
        let Some((start, length)) = self.body else { return Ok(None) };
        let Some(body) = self.bytes.get(start..start + length) else { return Ok(None) };
        let message = serde_json::from_slice(body).map_err(|error| FrameError::Body(error.to_string()))?;
        self.bytes.drain(..start + length);
        self.body = None;
        Ok(Some(message))
    }

    fn head(&self) -> Result<Option<(usize, usize)>, FrameError> {
        let bad = || {
            let shown = self.bytes.get(..self.bytes.len().min(80)).unwrap_or_default();
            FrameError::Head(String::from_utf8_lossy(shown).into_owned())
        };
        let Some(end) = self.bytes.windows(4).take(HEAD).position(|part| part == b"\r\n\r\n") else {
            // What cannot become a head any more is told at once.
            let begins = b"Content-";
            let first = self.bytes.get(..self.bytes.len().min(begins.len())).unwrap_or_default();
            let is_head = first.eq_ignore_ascii_case(begins.get(..first.len()).unwrap_or_default());
            return if is_head && self.bytes.len() < HEAD { Ok(None) } else { Err(bad()) };
        };
        let head = std::str::from_utf8(self.bytes.get(..end).unwrap_or_default()).map_err(|_| bad())?;
        let mut length = None;
        for line in head.split("\r\n") {
            let (name, value) = line.split_once(':').ok_or_else(bad)?;
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse::<usize>().map_err(|_| bad())?);
            }
        }
        match length {
            Some(length) if length > LARGEST => Err(FrameError::Large(length)),
            Some(length) => Ok(Some((end + 4, length))),
            None => Err(bad()),
        }
    }
}

/// A message in its frame.
pub(super) fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_found_however_they_are_cut() {
        let messages = [json!({"a": "ä"}), json!({"b": [1, 2]}), json!(null)];
        let all: Vec<u8> = messages.iter().flat_map(framed).collect();
        for size in 1..all.len() {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for piece in all.chunks(size) {
                frames.push(piece);
                while let Some(message) = frames.next().unwrap() {
                    found.push(message);
                }
            }
            assert_eq!(found, messages, "{size}");
        }
    }

    #[test]
    fn what_is_no_frame_is_told() {
        for (bytes, expected) in [
            (&b"Starting server...\n"[..], FrameError::Head("Starting server...\n".to_owned())),
            (b"Content-Length: x\r\n\r\n{}", FrameError::Head("Content-Length: x\r\n\r\n{}".to_owned())),
            (b"Content-Type: a\r\n\r\n{}", FrameError::Head("Content-Type: a\r\n\r\n{}".to_owned())),
            (b"Content-Length: 99999999\r\n\r\n", FrameError::Large(99_999_999)),
        ] {
            let mut frames = Frames::default();
            frames.push(bytes);
            assert_eq!(frames.next(), Err(expected));
        }
        let mut frames = Frames::default();
        frames.push(b"Content-Length: 2\r\n\r\n{x");
        assert!(matches!(frames.next(), Err(FrameError::Body(_))));
        let mut frames = Frames::default();
        frames.push(b"Content-Len");
        assert_eq!(frames.next(), Ok(None));
        frames.push(&[b'x'; 5_000]);
        assert!(frames.next().is_err());
    }
}
