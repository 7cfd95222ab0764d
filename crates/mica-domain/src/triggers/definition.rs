//! Triggers as data: read, checked, and refused with everything that is wrong at once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::autonomy::{ApprovalMode, Autonomy};
use crate::profile::{Audience, Profile, RunMode, Surface};
use crate::triggers::filter::{Condition, EventKinds};
use crate::triggers::schedule::Schedule;

/// What starts a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trigger {
    /// Names it, for good: what it did is on record under it.
    pub id: String,
    /// Who runs.
    pub agent: String,
    /// When.
    pub on: On,
    /// What the agent should do then.
    pub instructions: String,
    /// What happens to calls that a person would be asked about.
    #[serde(default)]
    pub autonomy: TriggerAutonomy,
    /// For whom it runs, where nobody causes it: it may do no more than they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whether it fires.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// Runs of it at the same time.
    #[serde(default = "one")]
    pub at_once: usize,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

/// When a trigger fires.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum On {
    /// At times.
    Schedule {
        /// Five fields of cron.
        cron: String,
        /// The time zone they are read in.
        zone: String,
        /// What happens to times at which nobody was there.
        #[serde(default)]
        missed: Missed,
    },
    /// When something happens in the product.
    Event {
        /// Its type.
        event: String,
        /// What must be so.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        filter: Vec<Condition>,
    },
    /// When somebody names the agent.
    Mention,
    /// When something is given to the agent.
    Assignment,
    /// When somebody writes to the agent.
    DirectMessage,
}

impl On {
    /// Its stable name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Schedule { .. } => "schedule",
            Self::Event { .. } => "event",
            Self::Mention => "mention",
            Self::Assignment => "assignment",
            Self::DirectMessage => "direct_message",
        }
    }

    /// Whether a person causes it.
    pub fn by_person(&self) -> bool {
        matches!(self, Self::Mention | Self::Assignment | Self::DirectMessage)
    }
}

/// What happens to times at which nobody was there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missed {
    /// Nothing.
    #[default]
    Skip,
    /// It is made up for, once, however many there were.
    Once,
}

/// What happens to calls that a person would be asked about, where that is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerAutonomy {
    /// Of tools that are not named: captured where nobody is there, asked where somebody is, unless this says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usually: Option<ApprovalMode>,
    /// By tool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ApprovalMode>,
}

impl Trigger {
    /// What kind of run it starts.
    pub fn profile(&self) -> Profile {
        match self.on {
            On::DirectMessage => {
                Profile { mode: RunMode::Interactive, surface: Surface::Chat, audience: Audience::Member }
            }
            _ => Profile::AUTONOMOUS,
        }
    }

    /// What happens to calls that a person would be asked about.
    pub fn autonomy(&self) -> Autonomy {
        let usually = match self.profile().mode {
            RunMode::Autonomous => ApprovalMode::Capture,
            RunMode::Interactive => ApprovalMode::Pause,
        };
        Autonomy { usually: self.autonomy.usually.unwrap_or(usually), tools: self.autonomy.tools.clone() }
    }
}

/// What triggers can be about.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Agents.
    pub agents: BTreeSet<String>,
    /// Tools.
    pub tools: BTreeSet<String>,
    /// Events.
    pub events: EventKinds,
}

/// Something that is wrong with a trigger.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("trigger {trigger:?}: {problem}")]
pub struct TriggerProblem {
    /// Which.
    pub trigger: String,
    /// What.
    pub problem: String,
}

/// Why triggers cannot be used. None of them is then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggersError {
    /// They cannot be read.
    #[error("the triggers cannot be read: {problem}")]
    Syntax {
        /// Where, and why.
        problem: String,
    },
    /// They can be read, and something is wrong with them.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Wrong(Vec<TriggerProblem>),
}

/// Triggers that were checked.
#[derive(Debug, Clone, Default)]
pub struct TriggerSet {
    triggers: Vec<Trigger>,
    schedules: BTreeMap<String, Schedule>,
    events: EventKinds,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    trigger: Vec<Trigger>,
}

impl TriggerSet {
    /// Checks triggers.
    ///
    /// # Errors
    /// [`TriggersError::Wrong`] says everything that is wrong.
    pub fn new(triggers: Vec<Trigger>, known: &Known) -> Result<Self, TriggersError> {
        let mut wrong = Vec::new();
        let mut seen = BTreeSet::new();
        let mut schedules = BTreeMap::new();
        for trigger in &triggers {
            let mut say =
                |problem: String| wrong.push(TriggerProblem { trigger: trigger.id.clone(), problem });
            if trigger.id.trim().is_empty() {
                say("it needs an id".to_owned());
            } else if !seen.insert(&trigger.id) {
                say("another one has the same id".to_owned());
            }
            if !known.agents.contains(&trigger.agent) {
                say(format!("there is no agent {:?}; there are: {}", trigger.agent, listed(&known.agents)));
            }
            if trigger.instructions.trim().is_empty() {
                say("it needs instructions: what should the agent do?".to_owned());
            }
            if trigger.at_once == 0 {
                say("at_once is 0: it would never run; say enabled = false for that".to_owned());
            }
            if trigger.owner.is_some() && trigger.on.by_person() {
                say(format!("it runs for whoever causes it ({}): it has no owner", trigger.on.name()));
            }
            for tool in trigger.autonomy.tools.keys().filter(|tool| !known.tools.contains(*tool)) {
                say(format!("there is no tool {tool:?}; there are: {}", listed(&known.tools)));
            }
            match &trigger.on {
                On::Schedule { cron, zone, .. } => match Schedule::new(cron, zone) {
                    Ok(schedule) => drop(schedules.insert(trigger.id.clone(), schedule)),
                    Err(problem) => say(problem),
                },
                On::Event { event, filter } => match known.events.fields(event) {
                    Ok(fields) => filter.iter().filter_map(|one| one.check(fields).err()).for_each(say),
                    Err(problem) => say(problem),
                },
                On::Mention | On::Assignment | On::DirectMessage => {}
            }
        }
        if wrong.is_empty() {
            Ok(Self { triggers, schedules, events: known.events.clone() })
        } else {
            Err(TriggersError::Wrong(wrong))
        }
    }

    /// Reads them from TOML: a table `[[trigger]]` for each.
    ///
    /// # Errors
    /// [`TriggersError`].
    pub fn from_toml(text: &str, known: &Known) -> Result<Self, TriggersError> {
        let file: File = toml::from_str(text)
            .map_err(|error| TriggersError::Syntax { problem: error.to_string().trim_end().to_owned() })?;
        Self::new(file.trigger, known)
    }

    /// Reads them from JSON: `{"trigger": [...]}`.
    ///
    /// # Errors
    /// [`TriggersError`].
    pub fn from_json(text: &str, known: &Known) -> Result<Self, TriggersError> {
        let file: File = serde_json::from_str(text)
            .map_err(|error| TriggersError::Syntax { problem: error.to_string() })?;
        Self::new(file.trigger, known)
    }

    /// All of them.
    pub fn all(&self) -> &[Trigger] {
        &self.triggers
    }

    /// One.
    pub fn get(&self, id: &str) -> Option<&Trigger> {
        self.triggers.iter().find(|trigger| trigger.id == id)
    }

    /// The times of one.
    pub fn schedule(&self, id: &str) -> Option<&Schedule> {
        self.schedules.get(id)
    }

    /// The events there are.
    pub fn events(&self) -> &EventKinds {
        &self.events
    }
}

fn listed(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
