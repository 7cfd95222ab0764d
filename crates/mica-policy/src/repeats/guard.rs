//! The gate that stops circles.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};

use super::{Patience, history, judge};
use crate::rules::RuleSet;

/// Denies calls that repeat what was just done.
#[derive(Debug, Clone, Default)]
pub struct RepeatGuard {
    patience: Patience,
    polls: RuleSet,
}

impl RepeatGuard {
    /// A guard with this patience. What `polls` allows may be made again and again, as long as it does not fail.
    pub fn new(patience: Patience, polls: RuleSet) -> Self {
        Self { patience, polls }
    }
}

#[async_trait]
impl Hooks for RepeatGuard {
    async fn gate(&self, gated: &mut Gated<'_>, cx: &Context) -> Verdict {
        let (past, next) = history(cx, gated.call, &self.polls);
        match judge(&self.patience, &past, &next) {
            None => Verdict::Pass,
            Some(repetition) => Verdict::Deny {
                reason: repetition.for_model(&gated.spec.name),
                rule: Some(repetition.rule().to_owned()),
            },
        }
    }
}
