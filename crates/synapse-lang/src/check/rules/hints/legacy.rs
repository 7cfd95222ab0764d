//! Elements that have a successor.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::model::Version;

const LEGACY: u16 = 1201;

/// Legacy elements.
pub(super) struct Legacy;

impl Rule for Legacy {
    fn codes(&self) -> &'static [u16] {
        &[LEGACY]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let successor = placed.definition.and_then(|definition| definition.legacy.as_deref());
        let Some(successor) = successor.filter(|_| subject.runtime >= Version::EXPRESSIONS) else { return };
        if placed.role == Role::Artifact {
            return; // Whole old configurations are what they are.
        }
        let name = placed.element.name();
        findings.report(LEGACY, placed.element.name_span(), format!("<{name}> is old; there is {successor}"));
    }
}
