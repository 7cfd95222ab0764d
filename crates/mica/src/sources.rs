//! The Synapse files that a command was pointed at, and the projects that they belong to.
//!
//! A folder that is a project is read as one; a file or folder inside a project is looked at with the whole project in
//! view. Everything else stands alone. Nothing is skipped in silence: what cannot be read is listed.

mod text;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::Diagnostic;
use synapse_lang::model::{Model, Version};
use synapse_lang::project::{File, Project, disk};
use synapse_lang::syntax::Document;

use crate::parallel;
pub use text::{decode, read};

/// A file that a command was pointed at.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its path as people see it: from where they are, with forward slashes.
    pub shown: String,
    /// Where it is, without links.
    pub file: PathBuf,
    /// Its project, and its path there.
    pub home: Option<(usize, String)>,
}

/// Files and projects.
#[derive(Default)]
pub struct Sources {
    /// The projects, read.
    pub projects: Vec<Project>,
    /// The files, each once.
    pub targets: Vec<Target>,
    /// What cannot be read, and why.
    pub unreadable: Vec<String>,
}

/// What a check of one file found.
pub struct Checked {
    /// Its path as people see it.
    pub shown: String,
    /// Its text.
    pub text: Arc<str>,
    /// What kind of artifact it is.
    pub kind: &'static str,
    /// What was found.
    pub found: Vec<Diagnostic>,
}

/// Whether projects are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// Files of a project are looked at with the project in view.
    Projects,
    /// The same, as long as the project lies in one of these folders; no other file is read. They have no links in them.
    Within(Vec<PathBuf>),
    /// Every file stands alone.
    Standalone,
}

impl View {
    /// The root of the project that a folder is in, as far as it may be seen.
    pub fn root_of(&self, folder: &Path) -> Option<PathBuf> {
        match self {
            Self::Standalone => None,
            Self::Projects => disk::root_of(folder),
            Self::Within(bounds) => {
                disk::root_of(folder).filter(|root| bounds.iter().any(|bound| root.starts_with(bound)))
            }
        }
    }
}

impl Sources {
    /// Finds the files of paths; the current folder when there are none.
    ///
    /// # Errors
    /// When a path does not exist or a folder cannot be read.
    pub fn find(paths: &[PathBuf], view: View) -> Result<Self> {
        let here = [PathBuf::from(".")];
        let mut gathering = Gathering { view, ..Gathering::default() };
        for path in if paths.is_empty() { &here } else { paths } {
            gathering.add(path)?;
        }
        gathering.finish()
    }

    /// The text of a file that has not been written yet, or not saved: one target, with its project in view.
    ///
    /// # Errors
    /// When its project cannot be read.
    pub fn unsaved(path: Option<&Path>, text: &str, view: &View) -> Result<(Self, Checkable)> {
        let mut sources = Self::default();
        let shown = path.map_or_else(|| "<stdin>".to_owned(), shown);
        let file = path.map(|path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
        let folder = file.as_deref().and_then(Path::parent).and_then(|folder| folder.canonicalize().ok());
        let file = match (folder, file.as_deref().and_then(Path::file_name)) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => PathBuf::from(&shown),
        };
        let root = file.parent().and_then(|folder| view.root_of(folder));
        let name = root.as_deref().and_then(|root| disk::relative(root, &file));
        let mut home = None;
        if let (Some(root), Some(name)) = (root, name.filter(|name| is_read(name))) {
            let (mut project, unreadable) = read_project(&root)?;
            sources.unreadable = unreadable;
            project.set(name.as_str(), text);
            sources.projects.push(project);
            home = Some((0, name));
        }
        sources.targets.push(Target { shown, file, home });
        Ok((sources, Checkable::Text(text.into())))
    }

    /// Decides the runtime of all projects.
    pub fn set_runtime(&mut self, runtime: Option<Version>) {
        if runtime.is_some() {
            for project in &mut self.projects {
                project.set_runtime(runtime);
            }
        }
    }

    /// Checks all files, or a text in the place of the one file there is.
    pub fn check(&self, runtime: Option<Version>, what: &Checkable) -> Vec<Result<Checked, String>> {
        parallel::map(&self.targets, |target| {
            let shown = target.shown.clone();
            if let Some((project, name)) = &target.home
                && let Some(project) = self.projects.get(*project)
                && let Some(file) = project.file(name)
            {
                let document = file.document();
                let found = project.check_file(name);
                return Ok(Checked { shown, text: document.shared_source(), kind: kind(document), found });
            }
            let text = match what {
                Checkable::Text(text) => Arc::clone(text),
                Checkable::Files => text::read(&target.file).map_err(|why| format!("{shown}: {why}"))?.text,
            };
            let document = Document::parse(text);
            let found = check::check(&document, Setting { runtime, ..Setting::default() });
            Ok(Checked { shown, text: document.shared_source(), kind: kind(&document), found })
        })
    }
}

/// What is checked.
pub enum Checkable {
    /// The files as they are.
    Files,
    /// A text.
    Text(Arc<str>),
}

fn kind(document: &Document) -> &'static str {
    synapse_lang::kind::of(document).map_or("unknown", synapse_lang::kind::ArtifactKind::word)
}

/// The runtime that was asked for.
///
/// # Errors
/// When it is not a version, or not one whose language is described.
pub fn runtime(text: Option<&str>) -> Result<Option<Version>> {
    let Some(text) = text else { return Ok(None) };
    let releases = Model::get().releases();
    let known = || {
        let names: Vec<String> =
            releases.iter().map(|one| format!("{}.{}", one.version.major, one.version.minor)).collect();
        format!("known are {}", names.join(", "))
    };
    let version: Version = text.parse().map_err(|error| anyhow!("--runtime: {error}; {}", known()))?;
    let described = |one: Version| (one.major, one.minor) == (version.major, version.minor);
    if !releases.iter().any(|release| described(release.version)) {
        bail!("--runtime: the language of {version} is not described; {}", known());
    }
    Ok(Some(version))
}

/// Files on their way to becoming targets.
struct Gathering {
    view: View,
    seen: HashSet<PathBuf>,
    /// The projects, in the order in which they were met.
    roots: Vec<PathBuf>,
    by_root: HashMap<PathBuf, usize>,
    sources: Sources,
    /// The root of the project that a folder is in.
    known_roots: HashMap<PathBuf, Option<PathBuf>>,
}

impl Default for Gathering {
    fn default() -> Self {
        Self {
            view: View::Projects,
            seen: HashSet::new(),
            roots: Vec::new(),
            by_root: HashMap::new(),
            sources: Sources::default(),
            known_roots: HashMap::new(),
        }
    }
}

impl Gathering {
    fn add(&mut self, path: &Path) -> Result<()> {
        let real = path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => anyhow!("{}: there is no such file or folder", path.display()),
            _ => anyhow!("{}: {error}", path.display()),
        })?;
        if !real.is_dir() {
            self.file(path, &real);
            return Ok(());
        }
        let mut found = Vec::new();
        disk::walk(&real, &mut found).with_context(|| format!("{}", path.display()))?;
        for file in found {
            let Some(inside) = disk::relative(&real, &file) else {
                self.sources.unreadable.push(format!("{}: its name is not UTF-8", file.display()));
                continue;
            };
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let synapse = (name.ends_with(".xml") || name.ends_with(".dbs")) && name != "pom.xml";
            // Resources of a project are data that mediators are handed; alone, nobody says that they are.
            let root = if synapse { self.root(&file) } else { None };
            let inside_project = root.and_then(|root| disk::relative(&root, &file));
            if synapse && inside_project.is_none_or(|inside| is_read(&inside)) {
                self.file(&path.join(inside), &file);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, real: &Path) {
        if !self.seen.insert(real.to_path_buf()) {
            return;
        }
        let home = self.root(real).and_then(|root| {
            let inside = disk::relative(&root, real).filter(|inside| is_read(inside))?;
            let roots = &mut self.roots;
            let at = *self.by_root.entry(root.clone()).or_insert_with(|| {
                roots.push(root);
                roots.len() - 1
            });
            Some((at, inside))
        });
        self.sources.targets.push(Target { shown: shown(path), file: real.to_path_buf(), home });
    }

    fn root(&mut self, file: &Path) -> Option<PathBuf> {
        let folder = file.parent()?;
        if let Some(known) = self.known_roots.get(folder) {
            return known.clone();
        }
        let root = self.view.root_of(folder);
        self.known_roots.insert(folder.to_path_buf(), root.clone());
        root
    }

    fn finish(mut self) -> Result<Sources> {
        for root in &self.roots {
            let (project, unreadable) = read_project(root)?;
            self.sources.projects.push(project);
            self.sources.unreadable.extend(unreadable);
        }
        // What the project could not read is named once, and not checked.
        let projects = &self.sources.projects;
        self.sources.targets.retain(|target| match &target.home {
            Some((at, name)) => projects.get(*at).is_some_and(|project| project.file(name).is_some()),
            None => true,
        });
        Ok(self.sources)
    }
}

/// Whether a project reads this file as Synapse.
fn is_read(inside: &str) -> bool {
    let name = inside.rsplit('/').next().unwrap_or_default();
    disk::matters(inside) && name != "pom.xml" && name != "config.properties"
}

/// Reads a project, many files at once. The second answer is what could not be read.
///
/// # Errors
/// When the folder cannot be read.
pub fn read_project(root: &Path) -> Result<(Project, Vec<String>)> {
    let mut found = Vec::new();
    disk::walk(root, &mut found).with_context(|| format!("{}", root.display()))?;
    let named: Vec<(String, PathBuf)> =
        found.into_iter().filter_map(|path| Some((disk::relative(root, &path)?, path))).collect();
    enum Read {
        Artifact(Box<File>),
        Other(Arc<str>),
        Mentioned,
        Not(String),
    }
    let read = parallel::map(&named, |(name, path)| {
        if !disk::matters(name) {
            return Read::Mentioned;
        }
        match text::read(path) {
            Ok(text) if is_read(name) => Read::Artifact(Box::new(File::read(text.text))),
            Ok(text) => Read::Other(text.text),
            Err(why) => Read::Not(format!("{}: {why}", shown(path))),
        }
    });
    let mut project = Project::default();
    project.set_inherited_runtime(disk::inherited_runtime(root));
    project.set_connectors(pack_mi::connectors::in_project(root));
    let mut unreadable = Vec::new();
    for ((name, _), read) in named.into_iter().zip(read) {
        match read {
            Read::Artifact(file) => project.set_file(name, *file),
            Read::Other(text) => project.set(name, text),
            Read::Mentioned => project.mention(name),
            Read::Not(why) => {
                project.mention(name);
                unreadable.push(why);
            }
        }
    }
    Ok((project, unreadable))
}

/// A path for people: forward slashes, and no `./` before it.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut rest = text.as_str();
    while let Some(inner) = rest.strip_prefix("./") {
        rest = inner.trim_start_matches('/');
    }
    if rest.is_empty() { ".".to_owned() } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_people_type_them() {
        for (path, expect) in
            [("./a/b.xml", "a/b.xml"), (".", "."), ("/a/b", "/a/b"), ("../a", "../a"), ("././a", "a")]
        {
            assert_eq!(shown(Path::new(path)), expect, "{path}");
        }
    }

    #[test]
    fn runtimes_are_those_that_are_described() {
        assert_eq!(runtime(None).unwrap(), None);
        assert_eq!(runtime(Some("4.3")).unwrap(), Some(Version::new(4, 3, 0)));
        assert_eq!(runtime(Some("4.4.0")).unwrap(), Some(Version::new(4, 4, 0)));
        let error = runtime(Some("9.9")).unwrap_err().to_string();
        assert!(
            error.starts_with("--runtime: the language of 9.9.0 is not described; known are 4.1, "),
            "{error}"
        );
        let error = runtime(Some("new")).unwrap_err().to_string();
        assert!(error.starts_with("--runtime: \"new\" is not a version"), "{error}");
    }
}
