//! The sizes of a request's parts, estimated once for everything that asks.

use mica_ai::Request;

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
}

impl Measure {
    /// Measures a request. Reads all of it, which takes a millisecond for each few hundred thousand bytes.
    pub fn of(request: &Request) -> Self {
        Self {
            tools: request.tools.iter().map(tokens::of_tool).sum(),
            system: request.system.iter().map(|part| tokens::of_text(part)).collect(),
            messages: request.messages.iter().map(tokens::of_message).collect(),
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
