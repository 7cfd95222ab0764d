//! The older `foreach` may not call or send.

use crate::check::walk::{Placed, Role};
use crate::check::{Findings, Interest, Rule, Subject};
use crate::diagnostic::{Class, Severity};

const SENDS: u16 = 508;

/// `call`, `callout` and `send` in a `foreach` with `expression`.
pub(super) struct OlderForeach;

impl Rule for OlderForeach {
    fn codes(&self) -> &'static [u16] {
        &[SENDS]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["foreach"])
    }

    fn element(&self, subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let newer = placed.element.value("collection").is_some_and(|value| !value.trim().is_empty());
        if placed.role != Role::Mediator || newer {
            return;
        }
        let tree = &subject.tree;
        let sends =
            |one: &&Placed<'_>| one.role == Role::Mediator && matches!(one.id(), "call" | "callout" | "send");
        for step in tree.descendants(placed).iter().filter(sends) {
            let nearest = tree.ancestors(step).find(|one| one.is_mediator("foreach"));
            if nearest.is_none_or(|one| one.index != placed.index) {
                continue;
            }
            let parent = tree.parent(step);
            let direct = parent
                .is_some_and(|one| one.element.local() == "sequence" && one.parent == Some(placed.index));
            let name = step.element.name();
            if direct {
                let message = format!(
                    "<{name}> directly in a foreach with expression does not deploy; use foreach with collection"
                );
                findings.report(SENDS, step.element.name_span(), message);
            } else {
                let message = format!(
                    "<{name}> inside a foreach with expression loses its place when the response arrives; \
                     use foreach with collection"
                );
                let finding = findings.report(SENDS, step.element.name_span(), message);
                finding.class(Class::Surprise).severity(Severity::Warning);
            }
        }
    }
}
