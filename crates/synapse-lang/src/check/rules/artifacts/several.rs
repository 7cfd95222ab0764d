//! Children of which these settings allow only one.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};

const SEVERAL: u16 = 824;

/// Several where one is allowed.
pub(super) struct Several;

impl Rule for Several {
    fn codes(&self) -> &'static [u16] {
        &[SEVERAL]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["clone", "operations"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        let (child, reason) = match placed.id() {
            "clone" if element.attribute("iterations").is_some() => {
                ("target", "with iterations a clone has one target")
            }
            "dataServiceCall.operations" if element.value("type").as_deref() == Some("single") => {
                ("operation", "type single takes one operation; several need batch or request-box")
            }
            _ => return,
        };
        if let Some(second) = element.elements().filter(|one| one.local() == child).nth(1) {
            findings.report(SEVERAL, second.name_span(), format!("{reason}; the artifact does not deploy"));
        }
    }
}
