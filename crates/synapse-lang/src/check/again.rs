//! Checking resource by resource: the resources of an API do not know each other.
//!
//! A variable that one sets is not there in another, so each is looked into alone. What is found inside one depends on
//! its own text, the start tag of the API, the runtime and the other files of the project, and can be remembered by
//! those: after an edit only the resources that changed are looked into again. Rules that hold resources against each
//! other are shown the whole document every time.
//!
//! Invariant: what a memo knows changes how long a check takes, and nothing else.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::rules::Part;
use super::{Findings, Setting, findings, look, settle};
use crate::diagnostic::Diagnostic;
use crate::syntax::{Document, Element};
use crate::text::Span;

/// One resource alone is the whole document.
const FEWEST: usize = 2;

/// What was found in the resources of one document.
#[derive(Debug, Default)]
pub struct Memo {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// What all resources depend on.
    surroundings: u64,
    /// What was found, by the text of the resource. Places count from the start of the API's tag, the resource right
    /// behind it.
    resources: HashMap<u64, Arc<findings::Kept>>,
}

/// Checks a document, and looks only into what has changed since the last time with this memo.
#[must_use]
pub fn check_again(document: &Document, setting: Setting<'_>, memo: &Memo) -> Vec<Diagnostic> {
    let api = document.root().filter(|root| root.local() == "api" && document.problems().is_empty());
    let resources: Vec<Element<'_>> =
        api.into_iter().flat_map(|api| api.elements()).filter(|child| child.local() == "resource").collect();
    let Some(api) = api.filter(|_| resources.len() >= FEWEST) else {
        return super::whole(document, setting);
    };
    let mut findings = Findings::default();
    look(document, setting, Part::Around, &mut findings);
    let mut found = findings.kept();
    let opening = api.open_span();
    let source = document.source();
    let surroundings = hash(&(
        opening.of(source),
        setting.path,
        setting.runtime,
        setting.project.map(|project| project.stamp(setting.path.unwrap_or_default())),
    ));
    let mut kept = memo.kept.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = std::mem::take(&mut kept.resources);
    if kept.surroundings != surroundings {
        known.clear();
    }
    kept.surroundings = surroundings;
    for resource in resources {
        let text = resource.span().of(source);
        let key = hash(&text);
        let inside = kept.resources.get(&key).or_else(|| known.get(&key)).cloned();
        let inside = inside.unwrap_or_else(|| Arc::new(alone(api, text, setting)));
        found.add(&inside, |one| moved(one, opening, resource.span().start));
        kept.resources.insert(key, inside);
    }
    drop(kept);
    settle(document, found)
}

/// What is found in a resource when it is the only one of its API.
fn alone(api: Element<'_>, text: &str, setting: Setting<'_>) -> findings::Kept {
    let opening = api.open_span().of(api.document().source());
    let document = Document::parse(format!("{opening}{text}</{}>", api.name()));
    let mut findings = Findings::default();
    look(&document, setting, Part::Inside, &mut findings);
    findings.kept()
}

/// A finding, from where it is behind the API's tag to where it is in the document.
fn moved(one: &Diagnostic, opening: Span, resource: u32) -> Diagnostic {
    let place = |span: Span| {
        if span.end <= opening.len() {
            span.shifted(opening.start)
        } else {
            Span::new(
                span.start - opening.len().min(span.start) + resource,
                span.end - opening.len() + resource,
            )
        }
    };
    let mut one = one.clone();
    one.span = place(one.span);
    for edit in one.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
        edit.span = place(edit.span);
    }
    one
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
