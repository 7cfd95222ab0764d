//! Which question somebody answers, and what they were shown of it.

use mica_agent::{Ask, Shown};
use mica_ai::id::CallId;

use super::card::ApprovalCard;

/// Which question somebody answers. Of a question as it was shown (`&Ask`, `&ApprovalCard`) a yes counts for exactly that, also
/// when somebody else was shown something newer meanwhile; of a call alone, for what was shown last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The call.
    pub call: CallId,
    /// What they were shown.
    pub seen: Option<Shown>,
}

impl From<CallId> for About {
    fn from(call: CallId) -> Self {
        Self { call, seen: None }
    }
}

impl From<&Ask> for About {
    fn from(ask: &Ask) -> Self {
        Self { call: ask.call.id.clone(), seen: Some(ask.shown.clone()) }
    }
}

impl From<&ApprovalCard> for About {
    fn from(card: &ApprovalCard) -> Self {
        Self { call: card.call.clone(), seen: Some(card.shown.clone()) }
    }
}
