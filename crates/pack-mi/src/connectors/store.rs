//! A store of connectors that the program was told to ask, with what it said kept on disk.
//!
//! Nothing is asked unless an address is set. An answer is kept and taken again until it is too old; a store that does
//! not answer leaves the old answer, and without one the facts that come along. The result says which it was.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mica_tools::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use synapse_lang::model::Version;

use super::definition::{
    Connection, Definition, GROUP, Init, Kind, Operation, Parameter, Source, plain_name,
};
use super::snapshot;

/// The largest answer that is taken. The whole catalogue of today has two megabytes.
const LARGEST: usize = 32 << 20;
/// Connectors of one answer at most.
const MOST: usize = 5_000;

/// The way to a store. The program gives it, and with it the network.
#[async_trait]
pub trait Store: Send + Sync {
    /// The text at an address.
    ///
    /// # Errors
    /// In words, when there is none.
    async fn fetch(&self, address: &str) -> Result<String, String>;
}

/// What time it is.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// A store, and what it said.
pub struct StoreCache {
    store: Arc<dyn Store>,
    addresses: Vec<String>,
    folder: PathBuf,
    lifetime: Duration,
    clock: Clock,
}

/// What a store knows, or knew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stocked {
    /// The connectors.
    pub definitions: Vec<Definition>,
    /// What did not go as it should, for the model.
    pub notes: Vec<String>,
}

/// An answer on disk.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Who said it.
    address: String,
    /// Seconds since 1970.
    at: u64,
    items: Value,
}

impl StoreCache {
    /// A store at these addresses, in which `{runtime}` stands for the version of the runtime. Answers are kept in the
    /// folder for six hours.
    pub fn new(store: Arc<dyn Store>, addresses: Vec<String>, folder: PathBuf, clock: Clock) -> Self {
        Self { store, addresses, folder, lifetime: Duration::from_secs(6 * 60 * 60), clock }
    }

    /// Changes how long an answer is taken again.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// What the store has for a runtime.
    pub async fn stock(&self, runtime: Option<Version>) -> Stocked {
        let runtime = runtime.unwrap_or(Version::NEWEST).to_string();
        let mut stocked = Stocked::default();
        for address in &self.addresses {
            let address = address.replace("{runtime}", &runtime);
            // By the address: what one store says is never taken for what another does.
            let digest = Digest::of(address.as_bytes()).to_string();
            let path = self.folder.join(format!("{runtime}-{}.json", digest.get(..16).unwrap_or_default()));
            match self.items(&address, &path).await {
                Ok((items, stale)) => {
                    stocked.definitions.extend(read(&items, stale));
                    if stale {
                        stocked.notes.push(format!(
                            "The connector store at {address} did not answer; this is what it said earlier and may be out of date."
                        ));
                    }
                }
                Err(reason) => stocked.notes.push(format!(
                    "The connector store at {address} cannot be used ({reason}); only what comes along is known."
                )),
            }
        }
        stocked
    }

    /// The items at an address, and whether they are old.
    async fn items(&self, address: &str, path: &Path) -> Result<(Value, bool), String> {
        let now = (self.clock)().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let kept = kept(path).filter(|kept| kept.address == address);
        if let Some(kept) = &kept
            && now.saturating_sub(kept.at) < self.lifetime.as_secs()
        {
            return Ok((kept.items.clone(), false));
        }
        let fetched = match self.store.fetch(address).await {
            Ok(text) if text.len() > LARGEST => Err(format!("its answer has {} bytes", text.len())),
            Ok(text) => match serde_json::from_str::<Value>(&text) {
                Ok(items) if list(&items).is_some() => Ok(items),
                Ok(_) => Err("its answer is no list of connectors".to_owned()),
                Err(error) => Err(format!("its answer is no JSON: {error}")),
            },
            Err(reason) => Err(reason),
        };
        match (fetched, kept) {
            (Ok(items), _) => {
                // What cannot be kept is asked again next time.
                let _ = keep(
                    &self.folder,
                    path,
                    &Kept { address: address.to_owned(), at: now, items: items.clone() },
                );
                Ok((items, false))
            }
            (Err(_), Some(kept)) => Ok((kept.items, true)),
            (Err(reason), None) => Err(reason),
        }
    }
}

fn kept(path: &Path) -> Option<Kept> {
    let size = fs::metadata(path).ok()?.len();
    let text = (size <= LARGEST as u64 * 2).then(|| fs::read_to_string(path).ok()).flatten()?;
    serde_json::from_str(&text).ok()
}

/// Keeps an answer: written beside and then named, so that nobody reads half of it.
fn keep(folder: &Path, path: &Path, kept: &Kept) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = fs::File::create(&beside)?;
    file.write_all(serde_json::to_string(kept)?.as_bytes())?;
    drop(file);
    fs::rename(beside, path)
}

/// The list in an answer: the answer itself, or what one of its usual fields holds.
fn list(items: &Value) -> Option<&Vec<Value>> {
    let inner = ["connectors", "data", "items", "list"].iter().find_map(|name| items.get(name));
    items.as_array().or_else(|| inner.and_then(Value::as_array))
}

fn read(items: &Value, stale: bool) -> Vec<Definition> {
    let items = list(items).into_iter().flatten().take(MOST);
    items.filter_map(|item| definition(item, stale)).collect()
}

/// A connector of the store. One without coordinates is of no use.
fn definition(item: &Value, stale: bool) -> Option<Definition> {
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).map(|text| text.trim().to_owned())
    };
    let artifact = text(item, "mavenArtifactId").filter(|id| !id.is_empty())?;
    let known = snapshot::all().iter().find(|one| one.artifact == artifact);
    let is_inbound = text(item, "connectorType").or_else(|| text(item, "type"));
    let is_inbound = is_inbound.is_some_and(|kind| kind.eq_ignore_ascii_case("inbound"));
    let release = item.get("version").filter(|version| version.is_object()).unwrap_or(item);
    let version = text(release, "tagName").map(|tag| tag.trim_start_matches('v').to_owned());
    let operations: Vec<Operation> = entries(release, "operations", |one, name| Operation {
        description: text(one, "description").unwrap_or_default(),
        hidden: one.get("isHidden").and_then(Value::as_bool).unwrap_or_default(),
        parameters: parameters(one),
        name,
        ..Operation::default()
    });
    let connections: Vec<Connection> = entries(release, "connections", |one, name| Connection {
        description: text(one, "description").unwrap_or_default(),
        parameters: parameters(one).map(|all| {
            let is_name = |name: &str| matches!(name, "name" | "connectionName" | "connectionType");
            all.into_iter().filter(|one| !is_name(&one.name)).collect()
        }),
        name,
    });
    let init = match operations.iter().find(|one| one.name == "init") {
        _ if !connections.is_empty() => Init::LocalEntry,
        Some(init) if !init.hidden => Init::Inline,
        _ => known.map_or(Init::Unknown, |known| known.init),
    };
    let inbound = operations.iter().find(|one| one.name == "init" && is_inbound);
    Some(Definition {
        name: known.map_or_else(|| plain_name(&artifact), |known| known.name.clone()),
        title: text(item, "connectorName").or_else(|| text(item, "name")).unwrap_or_else(|| artifact.clone()),
        kind: if is_inbound { Kind::Inbound } else { Kind::Connector },
        group: text(item, "mavenGroupId").unwrap_or_else(|| GROUP.to_owned()),
        version,
        summary: text(item, "description").unwrap_or_default(),
        since: known.and_then(|known| known.since),
        init,
        complete: !operations.is_empty(),
        has_coordinates: true,
        implementation: known.and_then(|known| known.implementation.clone()),
        parameters: inbound.and_then(|init| init.parameters.clone()),
        aliases: known.map(|known| known.aliases.clone()).unwrap_or_default(),
        source: Source::Store { stale },
        connections,
        operations: if is_inbound { Vec::new() } else { operations },
        artifact,
    })
}

/// The named entries of a list, each name once: catalogues repeat some.
fn entries<T>(release: &Value, field: &str, make: impl Fn(&Value, String) -> T) -> Vec<T> {
    let mut seen = std::collections::BTreeSet::new();
    let all = release.get(field).and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|one| {
        let name = one.get("name")?.as_str()?.trim().to_owned();
        seen.insert(name.clone()).then(|| make(one, name))
    })
    .collect()
}

fn parameters(value: &Value) -> Option<Vec<Parameter>> {
    let list = value.get("parameters").or_else(|| value.get("params"))?.as_array()?;
    let parameter = |one: &Value| {
        let text = |name: &str| match one.get(name) {
            Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Some(Value::Bool(yes)) => Some(yes.to_string()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        Some(Parameter {
            name: text("name")?,
            required: text("required").as_deref() == Some("true"),
            kind: text("type"),
            description: text("description").unwrap_or_default(),
            default: text("defaultValue"),
            ..Parameter::default()
        })
    };
    Some(list.iter().filter_map(parameter).collect())
}

#[cfg(test)]
mod tests;
