//! `exit_plan_mode`: the model presents its plan, and the person agrees or says what to change.

use async_trait::async_trait;
use mica_agent::{
    Access, Approval, Args, Effect, Preview, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, typed::schema_of,
};
use mica_policy::mode::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Planning, files};
use crate::arguments::{blocking, read};

/// The name models call it by.
pub const NAME: &str = "exit_plan_mode";

/// The plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExitArgs {
    /// All of the plan, as Markdown. Leave it out when it is in the plan's file: what the file has is presented then.
    #[serde(default)]
    pub(super) plan: Option<String>,
}

/// Presents the plan, and turns plan mode off.
pub struct ExitPlanMode {
    planning: Planning,
    spec: ToolSpec,
}

impl ExitPlanMode {
    /// A tool for a session.
    pub fn new(planning: Planning) -> Self {
        let description = "Presents your plan to the person, in plan mode, when it is whole. If they agree, the mode is edit \
                           from then on and you carry the plan out. If they do not, the result is what they say: change the \
                           plan accordingly and present it again. Only for plans of changes, not for answers to questions.";
        let mut spec = ToolSpec::new(NAME, description, schema_of::<ExitArgs>());
        spec.label = "Present plan".to_owned();
        spec.access = Access::Exclusive;
        spec.effect = Effect::Idempotent;
        spec.approval = Approval::Needed;
        Self { planning, spec }
    }
}

#[async_trait]
impl Tool for ExitPlanMode {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let text = read::<ExitArgs>(args.clone()).ok()?.plan?;
        Some(Preview::Text { title: files::title(&text).to_owned(), text })
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let ExitArgs { plan } = read(args)?;
        let Planning { modes, plans } = self.planning.clone();
        if modes.mode() != Mode::Plan {
            return Err(ToolError::new(super::gate::not_planning(modes.mode())));
        }
        let Some(plan) = plan.filter(|plan| !plan.trim().is_empty()) else {
            return Err(ToolError::new(super::gate::no_plan(&self.planning)));
        };
        let file = match plans {
            None => None,
            Some(plans) => Some(blocking(cx, move |cx| plans.keep(&plan, cx)).await?),
        };
        modes
            .set(Mode::Edit)
            .map_err(|error| ToolError::new(format!("The mode could not be changed: {error}.")))?;
        let place =
            file.as_ref().map(|file| format!(" It is kept in {}.", file.display())).unwrap_or_default();
        let text = format!(
            "The plan is agreed to, by the person or by a rule of theirs that names {NAME}.{place} The mode is edit, from this call on: carry the plan out now, step by \
             step, and check it as the plan says. Where you must depart from it, say so."
        );
        Ok(ToolOutput::text(text).with_details(json!({ "mode": Mode::Edit, "plan": file })))
    }
}
