//! `/skill:NAME`: a person uses a skill themselves. Its text goes into what they say, with what they typed behind it.

use async_trait::async_trait;

use super::{Skill, Skills, load};
use crate::concern::{Command, Failure, Typed};

/// What the names of these commands begin with.
pub const PREFIX: &str = "skill:";

/// Uses one skill.
pub struct UseSkill {
    skill: Skill,
    name: String,
}

impl UseSkill {
    /// The command of a skill.
    pub fn new(skill: &Skill) -> Self {
        Self { skill: skill.clone(), name: format!("{PREFIX}{}", skill.name) }
    }

    /// The commands of all of them, those too that only people use.
    pub fn all(skills: &Skills) -> impl Iterator<Item = Self> {
        skills.iter().map(Self::new)
    }
}

#[async_trait]
impl Command for UseSkill {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.skill.description
    }

    async fn run(&self, arguments: &str) -> Result<Typed, Failure> {
        let skill = self.skill.clone();
        let reading = tokio::task::spawn_blocking(move || load::text(&skill));
        let text = reading.await.map_err(|error| error.to_string())?;
        let text = text.map_err(|reason| format!("the skill {} is not used: {reason}", self.skill.name))?;
        let asked = match arguments.trim() {
            "" => format!("Use the skill {} now.", self.skill.name),
            words => words.to_owned(),
        };
        Ok(Typed::Instead(format!("{text}\n\n{asked}")))
    }
}
