//! Agent Skills: folders with instructions for particular work, which a model loads when it needs them.
//!
//! Promises: only names and descriptions are in the prompt, and they stay the same for a session; where there is no skill
//! there is no tool and no word about skills. A skill of a project is not seen before the user trusted it as it is, all its
//! files together, and is not read any more when one of them changed. No skill gives itself a permission: what its file
//! says under `allowed-tools` is shown, and asked about like everything else.

mod began;
pub mod command;
pub mod fence;
pub mod files;
pub mod find;
pub mod front;
mod index;
pub mod load;
pub mod news;
pub mod skill;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mica_tools::Digest;

pub use began::Began;
pub use command::UseSkill;
pub use find::{Found, LeftOut, Root};
pub use load::LoadSkill;
pub use news::News;
pub use skill::{Kept, Skill, Whose};

/// The skills of a session. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    by_name: Arc<BTreeMap<String, Skill>>,
}

/// What was chosen, and what a person should know of it.
#[derive(Debug, Default)]
pub struct Chosen {
    /// The skills.
    pub skills: Skills,
    /// Skills that another one of the same name stands before.
    pub hidden: Vec<(Skill, String)>,
    /// Skills of the project that nobody trusts, and why they cannot be when they cannot.
    pub untrusted: Vec<(Skill, Option<String>)>,
}

impl Skills {
    /// Chooses among what was found, in its order: of two with one name, the first. `trusts` is asked about those of a
    /// project, with all that there is to trust.
    pub fn choose(
        found: impl IntoIterator<Item = Skill>,
        trusts: &mut dyn FnMut(&Skill, &str) -> bool,
    ) -> Chosen {
        let mut chosen = Chosen::default();
        let mut by_name: BTreeMap<String, Skill> = BTreeMap::new();
        for mut skill in found {
            if skill.whose == Whose::Project {
                match files::manifest(&skill) {
                    Ok(manifest) if trusts(&skill, &manifest) => {
                        skill.trusted = Some(Digest::of(manifest.as_bytes()));
                    }
                    Ok(_) => {
                        chosen.untrusted.push((skill, None));
                        continue;
                    }
                    Err(reason) => {
                        chosen.untrusted.push((skill, Some(reason)));
                        continue;
                    }
                }
            }
            match by_name.get(&skill.name) {
                Some(other) => {
                    let place = other.place();
                    chosen.hidden.push((skill, place));
                }
                None => drop(by_name.insert(skill.name.clone(), skill)),
            }
        }
        chosen.skills = Self { by_name: Arc::new(by_name) };
        chosen
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Skill> {
        self.by_name.values()
    }

    /// Those that a model can load, by name.
    pub fn for_model(&self) -> impl Iterator<Item = &Skill> {
        self.iter().filter(|skill| !skill.only_people)
    }

    /// The skill of this name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.by_name.get(name)
    }

    /// The skill that somebody means: by its name, however it is spelled, or with what stands before it elsewhere.
    ///
    /// # Errors
    /// In words, with the name that was probably meant, or all.
    pub fn meant(&self, name: &str) -> Result<&Skill, String> {
        let plain = name.trim().trim_start_matches('/');
        let plain = plain.strip_prefix("skill:").unwrap_or(plain).trim_end_matches("/SKILL.md");
        let folded: String = plain.to_lowercase().replace(['_', ' '], "-");
        if let Some(skill) = self.get(plain).or_else(|| self.get(&folded)) {
            return Ok(skill);
        }
        let names = || self.by_name.keys().map(String::as_str);
        let shown = fence::line(name, skill::NAME);
        Err(match mica_agent::nearest::nearest(plain, names()) {
            Some(near) => format!("There is no skill {shown:?}. Did you mean {near:?}?"),
            None if self.by_name.is_empty() => format!("There is no skill {shown:?}: there are none."),
            None => format!(
                "There is no skill {shown:?}. The skills are: {}.",
                names().collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// Those of them that a session began with. The rest came since.
    #[must_use]
    pub fn of_session(&self, began: &Began) -> Self {
        let theirs = self.iter().filter(|skill| began.has(skill));
        Self { by_name: Arc::new(theirs.map(|skill| (skill.name.clone(), skill.clone())).collect()) }
    }

    /// What the prompt says of them. `None` when a model can load none.
    pub fn index(&self) -> Option<String> {
        index::text(&self.for_model().collect::<Vec<_>>())
    }

    /// Folders outside the project that tools must be able to read, because skills have files there: those that were looked
    /// into, and those that links in them lead to.
    pub fn folders(&self, roots: &[Root]) -> Vec<PathBuf> {
        let users = roots.iter().filter(|root| root.whose == Whose::User);
        let mut folders: Vec<PathBuf> = users.filter_map(|root| root.path.canonicalize().ok()).collect();
        for skill in self.iter().filter(|skill| skill.whose == Whose::User) {
            if let Some(folder) = skill.folder()
                && !roots.iter().any(|root| folder.starts_with(&root.path))
                && !folders.iter().any(|known| folder.starts_with(known))
            {
                folders.push(folder.to_owned());
            }
        }
        folders
    }
}

#[cfg(test)]
mod tests;
