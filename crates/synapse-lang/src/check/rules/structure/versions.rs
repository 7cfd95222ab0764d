//! What the runtime of the project does not have yet.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Severity};
use crate::model::Version;

const NOT_YET: u16 = 130;
const UNREAD: u16 = 131;

/// Elements and attributes of later versions.
pub(super) struct Versions;

impl Rule for Versions {
    fn codes(&self) -> &'static [u16] {
        &[NOT_YET, UNREAD]
    }

    fn interest(&self) -> Interest {
        Interest::Every
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let Some(definition) = placed.definition else { return };
        let element = placed.element;
        let runtime = subject.runtime;
        // A part that is not there yet is not read; a mediator that is not there is unknown.
        let class = if placed.role == Role::Part { Class::Ignored } else { Class::Deploy };
        if let Some(since) = later(definition.since, runtime) {
            let message =
                format!("<{}> exists from {since} on; this project runs on {runtime}", element.name());
            let found = findings.report(NOT_YET, element.name_span(), message);
            found.class(class).severity(super::severity(class));
            return;
        }
        for attribute in element.attributes().filter(|one| one.prefix().is_none()) {
            let Some(known) = subject.model.attribute(definition, attribute.local()) else { continue };
            if let Some(since) = later(known.since, runtime) {
                let message = format!(
                    "{} of <{}> is read from {since} on; this project runs on {runtime}",
                    attribute.local(),
                    element.name()
                );
                findings.report(UNREAD, attribute.name_span(), message).severity(Severity::Warning);
                continue;
            }
            let value = attribute.value();
            let newer = known
                .newer
                .iter()
                .find(|one| one.value == value)
                .and_then(|one| later(Some(one.since), runtime));
            if let Some(since) = newer {
                let message = format!(
                    "{}={value:?} is understood from {since} on; this project runs on {runtime}",
                    attribute.local()
                );
                findings.report(NOT_YET, attribute.value_span(), message);
            }
        }
    }
}

fn later(since: Option<Version>, runtime: Version) -> Option<Version> {
    since.filter(|since| *since > runtime)
}
