//! Where extensions are: the user's folder, the project's folder, and files that were named.
//!
//! Promise: a folder that is not there costs one look. A project's extension is used only as it is when the user trusts it:
//! what is loaded are the bytes that the digest was made of, not what the disk says a moment later.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};

use crate::config::project::{File, Kind, Part, files_below};
use crate::surroundings::Surroundings;

/// What a project's extensions are to trust.
pub const EXTENSION: Kind = Kind { word: "extension", does: "is code that runs in mica, in a cage" };

/// How the names of extensions end.
const ENDINGS: [&str; 4] = ["ts", "mts", "js", "mjs"];

/// The files that a folder begins with.
const INDEX: [&str; 4] = ["index.ts", "index.mts", "index.js", "index.mjs"];

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

/// An extension on disk, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is called: its file's name without endings, or its folder's.
    pub name: String,
    /// Whose it is.
    pub whose: Whose,
    /// Its file, or its folder.
    pub path: PathBuf,
    /// The file that it begins with, among `files`.
    pub entry: String,
    /// All its files.
    pub files: Vec<File>,
}

impl Found {
    /// The source that it begins with.
    pub fn source(&self) -> Option<&str> {
        let (_, bytes) = self.files.iter().find(|(name, _)| *name == self.entry)?;
        std::str::from_utf8(bytes).ok()
    }

    /// What is trusted of it, with what it would be allowed.
    pub fn part(&self, asks: Vec<String>) -> Part {
        let text = self.source().filter(|_| self.files.len() == 1);
        let part = match text {
            Some(text) => Part::file(EXTENSION, &self.path, text),
            None => Part::folder(EXTENSION, &self.path, self.files.clone()),
        };
        part.asking(asks)
    }
}

/// The user's folder.
pub fn user_folder(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("extensions")
}

/// The project's folder.
pub fn project_folder(folder: &Path) -> PathBuf {
    folder.join(".mica").join("extensions")
}

/// One that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Where it is.
    pub path: PathBuf,
    /// What is wrong, in words.
    pub why: String,
}

/// All of them: those that were named, the user's, the project's.
pub fn all(surroundings: &Surroundings, named: &[PathBuf]) -> (Vec<Found>, Vec<Unreadable>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let folders =
        [(Whose::User, user_folder(surroundings)), (Whose::Project, project_folder(&surroundings.folder))];
    let named = named.iter().map(|path| (Whose::Named, surroundings.folder.join(path)));
    let inside = folders
        .into_iter()
        .flat_map(|(whose, folder)| entries(&folder).into_iter().map(move |path| (whose, path)));
    for (whose, path) in named.chain(inside) {
        match read(whose, &path) {
            Ok(one) => found.push(one),
            Err(error) => unreadable.push(Unreadable { path, why: format!("{error:#}") }),
        }
    }
    (found, unreadable)
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
        return INDEX.iter().any(|index| path.join(index).is_file());
    }
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Reads one.
///
/// # Errors
/// When it is none, or cannot be read.
pub fn read(whose: Whose, path: &Path) -> Result<Found> {
    let name = name_of(path)?;
    if path.is_dir() {
        let files = files_below(path)?;
        let entry = INDEX.iter().find(|index| files.iter().any(|(name, _)| name == *index));
        let entry = entry.with_context(|| format!("{} has no index.ts", path.display()))?;
        return Ok(Found { name, whose, path: path.to_owned(), entry: (*entry).to_owned(), files });
    }
    // What a link of a project leads to could change without a byte of the project changing.
    if whose == Whose::Project && path.is_symlink() {
        bail!(
            "{} is a link, and where it leads could change unseen: put the file itself there",
            path.display()
        );
    }
    let bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let entry = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let found =
        Found { name, whose, path: path.to_owned(), entry: entry.clone(), files: vec![(entry, bytes)] };
    if found.source().is_none() {
        bail!("{} is no text", path.display());
    }
    Ok(found)
}

/// What an extension is called: `guard.ts` and `guard.extension.ts` are `guard`.
fn name_of(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = if path.is_dir() { name } else { name.split('.').next().unwrap_or_default() };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        bail!("{} is no name for an extension: letters, digits, - and _, 64 at most", path.display());
    }
    Ok(name.to_owned())
}

/// What the files of extensions were when they were last looked at: enough to see that one changed, without reading it.
pub type Fingerprint = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

/// Looks at the files of all extensions, without reading them.
pub fn fingerprint(surroundings: &Surroundings, named: &[PathBuf]) -> Fingerprint {
    let mut seen = Fingerprint::new();
    let folders = [user_folder(surroundings), project_folder(&surroundings.folder)];
    let named = named.iter().map(|path| surroundings.folder.join(path));
    for path in folders.iter().flat_map(|folder| entries(folder)).chain(named) {
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

/// The project's extensions, for trust.
///
/// # Errors
/// When one of them cannot be read.
pub fn parts(folder: &Path) -> Result<Vec<Part>> {
    let paths = entries(&project_folder(folder));
    paths.iter().map(|path| Ok(read(Whose::Project, path)?.part(Vec::new()))).collect()
}
