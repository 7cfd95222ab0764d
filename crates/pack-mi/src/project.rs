//! What a folder is as a project: its layout, the runtime it builds for and who says so, its modules, and the
//! connectors it depends on.
//!
//! Reading is cheap: build files and the names in two folders, no artifacts. [`MiProject::is_fresh`] says whether
//! anything that was read has changed since.

pub(crate) mod choice;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use synapse_lang::model::Version;
use synapse_lang::project::disk;
use synapse_lang::project::pom::{self, Pom, Statement};

/// Where archives of connectors and of inbound endpoints lie in a project.
pub const ARCHIVES: [&str; 2] =
    ["src/main/wso2mi/resources/connectors", "src/main/wso2mi/resources/inbound-connectors"];
/// Modules that are looked at; a tree with more is read in parts.
const MOST_MODULES: usize = 200;
/// How deep modules have modules.
const DEEPEST: usize = 5;

/// Where the artifacts of a project lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `src/main/wso2mi`.
    New,
    /// `src/main/synapse-config`, one module for each kind of thing.
    Old,
    /// It has no artifacts itself, only modules.
    Modules,
    /// A build file, and nothing that tells the layout yet.
    Bare,
}

/// The runtime of a project, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// The version.
    pub version: Version,
    /// The build file.
    pub file: PathBuf,
    /// How it says it.
    pub statement: Statement,
}

/// A module of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its folder, relative to the root, with forward slashes.
    pub path: String,
    /// Its layout.
    pub layout: Layout,
    /// Its runtime: its own, or inherited.
    pub runtime: Option<Runtime>,
}

/// A connector that a build file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// The group.
    pub group: String,
    /// The artifact id.
    pub artifact: String,
    /// The version, with its properties resolved as far as they are known.
    pub version: String,
}

/// A project of Micro Integrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MiProject {
    /// Its folder.
    pub root: PathBuf,
    /// Where its artifacts lie.
    pub layout: Layout,
    /// The runtime that its build file, or a parent of it, states.
    pub runtime: Option<Runtime>,
    /// Its name: the artifact id of its build file.
    pub name: Option<String>,
    /// Its modules, and theirs.
    pub modules: Vec<Module>,
    /// The connectors that its build file declares.
    pub connectors: Vec<Declared>,
    /// The archives of connectors that lie in it.
    pub archives: Vec<PathBuf>,
    stamp: Vec<(PathBuf, Stamp)>,
}

/// What tells that a file or a folder is still the same.
type Stamp = Option<(SystemTime, u64)>;

impl MiProject {
    /// Reads the project of a folder; nothing when the folder is none.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        let chain = disk::poms(root);
        let layout = layout(root, chain.first().map(|(_, pom)| pom))?;
        let poms: Vec<Pom> = chain.iter().map(|(_, pom)| pom.clone()).collect();
        let own = poms.first();
        let mut modules = Vec::new();
        let mut seen: Vec<PathBuf> = chain.iter().map(|(path, _)| path.clone()).collect();
        if let Some(own) = own {
            find_modules(root, "", own, &mut modules, &mut seen, DEEPEST);
        }
        let dependencies = own.map_or(&[] as &[_], |own| &own.dependencies);
        let connectors = dependencies.iter().filter(|one| one.is_connector()).map(|one| Declared {
            group: pom::resolve(&poms, &one.group).unwrap_or_else(|| one.group.clone()),
            artifact: pom::resolve(&poms, &one.artifact).unwrap_or_else(|| one.artifact.clone()),
            version: pom::resolve(&poms, &one.version).unwrap_or_else(|| one.version.clone()),
        });
        // A folder that gains or loses a file is another folder.
        seen.extend(ARCHIVES.iter().map(|folder| root.join(folder)));
        seen.push(root.join("pom.xml"));
        Some(Self {
            layout,
            runtime: runtime(&chain),
            name: own.and_then(|own| own.artifact.clone()),
            modules,
            connectors: connectors.collect(),
            archives: archives(root),
            stamp: seen.into_iter().map(|path| (path.clone(), stamp(&path))).collect(),
            root: root.to_path_buf(),
        })
    }

    /// Reads the project that a path lies in.
    #[must_use]
    pub fn around(path: &Path) -> Option<Self> {
        disk::root_of(path).as_deref().and_then(Self::read)
    }

    /// Whether everything that was read is still the same.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.stamp.iter().all(|(path, before)| stamp(path) == *before)
    }

    /// The version of the runtime.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.runtime.as_ref().map(|runtime| runtime.version)
    }

    /// The modules with artifacts: where something can be written.
    pub fn parts(&self) -> impl Iterator<Item = &Module> {
        self.modules.iter().filter(|module| matches!(module.layout, Layout::New | Layout::Old))
    }
}

fn layout(root: &Path, pom: Option<&Pom>) -> Option<Layout> {
    if root.join("src/main/wso2mi").is_dir() {
        Some(Layout::New)
    } else if root.join("src/main/synapse-config").is_dir() {
        Some(Layout::Old)
    } else if pom.is_some_and(|pom| !pom.modules.is_empty()) {
        Some(Layout::Modules)
    } else if pom.is_some_and(|pom| pom.properties.contains_key(Statement::Property.property()))
        || disk::is_project(root)
    {
        Some(Layout::Bare)
    } else {
        None
    }
}

fn runtime(chain: &[(PathBuf, Pom)]) -> Option<Runtime> {
    let poms: Vec<Pom> = chain.iter().map(|(_, pom)| pom.clone()).collect();
    let (version, statement, at) = pom::runtime(&poms)?;
    let (file, _) = chain.get(at)?;
    Some(Runtime { version, file: file.clone(), statement })
}

fn find_modules(
    root: &Path,
    inside: &str,
    pom: &Pom,
    modules: &mut Vec<Module>,
    seen: &mut Vec<PathBuf>,
    deeper: usize,
) {
    for name in &pom.modules {
        let name = name.trim_end_matches("/pom.xml").trim_matches('/');
        let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
        // What lies elsewhere is not a part of this folder.
        let leads_out =
            Path::new(name).components().any(|one| !matches!(one, std::path::Component::Normal(_)));
        if leads_out || name.is_empty() || modules.len() >= MOST_MODULES {
            continue;
        }
        let folder = root.join(&path);
        let chain = disk::poms(&folder);
        seen.push(folder.join("pom.xml"));
        let own = chain.first().map(|(_, pom)| pom);
        let Some(layout) = layout(&folder, own).or(own.map(|_| Layout::Bare)) else { continue };
        modules.push(Module { path: path.clone(), layout, runtime: runtime(&chain) });
        if let (Some(own), Some(deeper)) = (own, deeper.checked_sub(1)) {
            find_modules(root, &path, own, modules, seen, deeper);
        }
    }
}

/// The archives in a project's folders for them, in order.
fn archives(root: &Path) -> Vec<PathBuf> {
    let entries = ARCHIVES.iter().filter_map(|folder| std::fs::read_dir(root.join(folder)).ok()).flatten();
    let files = entries.flatten().map(|entry| entry.path());
    let is_archive =
        |path: &PathBuf| path.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip")) && path.is_file();
    let mut files: Vec<PathBuf> = files.filter(is_archive).collect();
    files.sort();
    files
}

fn stamp(path: &Path) -> Stamp {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

#[cfg(test)]
mod tests;
