//! The questions of a session: kept when they are asked, settled once, and shown the same after a reload.
//!
//! Promises: of several who answer the same question, in whatever process, the first one counts. What was decided is on
//! record before the run goes on, and what cannot be recorded is not decided. A yes counts for what was shown, as that
//! stood then; when something else stands there by now, the question is asked again. It counts for as long as whoever gave it
//! may give it. A question whose time is over is a no with a reason, whoever answers it. A run goes on when
//! all of its questions are answered, so people can answer one after the other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Point, Record, Step};
use mica_agent::{
    Answer, Args, Ask, Context, Decision, Decisions, Event, EventKind, Hooks, Limit, Listener, RunError,
    RunId, ToolSpec, Verdict,
};
use mica_ai::Message;
use mica_ai::id::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::amend::amend;
use super::card::{ApprovalCard, CardState};
use super::error::ApprovalError;
use super::kept::{Change, Question, Read};
use super::who::{Approvers, People, Person};
use crate::autonomy::Judge;
use crate::records::Records;
use crate::side::Side;

/// The kind of what is kept beside the session.
const SIDE: &str = "approvals";

/// Who settles what nobody answered.
pub(super) const NOBODY: &str = "nobody";

/// Who answers in place where the product does not say who sits there.
const UNNAMED: &str = "somebody who gave no name";

/// On which terms people are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// How long an answer counts. A week: whoever comes back from a few days off still finds the question, and what it was
    /// about has hardly stayed the same for longer. `None`: for ever.
    pub time_to_live: Option<SignedDuration>,
    /// Questions in one run at most. Fifty: a person who has to answer more reads none of them.
    pub most: usize,
    /// Who may approve what.
    pub approvers: Approvers,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            time_to_live: Some(SignedDuration::from_hours(7 * 24)),
            most: 50,
            approvers: Approvers::default(),
        }
    }
}

/// What somebody says to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "choice", rename_all = "snake_case")]
pub enum Choice {
    /// It may run.
    Approve {
        /// Arguments that they changed: those that may be.
        #[serde(default)]
        edits: Args,
    },
    /// It may not.
    Reject {
        /// Why. The model reads it.
        reason: String,
    },
}

/// What answers came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decided {
    /// What the suspended run goes on with. `None` as long as a question is open.
    pub decisions: Option<Decisions>,
    /// The calls whose questions are still open.
    pub open: Vec<CallId>,
    /// Answers that do not count, because somebody had answered before, or because the time was over.
    pub late: Vec<CallId>,
}

/// The questions of a session. Hooks and a listener of its runs, and where people answer.
pub struct Register {
    pub(super) session: String,
    side: Arc<dyn Side>,
    pub(super) records: Arc<dyn Records>,
    pub(super) judge: Arc<Judge>,
    pub(super) terms: Terms,
    pub(super) clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Who answers in place.
    present: Option<String>,
    /// Who people are now.
    pub(super) people: Option<Arc<dyn People>>,
    /// Whose yes calls have that are about to run.
    carried: Mutex<BTreeMap<CallId, String>>,
    /// Tools as the gate saw them, for the forms of questions about them.
    pub(super) specs: Mutex<BTreeMap<String, ToolSpec>>,
    /// One change at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
    /// What is kept beside the session, once it was read: every result of a call looks into it.
    read: Mutex<Option<Arc<Read>>>,
}

impl Register {
    /// The questions of a session, kept beside it; what is decided is kept in the records under the name of the session.
    pub fn new(
        session: impl Into<String>,
        side: Arc<dyn Side>,
        records: Arc<dyn Records>,
        judge: Arc<Judge>,
        terms: Terms,
        clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    ) -> Self {
        let mut session = session.into();
        if session.is_empty() {
            // One that nobody named must not share its decisions with another.
            session = RunId::fresh().to_string();
        }
        let (specs, turn, read) = (Mutex::default(), tokio::sync::Mutex::default(), Mutex::default());
        let (present, people, carried) = (None, None, Mutex::default());
        Self { session, side, records, judge, terms, clock, present, people, carried, specs, turn, read }
    }

    /// With who sits there: answers in place are theirs.
    #[must_use]
    pub fn answered_by(mut self, present: Option<String>) -> Self {
        self.present = present;
        self
    }

    /// With who people are now: what they decided is carried out as long as they may decide it.
    #[must_use]
    pub fn knowing(mut self, people: Option<Arc<dyn People>>) -> Self {
        self.people = people;
        self
    }

    /// Whose yes a call has that is about to run.
    pub(super) fn approver(&self, call: &CallId) -> Option<String> {
        self.carried().get(call).cloned()
    }

    fn carried(&self) -> MutexGuard<'_, BTreeMap<CallId, String>> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at what is kept beside the session again: call it when the session went to another branch.
    pub fn reload(&self) {
        *self.cache() = None;
    }

    /// All questions of the session, the oldest first, as they stand. One whose time is over is shown as expired, also
    /// before anybody settled it.
    ///
    /// # Errors
    /// [`ApprovalError::Side`]
    pub fn cards(&self) -> Result<Vec<ApprovalCard>, ApprovalError> {
        let now = (self.clock)();
        let cards = self.read()?.questions.clone().into_iter().map(|question| {
            let mut card = question.card;
            if card.state == CardState::Pending && card.is_over(now) {
                card.state = CardState::Expired;
            }
            card
        });
        Ok(cards.collect())
    }

    /// Takes what somebody says to questions of a suspended run. All of it is looked at before any of it counts.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub async fn decide(
        &self,
        asks: &[Ask],
        said: impl IntoIterator<Item = (CallId, Choice)>,
        person: &Person,
    ) -> Result<Decided, ApprovalError> {
        let _turn = self.turn.lock().await;
        let (read, now) = (self.read()?, (self.clock)());
        let mut settled = Vec::new();
        let mut late = Vec::new();
        for (call, choice) in said {
            let unknown = || ApprovalError::Unknown { call: call.to_string() };
            let ask = asks.iter().find(|ask| ask.call.id == call).ok_or_else(unknown)?;
            let question = read.about(ask).ok_or_else(unknown)?;
            if question.card.state != CardState::Pending {
                late.push(call);
            } else if question.card.is_over(now) {
                settled.push((question, CardState::Expired));
                late.push(call);
            } else {
                settled.push((question, self.judged(question, ask, choice, person).await?));
            }
        }
        for (question, state) in settled {
            let was = self.settle(&question.card, state, &person.name, now).await?;
            if was && !late.contains(&question.card.call) {
                late.push(question.card.call.clone());
            }
        }
        Ok(Decided { late, ..self.standing(asks)? })
    }

    /// Settles the questions of a suspended run whose time is over.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub async fn expire(&self, asks: &[Ask]) -> Result<Decided, ApprovalError> {
        let _turn = self.turn.lock().await;
        let (read, now) = (self.read()?, (self.clock)());
        let pending = asks.iter().filter_map(|ask| read.pending(&ask.call.id));
        for question in pending.filter(|question| question.card.is_over(now)) {
            self.settle(&question.card, CardState::Expired, NOBODY, now).await?;
        }
        self.standing(asks)
    }

    /// What was decided about the questions of a suspended run. For whoever opens a session again: what was decided before a
    /// crash, and not taken yet, counts, by whoever decided it. [`honoured`](Register::honoured) says whether they still may.
    ///
    /// # Errors
    /// [`ApprovalError::Side`]
    pub fn standing(&self, asks: &[Ask]) -> Result<Decided, ApprovalError> {
        let read = self.read()?;
        let mut answers = Vec::new();
        let mut open = Vec::new();
        for ask in asks {
            let decided =
                read.about(ask).and_then(|question| Some((question.seen(), decision(&question.card)?)));
            match decided {
                // For what they were shown, which need not be what is shown now.
                Some((seen, decision)) => answers.push(Answer {
                    call: ask.call.id.clone(),
                    shown: Some(seen.shown),
                    base: seen.base,
                    decision,
                }),
                None => open.push(ask.call.id.clone()),
            }
        }
        let decisions = (open.is_empty() && !answers.is_empty()).then_some(Decisions(answers));
        Ok(Decided { decisions, open, late: Vec::new() })
    }

    /// What somebody's choice makes of a question, if they may choose it.
    async fn judged(
        &self,
        question: &Question,
        ask: &Ask,
        choice: Choice,
        person: &Person,
    ) -> Result<CardState, ApprovalError> {
        let tool = &question.card.tool;
        let edits = match choice {
            Choice::Reject { reason } => {
                return Ok(CardState::Rejected { by: Some(person.name.clone()), reason });
            }
            Choice::Approve { edits } => edits,
        };
        self.may(question, person).map_err(|missing| ApprovalError::NotAllowed {
            person: person.name.clone(),
            tool: tool.clone(),
            missing,
        })?;
        let mut spec = ToolSpec::new(tool, "", question.schema.clone());
        spec.label.clone_from(&question.card.title);
        let args = ask.arguments.as_object().cloned().unwrap_or_default();
        let wrong = |problems| ApprovalError::Edits { tool: tool.clone(), problems };
        let mut amended = amend(&spec, &args, &question.amendable, &edits).map_err(wrong)?;
        let settling = self.judge.act(tool).and_then(|act| act.settle.clone());
        if let (Some(args), Some(settling)) = (&mut amended, settling) {
            // What they mean by `tomorrow` is meant from here and now, too.
            *args = settling(args.clone()).await.map_err(|problem| wrong(vec![problem]))?;
        }
        Ok(CardState::Approved { by: Some(person.name.clone()), amended })
    }

    /// Whether somebody may approve a question: by what it needed when it was asked, and by what the product says now.
    ///
    /// # Errors
    /// What they would need.
    pub(super) fn may(&self, question: &Question, person: &Person) -> Result<(), String> {
        let tool = &question.card.tool;
        let now = self.judge.act(tool).and_then(|act| act.needs.as_deref());
        for needs in [question.needs.as_deref(), now] {
            self.terms.approvers.may(person, tool, needs)?;
        }
        Ok(())
    }

    /// Settles the question about a call that is open because something else was said: nobody decided.
    pub(crate) async fn supersede(&self, call: &CallId) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        match self.read()?.pending(call) {
            Some(open) => {
                let card = open.card.id.clone();
                self.keep(Change::Settled { card, state: CardState::Superseded, seen: None }).await
            }
            None => Ok(()),
        }
    }

    /// Settles the question about a call that was answered otherwise than here. One that was answered is settled already.
    async fn answered(&self, call: &CallId, state: CardState, by: &str) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        match self.read()?.pending(call) {
            Some(open) => self.settle(&open.card, state, by, (self.clock)()).await.map(drop),
            None => Ok(()),
        }
    }

    /// Keeps what was answered in place, and whose yes the calls have that run next. What was answered before, otherwise, is
    /// what counts: nothing of these answers does then.
    async fn take(&self, answers: &[Answer]) -> Result<(), ApprovalError> {
        let present = self.present.as_deref();
        for answer in answers {
            let Some(state) = in_place(&answer.decision, present) else { continue };
            // A program refuses where no person was asked, whoever sits there.
            let is_program = matches!(answer.decision, Decision::Refuse { .. });
            let by = if is_program { NOBODY } else { present.unwrap_or(UNNAMED) };
            self.answered(&answer.call, state, by).await?;
        }
        let read = self.read()?;
        let questions = answers.iter().filter_map(|answer| Some((answer, read.newest(&answer.call)?)));
        let mut carried = Vec::new();
        for (answer, question) in questions {
            let Some(state) = in_place(&answer.decision, present) else { continue };
            if !comes_to_the_same(&question.card.state, &state) {
                return Err(ApprovalError::Answered { tool: question.card.tool.clone() });
            }
            if let CardState::Approved { by: Some(by), .. } = &question.card.state {
                carried.push((answer.call.clone(), by.clone()));
            }
        }
        let mut known = self.carried();
        known.retain(|call, _| answers.iter().all(|answer| answer.call != *call));
        known.extend(carried);
        Ok(())
    }

    pub(super) fn read(&self) -> Result<Arc<Read>, ApprovalError> {
        if let Some(read) = &*self.cache() {
            return Ok(Arc::clone(read));
        }
        let problem = |problem: String| ApprovalError::Side { problem };
        let mut read = Read::default();
        for change in self.side.all(SIDE).map_err(problem)? {
            match serde_json::from_value(change) {
                Ok(change) => read.apply(change),
                Err(error) => {
                    let session = &self.session;
                    tracing::warn!(session, %error, "something about questions cannot be read: no yes before it counts");
                    read.lost();
                }
            }
        }
        let read = Arc::new(read);
        *self.cache() = Some(Arc::clone(&read));
        Ok(read)
    }

    pub(super) async fn keep(&self, change: Change) -> Result<(), ApprovalError> {
        let problem = |problem: String| ApprovalError::Side { problem };
        let value = serde_json::to_value(&change).map_err(|error| problem(error.to_string()))?;
        self.side.append(SIDE, value).await.map_err(problem)?;
        if let Some(read) = &mut *self.cache() {
            Arc::make_mut(read).apply(change);
        }
        Ok(())
    }

    fn cache(&self) -> MutexGuard<'_, Option<Arc<Read>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a settled question means for the run.
fn decision(card: &ApprovalCard) -> Option<Decision> {
    match &card.state {
        CardState::Pending => None,
        CardState::Approved { amended: None, .. } => Some(Decision::Allow),
        CardState::Approved { amended: Some(args), .. } => {
            Some(Decision::AllowWith { arguments: Value::Object(args.clone()) })
        }
        CardState::Rejected { reason, .. } => Some(Decision::Deny { reason: reason.clone() }),
        CardState::Expired => {
            let until = card.expires.map(|until| format!(" until {until}")).unwrap_or_default();
            let reason = format!(
                "nobody answered{until}, and the question is closed. Nothing was done. Things may have changed since: \
                 look again before you ask again."
            );
            Some(Decision::Refuse { reason })
        }
        CardState::Superseded => {
            Some(Decision::Refuse { reason: "something else was said instead of an answer.".to_owned() })
        }
    }
}

#[async_trait]
impl Hooks for Register {
    fn says(&self, at: Point) -> bool {
        matches!(at, Point::BeforeTurn | Point::Gate | Point::Record)
    }

    async fn before_turn(&self, cx: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        let broke = |error: ApprovalError| RunError::Hook {
            hook: "approvals".to_owned(),
            message: error.to_string(),
        };
        let asked = self.read().map_err(broke)?.asked;
        // The first turn of a run: one that goes on after an answer has had it before.
        if cx.tally.turns <= 1 {
            if asked > 0 {
                self.keep(Change::Begun).await.map_err(broke)?;
            }
            return Ok((Step::Go, Vec::new()));
        }
        if asked < self.terms.most {
            return Ok((Step::Go, Vec::new()));
        }
        let reached = format!("{asked} questions to people in one run");
        Ok((Step::Close(Limit { name: "approvals".to_owned(), reached }), Vec::new()))
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        let mut specs = self.specs.lock().unwrap_or_else(PoisonError::into_inner);
        if specs.get(&gated.spec.name) != Some(gated.spec) {
            specs.insert(gated.spec.name.clone(), gated.spec.clone());
        }
        Verdict::Pass
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        let kept = match record {
            Record::Asked(asks) => {
                self.carried().retain(|call, _| asks.iter().all(|ask| ask.call.id != *call));
                self.asks(asks).await
            }
            // A call whose question was never answered has its result all the same: something else was said.
            Record::Message(Message::ToolResult(result)) => {
                self.carried().remove(&result.call);
                self.supersede(&result.call).await
            }
            // Before any of it counts: a decision that cannot be recorded has no effect.
            Record::Answered(answers) => self.take(answers).await,
            // Calls of another answer are others, also when they have the same ids.
            Record::Message(_) => {
                self.carried().clear();
                Ok(())
            }
            Record::TurnOpen => Ok(()),
        };
        kept.map_err(|error| error.to_string())
    }
}

/// What an answer in place makes of a question.
fn in_place(decision: &Decision, by: Option<&str>) -> Option<CardState> {
    let by = || by.map(str::to_owned);
    match decision {
        Decision::Allow | Decision::AllowAndRemember { .. } => {
            Some(CardState::Approved { by: by(), amended: None })
        }
        Decision::AllowWith { arguments: Value::Object(args) } => {
            Some(CardState::Approved { by: by(), amended: Some(args.clone()) })
        }
        // It is not run like that either.
        Decision::AllowWith { .. } => {
            let reason = "the arguments were changed to something that is no object".to_owned();
            Some(CardState::Rejected { by: by(), reason })
        }
        Decision::Deny { reason } => Some(CardState::Rejected { by: by(), reason: reason.clone() }),
        Decision::Refuse { reason } => Some(CardState::Rejected { by: None, reason: reason.clone() }),
        Decision::Later => None,
    }
}

/// Whether two answers to a question mean the same for the call: it runs with the same arguments, or it does not run.
fn comes_to_the_same(one: &CardState, other: &CardState) -> bool {
    match (one, other) {
        (CardState::Approved { amended: one, .. }, CardState::Approved { amended: other, .. }) => {
            one == other
        }
        (CardState::Approved { .. }, _) | (_, CardState::Approved { .. }) => false,
        _ => true,
    }
}

/// What nobody needs to answer any more, because something that was remembered covers it. Answers themselves are recorded.
#[async_trait]
impl Listener for Register {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::ApprovalGiven { .. })
    }

    async fn event(&self, event: Event) {
        let EventKind::ApprovalGiven { call, decision } = event.kind else { return };
        // Nobody said it of this call.
        let Some(state) = in_place(&decision, None) else { return };
        if let Err(error) = self.answered(&call, state, NOBODY).await {
            tracing::error!(%error, "an answer is not shown with its question");
        }
    }
}

#[cfg(test)]
mod tests;
