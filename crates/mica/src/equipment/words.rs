//! What people put into the system prompt: `SYSTEM.md` in the place of who the agent is, `APPEND_SYSTEM.md` behind it, the
//! index of skills, and the memory.
//!
//! Promise: what is said about tools, modes and the project stays true, whatever these files say: `SYSTEM.md` takes the place
//! of the pack's words about itself and its manner, and of nothing else.

use std::path::{Path, PathBuf};

use mica_context::section::ToolNames;
use mica_domain::{Piece, Prompt, Tier};

use super::memory::parts;
use crate::surroundings::Surroundings;

/// The file that says who the agent is, and the one that is added.
pub const NAMES: [&str; 2] = ["SYSTEM.md", "APPEND_SYSTEM.md"];

/// Sections of a pack that are about itself and its manner.
const REPLACED: [&str; 2] = ["identity", "style"];

/// Bytes of such a file at most: about 8,000 tokens.
pub const LONGEST: u64 = 32 << 10;

/// What is put into the system prompt.
#[derive(Debug, Clone, Default)]
pub struct Words {
    system: Option<String>,
    append: Option<String>,
    /// The index of skills, and the tool that it speaks of.
    skills: Option<(&'static str, String)>,
    /// The memory.
    memory: Option<String>,
    /// Where the files are that count.
    pub files: Vec<PathBuf>,
}

impl Words {
    /// Reads the files: one of the project that is trusted, else the user's.
    pub fn find(surroundings: &Surroundings, notices: &mut Vec<String>) -> Self {
        let mut words = Self::default();
        let [system, append] = NAMES.map(|name| words.one(name, surroundings, notices));
        Self { system, append, ..words }
    }

    fn one(&mut self, name: &str, surroundings: &Surroundings, notices: &mut Vec<String>) -> Option<String> {
        let folder = &surroundings.folder;
        let project = folder.join(".mica").join(name);
        let user = surroundings.config.join(name);
        for (path, within) in [(project, Some(folder.as_path())), (user, None)] {
            match text_of(&path, within, LONGEST) {
                Ok(None) => {}
                Ok(Some(text))
                    if within.is_some() && !parts::of_prompt(&path, &text).is_trusted(surroundings) => {}
                Ok(Some(text)) => {
                    self.files.push(path);
                    return Some(text.trim().to_owned());
                }
                Err(reason) => notices.push(format!("{} is not used: {reason}", path.display())),
            }
        }
        None
    }

    /// With the index of skills, and the tool that it speaks of; and with the memory.
    #[must_use]
    pub fn with(mut self, skills: Option<(&'static str, String)>, memory: Option<String>) -> Self {
        (self.skills, self.memory) = (skills, memory);
        self
    }

    /// What a subagent is told of it: who it is and what it can load is said by whoever sends it.
    #[must_use]
    pub fn for_subagent(&self) -> Self {
        Self { memory: self.memory.clone(), ..Self::default() }
    }

    /// Puts them into a prompt. Their words are people's, and not held to the tools that are there.
    pub fn put(&self, prompt: &mut Prompt, tools: &ToolNames) {
        let sections = &mut prompt.sections;
        if let Some(system) = &self.system {
            sections.retain(|section| !REPLACED.contains(&section.id.as_str()));
            sections.insert(0, Piece::foreign("system", Tier::Static, system.clone()));
        }
        let skills = self.skills.as_ref().filter(|(tool, _)| tools.has(tool)).map(|(_, text)| text);
        for (id, text) in
            [("append", self.append.as_ref()), ("skills", skills), ("memory", self.memory.as_ref())]
        {
            sections.extend(text.map(|text| Piece::foreign(id, Tier::Org, text.clone())));
        }
        sections.sort_by_key(|section| section.tier);
    }
}

/// The text of a file; `None` when there is none, or nothing in it.
///
/// # Errors
/// In words, why it is not used.
pub fn text_of(path: &Path, within: Option<&Path>, longest: u64) -> Result<Option<String>, String> {
    let facts = match std::fs::metadata(path) {
        Ok(facts) => facts,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    if !facts.is_file() {
        return Err("it is no file".to_owned());
    }
    if facts.len() > longest {
        return Err(format!("it has {} bytes; {longest} are the most", facts.len()));
    }
    // A user may link their own files; a project may not link what is not its own.
    let leads_out = |within: &Path| path.canonicalize().is_ok_and(|real| !real.starts_with(within));
    if within.is_some_and(leads_out) {
        return Err("it is a link that leads out of the project".to_owned());
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())?;
    if text.contains('\0') {
        return Err("it is no text".to_owned());
    }
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}
