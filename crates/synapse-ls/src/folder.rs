//! The projects that are read, by their roots.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use synapse_lang::model::Version;
use synapse_lang::project::{Project, disk};

/// The number of a folder.
pub(crate) type FolderId = u32;

/// How deep below a workspace's folder projects are looked for.
const DEEPEST: usize = 3;

/// A project, shared with the worker.
///
/// The worker reads it file by file and lets go in between, so that an edit waits for the check of one file at most.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<RwLock<Project>>);

impl Shared {
    /// To look at it.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Project> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// To change it.
    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Project> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A project of the workspace.
pub(crate) struct Folder {
    /// Its root.
    pub(crate) root: PathBuf,
    /// Its files.
    pub(crate) project: Shared,
    /// Whether all of it is read; until then, nothing is said about other files.
    pub(crate) ready: bool,
}

/// The projects of the workspace.
#[derive(Default)]
pub(crate) struct Folders {
    all: BTreeMap<FolderId, Folder>,
    next: FolderId,
}

impl Folders {
    /// Takes in a project; answers its number when it is new.
    pub(crate) fn add(&mut self, root: PathBuf, runtime: Option<Version>) -> Option<FolderId> {
        if self.all.values().any(|folder| folder.root == root) {
            return None;
        }
        let id = self.next;
        self.next += 1;
        let project = Shared::default();
        project.write().set_runtime(runtime);
        self.all.insert(id, Folder { root, project, ready: false });
        Some(id)
    }

    /// Forgets the projects below a folder; answers their numbers.
    pub(crate) fn remove_below(&mut self, folder: &Path) -> Vec<FolderId> {
        let below = self.all.iter().filter(|(_, one)| one.root.starts_with(folder)).map(|(id, _)| *id);
        let below: Vec<FolderId> = below.collect();
        self.all.retain(|id, _| !below.contains(id));
        below
    }

    /// A project.
    pub(crate) fn get(&self, id: FolderId) -> Option<&Folder> {
        self.all.get(&id)
    }

    /// A project, to change it.
    pub(crate) fn get_mut(&mut self, id: FolderId) -> Option<&mut Folder> {
        self.all.get_mut(&id)
    }

    /// All projects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FolderId, &Folder)> {
        self.all.iter().map(|(id, folder)| (*id, folder))
    }

    /// The project that a file lies in, and its path there; of nested ones the innermost.
    pub(crate) fn locate(&self, path: &Path) -> Option<(FolderId, String)> {
        let inside = self.iter().filter(|(_, folder)| path.starts_with(&folder.root));
        let (id, folder) = inside.max_by_key(|(_, folder)| folder.root.components().count())?;
        Some((id, disk::relative(&folder.root, path)?))
    }
}

/// The projects of a workspace's folder: the one that it is or lies in, else those below it.
pub(crate) fn roots(folder: &Path) -> Vec<PathBuf> {
    if let Some(root) = disk::root_of(folder) {
        return vec![root];
    }
    let mut found = Vec::new();
    let mut pending = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = pending.pop() {
        if disk::is_project(&folder) {
            found.push(folder);
            continue;
        }
        if depth == DEEPEST {
            continue;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort();
    found
}
