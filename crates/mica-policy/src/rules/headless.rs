//! A run that nobody watches: what would be asked is refused.

use async_trait::async_trait;
use mica_agent::{Ask, Decision, Hooks};

/// Answers every question with no, and says how it could have been a yes. Comes behind all that may answer otherwise.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headless;

#[async_trait]
impl Hooks for Headless {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|ask| Decision::Refuse { reason: refusal(ask) }).collect())
    }
}

/// Why a call is refused that nobody can approve.
fn refusal(ask: &Ask) -> String {
    let tool = &ask.call.name;
    let rule = ask.rule.as_ref().map(|rule| format!(" (rule: {rule})")).unwrap_or_default();
    format!(
        "nobody is there to approve it{rule}. Whoever starts the run can allow it with the rule \"{tool}\". Go on \
         without it, and say at the end what was left undone."
    )
}
