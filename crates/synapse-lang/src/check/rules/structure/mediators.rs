//! What stands where a mediator must stand is one, or an operation of a connector.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::model::{Namespace, SYNAPSE_NAMESPACE};
use crate::near::nearest;

const UNKNOWN: u16 = 101;
const NAMESPACE: u16 = 102;

/// Unknown mediators, and mediators in a foreign namespace.
pub(super) struct Mediators;

impl Rule for Mediators {
    fn codes(&self) -> &'static [u16] {
        &[UNKNOWN, NAMESPACE]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.role {
            Role::NoMediator => unknown(subject, placed, findings),
            Role::Mediator if is_foreign(subject, placed) => {
                let element = placed.element;
                let found = element.namespace().unwrap_or_default();
                let place = if found.is_empty() {
                    "no namespace".to_owned()
                } else {
                    format!("the namespace {found}")
                };
                let message = format!(
                    "<{}> is in {place}; mediators are found in {SYNAPSE_NAMESPACE}, so this is an unknown one",
                    element.name()
                );
                findings.report(NAMESPACE, element.name_span(), message);
            }
            _ => {}
        }
    }
}

/// Whether a mediator is in another namespace than it must be. When the root itself has none, that is one finding
/// of its own and not one for each mediator.
fn is_foreign(subject: &Subject<'_>, placed: &Placed<'_>) -> bool {
    let root = subject.tree.root().and_then(|root| root.element.namespace());
    let own = placed.element.namespace();
    own != root
        && placed.definition.is_some_and(|definition| {
            definition.namespace == Namespace::Synapse && !definition.namespace.takes(own.unwrap_or_default())
        })
}

fn unknown(subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
    let element = placed.element;
    let local = element.local();
    if local.is_empty() {
        return; // The syntax has been reported already.
    }
    let parent = subject.tree.parent(placed).filter(|parent| parent.element.is_closed());
    let listed = |one: &Placed<'_>| {
        one.definition.is_some_and(|definition| subject.model.part(definition, local).is_some())
    };
    if parent.is_some_and(listed) {
        return; // What its parent misses is told by the rules of the parent.
    }
    let meant = nearest(local, subject.model.mediators().map(|mediator| mediator.name.as_str()));
    let part_of = subject.model.elements().find(|one| one.name == local);
    let hint = match (meant, part_of) {
        (Some(meant), _) => format!("; did you mean <{meant}>?"),
        (None, Some(part)) => {
            let parent = part.id.rsplit_once('.').map_or("another element", |(parent, _)| parent);
            format!("; it belongs inside {parent}")
        }
        (None, None) => String::new(),
    };
    let message = format!("<{}> is not a mediator{hint}", element.name());
    let fix = meant.filter(|_| element.prefix().is_none()).map(|meant| {
        let spans = [Some(element.name_span()), element.close_name_span()];
        let edits = spans.into_iter().flatten().map(|span| Edit::replace(span, meant)).collect();
        Fix::review(format!("Make it <{meant}>"), edits)
    });
    findings.report(UNKNOWN, element.name_span(), message).fix_if(fix);
}
