//! What a keeper remembers between the turns of a session. All of it can be lost: the next answer brings it back.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime};

use mica_agent::Context;
use mica_agent::event::WindowChange;
use mica_ai::id::MessageId;
use mica_ai::model::CacheFacts;
use mica_ai::{Assistant, Model, Request, Usage};

use crate::compact::{Stuck, Trigger};
use crate::digest::Digest;
use crate::measure::{Known, Measure};
use crate::segments::{self, CacheCheck, Sent};
use crate::tokens::{Anchor, Scale};

/// Checks that are kept to look at, and changes that wait to be told.
const CHECKS: usize = 128;
const TOLD: usize = 32;

#[derive(Debug, Default)]
pub(super) struct State {
    /// What was measured before.
    pub(super) known: Known,
    /// What the provider counted last.
    pub(super) anchor: Option<Anchor>,
    /// The request that is being answered.
    pub(super) pending: Option<Pending>,
    /// A smaller window than was known, as the provider told.
    pub(super) learnt: Option<u64>,
    /// Compactions since the last answer.
    pub(super) in_a_row: u32,
    /// A compaction that somebody asked for.
    pub(super) asked: Option<Trigger>,
    /// Why nothing could be done the last time, and how full the window was: it is told once, and not tried again in
    /// every turn, since a summary that turns out too long has been paid for.
    pub(super) stuck: Option<(Stuck, u64)>,
    /// What waits to be told before the next turn.
    pub(super) told: Vec<WindowChange>,
    pub(super) checks: VecDeque<CacheCheck>,
    scale: Option<(Digest, Scale)>,
    last: Option<(Sent, Usage)>,
    rewritten: Option<&'static str>,
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Pending {
    answer: MessageId,
    sent: Sent,
    messages: usize,
    before: Digest,
    model: Digest,
    estimated: u64,
    assumed: Scale,
    facts: CacheFacts,
}

impl Pending {
    pub(super) fn new(request: &Request, sent: Sent, measure: &Measure) -> Self {
        Self {
            answer: request.answer.clone(),
            sent,
            messages: request.messages.len(),
            before: model_digest(&request.model).then(measure.before),
            model: model_digest(&request.model),
            estimated: measure.total(),
            assumed: Scale::assumed(&request.model),
            facts: request.model.cache.clone(),
        }
    }
}

impl State {
    /// The fingerprint of everything before the messages.
    pub(super) fn before(&mut self, cx: &Context) -> Digest {
        model_digest(&cx.model).then(self.known.before(&cx.system, cx.tools.definitions()))
    }

    /// How tokens of a model are scaled, as far as its answers have shown.
    pub(super) fn scale(&self, model: &Model) -> Scale {
        match self.scale {
            Some((of, scale)) if of == model_digest(model) => scale,
            _ => Scale::assumed(model),
        }
    }

    /// Whether the cache still holds the conversation. Taken to be so when nothing is known.
    pub(super) fn is_warm(&self, model: &Model, now: SystemTime) -> bool {
        let Some((sent, _)) = &self.last else { return true };
        let minutes = model.cache.ttl_minutes.first().copied().unwrap_or(5);
        let elapsed = now.duration_since(sent.at).unwrap_or(Duration::ZERO);
        elapsed <= Duration::from_secs(u64::from(minutes) * 60)
    }

    /// The window was changed: what was counted says nothing any more.
    pub(super) fn rewrite(&mut self, by: &'static str) {
        self.anchor = None;
        self.stuck = None;
        self.rewritten = Some(by);
    }

    /// Another model is asked from now on: its window is its own, and so is its cache.
    pub(super) fn model_changed(&mut self) {
        self.anchor = None;
        self.learnt = None;
        self.stuck = None;
        self.in_a_row = 0;
        if let Some((sent, _)) = &mut self.last {
            sent.forget_model();
        }
    }

    /// Has something told before the next turn. The oldest go when nobody asks.
    pub(super) fn tell(&mut self, change: WindowChange) {
        if self.told.len() >= TOLD {
            self.told.remove(0);
        }
        self.told.push(change);
    }

    /// Takes in an answer. `None` when it is not to the request that was shaped here.
    pub(super) fn answered(&mut self, answer: &Assistant) -> Option<CacheCheck> {
        let pending = self.pending.take_if(|pending| pending.answer == answer.id)?;
        self.in_a_row = 0;
        let usage = answer.usage;
        self.anchor = Anchor::new(pending.messages, &answer.id, &usage, pending.before);
        if usage.input == 0 {
            // A provider that does not count says nothing about its cache either.
            self.last = None;
            return None;
        }
        let scale = match self.scale {
            Some((model, scale)) if model == pending.model => scale,
            _ => pending.assumed,
        };
        self.scale = Some((pending.model, scale.learn(pending.estimated, usage.input)));
        let previous = self.last.as_ref().map(|(sent, usage)| (sent, usage));
        let check = segments::check(previous, &pending.sent, &usage, &pending.facts, self.rewritten.take());
        if self.checks.len() >= CHECKS {
            self.checks.pop_front();
        }
        self.checks.push_back(check.clone());
        self.last = Some((pending.sent, usage));
        Some(check)
    }
}

fn model_digest(model: &Model) -> Digest {
    Digest::of(&model.deployment).and(model.dialect.name().as_bytes())
}
