//! One call: run it, and make of whatever happens a result the model can act on.
//!
//! Invariant: every call has exactly one result. A panic, a deadline, a cancellation and too much output are results
//! too, and say what is known of the effect.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use mica_ai::Content;
use mica_ai::message::{ResultStatus, ToolCall, ToolResult};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::batch::Prepared;
use crate::cx::ToolCx;
use crate::event::{EventKind, EventSink};
use crate::hooks::Hooks;
use crate::tool::{Effect, Ends, ToolError, ToolOutput, ToolSpec};

/// How long a call that was told to stop may take to stop.
const GRACE: Duration = Duration::from_secs(2);

/// Progress that nobody has read yet. More than this is dropped: the result has it all.
const PROGRESS: usize = 64;

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) result: ToolResult,
    pub(crate) ends_run: bool,
}

/// A result for a call that was not run.
pub(crate) fn not_run(call: &ToolCall, reason: impl Into<String>) -> Finished {
    Finished { result: call.result(vec![Content::text(reason)], ResultStatus::Failed), ends_run: false }
}

/// Runs a call to its result.
pub(crate) async fn run(
    prepared: Prepared,
    hooks: &dyn Hooks,
    events: &EventSink,
    cut: &CancellationToken,
) -> Finished {
    let Prepared { call, tool, args } = prepared;
    let spec = tool.spec().clone();
    events
        .tell(EventKind::CallStart {
            call: call.id.clone(),
            tool: spec.name.clone(),
            label: spec.label.clone(),
            arguments: Value::Object(args.clone()),
        })
        .await;

    let cancel = cut.child_token();
    let (news, mut heard) = mpsc::channel::<String>(PROGRESS);
    let cx = ToolCx::new(events.run().clone(), call.id.clone(), cancel.clone(), move |text| {
        let _ = news.try_send(text);
    });
    let work = async {
        let made = AssertUnwindSafe(tool.call(args, &cx)).catch_unwind().await;
        drop(cx);
        made
    };
    let tell = async |news| events.tell(EventKind::CallProgress { call: call.id.clone(), news }).await;
    let working = bounded(work, &spec, &cancel);
    tokio::pin!(working);
    let ended = loop {
        tokio::select! {
            biased;
            Some(news) = heard.recv() => tell(news).await,
            ended = &mut working => break ended,
        }
    };
    // What was told last, and what a task that outlives the call still holds back is not waited for.
    while let Ok(news) = heard.try_recv() {
        tell(news).await;
    }

    let mut output = match ended {
        Ended::Made(Ok(output)) => Ok(output),
        Ended::Made(Err(error)) => Err(error),
        Ended::Panicked(message) => {
            tracing::error!(tool = %spec.name, message, "a tool panicked");
            Err(ToolError::new(format!(
                "The tool broke ({message}). {} Try another way.",
                effect_after(spec.effect)
            )))
        }
        Ended::Late => Err(ToolError::new(format!(
            "The call did not finish within {} s and was stopped. {} Ask for less at once, or another way.",
            spec.deadline.as_secs_f32(),
            effect_after(spec.effect)
        ))),
        Ended::Cut => Err(ToolError::new(format!("The call was interrupted. {}", effect_after(spec.effect)))),
    };
    if let Ok(made) = &mut output {
        let checked = AssertUnwindSafe(hooks.after_tool(&call, &spec, made)).catch_unwind().await;
        limit(made, spec.output_limit);
        if checked.is_err() {
            output = Err(ToolError::new(
                "The tool did its work, but a check after it broke: its result is not known.",
            ));
        }
    }
    let (content, status, details) = match output {
        Ok(output) => (output.content, ResultStatus::Ok, output.details),
        Err(error) => (vec![Content::text(error.message)], ResultStatus::Failed, error.details),
    };
    events.tell(EventKind::CallEnd { call: call.id.clone(), status, details }).await;
    Finished {
        ends_run: status == ResultStatus::Ok && spec.ends == Ends::Run,
        result: call.result(content, status),
    }
}

enum Ended {
    Made(Result<ToolOutput, ToolError>),
    Panicked(String),
    Late,
    Cut,
}

type Made = Result<Result<ToolOutput, ToolError>, Box<dyn Any + Send>>;

/// Waits for a call within its deadline. One that is told to stop has a moment to say how far it came.
async fn bounded(work: impl Future<Output = Made>, spec: &ToolSpec, cancel: &CancellationToken) -> Ended {
    tokio::pin!(work);
    let why = tokio::select! {
        biased;
        made = &mut work => return ended(made),
        () = cancel.cancelled() => Ended::Cut,
        () = tokio::time::sleep(spec.deadline) => Ended::Late,
    };
    cancel.cancel();
    match tokio::time::timeout(GRACE, work).await {
        Ok(made) => ended(made),
        Err(_) => why,
    }
}

fn ended(made: Made) -> Ended {
    match made {
        Ok(made) => Ended::Made(made),
        Err(panic) => {
            let message = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "no message".to_owned());
            Ended::Panicked(message)
        }
    }
}

fn effect_after(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => "It changed nothing.",
        Effect::Idempotent | Effect::Keyed | Effect::Transactional => "It can be called again safely.",
        Effect::Unsafe => "What it changed until then is unknown: look before you call it again.",
    }
}

/// Cuts the middle out of a result that is too large.
fn limit(output: &mut ToolOutput, limit: usize) {
    let mut left = limit;
    for content in &mut output.content {
        if let Content::Text { text } = content {
            if text.len() > left {
                *text = shortened(text, left);
            }
            left = left.saturating_sub(text.len());
        }
    }
}

fn shortened(text: &str, keep: usize) -> String {
    let head = floor(text, keep / 2);
    let tail = ceil(text, text.len() - keep / 2);
    format!(
        "{}\n[… {} of {} bytes are left out here …]\n{}",
        &text[..head],
        tail - head,
        text.len(),
        &text[tail..]
    )
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
