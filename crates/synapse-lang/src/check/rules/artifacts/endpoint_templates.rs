//! Parameters of endpoint templates that nothing in the endpoint uses.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};

const UNUSED: u16 = 830;

/// Parameters without a `$name`.
pub(super) struct EndpointTemplates;

impl Rule for EndpointTemplates {
    fn codes(&self) -> &'static [u16] {
        &[UNUSED]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["template"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        if placed.id() != "artifact.template" {
            return;
        }
        let Some(endpoint) = placed.element.first("endpoint") else { return };
        let text = endpoint.span().of(subject.document.source());
        for parameter in placed.element.elements().filter(|one| one.local() == "parameter") {
            let Some(name) = parameter.attribute("name") else { continue };
            let value = name.value();
            if !value.trim().is_empty() && !text.contains(&format!("${value}")) {
                let message =
                    format!("The endpoint does not use this parameter: ${value} stands nowhere in it");
                findings.report(UNUSED, name.value_span(), message);
            }
        }
    }
}
