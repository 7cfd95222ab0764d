//! The prompt of a domain, put together and checked.

use crate::capability::Words;
use crate::domain::Domain;
use crate::error::DomainError;
use crate::profile::{RunMode, Surface};
use crate::resolve::Resolved;
use crate::section::{OrgView, Piece, Tier};

/// What a run is told that nobody watches.
const UNATTENDED: &str = include_str!("prompt/unattended.md");

/// A domain's system prompt: what stays the same for as long as the page does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Its pieces in the order they are sent: by tier, and within a tier as the domain gave them.
    pub sections: Vec<Piece>,
}

impl Prompt {
    /// The prompt for the tools that are there: the static sections, and what a run must know that nobody watches; then what
    /// capabilities say about their tools, and the cards that can be shown where words are read in a chat. These differ
    /// from page to page and from person to person, so they begin the org tier, and the static one is the same for all.
    ///
    /// # Errors
    /// [`DomainError::UntrueText`] when a section names a tool that is not there.
    pub fn of(domain: &dyn Domain, tools: &Resolved, view: &OrgView<'_>) -> Result<Self, DomainError> {
        let fixed = view.fixed();
        let mut sections: Vec<Piece> =
            domain.statics().iter().filter_map(|section| section.said(&fixed)).collect();
        if view.profile.mode == RunMode::Autonomous {
            let (id, words) = ("unattended".to_owned(), Words::Own);
            sections.push(Piece { id, tier: Tier::Static, text: UNATTENDED.to_owned(), words });
        }
        if !tools.fragments.is_empty() {
            let text = tools.fragments.join("\n");
            let (id, words) = ("capabilities".to_owned(), Words::Own);
            sections.push(Piece { id, tier: Tier::Org, text, words });
        }
        if view.profile.surface == Surface::Chat {
            sections.extend(domain.cards().section(view.tools));
        }
        sections.extend(domain.org(view).iter().filter_map(|section| section.said(&fixed)));
        let own = sections.iter().filter(|piece| piece.words == Words::Own);
        tools.check(own.map(|piece| (piece.id.as_str(), piece.text.as_str())))?;
        Ok(Self { sections })
    }

    /// The system prompt, one text for each tier, as a context takes it.
    pub fn system(&self) -> Vec<String> {
        [Tier::Static, Tier::Org].into_iter().filter_map(|tier| self.tier(tier)).collect()
    }

    fn tier(&self, tier: Tier) -> Option<String> {
        let texts: Vec<&str> = self
            .sections
            .iter()
            .filter(|section| section.tier == tier)
            .map(|section| section.text.trim())
            .filter(|text| !text.is_empty())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}
