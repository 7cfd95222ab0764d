//! Whether a person would have to be asked about a call.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mica_agent::{Approval, Args, ToolSpec};
use mica_ai::arguments::Arguments;

use super::{ApprovalMode, Autonomy};
use crate::act::{Act, Asks};

/// Whether a person would have to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// No.
    No,
    /// Yes.
    Yes {
        /// Why, when it is more than the tool's usual question.
        reason: Option<String>,
    },
}

impl Asked {
    /// Whether it is a yes.
    pub fn is_yes(&self) -> bool {
        matches!(self, Self::Yes { .. })
    }
}

/// Says whether a person would have to be asked about a call, and what happens to it then.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    acts: BTreeMap<String, Act>,
    autonomy: Autonomy,
}

impl Judge {
    /// By what is said of tools. Of several things said of one tool the last counts.
    pub fn new(acts: impl IntoIterator<Item = Act>, autonomy: Autonomy) -> Self {
        Self { acts: acts.into_iter().map(|act| (act.tool.clone(), act)).collect(), autonomy }
    }

    /// What is said of a tool.
    pub fn act(&self, tool: &str) -> Option<&Act> {
        self.acts.get(tool)
    }

    /// What happens to the calls of a tool that a person would have to be asked about.
    pub fn mode(&self, tool: &str) -> ApprovalMode {
        self.autonomy.of(tool)
    }

    /// Whether a person would have to be asked. Where it depends on the arguments, and that cannot be found out: yes.
    pub fn asked(&self, spec: &ToolSpec, args: &Args) -> Asked {
        let predicate = match self.act(&spec.name).map(|act| &act.asks) {
            Some(Asks::When(predicate)) => predicate,
            Some(Asks::AsSpecified) | None => {
                return match spec.approval {
                    Approval::NotNeeded => Asked::No,
                    Approval::Needed => Asked::Yes { reason: None },
                };
            }
        };
        let unsure = |problem: &str| Asked::Yes {
            reason: Some(format!("{} could not say whether it must be asked about: {problem}", spec.label)),
        };
        match catch_unwind(AssertUnwindSafe(|| predicate(args))) {
            Ok(Ok(false)) => Asked::No,
            Ok(Ok(true)) => Asked::Yes { reason: None },
            Ok(Err(problem)) => unsure(&problem),
            Err(_) => {
                tracing::error!(tool = %spec.name, "a predicate panicked");
                unsure("the check broke")
            }
        }
    }

    /// The same, of arguments as a model wrote them. Those that cannot be read are not taken for none.
    pub fn asked_raw(&self, spec: &ToolSpec, arguments: &Arguments) -> Asked {
        match arguments.parse() {
            Ok(args) => self.asked(spec, &args),
            Err(bad) => Asked::Yes { reason: Some(format!("its arguments cannot be read: {bad}")) },
        }
    }
}
