//! Which calls only look: nobody is asked about them, and every mode has them. The others are asked about, and only edit
//! mode has them.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Args, Context, Hooks, Verdict};
use mica_policy::Mode;
use mica_policy::mode::{Cell, Exception, ModeSwitch};
use mica_policy::rules::BadRule;

use super::server;

/// Judges calls of `server_management`, whose arguments decide what it does.
#[derive(Debug, Clone)]
pub struct RuntimeGate {
    mode: ModeSwitch,
}

impl RuntimeGate {
    /// A gate that looks at this switch.
    pub fn new(mode: ModeSwitch) -> Self {
        Self { mode }
    }

    fn judge(&self, tool: &str, args: &Args) -> Verdict {
        if tool != server::NAME {
            return Verdict::Pass;
        }
        let action = args.get("action").and_then(|action| action.as_str()).unwrap_or_default();
        if server::only_looks(action) {
            return Verdict::Allow;
        }
        match self.mode.get() {
            Mode::Edit => Verdict::Pass,
            mode => Verdict::Deny {
                reason: format!(
                    "{tool} with the action {action:?} is not available in {mode} mode: it changes the server. The actions \
                     status and query are. For more, ask the user to switch to edit mode."
                ),
                rule: Some(format!("mode: {mode}")),
            },
        }
    }
}

#[async_trait]
impl Hooks for RuntimeGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        self.judge(&gated.spec.name, &gated.args)
    }
}

/// What the table of modes has to let through, so that [`RuntimeGate`] can judge it.
///
/// # Errors
/// Never, as long as the tool's name can be written in a rule.
pub fn exceptions() -> Result<Vec<Exception>, BadRule> {
    [Mode::Ask, Mode::Plan]
        .into_iter()
        .map(|mode| Ok(Exception { mode, tools: server::NAME.parse()?, cell: Cell::Allow }))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looking_is_allowed_everywhere_and_changing_in_edit_mode_only() {
        for (mode, tool, action, expected) in [
            (Mode::Ask, "server_management", "status", "allow"),
            (Mode::Plan, "server_management", "query", "allow"),
            (Mode::Edit, "server_management", "status", "allow"),
            (Mode::Ask, "server_management", "start", "deny"),
            (Mode::Plan, "server_management", "deploy", "deny"),
            (Mode::Plan, "server_management", "control", "deny"),
            (Mode::Edit, "server_management", "start", "pass"),
            (Mode::Ask, "server_management", "", "deny"),
            (Mode::Ask, "build_project", "", "pass"),
        ] {
            let args = json!({ "action": action }).as_object().cloned().unwrap();
            let verdict = match RuntimeGate::new(ModeSwitch::new(mode)).judge(tool, &args) {
                Verdict::Allow => "allow",
                Verdict::Deny { .. } => "deny",
                Verdict::Pass => "pass",
                _ => "other",
            };
            assert_eq!(verdict, expected, "{mode} {tool} {action}");
        }
        assert_eq!(exceptions().unwrap().len(), 2);
    }
}
