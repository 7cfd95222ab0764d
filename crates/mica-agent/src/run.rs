//! The loop: ask the model, run its tools, repeat.
//!
//! Two levels, as in every agent: turns go on while there are calls or messages that arrived meanwhile; when both are
//! done, what was queued for afterwards begins another round. Limits, rules, windows and records are the hooks'.
//!
//! Promises kept here: a truncated answer runs nothing; every call has one result, in order; nothing is asked of the
//! model that is not recorded; a run always ends with one typed outcome.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use mica_ai::error::Reply;
use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::{AiError, Message, StopReason, User};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::approval::{Answer, Decisions};
use crate::batch::{self, Around};
use crate::call::{Finished, not_run};
use crate::context::Context;
use crate::control::Control;
use crate::event::{EventKind, EventSink};
use crate::gate::{self, Passed};
use crate::guard;
use crate::hooks::{Hooks, Record, Step};
use crate::outcome::{Limit, Outcome, RunError, Tally};
use crate::waits::Waits;

mod answer;
mod asking;

/// How many answers in a row may end before the model was done: by the output limit, or by a pause of the provider.
const UNFINISHED: u32 = 5;

/// Runs from a prompt until the agent stops. Calls that an earlier run left without a result are answered first.
pub async fn run(
    input: Vec<Message>,
    cx: &mut Context,
    hooks: &dyn Hooks,
    events: &EventSink,
    control: &Control,
) -> Outcome {
    begin(input, LEFT, cx, hooks, events, control).await
}

/// The same, with what to say about the calls that were left.
pub(crate) async fn begin(
    input: Vec<Message>,
    left: &str,
    cx: &mut Context,
    hooks: &dyn Hooks,
    events: &EventSink,
    control: &Control,
) -> Outcome {
    cx.tally = Tally::default();
    let is_kept = |stop| !matches!(stop, StopReason::Error | StopReason::Aborted);
    let words = |call: &ToolCall| guard::words_of(|| hooks.left(call)).unwrap_or_else(|| left.to_owned());
    let unanswered = cx.unanswered(is_kept);
    let left = unanswered.iter().map(|call| {
        let call = cx.tools.as_meant(call);
        not_run(&call, words(&call)).result.into()
    });
    let joining = left.chain(input).collect();
    Run { cx, hooks, events, control, unfinished: 0 }.from(Begin::Input(joining)).await
}

/// Goes on with a suspended run: the calls of the last answer, with the answers people gave. A yes counts for what was
/// shown; a call that would run with something else by now is asked about again, and nothing of its batch runs before that
/// is answered. What the run took until then still counts.
pub async fn resume(
    answers: Decisions,
    cx: &mut Context,
    hooks: &dyn Hooks,
    events: &EventSink,
    control: &Control,
) -> Outcome {
    Run { cx, hooks, events, control, unfinished: 0 }.from(Begin::Answers(answers)).await
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
    /// Answers in a row that ended before the model was done.
    unfinished: u32,
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
    async fn rounds(&mut self, mut begin: Begin) -> Result<Outcome, RunError> {
        loop {
            if let Some(outcome) = self.turns(begin).await? {
                return Ok(outcome);
            }
            let limit = self.hooks.deadline();
            let queued = guard::within("follow_up", limit, async { self.hooks.follow_up().await }).await?;
            if queued.is_empty() {
                return Ok(Outcome::Completed);
            }
            begin = Begin::Input(queued);
        }
    }

    /// The inner level: turns, until the model is done and nothing has arrived. `Some` ends the run.
    async fn turns(&mut self, begin: Begin) -> Result<Option<Outcome>, RunError> {
        let (mut ended, mut joining) = match begin {
            Begin::Input(messages) => (Turn::More, messages),
            Begin::Answers(answers) => (self.resumed(answers).await?, Vec::new()),
        };
        loop {
            if let Turn::Over(outcome) = ended {
                return Ok(Some(outcome));
            }
            let cut = self.arrived(&mut joining).await?;
            if joining.is_empty() {
                match ended {
                    // An interrupt without anything to go on with is an end.
                    Turn::Cut => return Ok(Some(Outcome::Aborted)),
                    _ if self.control.is_aborted() => return Ok(Some(Outcome::Aborted)),
                    Turn::Done => return Ok(None),
                    Turn::More | Turn::Over(_) => {}
                }
                joining = guard::soon("asides", async { self.hooks.asides().await }).await?;
            }
            ended = self.turn(std::mem::take(&mut joining), &cut).await?;
        }
    }

    /// Adds what arrived meanwhile, and answers the token that cuts what comes next. Whatever is taken from a queue
    /// is said in the turn that follows, also when the run is aborted: it would be lost otherwise.
    async fn arrived(&self, joining: &mut Vec<Message>) -> Result<CancellationToken, RunError> {
        loop {
            let cut = self.control.next();
            if self.control.is_aborted() {
                return Ok(cut);
            }
            joining.extend(guard::soon("steering", async { self.hooks.steering().await }).await?);
            // Interrupted right now: there is nothing to cut, only something to join.
            if !self.control.is_cut(&cut) || self.control.is_aborted() {
                return Ok(cut);
            }
        }
    }

    async fn turn(&mut self, joining: Vec<Message>, cut: &CancellationToken) -> Result<Turn, RunError> {
        self.cx.tally.turns += 1;
        let turn = self.cx.tally.turns;
        self.events.tell(EventKind::TurnStart { turn }).await;
        let ended = self.ask_and_do(joining, cut).await;
        self.events.tell(EventKind::TurnEnd { turn }).await;
        ended
    }

    async fn ask_and_do(&mut self, joining: Vec<Message>, cut: &CancellationToken) -> Result<Turn, RunError> {
        for message in joining {
            self.say(message).await?;
        }
        let closing = match self.before_turn().await? {
            Some(Step::Go) => None,
            Some(Step::Stop(limit)) => return Ok(Turn::Over(Outcome::Exhausted { limit })),
            Some(Step::Close(limit)) => {
                self.say(User::text(farewell(&limit)).into()).await?;
                Some(limit)
            }
            None => return Ok(self.cut_short()),
        };
        if cut.is_cancelled() {
            return Ok(self.cut_short());
        }
        let answer = match self.answer(closing.is_some(), cut).await? {
            Ok(answer) => answer,
            Err(_) if cut.is_cancelled() => return Ok(self.cut_short()),
            Err(error) => return Ok(Turn::Over(self.failed(error, closing).await)),
        };
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        let (stop, detail) = (answer.stop, answer.stop_detail.clone());
        self.keep(answer.into()).await?;
        if let Some(limit) = closing {
            self.settle(&calls, "Not run: the run has reached a limit and ends here.").await?;
            return Ok(Turn::Over(Outcome::Exhausted { limit }));
        }
        if stop.is_whole() && !calls.is_empty() {
            self.unfinished = 0;
            return self.calls(&calls, cut).await;
        }
        match stop {
            // A model that says it waits for results, and has called nothing, waits for nothing.
            StopReason::Stop | StopReason::ToolUse => Ok(Turn::Done),
            StopReason::Refusal => {
                self.settle(&calls, "Not run: you declined in the same answer.").await?;
                Ok(Turn::Done)
            }
            StopReason::Pause => Ok(self.unfinished("pauses", "the provider paused the answer")),
            StopReason::Length => {
                self.settle(&calls, CUT_OFF).await?;
                if calls.is_empty() {
                    self.unfinished = UNFINISHED;
                }
                Ok(self.unfinished("output", "the answer was cut off by the output limit"))
            }
            StopReason::ContentFilter | StopReason::Error | StopReason::Aborted => {
                self.settle(&calls, FILTERED).await?;
                let reply = Reply::local(detail.unwrap_or_else(|| "a filter cut the answer off".to_owned()));
                let error = AiError::ContentFiltered { categories: Vec::new(), reply };
                Ok(Turn::Over(Outcome::Failed { error: error.into() }))
            }
        }
    }

    /// An answer ended before the model was done: it may go on, but not forever.
    fn unfinished(&mut self, name: &str, reached: &str) -> Turn {
        if self.unfinished < UNFINISHED {
            self.unfinished += 1;
            return Turn::More;
        }
        let limit = Limit { name: name.to_owned(), reached: reached.to_owned() };
        Turn::Over(Outcome::Exhausted { limit })
    }

    /// The model could not answer. Where it was only to say goodbye, the limit is what ends the run.
    async fn failed(&self, error: AiError, closing: Option<Limit>) -> Outcome {
        let Some(limit) = closing else { return Outcome::Failed { error: error.into() } };
        self.events.tell(EventKind::Notice { text: error.for_user() }).await;
        Outcome::Exhausted { limit }
    }

    fn cut_short(&self) -> Turn {
        if self.control.is_aborted() { Turn::Over(Outcome::Aborted) } else { Turn::Cut }
    }

    /// `None` when the run was aborted meanwhile.
    async fn before_turn(&mut self) -> Result<Option<Step>, RunError> {
        let (step, changes) = tokio::select! {
            biased;
            () = self.control.aborted() => return Ok(None),
            made = guard::hook("before_turn", async { self.hooks.before_turn(self.cx).await }) => made??,
        };
        for change in changes {
            self.events.tell(EventKind::Window { change }).await;
        }
        Ok(Some(step))
    }

    /// Passes the calls of an answer through the gate and runs them.
    async fn calls(&mut self, calls: &[ToolCall], cut: &CancellationToken) -> Result<Turn, RunError> {
        self.note(calls);
        let passed = gate::pass(calls, self.cx, self.hooks, cut).await;
        self.asked(calls, passed, cut).await
    }

    async fn run_calls(
        &mut self,
        passed: Passed,
        answers: &Decisions,
        cut: &CancellationToken,
    ) -> Result<Turn, RunError> {
        let items = passed.decided(answers, self.cx, self.hooks, cut).await;
        let Some(answer) = self.cx.last_answer().cloned() else { return Ok(Turn::Done) };
        let waits = Arc::new(Waits::default());
        let around = Around { hooks: self.hooks, events: self.events, cut, answer: &answer, waits: &waits };
        let began = Instant::now();
        let (results, mut finished) = mpsc::channel::<Finished>(items.len().max(1));
        let (mut ends, mut worked) = (false, true);
        let mut kept = Ok(());
        let keeping = async {
            while let Some(finished) = finished.recv().await {
                ends |= finished.ends_run;
                worked &= finished.result.status == ResultStatus::Ok;
                if kept.is_ok() {
                    kept = self.result(finished).await;
                    if kept.is_err() {
                        // What cannot be recorded should not be done.
                        cut.cancel();
                    }
                }
            }
        };
        futures::join!(batch::run(items, around, results), keeping);
        self.cx.tally.active += began.elapsed().saturating_sub(waits.total());
        kept?;
        Ok(if cut.is_cancelled() {
            self.cut_short()
        } else if ends && worked {
            Turn::Done
        } else {
            Turn::More
        })
    }

    /// Goes on where a suspended run stopped: its calls pass the gate again, with the answers at hand.
    async fn resumed(&mut self, answers: Decisions) -> Result<Turn, RunError> {
        let calls = self.cx.open_calls();
        let misfit = |message: String| Err(RunError::Resume { message });
        if calls.is_empty() {
            return misfit("no call of the last answer waits for a result".to_owned());
        }
        for (index, Answer { call: id, .. }) in answers.0.iter().enumerate() {
            if calls.iter().all(|call| call.id != *id) {
                return misfit(format!("no call {id} waits for an answer"));
            }
            if answers.0[..index].iter().any(|other| other.call == *id) {
                return misfit(format!("the call {id} has two answers"));
            }
        }
        let turn = self.cx.tally.turns;
        self.events.tell(EventKind::TurnStart { turn }).await;
        let cut = self.control.next();
        let passed = gate::pass(&calls, self.cx, self.hooks, &cut).await;
        let ended = self.answered(&calls, passed, answers, &cut).await;
        self.events.tell(EventKind::TurnEnd { turn }).await;
        ended
    }

    /// Answers calls that are not run.
    async fn settle(&mut self, calls: &[ToolCall], reason: &str) -> Result<(), RunError> {
        for call in calls {
            let settled = not_run(&self.cx.tools.as_meant(call), reason);
            self.result(settled).await?;
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
        match guard::soon("record", async { self.hooks.record(record).await }).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) => Err(RunError::Record { message }),
            Err(error) => Err(RunError::Record { message: error.to_string() }),
        }
    }

    /// Remembers which calls were made, so that repetition can be judged.
    fn note(&mut self, calls: &[ToolCall]) {
        for call in calls {
            let call = self.cx.tools.as_meant(call);
            let mut hasher = DefaultHasher::new();
            (&call.name, call.arguments.text()).hash(&mut hasher);
            self.cx.tally.calls.push(hasher.finish());
        }
    }
}

const CUT_OFF: &str = "Not run: your answer was cut off by the output limit, so its calls may be incomplete. Nothing \
                       was changed. Do it in smaller steps.";
const FILTERED: &str = "Not run: your answer was cut off by a content filter. Nothing was changed.";
pub(crate) const LEFT: &str =
    "No result: the run ended before this call did. If it had begun, its effect is unknown.";

/// What the model is told when a limit is reached and it may say one thing more.
fn farewell(limit: &Limit) -> String {
    format!(
        "[Note from the system, not from the user: {limit}. No more tools can be called. Say in a few sentences what \
         is done, what is not, and how to go on.]"
    )
}
