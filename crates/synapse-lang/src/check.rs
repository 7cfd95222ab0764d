//! The checker: what the runtime would make of a document.
//!
//! A document is walked once: every element gets its place in the model ([`walk`]), every attribute and text that
//! may hold a dynamic value is read the way the runtime reads that place ([`value`]), and the [`rules`] are shown
//! both. A rule is one file with one job; what its codes mean stands on their pages.
//!
//! Invariant: nothing is an error that deploys and runs. Unknown attributes and the order of children never are.

mod again;
mod findings;
pub mod flow;
pub(crate) mod follow;
pub mod rules;
pub mod value;
pub mod walk;
pub mod writes;

use crate::diagnostic::{Diagnostic, Edit, Fix};
use crate::model::{Model, Version};
use crate::project::Project;
use crate::syntax::Document;
use crate::text::Span;

pub use again::{Memo, check_again};
pub use findings::{Finding, Findings};
pub use rules::{Interest, Rule};

/// A document and what is known about its surroundings.
pub struct Subject<'a> {
    /// The document.
    pub document: &'a Document,
    /// Its path in the project, with forward slashes, when it has one.
    pub path: Option<&'a str>,
    /// The runtime that it is meant for.
    pub runtime: Version,
    /// The project it belongs to; without one, references to other files are not looked up.
    pub project: Option<&'a Project>,
    /// What exists in the language.
    pub model: &'static Model,
    /// The elements with their places in the model.
    pub tree: walk::Tree<'a>,
    /// Attributes and texts that the runtime may evaluate, in the order of their elements.
    pub values: Vec<value::Value<'a>>,
}

/// What a check may be told.
#[derive(Clone, Copy, Default)]
pub struct Setting<'a> {
    /// The file's path in the project, with forward slashes.
    pub path: Option<&'a str>,
    /// The runtime; the newest one when it is not known.
    pub runtime: Option<Version>,
    /// The project the file belongs to.
    pub project: Option<&'a Project>,
}

/// Checks a document. Findings come in the order of their places.
#[must_use]
pub fn check(document: &Document, setting: Setting<'_>) -> Vec<Diagnostic> {
    check_again(document, setting, &Memo::default())
}

/// Checks a document in one piece.
fn whole(document: &Document, setting: Setting<'_>) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    look(document, setting, rules::Part::Whole, &mut findings);
    settle(document, findings.kept())
}

/// Shows a part of a document to the rules.
fn look(document: &Document, setting: Setting<'_>, part: rules::Part, findings: &mut Findings) {
    let model = Model::get();
    let runtime = setting.runtime.unwrap_or(Version::NEWEST);
    let tree = walk::Tree::of(document, model);
    let shown = part.shown(&tree);
    let values = value::of_those(&tree, model, |placed| shown.has(placed.index));
    let Setting { path, project, .. } = setting;
    let subject = Subject { document, path, runtime, project, model, tree, values };
    rules::run(&subject, part, &shown, findings);
}

/// Puts findings in their order, each once, and takes back what cannot be repaired yet.
fn settle(document: &Document, kept: findings::Kept) -> Vec<Diagnostic> {
    let mut found = kept.finish();
    syntax_first(document, &mut found);
    found
}

/// Where the syntax is broken nobody knows yet what was meant: repairs of other things wait until it is whole.
fn syntax_first(document: &Document, found: &mut [Diagnostic]) {
    if document.problems().is_empty() {
        return;
    }
    let tags: Vec<Span> = document.elements().map(|element| element.open_span()).collect();
    let broken: Vec<Span> = document.problems().iter().map(|problem| around(&tags, problem.span)).collect();
    let meets =
        |edit: &Edit| broken.iter().any(|one| edit.span.start <= one.end && one.start <= edit.span.end);
    let text = document.source();
    let mut looks = LOOKS;
    for one in found.iter_mut().filter(|one| one.code != rules::NOT_WELL_FORMED) {
        one.fixes.retain(|fix| {
            !fix.edits.iter().any(meets) && (!moves_tags(text, fix) || keeps_tags(document, fix, &mut looks))
        });
    }
}

/// How many repairs of one broken text are tried out; more than a person looks at.
const LOOKS: usize = 32;

/// Whether a repair adds or takes away tags.
fn moves_tags(text: &str, fix: &Fix) -> bool {
    fix.edits.iter().any(|edit| edit.text.contains('<') || edit.span.of(text).contains('<'))
}

/// Whether a text has no more problems than before: where tags are not closed, what looks like an element can be the end
/// of others too.
fn keeps_tags(document: &Document, fix: &Fix, looks: &mut usize) -> bool {
    let Some(left) = looks.checked_sub(1) else { return false };
    *looks = left;
    let edits: Vec<&Edit> = fix.edits.iter().collect();
    let after = crate::fix::apply(document.source(), &edits);
    after.is_some_and(|after| Document::parse(after).problems().len() <= document.problems().len())
}

/// A place with the tags that it touches.
fn around(tags: &[Span], place: Span) -> Span {
    let from = tags.partition_point(|tag| tag.end < place.start);
    let touching = tags.iter().skip(from).take_while(|tag| tag.start <= place.end);
    touching.fold(place, |all, tag| Span::new(all.start.min(tag.start), all.end.max(tag.end)))
}
