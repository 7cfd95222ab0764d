//! Plans: steps that the model publishes and goes through, kept in `var:plan` across runs.
//!
//! Planning is something a model does when a task is worth it, not a stage that every message passes. Both tools answer with
//! the whole plan, for the model in their text and for interfaces under `plan` in their details: who listens to the events
//! of a run has the plan as it changes ([`told`]), who comes later reads it from the store ([`current`]).

pub mod tools;

pub use tools::{PLAN_CREATE, PLAN_UPDATE_STEP, plan_tools};

use mica_agent::EventKind;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cards::Kind;
use crate::store::{Reference, Store};

/// The variable that holds the plan.
pub const VARIABLE: &str = "plan";

/// Steps of a plan at most.
pub const MOST_STEPS: usize = 30;

/// Characters of a label, and of a detail, at most.
pub const LONGEST: usize = 200;

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its steps, in order.
    pub steps: Vec<PlanStep>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Names it.
    pub id: String,
    /// What is to be done.
    pub label: String,
    /// More about it: what it found, why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    Running,
    /// Done.
    Completed,
    /// Given up.
    Failed,
}

impl StepStatus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Running, Self::Completed, Self::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

impl Plan {
    /// The plan in words, a line for each step.
    pub fn as_text(&self) -> String {
        let mut lines = Vec::new();
        for step in &self.steps {
            let detail = step.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
            lines.push(format!("{}. [{}] {}{detail}", step.id, step.status.name(), step.label));
        }
        lines.join("\n")
    }

    /// Steps that are done, and all.
    pub fn progress(&self) -> (usize, usize) {
        (self.steps.iter().filter(|step| step.status == StepStatus::Completed).count(), self.steps.len())
    }
}

/// The plan of a session, as it is now.
pub fn current(store: &Store) -> Option<Plan> {
    serde_json::from_value(store.read(&Reference::var(VARIABLE)).ok()?).ok()
}

/// The plan that an event tells, when it tells one: each change of it is told as the end of a call.
pub fn told(event: &EventKind) -> Option<Plan> {
    match event {
        EventKind::CallEnd { details: Some(details), .. } => from_details(details),
        EventKind::Subagent { event, .. } => told(event),
        _ => None,
    }
}

/// The plan in the details of a result.
pub fn from_details(details: &Value) -> Option<Plan> {
    Plan::deserialize(details.get("plan")?).ok()
}

/// A card for the steps of a plan, for products that show one in an answer.
pub fn card() -> Kind {
    let step = json!({
        "type": "object",
        "required": ["label", "status"],
        "additionalProperties": false,
        "properties": {
            "id": { "type": "string" },
            "label": { "type": "string", "maxLength": LONGEST },
            "status": { "enum": StepStatus::ALL.map(StepStatus::name) },
            "detail": { "type": "string", "maxLength": LONGEST },
        },
    });
    let schema = json!({
        "type": "object",
        "required": ["steps"],
        "additionalProperties": false,
        "properties": { "steps": { "type": "array", "minItems": 1, "maxItems": MOST_STEPS, "items": step } },
    });
    let example = json!({ "steps": [{ "label": "Find the invoices", "status": "completed" }] });
    Kind::data("plan-steps", schema, example, "the plan at its end, as it was returned last")
        .from_tool(PLAN_CREATE)
}
