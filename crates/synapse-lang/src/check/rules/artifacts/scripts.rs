//! Scripts that run nothing.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};

const NOTHING: u16 = 829;

/// A script without a key and without code.
pub(super) struct Scripts;

impl Rule for Scripts {
    fn codes(&self) -> &'static [u16] {
        &[NOTHING]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["script"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let written = element.attribute("key").is_some() || !element.text().trim().is_empty();
        if placed.is_mediator("script") && element.is_closed() && !written {
            let message = "This script has no code: it needs a key, or the code between its tags";
            findings.report(NOTHING, element.name_span(), message);
        }
    }
}
