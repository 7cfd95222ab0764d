//! Who is asked before a tool of a server runs, and what is remembered of a yes.
//!
//! Invariant: a yes is to a tool as it was described then. Its name is remembered together with all that the server said of
//! it, so a tool that is described otherwise later is asked about again.

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Gated, Record, Step};
use mica_agent::{Ask, Context, Hooks, Proposal, RunError, Scope, Verdict};
use mica_ai::{Message, User};
use mica_policy::Approvals;

use super::resources;
use super::servers::Servers;
use super::tool::only_looks;

/// What keys of approvals begin with.
const KEY: &str = "mcp ";

/// The gate of all tools of servers. It also has servers started whose tools are not known when a run has begun, and says when
/// there are others in the middle of one.
pub struct McpGate {
    servers: Servers,
    approvals: Approvals,
}

impl McpGate {
    /// A gate that looks at these approvals.
    pub fn new(servers: Servers, approvals: Approvals) -> Self {
        Self { servers, approvals }
    }

    /// What a yes to a tool is remembered as.
    fn proposals(&self, tool: &str) -> Option<[Proposal; 2]> {
        let (key, text) = if [resources::LIST, resources::READ].contains(&tool) {
            (format!("{KEY}{tool}"), tool.to_owned())
        } else {
            let (server, known) = self.servers.find(tool)?;
            let key = super::config::digest(&[&server.config().digest, &known.digest]);
            let key: String = key.chars().take(24).collect();
            (format!("{KEY}{tool} {key}"), tool.to_owned())
        };
        Some([
            Proposal::new(Scope::Session, key.clone(), format!("{text}, as it is described now")),
            Proposal::new(Scope::Project, key, format!("{text}, as it is described now")),
        ])
    }
}

#[async_trait]
impl Hooks for McpGate {
    async fn before_turn(&self, _: &mut Context) -> Result<(Step, Vec<WindowChange>), RunError> {
        self.servers.begin();
        Ok((Step::Go, Vec::new()))
    }

    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        let tool = gated.spec.name.as_str();
        if let Some(reason) = self.servers.gone(tool) {
            return Verdict::Deny { reason, rule: None };
        }
        let Some(proposals) = self.proposals(tool) else { return Verdict::Pass };
        if let Some((server, known)) = self.servers.find(tool) {
            let config = server.config();
            let looks = self.servers.settings().allow_read_only && only_looks(config, &known);
            if server.approves(&known) || looks {
                return Verdict::Allow;
            }
        }
        if proposals.iter().any(|proposal| self.approvals.has(proposal.scope, &proposal.key)) {
            return Verdict::Allow;
        }
        Verdict::Offer { proposals: proposals.into() }
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        // What it was when the person read it: what it is now may be something else.
        let was = ask.proposals.iter().any(|offered| offered.is(proposal));
        if was && proposal.key.starts_with(KEY) {
            self.approvals.remember(proposal.clone());
        }
        Ok(())
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        if matches!(record, Record::Message(Message::Assistant(_))) {
            self.servers.answers();
        }
        Ok(())
    }

    /// Never worth a request of its own: a server that keeps changing its lists would keep the model busy with that.
    async fn asides(&self) -> Vec<Message> {
        match self.servers.unheard() {
            None => Vec::new(),
            Some(note) => vec![User::text(note).into()],
        }
    }
}
