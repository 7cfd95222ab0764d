//! AGENTS.md: what a project asks of agents, from the repository's root down to the working folder.
//!
//! They are project files: whoever wrote the project wrote them. Whether they are trusted is the user's decision, which
//! the binary asks for; here an untrusted file is found and named, and not a word of it reaches the model.

use std::fs;
use std::path::{Path, PathBuf};

use mica_tools::{Digest, FileError, Workspace};

/// The file, and what older projects call it. One for each folder, the first that is there.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Bytes of all instructions together. About 8,000 tokens: long ones are known to be read less carefully anyway.
pub const LIMIT: usize = 32 << 10;

/// Bytes of one file that are looked at.
const FILE: u64 = 1 << 20;

/// Whether the user trusts the project's own instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Yes.
    Trusted,
    /// No, or not asked yet.
    Untrusted,
}

/// What a project asks of agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// What was read, the root's first and the nearest last.
    pub files: Vec<Instruction>,
    /// Files that were found and not used, and why.
    pub left_out: Vec<(PathBuf, String)>,
}

/// One file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Where it is.
    pub path: PathBuf,
    /// What it says, perhaps cut; then it says so.
    pub text: String,
    /// The digest of all its text, for remembering that it was trusted.
    pub digest: Digest,
}

impl Instructions {
    /// Reads those that apply in a folder. A file that cannot be read is left out, never a failure.
    ///
    /// # Errors
    /// [`FileError`] when there is no such folder.
    pub fn read(folder: &Path, trust: Trust, limit: usize) -> Result<Self, FileError> {
        let here = Workspace::new(folder)?.root().to_owned();
        // Files are opened beneath the repository: a link that leads out of it is not followed.
        let top = here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&here);
        let repository = Workspace::new(top)?;
        let mut all = Self::default();
        let mut room = limit;
        // The nearest first: when there is too much, what is far away goes.
        for folder in here.ancestors().take_while(|folder| folder.starts_with(top)) {
            let there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
            let Some(path) = NAMES.iter().map(|name| folder.join(name)).find(there) else { continue };
            match one(&repository, &path) {
                Err(reason) => all.left_out.push((path, reason)),
                Ok(_) if trust == Trust::Untrusted => {
                    all.left_out.push((path, "it is not trusted yet".to_owned()));
                }
                Ok(_) if room == 0 => all.left_out.push((path, format!("there are more than {limit} bytes"))),
                Ok(text) => {
                    let digest = Digest::of(text.as_bytes());
                    let text = cut(text, room);
                    room = room.saturating_sub(text.len());
                    all.files.push(Instruction { path, text, digest });
                }
            }
        }
        all.files.reverse();
        all.left_out.reverse();
        Ok(all)
    }

    /// What the model is told. Empty when there are none.
    pub fn text(&self) -> String {
        if self.files.is_empty() {
            return String::new();
        }
        let mut text = "# Project instructions\n\nFrom the project's own files, the repository's root first. Where they \
                        differ, the later one counts; what the user says counts more than any of them."
            .to_owned();
        for file in &self.files {
            // A file cannot end its own fence.
            let inside = file.text.trim().replace("</project_instructions", "<\\/project_instructions");
            text.push_str(&format!(
                "\n\n<project_instructions file={:?}>\n{inside}\n</project_instructions>",
                file.path.display().to_string()
            ));
        }
        text
    }
}

fn one(repository: &Workspace, path: &Path) -> Result<String, String> {
    match repository.text(&path.to_string_lossy(), FILE) {
        Ok(Some(text)) => Ok(text),
        Ok(None) => Err("it is no text".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The beginning of a text that fits, in whole lines, with a note.
fn cut(mut text: String, room: usize) -> String {
    if text.len() <= room {
        return text;
    }
    let end = text[..text.floor_char_boundary(room)].rfind('\n').unwrap_or(0);
    let left_out = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n[… {left_out} bytes of this file are left out …]"));
    text
}

#[cfg(test)]
mod tests;
