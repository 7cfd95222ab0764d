//! The calls made so far, as facts, out of the conversation.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use mica_agent::{Access, Context};
use mica_ai::Message;
use mica_ai::message::{ResultStatus, ToolCall};
use serde_json::Value;

use super::Fact;
use crate::rules::{Action, RuleSet};

/// Calls that are looked back at. More than the longest pattern needs.
const WINDOW: usize = 32;

/// Which call it was: equal for the same tool with the same arguments, however they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The fingerprint of a call. Only good for comparing within a process.
    pub fn of(call: &ToolCall) -> Self {
        let mut hasher = DefaultHasher::new();
        call.name.hash(&mut hasher);
        match call.arguments.parse() {
            Ok(args) => hash(&Value::Object(args), &mut hasher),
            Err(_) => call.arguments.text().hash(&mut hasher),
        }
        Self(hasher.finish())
    }
}

/// Hashes a value so that the order of an object's members makes no difference.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            ('{', members.len()).hash(hasher);
            for (name, member) in members {
                name.hash(hasher);
                hash(member, hasher);
            }
        }
        Value::Array(items) => {
            ('[', items.len()).hash(hasher);
            items.iter().for_each(|item| hash(item, hasher));
        }
        scalar => scalar.to_string().hash(hasher),
    }
}

/// The calls before a call, and the call itself. They go back to the last thing a user said: after that, doing
/// something again can be what they asked for. Calls of the same answer that have no result yet count as made.
pub fn history(cx: &Context, call: &ToolCall, polls: &RuleSet) -> (Vec<Fact>, Fact) {
    let fact = |call: &ToolCall, failed: bool| {
        let call = &*cx.tools.as_meant(call);
        let changes = cx.tools.find(&call.name).is_none_or(|tool| tool.spec().access != Access::Read);
        Fact { call: Fingerprint::of(call), failed, changes, polls: is_poll(call, polls) }
    };
    let mut failed = HashMap::new();
    let mut past = Vec::new();
    let mut newest = true;
    for message in cx.messages.iter().rev() {
        match message {
            Message::User(_) => break,
            Message::ToolResult(result) => {
                failed.insert(&result.call, result.status == ResultStatus::Failed);
            }
            Message::Assistant(answer) => {
                let before: Vec<&ToolCall> =
                    answer.calls().take_while(|made| !newest || made.id != call.id).collect();
                for made in before.into_iter().rev() {
                    past.push(fact(made, failed.get(&made.id).copied().unwrap_or(false)));
                }
                newest = false;
            }
        }
        if past.len() >= WINDOW {
            break;
        }
    }
    past.reverse();
    (past, fact(call, false))
}

/// Whether a call is meant to be made again and again: a rule allows it to.
pub(crate) fn is_poll(call: &ToolCall, polls: &RuleSet) -> bool {
    let args = call.arguments.parse().unwrap_or_default();
    matches!(polls.judge(&call.name, &args), Some((Action::Allow, _)))
}
