//! `loopback` where the message already is a response.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};

use super::named_like;

const RESPONSE: u16 = 506;

/// Jumps into the flow that is already running.
pub(super) struct Loopback;

impl Rule for Loopback {
    fn codes(&self) -> &'static [u16] {
        &[RESPONSE]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["loopback"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let response =
            |one: &&Placed<'_>| matches!(one.id(), "api.outSequence" | "proxy.outSequence" | "out");
        if placed.role != Role::Mediator {
            return;
        }
        let Some(flow) = subject.tree.ancestors(placed).find(response) else { return };
        let element = placed.element;
        let message = format!(
            "<{}> in <{}> only stops: the message already is a response, so the client gets none",
            element.name(),
            flow.element.name()
        );
        let respond = format!("<{}/>", named_like(element, "respond"));
        let fix = Fix::review("Answer with <respond/>", vec![Edit::replace(element.span(), respond)]);
        findings.report(RESPONSE, element.name_span(), message).fix(fix);
    }
}
