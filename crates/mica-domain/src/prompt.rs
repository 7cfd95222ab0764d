//! The prompt of a domain, put together and checked.

use crate::domain::Domain;
use crate::error::DomainError;
use crate::resolve::Resolved;
use crate::section::{Section, Tier};
use crate::state::State;

/// A domain's prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Sections in the order they are sent: by tier, and within a tier as the domain gave them.
    pub sections: Vec<Section>,
}

impl Prompt {
    /// The prompt for the tools that are there. What capabilities say about their tools follows the static sections.
    ///
    /// # Errors
    /// [`DomainError::UntrueText`] when a section names a tool that is not there.
    pub fn of(domain: &dyn Domain, tools: &Resolved, state: &State) -> Result<Self, DomainError> {
        let mut sections = domain.sections(&tools.names, state);
        if !tools.fragments.is_empty() {
            sections.push(Section::new("capabilities", Tier::Static, tools.fragments.join("\n")));
        }
        sections.retain(|section| !section.text.trim().is_empty());
        tools.check(sections.iter().map(|section| (section.id.as_str(), section.text.as_str())))?;
        sections.sort_by_key(|section| section.tier);
        Ok(Self { sections })
    }

    /// The system prompt, one text for each tier, as a context takes it. Turn sections are not in it.
    pub fn system(&self) -> Vec<String> {
        [Tier::Static, Tier::Org].into_iter().filter_map(|tier| self.tier(tier)).collect()
    }

    /// What changes with every turn: for the newest message, never for the system prompt.
    pub fn turn(&self) -> Option<String> {
        self.tier(Tier::Turn)
    }

    fn tier(&self, tier: Tier) -> Option<String> {
        let texts: Vec<&str> = self
            .sections
            .iter()
            .filter(|section| section.tier == tier)
            .map(|section| section.text.trim())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}
