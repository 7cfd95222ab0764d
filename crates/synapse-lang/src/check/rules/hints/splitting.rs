//! Splitting and joining in two steps, where one step does both.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::model::Version;

const SCATTER: u16 = 1203;
const FOREACH: u16 = 1204;

/// `clone` or `iterate` with an `aggregate` after it.
pub(super) struct Splitting;

impl Rule for Splitting {
    fn codes(&self) -> &'static [u16] {
        &[SCATTER, FOREACH]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["clone", "iterate"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if subject.runtime < Version::EXPRESSIONS
            || !(placed.is_mediator("clone") || placed.is_mediator("iterate"))
        {
            return;
        }
        let after = std::iter::successors(
            placed.element.next_sibling_element(),
            crate::syntax::Element::next_sibling_element,
        );
        if !after.into_iter().any(|one| one.local() == "aggregate") {
            return;
        }
        let span = placed.element.name_span();
        if placed.is_mediator("clone") {
            findings.report(SCATTER, span, "A scatter-gather does what clone and aggregate do together");
        } else {
            let message = "A foreach with collection does what iterate and aggregate do together";
            findings.report(FOREACH, span, message);
        }
    }
}
