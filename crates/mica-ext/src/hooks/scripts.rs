//! The files of a project that its hooks run: they count when the project is trusted, and a change takes the trust away.
//!
//! Found are the files that a command names, as far as they are in the project, and everything in the folder that is there
//! for hooks (`.mica/hooks`, `.claude/hooks`): scripts that are kept there read each other. Not found is what these read
//! and run elsewhere: a module, a `Makefile`, a program on the path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::config::{Exec, Hook};

/// Files that are looked at. A folder with more is no folder of scripts.
const FILES: usize = 300;
/// Bytes of one file.
const BYTES: u64 = 4 << 20;
/// Folders that the words of one command are looked for in.
const FOLDERS: usize = 16;
/// Folders below each other.
const DEPTH: usize = 6;

/// What a program is begun with whose folder is named.
const BEGINS: [&str; 3] = ["package.json", "index.js", "__main__.py"];

/// The variables that stand for the project in commands.
pub const PROJECT: [&str; 2] = ["MICA_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// Scripts by their paths below the project, and what is in them.
pub type Scripts = BTreeMap<PathBuf, Vec<u8>>;

/// The scripts of some hooks, as they are now.
///
/// # Errors
/// In words: there are too many, one is too large, or one cannot be read.
pub fn find(hooks: &[Hook], project: &Path, folder: &Path) -> Result<Scripts, String> {
    let mut files = Vec::new();
    walk(&project.join(folder), 0, &mut files)?;
    for hook in hooks {
        let from = hook.cwd.as_ref().map_or_else(|| project.to_owned(), |cwd| project.join(cwd));
        // A word may name a file in a folder that an earlier word names: `cd scripts && ./check.sh`.
        let mut bases = vec![from];
        for word in words(&hook.exec, project) {
            let paths: Vec<PathBuf> = bases.iter().filter_map(|base| named(&word, base, project)).collect();
            for path in paths {
                if path.is_file() {
                    files.push(path);
                } else if path.is_dir() && bases.len() < FOLDERS && !bases.contains(&path) {
                    bases.push(path);
                }
            }
        }
    }
    let mut scripts = Scripts::new();
    for file in files {
        let below = file.strip_prefix(project).unwrap_or(&file).to_owned();
        if scripts.contains_key(&below) {
            continue;
        }
        if scripts.len() >= FILES {
            return Err(format!("its hooks have more than {FILES} files, which nobody can look through"));
        }
        scripts.insert(below, content(&file)?);
    }
    Ok(scripts)
}

/// The files that words of a command name, as they are now, as far as they are in the project. Of a folder, those that a
/// program is begun with when its folder is named.
///
/// # Errors
/// As [`find`].
pub fn of_words<'a>(
    words: impl Iterator<Item = &'a str>,
    from: &Path,
    project: &Path,
) -> Result<Scripts, String> {
    let mut scripts = Scripts::new();
    for word in words {
        // `--flag=./file` names one, too.
        let value = word.split_once('=').map(|(_, value)| value);
        for word in [Some(word), value].into_iter().flatten() {
            let begins = BEGINS.iter().map(|name| format!("{word}/{name}"));
            for file in [word.to_owned()].into_iter().chain(begins) {
                if let Some(file) = named(&file, from, project).filter(|path| path.is_file()) {
                    let below = file.strip_prefix(project).unwrap_or(&file).to_owned();
                    scripts.insert(below, content(&file)?);
                }
            }
        }
    }
    Ok(scripts)
}

fn content(file: &Path) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| format!("{} cannot be read: {error}", file.display());
    if fs::metadata(file).map_err(failed)?.len() > BYTES {
        return Err(format!("{} is larger than {} MiB", file.display(), BYTES >> 20));
    }
    fs::read(file).map_err(failed)
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    if depth > DEPTH || files.len() > FILES {
        return Err(format!("{} holds more than can be looked through", folder.display()));
    }
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        // Also what Python made of a script: it is what runs. Hooks are told to make none.
        if path.is_dir() {
            walk(&path, depth + 1, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// A file or folder that a word of a command names, when it is in the project.
fn named(word: &str, from: &Path, project: &Path) -> Option<PathBuf> {
    if word.is_empty() || word.starts_with('-') {
        return None;
    }
    let path = flat(&from.join(word));
    (path.starts_with(project) && path != project).then_some(path)
}

/// A path without `.` and `..`, as it is written.
fn flat(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                flat.pop();
            }
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    flat
}

/// The words of a command, with the variables for the project put in. More words than the shell sees do no harm: only
/// those count that name a file.
fn words(exec: &Exec, project: &Path) -> Vec<String> {
    let root = project.display().to_string();
    let put_in = |word: &str| {
        PROJECT.iter().chain(&["PWD"]).fold(word.to_owned(), |word, name| {
            word.replace(&format!("${{{name}}}"), &root).replace(&format!("${name}"), &root)
        })
    };
    let line = match exec {
        Exec::Program(words) => return words.iter().map(|word| put_in(word)).collect(),
        Exec::Shell(line) => put_in(&line.replace("$(pwd)", &root)),
    };
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (None, letter) if letter.is_whitespace() || ";|&()<>=`".contains(letter) => {
                words.push(std::mem::take(&mut word));
            }
            (_, letter) => word.push(letter),
        }
    }
    words.push(word);
    // A line within quotes is a command of its own: `bash -c "./check.sh"`.
    let inner: Vec<String> =
        words.iter().flat_map(|word| word.split_whitespace().map(ToOwned::to_owned)).collect();
    words.extend(inner);
    words
}

#[cfg(test)]
mod tests;
