//! What a client is asked about calls, and what it answered: an answer counts for what was shown, and for nothing else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use mica_agent::{Answer, Ask, Decision, Event, EventKind, Listener};
use serde_json::json;

use crate::questions::Question;
use crate::render::json::JsonLines;

/// The questions that are open, as they were told.
#[derive(Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<Told>>>);

/// Whose question it is, the agent's own or a subagent's, and what is asked.
pub(super) type Told = (Option<String>, Ask);

impl Asked {
    pub(super) fn open(&self) -> MutexGuard<'_, Vec<Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn asks(&self) -> Vec<Ask> {
        self.open().iter().map(|(_, ask)| ask.clone()).collect()
    }

    /// Hears what happens in an agent.
    fn hear(&self, agent: Option<&str>, kind: &EventKind) {
        let is_own = |whose: &Option<String>| whose.as_deref() == agent;
        match kind {
            EventKind::ApprovalAsked { ask } => {
                // A question that is asked again takes the place of the one before.
                let mut open = self.open();
                open.retain(|(whose, other)| !is_own(whose) || other.call.id != ask.call.id);
                open.push((agent.map(str::to_owned), ask.clone()));
            }
            EventKind::ApprovalGiven { call, .. } => {
                self.open().retain(|(whose, ask)| !is_own(whose) || ask.call.id != *call);
            }
            EventKind::RunStart | EventKind::TurnEnd { .. } | EventKind::RunEnd { .. } => {
                self.open().retain(|(whose, _)| !is_own(whose));
            }
            EventKind::Subagent { agent, event } => self.hear(Some(agent), event),
            _ => {}
        }
    }

    /// Whether an answer is to a question that is open.
    pub(super) fn has(&self, answer: &Answer) -> bool {
        self.open().iter().any(|(_, ask)| ask.call.id == answer.call && answer.fits(&ask.shown))
    }

    /// Whether an answer is to a question that is open, and for what was shown.
    pub(super) fn check(&self, answer: &Answer) -> Result<()> {
        let call = &answer.call;
        let open = self.open();
        let asks = || open.iter().map(|(_, ask)| ask).filter(|ask| ask.call.id == *call);
        // Several agents may have named a call alike; the one that was shown is meant.
        let ask = asks().find(|ask| answer.fits(&ask.shown)).or_else(|| asks().next());
        let ask = ask.with_context(|| format!("nothing is asked about the call {call}"))?;
        if answer.decision == Decision::Later {
            bail!("say what is decided about the call {call}; until then its question stays open");
        }
        if let Some(picked) = answer.decision.remembers()
            && ask.proposal(picked).is_none()
        {
            bail!(
                "the question about {call} does not propose to remember {:?} for the {}; \"proposals\" has what it does",
                picked.key,
                picked.scope
            );
        }
        if answer.fits(&ask.shown) {
            return Ok(());
        }
        match &answer.shown {
            None => bail!("say what is allowed: \"shown\" of the question about {call} is \"{}\"", ask.shown),
            Some(shown) => bail!(
                "the call {call} is still asked about: what was allowed (shown \"{shown}\") is not what it would run \
                 with (shown \"{}\")",
                ask.shown
            ),
        }
    }
}

struct Events {
    out: Arc<JsonLines>,
    asked: Asked,
}

#[async_trait]
impl Listener for Events {
    async fn event(&self, event: Event) {
        // Before it is told, so that no answer can come too early.
        self.asked.hear(None, &event.kind);
        self.out.line(&json!({ "event": event }));
    }
}

/// A listener that writes events as RPC lines, and knows what is asked.
pub fn listener(out: &Arc<JsonLines>, asked: &Asked) -> Arc<dyn Listener> {
    Arc::new(Events { out: Arc::clone(out), asked: asked.clone() })
}

/// What is asked, and what was answered. An answer may come before the question is open here: the event that asks is
/// told first.
#[derive(Default)]
pub(super) struct Asking {
    pub(super) open: Option<Question>,
    given: Vec<Answer>,
}

impl Asking {
    /// Takes answers. A later one about the same call counts.
    pub(super) fn take(&mut self, answers: Vec<Answer>) {
        for answer in answers {
            self.given.retain(|other| other.call != answer.call);
            self.given.push(answer);
        }
        self.settle();
    }

    /// Forgets what nobody waits for any more. What a subagent in the background asks stays.
    pub(super) fn forget(&mut self, asked: &Asked) {
        self.open.take_if(|question| question.reply.is_closed());
        self.given.retain(|answer| asked.has(answer));
    }

    /// Answers the question once all of its calls are decided, each for what it would run with; or one of them is to be
    /// remembered, because the others may be covered by it.
    pub(super) fn settle(&mut self) {
        let Some(question) = self.open.take() else { return };
        let decision = |ask: &Ask| {
            let answer = self.given.iter().find(|answer| answer.call == ask.call.id)?;
            answer.fits(&ask.shown).then(|| answer.decision.clone())
        };
        let decided: Vec<Option<Decision>> = question.asks.iter().map(decision).collect();
        let remembers = decided.iter().flatten().any(|decision| decision.remembers().is_some());
        if !remembers && decided.iter().any(Option::is_none) {
            self.open = Some(question);
            return;
        }
        // Those to other questions, of other agents, wait for their turn.
        self.given.retain(|answer| question.asks.iter().all(|ask| ask.call.id != answer.call));
        let decided = decided.into_iter().map(|decision| decision.unwrap_or(Decision::Later)).collect();
        // A run that was aborted meanwhile does not wait for it any more.
        let _ = question.reply.send(decided);
    }
}
