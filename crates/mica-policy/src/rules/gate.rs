//! The gate that goes by rules.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};

use super::{Action, RuleSet, person};

/// Judges every call by the rules of the run.
#[derive(Debug, Clone, Default)]
pub struct RuleGate {
    rules: RuleSet,
}

impl RuleGate {
    /// A gate with these rules.
    pub fn new(rules: RuleSet) -> Self {
        Self { rules }
    }
}

#[async_trait]
impl Hooks for RuleGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        let tool = &gated.spec.name;
        let Some((action, rule)) = self.rules.judge(tool, &gated.args) else {
            return match person::instead(tool).filter(|_| self.rules.waves_through(tool)) {
                Some(reason) => Verdict::Deny { reason: reason.to_owned(), rule: Some("plan".to_owned()) },
                None => Verdict::Pass,
            };
        };
        let rule = format!("{action} {rule}");
        match action {
            Action::Allow => {
                tracing::debug!(%tool, %rule, "a call is allowed beforehand");
                Verdict::Allow
            }
            Action::Ask => Verdict::Ask {
                reason: format!("The rule \"{rule}\" asks before {tool} runs this."),
                rule: Some(rule),
                // Whoever wrote the rule wants to be asked.
                proposals: Vec::new(),
            },
            Action::Deny => Verdict::Deny {
                reason: format!(
                    "{tool} was not run: the rule \"{rule}\" forbids this call. Do not try to get around it. Go on \
                     without it, or tell the user what you need it for."
                ),
                rule: Some(rule),
            },
        }
    }
}
