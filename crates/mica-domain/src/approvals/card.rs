//! A question about a call, as interfaces show it: before it is answered, and after.

use jiff::Timestamp;
use mica_agent::{Args, Ask, Base, Preview, Shown, ToolSpec};
use mica_ai::id::CallId;
use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::form::{Field, form};
use crate::act::Act;

/// The kind of card for tools that have none of their own.
const GENERAL: &str = "approval";

/// A question about a call. Plain data: a page, a terminal and a protocol show the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalCard {
    /// Names it within its session.
    pub id: String,
    /// How it is shown: a kind of the product, or `approval`.
    pub kind: String,
    /// What would be done, by the name that people know the tool by.
    pub title: String,
    /// The call in one line.
    pub digest: String,
    /// Why they are asked.
    pub reason: String,
    /// The arguments, as a form.
    pub fields: Vec<Field>,
    /// What would change, as far as the tool can say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// What it rests on, as that stood when it was shown last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What has changed since it was asked, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// The fingerprint of what is shown.
    pub shown: Shown,
    /// When they were asked.
    pub asked: Timestamp,
    /// Until when an answer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// What became of it.
    pub state: CardState,
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum CardState {
    /// Nobody answered yet.
    Pending,
    /// It may run.
    Approved {
        /// Who said so, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The arguments, when they were changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amended: Option<Args>,
    },
    /// It may not run.
    Rejected {
        /// Who said so, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// Why.
        reason: String,
    },
    /// Nobody answered in time.
    Expired,
    /// Something else was said or asked instead.
    Superseded,
}

impl ApprovalCard {
    /// The card of a question.
    pub(super) fn of(
        id: String,
        ask: &Ask,
        act: Option<&Act>,
        spec: Option<&ToolSpec>,
        asked: Timestamp,
        expires: Option<Timestamp>,
    ) -> Self {
        let args = ask.arguments.as_object().cloned().unwrap_or_default();
        let (label, fields) = match spec {
            Some(spec) => {
                let amendable = act.map(|act| act.amendable.as_slice()).unwrap_or_default();
                (spec.label.clone(), form(spec, &args, amendable))
            }
            None => (ask.call.name.clone(), Vec::new()),
        };
        Self {
            id,
            kind: act.and_then(|act| act.card.clone()).unwrap_or_else(|| GENERAL.to_owned()),
            digest: digest(act, &label, &args),
            title: label,
            reason: ask.reason.clone(),
            fields,
            preview: ask.preview.clone(),
            base: ask.base.clone(),
            changed: ask.changed.clone(),
            call: ask.call.id.clone(),
            tool: ask.call.name.clone(),
            shown: ask.shown.clone(),
            asked,
            expires,
            state: CardState::Pending,
        }
    }

    /// Whether its time is over.
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}
