//! Finding skills: which folders are looked into, what counts as one, and which of two with the same name.
//!
//! Promises: a folder is looked into once, however many links lead to it; a link that leads out of a project is not
//! followed; what is too many or too large is left out and told. Only the heads of files are read.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{DirEntryExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

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
        search.root(root);
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
        search.root(root);
    }
    search.names
}

#[derive(Default)]
struct Search {
    found: Found,
    names: Vec<PathBuf>,
    only_names: bool,
    /// Folders and files that were looked at, by what they are on the disk.
    seen: HashSet<Identity>,
    folders: usize,
}

/// A folder or a file by what it is on the disk.
type Identity = (u64, u64);

impl Search {
    fn root(&mut self, root: &Root) {
        self.folders = 0;
        let Some((facts, real)) = self.entered(root, &root.path) else { return };
        if facts.is_dir() {
            self.folder(root, &root.path, &real, (facts.dev(), facts.ino()), 0);
        }
    }

    /// Looks into a folder that is shown under one path and is another.
    fn folder(&mut self, root: &Root, folder: &Path, real: &Path, is: Identity, depth: usize) {
        if !self.seen.insert(is) {
            return;
        }
        self.folders += 1;
        if self.folders > FOLDERS || depth > DEPTH {
            if self.folders == FOLDERS + 1 {
                self.leave_out(folder, format!("more than {FOLDERS} folders are not looked into"));
            }
            return;
        }
        // The root itself is no skill: its name would say nothing.
        if depth > 0 && self.is_skill(root, folder, real) {
            return;
        }
        let Ok(entries) = fs::read_dir(real) else { return };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || name == "node_modules" {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_file() || (kind.is_symlink() && path.is_file()) {
                if name.ends_with(SUFFIX) {
                    self.one(root, &path, &path, Kept::File(path.clone()));
                }
            } else if kind.is_dir() && root.within.is_none() {
                // No link, so it is what it is called, and the list said which folder it is: a start with a hundred skills
                // does not ask the disk again for each.
                self.folder(root, &path, &path, (is.0, entry.ino()), depth + 1);
            } else if let Some((facts, real)) = self.entered(root, &path)
                && facts.is_dir()
            {
                self.folder(root, &path, &real, (facts.dev(), facts.ino()), depth + 1);
            }
        }
    }

    /// Whether a folder is a skill; then it is taken or left out.
    fn is_skill(&mut self, root: &Root, folder: &Path, real: &Path) -> bool {
        let main = real.join(FILE);
        if root.within.is_none() && !self.only_names && self.found.skills.len() < SKILLS {
            // Links are followed here, so that it can be opened is all there is to know.
            match open(&main) {
                Ok(file) => {
                    self.read(root, &main, folder, Kept::Folder(real.to_owned()), opened(file));
                    return true;
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => {
                    self.one(root, &main, folder, Kept::Folder(real.to_owned()));
                    return true;
                }
            }
        }
        let is_there = fs::symlink_metadata(&main).is_ok();
        if is_there {
            self.one(root, &main, folder, Kept::Folder(real.to_owned()));
        }
        is_there
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
        let head = open(&real).map_err(|error| format!("it cannot be read: {error}")).and_then(opened);
        self.read(root, file, shown, kept, head);
    }

    /// Takes a skill whose file begins so, or leaves it out.
    fn read(&mut self, root: &Root, file: &Path, shown: &Path, kept: Kept, head: Result<String, String>) {
        let called = shown.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let called = called.strip_suffix(SUFFIX).unwrap_or(&called);
        match head.and_then(|head| Skill::read(&head, called, kept, root.whose)) {
            Ok(skill) => self.found.skills.push(skill),
            Err(reason) => self.leave_out(file, reason),
        }
    }

    fn leave_out(&mut self, path: &Path, reason: String) {
        self.found.left_out.push(LeftOut { path: path.to_owned(), reason });
    }
}

/// Opens a file without waiting: a pipe that lies in its place has nobody at its other end.
fn open(path: &Path) -> std::io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// The beginning of a file, as far as front matter can go.
fn opened(mut file: File) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    let facts = file.metadata().map_err(unreadable)?;
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.len() > TEXT {
        return Err(format!("it has {} bytes; {TEXT} are the most", facts.len()));
    }
    let longest = facts.len().min(LONGEST as u64 + 1024);
    let mut bytes = vec![0; longest.try_into().unwrap_or_default()];
    let mut end = 0;
    while let Some(rest) = bytes.get_mut(end..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            // It became shorter meanwhile.
            Ok(0) => break,
            Ok(more) => end += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
    bytes.truncate(end);
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
