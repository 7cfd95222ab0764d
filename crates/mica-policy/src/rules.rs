//! Rules that were given beforehand: what may run without asking, what must be asked, what must not run.
//!
//! A rule is a pattern of tool names, and a pattern of one argument where that matters: `file_write(src/**)`. A rule
//! that denies wins over one that asks, and that over one that allows; the order they are given in means nothing.
//!
//! Invariant: what a rule cannot see counts against the call. A missing or strange argument never fits a rule that
//! allows, and always fits one that asks or denies.

mod gate;
mod headless;
mod host;
mod person;
mod rule;
mod subject;

pub use gate::RuleGate;
pub use headless::Headless;
pub use rule::{BadRule, Rule};
pub use subject::{Subject, Subjects};

use std::fmt;

use mica_agent::Args;

/// What a rule does with the calls it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// They run without asking.
    Allow,
    /// A person is asked.
    Ask,
    /// They do not run.
    Deny,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Allow => "allow",
            Action::Ask => "ask",
            Action::Deny => "deny",
        })
    }
}

/// The rules of a run.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<(Action, Rule)>,
    subjects: Subjects,
}

impl RuleSet {
    /// No rules yet. `subjects` says which argument of which tool the parentheses of a rule speak of.
    pub fn new(subjects: Subjects) -> Self {
        Self { rules: Vec::new(), subjects }
    }

    /// Adds a rule.
    #[must_use]
    pub fn with(mut self, action: Action, rule: Rule) -> Self {
        self.rules.push((action, rule));
        self
    }

    /// Adds a rule by its text.
    ///
    /// # Errors
    /// [`BadRule`] says what is wrong with it.
    pub fn and(self, action: Action, rule: &str) -> Result<Self, BadRule> {
        let rule: Rule = rule.parse()?;
        let no_host = rule.argument().is_some_and(|pattern| pattern.host.is_none());
        if let Some(tool) = self.subjects.of_hosts().find(|tool| no_host && rule.is_about(tool)) {
            return Err(BadRule::NoHost { rule: rule.to_string(), tool: tool.to_owned() });
        }
        Ok(self.with(action, rule))
    }

    /// The rule that decides about a call, and what it does. None when no rule fits.
    pub fn judge(&self, tool: &str, args: &Args) -> Option<(Action, &Rule)> {
        let mut decides: Option<(Action, &Rule)> = None;
        for (action, rule) in &self.rules {
            let stricter = decides.is_none_or(|(so_far, _)| *action > so_far);
            if stricter && self.fits(*action, rule, tool, args) {
                decides = Some((*action, rule));
            }
        }
        decides
    }

    /// Whether a call would have been allowed by a pattern of tools, if it were not for a person to answer.
    fn waves_through(&self, tool: &str) -> bool {
        let allows = |(action, rule): &(Action, Rule)| *action == Action::Allow && rule.names(tool);
        self.rules.iter().any(allows)
    }

    fn fits(&self, action: Action, rule: &Rule, tool: &str, args: &Args) -> bool {
        if !rule.names(tool) {
            return false;
        }
        if action == Action::Allow && person::is_for(tool) && !rule.is_about(tool) {
            return false;
        }
        let Some(pattern) = rule.argument() else { return true };
        match (action, self.subjects.of(tool, args)) {
            (Action::Allow, Some(values)) => {
                !values.is_empty()
                    && values.iter().all(|value| value.fits(pattern, self.subjects.root()) == Some(true))
            }
            (Action::Allow, None) => false,
            (Action::Ask | Action::Deny, Some(values)) => {
                values.is_empty()
                    || values.iter().any(|value| value.fits(pattern, self.subjects.root()) != Some(false))
            }
            (Action::Ask | Action::Deny, None) => true,
        }
    }
}

#[cfg(test)]
mod tests;
