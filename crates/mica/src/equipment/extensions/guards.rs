//! Which extensions judged calls when they last worked: one of them that does not load any more is missed, and not just left
//! out. Kept beside the sessions, in a file that is there once there was a guard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::found::{project_folder, user_folder};
use super::store::replace;
use crate::surroundings::Surroundings;

/// Those that judge calls, or did and were not let go by a person: where each is, and what it is called.
pub type Guards = BTreeMap<PathBuf, String>;

fn file(surroundings: &Surroundings) -> PathBuf {
    surroundings.data.join("guards.json")
}

/// All that are known. A file that cannot be read is none: it is no reason to refuse everything.
fn known(surroundings: &Surroundings) -> Guards {
    let read = std::fs::read(file(surroundings)).ok();
    read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn is_here(surroundings: &Surroundings, path: &Path) -> bool {
    path.starts_with(user_folder(surroundings)) || path.starts_with(project_folder(&surroundings.folder))
}

/// Those of the user and of this project.
pub fn here(surroundings: &Surroundings) -> Guards {
    let mut all = known(surroundings);
    all.retain(|path, _| is_here(surroundings, path));
    all
}

/// Keeps those of the user and of this project, in place of what was known of them. Those that were named for one run are
/// not kept.
pub fn keep(surroundings: &Surroundings, now: &Guards) {
    let before = known(surroundings);
    let others = before.iter().filter(|(path, _)| !is_here(surroundings, path));
    let here = now.iter().filter(|(path, _)| is_here(surroundings, path));
    let all: Guards = others.chain(here).map(|(path, name)| (path.clone(), name.clone())).collect();
    if all != before {
        write(surroundings, &all);
    }
}

/// Lets one go: a person does not want it any more.
pub fn forget(surroundings: &Surroundings, path: &Path) {
    let mut all = known(surroundings);
    if all.remove(path).is_some() {
        write(surroundings, &all);
    }
}

/// What cannot be kept is not missed the next time; in this session it is.
fn write(surroundings: &Surroundings, all: &Guards) {
    if let Ok(bytes) = serde_json::to_vec(all) {
        let _ = replace(&file(surroundings), &bytes);
    }
}
