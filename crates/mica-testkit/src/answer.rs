//! What goes back to whoever asks: a head, then bytes in time. The server and the in-process transport play the same
//! answers, so a fault is the same fault on both.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;

use crate::cache::Ticket;
use crate::script::Script;

/// An answer, ready to be played.
#[derive(Debug)]
pub struct Answer {
    /// How it begins.
    pub head: Head,
    /// What follows.
    pub body: Body,
    /// What the cache learns when the answer begins to stream.
    pub(crate) ticket: Option<Ticket>,
}

/// How an answer begins.
#[derive(Debug, Clone)]
pub enum Head {
    /// With a status line.
    Send {
        /// The status.
        status: u16,
        /// The headers.
        headers: HeaderMap,
        /// How long it takes.
        after: Duration,
    },
    /// The connection is reset before the status line.
    Reset,
    /// Nobody listens.
    Refused,
}

/// The bytes of an answer, and how they end.
#[derive(Debug, Clone)]
pub struct Body {
    /// What is sent.
    pub beats: Vec<Beat>,
    /// What comes then.
    pub tail: Tail,
}

impl Body {
    /// Bytes at once, and the end.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { beats: vec![Beat::now(bytes)], tail: Tail::End }
    }

    /// Nothing, and the end.
    pub fn empty() -> Self {
        Self { beats: Vec::new(), tail: Tail::End }
    }
}

/// Bytes that are sent together, after a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beat {
    /// How long to wait before.
    pub delay: Duration,
    /// The bytes. Never empty.
    pub bytes: Bytes,
}

impl Beat {
    /// Bytes without a wait.
    pub fn now(bytes: impl Into<Bytes>) -> Self {
        Self { delay: Duration::ZERO, bytes: bytes.into() }
    }
}

/// How a body ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tail {
    /// In good order.
    End,
    /// As a broken connection.
    Cut,
    /// Not at all.
    Stall,
    /// Not at all, with these bytes again and again.
    Repeat(Beat),
}

/// The next thing that happens on the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes arrive.
    Bytes(Bytes),
    /// The body is complete.
    End,
    /// The connection breaks.
    Cut,
}

/// An answer's body while it is played. All waits are on tokio's clock.
///
/// Dropping it before the end counts as a client that left: see [`Script::abandoned`].
#[derive(Debug)]
pub struct Playback {
    script: Arc<Script>,
    beats: VecDeque<Beat>,
    tail: Tail,
    ticket: Option<Ticket>,
    over: bool,
}

impl Playback {
    pub(crate) fn new(script: Arc<Script>, body: Body, ticket: Option<Ticket>) -> Self {
        Self { script, beats: body.beats.into(), tail: body.tail, ticket, over: false }
    }

    /// Waits for the next thing. Safe to drop while waiting; after `End` or `Cut` it answers the same again.
    pub async fn next(&mut self) -> Piece {
        if let Some(delay) = self.beats.front().map(|beat| beat.delay) {
            wait(delay).await;
            // The provider's cache entry exists from the first streamed byte on.
            if let Some(ticket) = self.ticket.take() {
                self.script.streaming(ticket);
            }
            if let Some(beat) = self.beats.pop_front() {
                return Piece::Bytes(beat.bytes);
            }
        }
        match &self.tail {
            Tail::End => {
                self.over = true;
                Piece::End
            }
            Tail::Cut => {
                self.over = true;
                Piece::Cut
            }
            Tail::Stall => std::future::pending().await,
            Tail::Repeat(beat) => {
                wait(beat.delay).await;
                Piece::Bytes(beat.bytes.clone())
            }
        }
    }
}

impl Drop for Playback {
    fn drop(&mut self) {
        if !self.over && (!self.beats.is_empty() || self.tail != Tail::End) {
            self.script.left();
        }
    }
}

/// Sleeps, unless there is nothing to wait for: a timer of zero would still yield to the clock.
pub(crate) async fn wait(delay: Duration) {
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
}
