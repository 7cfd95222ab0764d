//! Where a conversation is cut: what is before goes into the summary, what is behind stays as it is.
//!
//! Invariant: a call and its result are on the same side. A cut may fall inside a turn; then the turn's beginning is
//! summarised under a heading of its own, because what is kept cannot be understood without it.

use mica_ai::Message;

/// A cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The first message that is kept, by its index. Never 0.
    pub first_kept: usize,
    /// Whether the cut falls inside a turn.
    pub inside: bool,
    /// Where that turn began. `None` also when its beginning was summarised before.
    pub turn_start: Option<usize>,
}

/// Whether a cut may fall before a message: no result behind it answers a call before it.
///
/// Results follow their calls until the next answer; what is said meanwhile may stand between them. So the messages
/// from the cut to the next answer tell.
pub fn is_allowed(messages: &[Message], at: usize) -> bool {
    let behind = messages.get(at..).unwrap_or_default();
    let mut until_answer = behind.iter().take_while(|message| !matches!(message, Message::Assistant(_)));
    at > 0 && !behind.is_empty() && !until_answer.any(|message| matches!(message, Message::ToolResult(_)))
}

/// The cut that keeps as much as fits into `keep` tokens, and at least the last thing that cannot be split. `None` when
/// nothing can be dropped: the first `fixed` messages are not worth dropping alone.
pub fn find(messages: &[Message], sizes: &[u64], keep: u64, fixed: usize) -> Option<Cut> {
    let mut kept = 0;
    let mut found = None;
    for at in (fixed + 1..messages.len()).rev() {
        kept += sizes.get(at).copied().unwrap_or(0);
        if kept > keep && found.is_some() {
            break;
        }
        if is_allowed(messages, at) {
            found = Some(at);
        }
    }
    let first_kept = found?;
    let inside = !matches!(messages.get(first_kept)?, Message::User(_));
    let turn_start = messages
        .get(..first_kept)?
        .iter()
        .rposition(|message| matches!(message, Message::User(_)))
        .filter(|start| inside && *start >= fixed);
    Some(Cut { first_kept, inside, turn_start })
}
