//! Profiles: which subagents there are, as data. `profiles.toml` has those that come along; a pack lays its own over them,
//! and settings theirs over both.

use std::fmt;

use mica_agent::{Access, Effect, ToolSpec};
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

/// Profiles that come along, as TOML.
pub const BUILT_IN: &str = include_str!("profiles.toml");

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
    /// Whether only tools send it. Models are not told of it, and cannot ask for it.
    #[serde(default)]
    pub internal: bool,
    /// Who said something of it, the weakest first.
    #[serde(skip)]
    pub layers: Vec<Layer>,
}

/// Who says something of a profile. What the later ones say counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// It comes along.
    BuiltIn,
    /// The pack of the session.
    Pack,
    /// Settings.
    Settings,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn => "built in",
            Self::Pack => "pack",
            Self::Settings => "settings",
        })
    }
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

    /// Those that come along, with settings over them.
    ///
    /// # Errors
    /// [`ProfileError`] for the first profile that cannot be used.
    pub fn with(settings: &Table) -> Result<Self, ProfileError> {
        Self::layered(None, settings)
    }

    /// Those that come along, with those of a pack over them (as TOML), and settings over both: tables of profiles by
    /// name. A value that is given counts, one that is not stays as it was; `disabled = true` takes a profile away. A name
    /// means the profile that is there already, however its letters and separators are written.
    ///
    /// # Errors
    /// [`ProfileError`] for the first profile that cannot be used.
    pub fn layered(pack: Option<&str>, settings: &Table) -> Result<Self, ProfileError> {
        let read = |text: &str, whose: &str| {
            text.parse::<Table>().map_err(|error| wrong(whose, error.message().to_owned()))
        };
        let mut all = Vec::new();
        lay(&mut all, Layer::BuiltIn, &read(BUILT_IN, "built in")?)?;
        if let Some(pack) = pack {
            lay(&mut all, Layer::Pack, &read(pack, "of the pack")?)?;
        }
        lay(&mut all, Layer::Settings, settings)?;
        let mut profiles = Vec::new();
        for Draft { name, mut table, layers } in all {
            match table.remove("disabled") {
                Some(Value::Boolean(true)) => continue,
                None | Some(Value::Boolean(false)) => {}
                Some(_) => return Err(wrong(&name, "`disabled` is true or false".to_owned())),
            }
            let mut profile =
                Profile::deserialize(table).map_err(|error| wrong(&name, error.message().to_owned()))?;
            (profile.name, profile.layers) = (name, layers);
            check(&profile).map_err(|problem| wrong(&profile.name, problem))?;
            profiles.push(profile);
        }
        profiles.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { profiles })
    }

    /// The profile of a name that a model can send.
    pub fn get(&self, name: &str) -> Option<&Profile> {
        self.find(name).filter(|profile| !profile.internal)
    }

    /// The profile of a name that only tools send.
    pub fn internal(&self, name: &str) -> Option<&Profile> {
        self.find(name).filter(|profile| profile.internal)
    }

    /// The profile of a name, whoever sends it. Names are forgiving: `SynapseContext` is `synapse_context`.
    pub fn find(&self, name: &str) -> Option<&Profile> {
        let exact = self.profiles.iter().find(|profile| profile.name == name);
        exact.or_else(|| self.profiles.iter().find(|profile| folded(&profile.name) == folded(name)))
    }

    /// Those that a model can send, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Profile> {
        self.all().filter(|profile| !profile.internal)
    }

    /// All, by name.
    pub fn all(&self) -> impl Iterator<Item = &Profile> {
        self.profiles.iter()
    }

    /// Whether there are none that a model can send.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The names that a model can choose from, for people and models.
    pub fn names(&self) -> Vec<&str> {
        self.iter().map(|profile| profile.name.as_str()).collect()
    }
}

/// A profile as the layers until now have it.
struct Draft {
    name: String,
    table: Table,
    layers: Vec<Layer>,
}

/// Lays profiles over those that are there.
fn lay(all: &mut Vec<Draft>, layer: Layer, profiles: &Table) -> Result<(), ProfileError> {
    for (name, over) in profiles {
        let Value::Table(over) = over else {
            return Err(wrong(name, format!("write its settings under [subagents.{name}]")));
        };
        let alike = |other: &&String| *other != name && folded(other) == folded(name);
        if let Some(other) = profiles.keys().find(alike) {
            return Err(wrong(name, format!("{other:?} is the same name; write both under one")));
        }
        match all.iter_mut().find(|draft| folded(&draft.name) == folded(name)) {
            Some(draft) => {
                draft.table.extend(over.clone());
                draft.layers.push(layer);
            }
            None => all.push(Draft { name: name.clone(), table: over.clone(), layers: vec![layer] }),
        }
    }
    Ok(())
}

fn wrong(name: &str, problem: String) -> ProfileError {
    ProfileError { name: name.to_owned(), problem }
}

/// A name without what makes no difference: case and separators.
fn folded(name: &str) -> String {
    name.chars().filter(|letter| !"-_ ".contains(*letter)).flat_map(char::to_lowercase).collect()
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
