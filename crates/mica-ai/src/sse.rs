//! Reads server-sent events from bytes that arrive in any pieces.
//!
//! Promise: how the bytes are cut into pieces makes no difference. Lines may end in LF, CR or CRLF; a leading byte
//! order mark is skipped; comments, `id` and `retry` are ignored, because a model stream is never resumed.
//! An event larger than the limit, or one that is not UTF-8, is an error and not a guess.

use bytes::{Buf, BytesMut};
use memchr::memchr2;

/// An event: its name and its data, the data lines joined by LF.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty when there is none.
    pub name: String,
    /// The `data` field.
    pub data: String,
}

/// Why the bytes are no event stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// An event grew past the limit.
    #[error("an event of the stream is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Bytes that are no text.
    #[error("the stream is not UTF-8 text")]
    NotText,
}

/// Collects bytes and gives out events.
#[derive(Debug)]
pub struct SseReader {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    scanned: usize,
    event: SseEvent,
    has_data: bool,
    /// The event was given out: the next line begins a new one.
    lent: bool,
    at_start: bool,
    /// The last line ended in CR: an LF that follows belongs to it.
    after_cr: bool,
    /// How long the lines of the event are so far, line ends left out.
    size: usize,
    limit: usize,
}

impl Default for SseReader {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

impl SseReader {
    /// 32 MiB: an image a model made fits in one event, a runaway server does not fill the memory.
    pub const DEFAULT_LIMIT: usize = 32 << 20;

    /// A reader that takes events whose lines are up to `limit` bytes long together.
    pub fn new(limit: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            event: SseEvent::default(),
            has_data: false,
            lent: false,
            at_start: true,
            after_cr: false,
            size: 0,
            limit,
        }
    }

    /// Adds bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether an event has begun and not ended.
    pub fn is_inside_event(&self) -> bool {
        self.has_data || (!self.lent && !self.event.name.is_empty()) || !self.buffer.is_empty()
    }

    /// The next whole event, if there is one. The event is lent: it is reused for the next one.
    ///
    /// # Errors
    /// [`SseError`]; the reader is of no use afterwards.
    pub fn next_event(&mut self) -> Result<Option<&SseEvent>, SseError> {
        if self.at_start && !self.skip_mark() {
            return Ok(None);
        }
        if self.lent {
            self.lent = false;
            self.event.data.clear();
            self.event.name.clear();
        }
        loop {
            if self.after_cr && !self.buffer.is_empty() {
                self.after_cr = false;
                if self.buffer[0] == b'\n' {
                    self.buffer.advance(1);
                }
            }
            let Some(found) = memchr2(b'\n', b'\r', &self.buffer[self.scanned..]) else {
                self.scanned = self.buffer.len();
                self.check_size(self.scanned)?;
                return Ok(None);
            };
            let end = self.scanned + found;
            self.scanned = 0;
            let is_cr = self.buffer[end] == b'\r';
            let blank = end == 0;
            if !blank {
                // Before the text is looked at: a line that arrives in pieces is too large before it is anything else.
                self.check_size(end)?;
                self.size += end;
                let line = std::str::from_utf8(&self.buffer[..end]).map_err(|_| SseError::NotText)?;
                Self::take_line(line, &mut self.event, &mut self.has_data);
            }
            self.buffer.advance(end + 1);
            self.after_cr = is_cr;
            if blank {
                self.size = 0;
            }
            if blank && self.has_data {
                self.has_data = false;
                self.lent = true;
                return Ok(Some(&self.event));
            }
            if blank {
                self.event.name.clear();
            }
        }
    }

    /// Whether the event stays within the limit with `more` bytes.
    fn check_size(&self, more: usize) -> Result<(), SseError> {
        if self.size + more > self.limit { Err(SseError::TooLarge { limit: self.limit }) } else { Ok(()) }
    }

    /// Skips a byte order mark. Answers whether the first bytes are in, so that there is nothing more to decide.
    fn skip_mark(&mut self) -> bool {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        if self.buffer.starts_with(MARK) {
            self.buffer.advance(MARK.len());
        } else if self.buffer.is_empty() || (self.buffer.len() < MARK.len() && MARK.starts_with(&self.buffer))
        {
            return false;
        }
        self.at_start = false;
        true
    }

    fn take_line(line: &str, event: &mut SseEvent, has_data: &mut bool) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if *has_data {
                    event.data.push('\n');
                }
                event.data.push_str(value);
                *has_data = true;
            }
            "event" => {
                event.name.clear();
                event.name.push_str(value);
            }
            // Comments (an empty field name), `id`, `retry` and whatever else.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
