//! What was sent, in segments with fingerprints, and why the cache gave back less of it than it should have.
//!
//! The expectation needs no estimate: everything that the request before sent ends at a mark, and its provider counted
//! it. So the next request should read that much. When it reads less, the two requests are compared.

use std::fmt;
use std::time::{Duration, SystemTime};

use mica_ai::Request;
use mica_ai::Usage;
use mica_ai::id::MessageId;
use mica_ai::model::{CacheFacts, CacheKind};
use mica_ai::request::CachePoint;
use serde::Serialize;

use crate::breakpoints;
use crate::digest::Digest;
use crate::measure::Measure;

/// The part of a request that a mark ends, or that would end one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "segment", rename_all = "snake_case")]
pub enum Name {
    /// The tools.
    Tools,
    /// The static part of the system prompt.
    Static,
    /// The org part of the system prompt, and any further one.
    Org,
    /// Messages, up to and with one.
    Messages {
        /// The last of them.
        through: MessageId,
    },
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Tools => f.write_str("tools"),
            Name::Static => f.write_str("static sections"),
            Name::Org => f.write_str("org sections"),
            Name::Messages { through } => write!(f, "messages up to {through}"),
        }
    }
}

/// A segment of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// What it is.
    #[serde(flatten)]
    pub name: Name,
    /// The fingerprint of what is in it.
    pub digest: Digest,
    /// Its size, as estimated.
    pub tokens: u64,
}

/// What is kept of a request to explain the next one.
#[derive(Debug, Clone)]
pub struct Sent {
    /// When it was sent.
    pub at: SystemTime,
    /// Its segments, in order.
    pub segments: Vec<Segment>,
    model: Digest,
    settings: Digest,
    messages: Vec<(MessageId, Digest)>,
    /// Blocks of each message.
    blocks: Vec<usize>,
    /// The messages that carry a mark, by their index.
    marked: Vec<usize>,
    /// The last thing the model was told, by its index.
    tail: Option<usize>,
}

impl Sent {
    /// What is kept of a request.
    pub fn new(request: &Request, measure: &Measure, at: SystemTime) -> Self {
        let messages: Vec<(MessageId, Digest)> = request
            .messages
            .iter()
            .zip(&measure.digests)
            .map(|(message, digest)| (message.id().clone(), *digest))
            .collect();
        let marked = messages
            .iter()
            .enumerate()
            .filter_map(|(at, (id, _))| is_marked(request, id).then_some(at))
            .collect();
        Self {
            at,
            segments: segments(request, measure, &messages),
            model: Digest::of(&request.model.deployment).and(request.model.dialect.name().as_bytes()),
            settings: Digest::of_value(&(&request.tool_choice, &request.effort, &request.cache.key)),
            messages,
            blocks: request.messages.iter().map(breakpoints::blocks_of).collect(),
            marked,
            tail: breakpoints::tail(&request.messages),
        }
    }

    /// Another model, or another endpoint, is asked from now on: no cache has what was sent.
    pub(crate) fn forget_model(&mut self) {
        self.model = Digest::of("another model");
    }

    /// Whether a mark of this request searches back to a message.
    fn reaches(&self, message: usize, lookback: usize) -> bool {
        self.marked.iter().filter(|mark| **mark >= message).any(|mark| {
            let between: usize = self.blocks.get(message + 1..=*mark).unwrap_or_default().iter().sum();
            between < lookback
        })
    }

    /// The segment a message is in, by its index.
    fn segment_of(&self, message: usize) -> Option<usize> {
        let mut from = 0;
        for (index, segment) in self.segments.iter().enumerate() {
            if let Name::Messages { through } = &segment.name {
                let to = self.messages.iter().position(|(id, _)| id == through)?;
                if (from..=to).contains(&message) {
                    return Some(index);
                }
                from = to + 1;
            }
        }
        None
    }
}

fn is_marked(request: &Request, message: &MessageId) -> bool {
    request.cache.marks.iter().any(|mark| matches!(&mark.at, CachePoint::Message(id) if id == message))
}

fn segments(request: &Request, measure: &Measure, messages: &[(MessageId, Digest)]) -> Vec<Segment> {
    let mut segments = Vec::new();
    if !request.tools.is_empty() {
        let tokens = measure.tools;
        segments.push(Segment { name: Name::Tools, digest: measure.tools_digest, tokens });
    }
    for (index, digest) in measure.system_digests.iter().enumerate() {
        let name = if index == 0 { Name::Static } else { Name::Org };
        segments.push(Segment {
            name,
            digest: *digest,
            tokens: measure.system.get(index).copied().unwrap_or(0),
        });
    }
    let mut open = (Digest::EMPTY, 0, 0);
    for (index, (id, digest)) in messages.iter().enumerate() {
        open.0 = open.0.then(*digest);
        open.1 += measure.messages.get(index).copied().unwrap_or(0);
        open.2 += 1;
        if (is_marked(request, id) || index + 1 == messages.len()) && open.2 > 0 {
            let name = Name::Messages { through: id.clone() };
            segments.push(Segment { name, digest: open.0, tokens: open.1 });
            open = (Digest::EMPTY, 0, 0);
        }
    }
    segments
}

/// Why less was read from the cache than was sent before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// Nothing was sent before.
    FirstRequest,
    /// Another model, which has a cache of its own.
    ModelChanged,
    /// The window was changed on purpose.
    Rewritten {
        /// How: `compaction` or `pruning`.
        by: String,
    },
    /// A segment is not what it was.
    Changed {
        /// Its number in the request before, from 0.
        index: usize,
        /// Which.
        segment: Name,
        /// The first message that is not what it was, when it is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<MessageId>,
    },
    /// How tools are chosen, how hard to think, or the cache key changed.
    SettingsChanged,
    /// The request before was too small to be cached.
    BelowMinimum {
        /// What is cached at least.
        minimum: u64,
    },
    /// The request before did not mark its end.
    NotMarked,
    /// No mark was near enough to the end of the request before to find it.
    OutOfReach {
        /// Blocks that are searched.
        lookback: u16,
    },
    /// Entries do not live that long.
    Expired {
        /// Seconds since the request before.
        elapsed: u64,
        /// Seconds that an entry lives.
        ttl: u64,
    },
    /// The provider reports no cache at all, so nothing is known.
    NotReported,
    /// Everything is as it was: the provider let go of the entry, or another machine answered.
    Unexplained,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::FirstRequest => f.write_str("nothing was sent before"),
            Reason::ModelChanged => f.write_str("the model changed, and each has a cache of its own"),
            Reason::Rewritten { by } => write!(f, "the window was changed by {by}"),
            Reason::Changed { index, segment, from: None } => {
                write!(f, "segment {index} changed ({segment})")
            }
            Reason::Changed { index, segment, from: Some(id) } => {
                write!(f, "segment {index} changed ({segment}), from message {id} on")
            }
            Reason::SettingsChanged => {
                f.write_str("the choice of tools, the effort or the cache key changed")
            }
            Reason::BelowMinimum { minimum } => {
                write!(f, "less than the {minimum} tokens that are cached at least")
            }
            Reason::NotMarked => f.write_str("the request before did not mark its end"),
            Reason::OutOfReach { lookback } => {
                write!(f, "no mark within {lookback} blocks of where the request before ended")
            }
            Reason::Expired { elapsed, ttl } => {
                write!(f, "the entry expired: it lives {ttl} s, and {elapsed} s passed")
            }
            Reason::NotReported => f.write_str("the provider reports no cache"),
            Reason::Unexplained => {
                f.write_str("nothing changed: the provider let go of the entry, or another machine answered")
            }
        }
    }
}

/// What an answer read from the cache, against what it should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheCheck {
    /// Tokens that the request before left in the cache.
    pub expected: u64,
    /// Tokens that were read.
    pub read: u64,
    /// Why it is less. `None` when it is not, within the tolerance.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

impl CacheCheck {
    /// Tokens that were paid for again.
    pub fn shortfall(&self) -> u64 {
        self.expected.saturating_sub(self.read)
    }

    /// Whether a person should hear of it.
    pub fn is_miss(&self) -> bool {
        self.reason.is_some() && self.shortfall() > tolerance(self.expected)
    }
}

/// Providers round: to steps of 128 tokens, and by a few tokens around a mark.
fn tolerance(expected: u64) -> u64 {
    (expected / 50).max(256)
}

/// Compares what was read with what should have been.
pub fn check(
    previous: Option<(&Sent, &Usage)>,
    sent: &Sent,
    usage: &Usage,
    facts: &CacheFacts,
    rewritten: Option<&str>,
) -> CacheCheck {
    let read = usage.cache_read;
    let Some((before, counted)) = previous else {
        return CacheCheck { expected: 0, read, reason: Some(Reason::FirstRequest) };
    };
    let expected = if facts.kind == CacheKind::None { 0 } else { counted.input };
    let mut check = CacheCheck { expected, read, reason: None };
    if check.shortfall() > tolerance(expected) {
        check.reason = Some(why(before, counted, sent, usage, facts, rewritten));
    }
    check
}

fn why(
    before: &Sent,
    counted: &Usage,
    sent: &Sent,
    usage: &Usage,
    facts: &CacheFacts,
    rewritten: Option<&str>,
) -> Reason {
    if before.model != sent.model {
        return Reason::ModelChanged;
    }
    if let Some(changed) = changed(before, sent) {
        let in_messages = matches!(changed, Reason::Changed { segment: Name::Messages { .. }, .. });
        return match rewritten {
            Some(by) if in_messages => Reason::Rewritten { by: by.to_owned() },
            _ => changed,
        };
    }
    if before.settings != sent.settings {
        return Reason::SettingsChanged;
    }
    if counted.input < facts.minimum {
        return Reason::BelowMinimum { minimum: facts.minimum };
    }
    if facts.kind == CacheKind::Marks {
        let Some(tail) = before.tail.filter(|tail| before.marked.contains(tail)) else {
            return Reason::NotMarked;
        };
        if facts.lookback > 0 && !sent.reaches(tail, usize::from(facts.lookback)) {
            return Reason::OutOfReach { lookback: facts.lookback };
        }
    }
    let elapsed = sent.at.duration_since(before.at).unwrap_or(Duration::ZERO).as_secs();
    let ttl = u64::from(facts.ttl_minutes.first().copied().unwrap_or(5)) * 60;
    if elapsed > ttl {
        return Reason::Expired { elapsed, ttl };
    }
    let paid = matches!(facts.kind, CacheKind::Marks | CacheKind::Breakpoints);
    let silent = |usage: &Usage| usage.cache_read == 0 && usage.cache_write == 0;
    if paid && silent(counted) && silent(usage) {
        return Reason::NotReported;
    }
    Reason::Unexplained
}

/// The first segment of the request before that this one does not begin with.
fn changed(before: &Sent, sent: &Sent) -> Option<Reason> {
    let fixed = |sent: &Sent| -> Vec<Segment> {
        let is_fixed = |segment: &&Segment| !matches!(segment.name, Name::Messages { .. });
        sent.segments.iter().filter(is_fixed).cloned().collect()
    };
    let (old, new) = (fixed(before), fixed(sent));
    for index in 0..old.len().max(new.len()) {
        if old.get(index) != new.get(index) {
            let segment = old.get(index).or(new.get(index))?.name.clone();
            return Some(Reason::Changed { index, segment, from: None });
        }
    }
    let at = before
        .messages
        .iter()
        .enumerate()
        .find(|(index, message)| sent.messages.get(*index) != Some(message))
        .map(|(index, _)| index)?;
    let index = before.segment_of(at)?;
    let segment = before.segments.get(index)?.name.clone();
    Some(Reason::Changed { index, segment, from: before.messages.get(at).map(|(id, _)| id.clone()) })
}

#[cfg(test)]
mod tests;
