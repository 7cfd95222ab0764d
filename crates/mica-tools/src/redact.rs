//! Keeps the values of a project's secrets out of what a model reads, whichever tool they came through.
//!
//! The path guard keeps files with secrets from being read. A command that was allowed can read them all the same, and
//! print them: a search through everything, a program that shows its settings. So what a call came to is looked at, and
//! values of the project's variable files (`.env` and its like) are replaced by their names.
//!
//! Only what is a secret by its name or by its look is replaced. A variable that says `orders` would take that word out of
//! everything.
//!
//! Every result is looked at, so what was found is kept, and used as long as every folder that was looked into and every
//! file that was read is what it was: `seen` says how that is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use mica_agent::{Hooks, ToolError, ToolOutput, ToolSpec};
use mica_ai::Content;
use mica_ai::message::ToolCall;
use mica_policy::places::Places;

use crate::variables;
use crate::web::Clock;

mod seen;

use seen::Seen;

/// Bytes of one file of variables that are looked at.
const FILE: u64 = 256 << 10;
/// Folders right below the project that are looked into: modules have files of their own.
const FOLDERS: usize = 200;
/// So many questions about files are asked right away: they take less time than going to another thread and back.
const FEW: usize = 24;
/// A value that is named as a secret is one from this length on. Shorter ones would be found everywhere.
const NAMED: usize = 4;
/// A value that only looks like one has at least so many letters.
const LOOKS: usize = 16;

/// Parts of names that say what they hold.
const TELLING: [&str; 12] = [
    "PASS",
    "PWD",
    "SECRET",
    "TOKEN",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE",
    "CREDENTIAL",
    "AUTH",
    "SALT",
    "_KEY",
];

/// Takes values of secrets out of results.
#[derive(Clone)]
pub struct Redaction {
    root: PathBuf,
    places: Option<Arc<Places>>,
    found: Arc<Mutex<Option<Found>>>,
    clock: Option<Clock>,
}

/// What was found when everything was last looked at.
#[derive(Clone)]
struct Found {
    /// What there was to look at.
    seen: Vec<(PathBuf, Seen)>,
    /// The secrets of all files, the longest first.
    secrets: Arc<[Secret]>,
}

impl Found {
    /// Whether looking again would find the same.
    fn still_holds(&self) -> bool {
        self.seen.iter().all(|(path, seen)| Seen::at(path) == *seen)
    }
}

/// A value, and the name it has in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Secret {
    name: String,
    value: String,
}

impl Redaction {
    /// For a project.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), places: Places::builtin().ok(), found: Arc::default(), clock: None }
    }

    /// The same with a clock. Without one, it cannot be known whether something has changed, and everything is looked at
    /// for every result.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// A text without values of secrets: for what reaches a model by another way than as a result.
    pub async fn clean(&self, text: String) -> String {
        redacted(&text, &self.looked_up().await).unwrap_or(text)
    }

    /// The same where nothing can be waited for but a disk.
    pub fn clean_now(&self, text: String) -> String {
        redacted(&text, &self.secrets()).unwrap_or(text)
    }

    /// The secrets, looked up away from the threads that must not wait, unless there is little to look at.
    async fn looked_up(&self) -> Arc<[Secret]> {
        if let Some(same) = self.same(FEW) {
            return same;
        }
        let looking = self.clone();
        tokio::task::spawn_blocking(move || looking.secrets()).await.unwrap_or_default()
    }

    /// The secrets that are known, when nothing has changed and that can be told by so many questions.
    fn same(&self, questions: usize) -> Option<Arc<[Secret]>> {
        let found = self.found().clone().filter(|found| found.seen.len() <= questions)?;
        found.still_holds().then_some(found.secrets)
    }

    fn found(&self) -> MutexGuard<'_, Option<Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The secrets of the project as they are now, the longest first. Waits for a disk.
    fn secrets(&self) -> Arc<[Secret]> {
        if let Some(same) = self.same(usize::MAX) {
            return same;
        }
        let now = self.clock.as_ref().map(|clock| clock());
        let (found, is_settled) = self.look(now);
        let secrets = Arc::clone(&found.secrets);
        *self.found() = is_settled.then_some(found);
        secrets
    }

    /// Looks at everything, and answers whether what was found can be kept.
    fn look(&self, now: Option<SystemTime>) -> (Found, bool) {
        let Some(places) = &self.places else {
            return (Found { seen: Vec::new(), secrets: Arc::default() }, false);
        };
        let mut folders = vec![self.root.clone()];
        let (mut seen, mut secrets) = (Vec::new(), Vec::new());
        let mut first = true;
        while let Some(folder) = folders.pop() {
            // Before it is read: what changes meanwhile is noticed.
            seen.push((folder.clone(), Seen::at(&folder)));
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let Ok(kind) = entry.file_type() else { continue };
                let lists_variables = places.lists_variables(&name);
                if lists_variables {
                    // Also one that is a link, which programs follow, and may lead to a file one day.
                    seen.push((entry.path(), Seen::at(&entry.path())));
                }
                if lists_variables && entry.path().is_file() {
                    secrets.extend(read(&entry.path()));
                } else if first && kind.is_dir() && !name.starts_with('.') && folders.len() < FOLDERS {
                    folders.push(entry.path());
                }
            }
            first = false;
        }
        // One that is a part of another must not break it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.value.len()));
        let is_settled = now.is_some_and(|now| seen.iter().all(|(_, seen)| seen.is_settled(now)));
        (Found { seen, secrets: secrets.into() }, is_settled)
    }
}

/// The secrets of a file.
fn read(path: &Path) -> Vec<Secret> {
    let is_small = fs::metadata(path).is_ok_and(|facts| facts.len() <= FILE);
    if is_small { secrets(&fs::read_to_string(path).unwrap_or_default()) } else { Vec::new() }
}

/// The values in a file of variables that are secrets.
fn secrets(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    for (name, value) in variables::assignments(text) {
        let named = TELLING.iter().any(|part| name.to_ascii_uppercase().contains(part));
        // What stands on several lines is printed line by line.
        for part in value.lines().map(str::trim) {
            let least = if named { NAMED } else { LOOKS };
            if part.chars().count() >= least && (named || looks_secret(part)) && !is_reference(part) {
                found.push(Secret { name: name.clone(), value: part.to_owned() });
            }
        }
    }
    found
}

/// Something that a machine made, or an address with a password in it.
fn looks_secret(value: &str) -> bool {
    let credentials = value.split_once("://").is_some_and(|(_, rest)| {
        rest.split_once('@').is_some_and(|(who, _)| who.contains(':') && !who.contains('/'))
    });
    let one_word =
        !value.contains(char::is_whitespace) && !value.contains("://") && !value.starts_with(['/', '.', '$']);
    let (letters, digits) = value.chars().fold((0, 0), |(letters, digits), letter| {
        (letters + usize::from(letter.is_alphabetic()), digits + usize::from(letter.is_ascii_digit()))
    });
    credentials || (one_word && letters >= 4 && digits >= 3)
}

/// A value that is somewhere else.
fn is_reference(value: &str) -> bool {
    value.starts_with("${")
        || value.starts_with("$(")
        || value.starts_with("op://")
        || value.starts_with("vault:")
}

/// A text without the values.
fn redacted(text: &str, secrets: &[Secret]) -> Option<String> {
    let mut changed: Option<String> = None;
    for secret in secrets {
        let now = changed.as_deref().unwrap_or(text);
        if now.contains(secret.value.as_str()) {
            changed = Some(now.replace(secret.value.as_str(), &format!("[{}: not shown]", secret.name)));
        }
    }
    changed
}

#[async_trait]
impl Hooks for Redaction {
    async fn after_tool(&self, _: &ToolCall, _: &ToolSpec, output: &mut ToolOutput) {
        let secrets = self.looked_up().await;
        for part in &mut output.content {
            if let Content::Text { text } = part
                && let Some(clean) = redacted(text, &secrets)
            {
                *text = clean;
            }
        }
    }

    async fn after_failure(&self, _: &ToolCall, _: &ToolSpec, error: &mut ToolError) {
        if let Some(clean) = redacted(&error.message, &self.looked_up().await) {
            error.message = clean;
        }
    }
}

#[cfg(test)]
mod tests;
