//! What a request says, as far as a script chooses its answer by it: read from any wire or from a `Request`.

use mica_ai::message::{Content, Message};
use mica_ai::{Dialect, Request};
use serde_json::Value;

/// What a script sees of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The model or deployment that is asked.
    pub model: String,
    /// The text of the last thing the user said.
    pub user: String,
    /// The tools whose results came after that, in order.
    pub results: Vec<String>,
}

impl Seen {
    /// What a request on a wire says.
    pub fn on_wire(dialect: Dialect, body: &Value, deployment: Option<&str>) -> Self {
        let model = deployment.or(body["model"].as_str()).unwrap_or("scripted").to_owned();
        let mut reader = Reader { seen: Seen { model, ..Seen::default() }, calls: Vec::new() };
        match dialect {
            Dialect::Responses => reader.responses(&body["input"]),
            Dialect::Messages => reader.messages(&body["messages"]),
            Dialect::Chat => reader.chat(&body["messages"]),
        }
        reader.seen
    }

    /// What a request says before it is put on any wire.
    pub fn in_process(request: &Request) -> Self {
        let mut seen = Seen { model: request.model.deployment.clone(), ..Seen::default() };
        if seen.model.is_empty() {
            seen.model.clone_from(&request.model.id);
        }
        for message in &request.messages {
            match message {
                Message::User(user) => {
                    seen.results.clear();
                    seen.user = user
                        .content
                        .iter()
                        .filter_map(|content| match content {
                            Content::Text { text } => Some(text.as_str()),
                            Content::Image(_) => None,
                        })
                        .collect::<Vec<_>>()
                        .join("\n");
                }
                Message::ToolResult(result) => seen.results.push(result.tool.clone()),
                Message::Assistant(_) => {}
            }
        }
        seen
    }
}

struct Reader {
    seen: Seen,
    calls: Vec<(String, String)>,
}

impl Reader {
    fn said(&mut self, text: String) {
        self.seen.user = text;
        self.seen.results.clear();
    }

    fn called(&mut self, id: &Value, name: &Value) {
        self.calls.push((owned(id), owned(name)));
    }

    fn result(&mut self, id: &Value) {
        let id = owned(id);
        let name = self.calls.iter().rev().find(|(call, _)| *call == id).map(|(_, name)| name.clone());
        self.seen.results.push(name.unwrap_or_default());
    }

    fn responses(&mut self, input: &Value) {
        if let Some(text) = input.as_str() {
            self.said(text.to_owned());
        }
        for item in items(input) {
            match item["type"].as_str() {
                Some("function_call") => self.called(&item["call_id"], &item["name"]),
                Some("function_call_output") => self.result(&item["call_id"]),
                Some("message") | None if item["role"] == "user" => self.said(text_of(&item["content"])),
                _ => {}
            }
        }
    }

    fn messages(&mut self, messages: &Value) {
        for message in items(messages) {
            let blocks = items(&message["content"]);
            for block in blocks.iter().filter(|block| block["type"] == "tool_use") {
                self.called(&block["id"], &block["name"]);
            }
            if message["role"] == "user" {
                let results: Vec<&Value> =
                    blocks.iter().filter(|block| block["type"] == "tool_result").collect();
                let text = text_of(&message["content"]);
                // Words beside results are notes on them, not a new question.
                if results.is_empty() || self.seen.user.is_empty() {
                    self.said(text);
                }
                for block in results {
                    self.result(&block["tool_use_id"]);
                }
            }
        }
    }

    fn chat(&mut self, messages: &Value) {
        for message in items(messages) {
            for call in items(&message["tool_calls"]) {
                self.called(&call["id"], &call["function"]["name"]);
            }
            match message["role"].as_str() {
                Some("user") => self.said(text_of(&message["content"])),
                Some("tool") => self.result(&message["tool_call_id"]),
                _ => {}
            }
        }
    }
}

fn owned(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The members of an array; none for anything else.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a content that is a string or a list of parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => items(other).iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(dialect: Dialect, body: &Value) {
        let seen = Seen::on_wire(dialect, body, None);
        let expected = Seen { model: "m".into(), user: "second".into(), results: vec!["read".into()] };
        assert_eq!(seen, expected, "{dialect}");
    }

    #[test]
    fn all_wires_show_the_same() {
        check(
            Dialect::Responses,
            &json!({ "model": "m", "input": [
                { "role": "user", "content": "first" },
                { "role": "user", "content": [{ "type": "input_text", "text": "second" }] },
                { "type": "function_call", "call_id": "c", "name": "read", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c", "output": "x" },
            ]}),
        );
        check(
            Dialect::Messages,
            &json!({ "model": "m", "messages": [
                { "role": "user", "content": "second" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "read", "input": {} }] },
                { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "x" }, { "type": "text", "text": "note" }] },
            ]}),
        );
        check(
            Dialect::Chat,
            &json!({ "model": "m", "messages": [
                { "role": "user", "content": "second" },
                { "role": "assistant", "tool_calls": [{ "id": "c", "function": { "name": "read", "arguments": "{}" } }] },
                { "role": "tool", "tool_call_id": "c", "content": "x" },
            ]}),
        );
    }
}
