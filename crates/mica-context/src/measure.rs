//! The sizes of a request's parts, estimated once for everything that asks.

use std::collections::HashMap;

use mica_ai::id::MessageId;
use mica_ai::{Block, Content, Message, Request};

use crate::digest::Digest;
use crate::tokens;

/// Tokens of each part of a request, as estimated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measure {
    /// All tools.
    pub tools: u64,
    /// Each part of the system prompt.
    pub system: Vec<u64>,
    /// Each message.
    pub messages: Vec<u64>,
    /// The fingerprint of each message.
    pub digests: Vec<Digest>,
}

/// What is known of messages that were measured before. A window only grows at its end, so nearly all of it is known.
#[derive(Debug, Default)]
pub struct Known {
    messages: HashMap<MessageId, (usize, u64, Digest)>,
}

impl Known {
    /// The size and the fingerprint of a message: remembered, unless its length has changed since. What pruning and
    /// turn sections do to a message changes its length.
    fn of(&mut self, message: &Message) -> (u64, Digest) {
        let length = length(message);
        if let Some((known, tokens, digest)) = self.messages.get(message.id())
            && *known == length
        {
            return (*tokens, *digest);
        }
        let (tokens, digest) = (tokens::of_message(message), Digest::of_value(message));
        self.messages.insert(message.id().clone(), (length, tokens, digest));
        (tokens, digest)
    }

    /// Forgets what is not in the window any more, now and then.
    fn tidy(&mut self, request: &Request) {
        if self.messages.len() > 2 * request.messages.len() + 64 {
            let there: std::collections::HashSet<&MessageId> =
                request.messages.iter().map(Message::id).collect();
            self.messages.retain(|id, _| there.contains(id));
        }
    }
}

/// Bytes of what a message says. Cheap: nothing is read.
fn length(message: &Message) -> usize {
    let contents = |parts: &[Content]| {
        parts
            .iter()
            .map(|part| match part {
                Content::Text { text } => text.len(),
                Content::Image(image) => image.media_type.len(),
            })
            .sum::<usize>()
            + parts.len()
    };
    match message {
        Message::User(user) => contents(&user.content),
        Message::ToolResult(result) => contents(&result.content),
        Message::Assistant(answer) => answer
            .blocks
            .iter()
            .map(|block| match block {
                Block::Text(text) => text.text.len(),
                Block::Thinking(thinking) => thinking.text.len(),
                Block::ToolCall(call) => call.arguments.text().len(),
                Block::Image(_) => 0,
            })
            .sum::<usize>(),
    }
}

impl Measure {
    /// Measures a request. Reads all of it, which takes a millisecond for each few hundred thousand bytes.
    pub fn of(request: &Request) -> Self {
        Self::with(request, &mut Known::default())
    }

    /// Measures a request, reading only the messages that are not known.
    pub fn with(request: &Request, known: &mut Known) -> Self {
        known.tidy(request);
        let (messages, digests) = request.messages.iter().map(|message| known.of(message)).unzip();
        Self {
            tools: request.tools.iter().map(tokens::of_tool).sum(),
            system: request.system.iter().map(|part| tokens::of_text(part)).collect(),
            messages,
            digests,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.tools + self.system.iter().sum::<u64>() + self.messages.iter().sum::<u64>()
    }

    /// Up to and with a part of the system prompt.
    pub fn until_system(&self, part: usize) -> u64 {
        self.tools + self.system.iter().take(part + 1).sum::<u64>()
    }

    /// Up to and with a message.
    pub fn until_message(&self, index: usize) -> u64 {
        self.tools + self.system.iter().sum::<u64>() + self.messages.iter().take(index + 1).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mica_ai::{Dialect, Model, User};

    use super::*;

    #[test]
    fn what_is_known_is_the_same_as_what_is_measured() {
        let mut request = Request::new(Arc::new(Model::assumed("m", Dialect::Chat)));
        let mut known = Known::default();
        for number in 0..200 {
            request.messages.push(User::text(format!("message {number} says something")).into());
            assert_eq!(Measure::with(&request, &mut known), Measure::of(&request));
        }
        // A message that changes is measured anew.
        if let Some(Message::User(user)) = request.messages.first_mut() {
            user.content.push(Content::text("and more"));
        }
        assert_eq!(Measure::with(&request, &mut known), Measure::of(&request));
        // What left the window is forgotten.
        request.messages.drain(..190);
        assert_eq!(Measure::with(&request, &mut known), Measure::of(&request));
        assert_eq!(known.messages.len(), 10);
    }
}
