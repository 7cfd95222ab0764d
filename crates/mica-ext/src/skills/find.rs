//! Finding skills: which folders are looked into, what counts as one, and which of two with the same name.
//!
//! Promises: a folder is looked into once, however many links lead to it; a link that leads out of a project is not
//! followed; what is too many or too large is left out and told. Only the heads of files are read.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::files::TEXT;
use super::front::LONGEST;
use super::skill::{FILE, Kept, SUFFIX, Skill, Whose};

/// Skills in all at most.
pub const SKILLS: usize = 1000;
/// Folders that are looked at in one root.
const FOLDERS: usize = 4000;
/// Folders in folders: skills may be kept in groups.
const DEPTH: usize = 3;

/// Folders of a project that have skills, the first counts most.
const OF_PROJECTS: [&str; 3] = [".mica/skills", ".agents/skills", ".claude/skills"];
/// Those of a home folder.
const OF_HOMES: [&str; 2] = [".agents/skills", ".claude/skills"];

/// A folder that is looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The folder.
    pub path: PathBuf,
    /// Whose it is.
    pub whose: Whose,
    /// What links may not lead out of.
    pub within: Option<PathBuf>,
}

/// A file that is no skill, although it looks like one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it is.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Skills, those that count more first. There may be several of one name.
    pub skills: Vec<Skill>,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

/// The folders of a project that may have skills: those of the working folder first, then up to the root of the repository.
/// Without a repository, only those of the folder itself.
pub fn of_project(folder: &Path) -> Vec<Root> {
    let top = folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder);
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(top));
    let root = |folder: &Path, name: &str| Root {
        path: folder.join(name),
        whose: Whose::Project,
        within: Some(top.to_owned()),
    };
    folders.flat_map(|folder| OF_PROJECTS.map(|name| root(folder, name))).collect()
}

/// The folders of a user: where settings are, and where programs of this kind keep skills in a home folder.
pub fn of_user(config: &Path, home: Option<&Path>) -> Vec<Root> {
    let shared = home.into_iter().flat_map(|home| OF_HOMES.map(|name| home.join(name)));
    [config.join("skills")]
        .into_iter()
        .chain(shared)
        .map(|path| Root { path, whose: Whose::User, within: None })
        .collect()
}

/// Looks for skills. What is not there has none.
pub fn find(roots: &[Root]) -> Found {
    let mut search = Search::default();
    for root in roots {
        search.folders = 0;
        search.folder(root, &root.path, 0);
    }
    search.found
}

/// The skill that a folder is, for whoever wants to know about this one.
pub fn at(folder: &Path) -> Found {
    let mut search = Search::default();
    let root = Root { path: folder.to_owned(), whose: Whose::User, within: None };
    search.one(&root, &folder.join(FILE), folder, Kept::Folder(folder.to_owned()));
    search.found
}

/// The files that would be skills, without reading any: for whoever wants to know whether there are others than before.
pub fn candidates(roots: &[Root]) -> Vec<PathBuf> {
    let mut search = Search { only_names: true, ..Search::default() };
    for root in roots {
        search.folders = 0;
        search.folder(root, &root.path, 0);
    }
    search.names
}

#[derive(Default)]
struct Search {
    found: Found,
    names: Vec<PathBuf>,
    only_names: bool,
    /// Folders and files that were looked at, by what they are on the disk.
    seen: HashSet<(u64, u64)>,
    folders: usize,
}

impl Search {
    fn folder(&mut self, root: &Root, folder: &Path, depth: usize) {
        let Some((facts, real)) = self.entered(root, folder) else { return };
        if !facts.is_dir() || !self.seen.insert((facts.dev(), facts.ino())) {
            return;
        }
        self.folders += 1;
        if self.folders > FOLDERS || depth > DEPTH {
            if self.folders == FOLDERS + 1 {
                self.leave_out(folder, format!("more than {FOLDERS} folders are not looked into"));
            }
            return;
        }
        let main = real.join(FILE);
        // The root itself is no skill: its name would say nothing.
        if depth > 0 && fs::symlink_metadata(&main).is_ok() {
            self.one(root, &main, folder, Kept::Folder(real.clone()));
            return;
        }
        let Ok(entries) = fs::read_dir(&real) else { return };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() || (kind.is_symlink() && entry.path().is_file()) {
                if name.ends_with(SUFFIX) {
                    self.one(root, &entry.path(), &entry.path(), Kept::File(entry.path()));
                }
            } else {
                self.folder(root, &entry.path(), depth + 1);
            }
        }
    }

    /// What is there, and where it really is. A link out of a project leads nowhere, and is told.
    fn entered(&mut self, root: &Root, path: &Path) -> Option<(fs::Metadata, PathBuf)> {
        let facts = fs::metadata(path).ok()?;
        let Some(within) = &root.within else {
            let is_link = fs::symlink_metadata(path).is_ok_and(|facts| facts.is_symlink());
            let real = if is_link { path.canonicalize().ok()? } else { path.to_owned() };
            return Some((facts, real));
        };
        let real = path.canonicalize().ok()?;
        if !real.starts_with(within) {
            self.leave_out(path, "it is a link that leads out of the project".to_owned());
            return None;
        }
        Some((facts, real))
    }

    fn one(&mut self, root: &Root, file: &Path, shown: &Path, kept: Kept) {
        if self.only_names {
            self.names.push(file.to_owned());
            return;
        }
        if self.found.skills.len() >= SKILLS {
            if self.found.skills.len() == SKILLS
                && !self.found.left_out.iter().any(|left| left.path == root.path)
            {
                self.leave_out(
                    &root.path,
                    format!("there are more than {SKILLS} skills; those beyond are not used"),
                );
            }
            return;
        }
        let Some((facts, real)) = self.entered(root, file) else {
            if self.found.left_out.last().is_none_or(|left| left.path != file) {
                self.leave_out(file, "it cannot be read".to_owned());
            }
            return;
        };
        if matches!(kept, Kept::File(_)) && !self.seen.insert((facts.dev(), facts.ino())) {
            return;
        }
        let kept = match kept {
            Kept::File(_) => Kept::File(real.clone()),
            other => other,
        };
        let called = shown.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let called = called.strip_suffix(SUFFIX).unwrap_or(&called);
        match head(&real, &facts).and_then(|head| Skill::read(&head, called, kept, root.whose)) {
            Ok(skill) => self.found.skills.push(skill),
            Err(reason) => self.leave_out(file, reason),
        }
    }

    fn leave_out(&mut self, path: &Path, reason: String) {
        self.found.left_out.push(LeftOut { path: path.to_owned(), reason });
    }
}

/// The beginning of a file, as far as front matter can go.
fn head(file: &Path, facts: &fs::Metadata) -> Result<String, String> {
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.len() > TEXT {
        return Err(format!("it has {} bytes; {TEXT} are the most", facts.len()));
    }
    let longest = LONGEST as u64 + 1024;
    let mut bytes = Vec::with_capacity(facts.len().min(longest).try_into().unwrap_or_default());
    let opened = File::open(file).and_then(|file| file.take(longest).read_to_end(&mut bytes));
    opened.map_err(|error| format!("it cannot be read: {error}"))?;
    // A letter may be cut at the end; what is wrong before is no text.
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            Ok(String::from_utf8(bytes).unwrap_or_default())
        }
        Err(_) => Err("it is no text (UTF-8)".to_owned()),
    }
}

#[cfg(test)]
mod tests;
