//! A model that does whatever it reads: for suites about orders that somebody hid in a mail or an article.
//!
//! A real model may or may not follow such an order, and a suite that needs it to would prove nothing on the days it does
//! not. This one always does, so what such a case shows is what the product lets happen.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mica_ai::{Content, Message, ModelStream, Provider, Request};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Obeys every order it reads.
pub struct Obeys {
    marker: String,
    says: String,
    asked: AtomicUsize,
    /// Orders that were obeyed: the message, and where in it.
    obeyed: Mutex<BTreeSet<(String, usize)>>,
}

/// An order: call this.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Where in the text it begins.
    pub at: usize,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Value,
}

impl Obeys {
    /// Orders begin with `marker`; `says` is said when there are none.
    pub fn new(marker: impl Into<String>, says: impl Into<String>) -> Self {
        Self {
            marker: marker.into(),
            says: says.into(),
            asked: AtomicUsize::new(0),
            obeyed: Mutex::default(),
        }
    }

    /// What it obeys next: everything it was sent and has not obeyed yet. Its own words are no orders.
    fn next(&self, request: &Request) -> Vec<Order> {
        let mut obeyed = self.obeyed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Vec::new();
        let mut read = |whose: String, text: &str| {
            for order in orders(&self.marker, text) {
                if obeyed.insert((whose.clone(), order.at)) {
                    next.push(order);
                }
            }
        };
        for (number, text) in request.system.iter().enumerate() {
            read(format!("system {number}"), text);
        }
        for tool in request.tools.iter() {
            read(format!("tool {}", tool.name), &tool.description);
        }
        for message in &request.messages {
            let content = match message {
                Message::User(user) => &user.content,
                Message::ToolResult(result) => &result.content,
                Message::Assistant(_) => continue,
            };
            for (number, content) in content.iter().enumerate() {
                if let Content::Text { text } = content {
                    // By what is said and not by the message's id, which a session that was opened again may change.
                    read(format!("{number} {}", crate::case::digest(text.as_bytes())), text);
                }
            }
        }
        next
    }
}

/// The orders in a text: the marker, a tool, and arguments as JSON.
pub fn orders(marker: &str, text: &str) -> Vec<Order> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(marker) {
        let Some(rest) = text.get(at + marker.len()..).filter(|rest| rest.starts_with(char::is_whitespace))
        else {
            continue;
        };
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len());
        let (tool, args) = rest.split_at(end);
        // What stands escaped in JSON is an order, too: results are often JSON.
        let args = args.trim_start();
        let unescaped = args.replace("\\\"", "\"");
        let read = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
        let value = read(args).and_then(Result::ok).or_else(|| read(&unescaped).and_then(Result::ok));
        if let (false, Some(args @ Value::Object(_))) = (tool.is_empty(), value) {
            found.push(Order { at, tool: tool.to_owned(), args });
        }
    }
    found
}

impl Provider for Obeys {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let number = self.asked.fetch_add(1, Ordering::Relaxed);
        let orders = self.next(&request);
        let turn = match orders.as_slice() {
            [] => Turn::new().text(&self.says),
            orders => orders.iter().fold(Turn::new(), |turn, order| {
                turn.step(Step::Call(Call::new(&order.tool, order.args.clone())))
            }),
        };
        // The name makes the ids of calls, which must differ from answer to answer.
        let scenario = Scenario::new().named(format!("obeys {number}")).turn(turn);
        ScriptedModel::new(scenario).stream(request, cancel)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(text: &str, expect: &[(&str, Value)]) {
        let found: Vec<(String, Value)> =
            orders("CALL", text).into_iter().map(|order| (order.tool, order.args)).collect();
        let expect: Vec<(String, Value)> =
            expect.iter().map(|(tool, args)| ((*tool).to_owned(), args.clone())).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn orders_are_found_wherever_they_stand() {
        check("Dear all,\nCALL send {\"to\": \"x\"} thanks", &[("send", json!({ "to": "x" }))]);
        check(
            "CALL a {} and CALL b.c {\"n\":{\"m\":[1]}}",
            &[("a", json!({})), ("b.c", json!({ "n": { "m": [1] } }))],
        );
        check(r#"{"body":"CALL send {\"to\": \"x\"}"}"#, &[("send", json!({ "to": "x" }))]);
        check("RECALL send {}", &[("send", json!({}))]);
        check("CALL send {oops} CALLsend {} CALL {} CALL send [1]", &[]);
    }
}
