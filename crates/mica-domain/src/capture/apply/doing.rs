//! Does one action, and says what became of it.

use std::sync::Arc;

use mica_agent::{Args, Effect, RunId, Tool, ToolCx, ToolOutput, ToolSet};
use mica_ai::Content;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::Applier;
use crate::approvals::approved;
use crate::capture::action::{Action, Status};
use crate::capture::bundle::Bundle;
use crate::capture::wrap::is_captured;

/// Letters that are kept of what an action came to.
const TEXT: usize = 4000;

/// Bytes that are kept of the details: what they point to is in the product anyway.
const DETAILS: usize = 32 << 10;

impl Applier {
    /// Does an action, and says what became of it.
    pub(super) async fn done(
        &self,
        bundle: &Bundle,
        action: &Action,
        tool: Arc<dyn Tool>,
        args: Args,
    ) -> Status {
        let cancel = CancellationToken::new();
        let key = format!("bundle/{}/{}", bundle.id(), action.id);
        let run = RunId::from(key.as_str());
        let mut cx = ToolCx::new(run, action.id.as_str().into(), cancel.clone(), |_| {});
        cx.effect_key = key;
        let deadline = tool.spec().deadline;
        let effect = effect(&self.tools, action);
        let by = bundle.approved_by().map(str::to_owned);
        // A task of its own: a panic stays in it. Dropped with it when this process gives up. Whose yes the call has is said
        // within it: what is said around a task is not heard there.
        let call = approved(by, async move { tool.call(args, &cx).await });
        let mut task = AbortOnDropHandle::new(tokio::spawn(mica_ai::id::carried(call)));
        let Ok(made) = tokio::time::timeout(deadline, &mut task).await else {
            cancel.cancel();
            return unknown(effect, format!("it did not finish within {} s", deadline.as_secs()));
        };
        match made {
            Ok(Ok(output)) if is_captured(output.details.as_ref()) => {
                Status::Failed { reason: "its tool still captures calls, so nothing was done".to_owned() }
            }
            Ok(Ok(output)) => came_to(action, output),
            Ok(Err(error)) => Status::Failed { reason: error.message },
            Err(_) => unknown(effect, "its tool broke".to_owned()),
        }
    }
}

/// What may happen when an action is done again: what was said when it was captured, or what is said now, whichever is
/// worse.
pub(super) fn effect(tools: &ToolSet, action: &Action) -> Effect {
    match tools.find(&action.tool).map(|tool| tool.spec().effect) {
        Some(Effect::Unsafe) | None => Effect::Unsafe,
        Some(_) if action.effect == Effect::Unsafe => Effect::Unsafe,
        Some(effect) => effect,
    }
}

/// What became of an action that did not say so itself.
fn unknown(effect: Effect, reason: String) -> Status {
    match effect {
        Effect::Pure => Status::Failed { reason },
        Effect::Idempotent | Effect::Keyed | Effect::Transactional | Effect::Unsafe => {
            Status::Unknown { reason }
        }
    }
}

fn came_to(action: &Action, output: ToolOutput) -> Status {
    let texts = output.content.iter().filter_map(|content| match content {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let text: String = texts.collect::<Vec<_>>().join("\n").chars().take(TEXT).collect();
    let mut details = output.details.unwrap_or(Value::Null);
    let made = made(action, &details);
    if details.to_string().len() > DETAILS {
        details = Value::Null;
    }
    Status::Done { text, details, made }
}

/// The id of what was made: where the predicted details had the id that stood for it. Places that do not agree say nothing.
fn made(action: &Action, details: &Value) -> Option<Value> {
    let mut found = action.makes.iter().map(|place| details.pointer(place));
    let first = found.next()??;
    let agreed = found.all(|other| other == Some(first));
    (agreed && (first.is_string() || first.is_number())).then(|| first.clone())
}
