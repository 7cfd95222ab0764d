//! Why a request read less from the cache than it might have.

use std::fmt;
use std::time::Duration;

use mica_ai::model::{CacheFacts, CacheKind};

use super::{CacheSim, Covered, Found, Prompt, Shape, Tier};

/// Why a request read what it read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Everything that an earlier request had left was read.
    Hit,
    /// The model has no cache, as far as is known.
    NoCache,
    /// The first request to this model.
    FirstRequest,
    /// The request carries no mark, and only marks cache.
    NoMark,
    /// The prefix is shorter than the provider caches.
    BelowMinimum,
    /// A block differs from the nearest earlier request. What comes before it may have been read.
    Changed {
        /// Its index, counted over tools, system and messages.
        block: usize,
        /// What it is.
        tier: Tier,
    },
    /// How tools are chosen or how the model thinks differs, which costs the messages.
    ChangedSettings,
    /// The entry lived too long ago.
    Expired,
    /// The request that writes the entry has not begun to stream.
    NotStreaming,
    /// The entry is there, and no mark of this request is near enough to find it.
    OutOfLookback,
    /// The same prefix was sent under another routing key.
    OtherKey,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Hit => f.write_str("hit"),
            Reason::NoCache => f.write_str("no cache"),
            Reason::FirstRequest => f.write_str("first request"),
            Reason::NoMark => f.write_str("no mark"),
            Reason::BelowMinimum => f.write_str("below the minimum"),
            Reason::Changed { block, tier } => write!(f, "changed block {block} ({tier})"),
            Reason::ChangedSettings => f.write_str("changed settings"),
            Reason::Expired => f.write_str("expired"),
            Reason::NotStreaming => f.write_str("not streaming yet"),
            Reason::OutOfLookback => f.write_str("no mark in lookback"),
            Reason::OtherKey => f.write_str("other key"),
        }
    }
}

/// What is kept of a request to explain the misses of later ones.
#[derive(Debug)]
pub(super) struct Past {
    model: String,
    shard: u64,
    settings: String,
    digests: Vec<u64>,
    covered: Option<Covered>,
}

impl Past {
    pub(super) fn new(prompt: &Prompt, shape: &Shape, covered: Option<Covered>) -> Self {
        Self {
            model: prompt.model.clone(),
            shard: shape.shard,
            settings: prompt.settings.clone(),
            digests: shape.digests.clone(),
            covered,
        }
    }

    fn common(&self, shape: &Shape) -> usize {
        self.digests.iter().zip(&shape.digests).take_while(|(left, right)| left == right).count()
    }
}

impl CacheSim {
    pub(super) fn reason(
        &self,
        prompt: &Prompt,
        shape: &Shape,
        facts: &CacheFacts,
        found: &Found,
        now: Duration,
    ) -> Reason {
        if facts.kind == CacheKind::None {
            return Reason::NoCache;
        }
        if facts.kind == CacheKind::Marks && prompt.blocks.iter().all(|block| block.mark.is_none()) {
            return Reason::NoMark;
        }
        if found.read == 0 && found.covered.is_none() {
            return Reason::BelowMinimum;
        }
        // The nearest earlier request, the newest of equals.
        let nearest = |same_shard: bool| {
            self.past
                .iter()
                .filter(|past| past.model == prompt.model && (past.shard == shape.shard) == same_shard)
                .filter_map(|past| past.covered.map(|covered| (past.common(shape), past, covered)))
                .max_by_key(|(common, _, _)| *common)
        };
        let Some((common, past, covered)) = nearest(true) else {
            let elsewhere = nearest(false).is_some_and(|(common, _, _)| common > 0);
            return if elsewhere { Reason::OtherKey } else { Reason::FirstRequest };
        };
        if found.read >= covered.tokens && common >= covered.blocks {
            return Reason::Hit;
        }
        if common < covered.blocks {
            let tier = prompt.blocks.get(common).map_or(Tier::Message, |block| block.tier);
            return Reason::Changed { block: common, tier };
        }
        if past.settings != prompt.settings {
            return Reason::ChangedSettings;
        }
        match self.entries.get(&covered.hash) {
            Some(entry) if entry.expires > now => Reason::OutOfLookback,
            None if self.unstarted.contains(&covered.hash) => Reason::NotStreaming,
            // Expired, and perhaps swept out since.
            Some(_) | None => Reason::Expired,
        }
    }
}
