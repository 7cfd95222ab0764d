//! Where cached prefixes should end: one planner for every model that wants to be told.
//!
//! Up to four marks, most useful first: the tail (the last thing the model is told), the tail of the request before,
//! the end of the org part, the end of the static part; and, where one is left over, a place a few blocks before the
//! tail. The tail is written now and read by the next request. The tail of the request before is marked again because
//! it is where an entry certainly is: Claude searches only some blocks back from a mark, which a batch of many calls
//! exceeds, and models with breakpoints match the places that are marked.
//!
//! It keeps no state. The tail of the request before is read from the conversation: the last thing said before the last
//! answer. So the plan is right after a restart, too.

use mica_ai::model::CacheKind;
use mica_ai::request::{CacheMark, CachePoint, CacheTtl};
use mica_ai::{Message, Request, StopReason};

use crate::measure::Measure;

/// Blocks before the tail at which a left-over mark is put: well within the 20 that Claude searches, so that going back
/// a few messages still finds an entry.
const BEFORE_TAIL: usize = 15;

/// How long the parts before the messages should live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MarkSettings {
    /// For the static and the org part. `Long` costs twice the input price to write on Claude, and pays when a session
    /// pauses for more than five minutes, or when many sessions share the prefix.
    pub prefix: CacheTtl,
}

/// Plans the marks of a request. None for models that cache by themselves or not at all.
pub fn plan(request: &Request, measure: &Measure, settings: MarkSettings) -> Vec<CacheMark> {
    let tail = tail(&request.messages);
    plan_to(request, measure, settings, tail)
}

/// Plans the marks of a request whose tail will not be sent again: the last entry ends at the tail of the request before.
pub fn plan_aside(request: &Request, settings: MarkSettings) -> Vec<CacheMark> {
    plan_to(request, &Measure::of(request), settings, previous_tail(&request.messages))
}

/// The last message that the model is told, by its index.
pub fn tail(messages: &[Message]) -> Option<usize> {
    messages.iter().rposition(|message| !matches!(message, Message::Assistant(_)))
}

/// The tail of the request that the last answer was given to, by its index.
pub fn previous_tail(messages: &[Message]) -> Option<usize> {
    let answer = messages.iter().rposition(|message| match message {
        Message::Assistant(answer) => !matches!(answer.stop, StopReason::Error | StopReason::Aborted),
        Message::User(_) | Message::ToolResult(_) => false,
    })?;
    tail(messages.get(..answer)?)
}

/// A place, in the order of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Tools,
    System(usize),
    Message(usize),
}

fn plan_to(
    request: &Request,
    measure: &Measure,
    settings: MarkSettings,
    tail: Option<usize>,
) -> Vec<CacheMark> {
    let facts = &request.model.cache;
    if !matches!(facts.kind, CacheKind::Marks | CacheKind::Breakpoints) {
        return Vec::new();
    }
    // Estimates are only used to leave out marks that are too early to be cached.
    let until = |place: Place| match place {
        Place::Tools => measure.tools,
        Place::System(part) => measure.until_system(part),
        Place::Message(index) => measure.until_message(index),
    };
    let slots = usize::from(facts.max_marks);
    let mut places: Vec<Place> = Vec::with_capacity(slots);
    let mut add = |place: Option<Place>| {
        if let Some(place) = place
            && places.len() < slots
            && !places.contains(&place)
            && until(place) >= facts.minimum
        {
            places.push(place);
        }
    };
    add(tail.map(Place::Message));
    add(previous_tail(&request.messages).map(Place::Message));
    let parts = request.system.len();
    add(parts.checked_sub(1).map(Place::System));
    add((parts > 1).then_some(Place::System(0)));
    // Tools can carry a mark of their own only on Claude; elsewhere the first one after them covers them.
    add((parts == 0 && facts.kind == CacheKind::Marks && !request.tools.is_empty()).then_some(Place::Tools));
    add(tail.and_then(|tail| before(&request.messages, tail)).map(Place::Message));
    places.sort_unstable();

    let long = settings.prefix == CacheTtl::Long && facts.ttl_minutes.len() > 1;
    places
        .into_iter()
        .filter_map(|place| {
            let (at, long) = match place {
                Place::Tools => (CachePoint::Tools, long),
                Place::System(part) => (CachePoint::System(part), long),
                Place::Message(index) => {
                    (CachePoint::Message(request.messages.get(index)?.id().clone()), false)
                }
            };
            Some(CacheMark { at, ttl: if long { CacheTtl::Long } else { CacheTtl::Short } })
        })
        .collect()
}

/// The earliest message within the given blocks before the tail that can carry a mark everywhere.
fn before(messages: &[Message], tail: usize) -> Option<usize> {
    let mut blocks = 0;
    let mut found = None;
    for index in (0..tail).rev() {
        blocks += blocks_of(messages.get(index + 1)?);
        if blocks > BEFORE_TAIL {
            break;
        }
        if !matches!(messages.get(index)?, Message::Assistant(_)) {
            found = Some(index);
        }
    }
    found
}

/// Blocks that a message has on the wire.
pub fn blocks_of(message: &Message) -> usize {
    match message {
        Message::User(user) => user.content.len(),
        Message::Assistant(answer) => answer.blocks.len(),
        Message::ToolResult(_) => 1,
    }
}

#[cfg(test)]
mod tests;
