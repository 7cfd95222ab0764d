//! The loop: ask the model, run its tools, repeat.
//!
//! Two levels, as in every agent: turns go on while there are calls or messages that arrived meanwhile; when both are
//! done, what was queued for afterwards begins another round. Limits, rules, windows and records are the hooks'.
//!
//! Promises kept here: a truncated answer runs nothing; every call has one result, in order; nothing is asked of the
//! model that is not recorded; a run always ends with one typed outcome.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::StreamExt;
use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::request::ToolChoice;
use mica_ai::{AiError, Assistant, Message, StopReason, StreamEvent, User};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::approval::Decisions;
use crate::batch;
use crate::call::{Finished, not_run};
use crate::context::Context;
use crate::control::Control;
use crate::event::{EventKind, EventSink};
use crate::gate::{self, Passed};
use crate::hooks::{Hooks, Record, Recovery, Step};
use crate::outcome::{Limit, Outcome, RunError, Tally};

/// How often one turn may be asked again after a hook did something about its failure.
const RECOVERIES: u32 = 3;

/// Runs from a prompt until the agent stops.
pub async fn run(
    input: Vec<Message>,
    cx: &mut Context,
    hooks: &dyn Hooks,
    events: &EventSink,
    control: &Control,
) -> Outcome {
    cx.tally = Tally::default();
    Run { cx, hooks, events, control }.from(Begin::Input(input)).await
}

/// Goes on with a suspended run: the calls of the last answer, with the answers people gave. What the run took until
/// then still counts.
pub async fn resume(
    answers: Decisions,
    cx: &mut Context,
    hooks: &dyn Hooks,
    events: &EventSink,
    control: &Control,
) -> Outcome {
    Run { cx, hooks, events, control }.from(Begin::Answers(answers)).await
}

enum Begin {
    Input(Vec<Message>),
    Answers(Decisions),
}

struct Run<'a> {
    cx: &'a mut Context,
    hooks: &'a dyn Hooks,
    events: &'a EventSink,
    control: &'a Control,
}

/// What a turn came to.
enum Turn {
    /// There is more to do.
    More,
    /// The model is done.
    Done,
    /// What was under way was cut, to make room for what was queued.
    Cut,
    /// The run is over.
    Over(Outcome),
}

impl Run<'_> {
    async fn from(mut self, begin: Begin) -> Outcome {
        self.events.tell(EventKind::RunStart).await;
        let outcome = match self.rounds(begin).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::Failed { error },
        };
        self.events.tell(EventKind::RunEnd { outcome: outcome.clone() }).await;
        outcome
    }

    /// The outer level: rounds of turns, until nothing is queued any more.
    async fn rounds(&mut self, begin: Begin) -> Result<Outcome, RunError> {
        let mut joining = match begin {
            Begin::Input(messages) => messages,
            Begin::Answers(answers) => match self.resumed(answers).await? {
                Turn::Over(outcome) => return Ok(outcome),
                Turn::More | Turn::Done | Turn::Cut => Vec::new(),
            },
        };
        loop {
            if let Some(outcome) = self.turns(joining).await? {
                return Ok(outcome);
            }
            joining = self.hooks.follow_up().await;
            if joining.is_empty() {
                return Ok(Outcome::Completed);
            }
        }
    }

    /// The inner level: turns, until the model is done and nothing has arrived. `Some` ends the run.
    async fn turns(&mut self, mut joining: Vec<Message>) -> Result<Option<Outcome>, RunError> {
        loop {
            if self.control.is_aborted() {
                return Ok(Some(Outcome::Aborted));
            }
            self.cx.tally.turns += 1;
            let number = self.cx.tally.turns;
            self.events.tell(EventKind::TurnStart { turn: number }).await;
            joining.extend(self.hooks.steering().await);
            for message in joining.drain(..) {
                self.say(message).await?;
            }
            let turn = self.turn().await;
            self.events.tell(EventKind::TurnEnd { turn: number }).await;
            match turn? {
                Turn::Over(outcome) => return Ok(Some(outcome)),
                Turn::More => {}
                ended @ (Turn::Done | Turn::Cut) => {
                    joining = self.hooks.steering().await;
                    if joining.is_empty() {
                        // An interrupt without anything to go on with is an end.
                        return Ok(matches!(ended, Turn::Cut).then_some(Outcome::Aborted));
                    }
                }
            }
        }
    }

    async fn turn(&mut self) -> Result<Turn, RunError> {
        let closing = match self.before_turn().await? {
            Step::Go => None,
            Step::Stop(limit) => return Ok(Turn::Over(Outcome::Exhausted { limit })),
            Step::Close(limit) => {
                self.say(User::text(farewell(&limit)).into()).await?;
                Some(limit)
            }
        };
        self.record(Record::TurnOpen).await?;
        let cut = self.control.next();
        let answer = match self.answer(&closing, &cut).await? {
            Ok(answer) => answer,
            Err(AiError::Cancelled) if !self.control.is_aborted() => return Ok(Turn::Cut),
            Err(AiError::Cancelled) => return Ok(Turn::Over(Outcome::Aborted)),
            Err(error) => return Ok(Turn::Over(Outcome::Failed { error: error.into() })),
        };
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        let stop = answer.stop;
        self.keep(answer.into()).await?;
        if let Some(limit) = closing {
            self.settle(&calls, "Not run: the run has reached a limit and ends here.").await?;
            return Ok(Turn::Over(Outcome::Exhausted { limit }));
        }
        match stop {
            StopReason::ToolUse => self.calls(&calls, &cut).await,
            StopReason::Stop | StopReason::Refusal => Ok(Turn::Done),
            StopReason::Pause => Ok(Turn::More),
            StopReason::Length if calls.is_empty() => {
                let reached = "the answer was cut off by the output limit".to_owned();
                Ok(Turn::Over(Outcome::Exhausted { limit: Limit { name: "output".to_owned(), reached } }))
            }
            StopReason::Length | StopReason::ContentFilter | StopReason::Error | StopReason::Aborted => {
                let why = if stop == StopReason::Length { CUT_OFF } else { FILTERED };
                self.settle(&calls, why).await?;
                Ok(if calls.is_empty() { Turn::Done } else { Turn::More })
            }
        }
    }

    async fn before_turn(&mut self) -> Result<Step, RunError> {
        let (step, changes) = self.hooks.before_turn(self.cx).await?;
        for change in changes {
            self.events.tell(EventKind::Window { change }).await;
        }
        Ok(step)
    }

    /// Asks the model, again where a hook did something about a failure. The inner error is the answer's.
    async fn answer(
        &mut self,
        closing: &Option<Limit>,
        cut: &CancellationToken,
    ) -> Result<Result<Assistant, AiError>, RunError> {
        for recovery in 0.. {
            let error = match self.ask(closing, cut).await? {
                Ok(answer) => return Ok(Ok(answer)),
                Err(error) => error,
            };
            let helped = recovery < RECOVERIES
                && !matches!(error, AiError::Cancelled)
                && self.hooks.on_failure(&error, self.cx).await? == Recovery::AskAgain;
            if !helped {
                return Ok(Err(error));
            }
            let text = format!("{error}. Asking again.");
            self.events.tell(EventKind::Notice { text }).await;
        }
        Ok(Err(AiError::Cancelled))
    }

    async fn ask(
        &mut self,
        closing: &Option<Limit>,
        cut: &CancellationToken,
    ) -> Result<Result<Assistant, AiError>, RunError> {
        let mut request = self.cx.request();
        if closing.is_some() {
            // The tools stay in the request, so that the cached prefix holds.
            request.tool_choice = ToolChoice::None;
        }
        self.hooks.shape(&mut request, self.cx);
        let id = request.answer.clone();
        self.events.tell(EventKind::AnswerStart { message: id.clone() }).await;
        let began = Instant::now();
        let mut stream = self.cx.provider.stream(Arc::new(request), cut.clone());
        let (message, error) = loop {
            match stream.next().await {
                Some(StreamEvent::Done { message }) => break (*message, None),
                Some(StreamEvent::Error { partial, error }) => break (*partial, Some(error)),
                Some(StreamEvent::Retry(retry)) => self.events.tell(EventKind::Retry(retry)).await,
                Some(delta) => self.events.tell(EventKind::Answer { message: id.clone(), delta }).await,
                None => {
                    let detail = "the stream ended without an outcome".to_owned();
                    return Err(AiError::Protocol { detail }.into());
                }
            }
        };
        self.cx.tally.active += began.elapsed();
        self.cx.tally.usage += message.usage;
        let (stop, usage) = (message.stop, message.usage);
        self.events.tell(EventKind::AnswerEnd { message: id, stop, usage }).await;
        self.events.tell(EventKind::Usage { usage: self.cx.tally.usage }).await;
        match error {
            None => Ok(Ok(message)),
            Some(error) => {
                // Half an answer is kept for people; models never see it again.
                if !message.blocks.is_empty() {
                    self.keep(message.into()).await?;
                }
                Ok(Err(error))
            }
        }
    }

    /// Passes the calls of an answer through the gate and runs them.
    async fn calls(&mut self, calls: &[ToolCall], cut: &CancellationToken) -> Result<Turn, RunError> {
        self.note(calls);
        let passed = gate::pass(calls, self.cx, self.hooks).await;
        let answers = match self.decisions(&passed).await? {
            Ok(answers) => answers,
            Err(outcome) => return Ok(Turn::Over(outcome)),
        };
        self.run_calls(passed, &answers, cut).await
    }

    /// What people say about the calls they are asked about: at once, or later.
    async fn decisions(&mut self, passed: &Passed) -> Result<Result<Decisions, Outcome>, RunError> {
        let asks = passed.asks();
        if asks.is_empty() {
            return Ok(Ok(Decisions::default()));
        }
        for ask in &asks {
            self.events.tell(EventKind::ApprovalAsked { ask: ask.clone() }).await;
        }
        let given = tokio::select! {
            biased;
            () = self.control.aborted() => return Ok(Err(Outcome::Aborted)),
            given = self.hooks.approve(&asks) => given,
        };
        let Some(given) = given else {
            self.record(Record::Asked(&asks)).await?;
            return Ok(Err(Outcome::Suspended { asks }));
        };
        let mut answers = Decisions::default();
        for (ask, decision) in asks.iter().zip(given) {
            let call = ask.call.id.clone();
            let told = EventKind::ApprovalGiven { call: call.clone(), decision: decision.clone() };
            self.events.tell(told).await;
            answers.0.push((call, decision));
        }
        Ok(Ok(answers))
    }

    async fn run_calls(
        &mut self,
        passed: Passed,
        answers: &Decisions,
        cut: &CancellationToken,
    ) -> Result<Turn, RunError> {
        let items = passed.decided(answers, self.cx, self.hooks).await;
        let began = Instant::now();
        let (hooks, events) = (self.hooks, self.events);
        let mut ends = false;
        let mut kept = Ok(());
        batch::run(items, hooks, events, cut, async |finished: Finished| {
            ends |= finished.ends_run;
            if kept.is_ok() {
                kept = self.result(finished).await;
            }
        })
        .await;
        kept?;
        self.cx.tally.active += began.elapsed();
        Ok(if self.control.is_aborted() {
            Turn::Over(Outcome::Aborted)
        } else if cut.is_cancelled() {
            Turn::Cut
        } else if ends {
            Turn::Over(Outcome::Completed)
        } else {
            Turn::More
        })
    }

    /// Goes on where a suspended run stopped: its calls pass the gate again, with the answers at hand.
    async fn resumed(&mut self, answers: Decisions) -> Result<Turn, RunError> {
        let calls = self.cx.open_calls();
        if calls.is_empty() {
            let message = "no call of the last answer waits for a result".to_owned();
            return Err(RunError::Resume { message });
        }
        if let Some((stray, _)) = answers.0.iter().find(|(id, _)| calls.iter().all(|call| call.id != *id)) {
            return Err(RunError::Resume { message: format!("no call {stray} waits for an answer") });
        }
        for (call, decision) in &answers.0 {
            let told = EventKind::ApprovalGiven { call: call.clone(), decision: decision.clone() };
            self.events.tell(told).await;
        }
        let cut = self.control.next();
        let passed = gate::pass(&calls, self.cx, self.hooks).await;
        self.run_calls(passed, &answers, &cut).await
    }

    /// Answers calls that are not run.
    async fn settle(&mut self, calls: &[ToolCall], reason: &str) -> Result<(), RunError> {
        for call in calls {
            self.result(not_run(call, reason)).await?;
        }
        Ok(())
    }

    async fn result(&mut self, finished: Finished) -> Result<(), RunError> {
        match finished.result.status {
            ResultStatus::Ok => self.cx.tally.failures = 0,
            ResultStatus::Failed => self.cx.tally.failures += 1,
        }
        self.say(finished.result.into()).await
    }

    /// Keeps a message and tells it.
    async fn say(&mut self, message: Message) -> Result<(), RunError> {
        self.keep(message.clone()).await?;
        self.events.tell(EventKind::Message { message }).await;
        Ok(())
    }

    /// Keeps a message: on record first, then in the window.
    async fn keep(&mut self, message: Message) -> Result<(), RunError> {
        self.record(Record::Message(&message)).await?;
        self.cx.messages.push(message);
        Ok(())
    }

    async fn record(&self, record: Record<'_>) -> Result<(), RunError> {
        self.hooks.record(record).await.map_err(|message| RunError::Record { message })
    }

    /// Remembers which calls were made, so that repetition can be judged.
    fn note(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let mut hasher = DefaultHasher::new();
            (&call.name, call.arguments.text()).hash(&mut hasher);
            self.cx.tally.calls.push(hasher.finish());
        }
    }
}

const CUT_OFF: &str = "Not run: your answer was cut off by the output limit, so its calls may be incomplete. Nothing \
                       was changed. Do it in smaller steps.";
const FILTERED: &str = "Not run: your answer was cut off by a content filter. Nothing was changed.";

/// What the model is told when a limit is reached and it may say one thing more.
fn farewell(limit: &Limit) -> String {
    format!(
        "[Note from the system, not from the user: {limit}. No more tools can be called. Say in a few sentences what \
         is done, what is not, and how to go on.]"
    )
}
