//! What a caller knows about the place where a command would run. The judgement itself looks at nothing.

/// What the disk says. Everything has an answer for those who cannot look.
pub trait Disk: Send + Sync {
    /// The path with all links followed; of a path that is not there, its nearest parent followed and the rest joined.
    /// None when it cannot be told; then the path counts as it is written.
    fn real(&self, path: &str) -> Option<String>;

    /// Whether a file whose name is that of a secret lies somewhere below a folder. None when nobody looked.
    fn secrets_below(&self, _folder: &str) -> Option<bool> {
        None
    }
}

/// A disk that nobody looks at: paths count as they are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unseen;

impl Disk for Unseen {
    fn real(&self, _: &str) -> Option<String> {
        None
    }
}

/// The place where a command would run. Paths are absolute, without links and without a `/` at the end.
#[derive(Clone, Copy)]
pub struct ShellFacts<'a> {
    /// The project.
    pub root: &'a str,
    /// The working directory.
    pub cwd: &'a str,
    /// Folders for files that nobody keeps.
    pub temp: &'a [&'a str],
    /// The home folder, when there is one.
    pub home: Option<&'a str>,
    /// What the disk says.
    pub disk: &'a dyn Disk,
}

impl<'a> ShellFacts<'a> {
    /// A command in the root of a project, with `/tmp` for what nobody keeps, and a disk that nobody looks at.
    pub fn of_project(root: &'a str) -> Self {
        Self { root, cwd: root, temp: &["/tmp"], home: None, disk: &Unseen }
    }

    /// With a home folder.
    #[must_use]
    pub fn with_home(self, home: &'a str) -> Self {
        Self { home: Some(home), ..self }
    }
}

impl std::fmt::Debug for ShellFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShellFacts")
            .field("root", &self.root)
            .field("cwd", &self.cwd)
            .field("temp", &self.temp)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// A path without `.`, `..` and doubled separators, as far as the text alone can tell.
pub(super) fn tidied(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let parent = out.rfind('/').unwrap_or(0);
                out.truncate(parent);
            }
            name => {
                out.push('/');
                out.push_str(name);
            }
        }
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

/// Whether a path is a folder or below it. Both are tidied.
pub(super) fn is_below(path: &str, folder: &str) -> bool {
    folder == "/" || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
