//! The boundary: everything a command may touch, as data. Nothing here is enforced; `stub` does that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::SandboxError;
use crate::network::Host;
use crate::places::Places;

/// What a command may touch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Boundary {
    /// Folders and files that can be read, with what is below them.
    pub readable: Vec<PathBuf>,
    /// Folders and files that can be read and written, with what is below them.
    pub writable: Vec<PathBuf>,
    /// Inside writable folders, and not writable.
    pub frozen: Vec<PathBuf>,
    /// Of those, the folders that are held by an empty one while they are missing.
    pub held: Vec<PathBuf>,
    /// Not readable, wherever they are.
    pub hidden: Vec<PathBuf>,
    /// Folders everybody shares. They are empty and private where there are mounts, out of reach where there are none;
    /// roots inside them stay what they are.
    pub shared: Vec<PathBuf>,
    /// Where a private folder for temporary files is made where there are no mounts.
    pub temporary: PathBuf,
    /// What can be reached.
    pub network: Network,
    /// Sockets with names in the file system.
    pub unix_sockets: UnixSockets,
    /// The whole environment of the command, apart from what the sandbox itself sets (`TMPDIR`, the proxy).
    #[serde(skip)]
    pub environment: BTreeMap<String, String>,
    /// What it may use.
    pub limits: Limits,
}

/// What a command can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing. With namespaces, there is a loopback of its own.
    Off,
    /// Some hosts, through a proxy that the environment names.
    Hosts {
        /// Which.
        hosts: Vec<Host>,
        /// What to do where the kernel can only check ports.
        weak: Weak,
    },
    /// Everything.
    Open,
}

/// Landlock alone knows ports and no addresses: a program that ignores the proxy reaches any host on the proxy's port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weak {
    /// Then nothing is granted.
    #[default]
    Refuse,
    /// Then that is good enough.
    Accept,
}

/// Sockets with names: what listens behind one is outside, and may be a door (container engines, key agents).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnixSockets {
    /// Only pairs, which have no name and reach nobody else.
    #[default]
    Pairs,
    /// All that the file permissions allow.
    All,
}

/// What a command may use. `None` is as much as the system gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processor seconds of one process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of private memory of one process.
    pub memory: Option<u64>,
    /// Bytes of memory of all its processes together, where there are control groups. `None` is four fifths of the
    /// machine's.
    pub total_memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u64>,
    /// Bytes of one file.
    pub file_size: Option<u64>,
    /// Open files of one process.
    pub open_files: Option<u64>,
    /// Bytes in each private folder for temporary files.
    pub temporary: Option<u64>,
    /// Time by the clock on the wall.
    pub wall: Option<Duration>,
    /// How long a command has to end when it is asked to, before it is made to.
    pub grace: Duration,
}

impl Default for Limits {
    /// Enough for a large build, and an end for everything that runs away.
    fn default() -> Self {
        const GIB: u64 = 1 << 30;
        Self {
            cpu_seconds: Some(3600),
            memory: Some(8 * GIB),
            total_memory: None,
            processes: Some(2048),
            file_size: Some(4 * GIB),
            open_files: Some(8192),
            temporary: Some(2 * GIB),
            wall: Some(Duration::from_secs(600)),
            grace: Duration::from_secs(2),
        }
    }
}

/// What the caller knows of the machine. Libraries do not look for themselves.
#[derive(Debug, Clone)]
pub struct Around<'a> {
    /// The home folder.
    pub home: Option<&'a Path>,
    /// The environment that is cleaned.
    pub environment: &'a BTreeMap<String, String>,
    /// The system's folder for temporary files.
    pub temporary: &'a Path,
}

impl Boundary {
    /// The boundary for work in a project: the project is writable, the rest is readable, secrets are not, and there is
    /// no network.
    ///
    /// # Errors
    /// When the project is no folder, or is inside a secret place.
    pub fn project(project: &Path, around: &Around<'_>, places: &Places) -> Result<Self, SandboxError> {
        let mut boundary = Self::reading(around, places);
        boundary.write(project, places)?;
        Ok(boundary)
    }

    /// The boundary for looking around: nothing is writable, the rest is as for work in a project. It says nothing of what
    /// is on the disk, so it can be kept.
    pub fn reading(around: &Around<'_>, places: &Places) -> Self {
        Self {
            readable: vec![PathBuf::from("/")],
            writable: Vec::new(),
            frozen: Vec::new(),
            held: Vec::new(),
            hidden: places.secrets(around.home),
            shared: places.shared.clone(),
            temporary: around.temporary.to_owned(),
            network: Network::Off,
            unix_sockets: UnixSockets::Pairs,
            environment: places.clean(around.environment),
            limits: Limits::default(),
        }
    }

    /// No boundary at all, for programs that a person set up and that need what a person has. They still end when
    /// they are told to.
    pub fn open(environment: BTreeMap<String, String>, temporary: &Path) -> Self {
        Self {
            readable: vec![PathBuf::from("/")],
            writable: vec![PathBuf::from("/")],
            frozen: Vec::new(),
            held: Vec::new(),
            hidden: Vec::new(),
            shared: Vec::new(),
            temporary: temporary.to_owned(),
            network: Network::Open,
            unix_sockets: UnixSockets::All,
            environment,
            limits: Limits {
                cpu_seconds: None,
                memory: None,
                processes: None,
                file_size: None,
                open_files: None,
                ..Limits::default()
            },
        }
    }

    /// Makes one more folder or file writable, apart from what in it must not change.
    ///
    /// # Errors
    /// When it does not exist, or is inside a secret place.
    pub fn write(&mut self, root: &Path, places: &Places) -> Result<(), SandboxError> {
        let bad = |reason: String| SandboxError::Path { path: root.to_owned(), reason };
        let root = root.canonicalize().map_err(|error| bad(error.to_string()))?;
        if let Some(secret) = self.hidden.iter().find(|secret| root.starts_with(secret)) {
            return Err(bad(format!("it is inside {}, which holds secrets", secret.display())));
        }
        if root == Path::new("/") {
            return Err(bad("everything cannot be writable; name a folder".to_owned()));
        }
        for name in &places.frozen {
            let path = root.join(name.trim_end_matches('/'));
            if places.held.contains(name) {
                self.held.push(path.clone());
            }
            self.frozen.push(path);
        }
        if let Some(git) = linked_git(&root) {
            for folder in git {
                let frozen = ["hooks", "config", "config.worktree", "info/attributes"];
                self.frozen.extend(frozen.iter().map(|name| folder.join(name)));
                self.writable.push(folder);
            }
            // The link itself names the folder whose hooks run.
            self.frozen.push(root.join(".git"));
        }
        self.writable.push(root);
        Ok(())
    }

    /// The same with nothing writable but the private folder for temporary files.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.readable.append(&mut self.writable);
        self.frozen.clear();
        self.held.clear();
        self
    }

    /// Whether the boundary lets a path be written: what decides between "the sandbox" and "the file system" when a
    /// command says that something was denied.
    pub fn may_write(&self, path: &Path) -> bool {
        self.may_read(path)
            && self.writable.iter().any(|root| path.starts_with(root))
            && !self.frozen.iter().any(|frozen| path.starts_with(frozen))
    }

    /// Whether the boundary lets a path be read.
    pub fn may_read(&self, path: &Path) -> bool {
        // A root inside a shared folder counts, although everything around it does not.
        let shared = self.shared.iter().find(|shared| path.starts_with(shared));
        let mut roots = self.readable.iter().chain(&self.writable).filter(|root| path.starts_with(root));
        let inside = match shared {
            Some(shared) => roots.any(|root| root.starts_with(shared)),
            None => roots.next().is_some(),
        };
        inside && !self.hidden.iter().any(|hidden| path.starts_with(hidden))
    }
}

/// Where a linked work tree of git keeps its things: its own folder and the one it shares. They are outside of the work
/// tree, and nothing can be committed without them.
fn linked_git(root: &Path) -> Option<Vec<PathBuf>> {
    let link = std::fs::read_to_string(root.join(".git")).ok()?;
    let folder = root.join(link.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    // Git writes a link back. Without one, a file of the project could make any folder writable.
    let back = std::fs::read_to_string(folder.join("gitdir")).ok()?;
    if Path::new(back.trim()).canonicalize().ok()? != root.join(".git") {
        return None;
    }
    let common = std::fs::read_to_string(folder.join("commondir")).ok()?;
    let common = folder.join(common.trim()).canonicalize().ok()?;
    // A work tree's folder is below the shared one, and the shared one looks like a repository.
    let is_repository = common.join("HEAD").is_file() && common.join("objects").is_dir();
    (folder.starts_with(common.join("worktrees")) && is_repository).then(|| vec![common])
}

#[cfg(test)]
mod tests;
