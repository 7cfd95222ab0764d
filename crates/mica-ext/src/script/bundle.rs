//! What an extension consists of, read once: later nothing of the disk is looked at any more, so what was trusted is what
//! runs.
//!
//! A file `name.ts` (`.mts`, `.js`, `.mjs`) is an extension of its own and imports nothing from beside it; a folder with
//! `index.ts` is one whose files import each other. Links are not followed, neither of folders nor of files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mica_script::Resolver;
use mica_script::modules::{Found, beside};

use super::manifest::Manifest;

/// Endings of files that are read.
const ENDINGS: [&str; 4] = ["ts", "mts", "js", "mjs"];

/// The file of a folder that describes it.
const MANIFEST: &str = "extension.json";

/// Files of one extension.
const FILES: usize = 200;

/// Bytes of one file.
const BYTES: u64 = 1 << 20;

/// Folders within folders.
const DEEPEST: usize = 6;

/// Modules that every extension can import, by the names they are imported as.
const GIVEN: [(&str, &str); 3] = [
    ("mica", include_str!("mica.js")),
    // The same calls under the name that schemas are usually made with.
    ("@sinclair/typebox", include_str!("mica.js")),
    ("typebox", include_str!("mica.js")),
];

/// Why something on the disk is no extension.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct BundleError {
    /// What was read.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub reason: String,
}

/// How an extension lies on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    File,
    Folder,
}

/// The files of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    name: String,
    path: PathBuf,
    main: String,
    manifest: Manifest,
    form: Form,
    /// By their path below the folder, with slashes.
    files: BTreeMap<String, String>,
}

impl Bundle {
    /// Reads an extension: a file, or a folder.
    ///
    /// # Errors
    /// [`BundleError`] says what to do.
    pub fn read(path: &Path) -> Result<Self, BundleError> {
        let wrong = |reason: String| BundleError { path: path.to_owned(), reason };
        let kind = fs::symlink_metadata(path).map_err(|error| wrong(error.to_string()))?.file_type();
        if kind.is_symlink() {
            return Err(wrong("is a link; extensions are files and folders themselves".to_owned()));
        }
        let stem = if kind.is_dir() { path.file_name() } else { path.file_stem() };
        let name = stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        // `guardrails.extension.ts` is called `guardrails`.
        let name = name.strip_suffix(".extension").unwrap_or(&name).to_owned();
        if kind.is_dir() { Self::folder(path, name) } else { Self::file(path, name) }
    }

    /// An extension of one file, from memory.
    ///
    /// # Errors
    /// [`BundleError`] for a manifest that cannot be read.
    pub fn of_source(name: &str, source: &str) -> Result<Self, BundleError> {
        let path = PathBuf::from(format!("{name}.ts"));
        Self::made(
            &path,
            name.to_owned(),
            Form::File,
            format!("{name}.ts"),
            BTreeMap::from([(format!("{name}.ts"), source.to_owned())]),
        )
    }

    fn file(path: &Path, name: String) -> Result<Self, BundleError> {
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        if !is_source(path) {
            let reason = format!("is no script: its name must end in .{}", ENDINGS.join(", ."));
            return Err(BundleError { path: path.to_owned(), reason });
        }
        let source = text(path)?;
        Self::made(path, name, Form::File, file.clone(), BTreeMap::from([(file, source)]))
    }

    fn folder(path: &Path, name: String) -> Result<Self, BundleError> {
        let mut files = BTreeMap::new();
        gather(path, path, 0, &mut files)?;
        let main =
            ENDINGS.map(|ending| format!("index.{ending}")).into_iter().find(|main| files.contains_key(main));
        let Some(main) = main else {
            let reason = "is no extension: a folder needs an index.ts".to_owned();
            return Err(BundleError { path: path.to_owned(), reason });
        };
        Self::made(path, name, Form::Folder, main, files)
    }

    fn made(
        path: &Path,
        name: String,
        form: Form,
        main: String,
        files: BTreeMap<String, String>,
    ) -> Result<Self, BundleError> {
        let wrong = |reason: String| BundleError { path: path.to_owned(), reason };
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(wrong("has no name that could be shown".to_owned()));
        }
        let beside = files.get(MANIFEST).map(|json| Manifest::parse(json)).transpose().map_err(wrong)?;
        let inside =
            files.get(&main).map(|source| Manifest::of_source(source)).transpose().map_err(wrong)?.flatten();
        let manifest = match (beside, inside) {
            (Some(_), Some(_)) => {
                return Err(wrong(format!("has two manifests: keep {MANIFEST} or the comment in {main}")));
            }
            (one, other) => one.or(other).unwrap_or_default(),
        };
        Ok(Self { name, path: path.to_owned(), form, main, manifest, files })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file or folder it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its files with their names, those of a folder below the folder's: what a digest of it is made of. A file is never
    /// taken for a folder that reads like it.
    pub fn files(&self) -> impl Iterator<Item = (String, &str)> {
        let folder =
            self.path.file_name().filter(|_| self.form == Form::Folder).map(|name| name.to_string_lossy());
        self.files.iter().map(move |(name, source)| {
            let name = folder.as_ref().map_or_else(|| name.clone(), |folder| format!("{folder}/{name}"));
            (name, source.as_str())
        })
    }

    /// All of it as one text, in a fixed order: what a person reads before they trust it.
    pub fn text(&self) -> String {
        match self.files.iter().next() {
            Some((_, source)) if self.form == Form::File => source.clone(),
            _ => self
                .files
                .iter()
                .map(|(name, source)| format!("// ==== {name} ({} bytes)\n{source}\n", source.len()))
                .collect(),
        }
    }

    pub(super) fn main(&self) -> &str {
        &self.main
    }

    /// What finds its modules.
    pub(super) fn resolver(&self) -> impl Resolver + use<> {
        Files(self.files.clone())
    }
}

fn is_source(path: &Path) -> bool {
    let name = path.to_string_lossy();
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one))
        && !name.ends_with(".d.ts")
}

fn text(path: &Path) -> Result<String, BundleError> {
    let wrong = |reason: String| BundleError { path: path.to_owned(), reason };
    let facts = fs::symlink_metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !facts.is_file() {
        return Err(wrong("is no regular file".to_owned()));
    }
    if facts.len() > BYTES {
        return Err(wrong(format!("has {} bytes, more than {BYTES}", facts.len())));
    }
    fs::read_to_string(path).map_err(|error| wrong(error.to_string()))
}

fn gather(
    root: &Path,
    folder: &Path,
    depth: usize,
    files: &mut BTreeMap<String, String>,
) -> Result<(), BundleError> {
    let wrong = |reason: String| BundleError { path: folder.to_owned(), reason };
    for entry in fs::read_dir(folder).map_err(|error| wrong(error.to_string()))? {
        let entry = entry.map_err(|error| wrong(error.to_string()))?;
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(|error| wrong(error.to_string()))?;
        if name.to_string_lossy().starts_with('.') || name == "node_modules" {
            continue;
        }
        if kind.is_dir() {
            if depth == DEEPEST {
                return Err(BundleError { path, reason: format!("is nested deeper than {DEEPEST} folders") });
            }
            gather(root, &path, depth + 1, files)?;
        } else if kind.is_file() && (is_source(&path) || (depth == 0 && name == MANIFEST)) {
            if files.len() == FILES {
                return Err(wrong(format!("has more than {FILES} files")));
            }
            let below = path.strip_prefix(root).unwrap_or(&path);
            if name.to_string_lossy().chars().any(char::is_control) {
                return Err(BundleError { path, reason: "has a name that cannot be shown".to_owned() });
            }
            let steps: Vec<String> = below.iter().map(|step| step.to_string_lossy().into_owned()).collect();
            files.insert(steps.join("/"), text(&path)?);
        }
    }
    Ok(())
}

/// Finds the modules of a bundle.
struct Files(BTreeMap<String, String>);

impl Resolver for Files {
    fn resolve(&mut self, from: &str, import: &str) -> Option<Found> {
        if let Some((name, source)) = GIVEN.iter().find(|(name, _)| *name == import) {
            return Some(Found { name: format!("{name}.js"), source: (*source).to_owned() });
        }
        let path = if import.starts_with("./") || import.starts_with("../") {
            beside(from, import)?
        } else if !from.contains('/') && self.0.contains_key(import) && from == RESIDENT {
            import.to_owned()
        } else {
            return None;
        };
        let stem = path.strip_suffix(".js").or_else(|| path.strip_suffix(".mjs")).unwrap_or(&path);
        let candidates = [
            path.clone(),
            format!("{stem}.ts"),
            format!("{stem}.mts"),
            format!("{path}.js"),
            format!("{path}.mjs"),
            format!("{path}/index.ts"),
            format!("{path}/index.js"),
        ];
        let name = candidates.into_iter().find(|name| name != MANIFEST && self.0.contains_key(name))?;
        let source = self.0.get(&name)?.clone();
        Some(Found { name, source })
    }
}

/// The name under which the code around a script imports it.
const RESIDENT: &str = "resident.js";

#[cfg(test)]
mod tests;
