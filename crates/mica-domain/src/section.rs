//! Pieces of the prompt. How often one changes is its type, and the type decides what it can see.
//!
//! A static section is a fixed text, or a function without a memory of its own that is shown the tools and the kind of run:
//! there is nothing of an organisation or a turn that it could say. An org section is made from what the domain knows, and
//! is not shown what happens in a session. A turn section is shown everything, and never enters the system prompt.
//!
//! ```compile_fail
//! use mica_domain::section::{Section, Static};
//! let team = String::from("Blue");
//! // A static section cannot remember the team.
//! let _ = Section::<Static>::made("team", move |_| Some(team.clone()));
//! ```
//!
//! ```compile_fail
//! use mica_domain::section::{Section, Static};
//! // Nor is it shown the page.
//! let _ = Section::<Static>::made("page", |view| view.state.page.clone());
//! ```

use std::marker::PhantomData;

use mica_context::section::Tier as Kind;
pub use mica_context::section::{Org, Static, TierKind as Tier, ToolNames, Turn};

use crate::capability::Words;
use crate::profile::{Audience, Profile, RunMode, Surface};
use crate::rights::Rights;
use crate::state::State;

/// What a static section sees.
#[derive(Debug, Clone, Copy)]
pub struct StaticView<'a> {
    /// The tools that are really there.
    pub tools: &'a ToolNames,
    /// What kind of run it is.
    pub profile: Profile,
}

/// What org sections are made from, besides what the domain knows itself.
#[derive(Debug, Clone, Copy)]
pub struct OrgView<'a> {
    /// The tools that are really there.
    pub tools: &'a ToolNames,
    /// What kind of run it is.
    pub profile: Profile,
    /// What may be done: a catalogue lists what the tools would show, and nothing else.
    pub rights: &'a Rights,
}

impl<'a> OrgView<'a> {
    /// The part of it that static sections see.
    pub fn fixed(&self) -> StaticView<'a> {
        StaticView { tools: self.tools, profile: self.profile }
    }
}

/// What turn sections are made from, besides what the domain knows itself.
#[derive(Debug, Clone, Copy)]
pub struct TurnView<'a> {
    /// The tools that are really there.
    pub tools: &'a ToolNames,
    /// What kind of run it is.
    pub profile: Profile,
    /// What may be done.
    pub rights: &'a Rights,
    /// What the domain remembers: the page, the references, what the tools came to.
    pub state: &'a State,
}

impl<'a> TurnView<'a> {
    /// The part of it that static sections see.
    pub fn fixed(&self) -> StaticView<'a> {
        StaticView { tools: self.tools, profile: self.profile }
    }
}

/// A piece of the prompt, of one tier: [`Static`], [`Org`] or [`Turn`].
#[derive(Debug, Clone)]
pub struct Section<T> {
    id: String,
    says: Says,
    only: Option<RunMode>,
    on: Option<Surface>,
    to: Option<Audience>,
    words: Words,
    tier: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone)]
enum Says {
    Fixed(&'static str),
    Made(fn(&StaticView<'_>) -> Option<String>),
    Text(String),
}

impl Section<Static> {
    /// A text that is always the same.
    pub fn fixed(id: impl Into<String>, text: &'static str) -> Self {
        Self::with(id.into(), Says::Fixed(text))
    }

    /// A text that depends on the tools and the kind of run. It says nothing by returning `None`.
    pub fn made(id: impl Into<String>, made: fn(&StaticView<'_>) -> Option<String>) -> Self {
        Self::with(id.into(), Says::Made(made))
    }
}

impl Section<Org> {
    /// A text that changes with the organisation.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with(id.into(), Says::Text(text.into()))
    }
}

impl Section<Turn> {
    /// A text that changes with the turn.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with(id.into(), Says::Text(text.into()))
    }
}

impl<T> Section<T> {
    fn with(id: String, says: Says) -> Self {
        Self { id, says, only: None, on: None, to: None, words: Words::Own, tier: PhantomData }
    }

    /// Said only when somebody is there, or only when nobody is.
    #[must_use]
    pub fn only(mut self, mode: RunMode) -> Self {
        self.only = Some(mode);
        self
    }

    /// Said only where the words are read there.
    #[must_use]
    pub fn on(mut self, surface: Surface) -> Self {
        self.on = Some(surface);
        self
    }

    /// Said only where they are read by those.
    #[must_use]
    pub fn to(mut self, audience: Audience) -> Self {
        self.to = Some(audience);
        self
    }

    /// Its words are somebody else's, a user's for example: which tools they name is not checked.
    #[must_use]
    pub fn foreign(mut self) -> Self {
        self.words = Words::Foreign;
        self
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn is_for(&self, profile: Profile) -> bool {
        self.only.is_none_or(|mode| mode == profile.mode)
            && self.on.is_none_or(|surface| surface == profile.surface)
            && self.to.is_none_or(|audience| audience == profile.audience)
    }
}

impl<T: Kind> Section<T> {
    /// What it says, when it says something in such a run.
    pub fn said(&self, view: &StaticView<'_>) -> Option<Piece> {
        if !self.is_for(view.profile) {
            return None;
        }
        let text = match &self.says {
            Says::Fixed(text) => (*text).to_owned(),
            Says::Made(made) => made(view)?,
            Says::Text(text) => text.clone(),
        };
        (!text.trim().is_empty()).then(|| Piece {
            id: self.id.clone(),
            tier: T::KIND,
            text,
            words: self.words,
        })
    }
}

/// A section as it came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Names it, in reports about the cache and in tests.
    pub id: String,
    /// How often it changes.
    pub tier: Tier,
    /// What it says.
    pub text: String,
    /// Whose words it has.
    pub words: Words,
}

impl Piece {
    /// A piece whose words are somebody else's.
    pub fn foreign(id: impl Into<String>, tier: Tier, text: impl Into<String>) -> Self {
        Self { id: id.into(), tier, text: text.into(), words: Words::Foreign }
    }
}

#[cfg(test)]
mod tests;
