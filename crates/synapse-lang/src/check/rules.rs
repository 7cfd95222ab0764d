//! The rules, by family. A family is a folder; a rule is a file in it.

mod artifacts;
mod connectors;
mod data;
mod document;
mod expressions;
mod flow;
mod hints;
mod payloads;
mod places;
mod properties;
mod references;
mod structure;
mod variables;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::check::value::Value;
use crate::check::walk::Placed;
use crate::check::{Findings, Subject};
use crate::diagnostic::Code;

/// Which elements a rule is shown.
#[derive(Debug, Clone, Copy)]
pub enum Interest {
    /// None: it looks at the document or at values.
    None,
    /// Elements with these local names, wherever they stand in the model. Elements of foreign content (payloads)
    /// are never shown.
    Named(&'static [&'static str]),
    /// All that the model has a place for.
    Every,
}

/// One check.
pub trait Rule: Sync {
    /// The codes that it may report, each with its page.
    fn codes(&self) -> &'static [u16];

    /// Which elements it wants to see.
    fn interest(&self) -> Interest {
        Interest::None
    }

    /// Looks at an element.
    fn element(&self, _subject: &Subject<'_>, _placed: &Placed<'_>, _findings: &mut Findings) {}

    /// Looks at a value that the runtime may evaluate.
    fn value(&self, _subject: &Subject<'_>, _value: &Value<'_>, _findings: &mut Findings) {}

    /// Looks at the document as a whole, after its elements and values.
    fn document(&self, _subject: &Subject<'_>, _findings: &mut Findings) {}
}

/// The code of every mistake of the syntax.
pub(super) const NOT_WELL_FORMED: Code = Code(1);

/// The families, in the order in which they were thought of; findings are sorted by place, so it does not matter.
static FAMILIES: &[&[&dyn Rule]] = &[
    document::RULES,
    structure::RULES,
    places::RULES,
    expressions::RULES,
    flow::RULES,
    properties::RULES,
    payloads::RULES,
    artifacts::RULES,
    references::RULES,
    data::RULES,
    connectors::RULES,
    hints::RULES,
    variables::RULES,
];

/// All rules.
pub fn all() -> impl Iterator<Item = &'static dyn Rule> {
    FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// The rules by the elements that they want to see.
struct Readers {
    all: Vec<&'static dyn Rule>,
    named: HashMap<&'static str, Vec<&'static dyn Rule>>,
    every: Vec<&'static dyn Rule>,
}

static READERS: LazyLock<Readers> = LazyLock::new(|| {
    let mut readers = Readers { all: all().collect(), named: HashMap::new(), every: Vec::new() };
    for rule in all() {
        match rule.interest() {
            Interest::None => {}
            Interest::Every => readers.every.push(rule),
            Interest::Named(names) => {
                for name in names {
                    readers.named.entry(name).or_default().push(rule);
                }
            }
        }
    }
    readers
});

/// Shows a document to all rules.
pub(crate) fn run(subject: &Subject<'_>, findings: &mut Findings) {
    let readers = &*READERS;
    for placed in subject.tree.placed() {
        for rule in &readers.every {
            rule.element(subject, placed, findings);
        }
        for rule in readers.named.get(placed.element.local()).into_iter().flatten() {
            rule.element(subject, placed, findings);
        }
    }
    // Value by value and not rule by rule: a document has megabytes of values, and most rules look at few of them, so
    // that going through all of them for every rule would be nothing but waiting for memory.
    for value in &subject.values {
        for rule in &readers.all {
            rule.value(subject, value, findings);
        }
    }
    for rule in &readers.all {
        rule.document(subject, findings);
    }
}
