//! Where extensions are: the user's folder, the project's folder, and files that were named.
//!
//! Promise: a folder that is not there costs one look. A project's extension is used only as it is when the user trusts it:
//! what is loaded are the bytes that the digest was made of, not what the disk says a moment later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use mica_ext::script::Bundle;

use crate::config::project::{Kind, Part};
use crate::surroundings::Surroundings;

/// What a project's extensions are to trust.
pub const EXTENSION: Kind = Kind { word: "extension", does: "code that runs in mica, in a cage" };

/// How the names of extensions end.
const ENDINGS: [&str; 4] = ["ts", "mts", "js", "mjs"];

/// Whose extension it is. The earlier wins where two have one name: nothing that a project brings takes the place of what
/// the user has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    /// Named on the command line.
    Named,
    /// In the user's folder.
    User,
    /// In the project's folder.
    Project,
}

impl Whose {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Named => "command line",
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// An extension on disk, read; or why it could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Whose it is.
    pub whose: Whose,
    /// Its file, or its folder.
    pub path: PathBuf,
    /// What is in it.
    pub bundle: Result<Bundle, String>,
}

impl Found {
    /// Reads one.
    pub fn read(whose: Whose, path: PathBuf) -> Self {
        let read = Bundle::read(&path).map_err(|error| error.reason);
        let bundle =
            read.and_then(|bundle| if is_name(bundle.name()) { Ok(bundle) } else { Err(NAME.to_owned()) });
        Self { whose, path, bundle }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match &self.bundle {
            Ok(bundle) => bundle.name().to_owned(),
            Err(_) => self.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    /// What it asks to be allowed.
    pub fn asks(&self) -> Vec<String> {
        let manifest = self.bundle.as_ref().map(Bundle::manifest);
        manifest
            .map(|manifest| manifest.permissions.iter().map(ToString::to_string).collect())
            .unwrap_or_default()
    }

    /// What is trusted of it: all its bytes, the names of its files, and what it asks for.
    pub fn part(&self) -> Option<Part> {
        let bundle = self.bundle.as_ref().ok()?;
        let files = bundle.files().map(|(name, source)| (name, source.as_bytes().to_vec())).collect();
        Some(Part::files(EXTENSION, &self.path, bundle.text(), files).asking(self.asks()))
    }
}

/// Names stand in commands, and files of this program are named for extensions.
const NAME: &str = "its name needs letters, digits, - and _, 64 at most";

fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits)
}

/// The user's folder.
pub fn user_folder(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("extensions")
}

/// The project's folder.
pub fn project_folder(folder: &Path) -> PathBuf {
    folder.join(".mica").join("extensions")
}

/// All of them: those that were named, the user's, the project's, each by name.
pub fn all(surroundings: &Surroundings, named: &[PathBuf]) -> Vec<Found> {
    places(surroundings, named).into_iter().map(|(whose, path)| Found::read(whose, path)).collect()
}

fn places(surroundings: &Surroundings, named: &[PathBuf]) -> Vec<(Whose, PathBuf)> {
    let inside = |whose: Whose, folder: PathBuf| entries(&folder).into_iter().map(move |path| (whose, path));
    let named = named.iter().map(|path| (Whose::Named, surroundings.folder.join(path)));
    named
        .chain(inside(Whose::User, user_folder(surroundings)))
        .chain(inside(Whose::Project, project_folder(&surroundings.folder)))
        .collect()
}

/// The project's extensions, for trust.
///
/// # Errors
/// Never: one that cannot be read is told when it would be loaded.
pub fn parts(folder: &Path) -> Result<Vec<Part>> {
    let paths = entries(&project_folder(folder)).into_iter();
    Ok(paths.filter_map(|path| Found::read(Whose::Project, path).part()).collect())
}

/// The extensions of a folder, by name: files, and folders that have a file to begin with.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(listed) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        listed.flatten().map(|entry| entry.path()).filter(|path| is_one(path)).collect();
    paths.sort();
    paths
}

fn is_one(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.starts_with('.') || name.ends_with(".d.ts") {
        return false;
    }
    if path.is_dir() {
        return ENDINGS.iter().any(|ending| path.join(format!("index.{ending}")).is_file());
    }
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// What the files of extensions were when they were last looked at: enough to see that one changed, without reading it.
pub type Fingerprint = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Looks at the files of all extensions, without reading them.
pub fn fingerprint(surroundings: &Surroundings, named: &[PathBuf]) -> Fingerprint {
    let mut seen = Fingerprint::new();
    for (_, path) in places(surroundings, named) {
        look(&path, &mut seen, 0);
    }
    seen
}

/// Folders within folders that are looked at.
const DEEPEST: usize = 8;

fn look(path: &Path, seen: &mut Fingerprint, depth: usize) {
    let Ok(facts) = path.metadata() else { return };
    if facts.is_dir() && depth < DEEPEST {
        let Ok(listed) = std::fs::read_dir(path) else { return };
        listed.flatten().for_each(|entry| look(&entry.path(), seen, depth + 1));
    } else {
        seen.insert(path.to_owned(), (facts.len(), facts.modified().ok()));
    }
}

#[cfg(test)]
mod tests;
