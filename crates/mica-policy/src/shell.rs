//! The judgement of shell commands: what a command line would run, what that does, and whether it may.
//!
//! [`split()`] finds every command, tables in `rules/*.toml` say what each one does, and [`judge`] makes one verdict of
//! it: safe commands run, others are asked about, and some never run. Unknown asks; what cannot be seen through asks;
//! the strictest part decides; no mode and no remembered approval lifts the floor (rules that begin with `floor.`).
//!
//! It explains and decides what to ask. It is no boundary: that is the sandbox's.

pub mod facts;
mod gate;
mod given;
mod inside;
mod judge;
mod options;
mod parse;
mod paths;
mod remember;
mod sed;
mod spec;
mod special;
pub mod split;
mod state;
mod syntax;
mod tools;
mod walk;
pub mod word;

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

pub use facts::{Disk, ShellFacts, Unseen};
pub use gate::{Place, ShellGate};
pub use given::Given;
pub use judge::judge;
pub use mica_agent::Scope;
pub use remember::{BadPrefix, Prefix, Remembered};
pub use spec::BadTables;
pub use split::{Access, Command, Joint, OpaqueReason, Split, split};
pub use state::Dirs;
pub use syntax::ByteRange;
pub use word::{Arg, Piece};

use spec::{Effect, Tables};

/// What happens with a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// It runs without asking.
    Safe,
    /// A person is asked.
    Ask,
    /// It does not run.
    Blocked,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Safe => "safe",
            Class::Ask => "ask",
            Class::Blocked => "blocked",
        })
    }
}

/// One thing that speaks for or against a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    class: Class,
    rule: String,
    reason: String,
    /// Whether a remembered approval answers it.
    coverable: bool,
    destructive: bool,
    /// Whether it is about looking only, so that plan mode may ask about it too.
    looking: bool,
}

impl Finding {
    fn new(class: Class, rule: &str, reason: String) -> Self {
        Self { class, rule: rule.to_owned(), reason, coverable: true, destructive: false, looking: false }
    }

    fn safe(rule: &str, reason: String) -> Self {
        Self::new(Class::Safe, rule, reason)
    }

    fn ask(rule: &str, reason: String) -> Self {
        Self::new(Class::Ask, rule, reason)
    }

    fn blocked(rule: &str, reason: String) -> Self {
        Self::new(Class::Blocked, rule, reason)
    }

    /// Asks each time.
    fn lasting(mut self) -> Self {
        self.coverable = false;
        self
    }

    fn destructive(mut self) -> Self {
        self.coverable = false;
        self.destructive = true;
        self
    }

    fn looking(mut self) -> Self {
        self.coverable = false;
        self.looking = true;
        self
    }
}

/// What a command is judged to do, as far as it is evident.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Effects {
    /// Paths it reads.
    pub reads: Vec<String>,
    /// Paths it writes or deletes.
    pub writes: Vec<String>,
    /// Whether it may speak to other machines.
    pub network: bool,
    /// The machines, where they are named.
    pub hosts: Vec<String>,
}

/// The judgement of one command of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PartJudgement {
    /// The command as it is understood.
    pub command: String,
    /// What happens with it.
    pub class: Class,
    /// The rule that decides.
    pub rule: String,
    /// Why, for people.
    pub reason: String,
    /// Whether it throws something away.
    pub destructive: bool,
    /// What could be remembered of an approval.
    pub remember: Option<Prefix>,
}

/// The judgement of a command line.
#[derive(Debug, Clone, Serialize)]
pub struct Judgement {
    /// What happens with it.
    pub class: Class,
    /// Why, for people and for the model.
    pub reason: String,
    /// The rule that decides.
    pub rule: String,
    /// Its commands, one by one.
    pub parts: Vec<PartJudgement>,
    /// How it was read.
    pub split: Split,
    /// What it does.
    pub effects: Effects,
    /// What could be remembered of an approval, so that the same is not asked again. None where it must be.
    pub remember: Option<Prefix>,
}

/// The rules that commands are judged by: the tables, and approvals that were remembered.
#[derive(Debug, Clone)]
pub struct ShellRules {
    tables: std::sync::Arc<Tables>,
    remembered: Vec<Remembered>,
}

const FILES: [(&str, &str); 5] = [
    ("look.toml", include_str!("../rules/look.toml")),
    ("change.toml", include_str!("../rules/change.toml")),
    ("develop.toml", include_str!("../rules/develop.toml")),
    ("machine.toml", include_str!("../rules/machine.toml")),
    ("places.toml", include_str!("../rules/places.toml")),
];

static BUILTIN: LazyLock<Result<std::sync::Arc<Tables>, BadTables>> =
    LazyLock::new(|| Tables::read(&FILES).map(std::sync::Arc::new));

impl ShellRules {
    /// The tables that come with the program. A test checks their examples.
    ///
    /// # Errors
    /// [`BadTables`], which the tests rule out.
    pub fn builtin() -> Result<Self, BadTables> {
        BUILTIN.clone().map(|tables| Self { tables, remembered: Vec::new() })
    }

    /// The builtin tables and others, whose examples are checked.
    ///
    /// # Errors
    /// [`BadTables`] when a table cannot be read, names a command that is named before, or has an example that is
    /// judged otherwise.
    pub fn with_tables(files: &[(&str, &str)]) -> Result<Self, BadTables> {
        let all: Vec<(&str, &str)> = FILES.iter().copied().chain(files.iter().copied()).collect();
        let rules = Self { tables: std::sync::Arc::new(Tables::read(&all)?), remembered: Vec::new() };
        rules.check()?;
        Ok(rules)
    }

    /// Judges every example of the tables, in a project at `/home/user/project`.
    ///
    /// # Errors
    /// [`BadTables::Example`] for the first one that is judged otherwise than its table says.
    pub fn check(&self) -> Result<(), BadTables> {
        let facts = ShellFacts::of_project("/home/user/project").with_home("/home/user");
        for (command, expected) in self.tables.examples() {
            let judged = judge(command, &facts, self, crate::Mode::Edit);
            if judged.class != expected {
                let (command, found) = (command.to_owned(), judged.class);
                return Err(BadTables::Example { command, expected, found, rule: judged.rule });
            }
        }
        Ok(())
    }

    /// With an approval that was remembered.
    #[must_use]
    pub fn with(mut self, remembered: Remembered) -> Self {
        self.remember(remembered);
        self
    }

    /// Remembers an approval.
    pub fn remember(&mut self, remembered: Remembered) {
        if !self.remembered.contains(&remembered) {
            self.remembered.push(remembered);
        }
    }

    /// Forgets an approval, in every scope. Whether there was one.
    pub fn forget(&mut self, prefix: &Prefix) -> bool {
        let before = self.remembered.len();
        self.remembered.retain(|remembered| remembered.prefix != *prefix);
        self.remembered.len() < before
    }

    /// Takes all approvals out.
    pub(crate) fn take_remembered(&mut self) -> Vec<Remembered> {
        std::mem::take(&mut self.remembered)
    }

    /// What was remembered.
    pub fn remembered(&self) -> &[Remembered] {
        &self.remembered
    }

    /// Whether a file of this name holds secrets, for those who look through folders.
    pub fn is_secret_name(&self, name: &str) -> bool {
        let places = &self.tables.places;
        places.is_secret_name(name) || places.is_secret_folder(name)
    }

    /// Whether a command may start others that its words name. Those that nobody knows may.
    fn starts_others(&self, name: &str) -> bool {
        const ALONE: [&str; 9] = ["git", "git-config", "sed", "grep", "rg", "dd", "kill", "remote", "tar"];
        let base = name.rsplit('/').next().unwrap_or(name);
        let Some(spec) = self.tables.of(name).or_else(|| self.tables.of(base)) else { return true };
        match &spec.special {
            Some(special) => !ALONE.contains(&special.as_str()),
            None => spec.sub.is_empty() && matches!(spec.effect, Effect::Run | Effect::Unknown),
        }
    }

    /// The commands that are known and what happens with them when their options say nothing else, sorted.
    pub fn known(&self) -> Vec<(Class, &str)> {
        let class = |effect| match effect {
            Effect::Look => Class::Safe,
            Effect::Interactive | Effect::Forbidden => Class::Blocked,
            _ => Class::Ask,
        };
        let mut known: Vec<(Class, &str)> =
            self.tables.names().into_iter().map(|(effect, name)| (class(effect), name)).collect();
        known.sort_unstable();
        known
    }
}

#[cfg(test)]
mod tests;
