//! Everything that an agent told in a case: the same bytes whenever the same case is played.
//!
//! Ids are counted in a case ([`mica_ai::id::Counted`]) and its clock is its own, so there is nothing left in an event
//! that a second run would have otherwise; but calls that run side by side end in the order the world lets them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener};
use mica_ai::{StreamEvent, Usage};
use serde_json::Value;

use crate::product::Called;

/// Hears every event and keeps it. Clones keep in the same place.
#[derive(Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Event>>>);

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

impl Journal {
    /// Here.
    pub fn mark(&self) -> Mark {
        Mark(self.0.lock().unwrap_or_else(PoisonError::into_inner).len())
    }

    /// What was heard since.
    pub fn since(&self, mark: Mark) -> Heard {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut listening = Listening::default();
        events.iter().skip(mark.0).for_each(|event| listening.hear(&event.kind));
        listening.heard
    }

    /// All of it, one event in each row.
    pub fn bytes(&self) -> Vec<u8> {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        for event in events.iter() {
            // Events are made of texts and numbers; memory takes them all.
            let _ = serde_json::to_writer(&mut bytes, event);
            bytes.push(b'\n');
        }
        bytes
    }
}

#[derive(Default)]
struct Listening {
    heard: Heard,
    calls: BTreeMap<usize, (String, String)>,
    asked: Vec<(String, Called)>,
}

impl Listening {
    fn hear(&mut self, kind: &EventKind) {
        match kind {
            EventKind::AnswerStart { .. } => {
                self.heard.text.clear();
                self.calls.clear();
            }
            EventKind::Answer { delta, .. } => self.delta(delta),
            EventKind::AnswerEnd { usage, .. } => {
                self.heard.usage += *usage;
                for (tool, text) in std::mem::take(&mut self.calls).into_values() {
                    let args = serde_json::from_str(&text).unwrap_or(Value::String(text));
                    self.heard.tried.push(Called { tool, args });
                }
            }
            EventKind::CallStart { tool, arguments, .. } => {
                self.heard.ran.push(Called { tool: tool.clone(), args: arguments.clone() });
            }
            EventKind::ApprovalAsked { ask } => {
                let called = Called { tool: ask.call.name.clone(), args: ask.arguments.clone() };
                let id = ask.call.id.as_str();
                match self.asked.iter_mut().find(|(asked, _)| asked == id) {
                    Some((_, before)) => *before = called,
                    None => self.asked.push((id.to_owned(), called)),
                }
                self.heard.asks = self.asked.iter().map(|(_, called)| called.clone()).collect();
            }
            EventKind::Notice { text } => self.heard.notices.push(text.clone()),
            EventKind::Window { change } => {
                self.heard.notices.push(format!("{}: {}", change.kind, change.reason));
            }
            EventKind::Subagent { event, .. } => {
                if let EventKind::AnswerEnd { usage, .. } = &**event {
                    self.heard.usage += *usage;
                }
            }
            _ => {}
        }
    }

    fn delta(&mut self, delta: &StreamEvent) {
        match delta {
            StreamEvent::TextDelta { text, .. } => self.heard.text.push_str(text),
            StreamEvent::CallStart { block, tool, .. } => {
                self.calls.insert(*block, (tool.clone(), String::new()));
            }
            StreamEvent::CallDelta { block, json } => {
                if let Some((_, text)) = self.calls.get_mut(block) {
                    text.push_str(json);
                }
            }
            _ => {}
        }
    }
}
