//! Settings in layers: what is built in, the user's file, the project's file when it is trusted, variables, flags.
//!
//! Later layers win, value by value. Every value can say where it comes from.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use toml::{Table, Value};

use crate::cli::RunFlags;
use crate::makes;
use crate::surroundings::Surroundings;

pub mod project;
pub mod trust;

/// One layer and where it comes from.
#[derive(Debug, Clone)]
pub struct Layer {
    /// For people: a path, "flags", "environment", "built in".
    pub source: String,
    /// What it says.
    pub table: Table,
}

/// All layers, the weakest first.
#[derive(Debug, Clone)]
pub struct Config {
    /// The layers.
    pub layers: Vec<Layer>,
    /// What a person should know: a project file that is not trusted, for example.
    pub notes: Vec<String>,
}

/// What the layers come to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The model, as `MODEL` or `ENDPOINT/MODEL`.
    pub model: Option<String>,
    /// The dialect to speak.
    pub dialect: Option<String>,
    /// How hard to think.
    pub effort: Option<String>,
    /// Output tokens of one answer at most.
    pub max_output: Option<u64>,
    /// How much a run may do.
    #[serde(default)]
    pub mode: Option<String>,
    /// The domain pack.
    pub pack: Option<String>,
    /// Calls that run without asking.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Calls that never run.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Tools that are listed by name and loaded when they are needed, instead of being sent with every request.
    #[serde(default)]
    pub defer: Vec<String>,
    /// Ends of a run.
    #[serde(default)]
    pub limits: LimitValues,
    /// How long sessions are kept.
    #[serde(default)]
    pub sessions: SessionValues,
    /// The web.
    #[serde(default)]
    pub web: WebValues,
    /// Connectors of Micro Integrator.
    #[serde(default)]
    pub connectors: ConnectorValues,
    /// Commands that the model runs.
    #[serde(default)]
    pub shell: ShellValues,
    /// Micro Integrator projects.
    #[serde(default)]
    pub mi: MiValues,
    /// A small model, for subagents that only look something up. The same as the other when absent.
    pub small_model: Option<String>,
    /// Subagents, over those that are built in.
    #[serde(default)]
    pub subagents: Table,
    /// Skills.
    #[serde(default)]
    pub skills: SkillValues,
    /// Whether notes of earlier sessions are told, and new ones can be made.
    pub memory: Option<bool>,
    /// Extensions.
    #[serde(default)]
    pub extensions: ExtensionValues,
    /// Servers of the Model Context Protocol.
    #[serde(default)]
    pub mcp: McpValues,
    /// What is kept for undo.
    #[serde(default)]
    pub undo: UndoValues,
    /// Command hooks.
    #[serde(default)]
    pub hooks: HookValues,
    /// Where models are served.
    #[serde(default)]
    pub endpoints: Vec<Value>,
    /// What is known of models, over what is built in.
    #[serde(default)]
    pub models: Table,
}

/// Ends of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitValues {
    /// Turns.
    pub turns: Option<u32>,
    /// Dollars.
    pub cost: Option<f64>,
    /// Seconds, not counting people.
    pub time: Option<u64>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Seconds without an event from the model.
    pub idle: Option<u64>,
}

/// How long sessions are kept. What is 0 limits nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionValues {
    /// Days that a session stays unchanged before it goes.
    pub keep_days: Option<u32>,
    /// Sessions of each project that stay.
    pub keep: Option<usize>,
    /// How much of each project stays: `500MB`, `2GiB`.
    pub max_size: Option<String>,
}

/// The web: what is read, and who finds pages.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebValues {
    /// Whether pages can be read at all.
    pub fetch: Option<bool>,
    /// Hosts on private networks that may be reached: `wiki.corp.example`, `localhost:8080`.
    #[serde(default)]
    pub private_hosts: Vec<String>,
    /// Whether the proxies that the environment names are used.
    pub proxy: Option<bool>,
    /// Who finds pages: `searxng`, `brave`, `tavily` or `off`.
    pub search: Option<String>,
    /// Where they are.
    pub search_url: Option<String>,
    /// The variable that their key is in.
    pub search_key_env: Option<String>,
}

/// Connectors of Micro Integrator.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectorValues {
    /// Addresses of a connector store, with `{runtime}` for the version of the runtime. Without any, nobody is asked.
    #[serde(default)]
    pub store: Vec<String>,
}

/// Commands that the model runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellValues {
    /// Seconds of a command that asks for no other time.
    pub timeout: Option<u64>,
    /// Seconds that it can ask for at most.
    pub longest: Option<u64>,
    /// Seconds of a command in the background at most.
    pub background: Option<u64>,
    /// How commands are confined: `best`, or a tier.
    pub tier: Option<String>,
    /// Hosts that commands reach which may write.
    #[serde(default)]
    pub network: Vec<String>,
    /// Whether hosts are granted where only their ports can be checked.
    pub weak_network: Option<bool>,
    /// Folders that commands may write besides the project.
    #[serde(default)]
    pub write: Vec<String>,
}

/// What confines commands: the user's to say, not a project's.
const CONFINING: [&str; 4] = ["tier", "network", "weak_network", "write"];

/// Micro Integrator projects: what builds and runs them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MiValues {
    /// The folder of the Micro Integrator.
    pub runtime: Option<String>,
    /// The Java that builds and runs.
    pub java_home: Option<String>,
    /// Which Maven builds: `auto`, `mvn` or `wrapper`.
    pub maven: Option<String>,
    /// Whether builds may read Maven's settings of the user, which can hold passwords.
    pub maven_settings: Option<bool>,
    /// Where Maven keeps what it downloads.
    pub maven_repository: Option<String>,
    /// Hosts that builds reach.
    #[serde(default)]
    pub network: Vec<String>,
    /// Seconds of a build at most.
    pub build_timeout: Option<u64>,
    /// Seconds that a start is waited for.
    pub server_timeout: Option<u64>,
    /// Seconds that a deployment is waited for.
    pub deploy_timeout: Option<u64>,
    /// Who logs in to the management API.
    pub management_user: Option<String>,
    /// The variable that their password is in.
    pub management_password_env: Option<String>,
    /// The management API, when it is elsewhere than its port says.
    pub management_url: Option<String>,
    /// Another language server that is asked about files.
    pub language_server: Option<LanguageServerValues>,
}

/// Another language server.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageServerValues {
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// What it is called in results.
    pub name: Option<String>,
    /// What it calls the language of files.
    pub language: Option<String>,
    /// Seconds that it has for a file.
    pub timeout: Option<u64>,
}

/// Which programs run, what a server and builds may touch, and where passwords are: the user's to say.
const CONFINING_MI: [&str; 9] = [
    "runtime",
    "network",
    "java_home",
    "language_server",
    "maven",
    "maven_settings",
    "maven_repository",
    "management_password_env",
    "management_url",
];

/// Skills.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillValues {
    /// Whether there are any.
    pub enabled: Option<bool>,
    /// Whether those that come along are there.
    pub builtin: Option<bool>,
    /// Those that are off, by name.
    #[serde(default)]
    pub disable: Vec<String>,
}

impl SkillValues {
    /// Whether there are none.
    pub fn disabled(&self) -> bool {
        self.enabled == Some(false)
    }
}

/// Extensions.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtensionValues {
    /// Those that are off, by name.
    #[serde(default)]
    pub disable: Vec<String>,
    /// What each may do, by name.
    #[serde(default)]
    pub grants: std::collections::BTreeMap<String, Vec<String>>,
}

/// Command hooks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookValues {
    /// Whether there are any.
    pub enabled: Option<bool>,
    /// Whether those in a project's `.claude/settings.json` are run as well.
    pub claude: Option<bool>,
}

/// Whether commands are run at events: the user's to say.
const CONFINING_HOOKS: [&str; 2] = ["enabled", "claude"];

/// Servers of the Model Context Protocol. Which there are is said in `mcp.json`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpValues {
    /// Whether they are used.
    pub enabled: Option<bool>,
    /// Tools that are sent with every request, when there are no more in all. Others are listed and loaded.
    pub send_tools: Option<usize>,
    /// Bytes that those take at most.
    pub send_bytes: Option<usize>,
    /// What happens with tools of one's own servers that say they only look: `ask` or `allow`.
    pub read_only: Option<String>,
}

/// What runs without asking: the user's to say.
const CONFINING_MCP: [&str; 1] = ["read_only"];

/// What is kept for undo. What is 0 limits nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UndoValues {
    /// Days after which a run can no longer be undone.
    pub keep_days: Option<u32>,
    /// How much of each project is kept: `500MB`, `2GiB`.
    pub max_size: Option<String>,
    /// Files that are larger are not kept when commands change them.
    pub max_file: Option<String>,
}

const BUILT_IN: &str = include_str!("config/default.toml");

/// Variables that stand for a setting.
const VARIABLES: [(&str, &str); 4] =
    [("MICA_MODEL", "model"), ("MICA_DIALECT", "dialect"), ("MICA_EFFORT", "effort"), ("MICA_MODE", "mode")];

impl Config {
    /// Reads all layers.
    ///
    /// # Errors
    /// A file that cannot be read or is no TOML, with its path and the line.
    pub fn read(surroundings: &Surroundings, flags: &RunFlags) -> Result<Self> {
        let mut config = Config { layers: Vec::new(), notes: Vec::new() };
        config.add("built in", parse(BUILT_IN, "built in")?);
        let user = user_file(surroundings);
        if let Some(text) = text_of(&user)? {
            config.add(user.display().to_string(), parse(&text, &user.display().to_string())?);
        }
        for part in project::settings(&surroundings.folder)? {
            let project = part.path.clone();
            if part.is_trusted(surroundings) {
                let mut table = parse(&part.text, &project.display().to_string())?;
                for (key, what) in [
                    ("sessions", "which sessions of every project go"),
                    ("undo", "what is kept for undo"),
                    ("extensions", "which of your extensions are off, and what they may do,"),
                ] {
                    if table.remove(key).is_some() {
                        config.notes.push(format!(
                            "[{key}] in {} is not used: {what} is yours to say, in {}",
                            project.display(),
                            user.display()
                        ));
                    }
                }
                for (section, keys) in [
                    ("shell", &CONFINING[..]),
                    ("mi", &CONFINING_MI),
                    ("hooks", &CONFINING_HOOKS),
                    ("mcp", &CONFINING_MCP),
                ] {
                    let Some(Value::Table(told)) = table.get_mut(section) else { continue };
                    let found: Vec<&str> =
                        keys.iter().copied().filter(|key| told.remove(*key).is_some()).collect();
                    if !found.is_empty() {
                        config.notes.push(format!(
                            "[{section}] in {} says {}, which is not used: what confines commands is yours to say, in {}",
                            project.display(),
                            found.join(" and "),
                            user.display()
                        ));
                    }
                }
                config.add(project.display().to_string(), table);
            } else {
                config.notes.push(format!(
                    "{} is not used, because it is not trusted: read it, then run `mica trust`",
                    project.display()
                ));
            }
        }
        let mut variables = Table::new();
        for (variable, key) in VARIABLES {
            if let Some(value) = surroundings.variable(variable) {
                variables.insert(key.to_owned(), Value::String(value));
            }
        }
        config.add("environment", variables);
        config.add("flags", from_flags(flags)?);
        Ok(config)
    }

    fn add(&mut self, source: impl Into<String>, table: Table) {
        if !table.is_empty() {
            self.layers.push(Layer { source: source.into(), table });
        }
    }

    /// What the layers come to.
    ///
    /// # Errors
    /// A value of the wrong kind or a key nobody knows, with the layer that says it.
    pub fn values(&self) -> Result<Values> {
        // Each layer alone first, so that a mistake is told with the file it is in.
        for layer in &self.layers {
            Values::deserialize(layer.table.clone())
                .with_context(|| format!("the settings in {} are wrong", layer.source))?;
        }
        let mut merged = Table::new();
        for layer in &self.layers {
            merge(&mut merged, &layer.table);
        }
        Values::deserialize(merged).context("the settings do not fit together")
    }

    /// The same, with what is said of subagents below all settings: what comes along, and what the pack brings. For
    /// whoever explains it; those who use it lay the profiles over each other themselves.
    ///
    /// # Errors
    /// Never, as tests see to.
    pub fn with_subagents(mut self, wanted: Option<&str>, folder: &Path) -> Result<Self> {
        let mut below = vec![("built in".to_owned(), mica_tools::subagent::BUILT_IN)];
        below.extend(
            makes::profiles_of(wanted, folder).map(|(pack, text)| (format!("the pack {pack}"), text)),
        );
        for (position, (source, text)) in below.into_iter().enumerate() {
            let table = Table::from_iter([("subagents".to_owned(), Value::Table(parse(text, &source)?))]);
            self.layers.insert(position, Layer { source, table });
        }
        Ok(self)
    }

    /// What each layer says of a key, the weakest first. The last one counts.
    pub fn explain(&self, key: &str) -> Vec<(&str, &Value)> {
        self.layers
            .iter()
            .filter_map(|layer| Some((layer.source.as_str(), find(&layer.table, key)?)))
            .collect()
    }

    /// All keys that are set, with the value that counts and where it comes from.
    pub fn list(&self) -> Vec<(String, &Value, &str)> {
        let mut keys: Vec<String> = Vec::new();
        for layer in &self.layers {
            collect(&layer.table, "", &mut keys);
        }
        keys.sort();
        keys.dedup();
        keys.into_iter()
            .filter_map(|key| {
                let (source, value) = self.explain(&key).pop()?;
                Some((key, value, source))
            })
            .collect()
    }
}

/// The user's settings.
pub fn user_file(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("config.toml")
}

/// Whether the user's own settings say yes to something. A file that cannot be read says nothing; whoever reads all
/// settings tells what is wrong with it.
pub fn user_wants(surroundings: &Surroundings, key: &str) -> bool {
    let text = text_of(&user_file(surroundings)).ok().flatten();
    let table = text.and_then(|text| text.parse::<Table>().ok());
    table.as_ref().and_then(|table| find(table, key)) == Some(&Value::Boolean(true))
}

/// A project's settings.
pub fn project_file(folder: &Path) -> PathBuf {
    folder.join(".mica").join("config.toml")
}

pub(crate) fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

fn parse(text: &str, source: &str) -> Result<Table> {
    text.parse::<Table>().with_context(|| format!("{source} is no TOML"))
}

fn from_flags(flags: &RunFlags) -> Result<Table> {
    let mut table = Table::new();
    let mut limits = Table::new();
    let texts = [
        ("model", &flags.model),
        ("dialect", &flags.dialect),
        ("effort", &flags.effort),
        ("mode", &flags.mode),
        ("pack", &flags.pack),
    ];
    for (key, value) in texts {
        if let Some(value) = value {
            table.insert(key.to_owned(), Value::String(value.clone()));
        }
    }
    if !flags.allow.is_empty() {
        table.insert("allow".to_owned(), flags.allow.clone().into());
    }
    if let Some(turns) = flags.max_turns {
        limits.insert("turns".to_owned(), Value::Integer(turns.into()));
    }
    if let Some(cost) = flags.max_cost {
        if !cost.is_finite() || cost < 0.0 {
            bail!("--max-cost takes an amount of dollars, for example 0.50");
        }
        limits.insert("cost".to_owned(), Value::Float(cost));
    }
    if let Some(seconds) = flags.max_time {
        limits.insert("time".to_owned(), Value::Integer(i64::try_from(seconds).unwrap_or(i64::MAX)));
    }
    if !limits.is_empty() {
        table.insert("limits".to_owned(), Value::Table(limits));
    }
    Ok(table)
}

/// Puts `over` over `under`: tables value by value; lists of endpoints one after the other, the stronger first; lists of
/// what is denied together, for what one layer forbids another does not take back; other lists whole.
fn merge(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => merge(under, over),
            (Some(Value::Array(under)), Value::Array(over)) if key == "endpoints" => {
                let mut all = over.clone();
                all.append(under);
                *under = all;
            }
            (Some(Value::Array(under)), Value::Array(over)) if key == "deny" => {
                let new: Vec<Value> = over.iter().filter(|rule| !under.contains(rule)).cloned().collect();
                under.extend(new);
            }
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => find(table.get(first)?.as_table()?, rest),
    }
}

fn collect(table: &Table, prefix: &str, keys: &mut Vec<String>) {
    for (key, value) in table {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => collect(inner, &name, keys),
            _ => keys.push(name),
        }
    }
}

#[cfg(test)]
mod tests;
