//! How questions are settled: once, on record first, and only for as long as it holds.

use jiff::Timestamp;
use mica_agent::{Ask, Decision};
use serde::Deserialize;
use serde_json::json;

use super::card::{ApprovalCard, CardState};
use super::error::ApprovalError;
use super::kept::{Change, Question, Seen};
use super::register::{Decided, NOBODY, Register};
use super::trail::{Deed, KIND, Trace};
use crate::records::{Kept, RecordError};

impl Register {
    /// Settles a question, unless somebody did: then that counts. Answers whether somebody did.
    pub(super) async fn settle(
        &self,
        card: &ApprovalCard,
        state: CardState,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, ApprovalError> {
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
            "base": card.base, "state": state, "trail": [trace],
        });
        let id = self.place(card);
        let (state, seen, was) = match self.records.put(KIND, &id, &doc, None).await {
            Ok(_) => (state, None, false),
            Err(RecordError::Conflict { .. }) => {
                let kept = self.records.get(KIND, &id).await?;
                let (kept, seen) = kept.as_ref().and_then(read).ok_or_else(|| unreadable(&id))?;
                let was = kept != state;
                (kept, Some(seen), was)
            }
            Err(error) => return Err(error.into()),
        };
        self.keep(Change::Settled { card: card.id.clone(), state, seen }).await?;
        Ok(was)
    }

    /// Takes what is on record about questions and is not known here: whoever decided may have died before they could say
    /// so. What cannot be read decides nothing: it stays where it is, people are asked anew, and what to tell them of it is
    /// answered.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub(crate) async fn catch_up(&self, asks: &[Ask]) -> Result<Vec<String>, ApprovalError> {
        let _turn = self.turn.lock().await;
        let mut notices = Vec::new();
        for ask in asks {
            let read = self.read()?;
            let Some(question) = read.pending(&ask.call.id) else { continue };
            let id = self.place(&question.card);
            let Some(kept) = self.records.get(KIND, &id).await? else { continue };
            match self::read(&kept) {
                Some((state, seen)) => {
                    let card = question.card.id.clone();
                    self.keep(Change::Settled { card, state, seen: Some(seen) }).await?;
                }
                None => {
                    let (tool, digest) = (&question.card.tool, &question.card.digest);
                    tracing::warn!(record = %id, tool, "what was decided cannot be read, and is asked anew");
                    self.again(question, ask, question.card.expires).await?;
                    notices.push(format!(
                        "what was decided about {digest:?} ({tool}) cannot be read, so it counts as not approved and is asked again; the \
                         record {KIND} {id} is left as it is"
                    ));
                }
            }
        }
        Ok(notices)
    }

    /// What was decided, as far as those who decided still may: who lost the right to it has their yes refused, on record.
    /// For whoever carries it out, which may be somebody else, later.
    ///
    /// # Errors
    /// [`ApprovalError::People`] when it cannot be found out who they are: nothing is carried out then.
    pub async fn honoured(&self, mut decided: Decided) -> Result<Decided, ApprovalError> {
        let (Some(people), Some(decisions)) = (&self.people, &mut decided.decisions) else {
            return Ok(decided);
        };
        let _turn = self.turn.lock().await;
        let read = self.read()?;
        for answer in decisions.0.iter_mut().filter(|answer| answer.decision.is_yes()) {
            let Some(question) = read.newest(&answer.call) else { continue };
            let CardState::Approved { by: Some(by), .. } = &question.card.state else { continue };
            let found = people.person(by).await;
            let missing =
                match found.map_err(|problem| ApprovalError::People { name: by.clone(), problem })? {
                    None => "they are not there any more".to_owned(),
                    Some(person) => match self.may(question, &person) {
                        Ok(()) => continue,
                        Err(missing) => format!("{missing} is missing"),
                    },
                };
            let reason =
                format!("{by} approved it, and may not approve it any more: {missing}. Nothing was done.");
            let state = CardState::Rejected { by: None, reason: reason.clone() };
            self.unmake(question, state, Deed::Revoked { reason: reason.clone() }).await?;
            answer.decision = Decision::Refuse { reason };
        }
        Ok(decided)
    }

    /// Takes a yes back that was not carried out, because what it rests on has changed since.
    pub(super) async fn outdate(&self, question: &Question, changed: &[String]) -> Result<(), ApprovalError> {
        if !matches!(question.card.state, CardState::Approved { .. }) {
            return Ok(());
        }
        let changed = changed.to_vec();
        self.unmake(question, CardState::Superseded, Deed::Outdated { changed }).await
    }

    /// Takes back what somebody said yes to in a run that was abandoned: none of its calls ran.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub(crate) async fn abandoned(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        let read = self.read()?;
        for question in asks.iter().filter_map(|ask| read.about(ask)) {
            if matches!(question.card.state, CardState::Approved { .. }) {
                self.unmake(question, CardState::Superseded, Deed::Abandoned).await?;
            }
        }
        Ok(())
    }

    /// Takes a decision back that was not carried out: on record first.
    async fn unmake(&self, question: &Question, state: CardState, deed: Deed) -> Result<(), ApprovalError> {
        let id = self.place(&question.card);
        if let Some(Kept { mut doc, version }) = self.records.get(KIND, &id).await? {
            let trace = Trace { at: (self.clock)(), by: NOBODY.to_owned(), deed };
            match doc.get_mut("trail").and_then(|trail| trail.as_array_mut()) {
                Some(trail) => {
                    trail.push(json!(trace));
                    doc["state"] = json!(state);
                    self.records.put(KIND, &id, &doc, Some(version)).await?;
                }
                // It says nothing that could count, and a no must not fail for it.
                None => tracing::warn!(record = %id, "what was decided cannot be read, and is left as it is"),
            }
        }
        self.keep(Change::Settled { card: question.card.id.clone(), state, seen: None }).await
    }

    /// Where what is decided about a question is kept.
    fn place(&self, card: &ApprovalCard) -> String {
        format!("{}/{}", self.session, card.id)
    }
}

/// What was decided, and what whoever decided was shown.
fn read(kept: &Kept) -> Option<(CardState, Seen)> {
    let state = CardState::deserialize(kept.doc.get("state")?).ok()?;
    Some((state, Seen::deserialize(&kept.doc).ok()?))
}

fn unreadable(id: &str) -> RecordError {
    RecordError::Store { kind: KIND.to_owned(), problem: format!("{id} cannot be read") }
}
