//! Steps after one that ends the flow.

use std::ops::Range;

use crate::check::flow::Flows;
use crate::check::walk::Placed;
use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;

const UNREACHABLE: u16 = 501;

/// Steps that never run.
pub(super) struct Unreachable;

impl Rule for Unreachable {
    fn codes(&self) -> &'static [u16] {
        &[UNREACHABLE]
    }

    fn is_local(&self) -> bool {
        true
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let flows = Flows::new(subject.project);
        // What lies inside steps that never run is not told again.
        let mut dead = vec![false; subject.tree.placed().len()];
        for parent in subject.tree.placed().iter().filter(|placed| placed.takes_steps()) {
            if dead.get(parent.index).is_none_or(|dead| *dead) {
                continue;
            }
            if let Some(range) = steps(subject, &flows, parent, findings) {
                dead.get_mut(range).into_iter().flatten().for_each(|entry| *entry = true);
            }
        }
    }
}

/// Looks at the steps of one list; the answer is the entries that never run.
fn steps(
    subject: &Subject<'_>,
    flows: &Flows<'_>,
    parent: &Placed<'_>,
    findings: &mut Findings,
) -> Option<Range<usize>> {
    let mut steps = subject.tree.children(parent).filter(|child| child.is_step());
    let last = steps.by_ref().find(|step| !flows.step(&subject.tree, step).goes_on)?;
    let first = steps.next()?;
    let end = steps.last().unwrap_or(first);
    let name = last.element.name();
    let why = match last.id() {
        "filter" | "switch" => format!("every branch of <{name}> ends the flow"),
        "sequence" | "call-template" => format!("what <{name}> runs ends the flow"),
        _ => format!("<{name}> ends the flow"),
    };
    let message = format!("<{}> never runs: {why}", first.element.name());
    let gap = Span::new(last.element.span().end, end.element.span().end);
    let fix = Fix::review("Remove the steps that never run", vec![Edit::remove(gap)]);
    findings.report(UNREACHABLE, first.element.name_span(), message).fix(fix);
    Some(first.index..end.end)
}
