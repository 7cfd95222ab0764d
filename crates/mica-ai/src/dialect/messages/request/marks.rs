//! Puts cache marks exactly where the caller wants them, or refuses.
//!
//! A point whose block is gone (an empty part of the system prompt, a message that normalisation dropped) moves to
//! the last block before it: the prefix that ends there is the one the caller meant, less what is not sent. A plan
//! that the provider would refuse is refused here, with what to change.

use std::collections::BTreeMap;

use super::conversation::{Conversation, Place};
use super::{System, bad};
use crate::dialect::json::{Json, object};
use crate::error::AiError;
use crate::model::CacheKind;
use crate::request::{CachePoint, CacheTtl, Request};

/// Minutes that a long-lived entry lives.
const LONG_MINUTES: u32 = 60;

/// A block that carries a mark. Ordered as in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Tool(usize),
    System(usize),
    Message(Place),
}

/// The marks of a request, by the block that carries them.
#[derive(Debug, Default)]
pub(super) struct Marks(BTreeMap<Spot, CacheTtl>);

impl Marks {
    /// Finds the block of each mark.
    ///
    /// # Errors
    /// [`AiError::BadRequest`] when there are too many marks, when one names something that is not in the request,
    /// or when a short-lived one comes before a long-lived one.
    pub(super) fn plan(
        request: &Request,
        tools: &[Json<'_>],
        system: &System<'_>,
        conversation: &Conversation<'_>,
    ) -> Result<Self, AiError> {
        let facts = &request.model.cache;
        if facts.kind != CacheKind::Marks {
            return Ok(Self::default());
        }
        let marks = &request.cache.marks;
        if marks.len() > usize::from(facts.max_marks) {
            return Err(bad(format!(
                "the cache plan has {} marks, and {} takes at most {}: leave some out",
                marks.len(),
                request.model.id,
                facts.max_marks,
            )));
        }
        let long_exists =
            facts.ttl_minutes.is_empty() || facts.ttl_minutes.iter().any(|ttl| *ttl >= LONG_MINUTES);
        let mut spots = BTreeMap::new();
        for mark in marks {
            let Some(spot) = find(&mark.at, request, tools, system, conversation)? else { continue };
            let ttl = if long_exists { mark.ttl } else { CacheTtl::Short };
            let held = spots.entry(spot).or_insert(ttl);
            // Two points that moved to one block: the longer wish covers both.
            if ttl == CacheTtl::Long {
                *held = ttl;
            }
        }
        let mut after_short = spots.values().skip_while(|ttl| **ttl == CacheTtl::Long);
        if after_short.any(|ttl| *ttl == CacheTtl::Long) {
            return Err(bad(
                "the cache plan has a short-lived mark before a long-lived one: put the long-lived marks first, in \
                 the order tools, system, messages, or make the later ones short-lived",
            ));
        }
        Ok(Self(spots))
    }

    /// Puts the marks on their blocks.
    pub(super) fn apply<'a>(
        self,
        tools: &mut [Json<'a>],
        system: &mut [Json<'a>],
        conversation: &mut Conversation<'a>,
    ) {
        for (spot, ttl) in self.0 {
            let block = match spot {
                Spot::Tool(index) => tools.get_mut(index),
                Spot::System(index) => system.get_mut(index),
                Spot::Message(place) => conversation.block_mut(place),
            };
            if let Some(block) = block {
                let mark = match ttl {
                    CacheTtl::Short => object!({ "type": "ephemeral" }),
                    CacheTtl::Long => object!({ "type": "ephemeral", "ttl": "1h" }),
                };
                block.put("cache_control", mark);
            }
        }
    }
}

/// The block a point falls on: its own, or the last one before it. `None` when nothing comes before it.
fn find(
    point: &CachePoint,
    request: &Request,
    tools: &[Json<'_>],
    system: &System<'_>,
    conversation: &Conversation<'_>,
) -> Result<Option<Spot>, AiError> {
    let after_tools = tools.len().checked_sub(1).map(Spot::Tool);
    match point {
        CachePoint::Tools => Ok(after_tools),
        CachePoint::System(part) => match system.ends.get(*part) {
            Some(end) => Ok(end.map(Spot::System).or(after_tools)),
            None => Err(bad(format!(
                "a cache mark is on part {part} of the system prompt, which has {} parts: count from 0",
                system.ends.len()
            ))),
        },
        CachePoint::Message(id) => {
            let Some(at) = request.messages.iter().position(|message| message.id() == id) else {
                return Err(bad(format!(
                    "a cache mark is on message {id}, which is not in the request: use the id of one that is"
                )));
            };
            let spot = request.messages[..=at]
                .iter()
                .rev()
                .find_map(|message| conversation.end_of(message.id()))
                .map(Spot::Message);
            let after_system = system.blocks.len().checked_sub(1).map(Spot::System);
            Ok(spot.or(after_system).or(after_tools))
        }
    }
}
