//! One call: run it, and make of whatever happens a result the model can act on.
//!
//! Invariant: every call has exactly one result. A panic, a deadline, a cancellation and too much output are results
//! too, and say what is known of the effect.

use std::sync::Arc;

use mica_ai::Content;
use mica_ai::id::carried;
use mica_ai::message::{ResultStatus, ToolCall, ToolResult};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::batch::{Around, Prepared};
use crate::cx::{News, ToolCx};
use crate::event::EventKind;
use crate::guard;
use crate::hooks::Point;
use crate::shorten::shortened;
use crate::tool::{Effect, Ends, ToolError, ToolOutput, ToolSpec};
use crate::waits::{Patience, Waits};

/// Progress that nobody has read yet. More than this is dropped: the result has it all.
const PROGRESS: usize = 64;

/// Bytes of one piece of progress: more than a screen shows.
const PIECE: usize = 16 << 10;

/// What a call is answered with that did not begin before its batch was cut.
pub(crate) const INTERRUPTED: &str = "Not run: the batch was interrupted before this call began.";

/// What a call is answered with behind one that ended the batch.
pub(crate) const ENDED: &str = "Not run: a call before it in the same answer changed what may be done. Look at its \
                                result, and call again what is still right.";

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) result: ToolResult,
    pub(crate) ends_run: bool,
    pub(crate) ends_batch: bool,
}

/// A result for a call that was not run.
pub(crate) fn not_run(call: &ToolCall, reason: impl Into<String>) -> Finished {
    let result = call.result(vec![Content::text(reason)], ResultStatus::Failed);
    Finished { result, ends_run: false, ends_batch: false }
}

/// Runs a call to its result.
pub(crate) async fn run(prepared: Prepared, around: Around<'_>) -> Finished {
    let call = prepared.call.clone();
    let spec = prepared.tool.spec().clone();
    let started = EventKind::CallStart {
        call: call.id.clone(),
        tool: spec.name.clone(),
        label: spec.label.clone(),
        arguments: Value::Object(prepared.args.clone()),
    };
    around.events.tell(started).await;
    let made = match done(prepared, &spec, around).await {
        Ok(output) => checked(output, &call, &spec, around).await,
        Err(error) => Err(looked_at(error, &call, &spec, around).await),
    };
    let made = settled(made, &call, &spec, around).await;
    let (mut content, status, details) = match made {
        Ok(output) => (output.content, ResultStatus::Ok, output.details),
        Err(error) => (vec![Content::text(error.message)], ResultStatus::Failed, error.details),
    };
    limit(&mut content, spec.output_limit);
    around.events.tell(EventKind::CallEnd { call: call.id.clone(), status, details }).await;
    Finished {
        ends_run: status == ResultStatus::Ok && spec.ends == Ends::Run,
        ends_batch: status == ResultStatus::Ok && spec.ends == Ends::Batch,
        result: call.result(content, status),
    }
}

/// Does the work, and tells how far it is meanwhile.
async fn done(prepared: Prepared, spec: &ToolSpec, around: Around<'_>) -> Result<ToolOutput, ToolError> {
    let Prepared { call, tool, args } = prepared;
    let cancel = around.cut.child_token();
    let (news, mut heard) = mpsc::channel::<News>(PROGRESS);
    let waits = Waits::of_call(around.waits);
    let (run, told) = (around.events.run().clone(), news.clone());
    let cx = ToolCx::new(run, call.id.clone(), cancel.clone(), move |text| {
        let text = if text.len() > PIECE { shortened(&text, PIECE) } else { text };
        let _ = told.try_send(News::Progress(text));
    });
    let mut cx = cx.asking(news, Arc::clone(&waits));
    cx.effect_key = format!("{}/{}", around.answer, call.id);
    // A task of its own: a tool that blocks its thread blocks no deadline, and a panic stays in it.
    let tool = Arc::clone(&tool);
    let task = tokio::spawn(carried(async move { tool.call(args, &cx).await }).in_current_span());
    let over = CancellationToken::new();
    let working = async {
        let ended = bounded(AbortOnDropHandle::new(task), spec, &waits, &cancel).await;
        over.cancel();
        ended
    };
    let mut told = Told { call: &call, around, asked: false };
    let telling = async {
        loop {
            tokio::select! {
                biased;
                () = over.cancelled() => break,
                news = heard.recv() => match news {
                    Some(news) => told.pass_on(news).await,
                    None => break,
                },
            }
        }
        // What was told until now is passed on. What a task that outlives the call tells later is not waited for.
        heard.close();
        while let Some(news) = heard.recv().await {
            told.pass_on(news).await;
        }
        // A call that was cut while it asked.
        if told.asked {
            told.pass_on(News::Over).await;
        }
    };
    let (ended, ()) = futures::join!(working, telling);
    ended
}

/// Makes events of what a call tells.
struct Told<'a> {
    call: &'a ToolCall,
    around: Around<'a>,
    /// Whether it waits for a person.
    asked: bool,
}

impl Told<'_> {
    async fn pass_on(&mut self, news: News) {
        let call = self.call.id.clone();
        let kind = match news {
            News::Progress(news) => EventKind::CallProgress { call, news },
            News::Asked(questions) => {
                self.asked = true;
                EventKind::Question { call, questions }
            }
            News::Over => {
                self.asked = false;
                EventKind::QuestionOver { call }
            }
        };
        self.around.events.tell(kind).await;
    }
}

type Made = Result<Result<ToolOutput, ToolError>, JoinError>;

/// Waits for a call within its deadline. One that is told to stop has a moment to say how far it came.
async fn bounded(
    mut work: AbortOnDropHandle<Result<ToolOutput, ToolError>>,
    spec: &ToolSpec,
    waits: &Waits,
    cancel: &CancellationToken,
) -> Result<ToolOutput, ToolError> {
    let effect = effect_after(spec.effect);
    let why = tokio::select! {
        biased;
        made = &mut work => return ended(made, spec),
        () = cancel.cancelled() => format!("The call was interrupted. {effect}"),
        () = waits.worked(spec.deadline) => format!(
            "The call did not finish within {} s and was stopped. {effect} Ask for less at once, or another way.",
            spec.deadline.as_secs_f32()
        ),
    };
    cancel.cancel();
    match tokio::time::timeout(guard::GRACE, work).await {
        Ok(made) => ended(made, spec),
        Err(_) => Err(ToolError::new(why)),
    }
}

fn ended(made: Made, spec: &ToolSpec) -> Result<ToolOutput, ToolError> {
    let effect = effect_after(spec.effect);
    match made.map_err(JoinError::try_into_panic) {
        Ok(made) => made,
        Err(Ok(panic)) => {
            let message = guard::words(&*panic);
            tracing::error!(tool = %spec.name, message, "a tool panicked");
            Err(ToolError::new(format!("The tool broke ({message}). {effect} Try another way.")))
        }
        Err(Err(_)) => Err(ToolError::new(format!("The call was stopped from outside. {effect}"))),
    }
}

/// Lets the hooks look at what a call gave. What they did not finish looking at is withheld: it may hold what they
/// would have taken out.
async fn checked(
    mut output: ToolOutput,
    call: &ToolCall,
    spec: &ToolSpec,
    around: Around<'_>,
) -> Result<ToolOutput, ToolError> {
    let looking = async { around.hooks.after_tool(call, spec, &mut output).await };
    match unfinished(looking, spec, around).await {
        None => Ok(output),
        Some(problem) => Err(ToolError::new(format!(
            "The tool did its work, but a check of its result {problem}, so the result is withheld. Look at what it \
             changed before you go on."
        ))),
    }
}

/// Lets the hooks look at why a call failed, as at what one gave.
async fn looked_at(mut error: ToolError, call: &ToolCall, spec: &ToolSpec, around: Around<'_>) -> ToolError {
    let looking = async { around.hooks.after_failure(call, spec, &mut error).await };
    match unfinished(looking, spec, around).await {
        None => error,
        Some(problem) => ToolError::new(format!(
            "The call failed, and a check of what it said about it {problem}, so that is withheld. {}",
            effect_after(spec.effect)
        )),
    }
}

/// Lets the hooks look at what a call came to in the end, whichever it is.
async fn settled(
    mut made: Result<ToolOutput, ToolError>,
    call: &ToolCall,
    spec: &ToolSpec,
    around: Around<'_>,
) -> Result<ToolOutput, ToolError> {
    if !around.hooks.says(Point::AfterCall) {
        return made;
    }
    let worked = made.is_ok();
    let looking = async { around.hooks.after_call(call, spec, &mut made).await };
    match unfinished(looking, spec, around).await {
        None => made,
        Some(problem) if worked => Err(ToolError::new(format!(
            "The tool did its work, but a check of its result {problem}, so the result is withheld. Look at what it \
             changed before you go on."
        ))),
        Some(problem) => Err(ToolError::new(format!(
            "The call failed, and a check of what it said about it {problem}, so that is withheld. {}",
            effect_after(spec.effect)
        ))),
    }
}

/// Why hooks did not finish looking, if they did not.
async fn unfinished(
    looking: impl Future<Output = ()>,
    spec: &ToolSpec,
    around: Around<'_>,
) -> Option<&'static str> {
    tokio::select! {
        biased;
        looked = Patience::within(around.hooks.deadline(), guard::caught(looking)) => match looked {
            Some(Ok(())) => None,
            Some(Err(message)) => {
                tracing::error!(tool = %spec.name, message, "a hook panicked after a tool");
                Some("broke")
            }
            None => Some("took too long"),
        },
        () = guard::overdue(around.cut) => Some("was interrupted"),
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
fn limit(content: &mut [Content], limit: usize) {
    let mut left = limit;
    for part in content {
        if let Content::Text { text } = part {
            if text.len() > left {
                *text = shortened(text, left);
            }
            left = left.saturating_sub(text.len());
        }
    }
}
