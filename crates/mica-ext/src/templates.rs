//! Prompt templates: Markdown files that become commands. What is typed behind the command is put into the text.
//!
//! Promises: a template only writes a prompt. It runs nothing, reads no other file, and what is put in is not looked at again,
//! so an argument cannot bring placeholders of its own. One of a project is not used before the user trusted it.

mod fill;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::concern::{Command, Failure, Typed};
use crate::skills::fence::line;
use crate::skills::find::LeftOut;
use crate::skills::front::Front;
use crate::skills::skill::Whose;

pub use fill::{filled, words};

/// Bytes of one template at most.
const TEXT: u64 = 64 << 10;
/// Templates of one folder at most.
const MOST: usize = 500;
/// Letters of a description.
const LETTERS: usize = 120;
/// Letters of a name.
const NAME: usize = 64;

/// Folders of a project that have templates, the first counts most: the second one is that of another program.
pub const OF_PROJECTS: [&str; 2] = [".mica/prompts", ".claude/commands"];

/// One template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The command, without the slash: the name of the file.
    pub name: String,
    /// What it is for, with what can be typed behind it.
    pub description: String,
    /// What is said.
    pub text: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub whose: Whose,
    /// All of the file, for whoever is asked to trust it.
    pub source: String,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Templates, by name.
    pub templates: Vec<Template>,
    /// What is not used, and why.
    pub left_out: Vec<LeftOut>,
}

/// Reads the templates of a folder, by name. `within` is what links may not lead out of.
pub fn read(folder: &Path, whose: Whose, within: Option<&Path>) -> Found {
    let mut found = Found::default();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md")));
    files.sort();
    let more = files.len().saturating_sub(MOST);
    files.truncate(MOST);
    for path in files {
        match one(&path, whose, within) {
            Ok(template) => found.templates.push(template),
            Err(reason) => found.left_out.push(LeftOut { path, reason }),
        }
    }
    if more > 0 {
        found
            .left_out
            .push(LeftOut { path: folder.to_owned(), reason: format!("{more} more than {MOST} templates") });
    }
    found
}

fn one(path: &Path, whose: Whose, within: Option<&Path>) -> Result<Template, String> {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME || !name.chars().all(is_letter) {
        return Err("its name is no command: use letters, digits, hyphens and underscores".to_owned());
    }
    let real = path.canonicalize().map_err(|error| format!("it cannot be read: {error}"))?;
    if within.is_some_and(|within| !real.starts_with(within)) {
        return Err("it is a link that leads out of the project".to_owned());
    }
    let facts = fs::metadata(&real).map_err(|error| format!("it cannot be read: {error}"))?;
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.len() > TEXT {
        return Err(format!("it has {} bytes; {TEXT} are the most", facts.len()));
    }
    let source = fs::read_to_string(&real).map_err(|error| format!("it cannot be read: {error}"))?;
    if source.contains('\0') {
        return Err("it is no text".to_owned());
    }
    let (front, body) = Front::read(&source);
    let text = body.trim().to_owned();
    if text.is_empty() {
        return Err("it says nothing".to_owned());
    }
    let first = || line(text.lines().next().unwrap_or_default().trim_start_matches('#'), 60);
    let about = front.text("description").unwrap_or_else(first);
    let description = match front.text("argument-hint") {
        Some(hint) => line(&format!("{hint}  {about}"), LETTERS),
        None => line(&about, LETTERS),
    };
    Ok(Template { name, description, text, path: path.to_owned(), whose, source })
}

/// Chooses among templates, in the order they are given: of two with one name the first, and none that is called as a command
/// that is there anyway.
pub fn choose(templates: Vec<Template>, is_taken: &dyn Fn(&str) -> bool) -> Found {
    let mut chosen: BTreeMap<String, Template> = BTreeMap::new();
    let mut left_out = Vec::new();
    for template in templates {
        let reason = if is_taken(&template.name) {
            Some(format!("/{} is a command already; give the file another name", template.name))
        } else {
            let other = chosen.get(&template.name);
            other.map(|other| format!("{} is /{} already", other.path.display(), template.name))
        };
        match reason {
            Some(reason) => left_out.push(LeftOut { path: template.path, reason }),
            None => drop(chosen.insert(template.name.clone(), template)),
        }
    }
    Found { templates: chosen.into_values().collect(), left_out }
}

#[async_trait]
impl Command for Template {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    async fn run(&self, arguments: &str) -> Result<Typed, Failure> {
        filled(&self.text, arguments).map(Typed::Instead)
    }
}

#[cfg(test)]
mod tests;
