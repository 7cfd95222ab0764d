//! What an agent is told when a trigger fires: what to do, and why now. What others wrote is cut short, and fenced.

use jiff::Timestamp;
use mica_context::fence::{fenced, inner};
use serde_json::Value;

use super::DispatcherLimits;
use crate::runners::{clip, one_line};
use crate::triggers::definition::{On, Trigger};
use crate::triggers::happened::{Happened, What};

const ELEMENT: &str = "trigger";
const WORDS: &str = "words";

/// For a time.
pub(super) fn time(trigger: &Trigger, due: Timestamp) -> String {
    let text = format!("It is time: {due}.");
    let attributes = [("id", trigger.id.as_str()), ("kind", trigger.on.name())];
    format!("{}\n\n{}", trigger.instructions.trim(), fenced(ELEMENT, &attributes, &text))
}

/// For something that happened. What somebody writes to the agent itself is for the agent: it is said as it is.
pub(super) fn happened(trigger: &Trigger, happened: &Happened, limits: &DispatcherLimits) -> String {
    if trigger.on == On::DirectMessage {
        return happened.words.as_ref().map(|words| words.text.trim().to_owned()).unwrap_or_default();
    }
    let what = match &happened.what {
        What::Event { event } => format!("event: {event}"),
        What::Mention { .. } => "you were mentioned".to_owned(),
        What::Assignment { .. } => "something was assigned to you".to_owned(),
        What::DirectMessage { .. } => "somebody wrote to you".to_owned(),
    };
    let mut lines = vec![what];
    lines.extend(happened.invoker.as_ref().map(|by| format!("by: {}", one_line(by, limits.field))));
    lines.extend(happened.fields.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        format!("{}: {}", one_line(name, limits.field), one_line(&value, limits.field))
    }));
    let attributes = [("id", trigger.id.as_str()), ("kind", trigger.on.name())];
    // Neither fence may be begun or ended from inside of the other.
    let facts = fenced(ELEMENT, &attributes, &inner(&[WORDS], &lines.join("\n")));
    let words = happened.words.as_ref().map(|words| {
        let text = inner(&[ELEMENT], &clip(&words.text, limits.words));
        format!("\n{}", fenced(WORDS, &[("from", &words.from)], &text))
    });
    format!("{}\n\n{facts}{}", trigger.instructions.trim(), words.unwrap_or_default())
}
