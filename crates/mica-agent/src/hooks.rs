//! Where others have a say: one trait, every method with a default.
//!
//! The loop itself decides nothing about limits, rules, windows or records. It asks.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mica_ai::message::ToolCall;
use mica_ai::{AiError, Message, Request};

use crate::approval::{Answer, Ask, Decision, Verdict};
use crate::base::Base;
use crate::context::Context;
use crate::event::WindowChange;
use crate::guard;
use crate::outcome::{Limit, RunError};
use crate::proposal::Proposal;
use crate::tool::{Args, ToolError, ToolOutput, ToolSpec};

/// What to do before the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Ask it.
    Go,
    /// Do not: a limit is reached.
    Stop(Limit),
    /// A limit is reached, but let it say goodbye: one more answer, without tools.
    Close(Limit),
}

/// What to do about an answer that failed.
#[derive(Debug, Clone, PartialEq)]
pub enum Recovery {
    /// Nothing can be done.
    GiveUp,
    /// Something was done about it: ask again.
    AskAgain,
}

/// A call at the gate.
pub struct Gated<'a> {
    /// The call as it is meant, before any gate: of this tool, also when the model called it through another.
    pub call: &'a ToolCall,
    /// The tool.
    pub spec: &'a ToolSpec,
    /// The arguments. A gate may change them; the gates after it see the change.
    pub args: Args,
}

/// What was said or done, to be kept.
#[derive(Debug, Clone, Copy)]
pub enum Record<'a> {
    /// The model is about to be asked: a run that ends here ended in an unfinished turn.
    TurnOpen,
    /// A message of the conversation.
    Message(&'a Message),
    /// The calls of the last answer wait for a person.
    Asked(&'a [Ask]),
    /// What was answered. None of it counts before it is kept; what cannot be kept is no answer, and the question is still
    /// asked.
    Answered(&'a [Answer]),
}

/// Where a hook can have something to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Point {
    /// [`Hooks::before_turn`]
    BeforeTurn,
    /// [`Hooks::transform`]
    Transform,
    /// [`Hooks::on_failure`]
    OnFailure,
    /// [`Hooks::gate`]
    Gate,
    /// [`Hooks::base`]
    Base,
    /// [`Hooks::approve`]
    Approve,
    /// [`Hooks::remember`]
    Remember,
    /// [`Hooks::after_tool`]
    AfterTool,
    /// [`Hooks::after_failure`]
    AfterFailure,
    /// [`Hooks::after_call`]
    AfterCall,
    /// [`Hooks::steering`]
    Steering,
    /// [`Hooks::asides`]
    Asides,
    /// [`Hooks::follow_up`]
    FollowUp,
    /// [`Hooks::record`]
    Record,
}

/// Everything a product can have a say in.
///
/// Contract: a hook that panics or takes too long means no: a call at `gate` is denied, what a call gave is withheld
/// when `after_tool` or `after_failure` does not finish, nobody has answered when `approve` breaks, nothing is remembered when `remember`
/// does, and every other hook ends the run with [`RunError`]. `gate`, `after_tool`, `after_failure` and `after_call` have
/// [`deadline`](Hooks::deadline), in which the time of people does not count ([`Patience`](crate::Patience)); `follow_up` has the same time; `remember`, `steering`,
/// `asides` and `record` have 30 seconds; `before_turn`, `transform`, `on_failure` and `approve` wait for models and people and have no clock, but are dropped when the run is aborted (`approve` also
/// when it is interrupted), so they change the conversation only once what they waited for is there.
///
/// All hooks are called from the run's own task, one at a time, but for `after_tool` and its kin: calls that run side by side
/// are looked at side by side, and while `record` writes their results.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// Whether it has something to say there, now. A stack does not ask the others: being asked costs an allocation, and
    /// hooks that others may add to at run time are often empty.
    fn says(&self, at: Point) -> bool {
        let _ = at;
        true
    }

    /// How long `gate`, `after_tool`, `after_failure`, `after_call` and `follow_up` may take each, without the time of people.
    fn deadline(&self) -> Duration {
        guard::DEADLINE
    }

    /// Before the model is asked: limits are judged here, and the window is made to fit. May change the conversation;
    /// what it did it returns, and it is told.
    ///
    /// # Errors
    /// [`RunError`] ends the run.
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let _ = cx;
        Ok((Step::Go, Vec::new()))
    }

    /// The conversation as it is about to be sent, for this one request: what is kept does not change. What was changed is
    /// returned, and it is told: the cached prefix may be lost by it.
    async fn transform(&self, messages: &mut Vec<Message>, cx: &Context) -> Vec<WindowChange> {
        let _ = (messages, cx);
        Vec::new()
    }

    /// The request as it will be sent: cache marks, settings. Must not touch what was sent before. Asked while
    /// [`Record::TurnOpen`] is being kept; the request leaves when it is.
    fn shape(&self, request: &mut Request, cx: &Context) {
        let _ = (request, cx);
    }

    /// An answer failed.
    ///
    /// # Errors
    /// [`RunError`] ends the run.
    async fn on_failure(&self, error: &AiError, cx: &mut Context) -> Result<Recovery, RunError> {
        let _ = (error, cx);
        Ok(Recovery::GiveUp)
    }

    /// Whether a call may run. May change its arguments. By default no opinion. Asked again for the same call when
    /// its arguments are changed behind it, and when a suspended run goes on; what it changes it must not change again.
    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        let _ = (gated, cx);
        Verdict::Pass
    }

    /// What the answer to a question about a call rests on: what the call would change, and how that stands now. Asked
    /// before the preview is made, and again before a yes counts: when it differs by then, nothing is run, and the question is
    /// asked again. `None`: on nothing but its arguments.
    async fn base(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Option<Base> {
        let _ = (call, spec, args);
        None
    }

    /// Answers questions in place, in the order they are asked. A question without an answer is a no; one that is
    /// answered [`Decision::Later`] is asked again behind what was decided. `None`: nobody is there, and the run is
    /// suspended.
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let _ = asks;
        None
    }

    /// A person said yes to a question and picked one of its proposals: the gate that made it lets what it covers pass
    /// from now on, and whoever keeps such things keeps it. All are told, so each looks at whether it is theirs. When it
    /// returns, the other questions of the batch are judged again.
    ///
    /// # Errors
    /// In words. The person is told; the call runs all the same.
    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        let _ = (ask, proposal);
        Ok(())
    }

    /// After a call, before the model reads what it came to. `Err` of a tool is passed to `after_failure` instead. The call is the one that
    /// was meant, as at the gate.
    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        let _ = (call, spec, output);
    }

    /// After a call that failed, before the model reads why.
    async fn after_failure(&self, call: &ToolCall, spec: &ToolSpec, error: &mut ToolError) {
        let _ = (call, spec, error);
    }

    /// After all of these, what the call came to, whichever it is. May make a failure of a result, and a result of a
    /// failure.
    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        let _ = (call, spec, made);
    }

    /// Messages that arrived meanwhile and join before the next model call.
    async fn steering(&self) -> Vec<Message> {
        Vec::new()
    }

    /// What goes with the results of calls, when the model is asked on with them anyway. It is not asked because of these,
    /// and they are not wanted where somebody says something: what is worth a request of its own is for `steering`.
    async fn asides(&self) -> Vec<Message> {
        Vec::new()
    }

    /// Messages that wait for the run to be done otherwise.
    async fn follow_up(&self) -> Vec<Message> {
        Vec::new()
    }

    /// What a call is answered with that an earlier run left without a result. `None`: the usual words, which say that
    /// its effect is unknown. For whoever knows better.
    fn left(&self, call: &ToolCall) -> Option<String> {
        let _ = call;
        None
    }

    /// Keeps what was said. Returns when it is safe: the next model call waits for it.
    ///
    /// # Errors
    /// In words. The run ends: nothing is asked that could not be recorded.
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        let _ = record;
        Ok(())
    }
}

/// Hooks that have nothing to say.
pub struct NoHooks;

impl Hooks for NoHooks {
    fn says(&self, _: Point) -> bool {
        false
    }
}

/// Several hooks as one, in order.
///
/// Asked are those that have something to say. `before_turn`: all, until one stops. `transform`, `shape`, `after_tool`, `after_failure`, `after_call`, `record`: all. `deadline`: the longest. `gate`: all, each seeing the arguments as
/// the one before left them; the first denial counts, else the first question, else an explicit yes, else what is offered to
/// be remembered. Where several ask, only what would answer all of them may be remembered. When one changes
/// the arguments, those before it judge again: nothing runs with arguments that a gate has not seen, and when they
/// change them back and forth the call is denied. `base`, `approve`, `left`: the first that answers. `remember`: all, also when one
/// fails. `on_failure`: the first that did something. `steering`, `asides`, `follow_up`: all together.
#[derive(Clone, Default)]
pub struct HookStack {
    hooks: Vec<Arc<dyn Hooks>>,
}

impl HookStack {
    /// Hooks in the order they are asked.
    pub fn new(hooks: Vec<Arc<dyn Hooks>>) -> Self {
        Self { hooks }
    }

    /// Adds hooks behind the others.
    pub fn push(&mut self, hooks: Arc<dyn Hooks>) {
        self.hooks.push(hooks);
    }

    /// Those that have something to say there.
    fn at(&self, point: Point) -> impl Iterator<Item = &Arc<dyn Hooks>> {
        self.hooks.iter().filter(move |hooks| hooks.says(point))
    }
}

#[async_trait]
impl Hooks for HookStack {
    fn says(&self, at: Point) -> bool {
        self.at(at).next().is_some()
    }

    fn deadline(&self) -> Duration {
        self.hooks.iter().map(|hooks| hooks.deadline()).max().unwrap_or(guard::DEADLINE)
    }

    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let mut changes = Vec::new();
        for hooks in self.at(Point::BeforeTurn) {
            let (step, more) = hooks.before_turn(cx).await?;
            changes.extend(more);
            if step != Step::Go {
                return Ok((step, changes));
            }
        }
        Ok((Step::Go, changes))
    }

    async fn transform(&self, messages: &mut Vec<Message>, cx: &Context) -> Vec<WindowChange> {
        let mut changes = Vec::new();
        for hooks in self.at(Point::Transform) {
            changes.extend(hooks.transform(messages, cx).await);
        }
        changes
    }

    fn shape(&self, request: &mut Request, cx: &Context) {
        for hooks in &self.hooks {
            hooks.shape(request, cx);
        }
    }

    async fn on_failure(&self, error: &AiError, cx: &mut Context) -> Result<Recovery, RunError> {
        for hooks in self.at(Point::OnFailure) {
            if hooks.on_failure(error, cx).await? == Recovery::AskAgain {
                return Ok(Recovery::AskAgain);
            }
        }
        Ok(Recovery::GiveUp)
    }

    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        let mut verdicts = Vec::with_capacity(self.hooks.len());
        let mut seen = gated.args.clone();
        let mut outdated = 0;
        for (index, hooks) in self.hooks.iter().enumerate() {
            if !hooks.says(Point::Gate) {
                verdicts.push(Verdict::Pass);
                continue;
            }
            let verdict = hooks.gate(gated, cx).await;
            if matches!(verdict, Verdict::Deny { .. }) {
                return verdict;
            }
            verdicts.push(verdict);
            if gated.args != seen {
                seen.clone_from(&gated.args);
                outdated = index;
            }
        }
        for (hooks, verdict) in self.hooks.iter().zip(&mut verdicts).take(outdated) {
            if !hooks.says(Point::Gate) {
                continue;
            }
            *verdict = hooks.gate(gated, cx).await;
            if matches!(verdict, Verdict::Deny { .. }) {
                return verdict.clone();
            }
            if gated.args != seen {
                let reason = "The checks before this call do not agree on its arguments, so it was not run.";
                return Verdict::Deny { reason: reason.to_owned(), rule: None };
            }
        }
        together(verdicts)
    }

    async fn base(&self, call: &ToolCall, spec: &ToolSpec, args: &Args) -> Option<Base> {
        for hooks in self.at(Point::Base) {
            if let Some(base) = hooks.base(call, spec, args).await {
                return Some(base);
            }
        }
        None
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        for hooks in self.at(Point::Approve) {
            if let Some(decisions) = hooks.approve(asks).await {
                return Some(decisions);
            }
        }
        None
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        let mut problems = Vec::new();
        for hooks in self.at(Point::Remember) {
            problems.extend(hooks.remember(ask, proposal).await.err());
        }
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    }

    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        for hooks in self.at(Point::AfterTool) {
            hooks.after_tool(call, spec, output).await;
        }
    }

    async fn after_failure(&self, call: &ToolCall, spec: &ToolSpec, error: &mut ToolError) {
        for hooks in self.at(Point::AfterFailure) {
            hooks.after_failure(call, spec, error).await;
        }
    }

    async fn after_call(&self, call: &ToolCall, spec: &ToolSpec, made: &mut Result<ToolOutput, ToolError>) {
        for hooks in self.at(Point::AfterCall) {
            hooks.after_call(call, spec, made).await;
        }
    }

    async fn steering(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for hooks in self.at(Point::Steering) {
            messages.extend(hooks.steering().await);
        }
        messages
    }

    async fn asides(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for hooks in self.at(Point::Asides) {
            messages.extend(hooks.asides().await);
        }
        messages
    }

    async fn follow_up(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for hooks in self.at(Point::FollowUp) {
            messages.extend(hooks.follow_up().await);
        }
        messages
    }

    fn left(&self, call: &ToolCall) -> Option<String> {
        self.hooks.iter().find_map(|hooks| hooks.left(call))
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        for hooks in self.at(Point::Record) {
            hooks.record(record).await?;
        }
        Ok(())
    }
}

/// One verdict of several without a denial.
fn together(verdicts: Vec<Verdict>) -> Verdict {
    let mut asked: Option<Verdict> = None;
    let mut offered = Vec::new();
    let mut allowed = false;
    for verdict in verdicts {
        match verdict {
            Verdict::Ask { proposals: others, .. } if asked.is_some() => {
                if let Some(Verdict::Ask { proposals, .. }) = &mut asked {
                    proposals.retain(|proposal| others.iter().any(|other| other.is(proposal)));
                }
            }
            Verdict::Ask { .. } | Verdict::Deny { .. } => asked = Some(verdict),
            Verdict::Offer { proposals } => offered.extend(proposals),
            Verdict::Allow => allowed = true,
            Verdict::Pass => {}
        }
    }
    match asked {
        Some(verdict) => verdict,
        None if allowed => Verdict::Allow,
        None if offered.is_empty() => Verdict::Pass,
        None => Verdict::Offer { proposals: offered },
    }
}
