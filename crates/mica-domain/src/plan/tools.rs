//! The tools that make a plan and go through it.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::tool::{Access, Effect};
use mica_agent::{Args, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{LONGEST, MOST_STEPS, Plan, PlanStep, StepStatus, VARIABLE, current};
use crate::store::tools::NO_STORE;
use crate::store::{Reference, Store};

/// The tool that makes a plan.
pub const PLAN_CREATE: &str = "plan_create";

/// The tool that goes through it.
pub const PLAN_UPDATE_STEP: &str = "plan_update_step";

/// Both tools. A product puts them among its own; they work wherever tools are [`equipped`](crate::store::equipped).
pub fn plan_tools() -> Vec<Arc<dyn Tool>> {
    let mut create = ToolSpec::new(
        PLAN_CREATE,
        "Publishes a plan that the user sees: what you are going to do, in steps. Only for tasks of three steps and more. \
         Replaces the plan there was. Answers with the steps and their ids.",
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["steps"],
            "properties": {
                "steps": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MOST_STEPS,
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["label"],
                        "properties": {
                            "label": { "type": "string", "minLength": 1, "maxLength": LONGEST, "description": "What is to be done." },
                            "detail": { "type": "string", "maxLength": LONGEST, "description": "More about it." },
                        },
                    },
                },
            },
        }),
    );
    create.label = "Plan".to_owned();
    let mut update = ToolSpec::new(
        PLAN_UPDATE_STEP,
        "Says how far a step of the plan is: running when you begin it, completed when it is done, failed when you give it up. \
         Answers with the whole plan.",
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["id", "status"],
            "properties": {
                "id": { "type": "string", "description": "The id of the step." },
                "status": { "enum": StepStatus::ALL.map(StepStatus::name) },
                "detail": { "type": "string", "maxLength": LONGEST, "description": "What it found, or why it failed. Replaces what was said before." },
            },
        }),
    );
    update.label = "Plan step".to_owned();
    let own = |mut spec: ToolSpec| {
        spec.access = Access::Write;
        spec.effect = Effect::Idempotent;
        spec
    };
    vec![Arc::new(Create(own(create))), Arc::new(Update(own(update)))]
}

struct Create(ToolSpec);

struct Update(ToolSpec);

#[derive(Deserialize)]
struct Wanted {
    steps: Vec<WantedStep>,
}

#[derive(Deserialize)]
struct WantedStep {
    label: String,
    #[serde(default)]
    detail: Option<String>,
}

#[derive(Deserialize)]
struct News {
    id: String,
    status: StepStatus,
    #[serde(default)]
    detail: Option<String>,
}

#[async_trait]
impl Tool for Create {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let store = Store::here().ok_or_else(|| ToolError::new(NO_STORE))?;
        let Wanted { steps } = read(args)?;
        if steps.is_empty() || steps.len() > MOST_STEPS {
            let problem = format!(
                "A plan has 1 to {MOST_STEPS} steps, not {}. Put some of them together.",
                steps.len()
            );
            return Err(ToolError::new(problem));
        }
        let mut plan = Plan::default();
        for (index, WantedStep { label, detail }) in steps.into_iter().enumerate() {
            let id = (index + 1).to_string();
            let label = short(&format!("the label of step {id}"), &label)?;
            if label.is_empty() {
                return Err(ToolError::new(format!(
                    "The label of step {id} is empty. Say what is to be done."
                )));
            }
            let detail =
                detail.map(|detail| short(&format!("the detail of step {id}"), &detail)).transpose()?;
            let detail = detail.filter(|detail| !detail.is_empty());
            plan.steps.push(PlanStep { id, label, detail, status: StepStatus::Pending });
        }
        keep(&store, plan).await
    }
}

#[async_trait]
impl Tool for Update {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let store = Store::here().ok_or_else(|| ToolError::new(NO_STORE))?;
        let News { id, status, detail } = read(args)?;
        let Some(mut plan) = current(&store) else {
            return Err(ToolError::new(format!("There is no plan yet. Make one with {PLAN_CREATE}.")));
        };
        let detail = detail.map(|detail| short("the detail", &detail)).transpose()?;
        let Some(step) = plan.steps.iter_mut().find(|step| step.id == id.trim()) else {
            let mut error =
                ToolError::new(format!("There is no step {id:?}. The plan is:\n{}", plan.as_text()));
            error.details = Some(json!({ "plan": plan }));
            return Err(error);
        };
        step.status = status;
        if let Some(detail) = detail {
            step.detail = Some(detail).filter(|detail| !detail.is_empty());
        }
        keep(&store, plan).await
    }
}

fn read<T: serde::de::DeserializeOwned>(args: Args) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(args))
        .map_err(|error| ToolError::new(format!("The arguments cannot be read: {error}.")))
}

/// A text of one line that is not too long.
fn short(what: &str, text: &str) -> Result<String, ToolError> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.chars().count() {
        count if count > LONGEST => Err(ToolError::new(format!(
            "{what} has {count} characters, and may have {LONGEST}. Say it shorter."
        ))),
        _ => Ok(text),
    }
}

async fn keep(store: &Store, plan: Plan) -> Result<ToolOutput, ToolError> {
    let value = serde_json::to_value(&plan).map_err(|error| ToolError::new(error.to_string()))?;
    let kept = store.write(&Reference::var(VARIABLE), value.clone()).await;
    kept.map_err(|error| ToolError::new(error.for_model()))?;
    Ok(ToolOutput::text(plan.as_text()).with_details(json!({ "plan": value })))
}

#[cfg(test)]
mod tests;
