//! Protocols of inbound endpoints that the runtime has.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::near::nearest;

const UNKNOWN: u16 = 832;

/// Protocols that nobody speaks.
pub(super) struct Protocols;

impl Rule for Protocols {
    fn codes(&self) -> &'static [u16] {
        &[UNKNOWN]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["inboundEndpoint"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        // A class brings its own protocol, whatever it is called.
        if placed.id() != "artifact.inboundEndpoint" || element.attribute("class").is_some() {
            return;
        }
        let Some(protocol) = element.attribute("protocol") else { return };
        let written = protocol.value();
        let known = || subject.model.protocols().map(|one| one.name.as_str()).filter(|name| !name.is_empty());
        if written.trim().is_empty() || written.contains('$') || known().any(|name| name == written) {
            return;
        }
        let message = format!("There is no protocol {written}, and no class that brings one");
        let fix = nearest(&written, known()).map(|meant| {
            Fix::review(format!("Change it to {meant}"), vec![Edit::replace(protocol.value_span(), meant)])
        });
        findings.report(UNKNOWN, protocol.value_span(), message).fix_if(fix);
    }
}
