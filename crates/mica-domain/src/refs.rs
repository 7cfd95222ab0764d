//! Session references: what the user has in front of them, and what they mention.
//!
//! Promise: whoever wants to know which record of a kind is meant asks [`Refs::find`], the prompt, the pre-filling of
//! arguments and the tools alike. A mention goes before what is merely open; among equals the first counts.
//!
//! Kinds are the domain's data ([`RefKinds`]). Of a kind several of which are usually in sight, such as records of a list,
//! only a mention is filled in: the wrong one is worse than a question.

pub(crate) mod here;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mica_context::fence;
use serde::{Deserialize, Serialize};

/// Where a reference comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The user mentioned it.
    Mention,
    /// It is open on the page.
    #[default]
    Page,
}

/// Something of the product that a message is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ref {
    /// What kind of thing: one of the domain's [`RefKinds`].
    pub kind: String,
    /// Which one.
    pub id: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub origin: Origin,
    /// It is being edited, and what is on the screen is not saved: what changes it must not be done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
}

impl Ref {
    /// Something that is open on the page.
    pub fn open(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into(), label: None, origin: Origin::Page, dirty: false }
    }

    /// Something that the user mentioned.
    pub fn mentioned(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { origin: Origin::Mention, ..Self::open(kind, id) }
    }

    /// With what people call it.
    #[must_use]
    pub fn called(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// With changes on the screen that are not saved.
    #[must_use]
    pub fn dirty(mut self) -> Self {
        self.dirty = true;
        self
    }
}

/// The references of a message, in the order the product gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Refs(Vec<Ref>);

impl Refs {
    /// Adds one. One that is there already, of the same origin, is not there twice.
    pub fn add(&mut self, one: Ref) {
        let same = |other: &Ref| (&other.kind, &other.id, other.origin) == (&one.kind, &one.id, one.origin);
        if !self.0.iter().any(same) {
            self.0.push(one);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Ref> {
        self.0.iter()
    }

    /// The one of a kind that is meant: what was mentioned goes before what is open, then the first counts.
    pub fn find(&self, kind: &str) -> Option<&Ref> {
        let of = |origin: Origin| self.0.iter().find(move |one| one.kind == kind && one.origin == origin);
        of(Origin::Mention).or_else(|| of(Origin::Page))
    }

    /// The one of a kind that may be filled in without asking. `None` when a question is better than a guess.
    pub fn certain(&self, kind: &str, kinds: &RefKinds) -> Option<&Ref> {
        let found = self.find(kind)?;
        let guess = found.origin == Origin::Page && kinds.filling(kind) != Filling::Open;
        (!guess).then_some(found)
    }

    /// Whether something is being edited and not saved.
    pub fn is_dirty(&self, kind: &str, id: &str) -> bool {
        self.0.iter().any(|one| one.dirty && one.kind == kind && one.id == id)
    }

    /// What the model is told of them: of each kind the one that is meant, and how many others there are. What people call
    /// them was often written by somebody outside, so it stands behind a boundary. Empty when there are none.
    pub fn text(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for one in &self.0 {
            *counts.entry(&one.kind).or_default() += 1;
        }
        let mut text = String::new();
        let mut told: Vec<&str> = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        for one in &self.0 {
            if told.contains(&one.kind.as_str()) {
                continue;
            }
            told.push(&one.kind);
            let Some(meant) = self.find(&one.kind) else { continue };
            let how = match meant.origin {
                Origin::Mention => "mentioned by the user",
                Origin::Page => "open on the page",
            };
            let (kind, id) = (plain(&meant.kind), plain(&meant.id));
            let _ = write!(text, "{}- {kind} {id}: {how}", if text.is_empty() { "" } else { "\n" });
            labels.extend(meant.label.as_deref().map(|label| format!("{id}: {}", in_a_line(label))));
            if meant.dirty {
                text.push_str(", with changes that are not saved: do not change it before they are");
            }
            match counts.get(one.kind.as_str()) {
                Some(2) => text.push_str("; one other is in sight"),
                Some(many) if *many > 2 => {
                    let _ = write!(text, "; {} others are in sight", many - 1);
                }
                _ => {}
            }
        }
        if !labels.is_empty() {
            let _ = write!(text, "\n{}", fence::outside("what these are called", &labels.join("\n")));
        }
        text
    }
}

/// Characters of a label that the model is told. Labels are often written by people outside.
const LONGEST: usize = 120;

/// A label in one line, so that it cannot look like another of the list.
fn in_a_line(label: &str) -> String {
    let line = label.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut kept: String = line.chars().take(LONGEST).collect();
    if kept.len() < line.len() {
        kept.push('…');
    }
    kept
}

/// A kind or an id as products write them: nothing in it can pass for another line or for an element.
fn plain(id: &str) -> String {
    let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || matches!(letter, '<' | '>');
    id.chars().map(|letter| if is_odd(letter) { '_' } else { letter }).take(LONGEST).collect()
}

impl FromIterator<Ref> for Refs {
    fn from_iter<I: IntoIterator<Item = Ref>>(all: I) -> Self {
        let mut refs = Self::default();
        all.into_iter().for_each(|one| refs.add(one));
        refs
    }
}

/// Which reference of a kind may be filled into an argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Filling {
    /// The one that is meant, whether it was mentioned or is open. For kinds of which one is open at a time.
    Open,
    /// Only one that was mentioned. For kinds several of which are in sight.
    #[default]
    Mentioned,
}

/// The kinds of references that a domain knows. A kind that it does not name is filled in only when it was mentioned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefKinds(BTreeMap<String, Filling>);

impl RefKinds {
    /// With a kind of which one is open at a time.
    #[must_use]
    pub fn one(mut self, kind: impl Into<String>) -> Self {
        self.0.insert(kind.into(), Filling::Open);
        self
    }

    /// With a kind several of which are in sight at once.
    #[must_use]
    pub fn several(mut self, kind: impl Into<String>) -> Self {
        self.0.insert(kind.into(), Filling::Mentioned);
        self
    }

    /// What may be filled in of a kind.
    pub fn filling(&self, kind: &str) -> Filling {
        self.0.get(kind).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
