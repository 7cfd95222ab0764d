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

    /// People are asked these still: what was said instead was not kept.
    pub(crate) async fn asked_still(&self, asks: &[Ask]) -> Result<(), ApprovalError> {
        let _turn = self.turn.lock().await;
        for ask in asks {
            let read = self.read()?;
            if let Some(question) = read.newest(&ask.call.id)
                && question.card.state == CardState::Superseded
            {
                self.again(question, ask).await?;
            }
        }
        Ok(())
    }

    /// Keeps a question.
    async fn ask(&self, ask: &Ask) -> Result<(), ApprovalError> {
        let (number, now) = (self.read()?.questions.len() + 1, (self.clock)());
        let act = self.judge.act(&ask.call.name);
        let spec = self.specs.lock().unwrap_or_else(PoisonError::into_inner).get(&ask.call.name).cloned();
        let expires = self.terms.time_to_live.and_then(|time| now.checked_add(time).ok());
        let card = ApprovalCard::of(name(number, ask, now), ask, act, spec.as_ref(), now, expires);
        let change = Change::Asked {
            card: Box::new(card),
            schema: spec.map_or(Value::Null, |spec| spec.schema),
            amendable: act.map(|act| act.amendable.clone()).unwrap_or_default(),
            needs: act.and_then(|act| act.needs.clone()),
        };
        self.keep(change).await
    }

    /// Takes questions that were looked at again: they show things as they stand now. What somebody said yes to before that
    /// is asked again; a no stays one.
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
            let is_yes = matches!(question.card.state, CardState::Approved { .. });
            if is_yes && question.card.shown != ask.shown {
                self.outdate(question, &ask.changed).await?;
                self.again(question, ask).await?;
            } else {
                let card = question.card.id.clone();
                self.keep(Change::Renewed { card, look: Box::new(look) }).await?;
            }
        }
        Ok(())
    }

    /// Asks a question anew whose tool nobody looked at in this process yet.
    async fn again(&self, before: &Question, ask: &Ask) -> Result<(), ApprovalError> {
        let (number, now) = (self.read()?.questions.len() + 1, (self.clock)());
        let expires = self.terms.time_to_live.and_then(|time| now.checked_add(time).ok());
        let mut card = before.card.clone();
        (card.id, card.asked, card.expires, card.state) =
            (name(number, ask, now), now, expires, CardState::Pending);
        let (schema, amendable) = (before.schema.clone(), before.amendable.clone());
        let id = card.id.clone();
        let needs = before.needs.clone();
        self.keep(Change::Asked { card: Box::new(card), schema, amendable, needs }).await?;
        self.keep(Change::Renewed { card: id, look: Box::new(Look::of(ask)) }).await
    }
}

/// The name of a question. It differs between branches of a session, which number their questions alike: what was decided
/// on one of them is not decided on the other.
fn name(number: usize, ask: &Ask, now: Timestamp) -> String {
    let shown: String = ask.shown.as_str().chars().take(8).collect();
    format!("q{number}-{shown}-{}", now.as_second())
}
