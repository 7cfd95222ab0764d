//! Makes a conversation fit to be sent to a model: what other models said, what was never finished, what the target
//! cannot take.

use crate::message::{Message, Origin};
use crate::model::Model;

/// The conversation as `target` can take it.
pub fn normalise(messages: &[Message], target: &Origin, model: &Model) -> Vec<Message> {
    let _ = (target, model);
    messages.to_vec()
}
