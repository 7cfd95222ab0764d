//! A cache that is asked and never filled.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Rule, Subject};
use crate::model::RefKind;

const NEVER_FILLED: u16 = 511;

/// A `cache` that finds, without one that collects.
pub(super) struct Cache;

impl Rule for Cache {
    fn codes(&self) -> &'static [u16] {
        &[NEVER_FILLED]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let tree = &subject.tree;
        let caches = |collects: bool| {
            tree.placed().iter().filter(move |one| {
                one.is_mediator("cache")
                    && one
                        .element
                        .value("collector")
                        .is_some_and(|value| value == if collects { "true" } else { "false" })
            })
        };
        // A sequence may be one half of a pair; only services are seen whole, and only when they name nothing.
        let whole = |one: &Placed<'_>| matches!(one.id(), "artifact.api" | "artifact.proxy");
        if caches(true).next().is_some() || !tree.root().is_some_and(whole) {
            return;
        }
        let hidden = crate::project::references_of(tree, subject.model)
            .into_iter()
            .any(|one| matches!(one.kind, RefKind::Sequence | RefKind::Template));
        let dynamic = tree.placed().iter().any(|one| {
            one.role == Role::Mediator && one.id() == "sequence" && one.element.attribute("key").is_some()
        });
        if hidden || dynamic {
            return;
        }
        for cache in caches(false) {
            let message = "Nothing fills this cache: no <cache collector=\"true\"/> keeps the responses";
            findings.report(NEVER_FILLED, cache.element.name_span(), message);
        }
    }
}
