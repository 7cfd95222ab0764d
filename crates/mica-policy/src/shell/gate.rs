//! The gate in front of the tool that runs commands.

use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Ask, Context, Hooks, Proposal, Scope, Verdict};
use serde_json::Value;

use super::judge::is_ordinary_file;
use super::{Class, Disk, Judgement, Prefix, Remembered, ShellFacts, ShellRules, judge};
use crate::{Approvals, Mode, ModeSwitch};

/// The place where commands run, owned. [`ShellFacts`] borrows from it.
#[derive(Clone)]
pub struct Place {
    /// The project.
    pub root: String,
    /// The working directory of commands.
    pub cwd: String,
    /// Folders for files that nobody keeps.
    pub temp: Vec<String>,
    /// The home folder.
    pub home: Option<String>,
    /// What the disk says.
    pub disk: Arc<dyn Disk>,
}

impl Place {
    /// Judges a command here.
    pub fn judge(&self, command: &str, rules: &ShellRules, mode: Mode) -> Judgement {
        self.with_facts(|facts| judge(command, facts, rules, mode))
    }

    /// Whether a path, seen from the project, is that of a file which a person who allows changes means: in the project,
    /// and neither of version control, nor with secrets, nor telling tools and agents what to do.
    pub fn is_ordinary_file(&self, path: &str, rules: &ShellRules) -> bool {
        self.with_facts(|facts| is_ordinary_file(path, facts, rules))
    }

    fn with_facts<T>(&self, look: impl FnOnce(&ShellFacts<'_>) -> T) -> T {
        let temp: Vec<&str> = self.temp.iter().map(String::as_str).collect();
        look(&ShellFacts {
            root: &self.root,
            cwd: &self.cwd,
            temp: &temp,
            home: self.home.as_deref(),
            disk: self.disk.as_ref(),
        })
    }
}

/// Judges the calls of one tool by the command in one of its arguments, and proposes what may be remembered of a yes.
/// Clones share what is remembered.
#[derive(Clone)]
pub struct ShellGate {
    tool: String,
    argument: String,
    place: Place,
    rules: ShellRules,
    approvals: Approvals,
    mode: ModeSwitch,
}

impl ShellGate {
    /// A gate for the tool of this name, whose argument `argument` holds the command. What the rules remember already
    /// counts, and can be taken back with the rest.
    pub fn new(tool: &str, argument: &str, place: Place, mut rules: ShellRules, mode: ModeSwitch) -> Self {
        let approvals = Approvals::new(rules.take_remembered().iter().map(Remembered::proposal));
        Self { tool: tool.to_owned(), argument: argument.to_owned(), place, rules, approvals, mode }
    }

    /// The same gate, with approvals that others look at, too. What it remembered so far goes there.
    #[must_use]
    pub fn sharing(mut self, approvals: Approvals) -> Self {
        for proposal in self.approvals.list() {
            approvals.remember(proposal);
        }
        self.approvals = approvals;
        self
    }

    /// Judges a command as a call would be.
    pub fn judge(&self, command: &str) -> Judgement {
        self.judge_in(command, self.mode.get())
    }

    fn judge_in(&self, command: &str, mode: Mode) -> Judgement {
        let mut rules = self.rules.clone();
        for remembered in self.approvals.list().iter().filter_map(Remembered::of) {
            rules.remember(remembered);
        }
        self.place.judge(command, &rules, mode)
    }

    /// Remembers an approval from now on.
    pub fn remember(&self, remembered: &Remembered) {
        self.approvals.remember(remembered.proposal());
    }

    fn verdict(&self, args: &mica_agent::Args) -> Verdict {
        let Some(Value::String(command)) = args.get(&self.argument) else {
            return Verdict::Deny {
                reason: format!("{} was not run: its argument {} is no text.", self.tool, self.argument),
                rule: None,
            };
        };
        let judged = self.judge(command);
        let rule = Some(judged.rule);
        match judged.class {
            Class::Safe => Verdict::Allow,
            Class::Ask => {
                let proposals = judged.remember.as_ref().map(proposals).unwrap_or_default();
                Verdict::Ask { reason: judged.reason, rule, proposals }
            }
            Class::Blocked => Verdict::Deny {
                reason: format!("The command was not run: {} Do not try to get around it.", judged.reason),
                rule,
            },
        }
    }
}

#[async_trait]
impl Hooks for ShellGate {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.spec.name == self.tool { self.verdict(&gated.args) } else { Verdict::Pass }
    }

    async fn remember(&self, ask: &Ask, proposal: &Proposal) -> Result<(), String> {
        let Some(remembered) = Remembered::of(proposal).filter(|_| ask.call.name == self.tool) else {
            return Ok(());
        };
        // A question may have come from elsewhere: what the tables do not propose for this command is not remembered.
        let command = ask.arguments.get(&self.argument).and_then(Value::as_str).unwrap_or_default();
        let judged = self.place.judge(command, &self.rules, Mode::Edit);
        if judged.remember.as_ref() != Some(&remembered.prefix) {
            return Err(format!("the rules do not propose it for the command {command:?}"));
        }
        self.remember(&remembered);
        Ok(())
    }
}

/// What may be remembered of a yes: the shorter time first.
fn proposals(prefix: &Prefix) -> Vec<Proposal> {
    let of = |scope| Remembered { prefix: prefix.clone(), scope }.proposal();
    vec![of(Scope::Session), of(Scope::Project)]
}
