//! Extensions: files that people drop into a folder, and that change what the agent does.
//!
//! Promise: where there are none, a start costs two looks at folders that are not there.

pub mod added;
mod closed;
pub mod found;
pub mod guards;
pub mod permits;
pub mod rows;
pub mod screen;
pub mod store;
pub mod world;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mica_ext::script::{self, Permission, Setting};
use mica_ext::{Extension, Extensions, Factory, Origin, Registry, World};
use sha2::{Digest as _, Sha256};

use crate::config::ExtensionValues;
use crate::surroundings::Surroundings;
use closed::closed_guard;
use found::{Fingerprint, Found, Whose};
use guards::Guards;
use permits::Permits;
use rows::{Brings, Row, State};
use world::Around;

/// Where extensions are looked for, and what is known about them without looking.
#[derive(Debug, Clone)]
pub struct Shelf {
    /// The world around.
    pub surroundings: Surroundings,
    /// What the settings say.
    pub values: ExtensionValues,
    /// Those that were named.
    pub named: Vec<PathBuf>,
}

impl Shelf {
    /// What the files are now.
    pub fn fingerprint(&self) -> Fingerprint {
        found::fingerprint(&self.surroundings, &self.named)
    }

    /// Reads and loads all of them, side by side. Each has a row; those that are used are extensions.
    pub async fn load(&self, world: &Arc<dyn World>) -> Vec<(Row, Option<Extension>)> {
        let all = found::all(&self.surroundings, &self.named);
        if all.is_empty() {
            return Vec::new();
        }
        let permits = match Permits::find(&self.surroundings, &self.values) {
            Ok(permits) => permits,
            // What is off cannot be told from what is on.
            Err(error) => {
                let failed = |found: &Found| Row::failed(found, format!("{error:#}"));
                return all.iter().map(|found| (failed(found), None)).collect();
            }
        };
        let mut names = BTreeSet::new();
        let mut loading = Vec::new();
        for found in all {
            let trusted = self.is_trusted(&found);
            // What is not used takes no name from what is: else a file that nobody looked at would turn a guard off.
            let is_first = !trusted || found.bundle.is_err() || names.insert(found.name());
            let (row, setting) = self.judge(&found, &permits, trusted, is_first, world);
            loading.push(tokio::spawn(one(found, row, setting)));
        }
        let mut loaded = Vec::new();
        for one in loading {
            // A task that broke had an extension that breaks the program; it is not used.
            if let Ok(one) = one.await {
                loaded.push(one);
            }
        }
        loaded
    }

    /// What a project's extension stores values under: another project's of the same name is another.
    fn stores_as(&self, name: &str) -> String {
        let digest = Sha256::digest(self.surroundings.folder.as_os_str().as_encoded_bytes());
        let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        format!("{name}@{digest}")
    }

    fn is_trusted(&self, found: &Found) -> bool {
        found.whose != Whose::Project || found.part().is_none_or(|part| part.is_trusted(&self.surroundings))
    }

    /// Whether one is loaded, and with what.
    fn judge(
        &self,
        found: &Found,
        permits: &Permits,
        trusted: bool,
        is_first: bool,
        world: &Arc<dyn World>,
    ) -> (Row, Option<Setting>) {
        let mut row = Row::new(found);
        row.state = if permits.is_disabled(&row.name) {
            State::Disabled
        } else if let Err(why) = &found.bundle {
            State::Failed(why.clone())
        } else if !trusted {
            State::Untrusted
        } else if !is_first {
            State::Failed("another extension has this name".to_owned())
        } else {
            State::Loaded
        };
        // What a project's asks for is part of what was trusted, and who names one on the command line knows it.
        row.missing = match found.whose {
            Whose::User => permits.missing(&row.name, &row.asks),
            Whose::Project if !trusted => row.asks.clone(),
            Whose::Project | Whose::Named => Vec::new(),
        };
        let granted = row.asks.iter().filter(|one| !row.missing.contains(one));
        let granted: Vec<Permission> = granted.filter_map(|one| one.parse().ok()).collect();
        let setting = (row.state == State::Loaded).then(|| {
            let mut setting = Setting::new(Arc::clone(world)).granting(granted);
            setting.limits.seed = seed();
            if found.whose == Whose::Project {
                setting.stores_as = Some(self.stores_as(&row.name));
            }
            setting
        });
        (row, setting)
    }
}

/// Where chance begins in a script: not every time at the same number.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos() & u128::from(u64::MAX)).unwrap_or_default()
}

/// Loads one, if it is to be.
async fn one(found: Found, mut row: Row, setting: Option<Setting>) -> (Row, Option<Extension>) {
    let (Some(setting), Ok(bundle)) = (setting, &found.bundle) else { return (row, None) };
    match script::load(bundle, setting).await {
        Ok(extension) => {
            row.brings = Brings::of(&extension.registry);
            (row, Some(extension))
        }
        Err(error) => {
            row.state = State::Failed(error.to_string());
            (row, None)
        }
    }
}

/// All extensions of a session, and what they are made from.
pub struct Loading {
    /// What is loaded.
    pub extensions: Extensions,
    /// The program as they see it.
    pub around: Arc<Around>,
    shelf: Shelf,
    factories: Vec<(Origin, Arc<dyn Factory>)>,
    now: Mutex<Now>,
}

/// What was loaded last.
#[derive(Default)]
struct Now {
    /// Nothing before the first time.
    rows: Option<Vec<Row>>,
    seen: Fingerprint,
    /// The scripts that judge calls, or did and were not let go by a person.
    guards: Guards,
}

/// Those that judge calls.
fn judging(scripts: &[Extension]) -> Guards {
    let judges = |one: &&Extension| one.registry.guards.iter().any(|guard| guard.judges());
    scripts.iter().filter(judges).filter_map(|one| Some((one.source.clone()?, one.name.clone()))).collect()
}

impl Loading {
    /// Guards that are closed, in the place of those that judged calls and cannot any more; and what people are told about
    /// them. One that a person took away or turned off is let go.
    fn closed(&self, scripts: &[Extension], rows: &[Row]) -> (Vec<Extension>, Vec<String>) {
        let (mut closed, mut told) = (Vec::new(), Vec::new());
        let mut before = guards::here(&self.shelf.surroundings);
        before.extend(self.now().guards.clone());
        for (path, name) in before {
            if scripts.iter().any(|one| one.name == name) || !path.exists() {
                continue;
            }
            let permits = Permits::find(&self.shelf.surroundings, &self.shelf.values);
            if permits.is_ok_and(|permits| permits.is_disabled(&name)) {
                continue;
            }
            let why = match rows.iter().find(|row| row.path == path).map(|row| &row.state) {
                Some(State::Loaded | State::Disabled) => continue,
                Some(State::Untrusted) => "it changed, and is not trusted as it is".to_owned(),
                Some(State::Failed(why)) => why.clone(),
                None => "it broke while it was loaded".to_owned(),
            };
            told.push(format!(
                "extension {name} guarded calls and does not any more, so every call is refused until it does: mend it or \
                 trust it (`mica trust`), or turn it off (`mica ext disable {name}`), then load extensions anew (/reload)"
            ));
            closed.push(closed_guard(name, path, why));
        }
        (closed, told)
    }

    /// Nothing is loaded yet.
    pub fn new(around: Arc<Around>, shelf: Shelf, factories: Vec<(Origin, Arc<dyn Factory>)>) -> Self {
        Self { extensions: Extensions::default(), around, shelf, factories, now: Mutex::default() }
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the settings say.
    pub fn values(&self) -> &ExtensionValues {
        &self.shelf.values
    }

    /// What there is, as it was loaded.
    pub fn rows(&self) -> Vec<Row> {
        self.now().rows.clone().unwrap_or_default()
    }

    /// Why one that was named for this run cannot be used. Who names one wants it, so there is no run without it.
    pub fn unusable(&self) -> Option<String> {
        let rows = self.rows();
        let failed = rows.iter().find_map(|row| match &row.state {
            State::Failed(why) if row.whose == Whose::Named => Some((&row.path, why)),
            _ => None,
        });
        failed.map(|(path, why)| format!("--extension {}: {why}", path.display()))
    }

    /// Whether a file changed since they were loaded.
    pub fn is_outdated(&self) -> bool {
        let seen = self.shelf.fingerprint();
        self.now().seen != seen
    }

    /// Loads everything anew. What fails is left out. Answers what people should know: what is different from before, and
    /// what is not used and why.
    pub async fn load(&self) -> Vec<String> {
        let seen = self.shelf.fingerprint();
        let world: Arc<dyn World> = Arc::clone(&self.around) as Arc<dyn World>;
        let (mut loaded, mut told) = (Vec::new(), Vec::new());
        for (origin, factory) in &self.factories {
            let mut registry = Registry::default();
            match factory.register(&mut registry).await {
                Ok(()) => loaded.push(Extension::new(factory.name(), *origin, registry)),
                Err(why) => told.push(format!("extension {}: it is not used: {why}", factory.name())),
            }
        }
        // Nothing of before is asked any more while the new ones begin, and nothing of it is shown.
        self.around.screen.clear(None);
        let none = seen.is_empty() && self.shelf.named.is_empty();
        let scripts = if none { Vec::new() } else { self.shelf.load(&world).await };
        let (rows, scripts): (Vec<Row>, Vec<Option<Extension>>) = scripts.into_iter().unzip();
        let scripts: Vec<Extension> = scripts.into_iter().flatten().collect();
        let mut guards = judging(&scripts);
        let (closed, why) = if none { Default::default() } else { self.closed(&scripts, &rows) };
        guards.extend(judging(&closed));
        if !none {
            guards::keep(&self.shelf.surroundings, &guards);
        }
        loaded.extend(scripts);
        loaded.extend(closed);
        self.around.steering.anew();
        self.extensions.exchange(loaded);
        let before = std::mem::replace(&mut *self.now(), Now { rows: Some(rows.clone()), seen, guards });
        told.extend(rows::news(before.rows.as_deref(), &rows));
        told.extend(why);
        told.extend(self.extensions.take_notices().iter().map(ToString::to_string));
        told
    }
}
