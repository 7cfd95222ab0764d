//! The gate of planning: who may plan in which mode, and which plan a person is asked about.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};
use mica_policy::mode::Mode;
use serde_json::Value;

use super::files::LARGEST;
use super::{ENTER, EXIT, Planning};

/// Judges the calls of planning, and nothing else.
pub struct PlanGate {
    planning: Planning,
}

impl PlanGate {
    /// A gate for a session.
    pub fn new(planning: Planning) -> Self {
        Self { planning }
    }

    fn enter(&self) -> Verdict {
        match self.planning.modes.mode() {
            Mode::Edit => Verdict::Pass,
            // Nothing changes, so nobody needs to be asked; the result says where the plan goes.
            Mode::Plan => Verdict::Allow,
            Mode::Ask => denied(
                "The mode is ask, which the user has chosen: look and answer. Say what you would plan, and let the user \
                 switch to plan mode."
                    .to_owned(),
            ),
        }
    }

    /// Puts the plan into the arguments, so that a yes is for this plan.
    async fn exit(&self, gated: &mut Gated<'_>) -> Verdict {
        let mode = self.planning.modes.mode();
        if mode != Mode::Plan {
            return denied(not_planning(mode));
        }
        let given = gated.args.get("plan").and_then(Value::as_str).map(str::to_owned);
        let plan = match given.filter(|text| !text.trim().is_empty()) {
            Some(plan) => plan,
            None => {
                let Some(plans) = self.planning.plans.clone() else { return denied(no_plan(&self.planning)) };
                match tokio::task::spawn_blocking(move || plans.newest()).await {
                    Ok(Ok(Some(plan))) => plan.text,
                    Ok(Ok(None)) => return denied(no_plan(&self.planning)),
                    Ok(Err(error)) => return denied(error.for_model()),
                    Err(error) => return denied(format!("The plan could not be read: {error}.")),
                }
            }
        };
        if plan.len() as u64 > LARGEST {
            return denied(format!("The plan has {} bytes; {LARGEST} are the most. Shorten it.", plan.len()));
        }
        gated.args.insert("plan".to_owned(), Value::String(plan));
        Verdict::Pass
    }
}

#[async_trait]
impl Hooks for PlanGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        match gated.spec.name.as_str() {
            ENTER => self.enter(),
            EXIT => self.exit(gated).await,
            _ => Verdict::Pass,
        }
    }
}

/// What is said to somebody who leaves plan mode without being in it.
pub(super) fn not_planning(mode: Mode) -> String {
    match mode {
        Mode::Ask => "The mode is ask, not plan: there is nothing to leave. Look and answer.".to_owned(),
        Mode::Plan | Mode::Edit => {
            "The mode is edit, not plan: there is nothing to leave. Go on with the work.".to_owned()
        }
    }
}

/// What is said to somebody who presents nothing.
pub(super) fn no_plan(planning: &Planning) -> String {
    match &planning.plans {
        None => format!("There is no plan yet. Give it as `plan` of {EXIT}."),
        Some(plans) => format!(
            "There is no plan yet. Write it as a Markdown file in {}, or give it as `plan` of {EXIT}.",
            plans.folder().display()
        ),
    }
}

fn denied(reason: String) -> Verdict {
    Verdict::Deny { reason, rule: Some("plan".to_owned()) }
}
