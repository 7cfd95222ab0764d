//! The questions of a session as they are kept beside it: changes, and what they come to.

use jiff::Timestamp;
use mica_agent::{Ask, Base, Preview, Shown};
use mica_ai::id::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::card::{ApprovalCard, CardState};

/// What happened to the questions of a session.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
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
    /// A question was looked at again, and what is said about it is something else by now.
    Renewed { card: String, look: Box<Look> },
    /// A question took the place of another about the same call: in one step, so that no crash leaves neither.
    Replaced { card: String, by: String, asked: Timestamp, expires: Option<Timestamp>, look: Box<Look> },
    /// A question was settled.
    Settled {
        card: String,
        state: CardState,
        /// What whoever settled it was shown, where that is not what is shown here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Seen>,
    },
}

/// What a question shows of things as they stand.
#[derive(Serialize, Deserialize)]
pub(super) struct Look {
    shown: Shown,
    reason: String,
    #[serde(default)]
    preview: Option<Preview>,
    #[serde(default)]
    base: Option<Base>,
    #[serde(default)]
    changed: Vec<String>,
}

impl Look {
    pub(super) fn of(ask: &Ask) -> Self {
        Self {
            shown: ask.shown.clone(),
            reason: ask.reason.clone(),
            preview: ask.preview.clone(),
            base: ask.base.clone(),
            changed: ask.changed.clone(),
        }
    }

    /// Whether a card shows this.
    pub(super) fn is_on(&self, card: &ApprovalCard) -> bool {
        self.shown == card.shown
            && self.reason == card.reason
            && self.preview == card.preview
            && self.base == card.base
            && self.changed == card.changed
    }

    fn onto(self, card: &mut ApprovalCard) {
        let Self { shown, reason, preview, base, changed } = self;
        (card.shown, card.reason, card.preview, card.base, card.changed) =
            (shown, reason, preview, base, changed);
    }
}

/// What somebody was shown when they decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Seen {
    pub(super) shown: Shown,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<Base>,
}

impl Seen {
    pub(super) fn of(card: &ApprovalCard) -> Self {
        Self { shown: card.shown.clone(), base: card.base.clone() }
    }
}

/// A question, as it is kept.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) card: ApprovalCard,
    pub(super) schema: Value,
    pub(super) amendable: Vec<String>,
    pub(super) needs: Option<String>,
    /// What whoever settled it was shown, where that is something else.
    seen: Option<Seen>,
}

impl Question {
    /// What the decision about it was made on.
    pub(super) fn seen(&self) -> Seen {
        self.seen.clone().unwrap_or_else(|| Seen::of(&self.card))
    }
}

#[derive(Clone, Default)]
pub(super) struct Read {
    pub(super) questions: Vec<Question>,
    /// Questions of this run.
    pub(super) asked: usize,
}

impl Read {
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Begun => self.asked = 0,
            Change::Asked { card, schema, amendable, needs } => {
                self.asked += 1;
                self.questions.push(Question { card: *card, schema, amendable, needs, seen: None });
            }
            Change::Renewed { card, look } => {
                if let Some(question) = self.find(&card) {
                    look.onto(&mut question.card);
                }
            }
            Change::Replaced { card, by, asked, expires, look } => {
                if let Some(before) = self.find(&card) {
                    let mut question = Question { seen: None, ..before.clone() };
                    if before.card.state == CardState::Pending {
                        before.card.state = CardState::Superseded;
                    }
                    look.onto(&mut question.card);
                    let card = &mut question.card;
                    (card.id, card.asked, card.expires, card.state) =
                        (by, asked, expires, CardState::Pending);
                    self.questions.push(question);
                }
            }
            Change::Settled { card, state, seen } => {
                if let Some(question) = self.find(&card) {
                    (question.card.state, question.seen) = (state, seen);
                }
            }
        }
    }

    /// Something that happened cannot be read. It may have taken a yes back, so none that was given before it counts.
    pub(super) fn lost(&mut self) {
        for question in &mut self.questions {
            if matches!(question.card.state, CardState::Approved { .. }) {
                (question.card.state, question.seen) = (CardState::Superseded, None);
            }
        }
    }

    fn find(&mut self, card: &str) -> Option<&mut Question> {
        self.questions.iter_mut().find(|question| question.card.id == card)
    }

    /// The newest question about a call.
    pub(super) fn newest(&self, call: &CallId) -> Option<&Question> {
        self.questions.iter().rev().find(|question| question.card.call == *call)
    }

    /// The newest question about a call, if it is what is asked. A no counts whatever is shown by now.
    pub(super) fn about(&self, ask: &Ask) -> Option<&Question> {
        let is_no = |card: &ApprovalCard| matches!(card.state, CardState::Rejected { .. });
        self.newest(&ask.call.id).filter(|question| question.card.shown == ask.shown || is_no(&question.card))
    }

    pub(super) fn pending(&self, call: &CallId) -> Option<&Question> {
        self.newest(call).filter(|question| question.card.state == CardState::Pending)
    }
}
