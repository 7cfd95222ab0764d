//! The sizes of a request's parts, estimated once for everything that asks.

use std::collections::HashMap;
use std::sync::Arc;

use mica_ai::id::MessageId;
use mica_ai::request::ToolDef;
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
    /// The fingerprint of all tools.
    pub tools_digest: Digest,
    /// The fingerprint of each part of the system prompt.
    pub system_digests: Vec<Digest>,
    /// The fingerprint of everything before the messages, the model aside.
    pub before: Digest,
}

/// What is known of messages that were measured before. A window only grows at its end, so nearly all of it is known.
#[derive(Debug, Default)]
pub struct Known {
    messages: HashMap<MessageId, (usize, u64, Digest)>,
    prefix: Option<Prefix>,
}

/// What stands before the messages, and what is known of it. Kept whole: comparing it takes a fraction of measuring it,
/// and nothing less would notice every change. Tools are kept as they are written: two schemas that differ only in the
/// order of their members are equal as values, and are not the same prompt.
#[derive(Debug)]
struct Prefix {
    system: Vec<String>,
    /// As they were handed over. The same again are known without a look.
    shared: Arc<[ToolDef]>,
    tools: Vec<u8>,
    tools_tokens: u64,
    system_tokens: Vec<u64>,
    tools_digest: Digest,
    system_digests: Vec<Digest>,
    digest: Digest,
}

impl Prefix {
    fn of(system: &[String], tools: &Arc<[ToolDef]>, written: Vec<u8>) -> Self {
        let tools_digest = Digest::of_value(&tools);
        Self {
            tools_tokens: tools.iter().map(tokens::of_tool).sum(),
            system_tokens: system.iter().map(|part| tokens::of_text(part)).collect(),
            tools_digest,
            system_digests: system.iter().map(|part| Digest::of(part)).collect(),
            digest: Digest::of_value(&system).then(tools_digest),
            system: system.to_vec(),
            shared: Arc::clone(tools),
            tools: written,
        }
    }
}

impl Known {
    /// The fingerprint of everything before the messages, the model aside.
    pub fn before(&mut self, system: &[String], tools: &Arc<[ToolDef]>) -> Digest {
        self.prefix(system, tools).digest
    }

    fn prefix(&mut self, system: &[String], tools: &Arc<[ToolDef]>) -> &Prefix {
        let is_same = |known: &Prefix| Arc::ptr_eq(&known.shared, tools) && known.system == system;
        if let Some(known) = self.prefix.take_if(|known| is_same(known)) {
            return self.prefix.insert(known);
        }
        // Definitions always have JSON: at least the brackets around them. Were there one without, it is measured anew.
        let written = serde_json::to_vec(tools).unwrap_or_default();
        let is_known =
            |known: &Prefix| !written.is_empty() && known.tools == written && known.system == system;
        let known = self.prefix.take().filter(is_known);
        self.prefix.insert(known.unwrap_or_else(|| Prefix::of(system, tools, written)))
    }

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
        let prefix = known.prefix(&request.system, &request.tools);
        Self {
            tools: prefix.tools_tokens,
            system: prefix.system_tokens.clone(),
            messages,
            digests,
            tools_digest: prefix.tools_digest,
            system_digests: prefix.system_digests.clone(),
            before: prefix.digest,
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

    use mica_ai::request::Strictness;
    use mica_ai::{Dialect, Model, User};
    use serde_json::{Value, json};

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

    #[test]
    fn every_change_before_the_messages_is_noticed() {
        let mut request = Request::new(Arc::new(Model::assumed("m", Dialect::Chat)));
        let tool = |schema: Value| ToolDef {
            name: "read".into(),
            description: "Reads.".into(),
            schema,
            strictness: Strictness::Guide,
        };
        let mut known = Known::default();
        let mut seen = Vec::new();
        let mut check = |request: &Request| {
            let measured = Measure::with(request, &mut known);
            assert_eq!(measured, Measure::of(request));
            // Asked again, from memory.
            assert_eq!(Measure::with(request, &mut known), measured);
            assert_eq!(known.before(&request.system, &request.tools), measured.before);
            assert!(!seen.contains(&measured.before), "{request:?}");
            seen.push(measured.before);
        };
        check(&request);
        request.system = vec!["One.".into()];
        check(&request);
        // The same length, another word.
        request.system = vec!["Two.".into()];
        check(&request);
        request.tools = vec![tool(json!({ "type": "object", "properties": { "a": {}, "b": {} } }))].into();
        check(&request);
        request.tools = vec![tool(json!({ "type": "object", "properties": { "a": {}, "c": {} } }))].into();
        check(&request);
        let mut strict = request.tools.to_vec();
        strict[0].strictness = Strictness::Enforce;
        request.tools = strict.into();
        check(&request);
        request.tools = Arc::default();
        request.system.push("Three.".into());
        check(&request);
    }

    #[test]
    fn the_order_of_a_schema_is_part_of_it() {
        // Maps are equal in any order; the bytes that are sent are not.
        let tool = |schema: &str| ToolDef {
            name: "read".into(),
            description: "Reads.".into(),
            schema: serde_json::from_str(schema).unwrap(),
            strictness: Strictness::Guide,
        };
        let mut known = Known::default();
        let one = known.before(&[], &[tool(r#"{"a":1,"b":2}"#)].into());
        let other = known.before(&[], &[tool(r#"{"b":2,"a":1}"#)].into());
        assert_ne!(one, other);
    }
}
