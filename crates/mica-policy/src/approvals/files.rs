//! Changes to files: a person can allow all of those in the project, for a session.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Args, Ask, Context, Hooks, Proposal, Scope, Verdict};
use serde_json::Value;

use super::Approvals;
use crate::shell::{Place, ShellRules};

/// The key of all changes to files.
const KEY: &str = "file changes";

/// Offers to remember a yes to a change for all changes to files of the project, until the session ends.
///
/// It covers what a person would not look at twice. Files that tell tools and agents what to do, files with secrets, and
/// what version control keeps are asked about every time, as they are when a command writes them.
#[derive(Clone)]
pub struct FileGate {
    tools: Vec<(String, String)>,
    place: Place,
    approvals: Approvals,
}

impl FileGate {
    /// A gate for no tool yet, in the project of `place`. The tables, which have the names of files that are asked about
    /// every time, are read with the first change: most programs start and end without one.
    pub fn new(place: Place, approvals: Approvals) -> Self {
        Self { tools: Vec::new(), place, approvals }
    }

    /// For a tool that changes the file whose path is in this argument.
    #[must_use]
    pub fn tool(mut self, tool: &str, argument: &str) -> Self {
        self.tools.push((tool.to_owned(), argument.to_owned()));
        self
    }

    /// What can be remembered.
    pub fn proposal() -> Proposal {
        Proposal::new(Scope::Session, KEY, "all changes to files in this project")
    }

    fn covers(&self, tool: &str, args: &Args) -> bool {
        let Some((_, argument)) = self.tools.iter().find(|(name, _)| name == tool) else { return false };
        let Some(Value::String(path)) = args.get(argument) else { return false };
        ShellRules::builtin().is_ok_and(|rules| self.place.is_ordinary_file(path, &rules))
    }
}

#[async_trait]
impl Hooks for FileGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if !self.covers(&gated.spec.name, &gated.args) {
            return Verdict::Pass;
        }
        if self.approvals.has(Scope::Session, KEY) {
            return Verdict::Allow;
        }
        Verdict::Offer { proposals: vec![Self::proposal()] }
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        if Self::proposal().is(proposal) && self.tools.iter().any(|(tool, _)| *tool == ask.call.name) {
            self.approvals.remember(proposal.clone());
        }
        Ok(())
    }
}
