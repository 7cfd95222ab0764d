//! Plays a script as a provider, without any wire: for agents' tests and for demonstrations.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use http::StatusCode;
use mica_ai::assemble::{Assembler, BlockIndex};
use mica_ai::error::classify::{self, Asked};
use mica_ai::error::{Cause, CutPoint, Reply};
use mica_ai::message::{Image, ImageSource, ReasoningField, Seal, TextKind};
use mica_ai::stream::Sink;
use mica_ai::{
    AiError, Assistant, Dialect, ModelStream, Origin, Outcome, Provider, Request, StopReason, Usage,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::answer::wait;
use crate::cache::{Prompt, Ticket};
use crate::fault::{At, Fault, StreamError, Where};
use crate::ids::Ids;
use crate::pieces::{in_turns, pieces};
use crate::preset::ErrorAnswer;
use crate::scenario::{Call, Pacing, Scenario, Step, Stop, Turn};
use crate::script::Script;
use crate::seal;
use crate::seen::Seen;

/// A provider that answers as the script says. It makes one attempt: nothing is retried here.
///
/// Faults of bytes (line ends, splits, sizes) have no meaning without a wire and are ignored; the others become the
/// error a client of the wire would report.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    script: Arc<Script>,
    asked: Arc<Mutex<VecDeque<Arc<Request>>>>,
}

impl ScriptedModel {
    /// A model for a scenario.
    pub fn new(scenario: impl Into<Scenario>) -> Self {
        Self::playing(Script::new(scenario))
    }

    /// A model for a script that others play too.
    pub fn playing(script: Arc<Script>) -> Self {
        Self { script, asked: Arc::default() }
    }

    /// The script, for what the cache did.
    pub fn script(&self) -> &Arc<Script> {
        &self.script
    }

    /// The requests so far, oldest first; at most as many as the scenario's limits allow.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn keep(&self, request: &Arc<Request>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.len() >= self.script.scenario().limits.captured {
            asked.pop_front();
        }
        asked.push_back(Arc::clone(request));
    }
}

impl Provider for ScriptedModel {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        self.keep(&request);
        let number = self.script.next_number();
        let seen = Seen::in_process(&request);
        let origin = Origin {
            dialect: request.model.dialect,
            provider: "scripted".to_owned(),
            model: seen.model.clone(),
        };
        let message = Assistant::empty(request.answer.clone(), origin);
        let Some(turn) = self.script.choose(&seen).cloned() else {
            let reply = Reply::local(format!("the script has no turn for request {number}"));
            return ModelStream::failed(message, AiError::BadRequest { reply });
        };
        let prompt = Prompt::in_process(&request, &seen.model);
        let (usage, ticket) = self.script.account(&turn, &prompt, &request.model.cache);
        let pacing = turn.pacing.unwrap_or(self.script.scenario().pacing);
        let mut out = Assembler::new(message, Arc::clone(&request.model));
        let player = Player {
            ids: Ids::new(&self.script.scenario().name, number),
            script: Arc::clone(&self.script),
            turn,
            pacing,
            dialect: request.model.dialect,
            model: seen.model,
            usage,
            ticket,
        };
        ModelStream::new(|sink| async move {
            let ended = tokio::select! {
                () = cancel.cancelled() => Err(AiError::Cancelled),
                ended = player.play(&mut out, &sink) => ended,
            };
            for event in out.events().drain(..) {
                sink.send(event);
            }
            let message = out.finish();
            match ended {
                Ok(()) => Outcome::Done(message),
                Err(error) => Outcome::Failed { partial: message, error },
            }
        })
    }
}

struct Player {
    script: Arc<Script>,
    turn: Turn,
    pacing: Pacing,
    dialect: Dialect,
    model: String,
    usage: Option<Usage>,
    ticket: Option<Ticket>,
    ids: Ids,
}

/// One thing said. Blocks are numbered in the order they open.
enum Op {
    OpenText(TextKind),
    OpenThinking,
    OpenCall(String, String),
    Feed(usize, String),
    Seal(usize, Seal),
    Close(usize),
    Image(String),
}

impl Player {
    async fn play(mut self, out: &mut Assembler, sink: &Sink) -> Result<(), AiError> {
        if let Some(Fault::SlowHead { ms }) = &self.turn.fault {
            wait(Duration::from_millis(*ms)).await;
        }
        if let Some(error) = self.early() {
            return Err(error);
        }
        let ops = self.ops();
        let (until, fault) = self.late(ops.len());
        wait(Duration::from_millis(self.pacing.first_ms)).await;
        if until > 0 {
            out.start();
        }
        if let Some(ticket) = self.ticket.take() {
            self.script.streaming(ticket);
        }
        let mut open: Vec<Option<BlockIndex>> = Vec::new();
        for op in ops.into_iter().take(until) {
            if matches!(op, Op::Feed(..)) {
                wait(Duration::from_millis(self.pacing.delay_ms)).await;
            }
            apply(op, out, &mut open);
            for event in out.events().drain(..) {
                sink.send(event);
            }
            sink.flush().await;
        }
        match fault {
            Some(Late::Fail(error)) => return Err(error),
            Some(Late::Stall) => std::future::pending().await,
            None => {}
        }
        if let Some(usage) = self.usage {
            out.usage(usage);
        }
        let stop = match self.turn.ending() {
            Stop::Stop => StopReason::Stop,
            Stop::Length => StopReason::Length,
            Stop::ToolUse => StopReason::ToolUse,
            Stop::Refusal => StopReason::Refusal,
            Stop::ContentFilter => StopReason::ContentFilter,
            Stop::Pause => StopReason::Pause,
            Stop::ContextWindowExceeded => {
                let reply = Reply::local("the window is full");
                return Err(AiError::ContextOverflow { limit: None, sent: None, reply });
            }
        };
        out.stop(stop, None);
        Ok(())
    }

    /// What goes wrong before anything is said.
    fn early(&self) -> Option<AiError> {
        let http = |error: &ErrorAnswer| {
            let preset = error.resolve();
            let status = StatusCode::from_u16(preset.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let headers = preset.header_map();
            let asked = Asked {
                model: self.model.clone(),
                tried: "the script's key".to_owned(),
                hint: "This answer is scripted.".to_owned(),
                ..Asked::default()
            };
            // Answers that name a date carry one of their own to read it against; no clock is needed.
            classify::response(status, &headers, preset.body.as_bytes(), &asked, SystemTime::UNIX_EPOCH)
        };
        let network = |why| AiError::Network { action: "connecting".to_owned(), source: Cause::new(why) };
        match (&self.turn.error, &self.turn.fault) {
            (Some(error), _) | (None, Some(Fault::Http(error))) => Some(http(error)),
            (None, Some(Fault::Reset)) => Some(network("connection reset by peer")),
            (None, Some(Fault::Refused)) => Some(network("connection refused")),
            (None, Some(Fault::Html | Fault::JsonInstead | Fault::EmptyBody)) => {
                Some(AiError::Protocol { detail: "the response is no event stream".to_owned() })
            }
            _ => None,
        }
    }

    /// What goes wrong after so much was said.
    fn late(&self, all: usize) -> (usize, Option<Late>) {
        let index = |at: &At| match at {
            At::Start | At::BeforeOutput => 0,
            At::Middle => all.div_ceil(2),
            At::BeforeFinish => all,
            At::Event(count) => (*count).min(all),
        };
        let cut = |when| Late::Fail(AiError::StreamCut { when, source: None });
        match &self.turn.fault {
            Some(Fault::Cut { at, place, .. }) => {
                let when = match (at, place) {
                    (_, Where::Inside) => CutPoint::InsideEvent,
                    (At::Start, Where::Between) => CutPoint::BeforeAnyEvent,
                    (_, Where::Between) => CutPoint::BetweenEvents,
                };
                (index(at), Some(cut(when)))
            }
            Some(Fault::MissingTerminal) => (all, Some(cut(CutPoint::BetweenEvents))),
            Some(Fault::Stall { at }) => (index(at), Some(Late::Stall)),
            Some(Fault::KeepAliveOnly { .. }) => (0, Some(Late::Stall)),
            Some(Fault::KeepAliveThenStall { .. }) => (index(&At::Middle), Some(Late::Stall)),
            Some(Fault::InvalidUtf8 | Fault::InvalidJson) => {
                let error = AiError::Protocol { detail: "an event does not parse".to_owned() };
                (index(&At::Middle), Some(Late::Fail(error)))
            }
            Some(Fault::InStream { error, at }) => {
                let code = match error {
                    StreamError::RateLimited | StreamError::FailedRateLimited => "rate_limit_exceeded",
                    StreamError::Overloaded => "overloaded_error",
                    StreamError::ServerError => "server_error",
                };
                let error =
                    classify::in_stream(&json!({ "code": code, "type": code, "message": "Scripted." }));
                (index(at), Some(Late::Fail(error)))
            }
            _ => (all, None),
        }
    }

    fn ops(&mut self) -> Vec<Op> {
        let mut ops = Vec::new();
        let mut next = 0;
        let turn = self.turn.clone();
        for step in &turn.steps {
            match step {
                Step::Text(text) | Step::Refusal(text) => {
                    let kind =
                        if matches!(step, Step::Refusal(_)) { TextKind::Refusal } else { TextKind::Answer };
                    ops.push(Op::OpenText(kind));
                    self.feed(&mut ops, next, text);
                    ops.push(Op::Close(next));
                    next += 1;
                }
                Step::Thinking(text) => {
                    ops.push(Op::OpenThinking);
                    self.feed(&mut ops, next, text);
                    ops.push(Op::Seal(next, self.seal(text)));
                    ops.push(Op::Close(next));
                    next += 1;
                }
                Step::Redacted(text) => {
                    // Where the wire has no hidden reasoning nothing is said.
                    let seal = match self.dialect {
                        Dialect::Messages => Seal::Redacted(seal::redacted(&self.model, text)),
                        Dialect::Responses => Seal::Encrypted(seal::encrypted(&self.model, text)),
                        Dialect::Chat => continue,
                    };
                    ops.extend([Op::OpenThinking, Op::Seal(next, seal), Op::Close(next)]);
                    next += 1;
                }
                Step::Call(call) => self.calls(&mut ops, &mut next, std::slice::from_ref(call)),
                Step::Interleaved(calls) => self.calls(&mut ops, &mut next, calls),
                Step::Image(data) => {
                    ops.push(Op::Image(data.clone()));
                    next += 1;
                }
            }
        }
        ops
    }

    fn feed(&self, ops: &mut Vec<Op>, block: usize, text: &str) {
        ops.extend(pieces(text, self.pacing.chars).map(|piece| Op::Feed(block, piece.to_owned())));
    }

    fn calls(&mut self, ops: &mut Vec<Op>, next: &mut usize, calls: &[Call]) {
        let first = *next;
        *next += calls.len();
        for call in calls {
            let id = call.id.clone().unwrap_or_else(|| self.ids.call());
            ops.push(Op::OpenCall(id, call.name.clone()));
        }
        let texts: Vec<String> = calls.iter().map(Call::text).collect();
        for (offset, piece) in in_turns(&texts, self.pacing.chars) {
            ops.push(Op::Feed(first + offset, piece.to_owned()));
        }
        ops.extend((first..first + calls.len()).map(Op::Close));
    }

    fn seal(&self, text: &str) -> Seal {
        match self.dialect {
            Dialect::Messages => Seal::Signature(seal::signature(&self.model, text)),
            Dialect::Responses => Seal::Encrypted(seal::encrypted(&self.model, text)),
            Dialect::Chat => Seal::Field(ReasoningField::ReasoningContent),
        }
    }
}

enum Late {
    Fail(AiError),
    Stall,
}

fn apply(op: Op, out: &mut Assembler, open: &mut Vec<Option<BlockIndex>>) {
    let at = |open: &Vec<Option<BlockIndex>>, block: usize| open.get(block).copied().flatten();
    match op {
        Op::OpenText(kind) => open.push(Some(out.open_text(kind))),
        Op::OpenThinking => open.push(Some(out.open_thinking())),
        Op::OpenCall(id, name) => open.push(Some(out.open_call(&id, &name))),
        Op::Image(data) => {
            out.image(Image { media_type: "image/png".to_owned(), source: ImageSource::Base64(data.into()) });
            open.push(None);
        }
        Op::Feed(block, text) => {
            if let Some(block) = at(open, block) {
                out.feed(block, &text);
            }
        }
        Op::Seal(block, seal) => {
            if let Some(block) = at(open, block) {
                out.seal(block, seal);
            }
        }
        Op::Close(block) => {
            if let Some(block) = at(open, block) {
                out.close(block);
            }
        }
    }
}
