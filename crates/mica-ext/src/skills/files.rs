//! The files of a skill: what is listed, what is read, and what a person trusts.
//!
//! Promise: nothing outside its folder is read, whatever links it has; nothing is read without a limit.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use mica_tools::{Digest, Workspace};

use super::skill::{FILE, Kept, Skill, Whose};

/// Bytes of a skill's text at most. A good one has 20 KB.
pub const TEXT: u64 = 256 << 10;
/// Files of one skill that are looked at.
const FILES: usize = 512;
/// Bytes that a skill of a project may have in all: they are all read to know whether they are what was trusted.
const BYTES: u64 = 8 << 20;
/// Folders in folders.
const DEPTH: usize = 6;

/// A file that belongs to a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Below its folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// The files of a skill besides its main one, by their paths, and whether there are more.
pub fn resources(skill: &Skill) -> (Vec<Resource>, bool) {
    match &skill.kept {
        Kept::File(_) => (Vec::new(), false),
        Kept::Embedded(files) => {
            let others = files.iter().filter(|(path, _)| *path != FILE);
            let list =
                others.map(|(path, text)| Resource { path: (*path).to_owned(), bytes: text.len() as u64 });
            (list.collect(), false)
        }
        Kept::Folder(folder) => {
            let mut found = Walked::default();
            found.walk(folder, "", 0);
            found.files.retain(|file| file.path != FILE);
            found.files.sort_by(|one, other| one.path.cmp(&other.path));
            (found.files, found.has_more)
        }
    }
}

/// The text of a skill without its front matter.
///
/// # Errors
/// In words, when it cannot be read, is no text, or is not what was trusted.
pub fn body(skill: &Skill) -> Result<String, String> {
    let text = match &skill.kept {
        Kept::Embedded(_) => embedded(skill, FILE)?,
        Kept::Folder(folder) => {
            unchanged(skill)?;
            read(folder, FILE)?
        }
        Kept::File(file) => {
            unchanged(skill)?;
            let (folder, name) = (file.parent(), file.file_name().and_then(|name| name.to_str()));
            read(folder.ok_or("it is in no folder")?, name.ok_or("its name cannot be read")?)?
        }
    };
    Ok(super::front::Front::read(&text).1.trim().to_owned())
}

/// The text of one of its files.
///
/// # Errors
/// In words, when it is not there, leads out of the folder, is too large or no text.
pub fn resource(skill: &Skill, path: &str) -> Result<String, String> {
    match &skill.kept {
        Kept::Embedded(_) => embedded(skill, path.trim_start_matches("./")),
        Kept::File(_) => Err("it is one file and has no others".to_owned()),
        Kept::Folder(folder) => {
            unchanged(skill)?;
            read(folder, path)
        }
    }
}

fn embedded(skill: &Skill, path: &str) -> Result<String, String> {
    let Kept::Embedded(files) = &skill.kept else { return Err("it is not in the program".to_owned()) };
    let found = files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
    found.ok_or_else(|| format!("there is no {path:?} in it"))
}

/// Opened beneath the folder: a link that leads out of it is not followed, and what is named as a secret is not read.
fn read(folder: &Path, path: &str) -> Result<String, String> {
    if Path::new(path).is_absolute() {
        return Err("give the path as it is below the skill's folder".to_owned());
    }
    let workspace = Workspace::new(folder).map_err(|error| error.to_string())?;
    match workspace.text(path, TEXT) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err(format!("{path} is no text; a program may be able to use it where it is")),
        Err(error) => Err(error.to_string()),
    }
}

/// Refuses what is no longer what a person trusted.
fn unchanged(skill: &Skill) -> Result<(), String> {
    let Some(trusted) = &skill.trusted else { return Ok(()) };
    let now = manifest(skill).map(|manifest| Digest::of(manifest.as_bytes()));
    if now.as_ref() == Ok(trusted) {
        return Ok(());
    }
    Err("it has changed since the user trusted it; they can look at it and run `mica trust`".to_owned())
}

/// All that a person trusts of a skill: the text of its main file, and the digest of every other. For one of a project.
///
/// # Errors
/// In words, when it cannot be read or is larger than anybody would look at.
pub fn manifest(skill: &Skill) -> Result<String, String> {
    let main = skill.file().ok_or("it is in the program")?;
    let size = fs::metadata(&main).map_err(|error| error.to_string())?.len();
    if size > TEXT {
        return Err(format!("{} has {size} bytes; {TEXT} are the most", main.display()));
    }
    let text = fs::read_to_string(&main).map_err(|error| error.to_string())?;
    // Its length comes first: a text that looks like the list below is not that list.
    let mut manifest = format!("{FILE}, {} bytes:\n{text}", text.len());
    let Some(folder) = skill.folder() else { return Ok(manifest) };
    let mut found = Walked { whose: Some(Whose::Project), ..Walked::default() };
    found.walk(folder, "", 0);
    let bytes: u64 = found.files.iter().map(|file| file.bytes).sum();
    if found.has_more || bytes > BYTES {
        return Err(format!(
            "it has more than {FILES} files, {} MB or {DEPTH} folders in each other",
            BYTES >> 20
        ));
    }
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    for file in found.files.iter().filter(|file| file.path != FILE) {
        let content = match fs::read_link(folder.join(&file.path)) {
            Ok(target) => format!("a link to {}", target.display()),
            Err(_) => {
                let bytes =
                    fs::read(folder.join(&file.path)).map_err(|error| format!("{}: {error}", file.path))?;
                let digest = Digest::of(&bytes);
                format!("{} bytes, {digest}", bytes.len())
            }
        };
        let _ = write!(manifest, "\n[{}: {content}]", file.path);
    }
    Ok(manifest)
}

#[derive(Default)]
struct Walked {
    files: Vec<Resource>,
    has_more: bool,
    /// Whose trust is at stake: then links and hidden files count as well.
    whose: Option<Whose>,
}

impl Walked {
    /// Finds files. Links to folders are not followed: they may lead anywhere, also back.
    fn walk(&mut self, folder: &Path, below: &str, depth: usize) {
        if depth > DEPTH {
            self.has_more = true;
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let Ok(name) = entry.file_name().into_string() else {
                // What cannot be named cannot be trusted.
                self.has_more |= self.whose.is_some();
                continue;
            };
            if self.whose.is_none()
                && (name.starts_with('.') || name == "node_modules" || name == "__pycache__")
            {
                continue;
            }
            let path = if below.is_empty() { name } else { format!("{below}/{name}") };
            if kind.is_dir() {
                self.walk(&entry.path(), &path, depth + 1);
            } else if self.files.len() >= FILES {
                self.has_more = true;
                return;
            } else {
                let counts =
                    kind.is_file() || (kind.is_symlink() && (self.whose.is_some() || entry.path().is_file()));
                let bytes = entry.metadata().map_or(0, |facts| facts.len());
                if counts {
                    self.files.push(Resource { path, bytes });
                }
            }
        }
    }
}
