//! The questions of a session: kept when they are asked, settled once, and shown the same after a reload.
//!
//! Promises: of several who answer the same question, in whatever process, the first one counts. What was decided is on
//! record before the run goes on. A question whose time is over is a no with a reason, whoever answers it. A run goes on when
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
use serde_json::{Value, json};

use super::amend::amend;
use super::card::{ApprovalCard, CardState};
use super::error::ApprovalError;
use super::trail::{Deed, KIND, Trace};
use super::who::{Approvers, Person};
use crate::autonomy::Judge;
use crate::records::{RecordError, Records};
use crate::side::Side;

/// The kind of what is kept beside the session.
const SIDE: &str = "approvals";

/// Who settles what nobody answered.
const NOBODY: &str = "nobody";

/// Who answers in place: nobody says who sits there.
const IN_PLACE: &str = "whoever was there";

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

/// What happened to the questions of a session.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    /// A run began: questions are counted from here.
    Begun,
    /// A question was asked.
    Asked {
        card: Box<ApprovalCard>,
        /// What changes are judged by.
        schema: Value,
        amendable: Vec<String>,
        needs: Option<String>,
    },
    /// A question was settled.
    Settled { card: String, state: CardState },
}

/// A question, as it is kept.
#[derive(Clone)]
struct Question {
    card: ApprovalCard,
    schema: Value,
    amendable: Vec<String>,
    needs: Option<String>,
}

#[derive(Clone, Default)]
struct Read {
    questions: Vec<Question>,
    /// Questions of this run.
    asked: usize,
}

impl Read {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Begun => self.asked = 0,
            Change::Asked { card, schema, amendable, needs } => {
                self.asked += 1;
                self.questions.push(Question { card: *card, schema, amendable, needs });
            }
            Change::Settled { card, state } => {
                if let Some(question) = self.questions.iter_mut().find(|question| question.card.id == card) {
                    question.card.state = state;
                }
            }
        }
    }

    /// The newest question about a call.
    fn newest(&self, call: &CallId) -> Option<&Question> {
        self.questions.iter().rev().find(|question| question.card.call == *call)
    }

    fn pending(&self, call: &CallId) -> Option<&Question> {
        self.newest(call).filter(|question| question.card.state == CardState::Pending)
    }
}

/// The questions of a session. Hooks and a listener of its runs, and where people answer.
pub struct Register {
    session: String,
    side: Arc<dyn Side>,
    records: Arc<dyn Records>,
    judge: Arc<Judge>,
    terms: Terms,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Tools as the gate saw them, for the forms of questions about them.
    specs: Mutex<BTreeMap<String, ToolSpec>>,
    /// One change at a time.
    turn: tokio::sync::Mutex<()>,
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
        Self { session, side, records, judge, terms, clock, specs, turn, read }
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
            let question = read.newest(&call).filter(|question| question.card.shown == ask.shown);
            let question = question.ok_or_else(unknown)?;
            if question.card.state != CardState::Pending {
                late.push(call);
            } else if question.card.is_over(now) {
                settled.push((question, CardState::Expired));
                late.push(call);
            } else {
                settled.push((question, self.judged(question, ask, choice, person)?));
            }
        }
        for (question, state) in settled {
            if self.settle(&question.card, state, &person.name, now).await? {
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
    /// crash, and not taken yet, counts.
    ///
    /// # Errors
    /// [`ApprovalError::Side`]
    pub fn standing(&self, asks: &[Ask]) -> Result<Decided, ApprovalError> {
        let read = self.read()?;
        let mut answers = Vec::new();
        let mut open = Vec::new();
        for ask in asks {
            let question = read.newest(&ask.call.id).filter(|question| question.card.shown == ask.shown);
            match question.and_then(|question| self.decision(&question.card)) {
                Some(decision) => answers.push(Answer::to(ask, decision)),
                None => open.push(ask.call.id.clone()),
            }
        }
        let decisions = (open.is_empty() && !answers.is_empty()).then_some(Decisions(answers));
        Ok(Decided { decisions, open, late: Vec::new() })
    }

    /// What a settled question means for the run.
    fn decision(&self, card: &ApprovalCard) -> Option<Decision> {
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

    /// What somebody's choice makes of a question, if they may choose it.
    fn judged(
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
        // As it was when it was asked, and as the product says it now.
        let now = self.judge.act(tool).and_then(|act| act.needs.as_deref());
        for needs in [question.needs.as_deref(), now] {
            self.terms.approvers.may(person, tool, needs).map_err(|missing| ApprovalError::NotAllowed {
                person: person.name.clone(),
                tool: tool.clone(),
                missing,
            })?;
        }
        let mut spec = ToolSpec::new(tool, "", question.schema.clone());
        spec.label.clone_from(&question.card.title);
        let args = ask.arguments.as_object().cloned().unwrap_or_default();
        let amended = amend(&spec, &args, &question.amendable, &edits)
            .map_err(|problems| ApprovalError::Edits { tool: tool.clone(), problems })?;
        Ok(CardState::Approved { by: Some(person.name.clone()), amended })
    }

    /// Settles a question, unless somebody did: then that counts. Answers whether somebody did.
    async fn settle(
        &self,
        card: &ApprovalCard,
        state: CardState,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, ApprovalError> {
        let id = format!("{}/{}", self.session, card.id);
        let deed = match &state {
            CardState::Approved { amended, .. } => Deed::Approved {
                what: vec![card.call.to_string()],
                edits: amended.iter().map(|args| (card.call.to_string(), args.clone())).collect(),
            },
            CardState::Rejected { reason, .. } => Deed::Rejected { reason: reason.clone() },
            CardState::Expired | CardState::Superseded | CardState::Pending => Deed::Expired,
        };
        let who = if state == CardState::Expired { NOBODY } else { by };
        let trace = Trace { at: now, by: who.to_owned(), deed };
        let doc = json!({
            "session": self.session, "question": card.id, "tool": card.tool, "digest": card.digest, "shown": card.shown,
            "state": state, "trail": [trace],
        });
        let (state, was) = match self.records.put(KIND, &id, &doc, None).await {
            Ok(_) => (state, false),
            Err(RecordError::Conflict { .. }) => {
                let kept = self.records.get(KIND, &id).await?;
                let kept = kept.and_then(|kept| CardState::deserialize(kept.doc.get("state")?).ok());
                let kept = kept.ok_or_else(|| RecordError::Store {
                    kind: KIND.to_owned(),
                    problem: format!("{id} cannot be read"),
                })?;
                let was = kept != state;
                (kept, was)
            }
            Err(error) => return Err(error.into()),
        };
        self.keep(Change::Settled { card: card.id.clone(), state }).await?;
        Ok(was)
    }

    /// Keeps questions that are asked. One that is open and asks the same is the same question.
    async fn asks(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        let (read, now) = (self.read()?, (self.clock)());
        let mut number = read.questions.len();
        for ask in asks {
            if let Some(open) = read.pending(&ask.call.id) {
                if open.card.shown == ask.shown {
                    continue;
                }
                let card = open.card.id.clone();
                self.keep(Change::Settled { card, state: CardState::Superseded }).await?;
            }
            number += 1;
            let act = self.judge.act(&ask.call.name);
            let spec = self.specs.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.call.name).cloned();
            let expires = self.terms.time_to_live.and_then(|time| now.checked_add(time).ok());
            let id = name(number, ask, now);
            let card = ApprovalCard::of(id, ask, act, spec.as_ref(), now, expires);
            let change = Change::Asked {
                card: Box::new(card),
                schema: spec.map_or(Value::Null, |spec| spec.schema),
                amendable: act.map(|act| act.amendable.clone()).unwrap_or_default(),
                needs: act.and_then(|act| act.needs.clone()),
            };
            self.keep(change).await?;
        }
        Ok(())
    }

    /// Settles the question about a call that is open because something else was said: nobody decided.
    pub(crate) async fn supersede(&self, call: &CallId) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        match self.read()?.pending(call) {
            Some(open) => {
                let card = open.card.id.clone();
                self.keep(Change::Settled { card, state: CardState::Superseded }).await
            }
            None => Ok(()),
        }
    }

    /// Settles the question about a call that was answered in place. One that was answered here is settled already.
    async fn answered(&self, call: &CallId, state: CardState) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        match self.read()?.pending(call) {
            Some(open) => self.settle(&open.card, state, IN_PLACE, (self.clock)()).await.map(drop),
            None => Ok(()),
        }
    }

    fn read(&self) -> Result<Arc<Read>, ApprovalError> {
        if let Some(read) = &*self.cache() {
            return Ok(Arc::clone(read));
        }
        let problem = |problem: String| ApprovalError::Side { problem };
        let mut read = Read::default();
        for change in self.side.all(SIDE).map_err(problem)? {
            read.apply(serde_json::from_value(change).map_err(|error| problem(error.to_string()))?);
        }
        let read = Arc::new(read);
        *self.cache() = Some(Arc::clone(&read));
        Ok(read)
    }

    async fn keep(&self, change: Change) -> Result<(), ApprovalError> {
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

/// The name of a question. It differs between branches of a session, which number their questions alike: what was decided
/// on one of them is not decided on the other.
fn name(number: usize, ask: &Ask, now: Timestamp) -> String {
    let shown: String = ask.shown.as_str().chars().take(8).collect();
    format!("q{number}-{shown}-{}", now.as_second())
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
            Record::Asked(asks) => self.asks(asks).await,
            // A call whose question was never answered has its result all the same: something else was said.
            Record::Message(Message::ToolResult(result)) => self.supersede(&result.call).await,
            Record::Message(_) | Record::TurnOpen => Ok(()),
        };
        kept.map_err(|error| error.to_string())
    }
}

/// What was answered in place, by whoever sits before a terminal.
#[async_trait]
impl Listener for Register {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::ApprovalGiven { .. })
    }

    async fn event(&self, event: Event) {
        let EventKind::ApprovalGiven { call, decision } = event.kind else { return };
        let state = match decision {
            Decision::Allow | Decision::AllowAndRemember { .. } => {
                CardState::Approved { by: None, amended: None }
            }
            Decision::AllowWith { arguments } => {
                CardState::Approved { by: None, amended: arguments.as_object().cloned() }
            }
            Decision::Deny { reason } | Decision::Refuse { reason } => {
                CardState::Rejected { by: None, reason }
            }
            Decision::Later => return,
        };
        if let Err(error) = self.answered(&call, state).await {
            tracing::error!(%error, "an answer is not shown with its question");
        }
    }
}

#[cfg(test)]
mod tests;
