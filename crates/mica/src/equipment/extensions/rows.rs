//! What lists of extensions show: where each is, what became of it, what it brings, and what it may do.

use std::fmt::Write as _;
use std::path::PathBuf;

use mica_ext::Registry;
use serde_json::{Value, json};

use super::found::{Found, Whose};
use crate::config::project::Part;
use crate::interactive::slash;
use crate::render::question::plain;

/// One extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Whose it is.
    pub whose: Whose,
    /// Where it is.
    pub path: PathBuf,
    /// What it says it does.
    pub description: String,
    /// What became of it.
    pub state: State,
    /// What it asks to be allowed.
    pub asks: Vec<String>,
    /// What of that it is not.
    pub missing: Vec<String>,
    /// What it registers.
    pub brings: Brings,
    /// What its bytes are known by.
    digest: Option<String>,
}

/// What became of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is used.
    Loaded,
    /// It is not, because nobody trusts it as it is.
    Untrusted,
    /// It is not, because the user says so.
    Disabled,
    /// It is not, because of this.
    Failed(String),
}

impl State {
    /// In a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Loaded => "loaded",
            Self::Untrusted => "untrusted",
            Self::Disabled => "disabled",
            Self::Failed(_) => "failed",
        }
    }
}

/// What an extension registers, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brings {
    tools: Vec<String>,
    commands: Vec<String>,
    /// Commands that cannot be had in the interactive program, which has ones of these names.
    clashing: Vec<String>,
    keys: Vec<String>,
    /// What it has a say in, in words.
    says: Vec<&'static str>,
}

impl Brings {
    /// What was registered.
    pub fn of(registry: &Registry) -> Self {
        let says = [
            (registry.guards.iter().any(|guard| guard.judges()), "judges calls"),
            (registry.guards.iter().any(|guard| guard.reviews()), "looks at results"),
            (!registry.inputs.is_empty(), "looks at what is typed"),
            (!registry.prompting.is_empty(), "adds to prompts"),
            (!registry.windows.is_empty(), "changes what is sent"),
            (!registry.lifecycles.is_empty(), "hears what happens"),
        ];
        let commands = |clash: bool| {
            let names = registry.commands.iter().map(|command| command.name().to_owned());
            names.filter(|name| slash::is_taken(name) == clash).collect()
        };
        Self {
            tools: registry.tools.iter().map(|tool| tool.spec().name.clone()).collect(),
            commands: commands(false),
            clashing: commands(true),
            keys: registry.shortcuts.iter().map(|shortcut| shortcut.key().to_owned()).collect(),
            says: says.into_iter().filter(|(says, _)| *says).map(|(_, word)| word).collect(),
        }
    }

    /// In a line; empty when there is nothing.
    pub fn line(&self) -> String {
        let mut parts: Vec<String> = self.says.iter().map(|word| (*word).to_owned()).collect();
        let slashed: Vec<String> = self.commands.iter().map(|name| format!("/{name}")).collect();
        for (what, names) in [("tools", &self.tools), ("commands", &slashed), ("keys", &self.keys)] {
            if !names.is_empty() {
                parts.push(format!("{what} {}", names.join(", ")));
            }
        }
        if !self.clashing.is_empty() {
            let names: Vec<String> = self.clashing.iter().map(|name| format!("/{name}")).collect();
            parts.push(format!("not used, because mica has one of this name: {}", names.join(", ")));
        }
        parts.join("; ")
    }

    /// For programs.
    pub fn value(&self) -> Value {
        json!({
            "tools": self.tools,
            "commands": self.commands,
            "clashing": self.clashing,
            "keys": self.keys,
            "says": self.says,
        })
    }
}

impl Row {
    /// Nothing became of it yet.
    pub fn new(found: &Found) -> Self {
        let manifest = found.bundle.as_ref().map(|bundle| bundle.manifest().description.clone());
        Self {
            name: found.name(),
            whose: found.whose,
            path: found.path.clone(),
            description: manifest.unwrap_or_default(),
            state: State::Loaded,
            asks: found.asks(),
            missing: Vec::new(),
            brings: Brings::default(),
            digest: found.part().as_ref().map(Part::digest).map(str::to_owned),
        }
    }

    /// It is not used, because of this.
    pub fn failed(found: &Found, why: String) -> Self {
        Self { state: State::Failed(why), ..Self::new(found) }
    }

    /// For programs.
    pub fn value(&self) -> Value {
        let reason = match &self.state {
            State::Failed(why) => Some(why),
            _ => None,
        };
        let granted: Vec<&String> = self.asks.iter().filter(|one| !self.missing.contains(one)).collect();
        json!({
            "name": self.name,
            "where": self.whose.word(),
            "path": self.path,
            "description": self.description,
            "state": self.state.word(),
            "reason": reason,
            "brings": self.brings.value(),
            "asks": self.asks,
            "granted": granted,
        })
    }

    /// What a person should do about it, if something.
    fn trouble(&self) -> Option<String> {
        let name = &self.name;
        match &self.state {
            State::Failed(why) => Some(format!("extension {name} is not used: {}", plain_lines(why))),
            State::Loaded if !self.missing.is_empty() => Some(format!(
                "extension {name} asks for {}, which you have not allowed: `mica ext allow {name}`",
                self.missing.join(", ")
            )),
            State::Loaded | State::Disabled | State::Untrusted => None,
        }
    }
}

/// Several lines stay several, and nothing in them moves a cursor.
fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The list, for people.
pub fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for row in rows {
        let Row { name, .. } = row;
        let _ = writeln!(
            out,
            "{name:<width$}  {:<9}  {} ({})",
            row.state.word(),
            row.path.display(),
            row.whose.word()
        );
        let mut more = |text: String| {
            for line in text.lines() {
                let _ = writeln!(out, "{:width$}  {line}", "");
            }
        };
        if !row.description.is_empty() {
            more(plain(&row.description));
        }
        match &row.state {
            State::Failed(why) => more(plain_lines(why)),
            State::Untrusted => {
                more("not trusted as it is: `mica trust --list` shows it, `mica trust` trusts it".to_owned());
            }
            State::Disabled => more(format!("`mica ext enable {name}` turns it on")),
            State::Loaded => {}
        }
        let brings = row.brings.line();
        if !brings.is_empty() {
            more(brings);
        }
        if !row.asks.is_empty() {
            let granted: Vec<&str> =
                row.asks.iter().filter(|one| !row.missing.contains(one)).map(String::as_str).collect();
            let granted = if granted.is_empty() { "nothing".to_owned() } else { granted.join(", ") };
            // What a project's asks for is allowed with the trust in it.
            let allow = if row.missing.is_empty() || row.whose != Whose::User {
                String::new()
            } else {
                format!("; `mica ext allow {name}` allows the rest")
            };
            more(format!("asks for {}; allowed: {granted}{allow}", row.asks.join(", ")));
        }
    }
    out
}

/// What is different from before, and what is not used and why. Nothing is said about what is as it was, nor, the first
/// time, about what works.
pub fn news(before: Option<&[Row]>, now: &[Row]) -> Vec<String> {
    let mut told = Vec::new();
    let (first, before) = (before.is_none(), before.unwrap_or_default());
    for row in now {
        let was = before.iter().find(|was| was.path == row.path);
        if was == Some(row) {
            continue;
        }
        match (row.trouble(), was) {
            (Some(trouble), _) => told.push(trouble),
            (None, None) if first => {}
            (None, None) if row.state == State::Loaded => {
                told.push(format!("extension {} is new: {}", row.name, row.brings.line()));
            }
            (None, None) => told.push(format!("extension {} is new, and {}", row.name, row.state.word())),
            (None, Some(_)) if row.state == State::Loaded => {
                told.push(format!("extension {} changed, and is loaded anew", row.name));
            }
            (None, Some(_)) => {
                told.push(format!("extension {} changed, and is {}", row.name, row.state.word()));
            }
        }
    }
    let gone = before.iter().filter(|was| now.iter().all(|row| row.path != was.path));
    told.extend(gone.map(|was| format!("extension {} is gone", was.name)));
    told
}

#[cfg(test)]
mod tests;
