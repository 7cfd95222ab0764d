//! The store of a session at work in its runs. It stands before the check of schemas, so that what is bound is checked, too.
//!
//! | moment | what happens |
//! |---|---|
//! | before the first turn of a run | what tools gave is forgotten; the time of the run is now |
//! | a call at the gate | what is bound is put in |
//! | the result of a call is on record, and is no failure | it can be referred to, in the order of the calls |
//! | a run waits for a person | what tools gave is kept |

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Record, Step};
use mica_agent::{Context, Hooks, RunError, ToolOutput, ToolSpec, Verdict};
use mica_ai::Message;
use mica_ai::message::{ResultStatus, ToolCall};
use serde_json::Value;

use super::Store;
use super::slice::{Change, Gave};
use crate::cards;

#[async_trait]
impl Hooks for Store {
    fn says(&self, at: Point) -> bool {
        match at {
            Point::Gate => !self.given().bindings.is_empty(),
            Point::BeforeTurn | Point::AfterTool | Point::Record => true,
            _ => false,
        }
    }

    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if cx.tally.turns <= 1 {
            self.fresh().await.map_err(|message| RunError::Record { message })?;
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        match self.bind(gated.spec, &mut gated.args) {
            Ok(()) => Verdict::Pass,
            Err(reason) => Verdict::Deny { reason, rule: None },
        }
    }

    async fn after_tool(&self, call: &ToolCall, _: &ToolSpec, output: &mut ToolOutput) {
        // What was only predicted is no result.
        if cards::standing(output) == cards::Standing::Seen
            && let Some(value) = value(output)
        {
            let gave = Gave { tool: call.name.clone(), call: call.id.to_string(), value };
            self.slice().pending.insert(call.id.clone(), gave);
        }
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Message(Message::ToolResult(result)) => {
                let mut slice = self.slice();
                let gave = slice.pending.remove(&result.call);
                if let (ResultStatus::Ok, Some(gave)) = (result.status, gave) {
                    slice.give(gave, false);
                }
                Ok(())
            }
            Record::Asked(_) => self.waits().await,
            _ => Ok(()),
        }
    }
}

impl Store {
    /// A message begins a run.
    async fn fresh(&self) -> Result<(), String> {
        if self.slice().has_kept() {
            self.keep(Change::Fresh).await.map_err(|error| error.to_string())?;
        }
        let mut slice = self.slice();
        slice.apply(Change::Fresh);
        slice.pending.clear();
        slice.began = Some((self.inner.now)());
        Ok(())
    }

    /// A run waits for a person, possibly longer than the process lives.
    async fn waits(&self) -> Result<(), String> {
        let (given, began, is_kept) = {
            let slice = self.slice();
            (slice.unkept(), slice.began, slice.began_is_kept)
        };
        // The time as well: what is bound to it must be the same when the run goes on, or it would be asked about for ever.
        if given.is_empty() && is_kept {
            return Ok(());
        }
        self.keep(Change::Waits { given, began }).await.map_err(|error| error.to_string())
    }
}

/// What a call gave, as a value: its details, else its text as JSON, else its text.
fn value(output: &ToolOutput) -> Option<Value> {
    if let Some(details) = &output.details {
        return Some(details.clone());
    }
    let texts: Vec<&str> = output
        .content
        .iter()
        .filter_map(|content| match content {
            mica_ai::Content::Text { text } => Some(text.as_str()),
            mica_ai::Content::Image(_) => None,
        })
        .collect();
    let text = texts.join("\n");
    match serde_json::from_str(&text) {
        Ok(value) => Some(value),
        Err(_) => (!text.is_empty()).then_some(Value::String(text)),
    }
}

#[cfg(test)]
mod tests;
