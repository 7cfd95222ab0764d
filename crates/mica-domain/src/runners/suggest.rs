//! What could be done about something, prepared for a person: nothing is done, everything is captured.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Point};
use mica_agent::tool::Access;
use mica_agent::{
    Args, Context, Ends, Hooks, Limit, Outcome, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, Verdict,
};
use mica_policy::budget::Limits;
use serde_json::{Value, json};

use crate::autonomy::{ApprovalMode, Autonomy};
use crate::capture::{About, Bundle, Bundles};
use crate::profile::Profile;
use crate::rights::Rights;
use crate::runners::key::key;
use crate::runners::opening::{Extras, Heard, OpenError, Opening, Opens, Origin, Said, SayError};

/// The tool that ends a run in which nothing is suggested.
pub const NOTHING: &str = "suggest_nothing";

/// Something to think about.
#[derive(Debug, Clone)]
pub struct Suggestion {
    /// Names this time: the same is thought about once.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// What it may do.
    pub rights: Rights,
    /// What it is about, for those who look at what was captured and for when it is outdated.
    pub about: About,
    /// What the agent is told. What others wrote in it is fenced already.
    pub prompt: String,
    /// Looks that it may take before it decides.
    pub reads: usize,
    /// How much it may take.
    pub limits: Limits,
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Suggested {
    /// This could be done.
    Bundle {
        /// What, for a person to decide about.
        bundle: Box<Bundle>,
        /// What the agent says of it.
        summary: String,
        /// The limit that ended it, if one did: there might be more.
        limit: Option<Limit>,
    },
    /// Nothing needs to be done.
    Nothing {
        /// Why.
        reason: String,
    },
    /// It did not come to an end.
    Failed {
        /// Why.
        problem: String,
    },
}

/// Why it could not be thought about.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SuggestError {
    /// The session could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Nothing could be said in it.
    #[error(transparent)]
    Say(#[from] SayError),
}

/// Thinks about something.
///
/// # Errors
/// [`SuggestError`].
pub async fn suggest(
    opening: &dyn Opening,
    bundles: &Bundles,
    suggestion: &Suggestion,
) -> Result<Suggested, SuggestError> {
    let nothing = NothingTool::default();
    let extras = Extras {
        tools: vec![Arc::new(nothing.clone())],
        hooks: vec![Arc::new(Reads::new(suggestion.reads))],
        variables: None,
        limits: Some(suggestion.limits.clone()),
    };
    let opens = Opens {
        session: key(["suggest", &suggestion.agent, &suggestion.id]),
        agent: suggestion.agent.clone(),
        profile: Profile::AUTONOMOUS,
        rights: suggestion.rights.clone(),
        autonomy: Autonomy::all(ApprovalMode::Capture),
    };
    let failed = |problem: String| SayError::Failed { problem };
    let session = opening.open(&opens, extras).await?;
    let source = key(["suggest", &suggestion.id]);
    let turned = match session.heard(&source).await.map_err(failed)? {
        Heard::No => {
            session.capturing(suggestion.about.clone()).await.map_err(failed)?;
            let text = format!(
                "{}\n\nLook at no more than {} things. Then do what should be done: nothing is carried out before a person \
                 agreed. If nothing should be done, call `{NOTHING}` and say why. End with one or two sentences for that \
                 person.",
                suggestion.prompt.trim(),
                suggestion.reads
            );
            let (source, origin) = (Some(source), Origin::Program);
            session.say(Said { text, source, origin, surroundings: None }).await?
        }
        heard => {
            // What a process that died captured is a bundle already.
            if let Ok(bundle) = bundles.get(&suggestion.about.bundle).await {
                let summary = bundle.summary.clone();
                return Ok(Suggested::Bundle { bundle: Box::new(bundle), summary, limit: None });
            }
            if let Heard::Answered { text } = heard {
                return Ok(Suggested::Nothing { reason: text });
            }
            session.capturing(suggestion.about.clone()).await.map_err(failed)?;
            session.go_on().await?
        }
    };
    let limit = match turned.outcome {
        Outcome::Completed => None,
        Outcome::Exhausted { limit } => Some(limit),
        Outcome::Aborted => return Ok(Suggested::Failed { problem: "it was stopped".to_owned() }),
        Outcome::Failed { error } => return Ok(Suggested::Failed { problem: error.to_string() }),
        Outcome::Suspended { .. } => {
            let problem = "it waits for a person, and nobody is there".to_owned();
            return Ok(Suggested::Failed { problem });
        }
    };
    Ok(match (session.captured().await, nothing.reason(), limit) {
        (Some(bundle), _, limit) => {
            Suggested::Bundle { bundle: Box::new(bundle), summary: turned.text, limit }
        }
        (None, Some(reason), _) => Suggested::Nothing { reason },
        (None, None, Some(limit)) => Suggested::Failed { problem: limit.to_string() },
        (None, None, None) => Suggested::Nothing { reason: turned.text },
    })
}

/// Ends a run in which nothing is suggested.
#[derive(Clone)]
struct NothingTool {
    spec: Arc<ToolSpec>,
    reason: Arc<Mutex<Option<String>>>,
}

impl Default for NothingTool {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "reason": { "type": "string", "minLength": 1, "description": "Why, in one sentence." } },
            "required": ["reason"],
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new(NOTHING, "Says that nothing should be done, and ends.", schema);
        spec.ends = Ends::Run;
        Self { spec: Arc::new(spec), reason: Arc::default() }
    }
}

impl NothingTool {
    fn reason(&self) -> Option<String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tool for NothingTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let reason = args.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned();
        *self.reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        Ok(ToolOutput::text("Noted."))
    }
}

/// Counts looks, and refuses those that are too many.
struct Reads {
    most: usize,
    /// Calls that were let through. A gate may be asked twice about one.
    seen: Mutex<BTreeSet<String>>,
}

impl Reads {
    fn new(most: usize) -> Self {
        Self { most, seen: Mutex::default() }
    }
}

#[async_trait]
impl Hooks for Reads {
    fn says(&self, at: Point) -> bool {
        at == Point::Gate
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.spec.access != Access::Read || gated.spec.name == NOTHING {
            return Verdict::Pass;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let call = gated.call.id.to_string();
        if seen.contains(&call) {
            return Verdict::Pass;
        }
        if seen.len() >= self.most {
            let reason = format!(
                "You looked at {} things, and no more are allowed. Decide with what you know.",
                self.most
            );
            return Verdict::Deny { reason, rule: Some("reads".to_owned()) };
        }
        seen.insert(call);
        Verdict::Pass
    }
}
