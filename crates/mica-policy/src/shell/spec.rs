//! What commands do, as data: the tables of `rules/*.toml`, read and checked.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::Class;
use crate::places::Places;

/// What a command does, when its options say nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(super) enum Effect {
    /// It looks, and nothing else.
    Look,
    /// It writes or deletes the files it names, and nothing else: they decide.
    Files,
    /// It changes something in the project.
    Change,
    /// It throws away what cannot be had again.
    Destroy,
    /// It speaks to other machines.
    Network,
    /// It runs code of others.
    Run,
    /// It waits for a person at a terminal.
    Interactive,
    /// It takes the rights of somebody else, or the machine down.
    Forbidden,
    /// Nobody said.
    #[default]
    Unknown,
}

/// What an operand or the value of an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    Text,
    Read,
    List,
    Write,
    Delete,
    Host,
}

/// What options mean. The names are with their dashes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Options {
    /// A value that matters to nobody.
    #[serde(default)]
    pub(super) value: Vec<String>,
    /// Without a value, or with one behind `=`, that matters to nobody.
    #[serde(default)]
    pub(super) flag: Vec<String>,
    #[serde(default)]
    pub(super) read: Vec<String>,
    #[serde(default)]
    pub(super) write: Vec<String>,
    /// Makes what is read or deleted whole folders.
    #[serde(default)]
    pub(super) tree: Vec<String>,
    /// Makes it look only.
    #[serde(default)]
    pub(super) look: Vec<String>,
    /// Whether a remembered approval covers no options but those that are written here.
    #[serde(default)]
    pub(super) closed: bool,
    /// Why they change the effect. A `*` stands for any letters, in what is written in one word (`-Dexec.*`).
    #[serde(default)]
    pub(super) change: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) destroy: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) network: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) run: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) block: BTreeMap<String, String>,
}

/// One command, or a sub-command of one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spec {
    pub(super) names: Vec<String>,
    #[serde(default)]
    pub(super) effect: Effect,
    /// Why it asks or is blocked, as the end of a sentence that starts with the command.
    #[serde(default)]
    pub(super) because: String,
    /// What to do instead.
    #[serde(default)]
    pub(super) instead: String,
    /// What its operands are; the last role goes on.
    #[serde(default)]
    pub(super) operands: Vec<Role>,
    /// What its last operand is, when there are two or more.
    pub(super) last: Option<Role>,
    /// A handler in code, where a table does not do.
    pub(super) special: Option<String>,
    /// Whether options end at the first operand.
    #[serde(default)]
    pub(super) posix: bool,
    /// Whether it goes through whole folders without being told.
    #[serde(default)]
    pub(super) tree: bool,
    /// Whether nothing it could be given makes it do anything else.
    #[serde(default)]
    pub(super) any: bool,
    /// Whether an approval may be remembered, and with how many operands.
    pub(super) remember: Option<usize>,
    /// What it does when it is given operands.
    pub(super) with_operands: Option<Effect>,
    /// How many operands come before the command it runs.
    #[serde(default)]
    pub(super) skip: usize,
    #[serde(default)]
    pub(super) options: Options,
    #[serde(default)]
    pub(super) sub: Vec<Spec>,
    #[serde(default)]
    pub(super) safe: Vec<String>,
    #[serde(default)]
    pub(super) ask: Vec<String>,
    #[serde(default)]
    pub(super) blocked: Vec<String>,
}

/// What variables do to commands.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variable {
    pub(super) names: Vec<String>,
    pub(super) because: String,
    #[serde(default)]
    pub(super) harmless: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    command: Vec<Spec>,
    #[serde(default)]
    variable: Vec<Variable>,
    places: Option<Places>,
}

/// All tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    specs: Vec<Spec>,
    by_name: HashMap<String, usize>,
    pub(super) variables: Vec<Variable>,
    pub(super) places: Places,
}

/// Tables that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTables {
    /// It is no such table.
    #[error("the shell rules in {file} cannot be read: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// What is wrong.
        message: String,
    },
    /// Two entries have the same name.
    #[error("the shell rules name {name:?} twice")]
    Twice {
        /// The command.
        name: String,
    },
    /// An example of a table is judged otherwise than the table says.
    #[error("the shell rules say that {command:?} is {expected}, but it is judged {found} ({rule})")]
    Example {
        /// The example.
        command: String,
        /// What the table says.
        expected: Class,
        /// What it is judged.
        found: Class,
        /// By which rule.
        rule: String,
    },
}

impl Tables {
    pub(super) fn read(files: &[(&str, &str)]) -> Result<Self, BadTables> {
        let mut tables = Tables::default();
        for (name, text) in files {
            let file: File = toml::from_str(text).map_err(|error| BadTables::Unreadable {
                file: (*name).to_owned(),
                message: error.to_string(),
            })?;
            tables.variables.extend(file.variable);
            if let Some(places) = file.places {
                tables.places = places;
            }
            for spec in file.command {
                let index = tables.specs.len();
                for name in &spec.names {
                    if tables.by_name.insert(name.clone(), index).is_some() {
                        return Err(BadTables::Twice { name: name.clone() });
                    }
                }
                tables.specs.push(spec);
            }
        }
        Ok(tables)
    }

    pub(super) fn of(&self, name: &str) -> Option<&Spec> {
        self.by_name.get(name).and_then(|index| self.specs.get(*index))
    }

    /// Every example of the tables, and how it should be judged.
    pub(super) fn examples(&self) -> Vec<(&str, Class)> {
        fn of<'t>(spec: &'t Spec, found: &mut Vec<(&'t str, Class)>) {
            for (examples, class) in
                [(&spec.safe, Class::Safe), (&spec.ask, Class::Ask), (&spec.blocked, Class::Blocked)]
            {
                found.extend(examples.iter().map(|example| (example.as_str(), class)));
            }
            spec.sub.iter().for_each(|sub| of(sub, found));
        }
        let mut found = Vec::new();
        self.specs.iter().for_each(|spec| of(spec, &mut found));
        found
    }

    /// Commands by what they do, for people.
    pub(super) fn names(&self) -> Vec<(Effect, &str)> {
        self.specs
            .iter()
            .flat_map(|spec| spec.names.iter().map(|name| (spec.effect, name.as_str())))
            .collect()
    }
}
