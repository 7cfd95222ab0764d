//! The budget in the loop.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::Step;
use mica_agent::{Context, Hooks, Limit, RunError, ToolOutput, ToolSpec};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Message};

use super::{Limits, Meter, judge, warning};
use crate::repeats::is_poll;
use crate::rules::RuleSet;

/// Judges the limits before each turn. They hold across a suspension, because the tally is kept.
///
/// Comes last among the hooks: the note that the turns run out is put behind what a call came to, and what shortens
/// results must not cut it off. It rides in a result because that is the tail of the conversation, is recorded with it,
/// and changes nothing that was sent before.
#[derive(Debug, Default)]
pub struct Budget {
    limits: Limits,
    polls: RuleSet,
    meter: Option<Meter>,
    note: Mutex<Note>,
}

/// Where the warning is.
#[derive(Debug, Default, PartialEq)]
enum Note {
    #[default]
    NotDue,
    Due(String),
    Said,
}

impl Budget {
    /// A budget with these limits. Calls that `polls` allows do not count as repeats.
    pub fn new(limits: Limits, polls: RuleSet) -> Self {
        Self { limits, polls, meter: None, note: Mutex::default() }
    }

    /// The same, with what others take on its behalf: it counts in the tally, and the limits are theirs, too.
    #[must_use]
    pub fn metered(mut self, meter: Meter) -> Self {
        meter.limit(&self.limits);
        self.meter = Some(meter);
        self
    }

    fn note(&self) -> MutexGuard<'_, Note> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The limits as they apply now: who waits for something may ask again and again.
    fn limits(&self, cx: &Context) -> Limits {
        let newest = cx.messages.iter().rev().find_map(|message| match message {
            Message::Assistant(answer) => answer.calls().last(),
            _ => None,
        });
        let mut limits = self.limits.clone();
        if newest.is_some_and(|call| is_poll(&cx.tools.as_meant(call), &self.polls)) {
            limits.repeats = None;
        }
        limits
    }
}

#[async_trait]
impl Hooks for Budget {
    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        if let Some(meter) = &self.meter {
            meter.count(&mut cx.tally);
        }
        // A limit that cannot be judged is not kept silently: nothing is spent.
        if let Some(most) = self.limits.cost
            && cx.model.prices.is_none()
        {
            let reached =
                format!("{most} cannot be kept, because the prices of {} are unknown", cx.model.name);
            return Ok((Step::Stop(Limit { name: "cost".to_owned(), reached }), Vec::new()));
        }
        if let Some(reached) = judge(&self.limits(cx), &cx.tally) {
            return Ok((reached.into(), Vec::new()));
        }
        let mut note = self.note();
        if cx.tally.turns <= 1 {
            *note = Note::NotDue;
        }
        if *note != Note::Said
            && let Some(text) = warning(&self.limits, &cx.tally)
        {
            *note = Note::Due(text);
        }
        Ok((Step::Go, Vec::new()))
    }

    async fn after_tool(&self, _: &ToolCall, _: &ToolSpec, output: &mut ToolOutput) {
        let mut note = self.note();
        if let Note::Due(text) = &mut *note {
            output.content.push(Content::text(std::mem::take(text)));
            *note = Note::Said;
        }
    }
}
