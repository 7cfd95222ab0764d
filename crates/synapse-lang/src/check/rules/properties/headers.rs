//! `header` without a scope sets a SOAP header.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};

const UNQUALIFIED: u16 = 604;

/// The names that stand for themselves as SOAP headers.
const PLAIN: &[&str] = &["To", "From", "Action", "FaultTo", "ReplyTo", "RelatesTo"];

/// HTTP headers that are set as SOAP headers.
pub(super) struct Headers;

impl Rule for Headers {
    fn codes(&self) -> &'static [u16] {
        &[UNQUALIFIED]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["header"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if !placed.is_mediator("header") || element.value("scope").is_some_and(|scope| scope != "default") {
            return;
        }
        let Some(attribute) = element.attribute("name") else { return };
        let name = attribute.value();
        if PLAIN.contains(&name.as_ref()) || name.trim().is_empty() {
            return;
        }
        let declared = name.split_once(':').map(|(prefix, _)| element.lookup_namespace(prefix).is_some());
        let message = match declared {
            Some(true) => return,
            Some(false) => {
                format!(
                    "The prefix of {name} is not declared, and a SOAP header needs it; the artifact does not deploy"
                )
            }
            None => format!(
                "{name} without a scope is a SOAP header, which needs a namespace; the artifact does not deploy. \
                 An HTTP header has scope=\"transport\""
            ),
        };
        let edit = match element.attribute("scope") {
            Some(scope) => Edit::replace(scope.value_span(), "transport"),
            None => Edit::insert(element.attributes_end(), " scope=\"transport\""),
        };
        let fix = declared.is_none().then(|| Fix::safe("Set it as an HTTP header", vec![edit]));
        findings.report(UNQUALIFIED, attribute.value_span(), message).fix_if(fix);
    }
}
