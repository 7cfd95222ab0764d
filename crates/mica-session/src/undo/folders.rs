//! Which folders are not looked into, and which files a project ignores.
//!
//! What tools make again is not worth a copy: it would be most of a disk. A folder is left out when its name can mean
//! nothing else, when its name is usual for such things and the project ignores it or has the file that makes it so
//! beside it, or when it says itself that it is a cache.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Names that mean nothing else.
const ALWAYS: [&str; 17] = [
    SETTINGS,
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".terraform",
    ".dart_tool",
];

/// Names that are usual for what is made, when the project ignores them.
const WHEN_IGNORED: [&str; 19] = [
    "target",
    "build",
    "dist",
    "out",
    "bin",
    "obj",
    "vendor",
    "venv",
    "env",
    "coverage",
    "tmp",
    ".cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".output",
    "Pods",
    "DerivedData",
];

/// Names that are made when one of these files is beside them.
const BESIDE: [(&str, &[&str]); 3] = [
    ("target", &["Cargo.toml", "pom.xml", "build.sbt"]),
    ("build", &["build.gradle", "build.gradle.kts"]),
    ("vendor", &["go.mod", "composer.json"]),
];

/// The agent's own settings in a project. Commands cannot change them: while one runs, an empty folder holds the place of
/// those that are missing, and that is nobody's doing.
pub(crate) const SETTINGS: &str = ".mica";

/// Whether what is below a folder of this name is nobody's business here: the history of a version control system, or the
/// agent's own settings.
pub(crate) fn is_off_limits(name: &str) -> bool {
    matches!(name, ".git" | ".hg" | ".svn" | ".jj" | SETTINGS)
}

/// The file in which a folder says that it is a cache.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Files that say what is ignored, the stronger first.
const LISTS: [&str; 2] = [".ignore", ".gitignore"];

/// What holds in a folder. Worked out when somebody asks, because as long as nothing changes nobody does.
#[derive(Debug)]
pub(crate) struct Rules {
    above: Option<Arc<Rules>>,
    /// The folder, absolute.
    folder: PathBuf,
    has_lists: bool,
    lists: OnceLock<Vec<Gitignore>>,
    ignored: OnceLock<bool>,
}

impl Rules {
    /// What holds in the project's folder: also what the repository around it says.
    pub(crate) fn of_project(root: &Path) -> Arc<Self> {
        let inside = |folder: &Path| folder.join(".git").exists();
        let repository = root.ancestors().find(|folder| inside(folder));
        let mut above: Option<Arc<Self>> = None;
        if let Some(repository) = repository {
            let mut between: Vec<&Path> =
                root.ancestors().skip(1).take_while(|folder| folder.starts_with(repository)).collect();
            between.reverse();
            for folder in between {
                above = Some(Arc::new(Self::new(above, folder.to_owned(), true)));
            }
        }
        // A project in an ignored folder is still a project.
        let rules = Self::new(above, root.to_owned(), true);
        let _ = rules.ignored.set(false);
        Arc::new(rules)
    }

    /// What holds in a folder below.
    pub(crate) fn below(above: &Arc<Self>, folder: PathBuf, has_lists: bool) -> Arc<Self> {
        Arc::new(Self::new(Some(Arc::clone(above)), folder, has_lists))
    }

    fn new(above: Option<Arc<Self>>, folder: PathBuf, has_lists: bool) -> Self {
        Self { above, folder, has_lists, lists: OnceLock::new(), ignored: OnceLock::new() }
    }

    /// Whether the project ignores something in this folder.
    pub(crate) fn ignores(&self, path: &Path, is_folder: bool) -> bool {
        self.is_ignored() || self.judge(path, is_folder)
    }

    fn is_ignored(&self) -> bool {
        *self
            .ignored
            .get_or_init(|| self.above.as_ref().is_some_and(|above| above.ignores(&self.folder, true)))
    }

    fn judge(&self, path: &Path, is_folder: bool) -> bool {
        let mut rules = Some(self);
        while let Some(here) = rules {
            for list in here.lists.get_or_init(|| here.read()) {
                match list.matched(path, is_folder) {
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                    Match::None => {}
                }
            }
            rules = here.above.as_deref();
        }
        false
    }

    fn read(&self) -> Vec<Gitignore> {
        if !self.has_lists {
            return Vec::new();
        }
        let lists = LISTS.iter().filter_map(|name| {
            let file = self.folder.join(name);
            if !file.is_file() {
                return None;
            }
            let mut builder = GitignoreBuilder::new(&self.folder);
            // Lines that are no patterns are left out; the others hold.
            let _ = builder.add(file);
            builder.build().ok()
        });
        lists.collect()
    }
}

/// Whether a name is that of a file that says what is ignored.
pub(crate) fn is_list(name: &[u8]) -> bool {
    LISTS.iter().any(|list| list.as_bytes() == name)
}

/// Whether a folder is not looked into. `beside` tells whether a file is beside it.
pub(crate) fn is_left_out(name: &str, path: &Path, rules: &Rules, beside: impl Fn(&str) -> bool) -> bool {
    ALWAYS.contains(&name)
        || BESIDE.iter().any(|(folder, files)| *folder == name && files.iter().any(|file| beside(file)))
        || (WHEN_IGNORED.contains(&name) && rules.ignores(path, true))
}

/// Whether a folder with these names in it says that it is a cache.
pub(crate) fn is_cache(name: &[u8]) -> bool {
    name == CACHE_TAG.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test makes files")]
    fn folders_that_tools_fill_are_left_out_and_others_are_not() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("repository/project");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::create_dir(outer.path().join("repository/.git")).unwrap();
        std::fs::write(outer.path().join("repository/.gitignore"), "dist\n").unwrap();
        std::fs::write(root.join(".gitignore"), "*.log\n/inner/out\n!keep.log\n").unwrap();
        let rules = Rules::of_project(&root);
        let inner = Rules::below(&rules, root.join("inner"), false);
        let nothing = |_: &str| false;
        for (name, beside, expected) in [
            ("node_modules", "", true),
            ("target", "", false),
            ("target", "pom.xml", true),
            ("build", "pom.xml", false),
            ("dist", "", true),
            ("src", "", false),
        ] {
            let left_out = is_left_out(name, &root.join(name), &rules, |file| file == beside);
            assert_eq!(left_out, expected, "{name} beside {beside:?}");
        }
        assert!(is_left_out("out", &root.join("inner/out"), &inner, nothing));
        assert!(inner.ignores(&root.join("inner/a.log"), false));
        assert!(!inner.ignores(&root.join("inner/keep.log"), false));
        let out = Rules::below(&inner, root.join("inner/out"), false);
        assert!(out.ignores(&root.join("inner/out/deep"), false), "what is in an ignored folder is ignored");
    }
}
