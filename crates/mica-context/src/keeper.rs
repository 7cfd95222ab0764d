//! The window's keeper: everything of this crate that has a say in a run, as one hook.
//!
//! Before a turn it adds what changed to the newest user message, prunes, compacts. It plans the marks of each request,
//! and compares what each answer read from the cache with what it should have. The decisions are made elsewhere, by
//! functions that do nothing else; here is only when they are asked, and what is remembered between them.
//!
//! It stands last among the hooks, so that it sees requests as they are sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::future::BoxFuture;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Record, Recovery, Step};
use mica_agent::{Context, Hooks, Limit, RunError};
use mica_ai::{AiError, Message, Request, StopReason};

use crate::breakpoints::{self, MarkSettings};
use crate::compact::{
    self, AskModel, CompactSettings, CompactionRecord, FileFacts, Means, Stuck, Summarise, Trigger,
    WindowLimits,
};
use crate::journal::Journal;
use crate::measure::Measure;
use crate::prune::{self, PruneRecord, PruneSettings};
use crate::section::{Rendered, ToolNames, context_block};
use crate::segments::{CacheCheck, Reason, Sent};
use crate::spill::Clock;
use crate::tokens::{self, Fill};

mod report;
mod state;

pub use report::WindowReport;
use state::{Pending, State};

/// Renders the turn sections as they are now, for the tools that are there.
pub type TurnSections = Arc<dyn Fn(&ToolNames) -> Vec<Rendered> + Send + Sync>;

/// Is told that a window is about to be compacted, and why. The compaction waits for it.
pub type Announce = Arc<dyn Fn(&Trigger) -> BoxFuture<'static, ()> + Send + Sync>;

/// How a window is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WindowSettings {
    /// A smaller window than the model's, where a full one would cost too much or be read too badly.
    pub window: Option<u64>,
    /// How marks are planned.
    pub marks: MarkSettings,
    /// How compaction is done.
    pub compact: CompactSettings,
    /// How pruning is done.
    pub prune: PruneSettings,
}

/// Keeps the window of one session.
pub struct WindowKeeper {
    settings: WindowSettings,
    clock: Clock,
    summarise: Arc<dyn Summarise>,
    files: Arc<dyn FileFacts>,
    journal: Arc<dyn Journal>,
    turn: Option<TurnSections>,
    announce: Option<Announce>,
    state: Mutex<State>,
}

impl WindowKeeper {
    /// A keeper with the usual settings, that summarises with the conversation's own model and records nothing.
    pub fn new(clock: Clock) -> Self {
        Self {
            settings: WindowSettings::default(),
            clock,
            summarise: Arc::new(AskModel::default()),
            files: Arc::new(()),
            journal: Arc::new(()),
            turn: None,
            announce: None,
            state: Mutex::default(),
        }
    }

    /// Sets how the window is kept.
    #[must_use]
    pub fn settings(mut self, settings: WindowSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets who writes summaries.
    #[must_use]
    pub fn summarise(mut self, summarise: Arc<dyn Summarise>) -> Self {
        self.summarise = summarise;
        self
    }

    /// Sets what is known of files, for the ledger.
    #[must_use]
    pub fn files(mut self, files: Arc<dyn FileFacts>) -> Self {
        self.files = files;
        self
    }

    /// Sets who keeps what is done.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = journal;
        self
    }

    /// Sets the turn sections.
    #[must_use]
    pub fn turn_sections(mut self, turn: TurnSections) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Sets who is told before the window is compacted.
    #[must_use]
    pub fn announcing(mut self, announce: Announce) -> Self {
        self.announce = Some(announce);
        self
    }

    /// Has the window compacted before the next turn.
    pub fn request_compaction(&self, focus: Option<String>) {
        self.state().asked = Some(Trigger::Manual { focus });
    }

    /// Another model, or another endpoint, is asked from now on. What was learnt of the one before is forgotten, and the
    /// next request is expected to read nothing from a cache.
    pub fn model_changed(&self) {
        self.state().model_changed();
    }

    /// The window was changed by others, between runs: what was counted of it says nothing any more.
    pub fn rewritten(&self, by: &'static str) {
        let mut state = self.state();
        state.in_a_row = 0;
        state.rewrite(by);
    }

    /// Compacts a window now, between runs.
    ///
    /// # Errors
    /// [`RunError::Record`] when it could not be recorded; then nothing was changed. The inner error says why the window
    /// cannot be made smaller.
    pub async fn compact(
        &self,
        cx: &mut Context,
        trigger: Trigger,
    ) -> Result<Result<CompactionRecord, Stuck>, RunError> {
        let filled = self.fill(cx).total();
        self.compact_from(cx, trigger, filled).await
    }

    /// How full a window is, and what it may hold.
    pub fn report(&self, cx: &Context) -> WindowReport {
        WindowReport::new(cx, self.fill(cx), self.limits(cx))
    }

    /// What the newest answers read from the cache, against what they should have; oldest first.
    pub fn cache_checks(&self) -> Vec<CacheCheck> {
        self.state().checks.iter().cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limits(&self, cx: &Context) -> WindowLimits {
        let smaller = [self.settings.window, self.state().learnt].into_iter().flatten().min();
        WindowLimits::new(&cx.model, &cx.settings, smaller)
    }

    fn fill(&self, cx: &Context) -> Fill {
        let mut state = self.state();
        let before = state.before(cx);
        let (anchor, scale) = (state.anchor.as_ref(), state.scale(&cx.model));
        tokens::fill(&cx.system, cx.tools.definitions(), &cx.messages, before, anchor, scale)
    }

    /// Adds what changed of the turn sections to the newest message, when it is the user's and not answered yet.
    async fn attach(&self, cx: &mut Context) -> Result<(), RunError> {
        let Some(turn) = &self.turn else { return Ok(()) };
        let Some((Message::User(newest), window)) = cx.messages.split_last() else { return Ok(()) };
        let sections = turn(&ToolNames::new(cx.tools.callable()));
        let mut newest = newest.clone();
        if let Some(block) = context_block::attach(window, &sections, &mut newest) {
            let recorded = self.journal.attached(&newest.id, &block).await;
            recorded.map_err(|message| RunError::Record { message })?;
            if let Some(last) = cx.messages.last_mut() {
                *last = newest.into();
            }
        }
        Ok(())
    }

    async fn compact_from(
        &self,
        cx: &mut Context,
        trigger: Trigger,
        filled: u64,
    ) -> Result<Result<CompactionRecord, Stuck>, RunError> {
        let in_a_row = self.state().in_a_row;
        if in_a_row >= self.settings.compact.max_in_a_row {
            return Ok(Err(Stuck::NoProgress { count: in_a_row }));
        }
        if let Some(announce) = &self.announce {
            announce(&trigger).await;
        }
        let scale = self.state().scale(&cx.model);
        let names = || ToolNames::new(cx.tools.callable());
        let sections = self.turn.as_ref().map(|turn| turn(&names())).unwrap_or_default();
        let means = Means {
            sections: &sections,
            settings: self.settings.compact,
            limits: self.limits(cx),
            scale,
            filled,
            summarise: self.summarise.as_ref(),
            files: self.files.as_ref(),
            marks: self.settings.marks,
        };
        let record = match compact::prepare(cx, trigger, means).await {
            Ok(record) => record,
            Err(stuck) => return Ok(Err(stuck)),
        };
        self.journal.compacted(&record).await.map_err(|message| RunError::Record { message })?;
        compact::apply(&mut cx.messages, &record);
        let mut state = self.state();
        state.in_a_row += 1;
        state.rewrite("compaction");
        tracing::info!(before = record.before, after = record.after, "the window was compacted");
        Ok(Ok(record))
    }

    /// Prunes when it pays, and when it is enough: the window must be below `target` afterwards.
    async fn prune(
        &self,
        cx: &mut Context,
        target: u64,
        why: &str,
    ) -> Result<Option<WindowChange>, RunError> {
        let (filled, limits) = (self.fill(cx).total(), self.limits(cx));
        let (scale, warm) = {
            let state = self.state();
            (state.scale(&cx.model), state.is_warm(&cx.model, (self.clock)()))
        };
        let Some(found) = prune::find(&cx.messages, &self.settings.prune, limits.threshold(), scale) else {
            return Ok(None);
        };
        let floor = filled * self.settings.compact.floor_percent / 100;
        let enough = found.freed >= floor.min(self.settings.compact.floor_tokens)
            && filled - found.freed.min(filled) <= target;
        if !enough || !prune::pays(&found, prune::growth(&cx.messages, scale), &cx.model, warm) {
            return Ok(None);
        }
        let notes = prune::notes(&cx.messages, &found);
        let reason = format!("{why}; {} old results were removed", notes.len());
        let record = PruneRecord { notes, before: filled, after: filled.saturating_sub(found.freed), reason };
        self.journal.pruned(&record).await.map_err(|message| RunError::Record { message })?;
        prune::apply(&mut cx.messages, &record.notes);
        self.state().rewrite("pruning");
        let PruneRecord { before, after, reason, .. } = record;
        Ok(Some(WindowChange { kind: "pruning".to_owned(), reason, before, after }))
    }

    /// Makes the window fit before a turn.
    async fn make_room(&self, cx: &mut Context, changes: &mut Vec<WindowChange>) -> Result<Step, RunError> {
        let limits = self.limits(cx);
        let threshold = limits.threshold();
        let mut filled = self.fill(cx).total();
        let is_cold = {
            let state = self.state();
            !state.is_warm(&cx.model, (self.clock)())
        };
        if filled > threshold || (is_cold && filled > threshold / 2) {
            let why =
                if filled > threshold { "the window is nearly full" } else { "the cache had expired anyway" };
            changes.extend(self.prune(cx, threshold, why).await?);
            filled = self.fill(cx).total();
        }
        if filled <= threshold {
            return Ok(Step::Go);
        }
        // Between the threshold and the end there is room for two more tries, not for one in every turn.
        let patience = (limits.input() - threshold) / 2;
        let stuck_at = self.state().stuck.as_ref().map(|(_, filled)| *filled);
        if stuck_at.is_some_and(|at| filled < at + patience) && filled <= limits.input() {
            return Ok(Step::Go);
        }
        let trigger = Trigger::Threshold { filled, threshold };
        match self.compact_from(cx, trigger, filled).await? {
            Ok(record) => changes.push(change(&record)),
            Err(stuck) => changes.extend(self.stuck(&stuck, filled)),
        }
        let filled = self.fill(cx).total();
        if filled <= limits.input() {
            return Ok(Step::Go);
        }
        let reached = format!("{filled} tokens, of {} that fit beside an answer", limits.input());
        Ok(Step::Stop(Limit { name: "window".to_owned(), reached }))
    }

    /// Tells that nothing could be done, once.
    fn stuck(&self, stuck: &Stuck, filled: u64) -> Option<WindowChange> {
        let mut state = self.state();
        let kind = std::mem::discriminant(stuck);
        let is_new = state.stuck.as_ref().is_none_or(|(known, _)| std::mem::discriminant(known) != kind);
        state.stuck = Some((stuck.clone(), filled));
        is_new.then(|| WindowChange {
            kind: "compaction_stuck".to_owned(),
            reason: stuck.to_string(),
            before: filled,
            after: filled,
        })
    }
}

fn change(record: &CompactionRecord) -> WindowChange {
    WindowChange {
        kind: "compaction".to_owned(),
        reason: record.trigger.reason(),
        before: record.before,
        after: record.after,
    }
}

#[async_trait]
impl Hooks for WindowKeeper {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        self.attach(cx).await?;
        let (mut changes, asked) = {
            let mut state = self.state();
            (std::mem::take(&mut state.told), state.asked.take())
        };
        if let Some(trigger) = asked {
            let filled = self.fill(cx).total();
            match self.compact_from(cx, trigger, filled).await? {
                Ok(record) => changes.push(change(&record)),
                Err(stuck) => changes.extend(self.stuck(&stuck, filled)),
            }
        }
        let step = self.make_room(cx, &mut changes).await?;
        Ok((step, changes))
    }

    fn shape(&self, request: &mut Request, _: &Context) {
        let measure = Measure::with(request, &mut self.state().known);
        request.cache.marks = breakpoints::plan(request, &measure, self.settings.marks);
        let sent = Sent::new(request, &measure, (self.clock)());
        let pending = Pending::new(request, sent, &measure);
        self.state().pending = Some(pending);
    }

    async fn on_failure(&self, error: &AiError, cx: &mut Context) -> Result<Recovery, RunError> {
        let AiError::ContextOverflow { limit, sent, .. } = error else { return Ok(Recovery::GiveUp) };
        let known = self.limits(cx).window();
        if let Some(limit) = limit.filter(|limit| *limit > 0 && *limit < known) {
            self.state().learnt = Some(limit);
        }
        // It was too much, whatever was estimated.
        let filled = self.fill(cx).total().max(sent.unwrap_or(0)).max(self.limits(cx).input() + 1);
        match self.compact_from(cx, Trigger::Overflow, filled).await? {
            Ok(record) => {
                self.state().tell(change(&record));
                Ok(Recovery::AskAgain)
            }
            Err(stuck) => {
                if let Some(change) = self.stuck(&stuck, filled) {
                    self.state().tell(change);
                }
                Ok(Recovery::GiveUp)
            }
        }
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        let Record::Message(Message::Assistant(answer)) = record else { return Ok(()) };
        if matches!(answer.stop, StopReason::Error | StopReason::Aborted) {
            return Ok(());
        }
        let check = self.state().answered(answer);
        if let Some(check) = check.filter(CacheCheck::is_miss)
            // What the window's own change cost was told with the change.
            && !matches!(check.reason, Some(Reason::Rewritten { .. }))
        {
            let reason = check.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            tracing::info!(expected = check.expected, read = check.read, reason, "the prompt cache missed");
            self.journal.missed(&check);
            let kind = "cache_miss".to_owned();
            self.state().tell(WindowChange { kind, reason, before: check.expected, after: check.read });
        }
        Ok(())
    }
}
