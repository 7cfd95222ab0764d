//! A request as a prompt cache sees it: an ordered list of blocks, tools first, then system, then messages.

use std::fmt;

use mica_ai::message::{Block, Message};
use mica_ai::request::{CachePoint, CacheTtl};
use mica_ai::{Dialect, Request};
use serde_json::{Value, json};

use crate::seen::items;

/// What a prompt cache compares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The model or deployment. Nothing is shared between two.
    pub model: String,
    /// The routing key.
    pub key: Option<String>,
    /// Whether entries end at marks only, where the provider also makes its own.
    pub explicit_only: bool,
    /// What changes the messages' entries without being a block: the choice of tools, and how the model thinks.
    pub settings: String,
    /// The blocks, in the provider's order.
    pub blocks: Vec<PromptBlock>,
}

/// A block of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptBlock {
    /// Where it belongs.
    pub tier: Tier,
    /// What is compared and counted.
    pub text: String,
    /// Whether a cached prefix should end here, and how long it should live.
    pub mark: Option<CacheTtl>,
}

/// Where a block belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// A tool.
    Tool,
    /// A part of the system prompt.
    System,
    /// A part of a message.
    Message,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tier::Tool => "tool",
            Tier::System => "system",
            Tier::Message => "message",
        })
    }
}

impl Prompt {
    /// The prompt of a request on a wire.
    pub fn on_wire(dialect: Dialect, body: &Value, model: &str) -> Self {
        let mut prompt = Prompt {
            model: model.to_owned(),
            key: body["prompt_cache_key"].as_str().map(str::to_owned),
            explicit_only: body["prompt_cache_options"]["mode"] == "explicit",
            ..Prompt::default()
        };
        for tool in items(&body["tools"]) {
            prompt.add(Tier::Tool, "", tool);
        }
        match dialect {
            Dialect::Messages => {
                prompt.settings = json!([body["tool_choice"], body["thinking"]]).to_string();
                prompt.content(Tier::System, "system", &body["system"]);
                for message in items(&body["messages"]) {
                    prompt.content(
                        Tier::Message,
                        message["role"].as_str().unwrap_or_default(),
                        &message["content"],
                    );
                }
                if let (Some(mark), Some(last)) = (mark(body), prompt.blocks.last_mut()) {
                    last.mark.get_or_insert(mark);
                }
            }
            Dialect::Responses => {
                if let Some(text) = body["instructions"].as_str() {
                    prompt.add(Tier::System, "system", &Value::from(text));
                }
                if body["input"].is_string() {
                    prompt.add(Tier::Message, "user", &body["input"]);
                }
                for item in items(&body["input"]) {
                    prompt.item(item);
                }
            }
            Dialect::Chat => {
                for message in items(&body["messages"]) {
                    prompt.item(message);
                }
            }
        }
        prompt
    }

    /// The prompt of a request that is on no wire.
    pub fn in_process(request: &Request, model: &str) -> Self {
        let mut prompt = Prompt {
            model: model.to_owned(),
            key: request.cache.key.clone(),
            settings: json!([request.tool_choice, request.effort]).to_string(),
            ..Prompt::default()
        };
        let mark = |point: &CachePoint| {
            request.cache.marks.iter().find(|mark| mark.at == *point).map(|mark| mark.ttl)
        };
        for tool in request.tools.iter() {
            prompt.push(Tier::Tool, json!(tool).to_string());
        }
        prompt.mark_last(mark(&CachePoint::Tools));
        for (index, text) in request.system.iter().enumerate() {
            prompt.push(Tier::System, text.clone());
            prompt.mark_last(mark(&CachePoint::System(index)));
        }
        for message in &request.messages {
            match message {
                Message::User(user) => {
                    for content in &user.content {
                        prompt.push(Tier::Message, json!(["user", content]).to_string());
                    }
                }
                Message::Assistant(assistant) => {
                    for block in &assistant.blocks {
                        let text = match block {
                            Block::Text(text) => text.text.clone(),
                            other => json!(other).to_string(),
                        };
                        prompt.push(Tier::Message, format!("assistant:{text}"));
                    }
                }
                Message::ToolResult(result) => {
                    prompt.push(Tier::Message, json!(["tool", result.call, result.content]).to_string());
                }
            }
            prompt.mark_last(mark(&CachePoint::Message(message.id().clone())));
        }
        prompt
    }

    fn push(&mut self, tier: Tier, text: String) {
        self.blocks.push(PromptBlock { tier, text, mark: None });
    }

    fn mark_last(&mut self, ttl: Option<CacheTtl>) {
        if let (Some(ttl), Some(last)) = (ttl, self.blocks.last_mut()) {
            last.mark = Some(ttl);
        }
    }

    /// Adds a block as the request has it, without its mark: a mark that moves does not change what is marked.
    fn add(&mut self, tier: Tier, role: &str, block: &Value) {
        let mut text = block.clone();
        unmark(&mut text);
        // The parts of a tool's output carry marks, and the item that holds them is one block: it ends where they do.
        let mut parts_mark = None;
        if let Some(parts) = text.get_mut("output").and_then(Value::as_array_mut) {
            parts_mark = parts.last().and_then(mark);
            parts.iter_mut().for_each(unmark);
        }
        // A text is the same whether it is sent as a string or as a part.
        let text = match (&text, text["text"].as_str()) {
            (Value::String(text), _) => text.clone(),
            (_, Some(text)) if block["type"].as_str().is_none_or(|kind| kind.ends_with("text")) => {
                text.to_owned()
            }
            _ => text.to_string(),
        };
        self.blocks.push(PromptBlock {
            tier,
            text: format!("{role}:{text}"),
            mark: mark(block).or(parts_mark),
        });
    }

    fn content(&mut self, tier: Tier, role: &str, content: &Value) {
        if content.is_string() {
            self.add(tier, role, content);
        }
        for block in items(content) {
            self.add(tier, role, block);
        }
    }

    /// A Responses item or a Chat message.
    fn item(&mut self, item: &Value) {
        let role = item["role"].as_str().unwrap_or_default();
        let tier = if matches!(role, "system" | "developer") { Tier::System } else { Tier::Message };
        if item["tool_calls"].is_array() || item["type"].as_str().is_some_and(|kind| kind != "message") {
            self.add(tier, role, item);
        } else {
            self.content(tier, role, &item["content"]);
            self.mark_last(mark(item));
        }
    }
}

fn unmark(block: &mut Value) {
    if let Some(object) = block.as_object_mut() {
        object.shift_remove("cache_control");
        object.shift_remove("prompt_cache_breakpoint");
    }
}

fn mark(block: &Value) -> Option<CacheTtl> {
    match block.get("cache_control").or(block.get("prompt_cache_breakpoint")) {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(control) if control["ttl"] == "1h" => Some(CacheTtl::Long),
        Some(_) => Some(CacheTtl::Short),
    }
}
