//! All connectors that are known for a project, and finding one by whatever people call it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::archive;
use super::definition::{Definition, Kind, Source, plain_name};
use super::snapshot;
use super::store::Stocked;
use crate::project::MiProject;

/// Names that are suggested at most.
const SUGGESTED: usize = 6;

/// The connectors of a project.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    definitions: Vec<Arc<Definition>>,
    /// What could not be read, and what is out of date, for the model.
    pub notes: Vec<String>,
}

/// A connector that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The connector.
    pub definition: Arc<Definition>,
    /// Others that the name could have meant.
    pub others: Vec<String>,
}

/// What makes an archive worth reading again.
type Stamp = (SystemTime, u64);
/// The connector in an archive, or why there is none.
type Outcome = Result<Arc<Definition>, String>;

/// Archives that were read, so that each is read once.
#[derive(Default)]
pub struct Archives {
    read: Mutex<HashMap<PathBuf, (Stamp, Outcome)>>,
}

impl Archives {
    /// The connector in an archive, or why there is none.
    fn get(&self, path: &Path) -> Outcome {
        let facts = std::fs::metadata(path).ok();
        let stamp = facts.and_then(|facts| Some((facts.modified().ok()?, facts.len())));
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some((before, read)), Some(stamp)) = (known.get(path), stamp)
            && *before == stamp
        {
            return read.clone();
        }
        let read = archive::read(path).map(Arc::new).map_err(|error| error.to_string());
        if let Some(stamp) = stamp {
            known.insert(path.to_path_buf(), (stamp, read.clone()));
        }
        read
    }
}

impl Shelf {
    /// What is known for a project: its archives, then what the store says, then what comes along.
    #[must_use]
    pub fn new(project: Option<&MiProject>, archives: &Archives, stocked: Stocked) -> Self {
        let mut shelf = Self { definitions: Vec::new(), notes: stocked.notes };
        for path in project.map_or(&[] as &[PathBuf], |project| &project.archives) {
            match archives.get(path) {
                Ok(definition) => shelf.definitions.push(definition),
                Err(reason) => shelf.notes.push(reason),
            }
        }
        for definition in stocked.definitions {
            let definition = with_snapshot(definition);
            if !shelf.has(&definition) {
                shelf.definitions.push(Arc::new(definition));
            }
        }
        for definition in snapshot::all() {
            if !shelf.has(definition) {
                shelf.definitions.push(Arc::new(definition.clone()));
            }
        }
        shelf.definitions.sort_by(|one, two| (one.kind, &one.name).cmp(&(two.kind, &two.name)));
        shelf
    }

    fn has(&self, other: &Definition) -> bool {
        self.definitions
            .iter()
            .any(|one| one.kind == other.kind && (one.artifact == other.artifact || one.name == other.name))
    }

    /// All of them, connectors first, each kind by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.definitions.iter()
    }

    /// The connectors whose archive lies in the project.
    pub fn local(&self) -> impl Iterator<Item = &Arc<Definition>> {
        self.definitions.iter().filter(|one| matches!(one.source, Source::Archive(_)))
    }

    /// The connector that a name means: its prefix, its artifact id, its title, or nearly one of them.
    ///
    /// # Errors
    /// Names that look like it, the nearest first.
    pub fn find(&self, name: &str) -> Result<Found, Vec<String>> {
        let wanted = plain_name(name);
        let inbound = name.to_lowercase().contains("inbound");
        let wanted =
            if inbound { wanted.replace("inboundendpoint", "").replace("inbound", "") } else { wanted };
        let fits = |one: &Definition| inbound == (one.kind != Kind::Connector);
        let equal = |one: &&Arc<Definition>| one.names().any(|known| known.eq_ignore_ascii_case(name.trim()));
        let plain = |one: &&Arc<Definition>| {
            !wanted.is_empty()
                && one.names().any(|known| {
                    let known = plain_name(known);
                    let known = known.strip_suffix("inboundendpoint").unwrap_or(&known);
                    known == wanted
                })
        };
        let of_kind = |one: &&Arc<Definition>| fits(one);
        let found = self
            .all()
            .filter(of_kind)
            .find(equal)
            .or_else(|| self.all().filter(of_kind).find(plain))
            .or_else(|| self.all().find(equal))
            .or_else(|| self.all().find(plain));
        if let Some(found) = found {
            let others = self.all().filter(|one| {
                !Arc::ptr_eq(one, found) && fits(one) && plain_name(&one.name).starts_with(&wanted)
            });
            let others = others.take(SUGGESTED).map(|one| one.name.clone()).collect();
            return Ok(Found { definition: Arc::clone(found), others });
        }
        Err(self.like(&wanted))
    }

    /// Names that look like one.
    fn like(&self, wanted: &str) -> Vec<String> {
        let mut ranked: BTreeSet<(usize, Kind, String)> = BTreeSet::new();
        for one in self.all() {
            let far = one
                .names()
                .map(plain_name)
                .filter(|known| !known.is_empty() && !wanted.is_empty())
                .filter_map(|known| {
                    let inside = known.contains(wanted) || wanted.contains(&known);
                    let far = strsim::osa_distance(&known, wanted);
                    let allowed = (wanted.chars().count() / 3).clamp(1, 3);
                    if inside { Some(1) } else { (far <= allowed).then_some(far + 1) }
                })
                .min();
            if let Some(far) = far {
                let name = match one.kind {
                    Kind::Connector => one.name.clone(),
                    Kind::Inbound => one.artifact.clone(),
                    Kind::Bundled => format!("{} inbound", one.name),
                };
                ranked.insert((far, one.kind, name));
            }
        }
        ranked.into_iter().take(SUGGESTED).map(|(_, _, name)| name).collect()
    }
}

/// A connector of the store, with what only the facts that come along know of the same one.
fn with_snapshot(mut definition: Definition) -> Definition {
    let same = |one: &&Definition| one.artifact == definition.artifact && one.kind == definition.kind;
    let Some(known) = snapshot::all().iter().find(same) else { return definition };
    for operation in definition.operations.iter_mut().filter(|one| one.parameters.is_none()) {
        let same = known.operations.iter().find(|one| one.name == operation.name);
        operation.parameters = same.and_then(|same| same.parameters.clone());
    }
    for connection in definition.connections.iter_mut().filter(|one| one.parameters.is_none()) {
        let same = known.connection(&connection.name);
        connection.parameters = same.and_then(|same| same.parameters.clone());
    }
    definition
}

#[cfg(test)]
mod tests;
