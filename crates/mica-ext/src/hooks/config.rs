//! Reads the files that say which commands are hooked to what.
//!
//! Promises: every mistake is told with its file and its place, and takes nothing else with it. A mistake in what guards
//! calls closes the calls that it would have guarded: nobody who set a guard up is left without one because of a typing
//! error. The guard's place in the file says which calls these are; where even that cannot be read, all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

use super::event::{HookEvent, Named};
use super::matcher::Matcher;
use super::vocabulary::Vocabulary;

/// How long a command has that says nothing else.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// The same at the end of a session: somebody waits for the program to go.
pub const FAREWELL: Duration = Duration::from_secs(10);
/// The most that one can ask for.
pub const LONGEST: Duration = Duration::from_secs(600);
/// Entries of one file. More is a mistake, or somebody who wants to keep the program busy.
const MOST: usize = 500;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The user's own: what it allows, the user allows.
    User,
    /// The project's, which the user trusts as it is.
    Project,
}

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file that is there for this program.
    Own,
    /// Settings of another agent, of which `hooks` is a part. What this program has not is left out, and told.
    Borrowed,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What it is called in messages: its path.
    pub label: String,
    /// Whose it is.
    pub owner: Owner,
    /// What kind of file it is.
    pub kind: Kind,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Exec {
    /// A line for the shell.
    Shell(String),
    /// A program and its arguments, without a shell.
    Program(Vec<String>),
}

impl std::fmt::Display for Exec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Program(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// A command that is hooked to an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// Where it stands: the file, and the place in it.
    pub place: String,
    /// Whose it is.
    pub owner: Owner,
    /// Whose words it is spoken to in.
    pub vocabulary: Vocabulary,
    /// What it is hooked to.
    pub event: HookEvent,
    /// For which of them.
    pub matcher: Matcher,
    /// What is run.
    pub exec: Exec,
    /// How long it has.
    pub timeout: Duration,
    /// Whether nobody waits for it.
    pub is_async: bool,
    /// Whether it runs once in a session.
    pub once: bool,
    /// Hosts that it reaches.
    pub network: Vec<String>,
    /// Variables that it gets besides.
    pub env: BTreeMap<String, String>,
    /// The folder it runs in, below the project.
    pub cwd: Option<String>,
    /// Whether what goes wrong with it holds things up. Guards of calls always do.
    pub blocks_on_failure: bool,
}

impl Hook {
    /// Whether two entries come to the same command: it is run once then.
    pub(crate) fn runs_the_same(&self, other: &Self) -> bool {
        self.exec == other.exec
            && self.vocabulary == other.vocabulary
            && self.owner == other.owner
            && self.cwd == other.cwd
            && self.env == other.env
            && self.network == other.network
            && self.is_async == other.is_async
    }
}

impl Hook {
    /// What to say when its matcher is for none of the tools that there are. Tools of servers come and go, so what names
    /// those may fit later; and what other agents have and this program has not is no mistake, unless it is nearly a name.
    pub fn idle(&self, tools: &[String]) -> Option<String> {
        let of_tools = matches!(
            self.event,
            HookEvent::PreToolUse
                | HookEvent::PermissionRequest
                | HookEvent::PostToolUse
                | HookEvent::PostToolUseFailure
        );
        let matcher = self.matcher.to_string();
        let known = || tools.iter().flat_map(|tool| super::vocabulary::names(tool));
        if !of_tools || matcher.contains("mcp") || self.matcher.is_for(known()) {
            return None;
        }
        let near = match &self.matcher {
            Matcher::Names(names) => {
                names.iter().find_map(|name| mica_agent::nearest::nearest(name, known()))
            }
            Matcher::All | Matcher::Pattern(_) => None,
        };
        if near.is_none() && self.vocabulary == Vocabulary::Claude {
            return None;
        }
        let near = near.map(|near| format!("; was {near} meant?")).unwrap_or_default();
        Some(format!(
            "{}: its matcher {matcher:?} fits no tool that there is, so it never runs{near}",
            self.place
        ))
    }
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, and the place in it.
    pub place: String,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Calls that do not run until a file is mended.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// Which.
    pub matcher: Matcher,
    /// Why.
    pub problem: Problem,
}

/// What files come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Configured {
    /// The commands, in the order of the files.
    pub hooks: Vec<Hook>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Calls that do not run because of it.
    pub closed: Vec<Closed>,
}

impl Configured {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.closed.is_empty()
    }

    /// Adds what another file says.
    pub fn join(&mut self, other: Self) {
        self.hooks.extend(other.hooks);
        self.problems.extend(other.problems);
        self.closed.extend(other.closed);
    }

    /// A file that is there and cannot be read: nobody knows what it would have guarded.
    pub fn unreadable(source: &Source, message: &str) -> Self {
        Self::closed(source, format!("it cannot be read: {message}"))
    }

    /// A file that guarded calls and cannot be used as it is now: all calls are closed.
    pub fn closed(source: &Source, message: impl Into<String>) -> Self {
        let mut reading = Reading::new(source);
        reading.broken(source.label.clone(), message.into(), Some(Matcher::All));
        reading.made
    }

    /// Whether it has a say in what is called.
    pub fn guards(&self) -> bool {
        !self.closed.is_empty() || self.hooks.iter().any(|hook| hook.event == HookEvent::PreToolUse)
    }

    /// Reads a file.
    pub fn read(text: &str, source: &Source) -> Self {
        let mut reading = Reading::new(source);
        reading.file(text);
        reading.made
    }
}

/// A file that is being read.
struct Reading<'a> {
    source: &'a Source,
    vocabulary: Vocabulary,
    made: Configured,
}

impl<'a> Reading<'a> {
    fn new(source: &'a Source) -> Self {
        let vocabulary = match source.kind {
            Kind::Own => Vocabulary::Mica,
            Kind::Borrowed => Vocabulary::Claude,
        };
        Self { source, vocabulary, made: Configured::default() }
    }

    fn place(&self, path: &str) -> String {
        if path.is_empty() { self.source.label.clone() } else { format!("{}: {path}", self.source.label) }
    }

    /// Something is wrong. With a matcher, these calls are closed.
    fn broken(&mut self, place: String, message: String, closes: Option<Matcher>) {
        let problem = Problem { place, message };
        if let Some(matcher) = closes {
            self.made.closed.push(Closed { matcher, problem: problem.clone() });
        }
        self.made.problems.push(problem);
    }

    fn file(&mut self, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        // What is empty says nothing, and guards nothing.
        if text.trim().is_empty() {
            return;
        }
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                // Whether it guards calls can only be guessed now. One of our own is there for hooks; settings of another
                // agent that do not even name the event have none.
                let guards = self.source.kind == Kind::Own
                    || text.to_lowercase().contains("pretooluse")
                    || text.contains("pre_tool_use");
                let place = format!("{}:{}:{}", self.source.label, error.line(), error.column());
                return self.broken(place, format!("it is no JSON: {error}"), guards.then_some(Matcher::All));
            }
        };
        let Value::Object(file) = value else {
            let message = "it is no JSON object; it looks like {\"hooks\": {…}}".to_owned();
            return self.broken(self.place(""), message, None);
        };
        if self.source.kind == Kind::Borrowed && file.get("disableAllHooks") == Some(&Value::Bool(true)) {
            return;
        }
        if self.source.kind == Kind::Own {
            self.head(&file);
        }
        match file.get("hooks") {
            None if self.source.kind == Kind::Borrowed => {}
            // `{"PreToolUse": […]}` without the object around it is what people write first.
            None if file.keys().any(|key| matches!(HookEvent::named(key), Named::Known(_))) => {
                let message = "the events stand alone; put them into {\"hooks\": {…}}".to_owned();
                let guards =
                    file.keys().any(|key| HookEvent::named(key) == Named::Known(HookEvent::PreToolUse));
                self.broken(self.place(""), message, guards.then_some(Matcher::All));
            }
            None => {}
            Some(Value::Object(events)) => self.events(events),
            Some(_) => {
                let message = "it is no object of events; it looks like {\"PreToolUse\": [{…}]}".to_owned();
                self.broken(self.place("hooks"), message, Some(Matcher::All));
            }
        }
    }

    /// What stands beside `hooks` in a file of our own.
    fn head(&mut self, file: &Map<String, Value>) {
        for (key, value) in file {
            match key.as_str() {
                "hooks" | "$schema" | "description" | "version" => {}
                "vocabulary" => match serde_json::from_value(value.clone()) {
                    Ok(vocabulary) => self.vocabulary = vocabulary,
                    Err(_) => {
                        let message = format!("{value} is no vocabulary; it can be \"mica\" or \"claude\"");
                        self.broken(self.place("vocabulary"), message, Some(Matcher::All));
                    }
                },
                // Said of with the events below.
                _ if matches!(HookEvent::named(key), Named::Known(_)) => {}
                _ => {
                    let message = "there is no such setting; there are hooks and vocabulary".to_owned();
                    self.broken(self.place(key), message, None);
                }
            }
        }
    }

    fn events(&mut self, events: &Map<String, Value>) {
        for (name, groups) in events {
            let path = format!("hooks.{name}");
            let event = match HookEvent::named(name) {
                Named::Known(event) => event,
                Named::Foreign => {
                    let message = "mica has no such event, so this is not run".to_owned();
                    self.broken(self.place(&path), message, None);
                    continue;
                }
                Named::Unknown(near) => {
                    let message = match near {
                        Some(near) => format!("there is no event {name:?}; was {near} meant?"),
                        None => {
                            let all: Vec<&str> = HookEvent::ALL.iter().map(|event| event.name()).collect();
                            format!("there is no event {name:?}; the events are {}", all.join(", "))
                        }
                    };
                    let guards = near == Some(HookEvent::PreToolUse);
                    self.broken(self.place(&path), message, guards.then_some(Matcher::All));
                    continue;
                }
            };
            let Value::Array(groups) = groups else {
                let message =
                    "it is no list; it looks like [{\"matcher\": \"…\", \"hooks\": [{…}]}]".to_owned();
                self.broken(self.place(&path), message, closes(event, &Matcher::All));
                continue;
            };
            for (index, group) in groups.iter().enumerate() {
                self.group(event, group, &format!("{path}[{index}]"));
            }
        }
    }

    fn group(&mut self, event: HookEvent, group: &Value, path: &str) {
        let Value::Object(group) = group else {
            let message = "it is no object; it looks like {\"matcher\": \"…\", \"hooks\": [{…}]}".to_owned();
            return self.broken(self.place(path), message, closes(event, &Matcher::All));
        };
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => Matcher::All,
            Some(Value::String(text)) => match Matcher::read(text) {
                Ok(matcher) => matcher,
                Err(message) => {
                    let place = self.place(&format!("{path}.matcher"));
                    return self.broken(place, message, closes(event, &Matcher::All));
                }
            },
            Some(other) => {
                let place = self.place(&format!("{path}.matcher"));
                let message = format!("{other} is no text; a matcher looks like \"shell|file_.*\"");
                return self.broken(place, message, closes(event, &Matcher::All));
            }
        };
        match group.get("hooks") {
            Some(Value::Array(entries)) => {
                for (index, entry) in entries.iter().enumerate() {
                    self.entry(event, &matcher, entry, &format!("{path}.hooks[{index}]"));
                }
            }
            // VS Code and others have no groups: the command stands where the group would.
            None if group.contains_key("command") || group.contains_key("linux") => {
                self.entry(event, &matcher, &Value::Object(group.clone()), path);
            }
            _ => {
                let message = "it has no list `hooks` of commands".to_owned();
                self.broken(self.place(path), message, closes(event, &matcher));
            }
        }
    }

    fn entry(&mut self, event: HookEvent, matcher: &Matcher, entry: &Value, path: &str) {
        if self.made.hooks.len() >= MOST {
            let message =
                format!("there are more than {MOST} entries; this one and those behind it are not read");
            return self.broken(self.place(path), message, closes(event, matcher));
        }
        match self.hook(event, matcher, entry, path) {
            Ok(hook) => self.made.hooks.push(hook),
            Err(Wrong::Mistake { at, message }) => {
                self.broken(self.place(&format!("{path}{at}")), message, closes(event, matcher));
            }
            // In a file that is another agent's, it is no mistake.
            Err(Wrong::NotHere { message }) => {
                let closes = closes(event, matcher).filter(|_| self.source.kind == Kind::Own);
                self.broken(self.place(path), message, closes);
            }
        }
    }

    fn hook(
        &mut self,
        event: HookEvent,
        matcher: &Matcher,
        entry: &Value,
        path: &str,
    ) -> Result<Hook, Wrong> {
        let Value::Object(entry) = entry else {
            return wrong("", "it is no object; it looks like {\"type\": \"command\", \"command\": \"…\"}");
        };
        match entry.get("type").map(|kind| kind.as_str().unwrap_or_default()) {
            None | Some("command") => {}
            Some(kind @ ("prompt" | "agent" | "http" | "mcp_tool" | "mcp")) => {
                let message =
                    format!("hooks of the type {kind:?} are not run by mica; it runs commands only");
                return Err(Wrong::NotHere { message });
            }
            Some(_) => return wrong(".type", "it is no type of hooks; it can be \"command\""),
        }
        if let Some(condition) = entry.get("if").filter(|condition| !condition.is_null()) {
            let message =
                format!("the condition {condition} cannot be judged here; let the command look itself");
            return Err(Wrong::NotHere { message });
        }
        if entry.get("shell").and_then(Value::as_str).is_some_and(|shell| shell != "bash" && shell != "sh") {
            return Err(Wrong::NotHere {
                message: "commands are run by bash here, and by no other shell".to_owned(),
            });
        }
        let exec = exec(entry)?;
        let timeout = self.timeout(event, entry, path)?;
        let network = self.network(entry)?;
        for key in entry.keys() {
            let known = [
                "type",
                "command",
                "linux",
                "osx",
                "windows",
                "bash",
                "powershell",
                "args",
                "timeout",
                "timeoutSec",
                "async",
                "asyncRewake",
                "once",
                "network",
                "env",
                "cwd",
                "if",
                "shell",
                "statusMessage",
                "onFailure",
                "matcher",
                "description",
                "name",
            ];
            if !known.contains(&key.as_str()) {
                let near = mica_agent::nearest::nearest(key, known.into_iter());
                let meant = near.map_or_else(String::new, |near| format!("; was {near:?} meant?"));
                return wrong(&format!(".{key}"), &format!("there is no such setting of a command{meant}"));
            }
        }
        Ok(Hook {
            place: self.place(path),
            owner: self.source.owner,
            vocabulary: self.vocabulary,
            event,
            matcher: matcher.clone(),
            exec,
            timeout,
            is_async: flag(entry, "async")? || flag(entry, "asyncRewake")?,
            once: flag(entry, "once")?,
            network,
            env: variables(entry)?,
            cwd: text(entry, "cwd")?.map(ToOwned::to_owned),
            blocks_on_failure: match text(entry, "onFailure")? {
                None | Some("allow" | "continue" | "ignore") => event == HookEvent::PreToolUse,
                Some("block") => true,
                Some(_) => return wrong(".onFailure", "it can be \"block\", or is left out"),
            },
        })
    }

    fn timeout(
        &mut self,
        event: HookEvent,
        entry: &Map<String, Value>,
        path: &str,
    ) -> Result<Duration, Wrong> {
        let Some((key, value)) =
            ["timeout", "timeoutSec"].iter().find_map(|key| Some((key, entry.get(*key)?)))
        else {
            return Ok(if event == HookEvent::SessionEnd { FAREWELL } else { TIMEOUT });
        };
        let seconds = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
        let Some(seconds) = seconds else {
            return wrong(&format!(".{key}"), "it is a number of seconds, more than 0");
        };
        if seconds > LONGEST.as_secs_f64() {
            let message = format!(
                "{seconds} seconds are more than the most, which is {}; it is cut to that (the number is seconds, not \
                 milliseconds)",
                LONGEST.as_secs()
            );
            self.broken(self.place(&format!("{path}.{key}")), message, None);
            return Ok(LONGEST);
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    fn network(&self, entry: &Map<String, Value>) -> Result<Vec<String>, Wrong> {
        let hosts = match entry.get("network") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(hosts)) => {
                hosts.iter().map(|host| host.as_str().map(ToOwned::to_owned)).collect::<Option<Vec<String>>>()
            }
            Some(_) => None,
        };
        match hosts {
            None => wrong(".network", "it is a list of hosts, for example [\"example.org\"]"),
            Some(hosts) if !hosts.is_empty() && self.source.owner == Owner::Project => wrong(
                ".network",
                "hosts are the user's to grant: move the entry to hooks.json in your own settings folder",
            ),
            Some(hosts) => Ok(hosts),
        }
    }
}

/// What is wrong with an entry.
enum Wrong {
    /// It is a mistake, at this place below the entry.
    Mistake { at: String, message: String },
    /// It is none, but there is no such thing here.
    NotHere { message: String },
}

fn wrong<T>(at: &str, message: &str) -> Result<T, Wrong> {
    Err(Wrong::Mistake { at: at.to_owned(), message: message.to_owned() })
}

/// The calls that are closed by a mistake at this event.
fn closes(event: HookEvent, matcher: &Matcher) -> Option<Matcher> {
    (event == HookEvent::PreToolUse).then(|| matcher.clone())
}

fn exec(entry: &Map<String, Value>) -> Result<Exec, Wrong> {
    // The more exact one counts. Commands for other systems are no business of this one.
    let key =
        ["linux", "bash", "command"].into_iter().find(|key| entry.contains_key(*key)).unwrap_or("command");
    let Some(line) = text(entry, key)?.filter(|line| !line.trim().is_empty()) else {
        return wrong(&format!(".{key}"), "there is no command in it");
    };
    if line.contains('\0') {
        return wrong(&format!(".{key}"), "it has a NUL in it, which no shell can read");
    }
    match entry.get("args") {
        None | Some(Value::Null) => Ok(Exec::Shell(line.to_owned())),
        Some(Value::Array(words)) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(ToOwned::to_owned)).collect();
            match words {
                None => wrong(".args", "it is a list of texts"),
                Some(words) => Ok(Exec::Program(std::iter::once(line.to_owned()).chain(words).collect())),
            }
        }
        Some(_) => wrong(".args", "it is a list of texts"),
    }
}

fn text<'a>(entry: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Wrong> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => wrong(&format!(".{key}"), "it is a text"),
    }
}

fn flag(entry: &Map<String, Value>, key: &str) -> Result<bool, Wrong> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => wrong(&format!(".{key}"), "it is true or false"),
    }
}

fn variables(entry: &Map<String, Value>) -> Result<BTreeMap<String, String>, Wrong> {
    let variables = match entry.get("env") {
        None | Some(Value::Null) => return Ok(BTreeMap::new()),
        Some(Value::Object(variables)) => variables,
        Some(_) => return wrong(".env", "it is an object of variables and their values"),
    };
    let mut read = BTreeMap::new();
    for (name, value) in variables {
        let Some(value) = value.as_str() else {
            return wrong(&format!(".env.{name}"), "it is a text");
        };
        read.insert(name.clone(), value.to_owned());
    }
    Ok(read)
}

#[cfg(test)]
mod tests;
