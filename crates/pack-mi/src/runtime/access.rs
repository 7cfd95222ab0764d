//! Which calls only look: nobody is asked about them, and every mode has them. The others are asked about, and only edit
//! mode has them.

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Args, Context, Hooks, Verdict};
use mica_policy::Mode;
use mica_policy::mode::{Cell, Exception, ModeSwitch};
use mica_policy::rules::BadRule;
use mica_sandbox::Host;
use serde_json::Value;

use super::{build_project, server, unit_tests};

/// Judges calls whose arguments decide what they do.
#[derive(Debug, Clone)]
pub struct RuntimeGate {
    mode: ModeSwitch,
    hosts: Vec<Host>,
    allows_everything: bool,
}

impl RuntimeGate {
    /// A gate that looks at this switch. `hosts` are those that builds reach without being asked about.
    pub fn new(mode: ModeSwitch, hosts: Vec<Host>) -> Self {
        Self { mode, hosts, allows_everything: false }
    }

    /// With a person's word that nothing is asked about.
    #[must_use]
    pub fn allowing_everything(mut self, allows: bool) -> Self {
        self.allows_everything = allows;
        self
    }

    fn judge(&self, tool: &str, args: &Args) -> Verdict {
        let (looks, what) = match tool {
            server::NAME => {
                let action = args.get("action").and_then(Value::as_str).unwrap_or_default();
                (server::only_looks(action), format!("the action {action:?}"))
            }
            unit_tests::NAME => {
                (args.get("check_only").and_then(Value::as_bool) == Some(true), "running tests".to_owned())
            }
            build_project::NAME => (false, String::new()),
            _ => return Verdict::Pass,
        };
        if looks {
            return Verdict::Allow;
        }
        let mode = self.mode.get();
        if mode != Mode::Edit && !what.is_empty() {
            return Verdict::Deny {
                reason: format!(
                    "{tool} is not available for {what} in {mode} mode: it changes something. What only looks is (the actions \
                     status and query of {}, check_only of {}). For more, ask the user to switch to edit mode.",
                    server::NAME,
                    unit_tests::NAME
                ),
                rule: Some(format!("mode: {mode}")),
            };
        }
        self.reaching(args)
    }

    /// A rule that lets builds run says nothing about hosts: those that a call names are asked about all the same.
    fn reaching(&self, args: &Args) -> Verdict {
        let named =
            args.get("network").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let known = |name: &str| name.parse::<Host>().is_ok_and(|host| self.hosts.contains(&host));
        let new: Vec<&str> = named.filter(|name| !known(name)).collect();
        if new.is_empty() || self.allows_everything {
            return Verdict::Pass;
        }
        Verdict::Ask {
            reason: format!("The build would reach {}.", new.join(", ")),
            rule: Some("network".to_owned()),
            proposals: Vec::new(),
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
/// Never, as long as the tools' names can be written in a rule.
pub fn exceptions() -> Result<Vec<Exception>, BadRule> {
    let mut exceptions = Vec::new();
    for mode in [Mode::Ask, Mode::Plan] {
        for tool in [server::NAME, unit_tests::NAME] {
            exceptions.push(Exception { mode, tools: tool.parse()?, cell: Cell::Allow });
        }
    }
    Ok(exceptions)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looking_is_allowed_everywhere_and_changing_in_edit_mode_only() {
        let server = |action: &str| json!({ "action": action });
        for (mode, tool, args, expected) in [
            (Mode::Ask, "server_management", server("status"), "allow"),
            (Mode::Plan, "server_management", server("query"), "allow"),
            (Mode::Edit, "server_management", server("status"), "allow"),
            (Mode::Ask, "server_management", server("start"), "deny"),
            (Mode::Plan, "server_management", server("deploy"), "deny"),
            (Mode::Plan, "server_management", server("control"), "deny"),
            (Mode::Edit, "server_management", server("start"), "pass"),
            (Mode::Ask, "server_management", json!({}), "deny"),
            (Mode::Ask, "run_unit_tests", json!({"check_only": true}), "allow"),
            (Mode::Plan, "run_unit_tests", json!({}), "deny"),
            (Mode::Edit, "run_unit_tests", json!({}), "pass"),
            (Mode::Ask, "build_project", json!({}), "pass"),
            (Mode::Edit, "build_project", json!({}), "pass"),
            (Mode::Edit, "build_project", json!({"network": ["known.example"]}), "pass"),
            (Mode::Edit, "build_project", json!({"network": ["known.example", "new.example"]}), "ask"),
            (Mode::Edit, "run_unit_tests", json!({"network": ["new.example"]}), "ask"),
            (Mode::Edit, "build_project", json!({"network": ["not a host"]}), "ask"),
            (Mode::Edit, "file_read", json!({"network": ["new.example"]}), "pass"),
        ] {
            let gate = RuntimeGate::new(ModeSwitch::new(mode), vec!["known.example".parse().unwrap()]);
            let verdict = match gate.judge(tool, args.as_object().unwrap()) {
                Verdict::Allow => "allow",
                Verdict::Deny { .. } => "deny",
                Verdict::Pass => "pass",
                Verdict::Ask { .. } => "ask",
                Verdict::Offer { .. } => "offer",
            };
            assert_eq!(verdict, expected, "{mode} {tool} {args}");
            let everything = gate.allowing_everything(true).judge(tool, args.as_object().unwrap());
            assert!(!matches!(everything, Verdict::Ask { .. }));
        }
        assert_eq!(exceptions().unwrap().len(), 4);
    }
}
