//! The gate in front of the tool that runs commands.

use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Hooks, Verdict};
use serde_json::Value;

use super::{Class, Disk, Judgement, Remembered, ShellFacts, ShellRules, judge};
use crate::{Mode, ModeSwitch};

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
        let temp: Vec<&str> = self.temp.iter().map(String::as_str).collect();
        let facts = ShellFacts {
            root: &self.root,
            cwd: &self.cwd,
            temp: &temp,
            home: self.home.as_deref(),
            disk: self.disk.as_ref(),
        };
        judge(command, &facts, rules, mode)
    }
}

/// Judges the calls of one tool by the command in one of its arguments. Clones share what is remembered.
#[derive(Clone)]
pub struct ShellGate {
    tool: String,
    argument: String,
    place: Place,
    rules: Arc<RwLock<ShellRules>>,
    mode: ModeSwitch,
}

impl ShellGate {
    /// A gate for the tool of this name, whose argument `argument` holds the command.
    pub fn new(tool: &str, argument: &str, place: Place, rules: ShellRules, mode: ModeSwitch) -> Self {
        let rules = Arc::new(RwLock::new(rules));
        Self { tool: tool.to_owned(), argument: argument.to_owned(), place, rules, mode }
    }

    /// Judges a command as a call would be.
    pub fn judge(&self, command: &str) -> Judgement {
        // A writer that panicked has left whole rules: they are replaced, never half written.
        let rules = self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        self.place.judge(command, &rules, self.mode.get())
    }

    /// Remembers an approval from now on.
    pub fn remember(&self, remembered: Remembered) {
        self.rules.write().unwrap_or_else(std::sync::PoisonError::into_inner).remember(remembered);
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
            Class::Ask => Verdict::Ask { reason: judged.reason, rule },
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
}
