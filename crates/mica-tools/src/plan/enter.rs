//! `enter_plan_mode`: the model asks to plan first.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Ends, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSpec,
    typed::schema_of,
};
use mica_policy::mode::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{EXIT, Planning};
use crate::arguments::read;

/// The name models call it by.
pub const NAME: &str = "enter_plan_mode";

/// What is to be planned.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EnterArgs {
    /// What is to be planned, in a few words. The file of the plan is named after it.
    title: String,
}

/// Turns plan mode on.
pub struct EnterPlanMode {
    planning: Planning,
    spec: ToolSpec,
}

impl EnterPlanMode {
    /// A tool for a session.
    pub fn new(planning: Planning) -> Self {
        let description = "Asks the person to let you plan first. Use it before work that changes many files or can be done \
                           in quite different ways; not for small or plain tasks. When they agree, nothing can be changed \
                           until they have agreed to your plan.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<EnterArgs>());
        spec.label = "Plan first".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        // What stands behind it in the same answer was meant for the mode before.
        spec.ends = Ends::Batch;
        Self { planning, spec }
    }
}

#[async_trait]
impl Tool for EnterPlanMode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let EnterArgs { title } = read(args.clone()).ok()?;
        let text = "It wants to plan this first. From a yes on, nothing but the plan is written until you agree to it.";
        Some(Preview::Text { title, text: text.to_owned() })
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let EnterArgs { title } = read(args)?;
        let Planning { modes, plans } = &self.planning;
        modes
            .set(Mode::Plan)
            .map_err(|error| ToolError::new(format!("The mode could not be changed: {error}.")))?;
        let file = plans.as_ref().map(|plans| plans.fresh(&title));
        let place = match (&file, plans) {
            (Some(file), Some(plans)) => format!(
                "Write the plan to {} with the tools for files; below {} is the only place that can be written now.",
                file.display(),
                plans.folder().display()
            ),
            _ => format!("Give the plan as `plan` of {EXIT}: it is kept in no file."),
        };
        let text = format!(
            "Plan mode is on, from this call on. Look at whatever you need; the project cannot be changed. {place} Say in \
             it what is to be achieved, which way you take and why, which files change and how, in which steps, and how it \
             is checked. Then call {EXIT}: the person reads the plan and agrees, or says what to change. Do not ask in \
             another way whether the plan is good."
        );
        Ok(ToolOutput::text(text).with_details(json!({ "mode": Mode::Plan, "plan": file })))
    }
}
