//! The skills as a session's prompt names them. A session that goes on in another process is told the same, byte for byte,
//! and at the tail what is other by now.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::fence::{fenced, line};
use super::{Skill, Skills, Whose};

/// Lines about what is other, at most.
const LISTED: usize = 20;
/// Letters of a description.
const LETTERS: usize = 200;

/// The skills that a model could load when a session began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// What the prompt says of them.
    pub index: Option<String>,
    /// What each said it is for, by name.
    pub skills: BTreeMap<String, String>,
}

impl Began {
    /// A session begins with these.
    pub fn of(skills: &Skills) -> Self {
        let named = skills.for_model().map(|skill| (skill.name.clone(), skill.description.clone()));
        Self { index: skills.index(), skills: named.collect() }
    }

    /// Whether a session began with a skill of this name.
    pub fn has(&self, skill: &Skill) -> bool {
        self.skills.contains_key(&skill.name)
    }

    /// What is other now, for the model. `None` when nothing is. Skills that the user added are told by
    /// [`News`](super::News), which also sees those that come later.
    pub fn changed(&self, now: &Skills) -> Option<String> {
        let mut lines = Vec::new();
        let loadable = |name: &String| now.get(name).filter(|skill| !skill.only_people);
        for (name, description) in &self.skills {
            match loadable(name) {
                None => lines.push(format!("- {name}: is there no longer")),
                Some(skill) if skill.description != *description => {
                    lines.push(format!("- {name}: is now for this: {}", line(&skill.description, LETTERS)));
                }
                Some(_) => {}
            }
        }
        let is_new = |skill: &&Skill| skill.whose == Whose::Project && !self.has(skill);
        for skill in now.for_model().filter(is_new) {
            let description = line(&skill.description, LETTERS);
            lines.push(format!("- {}: {description} (new; read {})", skill.name, skill.place()));
        }
        if lines.is_empty() {
            return None;
        }
        let mut text = String::new();
        for line in lines.iter().take(LISTED) {
            let _ = write!(text, "\n{line}");
        }
        if lines.len() > LISTED {
            let _ = write!(text, "\n- and {} more", lines.len() - LISTED);
        }
        Some(format!("Skills are other than when this session began.\n{}", fenced("skills", &[], &text)))
    }
}
