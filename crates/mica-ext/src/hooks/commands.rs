//! Runs the hooks of an event, and makes one answer of what they say.
//!
//! Promises: hooks of one event run side by side, each with what it reads to itself, and the same command once. The
//! strictest answer counts: no, ask, yes. A yes is taken from the user's own hooks only: a project that is trusted to look
//! at calls is not trusted to wave them through. An input that a hook changed is shown to all the others; each may change
//! a call once, so it ends. What goes wrong is told once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use mica_agent::Args;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::{self, Answer, Wish};
use super::config::{Configured, Hook, Owner};
use super::event::HookEvent;
use super::fence::fenced;
use super::payload::{Called, Occasion};
use super::runner::{Invocation, Ran, Runner, Session};
use crate::concern::CompactTrigger;

/// Hooks of one event that run at a time.
const AT_ONCE: usize = 32;
/// Calls whose verdicts are remembered. They are forgotten with every turn.
const CALLS: usize = 512;
/// How often in a row the end of a run is held up.
pub const STOPS: u32 = 3;
/// How long commands that nobody waits for have at the end of a session.
const CLOSING: Duration = Duration::from_secs(2);

/// Commands that are hooked to events. Clones are handles to the same ones.
#[derive(Clone)]
pub struct CommandHooks {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    configured: Configured,
    runner: Arc<dyn Runner>,
    session: Arc<dyn Session>,
    state: Mutex<State>,
    background: TaskTracker,
    /// Cancelled when the last handle is gone.
    over: CancellationToken,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.over.cancel();
    }
}

#[derive(Default)]
pub(super) struct State {
    told: BTreeSet<String>,
    /// Hooks that run once and did.
    done: BTreeSet<usize>,
    judged: HashMap<String, Settled>,
    /// What the model is told with what it reads next.
    pub(super) pending: Vec<String>,
    /// What it is told with every prompt: what was said at the beginning.
    pub(super) standing: Vec<String>,
    /// Calls that hooks were asked about before a person is.
    pub(super) asked: BTreeSet<String>,
    /// The run ends, for this reason.
    pub(super) halt: Option<String>,
    /// How often in a row the end was held up.
    pub(super) stops: u32,
    pub(super) last_words: String,
    /// Who wants the window shortened that is about to be.
    pub(super) trigger: CompactTrigger,
}

/// What was said of a call.
#[derive(Clone)]
struct Settled {
    tool: String,
    from: Args,
    judged: Judged,
    context: Vec<String>,
}

/// What hooks say of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// All arguments that it is to run with, when a hook changed them.
    pub args: Option<Args>,
    /// Whether it may.
    pub verdict: Judgement,
}

/// Whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// Nobody has an opinion.
    Pass,
    /// Nobody needs to be asked.
    Allow,
    /// A person decides, for this reason.
    Ask(String),
    /// No, for this reason.
    Deny(String),
}

/// What hooks make of what a call came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct After {
    /// What the model reads instead.
    pub instead: Option<String>,
    /// What it reads besides.
    pub besides: Vec<String>,
}

/// One hook and what it said.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Its number among all.
    pub index: usize,
    /// What it said.
    pub answer: Answer,
}

/// One hook that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Its number among all.
    pub index: usize,
    /// What it read.
    pub stdin: String,
    /// What it came to.
    pub ran: Ran,
    /// How that is read.
    pub answer: Answer,
}

impl CommandHooks {
    /// Hooks with who runs them, and who knows the session.
    pub fn new(configured: Configured, runner: Arc<dyn Runner>, session: Arc<dyn Session>) -> Self {
        let inner = Inner {
            configured,
            runner,
            session,
            state: Mutex::default(),
            background: TaskTracker::new(),
            over: CancellationToken::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// What was configured.
    pub fn configured(&self) -> &Configured {
        &self.inner.configured
    }

    /// Whether an event has any hooks.
    pub fn has(&self, event: HookEvent) -> bool {
        self.inner.configured.hooks.iter().any(|hook| hook.event == event)
    }

    /// The longest that hooks of one of these events may take together, round by round.
    pub fn longest(&self, events: &[HookEvent]) -> Duration {
        let longest = |event: &HookEvent| {
            let hooks = self.inner.configured.hooks.iter().filter(|hook| hook.event == *event);
            let count = hooks.clone().filter(|hook| !hook.is_async).count();
            let longest = hooks.map(|hook| hook.timeout).max().unwrap_or_default();
            // They answer side by side, so many at a time. Before a call, each may change it once, and every change is
            // shown to the others: a round more for each. One alone is not asked about its own change.
            let rounds = match (event, count) {
                (HookEvent::PreToolUse, 2..) => count + 1,
                _ => 1,
            };
            let rounds = rounds * count.div_ceil(AT_ONCE).max(1);
            longest.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX))
        };
        events.iter().map(longest).max().unwrap_or_default()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> &dyn Session {
        &*self.inner.session
    }

    /// The hooks of an occasion, by number: those that match, the same command once.
    pub fn matching(&self, occasion: &Occasion) -> Vec<usize> {
        let names = occasion.names();
        let hooks = &self.inner.configured.hooks;
        let mut found: Vec<usize> = Vec::new();
        for (index, hook) in hooks.iter().enumerate() {
            let is_same = |other: &usize| hooks.get(*other).is_some_and(|other| other.runs_the_same(hook));
            if hook.event == occasion.event
                && (names.is_empty() || hook.matcher.is_for(names.iter().copied()))
                && !found.iter().any(is_same)
            {
                found.push(index);
            }
        }
        if found.iter().any(|index| hooks.get(*index).is_some_and(|hook| hook.once)) {
            let mut state = self.state();
            let first =
                |index: &usize| hooks.get(*index).is_none_or(|hook| !hook.once) || state.done.insert(*index);
            found.retain(first);
        }
        found
    }

    /// What one hook reads.
    pub fn reads(&self, index: usize, occasion: &Occasion) -> String {
        let Some(hook) = self.inner.configured.hooks.get(index) else { return String::new() };
        occasion.payload(&self.inner.session.situation(), hook.vocabulary).to_string()
    }

    /// Runs the hooks of an occasion, and answers what those said that somebody waits for.
    pub(super) async fn fire(&self, occasion: &Occasion, except: Option<usize>) -> Vec<Said> {
        let mut waited = Vec::new();
        for index in self.matching(occasion).into_iter().filter(|index| Some(*index) != except) {
            let Some(hook) = self.inner.configured.hooks.get(index) else { continue };
            let invocation = Invocation::of(hook, self.reads(index, occasion));
            if hook.is_async {
                self.aside(hook, invocation);
            } else {
                let runner = Arc::clone(&self.inner.runner);
                waited.push(one(runner, index, occasion.event, invocation, hook.blocks_on_failure));
            }
        }
        let said: Vec<Said> = futures::stream::iter(waited).buffered(AT_ONCE).collect().await;
        for Said { index, answer } in &said {
            let Some(hook) = self.inner.configured.hooks.get(*index) else { continue };
            if let Some(message) = &answer.message {
                self.inner.session.tell(format!("{} hook: {message}", hook.event));
            }
            if let Some(problem) = &answer.problem {
                self.inner.tell_once(hook, problem);
            }
            if let Some(reason) = &answer.halt {
                self.state().halt.get_or_insert_with(|| reason.clone());
            }
        }
        said
    }

    /// Runs the hooks of an occasion once, one after the other, and shows everything: for those who try them.
    pub async fn trial(&self, occasion: &Occasion) -> Vec<Trial> {
        let mut trials = Vec::new();
        for index in self.matching(occasion) {
            let Some(hook) = self.inner.configured.hooks.get(index) else { continue };
            let stdin = self.reads(index, occasion);
            let ran = self.inner.runner.run(Invocation::of(hook, stdin.clone())).await;
            let answer = answer::read(occasion.event, &ran, hook.blocks_on_failure);
            trials.push(Trial { index, stdin, ran, answer });
        }
        trials
    }

    /// Runs a hook that nobody waits for.
    fn aside(&self, hook: &Hook, invocation: Invocation) {
        let (inner, hook) = (Arc::downgrade(&self.inner), hook.clone());
        let (runner, over) = (Arc::clone(&self.inner.runner), self.inner.over.clone());
        self.inner.background.spawn(async move {
            let ran = tokio::select! {
                biased;
                () = over.cancelled() => return,
                ran = runner.run(invocation) => ran,
            };
            let answer = cleaned(&*runner, answer::read(hook.event, &ran, false)).await;
            let Some(inner) = inner.upgrade() else { return };
            if let Some(message) = answer.message {
                inner.session.tell(format!("{} hook: {message}", hook.event));
            }
            // Nothing was held up: a no that comes too late is something to know.
            let late = answer.wish.filter(|wish| *wish == Wish::Deny).and(answer.reason);
            if let Some(problem) = answer.problem.or(late) {
                inner.tell_once(&hook, &problem);
            }
            if let Some(context) = answer.context {
                let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.pending.push(fenced(hook.event, &context));
            }
        });
    }

    /// Does something that nobody waits for, until the session is over.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let over = self.inner.over.clone();
        self.inner.background.spawn(async move {
            tokio::select! {
                biased;
                () = over.cancelled() => {}
                () = work => {}
            }
        });
    }

    /// Ends what nobody waits for, after a moment.
    pub async fn close(&self) {
        self.inner.background.close();
        let _ = tokio::time::timeout(CLOSING, self.inner.background.wait()).await;
        self.inner.over.cancel();
        self.inner.background.wait().await;
    }

    /// What hooks say of a call that is about to run.
    pub async fn before_call(&self, call: &str, tool: &str, args: &Args) -> Judged {
        if let Some(denied) = self.closed(tool) {
            return Judged { args: None, verdict: Judgement::Deny(denied) };
        }
        if !self.has(HookEvent::PreToolUse) {
            return Judged { args: None, verdict: Judgement::Pass };
        }
        if let Some(known) = self.known(call, tool, args) {
            return known;
        }
        let (judged, context) = self.judge(call, tool, args).await;
        let mut state = self.state();
        if state.judged.len() >= CALLS {
            state.judged.clear();
        }
        let settled = Settled { tool: tool.to_owned(), from: args.clone(), judged: judged.clone(), context };
        state.judged.insert(call.to_owned(), settled);
        judged
    }

    /// Why a call cannot be judged, because a file is broken.
    fn closed(&self, tool: &str) -> Option<String> {
        let names = super::vocabulary::names(tool);
        let closed = &self.inner.configured.closed;
        let closed = closed.iter().find(|closed| closed.matcher.is_for(names.iter().copied()))?;
        Some(format!(
            "the hooks that guard this call cannot be used. {}. Tell the user: the file has to be mended, trusted \
             or removed, then /reload (`mica hooks list` shows what is wrong).",
            closed.problem
        ))
    }

    /// What was said of the call already: as it was, or as a hook left it.
    fn known(&self, call: &str, tool: &str, args: &Args) -> Option<Judged> {
        let state = self.state();
        let settled = state.judged.get(call).filter(|settled| settled.tool == tool)?;
        if settled.judged.args.as_ref() == Some(args) {
            return Some(Judged { args: None, verdict: settled.judged.verdict.clone() });
        }
        (settled.from == *args).then(|| settled.judged.clone())
    }

    async fn judge(&self, call: &str, tool: &str, args: &Args) -> (Judged, Vec<String>) {
        let mut now = args.clone();
        let mut said: BTreeMap<usize, Answer> = BTreeMap::new();
        let mut spent: BTreeSet<usize> = BTreeSet::new();
        let mut last = None;
        loop {
            let called =
                Called { id: call.to_owned(), tool: tool.to_owned(), args: now.clone(), came_to: None };
            let answers = self.fire(&Occasion::of(HookEvent::PreToolUse, called), last).await;
            said.extend(answers.into_iter().map(|said| (said.index, said.answer)));
            if said.values().any(|answer| answer.wish == Some(Wish::Deny)) {
                break;
            }
            // The first in the order of the files; the others see it, and may change it in turn.
            let changed =
                said.iter().filter(|(index, _)| !spent.contains(index)).find_map(|(index, answer)| {
                    let hook = self.inner.configured.hooks.get(*index)?;
                    let input = hook.vocabulary.meant(tool, answer.input.as_ref()?);
                    (input != now).then_some((*index, input))
                });
            let Some((index, input)) = changed else { break };
            spent.insert(index);
            now = input;
            last = Some(index);
        }
        let context = said.values().filter_map(|answer| answer.context.as_deref());
        let context: Vec<String> = context.map(|text| fenced(HookEvent::PreToolUse, text)).collect();
        let verdict = self.verdict(&said, &context);
        let args = (now != *args && !matches!(verdict, Judgement::Deny(_))).then_some(now);
        (Judged { args, verdict }, context)
    }

    /// The strictest of what was said.
    fn verdict(&self, said: &BTreeMap<usize, Answer>, context: &[String]) -> Judgement {
        let reasons = |wish: Wish| {
            let mut reasons: Vec<&str> = Vec::new();
            for reason in said.values().filter(|answer| answer.wish == Some(wish)) {
                let reason = reason.reason.as_deref().unwrap_or("it gave no reason");
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            reasons.join("\n")
        };
        let says = |wish: Wish| said.values().any(|answer| answer.wish == Some(wish));
        if says(Wish::Deny) {
            let unclear =
                said.values().any(|answer| answer.wish == Some(Wish::Deny) && answer.problem.is_some());
            let what = if unclear {
                "a hook that has to agree to this call gave no clear answer; tell the user"
            } else {
                "a hook does not allow this call"
            };
            let mut reason = format!("{what}.\n{}", fenced(HookEvent::PreToolUse, &reasons(Wish::Deny)));
            for context in context {
                reason.push('\n');
                reason.push_str(context);
            }
            return Judgement::Deny(reason);
        }
        if says(Wish::Ask) {
            return Judgement::Ask(reasons(Wish::Ask));
        }
        let allows = said.iter().any(|(index, answer)| {
            let hook = self.inner.configured.hooks.get(*index);
            answer.wish == Some(Wish::Allow) && hook.is_some_and(|hook| hook.owner == Owner::User)
        });
        if allows { Judgement::Allow } else { Judgement::Pass }
    }

    /// The arguments that a call ran with, when a hook changed them.
    pub(super) fn changed_args(&self, call: &str) -> Option<Args> {
        self.state().judged.get(call).and_then(|settled| settled.judged.args.clone())
    }

    /// What hooks make of what a call came to.
    pub async fn after_call(&self, called: Called) -> After {
        let mut after = After::default();
        {
            let mut state = self.state();
            let before = state.judged.get_mut(&called.id).map(|settled| std::mem::take(&mut settled.context));
            after.besides.extend(before.into_iter().flatten());
        }
        let failed = called.came_to.as_ref().is_some_and(|came_to| came_to.failed);
        let event = if failed { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse };
        if self.has(event) {
            for Said { answer, .. } in self.fire(&Occasion::of(event, called), None).await {
                if answer.wish == Some(Wish::Deny) {
                    let reason = answer.reason.as_deref().unwrap_or("it gave no reason");
                    after.besides.push(fenced(event, reason));
                }
                after.besides.extend(answer.context.iter().map(|text| fenced(event, text)));
                after.instead = answer.output.or(after.instead);
            }
        }
        after.besides.extend(self.take_pending());
        after
    }

    pub(super) fn take_pending(&self) -> Vec<String> {
        std::mem::take(&mut self.state().pending)
    }

    /// Keeps what hooks said to the model for what it reads next.
    pub(super) fn keep_context(&self, event: HookEvent, said: &[Said]) {
        let mut state = self.state();
        let context = said.iter().filter_map(|said| said.answer.context.as_deref());
        state.pending.extend(context.map(|text| fenced(event, text)));
    }

    /// Forgets what was said of calls: another turn begins.
    pub(super) fn forget_calls(&self) {
        let mut state = self.state();
        state.judged.clear();
        state.asked.clear();
    }
}

/// Runs one hook, and reads what it says.
async fn one(
    runner: Arc<dyn Runner>,
    index: usize,
    event: HookEvent,
    invocation: Invocation,
    blocks: bool,
) -> Said {
    let ran = runner.run(invocation).await;
    Said { index, answer: cleaned(&*runner, answer::read(event, &ran, blocks)).await }
}

impl Inner {
    fn tell_once(&self, hook: &Hook, problem: &str) {
        let text = format!("the {} hook {} ({}): {problem}", hook.event, hook.exec, hook.place);
        let is_new = self.state.lock().unwrap_or_else(PoisonError::into_inner).told.insert(text.clone());
        if is_new {
            self.session.tell(text);
        }
    }
}

/// An answer without secrets in what people and models read of it.
async fn cleaned(runner: &dyn Runner, answer: Answer) -> Answer {
    async fn clean(runner: &dyn Runner, text: Option<String>) -> Option<String> {
        match text {
            Some(text) => Some(runner.clean(text).await),
            None => None,
        }
    }
    Answer {
        reason: clean(runner, answer.reason).await,
        halt: clean(runner, answer.halt).await,
        context: clean(runner, answer.context).await,
        output: clean(runner, answer.output).await,
        message: clean(runner, answer.message).await,
        problem: clean(runner, answer.problem).await,
        ..answer
    }
}

#[cfg(test)]
mod tests;
