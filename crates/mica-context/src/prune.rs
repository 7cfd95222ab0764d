//! Pruning: old tool results give way to a line, when that pays.
//!
//! It costs no model call and loses no words of anybody, so it is tried before compaction. It is not free: what stands
//! behind the first pruned result has to be written to the cache again. So it is decided by prices, against what the
//! freed tokens would cost to read in the turns to come; and when the cache is cold anyway, it costs nothing.

use mica_ai::id::MessageId;
use mica_ai::model::{CacheKind, Model};
use mica_ai::{Content, Message, StopReason, ToolResult};
use serde::{Deserialize, Serialize};

use crate::spill;
use crate::tokens::{self, Scale};

/// How pruning is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PruneSettings {
    /// Tokens of the newest results that are never touched.
    pub keep_results: u64,
    /// The same for small windows, as a share of what may be filled, in percent. The smaller of the two counts.
    pub keep_percent: u64,
    /// Results of fewer tokens stay: the line would take as much.
    pub smallest: u64,
}

impl Default for PruneSettings {
    /// 40,000 tokens of results are what a model still works with, after a few files and searches; what is older was
    /// answered, and can be had again.
    fn default() -> Self {
        Self { keep_results: 40_000, keep_percent: 40, smallest: 150 }
    }
}

/// What can be pruned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruning {
    /// The results, by their index, oldest first.
    pub at: Vec<usize>,
    /// Tokens it frees.
    pub freed: u64,
    /// Tokens behind the first of them that have to be cached again.
    pub again: u64,
}

/// What was pruned, for the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneRecord {
    /// The results, with the line that each became.
    pub notes: Vec<(MessageId, String)>,
    /// Tokens in the window before.
    pub before: u64,
    /// Tokens after, as estimated.
    pub after: u64,
    /// Why.
    pub reason: String,
}

const NOTE: &str = "[An earlier result of ";

/// Finds what can be pruned: results beyond the budget, never those the model has not answered yet.
pub fn find(messages: &[Message], settings: &PruneSettings, threshold: u64, scale: Scale) -> Option<Pruning> {
    let mut left = settings.keep_results.min(threshold * settings.keep_percent / 100);
    let answered = messages.iter().rposition(|message| {
        matches!(message, Message::Assistant(answer)
            if !matches!(answer.stop, StopReason::Error | StopReason::Aborted))
    })?;
    let mut found = Pruning { at: Vec::new(), freed: 0, again: 0 };
    let mut behind = 0;
    for (index, message) in messages.iter().enumerate().rev() {
        let size = scale.apply(tokens::of_message(message));
        if let Message::ToolResult(result) = message {
            let is_old = left < size && index < answered;
            left = left.saturating_sub(size);
            if is_old && size >= settings.smallest && !is_note(result) {
                let note = scale.apply(tokens::of_text(&note(result)) + 12);
                found.at.push(index);
                found.freed += size.saturating_sub(note);
                behind += note;
                found.again = behind;
                continue;
            }
        }
        behind += size;
    }
    found.at.reverse();
    (!found.at.is_empty() && found.freed > 0).then_some(found)
}

/// Whether pruning pays: whether what it frees, not read again in every turn until the window is as full as now, is worth
/// more than what has to be written to the cache again. `growth` is what a turn adds; `warm` says whether the cache still
/// holds the conversation.
pub fn pays(pruning: &Pruning, growth: u64, model: &Model, warm: bool) -> bool {
    if !warm || model.cache.kind == CacheKind::None {
        return true;
    }
    let prices = Prices::of(model);
    let freed = u128::from(pruning.freed);
    let cost = u128::from(pruning.again) * prices.write.saturating_sub(prices.read);
    // The turns until then are what is freed over what a turn adds.
    freed * freed * prices.read >= cost * u128::from(growth.max(1))
}

/// What a turn adds to the window, on average.
pub fn growth(messages: &[Message], scale: Scale) -> u64 {
    let answers = messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count() as u64;
    scale.apply(tokens::of_messages(messages)) / answers.max(1)
}

/// Prices: only their ratios matter.
struct Prices {
    read: u128,
    write: u128,
}

impl Prices {
    fn of(model: &Model) -> Self {
        let micro = |price: mica_ai::usage::Usd| (price.dollars() * 1e6) as u128;
        let Some(prices) = &model.prices else {
            // The ratios that nearly all vendors have: a tenth for reads, a quarter more for writes that are paid.
            return Self { read: 10, write: if is_paid(model) { 125 } else { 100 } };
        };
        let input = prices.base.input;
        let write = if is_paid(model) { prices.base.cache_write.unwrap_or(input) } else { input };
        Self { read: micro(prices.base.cache_read.unwrap_or(input)), write: micro(write) }
    }
}

fn is_paid(model: &Model) -> bool {
    matches!(model.cache.kind, CacheKind::Marks | CacheKind::Breakpoints)
}

/// What becomes of each result that is pruned.
pub fn notes(messages: &[Message], pruning: &Pruning) -> Vec<(MessageId, String)> {
    pruning
        .at
        .iter()
        .filter_map(|at| match messages.get(*at)? {
            Message::ToolResult(result) => Some((result.id.clone(), note(result))),
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect()
}

/// Puts the lines in the place of the results. Also how a session builds a window again.
pub fn apply(messages: &mut [Message], notes: &[(MessageId, String)]) {
    for message in messages {
        if let Message::ToolResult(result) = message
            && let Some((_, note)) = notes.iter().find(|(id, _)| *id == result.id)
        {
            result.content = vec![Content::text(note.clone())];
        }
    }
}

fn is_note(result: &ToolResult) -> bool {
    matches!(result.content.as_slice(), [Content::Text { text }] if text.starts_with(NOTE))
}

fn note(result: &ToolResult) -> String {
    let texts = result.content.iter().filter_map(|part| match part {
        Content::Text { text } => Some(text.as_str()),
        Content::Image(_) => None,
    });
    let (mut bytes, mut path) = (0, None);
    for text in texts {
        bytes += text.len();
        path = path.or(spill::path_in(text));
    }
    match path {
        Some(path) => format!("{NOTE}{} was removed to make room. All of it is in {path}.]", result.tool),
        None => format!(
            "{NOTE}{} ({bytes} bytes) was removed to make room. Call it again if needed.]",
            result.tool
        ),
    }
}

#[cfg(test)]
mod tests;
