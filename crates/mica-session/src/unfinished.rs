//! What a session was in the middle of when it was last written to, so that whoever opens it can say so.
//!
//! Nothing is mended here: results for open calls, and the end of the run, are entries that the caller appends in its own
//! words.

use mica_ai::Message;
use mica_ai::message::ToolCall;

use crate::entry::{Body, Entry, RunId};
use crate::id::EntryId;

/// What was begun and not ended on a branch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unfinished {
    /// A run that has no end.
    pub run: Option<RunId>,
    /// A model call that was about to be made, or was made, and whose answer was not stored. It may have cost money.
    pub turn: Option<EntryId>,
    /// The answer whose calls have no results, if there is one.
    pub answer: Option<EntryId>,
    /// Those calls. Whether their tools have run is not known.
    pub calls: Vec<ToolCall>,
}

impl Unfinished {
    /// Whether everything was ended.
    pub fn is_nothing(&self) -> bool {
        *self == Unfinished::default()
    }
}

/// Looks through the entries of a branch, oldest first.
pub fn unfinished(branch: &[Entry]) -> Unfinished {
    let mut open = Unfinished::default();
    for entry in branch {
        match &entry.body {
            Body::RunStart { run } => open.run = Some(run.clone()),
            Body::RunEnd { .. } => {
                // Whoever ended the run knew of its turn, and the calls of an ended run are settled when it is replayed.
                open.run = None;
                open.turn = None;
            }
            Body::TurnOpen { .. } => open.turn = Some(entry.id),
            Body::Message { message: Message::Assistant(answer) } => {
                open.turn = None;
                open.calls = answer.calls().cloned().collect();
                open.answer = (!open.calls.is_empty()).then_some(entry.id);
            }
            Body::Message { message: Message::ToolResult(result) } => {
                open.calls.retain(|call| call.id != result.call);
                if open.calls.is_empty() {
                    open.answer = None;
                }
            }
            Body::Message { message: Message::User(_) } => {
                // The conversation went on. A result that is stored now would come after this message, which no provider
                // takes; calls that were left behind are settled when the conversation is replayed.
                open.calls.clear();
                open.answer = None;
            }
            _ => {}
        }
    }
    open
}

#[cfg(test)]
mod tests;
