//! Asking the model: one answer, told as it comes, and again where a hook could do something about a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::StreamExt;
use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use mica_ai::request::ToolChoice;
use mica_ai::{AiError, Assistant, Block, Origin, Request, StreamEvent};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Run;
use crate::event::EventKind;
use crate::guard;
use crate::hooks::{Point, Record, Recovery};
use crate::outcome::RunError;

/// How often one turn may be asked again after a hook did something about its failure.
const RECOVERIES: u32 = 3;

const BROKEN_OFF: &str = "Not run: the answer that called it was broken off.";

impl Run<'_> {
    /// Opens the turn and asks the model, again where a hook did something about a failure. The inner error is the
    /// answer's.
    pub(super) async fn answer(
        &mut self,
        closing: bool,
        cut: &CancellationToken,
    ) -> Result<Result<Assistant, AiError>, RunError> {
        // The request is put together while the turn is being recorded, and leaves when it is: waiting for a disk
        // takes about as long as copying and marking a long conversation.
        let (opened, request) = futures::join!(self.record(Record::TurnOpen), self.request(closing, cut));
        opened?;
        let mut request = request?;
        let mut recoveries = 0;
        loop {
            let error = match self.ask(request, cut).await? {
                Ok(answer) => return Ok(Ok(answer)),
                Err(error) => error,
            };
            if recoveries == RECOVERIES || cut.is_cancelled() || matches!(error, AiError::Cancelled) {
                return Ok(Err(error));
            }
            let recovery = tokio::select! {
                biased;
                () = self.control.aborted() => return Ok(Err(AiError::Cancelled)),
                made = guard::hook("on_failure", async { self.hooks.on_failure(&error, self.cx).await }) => made??,
            };
            if recovery == Recovery::GiveUp || cut.is_cancelled() {
                return Ok(Err(error));
            }
            recoveries += 1;
            let text = format!("{error}. Asking again.");
            self.events.tell(EventKind::Notice { text }).await;
            request = self.request(closing, cut).await?;
        }
    }

    /// The request as it will be sent.
    async fn request(&self, closing: bool, cut: &CancellationToken) -> Result<Arc<Request>, RunError> {
        let mut request = self.cx.request();
        if closing {
            // The tools stay in the request, so that the cached prefix holds.
            request.tool_choice = ToolChoice::None;
        }
        if self.hooks.says(Point::Transform) {
            let transforming = async { self.hooks.transform(&mut request.messages, self.cx).await };
            let changes = tokio::select! {
                biased;
                // What is cut is not sent, whatever it says.
                () = cut.cancelled() => Vec::new(),
                changes = guard::hook("transform", transforming) => changes?,
            };
            for change in changes {
                self.events.tell(EventKind::Window { change }).await;
            }
        }
        catch_unwind(AssertUnwindSafe(|| self.hooks.shape(&mut request, self.cx)))
            .map_err(|panic| RunError::Hook { hook: "shape".to_owned(), message: guard::words(&*panic) })?;
        let request = Arc::new(request);
        self.cx.provider.prepare(&request);
        Ok(request)
    }

    async fn ask(
        &mut self,
        request: Arc<Request>,
        cut: &CancellationToken,
    ) -> Result<Result<Assistant, AiError>, RunError> {
        let id = request.answer.clone();
        self.events.tell(EventKind::AnswerStart { message: id.clone() }).await;
        let began = Instant::now();
        let origin = Origin {
            dialect: request.model.dialect,
            provider: String::new(),
            model: request.model.id.clone(),
        };
        let mut stream = self.cx.provider.stream(request, cut.clone());
        let overdue = guard::overdue(cut);
        tokio::pin!(overdue);
        let (mut message, error) = loop {
            let event = tokio::select! {
                biased;
                event = stream.next() => event,
                // A provider that does not stop when it is told to is left behind.
                () = &mut overdue => break (Assistant::empty(id.clone(), origin), Some(AiError::Cancelled)),
            };
            match event {
                Some(StreamEvent::Done { message }) => break (*message, None),
                Some(StreamEvent::Error { partial, error }) => break (*partial, Some(error)),
                Some(StreamEvent::Retry(retry)) => self.events.tell(EventKind::Retry(retry)).await,
                Some(delta) => self.events.tell(EventKind::Answer { message: id.clone(), delta }).await,
                None => {
                    let detail = "the stream ended without an outcome".to_owned();
                    break (Assistant::empty(id.clone(), origin), Some(AiError::Protocol { detail }));
                }
            }
        };
        self.cx.tally.active += began.elapsed();
        self.cx.tally.usage += message.usage;
        let (stop, usage) = (message.stop, message.usage);
        self.events.tell(EventKind::AnswerEnd { message: id, stop, usage }).await;
        self.events.tell(EventKind::Usage { usage: self.cx.tally.usage }).await;
        distinct(&mut message);
        let Some(error) = error else { return Ok(Ok(message)) };
        // Half an answer is kept for people; models never see it again.
        if !message.blocks.is_empty() {
            let calls: Vec<ToolCall> = message.calls().cloned().collect();
            self.keep(message.into()).await?;
            self.settle(&calls, BROKEN_OFF).await?;
        }
        Ok(Err(error))
    }
}

/// Makes the ids of an answer's calls differ. Providers here see to it; one from elsewhere may not, and then a yes
/// to one call would be a yes to the other.
fn distinct(answer: &mut Assistant) {
    let mut seen: Vec<CallId> = Vec::new();
    for block in &mut answer.blocks {
        if let Block::ToolCall(call) = block {
            let given = call.id.clone();
            let mut number = 1;
            while seen.contains(&call.id) {
                number += 1;
                call.id = CallId::from(format!("{given}_{number}"));
            }
            seen.push(call.id.clone());
        }
    }
}
