//! A step of a workflow: the same agent, with the workflow's variables as its store, and a typed end.
//!
//! What the model is sent begins with the messages the workflow gives, and what the run adds follows them: results of calls
//! are in every request after the one that made them. A step that is run again after a crash goes on where it was.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Args, Ask, Limit, Outcome, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};
use mica_context::fence::fenced;
use mica_policy::budget::Limits;
use mica_policy::validate::BadSchema;
use serde_json::{Value, json};

use crate::autonomy::{ApprovalMode, Autonomy};
use crate::profile::Profile;
use crate::rights::Rights;
use crate::runners::answer::AnswerTool;
use crate::runners::clock::Clock;
use crate::runners::key::key;
use crate::runners::opening::{
    Extras, Heard, OpenError, Opening, Opens, Origin, Past, Said, SayError, Turned,
};
use crate::side::Loose;
use crate::store::tools::set_variable;
use crate::store::{Given, Store, StoreError, Variables};

/// Turns of a step: what a classification with a few look-ups takes, and not more.
const TURNS: u32 = 10;

/// A step of a workflow.
#[derive(Clone)]
pub struct WorkflowStep {
    /// The run of the workflow.
    pub run: String,
    /// The step.
    pub step: String,
    /// The agent.
    pub agent: String,
    /// What it may do.
    pub rights: Rights,
    /// What happens to calls that a person would be asked about. By default they are done: the workflow was approved.
    pub autonomy: Autonomy,
    /// What was said before.
    pub seed: Vec<Past>,
    /// What the agent should do. `{{var:NAME}}` stands for a variable.
    pub prompt: String,
    /// The variables of the workflow: `var:NAME` in the prompt, in what tools are bound to, and for the model with
    /// `get_variable` and `set_variable`.
    pub variables: Option<Arc<dyn Variables>>,
    /// The schema of the result, where it is data.
    pub result: Option<Value>,
    /// How often the model is asked again when it gives no result.
    pub repairs: u32,
    /// How much it may take.
    pub limits: Limits,
}

impl WorkflowStep {
    /// A step that an agent does with all rights of the workflow.
    pub fn new(
        run: impl Into<String>,
        step: impl Into<String>,
        agent: impl Into<String>,
        rights: Rights,
    ) -> Self {
        Self {
            run: run.into(),
            step: step.into(),
            agent: agent.into(),
            rights,
            autonomy: Autonomy::all(ApprovalMode::Auto),
            seed: Vec::new(),
            prompt: String::new(),
            variables: None,
            result: None,
            repairs: 1,
            limits: Limits { turns: Some(TURNS), ..Limits::default() },
        }
    }

    /// Its session.
    pub fn session(&self) -> String {
        key(["workflow", &self.run, &self.step])
    }
}

/// How a step ended.
#[derive(Debug, Clone)]
pub enum StepEnd {
    /// It is done.
    Done {
        /// What the agent said.
        text: String,
        /// The result, where one was wanted. It fits the schema.
        value: Option<Value>,
    },
    /// It is done as far as the agent says, but no result fits.
    NoResult {
        /// What the agent said instead.
        text: String,
    },
    /// A limit was reached.
    Exhausted {
        /// Which.
        limit: Limit,
        /// What the agent said of what is done and what is not.
        text: String,
    },
    /// A person must decide first. Run the step again when they have.
    Waiting {
        /// What.
        asks: Vec<Ask>,
    },
    /// It failed.
    Failed {
        /// Why.
        problem: String,
    },
}

/// Why a step could not run.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StepError {
    /// The schema of the result cannot be used.
    #[error(transparent)]
    Schema(#[from] BadSchema),
    /// The prompt refers to something that is not there.
    #[error(transparent)]
    Prompt(#[from] StoreError),
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Nothing could be said in it.
    #[error(transparent)]
    Say(#[from] SayError),
}

/// What is said when a result is wanted and none was given.
const AGAIN: &str =
    "[Note from the workflow, not from a person: the result is missing. Give it with the tool `answer`.]";

/// Runs a step.
///
/// # Errors
/// [`StepError`]. Everything else is how it ended.
pub async fn run_step(
    opening: &dyn Opening,
    step: &WorkflowStep,
    clock: &Clock,
) -> Result<StepEnd, StepError> {
    let answer = step.result.as_ref().map(AnswerTool::new).transpose()?;
    let opens = Opens {
        session: step.session(),
        agent: step.agent.clone(),
        profile: Profile::AUTONOMOUS,
        rights: step.rights.clone(),
        autonomy: step.autonomy.clone(),
    };
    let mut tools: Vec<Arc<dyn Tool>> = answer.iter().map(|tool| Arc::new(tool.clone()) as _).collect();
    if let Some(variables) = &step.variables {
        tools.extend([set_variable(), Arc::new(GetVariable::of(Arc::clone(variables)))]);
    }
    let extras = Extras {
        tools,
        variables: step.variables.clone(),
        limits: Some(step.limits.clone()),
        hooks: Vec::new(),
    };
    let session = opening.open(&opens, extras).await?;
    let failed = |problem: String| StepError::Say(SayError::Failed { problem });
    let source = |number: u32| key(["step", &step.run, &step.step, &number.to_string()]);
    let mut turned = match session.heard(&source(0)).await.map_err(failed)? {
        Heard::Answered { text } => Turned { outcome: Outcome::Completed, text, details: Vec::new() },
        Heard::Unanswered => match session.waiting().await {
            asks if asks.is_empty() => session.go_on().await?,
            asks => return Ok(StepEnd::Waiting { asks }),
        },
        Heard::No => {
            session.recall(step.seed.clone()).await?;
            session.say(said(prompt(step, clock)?, source(0))).await?
        }
    };
    let mut asked = 0;
    loop {
        match end(turned, answer.as_ref()) {
            StepEnd::NoResult { .. } if asked < step.repairs => {
                asked += 1;
                turned = match session.say(said(AGAIN.to_owned(), source(asked))).await {
                    // It was asked so before a crash.
                    Err(SayError::Heard { .. }) => session.go_on().await?,
                    other => other?,
                };
            }
            end => return Ok(end),
        }
    }
}

/// The prompt, with what its references stand for. What a variable holds came from anywhere.
fn prompt(step: &WorkflowStep, clock: &Clock) -> Result<String, StoreError> {
    let given = Given { variables: step.variables.clone(), ..Given::default() };
    Store::open(Arc::new(Loose::default()), Arc::clone(clock), given)?.interpolate_fenced(&step.prompt)
}

fn said(text: String, source: String) -> Said {
    Said { text, source: Some(source), origin: Origin::Program, surroundings: None }
}

fn end(turned: Turned, answer: Option<&AnswerTool>) -> StepEnd {
    let text = turned.text;
    let value =
        answer.and_then(|tool| tool.given().or_else(|| tool.take_text(&text).then(|| tool.given())?));
    match (turned.outcome, answer, value) {
        (Outcome::Completed, None, _) => StepEnd::Done { text, value: None },
        (Outcome::Completed, Some(_), Some(value)) => StepEnd::Done { text, value: Some(value) },
        (Outcome::Completed, Some(_), None) => StepEnd::NoResult { text },
        (Outcome::Exhausted { limit }, ..) => StepEnd::Exhausted { limit, text },
        (Outcome::Suspended { asks }, ..) => StepEnd::Waiting { asks },
        (Outcome::Aborted, ..) => StepEnd::Failed { problem: "it was stopped".to_owned() },
        (Outcome::Failed { error }, ..) => StepEnd::Failed { problem: error.to_string() },
    }
}

/// Shows a variable of the workflow.
struct GetVariable {
    spec: ToolSpec,
    variables: Arc<dyn Variables>,
}

impl GetVariable {
    fn of(variables: Arc<dyn Variables>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
            "additionalProperties": false,
        });
        let about = "Shows a variable of the workflow by its name, as JSON. A name that is not there is answered with those \
                     that are.";
        Self { spec: ToolSpec::new("get_variable", about, schema), variables }
    }
}

#[async_trait]
impl Tool for GetVariable {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let name = args.get("name").and_then(Value::as_str).unwrap_or_default();
        let name = name.strip_prefix("var:").unwrap_or(name);
        match self.variables.get(name) {
            Some(value) => Ok(ToolOutput::text(fenced("variable", &[("name", name)], &value.to_string()))),
            None => {
                let names = self.variables.names().join(", ");
                Err(ToolError::new(format!("There is no variable {name:?}. There are: {names}.")))
            }
        }
    }
}
