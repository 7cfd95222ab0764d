//! `send` and `call` without an endpoint, where nothing says where the message goes.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::syntax::Element;
use crate::text::Span;

use super::named_like;

const SEND: u16 = 502;
const CALL: u16 = 503;

/// Steps that leave the message as it is addressed: a request.
const INNOCENT: &[&str] = &[
    "log",
    "variable",
    "payloadFactory",
    "filter",
    "switch",
    "validate",
    "enrich",
    "xslt",
    "fastXSLT",
    "datamapper",
    "jsontransform",
    "dblookup",
    "dbreport",
    "property",
    "propertyGroup",
    "header",
    "throttle",
];

/// Messages that go back to where they came from.
pub(super) struct Implicit;

impl Rule for Implicit {
    fn codes(&self) -> &'static [u16] {
        &[SEND, CALL]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["send", "call"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let element = placed.element;
        if placed.role != Role::Mediator || element.first("endpoint").is_some() || !element.is_closed() {
            return;
        }
        let request = subject.tree.ancestors(placed).find(|one| one.id() == "api.inSequence");
        // Requests of a proxy may carry the address of another service, so only those of an API are certain.
        if !request.is_some_and(|request| is_untouched(subject, request, placed)) {
            return;
        }
        if placed.id() == "send" {
            let message = format!(
                "<{}> without an endpoint sends the request back to this API, not to the client; \
                 use <respond/> to answer",
                element.name()
            );
            let respond = format!("<{}/>", named_like(element, "respond"));
            let fix = Fix::review("Answer with <respond/>", vec![Edit::replace(element.span(), respond)]);
            // What else it has (a receive sequence) says that it was not meant as an answer.
            let plain = element.attributes().next().is_none() && !element.has_element_children();
            findings.report(SEND, element.name_span(), message).fix_if(plain.then_some(fix));
        } else {
            let message = format!(
                "<{}> has no endpoint, and nothing before it sets one: the request goes back to this API",
                element.name()
            );
            findings.report(CALL, element.name_span(), message).fix_if(endpoint(element));
        }
    }
}

/// Whether all steps before one, in its request flow, leave the address alone.
fn is_untouched(subject: &Subject<'_>, request: &Placed<'_>, step: &Placed<'_>) -> bool {
    let before = subject.tree.descendants(request).iter().take_while(|one| one.index < step.index);
    let inside = subject.tree.ancestors(step).take_while(|one| one.index != request.index);
    before.filter(|one| one.is_step()).all(is_innocent) && inside.filter(|one| one.is_step()).all(is_innocent)
}

fn is_innocent(step: &Placed<'_>) -> bool {
    if step.role != Role::Mediator || !INNOCENT.contains(&step.id()) {
        return false;
    }
    let names = std::iter::once(step.element).chain(step.element.elements());
    let mut names = names.filter_map(|one| one.value("name"));
    let addresses = |name: &str| {
        ["To", "RESPONSE", "REST_URL_POSTFIX", "TransportURL"].contains(&name) || name.contains(['{', '$'])
    };
    !names.any(|name| addresses(&name))
}

/// An endpoint to fill in.
fn endpoint(call: Element<'_>) -> Option<Fix> {
    let name = named_like(call, "endpoint");
    let child = format!("<{name} key=\"EndpointName\"/>");
    let inner = call
        .indentation()
        .map_or_else(|| child.clone(), |indentation| format!("\n{indentation}    {child}\n{indentation}"));
    let edit = if call.is_self_closing() {
        let end = call.open_span().end;
        let start = call.attributes_end();
        Edit::replace(Span::new(start, end), format!(">{inner}</{}>", call.name()))
    } else {
        Edit::insert(call.open_span().end, inner.trim_end())
    };
    Some(Fix::review("Add an endpoint", vec![edit]))
}
