//! What skills and prompts of a project are, for the user who trusts them or not.

use std::path::Path;

use anyhow::{Context as _, Result};
use mica_ext::skills::find;
use mica_ext::skills::{Kept, Skill};
use mica_ext::templates::Template;

use crate::config::project::{self, Kind, Part};

/// Skills.
const SKILL: Kind = Kind { word: "skill", does: "tell the agent how to do particular work" };
/// Prompt templates.
const PROMPT: Kind = Kind { word: "prompt", does: "become a command that you can type" };

/// The skills of a project. Those that cannot be trusted at all are told where they are looked for.
pub fn skills(folder: &Path) -> Result<Vec<Part>> {
    let found = find::find(&find::of_project(folder));
    Ok(found.skills.iter().filter_map(|skill| of_skill(skill).ok()).collect())
}

/// The prompts of a project.
pub fn prompts(folder: &Path) -> Result<Vec<Part>> {
    Ok(super::of_project(folder)
        .flat_map(|found| found.templates)
        .map(|template| of_template(&template))
        .collect())
}

/// A skill with all its files.
///
/// # Errors
/// When it cannot be read, or is more than anybody can look through.
pub fn of_skill(skill: &Skill) -> Result<Part> {
    match &skill.kept {
        Kept::Folder(folder) => Ok(Part::folder(SKILL, folder, project::files_below(folder)?)),
        Kept::File(file) => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("{} cannot be read", file.display()))?;
            Ok(Part::file(SKILL, file, text))
        }
        Kept::Embedded(_) => anyhow::bail!("it is no part of a project"),
    }
}

/// A prompt.
pub fn of_template(template: &Template) -> Part {
    Part::named(PROMPT, &template.path, &template.source)
}
