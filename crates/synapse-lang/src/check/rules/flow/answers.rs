//! Flows after which the client still waits.

use crate::check::flow::{Flows, Outcome, Way, way};
use crate::check::walk::{Placed, Tree};
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};

use super::named_like;

const REQUEST: u16 = 504;
const RESPONSE: u16 = 505;
const FAULT: u16 = 507;

/// Flows that never answer.
pub(super) struct Answers;

impl Rule for Answers {
    fn codes(&self) -> &'static [u16] {
        &[REQUEST, RESPONSE, FAULT]
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let flows = Flows::new(subject.project);
        let owners = subject.tree.placed().iter();
        for owner in owners.filter(|one| matches!(one.id(), "api.resource" | "proxy.target")) {
            judge(subject, &flows, owner, findings);
        }
    }
}

fn judge(subject: &Subject<'_>, flows: &Flows<'_>, owner: &Placed<'_>, findings: &mut Findings) {
    let tree = &subject.tree;
    let is_proxy = owner.id() == "proxy.target";
    if is_proxy && !answers_http(tree, owner) {
        return;
    }
    // A proxy hands what its inSequence lets through to its endpoint, and the response comes back by itself.
    let forwards = is_proxy
        && (owner.element.attribute("endpoint").is_some() || tree.child(owner, "endpoint").is_some());
    let request_way = way(tree, owner, "inSequence");
    let request = flows.way(tree, request_way, "inSequence");
    if let (Some(outcome), Way::Inline(part)) = (request, request_way)
        && !forwards
        && leaves_waiting(tree, part, outcome)
    {
        let message = format!(
            "This flow never answers: no path of <{}> responds, sends or drops, so the client gets no response",
            part.element.name()
        );
        findings.report(REQUEST, part.element.name_span(), message).fix_if(respond(tree, part));
    }
    let turns = forwards || request.is_some_and(|one| one.turns);
    let response_way = way(tree, owner, "outSequence");
    if let (Some(outcome), Way::Inline(part), true) =
        (flows.way(tree, response_way, "outSequence"), response_way, turns)
        && leaves_waiting(tree, part, outcome)
    {
        let message = format!(
            "Responses end here: no path of <{}> sends or responds, so the client gets none",
            part.element.name()
        );
        findings.report(RESPONSE, part.element.name_span(), message).fix_if(respond(tree, part));
    }
    let fault_way = way(tree, owner, "faultSequence");
    if let (Some(outcome), Way::Inline(part)) = (flows.way(tree, fault_way, "faultSequence"), fault_way)
        && leaves_waiting(tree, part, outcome)
    {
        let message = format!(
            "Errors end here: no path of <{}> responds, so the client is not told",
            part.element.name()
        );
        findings.report(FAULT, part.element.name_span(), message).fix_if(respond(tree, part));
    }
}

/// Whether a flow has steps and certainly answers nobody.
fn leaves_waiting(tree: &Tree<'_>, part: &Placed<'_>, outcome: Outcome) -> bool {
    let has_steps = tree.children(part).any(Placed::is_step);
    has_steps && part.element.is_closed() && outcome.goes_on && !outcome.answers && !outcome.unknown
}

/// Whether clients of a proxy wait for an answer: it listens on HTTP only.
fn answers_http(tree: &Tree<'_>, target: &Placed<'_>) -> bool {
    let Some(proxy) = tree.parent(target) else { return false };
    let transports = proxy.element.value("transports").unwrap_or_default();
    let mut words = transports.split([' ', ',']).filter(|word| !word.is_empty()).peekable();
    let http = words.peek().is_some() && words.all(|word| matches!(word, "http" | "https"));
    let listens = |one: &Placed<'_>| {
        one.id() == "proxy.parameter"
            && one.element.value("name").is_some_and(|name| {
                name.starts_with("transport.") || name.starts_with("rabbitmq.") || name.contains("Poll")
            })
    };
    http && !tree.children(proxy).any(listens)
}

/// `respond` after the last step.
fn respond(tree: &Tree<'_>, part: &Placed<'_>) -> Option<Fix> {
    let last = tree.children(part).filter(|child| child.is_step()).last()?.element;
    // Where a step ends that is closed by another name, or not at all, is a guess, and so is what stands behind it.
    let closed_by = last.close_name_span().map(|name| name.of(last.document().source()));
    if !last.is_self_closing() && closed_by != Some(last.name()) {
        return None;
    }
    let step = format!("<{}/>", named_like(last, "respond"));
    let text = match last.indentation() {
        Some(indentation) => format!("\n{indentation}{step}"),
        None => step,
    };
    Some(Fix::review("Answer with <respond/>", vec![Edit::insert(last.span().end, text)]))
}
