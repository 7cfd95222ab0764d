//! The project as it is on disk, and what is wrong in it: read once, then kept up to date file by file.
//!
//! Promise: what is said of a file is about the bytes that are there now. A file is read again when its size or its time
//! says so, and always when somebody says that it was changed.

mod report;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use synapse_lang::diagnostic::{Code, Diagnostic};
use synapse_lang::model::{RefKind, Version};
use synapse_lang::project::{Project, disk};

pub use report::{Counts, Report};

/// That nothing uses an artifact.
const UNUSED: Code = Code(909);

/// What is known of a folder and the projects in it. Clones are handles to the same.
#[derive(Clone)]
pub struct Checker {
    top: PathBuf,
    projects: Arc<Mutex<HashMap<PathBuf, Seen>>>,
}

/// A project, and when its files were read.
#[derive(Default)]
struct Seen {
    project: Project,
    stamps: HashMap<String, Stamp>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
}

/// A file that was checked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Where it is.
    pub path: PathBuf,
    /// Relative to the folder that is worked in.
    pub shown: String,
    /// What it said when it was checked.
    pub text: Arc<str>,
    /// What was found.
    pub found: Vec<Diagnostic>,
    /// The runtime it was checked for.
    pub runtime: Option<Version>,
    /// Uses elsewhere of what this file no longer defines.
    pub broken: Vec<Broken>,
}

/// A use of something that is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The file that uses it.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// What is used.
    pub name: String,
}

impl Checker {
    /// For the folder that is worked in. Nothing is read yet.
    #[must_use]
    pub fn new(top: impl Into<PathBuf>) -> Self {
        Self { top: top.into(), projects: Arc::default() }
    }

    /// The folder that is worked in.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The root of the project that the folder belongs to: above it, itself, or the only one right below it.
    #[must_use]
    pub fn root(&self) -> Option<PathBuf> {
        disk::root_of(&self.top).or_else(|| self.roots_below().into_iter().next())
    }

    /// The projects right below the folder, sorted: modules of a larger one.
    #[must_use]
    pub fn roots_below(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.top) else { return Vec::new() };
        let mut roots: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| disk::is_project(path)).collect();
        roots.sort();
        roots
    }

    /// The runtime that the project is built for, as its build file says now.
    #[must_use]
    pub fn runtime(&self) -> Option<Version> {
        self.with_project(Project::runtime).flatten()
    }

    /// Looks at the project as it is now; `None` when the folder belongs to none.
    pub fn with_project<T>(&self, look: impl FnOnce(&Project) -> T) -> Option<T> {
        let root = self.root()?;
        let mut projects = self.projects();
        let seen = projects.entry(root.clone()).or_default();
        seen.refresh(&root, &BTreeSet::new());
        Some(look(&seen.project))
    }

    /// Checks files that were just changed. Files that are no part of a project, or nothing that is checked, are left out.
    /// That nothing uses an artifact yet is not said: what will use it is written next.
    #[must_use]
    pub fn changed(&self, paths: &[PathBuf]) -> Vec<Checked> {
        let mut checked = self.check(paths, &disk::matters);
        for file in &mut checked {
            file.found.retain(|one| one.code != UNUSED);
        }
        checked
    }

    /// Checks files, in the order given.
    #[must_use]
    pub fn files(&self, paths: &[PathBuf]) -> Vec<Checked> {
        self.check(paths, &|_| true)
    }

    /// Checks all files of the project that can be wrong.
    #[must_use]
    pub fn all(&self) -> Vec<Checked> {
        let roots = self.root().map_or_else(Vec::new, |root| {
            let below = self.roots_below();
            if below.contains(&root) { below } else { vec![root] }
        });
        let mut projects = self.projects();
        let mut checked = Vec::new();
        for root in roots {
            let seen = projects.entry(root.clone()).or_default();
            seen.refresh(&root, &BTreeSet::new());
            let names: Vec<String> = seen.project.files().map(|(name, _)| name.to_owned()).collect();
            checked.extend(names.iter().filter_map(|name| self.one(seen, &root, name, Vec::new())));
        }
        checked
    }

    /// What would be found in a file of a project if it said something else.
    #[must_use]
    pub fn look(&self, path: &Path, text: &str) -> Vec<Diagnostic> {
        let Some(root) = disk::root_of(path) else { return Vec::new() };
        let Some(name) = disk::relative(&root, path) else { return Vec::new() };
        let mut projects = self.projects();
        let seen = projects.entry(root).or_default();
        seen.project.set(name.clone(), text);
        // It is read again before anybody else looks.
        seen.stamps.remove(&name);
        seen.project.check_file(&name)
    }

    fn check(&self, paths: &[PathBuf], takes: &dyn Fn(&str) -> bool) -> Vec<Checked> {
        let mut projects = self.projects();
        let mut fresh: HashMap<PathBuf, BTreeSet<String>> = HashMap::new();
        let mut wanted = Vec::new();
        for path in paths {
            let Some(root) = disk::root_of(path) else { continue };
            let Some(name) = disk::relative(&root, path).filter(|name| takes(name)) else { continue };
            fresh.entry(root.clone()).or_default().insert(name.clone());
            wanted.push((root, name));
        }
        let mut gone: HashMap<(PathBuf, String), Vec<(RefKind, String)>> = HashMap::new();
        for (root, names) in &fresh {
            let seen = projects.entry(root.clone()).or_default();
            let before: Vec<_> = names.iter().map(|name| (name.clone(), seen.defines(name))).collect();
            seen.refresh(root, names);
            for (name, defined) in before {
                let still =
                    |one: &(RefKind, String)| seen.project.definitions(one.0, &one.1).next().is_some();
                gone.insert((root.clone(), name), defined.into_iter().filter(|one| !still(one)).collect());
            }
        }
        let mut checked = Vec::new();
        for (root, name) in wanted {
            let gone = gone.remove(&(root.clone(), name.clone())).unwrap_or_default();
            if let Some(seen) = projects.get(&root) {
                checked.extend(self.one(seen, &root, &name, gone));
            }
        }
        checked
    }

    fn one(&self, seen: &Seen, root: &Path, name: &str, gone: Vec<(RefKind, String)>) -> Option<Checked> {
        let file = seen.project.file(name)?;
        let path = root.join(name);
        let below = |path: &Path| path.strip_prefix(&self.top).unwrap_or(path).display().to_string();
        let mut broken = Vec::new();
        for (kind, defined) in gone {
            for (user, reference) in seen.project.references(kind, &defined) {
                let Some(text) = seen.project.file(user).map(|file| file.document().source()) else {
                    continue;
                };
                let line = synapse_lang::text::Lines::of(text)
                    .position(text, reference.span.start, synapse_lang::text::Unit::Utf8)
                    .line;
                broken.push(Broken { path: below(&root.join(user)), line: line + 1, name: defined.clone() });
            }
        }
        Some(Checked {
            shown: below(&path),
            path,
            text: file.document().source().into(),
            found: seen.project.check_file(name),
            runtime: seen.project.runtime(),
            broken,
        })
    }

    /// A panic while a project was read loses what was read, and nothing else.
    fn projects(&self) -> MutexGuard<'_, HashMap<PathBuf, Seen>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// What a file defines.
    fn defines(&self, name: &str) -> Vec<(RefKind, String)> {
        let Some(file) = self.project.file(name) else { return Vec::new() };
        file.definitions().iter().map(|one| (one.kind, one.name.to_string())).collect()
    }

    /// Reads what changed; `anew` in any case.
    fn refresh(&mut self, root: &Path, anew: &BTreeSet<String>) {
        let mut paths = Vec::new();
        if disk::walk(root, &mut paths).is_err() {
            return;
        }
        let mut there = HashMap::with_capacity(paths.len());
        for path in paths {
            let Some(name) = disk::relative(root, &path) else { continue };
            let unknown = Stamp { modified: None, bytes: 0 };
            let stamp = fs::metadata(&path)
                .map_or(unknown, |facts| Stamp { modified: facts.modified().ok(), bytes: facts.len() });
            if anew.contains(&name) || self.stamps.get(&name) != Some(&stamp) {
                if !disk::matters(&name) {
                    self.project.mention(name.clone());
                } else if let Some(text) = disk::text(&path) {
                    self.project.set(name.clone(), text);
                }
            }
            there.insert(name, stamp);
        }
        for name in self.stamps.keys().filter(|name| !there.contains_key(*name)) {
            self.project.remove(name);
        }
        let archives = |stamps: &HashMap<String, Stamp>| -> Vec<(String, u64, Option<SystemTime>)> {
            let zips = stamps.iter().filter(|(name, _)| name.ends_with(".zip"));
            let mut zips: Vec<_> =
                zips.map(|(name, stamp)| (name.clone(), stamp.bytes, stamp.modified)).collect();
            zips.sort();
            zips
        };
        if archives(&self.stamps) != archives(&there) {
            self.project.set_connectors(crate::connectors::in_project(root));
        }
        // A parent of the build file lies outside, and may have changed as well.
        self.project.set_inherited_runtime(disk::inherited_runtime(root));
        self.stamps = there;
    }
}

#[cfg(test)]
pub(crate) mod tests;
