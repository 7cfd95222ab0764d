//! What a person wrote about MCP servers: `mcp.json`, in the two shapes that are common.
//!
//! Promises: a mistake is told with the name of its server and spoils no other; values of variables are never shown; what
//! a project's file says never makes a call run without asking.

mod expand;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::names;

/// How long a call may take that says nothing of its progress.
pub const CALL: Duration = Duration::from_secs(60);
/// How long a server has to begin: some download themselves first.
pub const START: Duration = Duration::from_secs(60);
/// From here on a number is meant in thousandths of a second: nobody waits a quarter of an hour for a call, and other
/// programs count so.
const THOUSANDTHS: u64 = 1_000;
/// Servers of one file.
const MOST: usize = 64;

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user's own.
    User,
    /// The project's, which the user trusts as it is.
    Project,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::User => "yours",
            Source::Project => "the project's",
        })
    }
}

/// A text that is not shown: it may hold a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    /// The text, for whoever it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A server that a person wrote down.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// What it is called.
    pub name: String,
    /// What it is called within names of tools.
    pub tag: String,
    /// Whose words these are.
    pub source: Source,
    /// How it is reached.
    pub transport: Transport,
    /// How long a call may take that says nothing of its progress.
    pub timeout: Duration,
    /// How long it has to begin.
    pub startup: Duration,
    /// Whether it is not to be used.
    pub disabled: bool,
    /// Tools that are used; all when there are none.
    only: Vec<String>,
    /// Tools that are not.
    never: Vec<String>,
    /// Tools that run without asking. Empty for servers of a project.
    approved: Vec<String>,
    /// Names what was written, so that what is known of a server is not taken for another.
    pub digest: String,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// A program that is started, and spoken with over its standard streams.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<Hidden>,
        /// Variables over those that every program has.
        env: BTreeMap<String, Hidden>,
        /// Where it runs; the project's folder when absent.
        cwd: Option<PathBuf>,
        /// What it may touch.
        confine: Confine,
    },
    /// An address.
    Http {
        /// Which.
        url: Hidden,
        /// The address without what could be a secret in it, for people.
        shown: String,
        /// Headers of every request.
        headers: BTreeMap<String, Hidden>,
        /// Who the program is to an authorization server that knows it already.
        client: Option<String>,
        /// What to ask an authorization server for; what it says itself when empty.
        scopes: Vec<String>,
    },
}

impl Transport {
    /// For people: the command or the address. Nothing of it is a value of a variable.
    pub fn shown(&self) -> String {
        match self {
            Transport::Stdio { command, args, .. } if args.is_empty() => command.clone(),
            Transport::Stdio { command, args, .. } => {
                format!("{command} ({} argument{})", args.len(), if args.len() == 1 { "" } else { "s" })
            }
            Transport::Http { shown, .. } => shown.clone(),
        }
    }
}

/// What a program may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Confine {
    /// What the user may: it was they who wrote it down, and most need their home and the network.
    #[default]
    Open,
    /// What commands of the model may: it writes the project, and reaches nothing.
    Project {
        /// Hosts that it reaches all the same.
        network: Vec<String>,
        /// Folders that it writes besides.
        write: Vec<PathBuf>,
        /// Whether it writes nothing at all but temporary files.
        read_only: bool,
    },
}

/// Something that is wrong with what was written. Never has a value of a variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", .server.as_ref().map(|server| format!("the MCP server {server:?}: ")).unwrap_or_default())]
pub struct Problem {
    /// The server it is about; the whole file when absent.
    pub server: Option<String>,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// What a file came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// The servers, by name.
    pub servers: Vec<ServerConfig>,
    /// What is wrong, and what is not used.
    pub problems: Vec<Problem>,
}

impl ServerConfig {
    /// Whether a tool of this name is used.
    pub fn uses(&self, tool: &str) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| names::fits(pattern, tool));
        (self.only.is_empty() || fits(&self.only)) && !fits(&self.never)
    }

    /// Whether the user wrote down that a tool runs without asking.
    pub fn approves(&self, tool: &str) -> bool {
        self.source == Source::User && self.approved.iter().any(|pattern| names::fits(pattern, tool))
    }
}

/// Reads a file. `variables` answers what stands for `${NAME}`; relative folders are below `root`.
pub fn read(text: &str, source: Source, root: &Path, variables: &dyn Fn(&str) -> Option<String>) -> Read {
    let mut out = Read::default();
    if text.trim().is_empty() {
        return out;
    }
    let whole = |problem: String| Problem { server: None, problem };
    let members = match serde_json::from_str::<Value>(text) {
        Err(error) => {
            out.problems.push(whole(format!("it is no JSON: {error}")));
            return out;
        }
        Ok(Value::Object(mut members)) => {
            // Both are there in files that several programs read.
            let mut found = Map::new();
            let mut any = false;
            for key in ["servers", "mcpServers"] {
                match members.remove(key) {
                    None => {}
                    Some(Value::Object(servers)) => {
                        any = true;
                        found.extend(servers);
                    }
                    Some(_) => {
                        out.problems.push(whole(format!(
                            "{key:?} is an object: a name and what it is for each server"
                        )));
                        any = true;
                    }
                }
            }
            if !any {
                out.problems.push(whole(
                    "it has neither \"servers\" nor \"mcpServers\", an object with what each server is under its name"
                        .to_owned(),
                ));
            }
            found
        }
        Ok(_) => {
            out.problems.push(whole("it is no JSON object with \"servers\" or \"mcpServers\"".to_owned()));
            return out;
        }
    };
    if members.len() > MOST {
        out.problems
            .push(whole(format!("it has {} servers; the first {MOST} by name are used", members.len())));
    }
    let sorted: BTreeMap<String, Value> = members.into_iter().collect();
    let mut tags = BTreeSet::new();
    for (name, value) in sorted.into_iter().take(MOST) {
        let at = Reader { name: &name, source, root, variables };
        match at.server(&value, &mut out.problems) {
            Ok(mut server) => {
                server.tag = names::tag(&name, &tags);
                tags.insert(server.tag.clone());
                out.servers.push(server);
            }
            Err(problem) => out.problems.push(Problem { server: Some(name), problem }),
        }
    }
    out
}

/// Joins files: of two servers with the same name the earlier one counts, so the user's own come first.
pub fn join(reads: impl IntoIterator<Item = Read>) -> Read {
    let mut out = Read::default();
    for read in reads {
        out.problems.extend(read.problems);
        for mut server in read.servers {
            if let Some(other) = out.servers.iter().find(|other| other.name == server.name) {
                out.problems.push(Problem {
                    server: Some(server.name.clone()),
                    problem: format!(
                        "it is there twice; {} counts, and {} does not",
                        other.source, server.source
                    ),
                });
                continue;
            }
            let tags = out.servers.iter().map(|other| other.tag.clone()).collect();
            server.tag = names::tag(&server.name, &tags);
            out.servers.push(server);
        }
    }
    out.servers.sort_by(|one, other| one.name.cmp(&other.name));
    out
}

/// Reads one server.
struct Reader<'a> {
    name: &'a str,
    source: Source,
    root: &'a Path,
    variables: &'a dyn Fn(&str) -> Option<String>,
}

impl Reader<'_> {
    fn server(&self, value: &Value, problems: &mut Vec<Problem>) -> Result<ServerConfig, String> {
        if self.name.trim().is_empty() || self.name.chars().count() > 64 {
            return Err("a name has 1 to 64 characters".to_owned());
        }
        let Value::Object(members) = value else { return Err("it is no object".to_owned()) };
        let digest = digest(&[self.name, &canonical(value)]);
        let transport = self.transport(members)?;
        let approved = first(members, &["autoApprove", "alwaysAllow", "approve"], names_of)?;
        let approved = approved.unwrap_or_default();
        if self.source == Source::Project && !approved.is_empty() {
            problems.push(Problem {
                server: Some(self.name.to_owned()),
                problem: "the list of tools that run without asking is not used: that is yours to say, in your own mcp.json"
                    .to_owned(),
            });
        }
        let disabled =
            boolean(members, "disabled")?.unwrap_or(false) || boolean(members, "enabled")? == Some(false);
        let seconds = |keys: &[&str], usual| {
            let found = first(members, keys, seconds)?;
            Ok::<_, String>(found.unwrap_or(usual))
        };
        Ok(ServerConfig {
            name: self.name.to_owned(),
            tag: String::new(),
            source: self.source,
            transport,
            timeout: seconds(&["timeout", "toolTimeout"], CALL)?,
            startup: seconds(&["startupTimeout", "initTimeout"], START)?,
            disabled,
            only: first(members, &["enabledTools", "allow", "includeTools"], names_of)?.unwrap_or_default(),
            never: first(members, &["disabledTools", "deny", "excludeTools"], names_of)?.unwrap_or_default(),
            approved: if self.source == Source::User { approved } else { Vec::new() },
            digest,
        })
    }

    fn transport(&self, members: &Map<String, Value>) -> Result<Transport, String> {
        let kind = first(members, &["type", "transport"], string)?;
        let has = |key: &str| members.contains_key(key);
        match kind.as_deref() {
            Some("stdio") => self.stdio(members),
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => self.http(members),
            Some("sse") => Err("its transport \"sse\" is the old one and is not supported; servers have another address for \
                                \"http\", often the same with /mcp at its end"
                .to_owned()),
            Some(other) => Err(format!("its transport is {other:?}; it can be \"stdio\" or \"http\"")),
            None if has("command") => self.stdio(members),
            None if has("url") || has("httpUrl") || has("serverUrl") => self.http(members),
            None => Err("it needs a \"command\" to start or the \"url\" of one that runs".to_owned()),
        }
    }

    fn stdio(&self, members: &Map<String, Value>) -> Result<Transport, String> {
        let (command, mut args) = match members.get("command") {
            Some(Value::String(command)) if !command.trim().is_empty() => {
                (self.text(command, "command")?, Vec::new())
            }
            // Some write it all into one list.
            Some(Value::Array(words)) if !words.is_empty() => {
                let mut words = self.texts(words, "command")?;
                let args = words.split_off(1);
                (words.pop().unwrap_or_default(), args)
            }
            _ => return Err("its \"command\" is a text: the program to start".to_owned()),
        };
        match members.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(words)) => args.extend(self.texts(words, "args")?),
            Some(_) => return Err("its \"args\" are a list of texts".to_owned()),
        }
        let cwd = match members.get("cwd") {
            None | Some(Value::Null) => None,
            Some(Value::String(folder)) => Some(self.root.join(self.text(folder, "cwd")?)),
            Some(_) => return Err("its \"cwd\" is a text: a folder".to_owned()),
        };
        Ok(Transport::Stdio {
            command,
            args: args.into_iter().map(Hidden).collect(),
            env: self.values(members, "env")?,
            cwd,
            confine: self.confine(members.get("sandbox"))?,
        })
    }

    fn http(&self, members: &Map<String, Value>) -> Result<Transport, String> {
        let written = first(members, &["url", "httpUrl", "serverUrl"], string)?;
        let written = written.ok_or("its \"url\" is missing")?;
        let url = self.text(&written, "url")?;
        let parsed: reqwest::Url =
            url.parse().map_err(|error| format!("its \"url\" is no address: {error}"))?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(format!(
                "its \"url\" begins with {}:, and can begin with https: or http:",
                parsed.scheme()
            ));
        }
        let client = match members.get("oauth") {
            None | Some(Value::Null | Value::Bool(_)) => (None, Vec::new()),
            Some(Value::Object(oauth)) => {
                let client = first(oauth, &["clientId", "client_id"], string)?;
                let scopes = first(oauth, &["scopes", "scope"], names_of)?.unwrap_or_default();
                (client, scopes)
            }
            Some(_) => return Err("its \"oauth\" is an object with \"clientId\" or \"scopes\"".to_owned()),
        };
        let headers = self.values(members, "headers")?;
        for (name, value) in &headers {
            let fits =
                name.parse::<http::HeaderName>().is_ok() && value.0.parse::<http::HeaderValue>().is_ok();
            if !fits {
                return Err(format!("its header {name:?} cannot be sent"));
            }
        }
        Ok(Transport::Http {
            shown: shown(&parsed),
            url: Hidden(url),
            headers,
            client: client.0,
            scopes: client.1,
        })
    }

    fn confine(&self, value: Option<&Value>) -> Result<Confine, String> {
        let project = |members: Option<&Map<String, Value>>| -> Result<Confine, String> {
            let list = |key: &str| match members.and_then(|members| members.get(key)) {
                None => Ok(Vec::new()),
                Some(value) => names_of(value, key),
            };
            let home = (self.variables)("HOME");
            let folder = |text: String| match (text.strip_prefix("~/"), &home) {
                (Some(below), Some(home)) => Path::new(home).join(below),
                _ => self.root.join(text),
            };
            let network = list("network")?;
            if let Some(wrong) = network.iter().find(|host| host.parse::<mica_sandbox::Host>().is_err()) {
                return Err(format!("\"network\" of its \"sandbox\" has {wrong:?}, which is no host"));
            }
            Ok(Confine::Project {
                network,
                write: list("write")?.into_iter().map(folder).collect(),
                read_only: members
                    .map(|members| boolean(members, "readOnly"))
                    .transpose()?
                    .flatten()
                    .unwrap_or(false),
            })
        };
        match value {
            None | Some(Value::Null | Value::Bool(false)) => Ok(Confine::Open),
            Some(Value::Bool(true)) => project(None),
            Some(Value::Object(members)) => project(Some(members)),
            Some(_) => {
                Err("its \"sandbox\" is true, or an object with \"network\", \"write\" or \"readOnly\""
                    .to_owned())
            }
        }
    }

    fn values(&self, members: &Map<String, Value>, key: &str) -> Result<BTreeMap<String, Hidden>, String> {
        match members.get(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(values)) => values
                .iter()
                .map(|(name, value)| {
                    let text = match value {
                        Value::String(text) => self.text(text, &format!("{key}.{name}"))?,
                        Value::Number(number) => number.to_string(),
                        Value::Bool(value) => value.to_string(),
                        _ => return Err(format!("its \"{key}\" has {name:?}, which is no text")),
                    };
                    Ok((name.clone(), Hidden(text)))
                })
                .collect(),
            Some(_) => Err(format!("its \"{key}\" is an object of texts")),
        }
    }

    fn texts(&self, words: &[Value], key: &str) -> Result<Vec<String>, String> {
        let text = |word: &Value| match word {
            Value::String(text) => self.text(text, key),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(format!("its {key:?} is a list of texts")),
        };
        words.iter().map(text).collect()
    }

    fn text(&self, text: &str, key: &str) -> Result<String, String> {
        expand::expand(text, self.variables).map_err(|problem| format!("its \"{key}\" {problem}"))
    }
}

/// An address without what could be a secret in it.
fn shown(url: &reqwest::Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{}://{}{port}{}{query}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// The first of several keys that is there, read.
fn first<T>(
    members: &Map<String, Value>,
    keys: &[&str],
    read: impl Fn(&Value, &str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    let found = keys.iter().find_map(|key| Some((members.get(*key)?, key)));
    found.filter(|(value, _)| !value.is_null()).map(|(value, key)| read(value, key)).transpose()
}

fn string(value: &Value, key: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("its {key:?} is a text"))
}

fn boolean(members: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match members.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(format!("its {key:?} is true or false")),
    }
}

fn names_of(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("its {key:?} is a list of texts");
    match value {
        Value::Array(list) => {
            list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Value::String(one) => Ok(one.split_whitespace().map(str::to_owned).collect()),
        _ => Err(wrong()),
    }
}

fn seconds(value: &Value, key: &str) -> Result<Duration, String> {
    match value.as_f64() {
        Some(number) if number > 0.0 && number <= 86_400_000.0 => {
            let is_thousandths = value.as_u64().is_some_and(|number| number >= THOUSANDTHS);
            Ok(Duration::from_secs_f64(if is_thousandths { number / 1_000.0 } else { number }))
        }
        _ => Err(format!("its {key:?} is a number of seconds (or, from 1000 on, of milliseconds)")),
    }
}

/// A value with its members in order, so that the order they were written in names nothing else.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            let inner: Vec<String> =
                sorted.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            format!("{{{}}}", inner.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// A name for texts: the same for the same, and for no others.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
