//! How questions are asked, and asked anew: once for what is asked, and again when that is something else by now.

use std::sync::PoisonError;

use jiff::Timestamp;
use mica_agent::Ask;
use serde_json::Value;

use super::card::{ApprovalCard, CardState};
use super::error::ApprovalError;
use super::kept::{Change, Look, Question};
use super::register::Register;

impl Register {
    /// Keeps questions that are asked. One that is open and asks the same is the same question, and one that somebody said
    /// yes to before what it rests on has changed is asked again.
    pub(super) async fn asks(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        for ask in asks {
            let read = self.read()?;
            match read.newest(&ask.call.id) {
                Some(open) if open.card.state == CardState::Pending => {
                    if open.card.shown == ask.shown {
                        continue;
                    }
                    let card = open.card.id.clone();
                    self.keep(Change::Settled { card, state: CardState::Superseded, seen: None }).await?;
                }
                Some(given) if !ask.changed.is_empty() => self.outdate(given, &ask.changed).await?,
                _ => {}
            }
            self.ask(ask).await?;
        }
        Ok(())
    }

    /// People are asked these still: what was said instead was not kept, or the question was not.
    pub(crate) async fn asked_still(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        for ask in asks {
            let read = self.read()?;
            match read.newest(&ask.call.id) {
                None => self.ask(ask).await?,
                Some(question) if question.card.state == CardState::Superseded => {
                    self.again(question, ask, self.expiry()).await?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Keeps a question.
    async fn ask(&self, ask: &Ask) -> Result<(), ApprovalError> {
        let (number, now) = (self.read()?.questions.len() + 1, (self.clock)());
        let act = self.judge.act(&ask.call.name);
        let spec = self.specs.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.call.name).cloned();
        let expires = self.expiry();
        let card = ApprovalCard::of(name(number, ask, now), ask, act, spec.as_ref(), now, expires);
        let change = Change::Asked {
            card: Box::new(card),
            schema: spec.map_or(Value::Null, |spec| spec.schema),
            amendable: act.map(|act| act.amendable.clone()).unwrap_or_default(),
            needs: act.and_then(|act| act.needs.clone()),
        };
        self.keep(change).await
    }

    /// Takes questions that were looked at again: they show things as they stand now. What shows something else than before
    /// is another question, so that nobody who has the one of before in front of them answers this one by its name; its time
    /// is the same. What somebody said yes to before that is asked again; a no stays one.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub(crate) async fn renewed(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        for ask in asks {
            let read = self.read()?;
            let Some(question) = read.newest(&ask.call.id) else { continue };
            let look = Look::of(ask);
            if look.is_on(&question.card) {
                continue;
            }
            let is_other = question.card.shown != ask.shown;
            match question.card.state {
                CardState::Approved { .. } if is_other => {
                    self.outdate(question, &ask.changed).await?;
                    self.again(question, ask, self.expiry()).await?;
                }
                CardState::Pending if is_other => self.again(question, ask, question.card.expires).await?,
                _ => {
                    let card = question.card.id.clone();
                    self.keep(Change::Renewed { card, look: Box::new(look) }).await?;
                }
            }
        }
        Ok(())
    }

    /// Asks another question in the place of one. It is counted once: people are asked about one call.
    pub(super) async fn again(
        &self,
        before: &Question,
        ask: &Ask,
        expires: Option<Timestamp>,
    ) -> Result<(), ApprovalError> {
        let (number, now) = (self.read()?.questions.len() + 1, (self.clock)());
        let (card, by, look) = (before.card.id.clone(), name(number, ask, now), Box::new(Look::of(ask)));
        self.keep(Change::Replaced { card, by, asked: now, expires, look }).await
    }

    /// Until when an answer to a question counts that is asked now.
    pub(super) fn expiry(&self) -> Option<Timestamp> {
        self.terms.time_to_live.and_then(|time| (self.clock)().checked_add(time).ok())
    }
}

/// The name of a question. It differs between branches of a session, which number their questions alike: what was decided
/// on one of them is not decided on the other.
fn name(number: usize, ask: &Ask, now: Timestamp) -> String {
    let shown: String = ask.shown.as_str().chars().take(8).collect();
    format!("q{number}-{shown}-{}", now.as_second())
}
