//! What a project says in words that count as the user's: its memory, and what it puts into the system prompt.

use std::path::Path;

use anyhow::Result;

use crate::config::project::{Kind, Part};
use crate::equipment::words;

/// The memory.
const MEMORY: Kind = Kind { word: "memory", does: "be told to the agent as your own notes" };
/// The system prompt.
const SYSTEM: Kind = Kind { word: "system prompt", does: "tell the agent who it is and how to work" };

/// Bytes of a memory that are read to be trusted.
const MOST: u64 = 1 << 20;

/// The memory of a project.
pub fn memories(folder: &Path) -> Result<Vec<Part>> {
    let path = folder.join(".mica").join(mica_ext::memory::FILE);
    let text = words::text_of(&path, Some(folder), MOST).ok().flatten();
    Ok(text.map(|text| of_memory(folder, &text)).into_iter().collect())
}

/// The memory of a project, with this text.
pub fn of_memory(folder: &Path, text: &str) -> Part {
    Part::file(MEMORY, folder.join(".mica").join(mica_ext::memory::FILE), text)
}

/// What a project puts into the system prompt.
pub fn prompts(folder: &Path) -> Result<Vec<Part>> {
    let files = words::NAMES.iter().map(|name| folder.join(".mica").join(name));
    let read = files.filter_map(|path| {
        Some(of_prompt(&path, &words::text_of(&path, Some(folder), words::LONGEST).ok()??))
    });
    Ok(read.collect())
}

/// One file of it.
pub fn of_prompt(path: &Path, text: &str) -> Part {
    Part::named(SYSTEM, path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trusted_under_one_name_is_not_trusted_under_another() {
        let digest = |name: &str| of_prompt(Path::new(name), "Be brief.").digest().to_owned();
        assert_eq!(digest("a/SYSTEM.md"), digest("b/SYSTEM.md"));
        assert_ne!(digest("a/SYSTEM.md"), digest("a/APPEND_SYSTEM.md"));
    }
}
