//! Profiles: which subagents there are, as data. `profiles.toml` has those that come along; settings lay theirs over them.

use mica_agent::{Access, Effect, ToolSpec};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// Profiles that come along.
const BUILT_IN: &str = include_str!("profiles.toml");

/// Tools that no subagent has, whatever its profile says: those that send others, those that need a person's attention,
/// and those that change how the session is run. A star stands for the rest of a name.
const NEVER: &[&str] = &[super::NAME, "ask_*", "enter_plan*", "exit_plan*"];

/// Turns at most that a profile may give. A run of the agent itself has 50.
const MOST_TURNS: u32 = 200;

/// A kind of subagent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What it is called.
    #[serde(skip)]
    pub name: String,
    /// When to send it, for the model that does.
    pub description: String,
    /// What it is told about its part.
    pub prompt: String,
    /// Which model it asks.
    #[serde(default)]
    pub model: ModelWish,
    /// Which tools it has.
    #[serde(default)]
    pub tools: ToolWish,
    /// Whether it only has tools that look and change nothing.
    #[serde(default)]
    pub read_only: bool,
    /// Model calls at most.
    #[serde(default = "usual_turns")]
    pub max_turns: u32,
    /// Whether it may work while the agent that sent it goes on.
    #[serde(default = "usually")]
    pub background: bool,
}

fn usual_turns() -> u32 {
    30
}

fn usually() -> bool {
    true
}

/// Which model a subagent asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ModelWish {
    /// The one that the agent asks that sends it.
    #[default]
    Same,
    /// A small one, if there is one.
    Small,
    /// This one.
    Named(String),
}

impl<'de> Deserialize<'de> for ModelWish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(deserializer)?.as_str() {
            "same" => Self::Same,
            "small" => Self::Small,
            name => Self::Named(name.to_owned()),
        })
    }
}

/// Which tools a subagent has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolWish {
    /// All that there are.
    #[default]
    All,
    /// Those of these names. A star stands for the rest of a name.
    Named(Vec<String>),
}

impl<'de> Deserialize<'de> for ToolWish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "\"all\" or a list of names")]
        enum Form {
            Word(String),
            Names(Vec<String>),
        }
        match Form::deserialize(deserializer)? {
            Form::Names(names) => Ok(Self::Named(names)),
            Form::Word(word) if word == "all" => Ok(Self::All),
            Form::Word(word) => {
                Err(serde::de::Error::custom(format!("{word:?} is neither \"all\" nor a list of names")))
            }
        }
    }
}

impl Profile {
    /// Whether a subagent of this profile has a tool.
    pub fn allows(&self, spec: &ToolSpec) -> bool {
        let looks = spec.access == Access::Read && spec.effect == Effect::Pure;
        let named = match &self.tools {
            ToolWish::All => true,
            ToolWish::Named(names) => names.iter().any(|name| fits(name, &spec.name)),
        };
        // Who only looks begins nothing that could be looked after.
        let looks = looks && spec.name != crate::task_output::NAME;
        named && (looks || !self.read_only) && !NEVER.iter().any(|never| fits(never, &spec.name))
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    }
}

/// The profiles of a session, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profiles {
    profiles: Vec<Profile>,
}

/// Settings of a profile that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the subagent {name:?} cannot be used: {problem}")]
pub struct ProfileError {
    /// The profile.
    pub name: String,
    /// What is wrong with it, and what it should be.
    pub problem: String,
}

impl Profiles {
    /// Those that come along.
    ///
    /// # Errors
    /// Never, as a test sees to.
    pub fn builtin() -> Result<Self, ProfileError> {
        Self::with(&Table::new())
    }

    /// Those that come along, with settings over them: a table of profiles by name. A value that is given counts, one that
    /// is not stays as it was; `disabled = true` takes a profile away.
    ///
    /// # Errors
    /// [`ProfileError`] for the first profile that cannot be used.
    pub fn with(settings: &Table) -> Result<Self, ProfileError> {
        let wrong = |name: &str, problem: String| ProfileError { name: name.to_owned(), problem };
        let mut all: Table = BUILT_IN.parse().map_err(|error| wrong("built in", format!("{error}")))?;
        for (name, over) in settings {
            let Value::Table(over) = over else {
                return Err(wrong(name, format!("write its settings under [subagents.{name}]")));
            };
            let under = all.entry(name.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(under) = under {
                under.extend(over.clone());
            }
        }
        let mut profiles = Vec::new();
        for (name, value) in all {
            let Value::Table(mut table) = value else { continue };
            match table.remove("disabled") {
                Some(Value::Boolean(true)) => continue,
                None | Some(Value::Boolean(false)) => {}
                Some(_) => return Err(wrong(&name, "`disabled` is true or false".to_owned())),
            }
            let mut profile =
                Profile::deserialize(table).map_err(|error| wrong(&name, error.message().to_owned()))?;
            profile.name.clone_from(&name);
            check(&profile).map_err(|problem| wrong(&name, problem))?;
            profiles.push(profile);
        }
        profiles.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { profiles })
    }

    /// The profile of a name.
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty()
    }

    /// The names, for people and models.
    pub fn names(&self) -> Vec<&str> {
        self.profiles.iter().map(|profile| profile.name.as_str()).collect()
    }
}

fn check(profile: &Profile) -> Result<(), String> {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    if profile.name.is_empty() || !profile.name.chars().all(is_plain) {
        return Err("a name has small letters, digits, `-` and `_` only".to_owned());
    }
    if profile.description.trim().is_empty() {
        return Err("`description` says when to send it, and is empty".to_owned());
    }
    if profile.max_turns == 0 || profile.max_turns > MOST_TURNS {
        return Err(format!("`max_turns` is {}; it goes from 1 to {MOST_TURNS}", profile.max_turns));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
