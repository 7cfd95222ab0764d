//! What a script knows of itself at one point: where it stands, and what its variables hold.

use std::collections::BTreeMap;

use super::facts::{ShellFacts, tidied};

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    Text(String),
    /// Some number.
    Number,
    Unknown,
}

/// The directories a command may run in. More than one where a `cd` may have failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// Those that are known.
    pub known: Vec<String>,
    /// Whether it may be any other as well.
    pub unknown: bool,
}

/// Beyond so many possible directories, the answer is "unknown".
const MAX_DIRS: usize = 6;

impl Dirs {
    pub(super) fn one(dir: &str) -> Self {
        Self { known: vec![tidied(dir)], unknown: false }
    }

    pub(super) fn anywhere() -> Self {
        Self { known: Vec::new(), unknown: true }
    }

    /// The directory, when there is only one.
    pub fn only(&self) -> Option<&str> {
        match self.known.as_slice() {
            [dir] if !self.unknown => Some(dir),
            _ => None,
        }
    }

    pub(super) fn join(&mut self, other: &Dirs) {
        for dir in &other.known {
            if !self.known.contains(dir) {
                self.known.push(dir.clone());
            }
        }
        self.unknown |= other.unknown;
        if self.known.len() > MAX_DIRS {
            *self = Dirs::anywhere();
        }
    }

    pub(super) fn moved(&self, path: &str) -> Dirs {
        if path.starts_with('/') {
            return Dirs::one(path);
        }
        let mut moved = Dirs { known: Vec::new(), unknown: self.unknown };
        for dir in &self.known {
            moved.join(&Dirs::one(&format!("{dir}/{path}")));
        }
        moved
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) dirs: Dirs,
    pub(super) stack: Vec<Dirs>,
    pub(super) held: BTreeMap<String, Held>,
    /// Whether any variable may have changed in a way that was not seen.
    pub(super) lost: bool,
}

impl State {
    pub(super) fn new(facts: &ShellFacts<'_>) -> Self {
        Self { dirs: Dirs::one(facts.cwd), stack: Vec::new(), held: BTreeMap::new(), lost: false }
    }

    /// Forgets everything that could have changed elsewhere.
    pub(super) fn forget(&mut self) {
        self.dirs = Dirs::anywhere();
        self.stack.clear();
        self.forget_variables();
    }

    pub(super) fn forget_variables(&mut self) {
        self.held.clear();
        self.lost = true;
    }

    pub(super) fn join(&mut self, other: &State) {
        if self == other {
            return;
        }
        self.dirs.join(&other.dirs);
        if self.stack != other.stack {
            self.stack.clear();
        }
        self.lost |= other.lost;
        let names: Vec<String> = self.held.keys().chain(other.held.keys()).cloned().collect();
        for name in names {
            let joined = match (self.held.get(&name), other.held.get(&name)) {
                (Some(a), Some(b)) if a == b => continue,
                (Some(a), Some(b)) if a.is_number() && b.is_number() => Held::Number,
                _ => Held::Unknown,
            };
            self.held.insert(name, joined);
        }
    }

    /// What a variable holds now.
    pub(super) fn lookup(&self, name: &str, facts: &ShellFacts<'_>) -> Held {
        if let Some(held) = self.held.get(name) {
            return held.clone();
        }
        match name {
            "?" | "#" | "$" | "!" | "RANDOM" | "SRANDOM" | "LINENO" | "SECONDS" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "COLUMNS" | "LINES" => return Held::Number,
            _ if self.lost => return Held::Unknown,
            _ => {}
        }
        let text = match name {
            "HOME" => facts.home,
            "PWD" => self.dirs.only(),
            "TMPDIR" => facts.temp.first().copied(),
            "IFS" => Some(" \t\n"),
            _ => None,
        };
        text.map_or(Held::Unknown, |text| Held::Text(text.to_owned()))
    }

    pub(super) fn set(&mut self, name: &str, held: Held) {
        self.held.insert(name.to_owned(), held);
    }
}

impl Held {
    pub(super) fn is_number(&self) -> bool {
        match self {
            Held::Number => true,
            Held::Text(text) => {
                let digits = text.trim().trim_start_matches('-');
                digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            Held::Unknown => false,
        }
    }
}
