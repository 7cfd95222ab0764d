//! The events of a Messages stream, as far as they are read.
//!
//! Text borrows from the event wherever it holds no escapes, because a long answer is tens of thousands of these.
//! Every member may be missing or null; members and types that are not named here are skipped without being built.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::usage::Usage;

/// A text that borrows. A type of its own, because an optional `Cow` would be copied.
#[derive(Debug, Deserialize)]
pub(super) struct Str<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What every event, block and delta begins with, and whether it reports an error.
#[derive(Debug, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) error: Option<IgnoredAny>,
}

/// `message_start`.
#[derive(Debug, Deserialize)]
pub(super) struct MessageStart<'a> {
    #[serde(borrow)]
    pub(super) message: Option<MessageHead<'a>>,
}

/// The message a stream begins with.
#[derive(Debug, Deserialize)]
pub(super) struct MessageHead<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    pub(super) usage: Option<Tokens>,
}

/// `content_block_start`, before it is known whether the block is of a kind we read.
#[derive(Debug, Deserialize)]
pub(super) struct BlockHead<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content_block: Option<Head<'a>>,
}

/// `content_block_start` of a block that we read.
#[derive(Debug, Deserialize)]
pub(super) struct BlockStart<'a> {
    #[serde(borrow)]
    pub(super) content_block: BlockBody<'a>,
}

/// A block as it stands when it opens: usually empty.
#[derive(Debug, Deserialize)]
pub(super) struct BlockBody<'a> {
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    pub(super) input: Option<Value>,
}

/// `content_block_delta`.
#[derive(Debug, Deserialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
}

/// What is new in a block.
#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) partial_json: Option<Str<'a>>,
}

/// `content_block_delta`, read for its delta's kind alone.
#[derive(Debug, Deserialize)]
pub(super) struct DeltaHead<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<Head<'a>>,
}

/// `content_block_stop`.
#[derive(Debug, Deserialize)]
pub(super) struct BlockStop {
    pub(super) index: Option<u64>,
}

/// `message_delta`.
#[derive(Debug, Deserialize)]
pub(super) struct MessageDelta<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<Ending<'a>>,
    pub(super) usage: Option<Tokens>,
}

/// Why an answer ends.
#[derive(Debug, Deserialize)]
pub(super) struct Ending<'a> {
    #[serde(borrow)]
    pub(super) stop_reason: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) stop_sequence: Option<Str<'a>>,
    pub(super) stop_details: Option<Value>,
}

impl Ending<'_> {
    /// What the provider says about a refusal: its category, its explanation, or both.
    pub(super) fn refusal(&self) -> Option<String> {
        let said = |member: &str| {
            let text = self.stop_details.as_ref()?.get(member)?.as_str()?.trim();
            (!text.is_empty()).then_some(text)
        };
        match (said("category"), said("explanation")) {
            (Some(category), Some(explanation)) => Some(format!("{category}: {explanation}")),
            (one, other) => one.or(other).map(str::to_owned),
        }
    }
}

/// The token counts of a message. Cumulative; a count that is absent has not changed.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
}

/// Cache writes by how long they live.
#[derive(Debug, Deserialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: Option<u64>,
    ephemeral_1h_input_tokens: Option<u64>,
}

/// What output tokens went into.
#[derive(Debug, Deserialize)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
    #[serde(alias = "reasoning")]
    reasoning_tokens: Option<u64>,
}

impl Tokens {
    /// Takes over the counts that a later event gives.
    pub(super) fn update(&mut self, newer: Tokens) {
        fn keep<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        keep(&mut self.input_tokens, newer.input_tokens);
        keep(&mut self.cache_creation_input_tokens, newer.cache_creation_input_tokens);
        keep(&mut self.cache_read_input_tokens, newer.cache_read_input_tokens);
        keep(&mut self.cache_creation, newer.cache_creation);
        keep(&mut self.output_tokens, newer.output_tokens);
        keep(&mut self.output_tokens_details, newer.output_tokens_details);
    }

    /// The counts as mica counts: this wire's `input_tokens` is only what the cache had no part in.
    pub(super) fn usage(&self) -> Usage {
        let (short, long) = self.cache_creation.as_ref().map_or((0, 0), |written| {
            (written.ephemeral_5m_input_tokens.unwrap_or(0), written.ephemeral_1h_input_tokens.unwrap_or(0))
        });
        let cache_write = self.cache_creation_input_tokens.unwrap_or(short.saturating_add(long));
        let cache_read = self.cache_read_input_tokens.unwrap_or(0);
        let output = self.output_tokens.unwrap_or(0);
        let reasoning = self
            .output_tokens_details
            .as_ref()
            .and_then(|details| details.thinking_tokens.or(details.reasoning_tokens))
            .unwrap_or(0);
        Usage {
            input: self.input_tokens.unwrap_or(0).saturating_add(cache_write).saturating_add(cache_read),
            cache_read,
            cache_write,
            cache_write_long: long.min(cache_write),
            output,
            reasoning: reasoning.min(output),
            cost: None,
        }
    }
}
