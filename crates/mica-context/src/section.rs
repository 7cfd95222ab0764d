//! Sections: the pieces a prompt is made of, each with a tier that says how often it changes.
//!
//! The tier is a type, and the type decides what a section can see: a static section is handed the tools and nothing
//! else, so it cannot depend on an organisation or a turn by accident. That is what keeps the prefix cached.
//!
//! Static sections become the first part of the system prompt, org sections the second. Turn sections never enter it:
//! they ride at the tail, as a block of the newest user message (see [`context_block`]).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::tokens;

pub mod context_block;
mod names;

pub use names::ToolNames;

/// What a product knows, by how often it changes. `()` knows nothing.
pub trait Facts: 'static {
    /// What changes with the organisation: its name, its rules, its members.
    type Org: Send + Sync;
    /// What changes with the turn: the page, the time, the selection.
    type Turn: Send + Sync;
}

impl Facts for () {
    type Org = ();
    type Turn = ();
}

/// How often a section changes.
pub trait Tier: sealed::Sealed + 'static {
    /// What a section of this tier can see.
    type View<F: Facts>;
    /// The tier as a value.
    const KIND: TierKind;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Static {}
    impl Sealed for super::Org {}
    impl Sealed for super::Turn {}
}

/// Never changes within a release.
#[derive(Debug, Clone, Copy)]
pub struct Static;
/// Changes with the organisation.
#[derive(Debug, Clone, Copy)]
pub struct Org;
/// Changes with the turn.
#[derive(Debug, Clone, Copy)]
pub struct Turn;

impl Tier for Static {
    type View<F: Facts> = StaticView;
    const KIND: TierKind = TierKind::Static;
}

impl Tier for Org {
    type View<F: Facts> = OrgView<F>;
    const KIND: TierKind = TierKind::Org;
}

impl Tier for Turn {
    type View<F: Facts> = TurnView<F>;
    const KIND: TierKind = TierKind::Turn;
}

/// A tier as a value, for listings.
///
/// In the order in which they are sent: what changes least comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierKind {
    /// Never changes within a release, for one set of tools.
    Static,
    /// Changes with the organisation or the project.
    Org,
    /// Changes with the turn. Never part of the system prompt: it would uncache everything behind it.
    Turn,
}

/// What a static section sees: which tools there are.
#[derive(Debug, Clone)]
pub struct StaticView {
    /// The tools.
    pub tools: ToolNames,
}

/// What an org section sees.
pub struct OrgView<F: Facts> {
    /// The tools.
    pub tools: ToolNames,
    /// The organisation.
    pub org: Arc<F::Org>,
}

/// What a turn section sees.
pub struct TurnView<F: Facts> {
    /// The tools.
    pub tools: ToolNames,
    /// The organisation.
    pub org: Arc<F::Org>,
    /// The turn.
    pub turn: Arc<F::Turn>,
}

type Render<T, F> = Box<dyn Fn(&<T as Tier>::View<F>) -> Option<String> + Send + Sync>;

/// A piece of the prompt.
///
/// ```compile_fail
/// use mica_context::section::{Section, Static};
/// // A static section has no organisation to look at.
/// Section::<Static>::new("rules", |view| Some(format!("{:?}", view.org)));
/// ```
pub struct Section<T: Tier, F: Facts = ()> {
    id: String,
    render: Render<T, F>,
}

impl<T: Tier, F: Facts> Section<T, F> {
    /// A section. `render` says nothing by returning `None`. The same view must give the same text.
    pub fn new(
        id: impl Into<String>,
        render: impl Fn(&T::View<F>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { id: id.into(), render: Box::new(render) }
    }

    fn rendered(&self, view: &T::View<F>) -> Rendered {
        let text = (self.render)(view).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        Rendered { id: self.id.clone(), tier: T::KIND, text }
    }
}

/// A section as it came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Its id.
    pub id: String,
    /// Its tier.
    pub tier: TierKind,
    /// What it says, when it says something.
    pub text: Option<String>,
}

impl Rendered {
    /// A turn section, for callers that render without [`Sections`].
    pub fn turn(id: impl Into<String>, text: Option<String>) -> Self {
        Self { id: id.into(), tier: TierKind::Turn, text }
    }

    /// The section as a line of a listing.
    pub fn listed(&self) -> Listed {
        let text = self.text.as_deref().unwrap_or_default();
        Listed {
            id: self.id.clone(),
            tier: self.tier,
            tokens: tokens::of_text(text),
            digest: self.text.as_deref().map(Digest::of),
        }
    }
}

/// A line of the listing that explains a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The section's id.
    pub id: String,
    /// Its tier.
    pub tier: TierKind,
    /// Its size, as estimated.
    pub tokens: u64,
    /// The fingerprint of its text. `None` when it says nothing.
    pub digest: Option<Digest>,
}

/// The sections of a prompt, in the order they are shown within their tier.
pub struct Sections<F: Facts = ()> {
    statics: Vec<Section<Static, F>>,
    orgs: Vec<Section<Org, F>>,
    turns: Vec<Section<Turn, F>>,
}

impl<F: Facts> Default for Sections<F> {
    fn default() -> Self {
        Self { statics: Vec::new(), orgs: Vec::new(), turns: Vec::new() }
    }
}

impl<F: Facts> Sections<F> {
    /// Adds a section that never changes.
    #[must_use]
    pub fn with_static(mut self, section: Section<Static, F>) -> Self {
        self.statics.push(section);
        self
    }

    /// Adds a section that changes with the organisation.
    #[must_use]
    pub fn with_org(mut self, section: Section<Org, F>) -> Self {
        self.orgs.push(section);
        self
    }

    /// Adds a section that changes with the turn.
    #[must_use]
    pub fn with_turn(mut self, section: Section<Turn, F>) -> Self {
        self.turns.push(section);
        self
    }

    /// The system prompt: the static part, and the org part where there is one. Set it once for a session.
    pub fn system(&self, tools: &ToolNames, org: &Arc<F::Org>) -> Vec<String> {
        let parts = [joined(self.statics(tools)), joined(self.orgs(tools, org))];
        parts.into_iter().filter(|part| !part.is_empty()).collect()
    }

    /// The turn sections as they are now.
    pub fn turn(&self, tools: &ToolNames, org: &Arc<F::Org>, turn: &Arc<F::Turn>) -> Vec<Rendered> {
        let view = TurnView { tools: tools.clone(), org: Arc::clone(org), turn: Arc::clone(turn) };
        self.turns.iter().map(|section| section.rendered(&view)).collect()
    }

    /// Every section with its tier and size, in the order of the prompt.
    pub fn listing(&self, tools: &ToolNames, org: &Arc<F::Org>, turn: &Arc<F::Turn>) -> Vec<Listed> {
        let mut all = self.statics(tools);
        all.extend(self.orgs(tools, org));
        all.extend(self.turn(tools, org, turn));
        all.iter().map(Rendered::listed).collect()
    }

    fn statics(&self, tools: &ToolNames) -> Vec<Rendered> {
        let view = StaticView { tools: tools.clone() };
        self.statics.iter().map(|section| section.rendered(&view)).collect()
    }

    fn orgs(&self, tools: &ToolNames, org: &Arc<F::Org>) -> Vec<Rendered> {
        let view = OrgView { tools: tools.clone(), org: Arc::clone(org) };
        self.orgs.iter().map(|section| section.rendered(&view)).collect()
    }
}

fn joined(sections: Vec<Rendered>) -> String {
    let texts: Vec<String> = sections.into_iter().filter_map(|section| section.text).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests;
