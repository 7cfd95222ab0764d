//! Sequences, templates and endpoints that lead back to themselves.

use std::borrow::Cow;
use std::sync::Arc;

use crate::check::{Findings, Rule, Subject};
use crate::diagnostic::Severity;
use crate::project::{Call, Circle, Graph, calls_of, definitions_of};

const CYCLE: u16 = 908;
/// How many names of a circle are shown at most, and how many of them at its start when there are more.
const SHOWN: usize = 8;
const FIRST: usize = 4;

/// Circles among sequences, templates and endpoints.
pub(super) struct Cycles;

impl Rule for Cycles {
    fn codes(&self) -> &'static [u16] {
        &[CYCLE]
    }

    fn document(&self, subject: &Subject<'_>, findings: &mut Findings) {
        let file = subject.project.zip(subject.path).and_then(|(project, path)| project.file(path));
        let own = file.filter(|file| std::ptr::eq(file.document(), subject.document));
        if let Some((project, file)) = subject.project.zip(own) {
            if !file.calls().is_empty() {
                report(project.followed().graph(), file.calls(), findings);
            }
            return;
        }
        // A document that stands alone, or a newer text than its project has.
        let calls = calls_of(&subject.tree);
        if calls.is_empty() {
            return;
        }
        let definitions = definitions_of(&subject.tree);
        let path: Arc<str> = subject.path.unwrap_or_default().into();
        let part = (&path, definitions.as_slice(), calls.as_slice());
        let graph = match subject.project {
            Some(project) => project.graph_with(Some(part)),
            None => Graph::of(std::iter::once(part)),
        };
        report(&graph, &calls, findings);
    }
}

fn report(graph: &Graph, calls: &[Call], findings: &mut Findings) {
    for call in calls {
        let Some(circle) = graph.circle(call) else { continue };
        let path = shown(&circle, call);
        if circle.is_certain {
            let message = format!("This comes back here without end: {path}");
            findings.report(CYCLE, call.span, message);
        } else {
            let message = format!("This comes back here: {path}; it ends only when a condition says so");
            findings.report(CYCLE, call.span, message).severity(Severity::Info);
        }
    }
}

/// The names of a circle, those in the middle left out when there are many.
fn shown(circle: &Circle<'_>, call: &Call) -> String {
    let names = &circle.names;
    let last = SHOWN - FIRST - 1;
    let words: Vec<Cow<'_, str>> = if names.is_empty() {
        vec![call.from.1.as_str().into(), call.to.1.as_str().into(), "…".into(), call.from.1.as_str().into()]
    } else if names.len() <= SHOWN {
        names.iter().map(|name| Cow::from(*name)).collect()
    } else {
        let left_out = names.len() - FIRST - last;
        let (start, end) = (names.iter().take(FIRST), names.iter().skip(FIRST + left_out));
        let middle = Cow::from(format!("… {left_out} more …"));
        start.map(|name| Cow::from(*name)).chain([middle]).chain(end.map(|name| Cow::from(*name))).collect()
    };
    words.join(" → ")
}
