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
use crate::check::walk::{Placed, Tree};
use crate::check::{Findings, Subject};
use crate::diagnostic::Code;

pub(crate) use variables::Effects;

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

    /// Whether [`Rule::document`] may be asked about each resource of an API alone: what it finds in one has nothing to
    /// do with the others. That spares looking into resources that did not change.
    fn is_local(&self) -> bool {
        false
    }

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

/// What of a document is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything.
    Whole,
    /// An API without what lies in its resources, and what concerns all of them.
    Around,
    /// The one resource of an API.
    Inside,
}

impl Part {
    /// Which entries of a tree are shown.
    pub(crate) fn shown(self, tree: &Tree<'_>) -> Shown {
        match self {
            Self::Whole => Shown(None),
            Self::Inside => Shown(Some((0..tree.placed().len()).map(|index| index > 0).collect())),
            Self::Around => {
                let mut shown = vec![true; tree.placed().len()];
                let resources = tree.root().into_iter().flat_map(|root| tree.children(root));
                for resource in resources.filter(|child| child.element.local() == "resource") {
                    shown
                        .get_mut(resource.index..resource.end)
                        .into_iter()
                        .flatten()
                        .for_each(|one| *one = false);
                }
                Shown(Some(shown))
            }
        }
    }
}

/// Which entries of a tree are shown.
pub(crate) struct Shown(Option<Vec<bool>>);

impl Shown {
    /// Whether that entry is.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.0.as_ref().is_none_or(|shown| shown.get(index).copied().unwrap_or_default())
    }
}

/// Shows a part of a document to all rules.
pub(crate) fn run(subject: &Subject<'_>, part: Part, shown: &Shown, findings: &mut Findings) {
    let readers = &*READERS;
    for placed in subject.tree.placed().iter().filter(|placed| shown.has(placed.index)) {
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
    let wanted = |rule: &&&dyn Rule| match part {
        Part::Whole => true,
        Part::Around => !rule.is_local(),
        Part::Inside => rule.is_local(),
    };
    for rule in readers.all.iter().filter(wanted) {
        rule.document(subject, findings);
    }
}
