//! Everything that an agent told in a case: the same bytes whenever the same case is played.
//!
//! Ids are counted in a case ([`mica_ai::id::Counted`]) and its clock is its own, so there is nothing left in an event
//! that a second run would have otherwise. Calls that run side by side end in the order the world lets them: what is told
//! of them is written call by call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, Listener};
use mica_ai::Usage;
use serde_json::Value;

use crate::product::Called;

mod order;

/// Hears every event and keeps it. Clones keep in the same place.
#[derive(Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<String>>>);

/// A place in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(usize);

/// What was heard of a run.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// The text of the last answer.
    pub text: String,
    /// Calls that ran, in the order they began.
    pub ran: Vec<Called>,
    /// Calls that the model made.
    pub tried: Vec<Called>,
    /// What people were asked. A question that was asked again counts once.
    pub asks: Vec<Called>,
    /// What all answers took, those of subagents included.
    pub usage: Usage,
    /// Notices, and what was done to the window.
    pub notices: Vec<String>,
}

#[async_trait]
impl Listener for Journal {
    async fn event(&self, event: Event) {
        // Events are made of texts and numbers, which all have JSON.
        if let Ok(line) = serde_json::to_string(&event) {
            self.lock().push(line);
        }
    }
}

impl Journal {
    /// Here.
    pub fn mark(&self) -> Mark {
        Mark(self.lock().len())
    }

    /// What was heard since.
    pub fn since(&self, mark: Mark) -> Heard {
        let events: Vec<Value> =
            self.lock().iter().skip(mark.0).filter_map(|line| serde_json::from_str(line).ok()).collect();
        Heard::of(&events)
    }

    /// Takes down what is told in another form than by events of an agent in this process. The same whenever it is told.
    pub fn note(&self, line: String) {
        self.lock().push(line);
    }

    /// All of it, one event in each row. Of calls that ran side by side, call by call.
    pub fn bytes(&self) -> Vec<u8> {
        order::by_call(&self.lock()).iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heard {
    /// What events tell, as JSON has them.
    pub fn of(events: &[Value]) -> Self {
        let mut listening = Listening::default();
        events.iter().for_each(|event| listening.hear(event));
        listening.heard
    }
}

#[derive(Default)]
struct Listening {
    heard: Heard,
    calls: BTreeMap<u64, (String, String)>,
    asked: Vec<(String, Called)>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Listening {
    fn hear(&mut self, event: &Value) {
        match event["type"].as_str().unwrap_or_default() {
            "answer_start" => {
                self.heard.text.clear();
                self.calls.clear();
            }
            "answer" => self.delta(&event["delta"]),
            "answer_end" => {
                self.took(event);
                for (tool, text) in std::mem::take(&mut self.calls).into_values() {
                    let args = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    self.heard.tried.push(Called { tool, args });
                }
            }
            "call_start" => {
                let args = event["arguments"].clone();
                self.heard.ran.push(Called { tool: text(&event["tool"]), args });
            }
            "approval_asked" => {
                let ask = &event["ask"];
                let called = Called { tool: text(&ask["call"]["name"]), args: ask["arguments"].clone() };
                let id = text(&ask["call"]["id"]);
                match self.asked.iter_mut().find(|(asked, _)| *asked == id) {
                    Some((_, before)) => *before = called,
                    None => self.asked.push((id, called)),
                }
                self.heard.asks = self.asked.iter().map(|(_, called)| called.clone()).collect();
            }
            "notice" => self.heard.notices.push(text(&event["text"])),
            "window" => {
                let change = &event["change"];
                self.heard.notices.push(format!("{}: {}", text(&change["kind"]), text(&change["reason"])));
            }
            "subagent" if event["event"]["type"] == "answer_end" => self.took(&event["event"]),
            _ => {}
        }
    }

    fn took(&mut self, ended: &Value) {
        if let Ok(usage) = serde_json::from_value::<Usage>(ended["usage"].clone()) {
            self.heard.usage += usage;
        }
    }

    fn delta(&mut self, delta: &Value) {
        let block = delta["block"].as_u64().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => self.heard.text.push_str(delta["text"].as_str().unwrap_or_default()),
            "call_start" => {
                self.calls.insert(block, (text(&delta["tool"]), String::new()));
            }
            "call_delta" => {
                if let Some((_, json)) = self.calls.get_mut(&block) {
                    json.push_str(delta["json"].as_str().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}
