//! Decides whether and how a model is asked to think, and what that does to the output limit.

use serde_json::{Value, json};

use super::is_forced;
use crate::model::{Effort, Parameter, ReasoningStyle};
use crate::reasoning;
use crate::request::{Request, Thoughts};

/// How the model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thinking {
    kind: Kind,
    /// The level to name beside it, or alone.
    pub(super) effort: Option<Effort>,
    /// The output limit, thinking included.
    pub(super) max_tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing is said: the provider's default.
    Unsaid,
    Disabled,
    Adaptive(Thoughts),
    Budget(u64),
}

impl Thinking {
    /// What to ask for.
    ///
    /// `thoughtless` says that the conversation ends inside a tool loop that began without a thinking block. A
    /// model with a budget refuses to begin thinking there, so it is asked to think again from the next turn on.
    pub(super) fn plan(request: &Request, thoughtless: bool) -> Self {
        let facts = &request.model.reasoning;
        let adaptive = facts.style == ReasoningStyle::Adaptive;
        let forced = is_forced(request);
        let unsaid = Self { kind: Kind::Unsaid, effort: None, max_tokens: request.output_limit() };
        // Adaptive models of late think unless told not to; those with a budget do not think unless told to.
        let off = if adaptive && request.model.accepts(Parameter::ThinkingDisabled) {
            Self { kind: Kind::Disabled, ..unsaid }
        } else {
            unsaid
        };
        let wish = match request.effort {
            Some(Effort::None) => return off,
            None if forced => return off,
            None => return unsaid,
            Some(wish) => wish,
        };
        let level = facts.nearest(wish);
        match facts.style {
            ReasoningStyle::None | ReasoningStyle::Always => unsaid,
            ReasoningStyle::Effort => Self { effort: level, ..unsaid },
            // The level steers all that is written, so it stands without thinking too; but only up to `high`.
            ReasoningStyle::Adaptive if forced => {
                Self { effort: level.map(|it| it.min(Effort::High)), ..off }
            }
            ReasoningStyle::Adaptive => {
                Self { kind: Kind::Adaptive(request.thoughts), effort: level, ..unsaid }
            }
            ReasoningStyle::Budget if forced || thoughtless => unsaid,
            ReasoningStyle::Budget => Self::budget(request, level.unwrap_or(wish)).unwrap_or(unsaid),
        }
    }

    /// A budget on top of what the caller wants to read, as far as the model's limit allows. `None` when there is no
    /// room for both.
    fn budget(request: &Request, level: Effort) -> Option<Self> {
        let model = &request.model;
        let wanted = reasoning::wanted(model, level)?;
        let max_tokens = request.output_limit().saturating_add(wanted).min(model.max_output);
        let budget = reasoning::budget(model, level, max_tokens)?;
        Some(Self { kind: Kind::Budget(budget), effort: None, max_tokens })
    }

    /// Whether the model is asked to think.
    pub(super) fn is_on(&self) -> bool {
        matches!(self.kind, Kind::Adaptive(_) | Kind::Budget(_))
    }

    /// The `thinking` member, where there is something to say.
    pub(super) fn setting(&self) -> Option<Value> {
        match self.kind {
            Kind::Unsaid => None,
            Kind::Disabled => Some(json!({ "type": "disabled" })),
            // Always said: newer models hide their thoughts unless asked, older ones show them.
            Kind::Adaptive(Thoughts::Shown) => Some(json!({ "type": "adaptive", "display": "summarized" })),
            Kind::Adaptive(Thoughts::Hidden) => Some(json!({ "type": "adaptive", "display": "omitted" })),
            Kind::Budget(tokens) => Some(json!({ "type": "enabled", "budget_tokens": tokens })),
        }
    }
}
