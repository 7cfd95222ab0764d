//! The files of a project, and what they say about each other.
//!
//! Callers hand in texts and paths, one by one or from a folder ([`disk`]); afterwards every file can be checked with
//! the others in view. Setting one file again costs what reading that file costs, whatever the size of the project.

mod calls;
pub mod disk;
mod facts;
mod graph;
mod index;
pub mod pom;
mod resources;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

pub(crate) use calls::{Call, body as body_of, calls as calls_of};
pub use facts::Facts;
pub(crate) use graph::{Circle, Graph, Node};
pub use index::{Definition, Item, Parameter, Reference};
pub(crate) use index::{
    definitions as definitions_of, parameter as parameter_of, references as references_of,
};
pub(crate) use resources::FOLDER as RESOURCES;
pub use resources::Resource;

use crate::check::follow::Summaries;
use crate::check::{self, Setting};
use crate::diagnostic::Diagnostic;
use crate::model::{RefKind, Version};
use crate::syntax::Document;

/// A file of a project that is read.
pub struct File {
    document: Document,
    definitions: Vec<Definition>,
    references: Vec<Reference>,
    items: Vec<Item>,
    calls: Vec<Call>,
    writes: Vec<String>,
    is_opaque: bool,
    dynamic: Vec<RefKind>,
}

impl File {
    /// Reads a text. This is the costly part of taking a file in, and needs no project: many can be read at once.
    #[must_use]
    pub fn read(text: impl Into<Arc<str>>) -> Self {
        let document = Document::parse(text);
        let index::Indexed { definitions, references, items, writes, calls, dynamic } =
            index::index(&document);
        let (writes, is_opaque) = (writes.names, writes.is_opaque);
        Self { document, definitions, references, items, calls, writes, is_opaque, dynamic }
    }

    /// Whether another text of the file defines, names and does the same, as far as other files can tell. Places may
    /// differ.
    fn says_the_same_as(&self, other: &Self) -> bool {
        let parameters = |one: &Definition| -> Vec<(String, bool)> {
            one.parameters.iter().map(|one| (one.name.clone(), one.mandatory)).collect()
        };
        let defines = self.definitions.len() == other.definitions.len()
            && self.definitions.iter().zip(&other.definitions).all(|(one, two)| {
                (one.kind, &one.name, &one.context) == (two.kind, &two.name, &two.context)
                    && parameters(one) == parameters(two)
            });
        let names = self.references.len() == other.references.len()
            && self
                .references
                .iter()
                .zip(&other.references)
                .all(|(one, two)| (one.kind, &one.name) == (two.kind, &two.name));
        defines
            && names
            && self.runs_the_same_as(other)
            && self.items.len() == other.items.len()
            && self.items.iter().zip(&other.items).all(|(one, two)| {
                (&one.file, &one.path, one.is_folder) == (&two.file, &two.path, two.is_folder)
            })
            && (&self.writes, self.is_opaque, &self.dynamic)
                == (&other.writes, other.is_opaque, &other.dynamic)
    }

    /// Whether another text of the file adds the same to the graph of calls.
    fn runs_the_same_as(&self, other: &Self) -> bool {
        let nodes = |one: &Self| -> Vec<(RefKind, String)> {
            let nodes = one.definitions.iter().filter(|one| graph::is_node(one.kind));
            nodes.map(|one| (one.kind, one.name.clone())).collect()
        };
        self.calls.len() == other.calls.len()
            && self.calls.iter().zip(&other.calls).all(|(one, two)| one.is_like(two))
            && nodes(self) == nodes(other)
    }

    /// Whether it adds anything to the graph of calls. What makes no node makes no calls.
    fn runs_anything(&self) -> bool {
        self.definitions.iter().any(|one| graph::is_node(one.kind))
    }

    /// What its sequences, templates and endpoints run.
    pub(crate) fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Its text as a tree.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// What it defines.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// What it names.
    #[must_use]
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// What it puts into the registry, for descriptors of resources.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }
}

/// The files of a project by their paths, relative to its root and with forward slashes.
#[derive(Default)]
pub struct Project {
    files: BTreeMap<Arc<str>, File>,
    others: BTreeSet<String>,
    poms: BTreeMap<String, Facts>,
    configs: BTreeMap<String, BTreeSet<String>>,
    defined: HashMap<(RefKind, String), BTreeSet<Arc<str>>>,
    named: HashMap<(RefKind, String), BTreeSet<Arc<str>>>,
    contexts: HashMap<String, BTreeSet<Arc<str>>>,
    written: HashMap<String, usize>,
    opaque: usize,
    dynamic: HashMap<RefKind, usize>,
    runtime: Option<Version>,
    inherited: Option<Version>,
    /// Connectors all of whose operations are known, by their prefix.
    connectors: BTreeMap<String, BTreeSet<String>>,
    /// Who runs whom, and what is known about each; made when it is asked for.
    followed: OnceLock<Summaries>,
    /// How often something was changed, and how often a file was changed in what only itself can see.
    changes: u64,
    inner: HashMap<Arc<str>, u64>,
}

impl Project {
    /// A number that changes with everything that a check of that file can see of the others, and stays the same when the
    /// file itself changes in nothing that others could name.
    #[must_use]
    pub fn stamp(&self, path: &str) -> u64 {
        self.changes - self.inner.get(path).copied().unwrap_or_default()
    }

    /// Takes in a file, or its new text.
    pub fn set(&mut self, path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) {
        let (path, text) = (path.into(), text.into());
        let name = path.rsplit('/').next().unwrap_or_default();
        if name != "pom.xml" && self.files.contains_key(&path) {
            self.set_file(path, File::read(text));
            return;
        }
        self.remove(&path);
        if name == "config.properties" {
            self.configs.insert(path.to_string(), facts::config_keys(&text));
        } else if name.ends_with(".xml") || name.ends_with(".dbs") {
            if name == "pom.xml" {
                self.poms.insert(path.to_string(), facts::pom(&text));
            }
            self.insert(path, File::read(text));
        } else {
            self.others.insert(path.to_string());
        }
    }

    /// Takes in a file that was read before. Its name is not looked at: it is an artifact.
    pub fn set_file(&mut self, path: impl Into<Arc<str>>, file: File) {
        let path = path.into();
        // The graph stays as long as nobody runs anything else.
        let same = self.files.get(&path).is_some_and(|before| before.runs_the_same_as(&file));
        let mut followed = OnceLock::new();
        if same {
            followed = std::mem::take(&mut self.followed);
        }
        if let Some(followed) = followed.get_mut() {
            followed.forget(&file.definitions);
        }
        if let Some(before) = self.files.get_mut(&path).filter(|before| before.says_the_same_as(&file)) {
            *before = file;
            self.changes += 1;
            *self.inner.entry(path).or_default() += 1;
        } else {
            self.remove(&path);
            self.insert(path, file);
        }
        if same {
            self.followed = followed;
        }
    }

    fn insert(&mut self, path: Arc<str>, file: File) {
        self.changes += 1;
        if file.runs_anything() {
            self.followed.take();
        }
        for one in &file.definitions {
            self.defined.entry((one.kind, one.name.clone())).or_default().insert(path.clone());
            if let Some(context) = &one.context {
                self.contexts.entry(context.clone()).or_default().insert(path.clone());
            }
        }
        for one in &file.references {
            self.named.entry((one.kind, one.name.clone())).or_default().insert(path.clone());
        }
        for name in &file.writes {
            *self.written.entry(name.clone()).or_default() += 1;
        }
        self.opaque += usize::from(file.is_opaque);
        for kind in &file.dynamic {
            *self.dynamic.entry(*kind).or_default() += 1;
        }
        self.files.insert(path, file);
    }

    /// Notes that a file exists, without its text.
    pub fn mention(&mut self, path: impl Into<String>) {
        self.changes += 1;
        self.others.insert(path.into());
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &str) {
        self.changes += 1;
        self.others.remove(path);
        self.poms.remove(path);
        self.configs.remove(path);
        let Some(file) = self.files.remove(path) else { return };
        if file.runs_anything() {
            self.followed.take();
        }
        for one in file.definitions {
            forget(&mut self.defined, &(one.kind, one.name), path);
            if let Some(context) = one.context {
                forget(&mut self.contexts, &context, path);
            }
        }
        for name in file.writes {
            if let Some(count) = self.written.get_mut(&name) {
                *count -= 1;
                if *count == 0 {
                    self.written.remove(&name);
                }
            }
        }
        self.opaque -= usize::from(file.is_opaque);
        for kind in file.dynamic {
            if let Some(count) = self.dynamic.get_mut(&kind) {
                *count -= 1;
            }
        }
        for one in file.references {
            forget(&mut self.named, &(one.kind, one.name), path);
        }
    }

    /// The files that are read, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_ref(), file))
    }

    /// A file that is read.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Whether there is a file of that path, read or not.
    #[must_use]
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.others.contains(path) || self.poms.contains_key(path)
    }

    /// The paths of all files that are not read as Synapse: resources, code, archives.
    pub fn other_files(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(String::as_str)
    }

    /// The runtime: the one that was decided, else what the project says, when it does, else what it inherits.
    #[must_use]
    pub fn runtime(&self) -> Option<Version> {
        // What the project itself says counts before what a module below it says.
        let own = || self.poms.get("pom.xml").and_then(|facts| facts.runtime);
        let any = || self.poms.values().find_map(|facts| facts.runtime);
        self.runtime.or_else(own).or_else(any).or(self.inherited)
    }

    /// Notes the runtime that a build file above the project says, which counts when the project itself says none.
    pub fn set_inherited_runtime(&mut self, runtime: Option<Version>) {
        if self.inherited != runtime {
            self.changes += 1;
            self.inherited = runtime;
        }
    }

    /// Notes connectors all of whose operations are known: by their prefix, the names without it. Operations that they
    /// do not have are reported.
    pub fn set_connectors(&mut self, connectors: BTreeMap<String, BTreeSet<String>>) {
        if self.connectors != connectors {
            self.changes += 1;
            self.connectors = connectors;
        }
    }

    /// The operations of a connector, when all of them are known.
    #[must_use]
    pub fn connector_operations(&self, prefix: &str) -> Option<&BTreeSet<String>> {
        self.connectors.get(prefix)
    }

    /// Decides the runtime, whatever the project says.
    pub const fn set_runtime(&mut self, runtime: Option<Version>) {
        self.changes += 1;
        self.runtime = runtime;
    }

    /// What the build files say, by path.
    pub fn poms(&self) -> impl Iterator<Item = (&str, &Facts)> {
        self.poms.iter().map(|(path, facts)| (path.as_str(), facts))
    }

    /// Whether a configurable of that name is declared; nothing when the project declares none at all.
    #[must_use]
    pub fn declares_config(&self, name: &str) -> Option<bool> {
        if self.configs.is_empty() {
            None
        } else {
            Some(self.configs.values().any(|keys| keys.contains(name)))
        }
    }

    /// The names of declared configurables.
    pub fn config_names(&self) -> impl Iterator<Item = &str> {
        self.configs.values().flatten().map(String::as_str)
    }

    /// Who runs whom, and what is known about each.
    pub(crate) fn followed(&self) -> &Summaries {
        self.followed.get_or_init(|| Summaries::new(self.graph_with(None)))
    }

    /// The graph of its calls, with another state of one file in the place of its own.
    pub(crate) fn graph_with(&self, other: Option<graph::Part<'_>>) -> Graph {
        let replaced = other.map(|(path, ..)| path.as_ref());
        let files = self.files.iter().filter(|(path, _)| Some(path.as_ref()) != replaced);
        Graph::of(
            files.map(|(path, file)| (path, file.definitions.as_slice(), file.calls.as_slice())).chain(other),
        )
    }

    /// Everything of that kind and name, with the path of its file.
    pub fn definitions<'p>(
        &'p self,
        kind: RefKind,
        name: &str,
    ) -> impl Iterator<Item = (&'p str, &'p Definition)> {
        let name = name.to_owned();
        let paths = self.defined.get(&(kind, name.clone())).into_iter().flatten();
        paths.filter_map(|path| Some((path.as_ref(), self.files.get(path)?))).flat_map(move |(path, file)| {
            let name = name.clone();
            let same = move |one: &&Definition| one.kind == kind && one.name == name;
            file.definitions.iter().filter(same).map(move |one| (path, one))
        })
    }

    /// Every place that names something of that kind and name, with the path of its file.
    pub fn references<'p>(
        &'p self,
        kind: RefKind,
        name: &str,
    ) -> impl Iterator<Item = (&'p str, &'p Reference)> {
        let name = name.to_owned();
        let paths = self.named.get(&(kind, name.clone())).into_iter().flatten();
        paths.filter_map(|path| Some((path.as_ref(), self.files.get(path)?))).flat_map(move |(path, file)| {
            let name = name.clone();
            let same = move |one: &&Reference| one.kind == kind && one.name == name;
            file.references.iter().filter(same).map(move |one| (path, one))
        })
    }

    /// The names of everything of a kind.
    pub fn names(&self, kind: RefKind) -> impl Iterator<Item = &str> {
        self.defined.keys().filter(move |(of, _)| *of == kind).map(|(_, name)| name.as_str())
    }

    /// The paths of the files with an API under that context.
    pub fn contexts(&self, context: &str) -> impl Iterator<Item = &str> {
        self.contexts.get(context).into_iter().flatten().map(AsRef::as_ref)
    }

    /// The variables that some step of the project sets.
    pub fn written_variables(&self) -> impl Iterator<Item = &str> {
        self.written.keys().map(String::as_str)
    }

    /// Whether some step of the project sets that variable.
    #[must_use]
    pub fn writes_variable(&self, name: &str) -> bool {
        self.written.contains_key(name)
    }

    /// Whether steps exist that may set any variable: code, and connectors that do not say.
    #[must_use]
    pub const fn has_opaque_steps(&self) -> bool {
        self.opaque > 0
    }

    /// Whether some things of that kind are named by values which only the runtime knows.
    #[must_use]
    pub fn names_by_expression(&self, kind: RefKind) -> bool {
        self.dynamic.get(&kind).is_some_and(|count| *count > 0)
    }

    /// Whether everything that its artifacts name must be in it: it has the layout and the build file of a project,
    /// and depends on no other.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let whole = self.has_artifacts();
        let alone = self.poms.iter().any(|(path, _)| path == "pom.xml")
            && self.poms.values().all(|facts| !facts.has_foreign_artifacts);
        whole && alone
    }

    /// Whether it has artifacts in the layout of an integration project.
    pub(crate) fn has_artifacts(&self) -> bool {
        let folder = "src/main/wso2mi/artifacts/";
        let after = self.files.range::<str, _>((Bound::Included(folder), Bound::Unbounded)).next();
        after.is_some_and(|(path, _)| path.starts_with(folder))
    }

    /// Checks one of its files; nothing is found in a file that it does not have.
    #[must_use]
    pub fn check_file(&self, path: &str) -> Vec<Diagnostic> {
        let Some(file) = self.files.get(path) else { return Vec::new() };
        check::check(
            &file.document,
            Setting { path: Some(path), runtime: self.runtime(), project: Some(self) },
        )
    }
}

fn forget<K: Eq + Hash>(map: &mut HashMap<K, BTreeSet<Arc<str>>>, key: &K, path: &str) {
    if let Some(paths) = map.get_mut(key) {
        paths.remove(path);
        if paths.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests;
