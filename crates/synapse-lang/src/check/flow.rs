//! Where a flow goes: whether the step after a step is reached, and whether anybody gets an answer.
//!
//! Named sequences and templates are followed within the document; what those of other files do is known to the
//! project. What is not in view is [`Outcome::unknown`], and may do anything.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::check::follow::Sight;
use crate::check::value::{self, Reading};
use crate::check::walk::{Placed, Role, Tree};
use crate::model::{Ending, Flow, Model, Place, RefKind};
use crate::project::{Project, body_of};

/// How deep steps are followed. Real flows have some ten levels; the stack is finite.
const DEEPEST: usize = 200;

/// What running a step, or a list of steps, leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Whether what follows may run.
    pub goes_on: bool,
    /// Whether the client may get an answer, or may be left without one on purpose.
    pub answers: bool,
    /// Whether the message may be sent to an endpoint, or turned round, so that a response flow follows.
    pub turns: bool,
    /// Whether something takes part that is not in view.
    pub unknown: bool,
}

impl Outcome {
    const ON: Self = Self { goes_on: true, answers: false, turns: false, unknown: false };
    const UNKNOWN: Self = Self { goes_on: true, answers: false, turns: false, unknown: true };

    /// One or the other runs.
    const fn or(self, other: Self) -> Self {
        Self {
            goes_on: self.goes_on || other.goes_on,
            answers: self.answers || other.answers,
            turns: self.turns || other.turns,
            unknown: self.unknown || other.unknown,
        }
    }

    /// The other runs too, and whatever it does, the flow goes on.
    const fn beside(self, other: Self) -> Self {
        Self { goes_on: self.goes_on, ..self.or(other) }
    }
}

/// What follows flows over one document and its project.
pub struct Flows<'p> {
    sight: Sight<'p>,
    named: RefCell<HashMap<(RefKind, String), Outcome>>,
    /// What steps lead to, by the address of their document and their entry.
    steps: RefCell<HashMap<(usize, usize), Outcome>>,
}

impl<'p> Flows<'p> {
    /// For a document of that project, or for one that stands alone.
    #[must_use]
    pub fn new(project: Option<&'p Project>) -> Self {
        Self::within(Sight::Project(project))
    }

    /// For a place from which that much can be seen.
    pub(crate) fn within(sight: Sight<'p>) -> Self {
        Self { sight, named: RefCell::default(), steps: RefCell::default() }
    }

    /// What the steps directly inside an element lead to.
    #[must_use]
    pub fn steps(&self, tree: &Tree<'_>, parent: &Placed<'_>) -> Outcome {
        self.list(tree, parent, 0)
    }

    /// What one step leads to.
    #[must_use]
    pub fn step(&self, tree: &Tree<'_>, step: &Placed<'_>) -> Outcome {
        self.one(tree, step, 0)
    }

    /// What a named sequence or template leads to, looked up in the document first.
    #[must_use]
    pub fn named(&self, tree: &Tree<'_>, kind: RefKind, name: &str) -> Outcome {
        self.follow(tree, kind, name, 0)
    }

    fn list(&self, tree: &Tree<'_>, parent: &Placed<'_>, depth: usize) -> Outcome {
        let mut all = Outcome::ON;
        for step in tree.children(parent).filter(|child| child.is_step()) {
            let one = self.one(tree, step, depth);
            all = Outcome { goes_on: one.goes_on, ..all.or(one) };
            if !one.goes_on {
                break;
            }
        }
        all
    }

    fn one(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        if depth > DEEPEST {
            return Outcome::UNKNOWN;
        }
        match step.role {
            Role::Operation => return Outcome::ON,
            Role::Mediator => {}
            _ => return Outcome::UNKNOWN,
        }
        let key = (std::ptr::from_ref(step.element.document()).addr(), step.index);
        if let Some(known) = self.steps.borrow().get(&key) {
            return *known;
        }
        let outcome = self.mediator(tree, step, depth);
        self.steps.borrow_mut().insert(key, outcome);
        outcome
    }

    fn mediator(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        let element = step.element;
        match step.id() {
            "filter" => self.filter(tree, step, depth),
            "switch" => self.switch(tree, step, depth),
            "sequence" => match element.attribute("key").filter(|_| element.attribute("name").is_none()) {
                Some(key) => self.reference(tree, RefKind::Sequence, &key.value(), Place::Value, depth),
                None => self.list(tree, step, depth + 1),
            },
            "call-template" => {
                let target = element.value("target").unwrap_or_default();
                self.reference(tree, RefKind::Template, &target, Place::Literal, depth)
            }
            // The client has its answer on purpose when somebody else takes the message.
            "store" | "enqueue" => Outcome { answers: true, ..Outcome::ON },
            "property" => {
                let name = element.value("name").unwrap_or_default();
                let answers = matches!(name.as_ref(), "OUT_ONLY" | "FORCE_SC_ACCEPTED" | "RESPONSE");
                Outcome { answers, ..Outcome::ON }
            }
            "class" | "spring" | "pojoCommand" | "annotatedCommand" | "rule" => Outcome::UNKNOWN,
            _ => self.ending(tree, step, depth),
        }
    }

    /// A step that ends the flow, or one that has flows inside it.
    fn ending(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        let inside = self.parts(tree, step, depth);
        let on = Outcome::ON.beside(inside);
        let Some(Flow::Ends { how, when }) = step.definition.map(|definition| &definition.flow) else {
            return on;
        };
        if when.as_ref().is_some_and(|when| !step.holds(when)) {
            return on;
        }
        match how {
            Ending::Responds | Ending::Drops | Ending::Raises => {
                Outcome { goes_on: false, answers: true, ..on }
            }
            // The response arrives elsewhere, or is what the flow is about from there on.
            Ending::LoopsBack | Ending::Sends => Outcome { goes_on: false, answers: true, turns: true, ..on },
            // Once the parts are joined, or when there is nothing to join, the flow goes on.
            Ending::HandsOver if step.id() == "aggregate" => on,
            Ending::HandsOver => Outcome { goes_on: false, answers: true, unknown: true, ..on },
        }
    }

    fn filter(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        let Some(then) = tree.child(step, "then").filter(|then| then.role == Role::Part) else {
            return Outcome::ON.or(self.list(tree, step, depth + 1));
        };
        let otherwise = tree.child(step, "else").map_or(Outcome::ON, |other| self.branch(tree, other, depth));
        self.branch(tree, then, depth).or(otherwise)
    }

    fn switch(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        let default = tree.child(step, "default");
        let first = default.map_or(Outcome::ON, |default| self.branch(tree, default, depth));
        let cases = tree.children(step).filter(|part| part.id() == "switch.case");
        cases.fold(first, |all, case| all.or(self.branch(tree, case, depth)))
    }

    /// A branch names a sequence or holds steps.
    fn branch(&self, tree: &Tree<'_>, part: &Placed<'_>, depth: usize) -> Outcome {
        match part.element.value("sequence").filter(|_| part.id().starts_with("filter.")) {
            Some(name) => self.reference(tree, RefKind::Sequence, &name, Place::Literal, depth),
            None => self.list(tree, part, depth + 1),
        }
    }

    /// What the flows inside the parts of a step may do.
    fn parts(&self, tree: &Tree<'_>, step: &Placed<'_>, depth: usize) -> Outcome {
        let mut all = Outcome::ON;
        if depth > DEEPEST {
            return Outcome::UNKNOWN;
        }
        for attribute in step.element.attributes().filter(|one| one.prefix().is_none()) {
            let known = step.definition.and_then(|one| Model::get().attribute(one, attribute.local()));
            if known.is_some_and(|known| known.reference == Some(RefKind::Sequence))
                && attribute.local() != "onError"
            {
                let place = known.map_or(Place::Literal, |known| known.place);
                all = all.or(self.reference(tree, RefKind::Sequence, &attribute.value(), place, depth));
            }
        }
        if step.id() == "target" {
            let sends =
                step.element.attribute("endpoint").is_some() || step.element.first("endpoint").is_some();
            all = Outcome { answers: all.answers || sends, turns: all.turns || sends, ..all };
        }
        for child in tree.children(step) {
            if child.is_step() {
                all = all.or(self.one(tree, child, depth + 1));
            } else if child.id() != "endpoint" {
                all = all.or(self.parts(tree, child, depth + 1));
            }
        }
        all
    }

    fn reference(&self, tree: &Tree<'_>, kind: RefKind, name: &str, place: Place, depth: usize) -> Outcome {
        if value::read(place, name) == Reading::Literal {
            self.follow(tree, kind, name.trim(), depth)
        } else {
            Outcome::UNKNOWN
        }
    }

    fn follow(&self, tree: &Tree<'_>, kind: RefKind, name: &str, depth: usize) -> Outcome {
        let key = (kind, name.to_owned());
        if let Some(known) = self.named.borrow().get(&key) {
            return *known;
        }
        let outcome = match body_in(self.sight, tree, kind, name) {
            Some(body) => {
                // Whoever comes back here while it is being looked at goes round in a circle.
                self.named.borrow_mut().insert(key.clone(), Outcome::UNKNOWN);
                self.list(tree, body, depth + 1)
            }
            None => self.sight.summary(kind, name).map_or(Outcome::UNKNOWN, |known| known.outcome),
        };
        self.named.borrow_mut().insert(key, outcome);
        outcome
    }
}

/// The element that holds the steps of a sequence or template which a document defines, when it is the document to look
/// in first.
pub(crate) fn body_in<'t, 'a>(
    sight: Sight<'_>,
    tree: &'t Tree<'a>,
    kind: RefKind,
    name: &str,
) -> Option<&'t Placed<'a>> {
    if !sight.starts_here() {
        return None;
    }
    let named = |one: &Placed<'a>| one.element.value("name").is_some_and(|value| value.trim() == name);
    let mut artifacts = tree.placed().iter().filter(|one| one.role == Role::Artifact);
    artifacts.find_map(|one| {
        let (of, body) = body_of(tree, one)?;
        (of == kind && named(one)).then_some(body)
    })
}

/// A flow of an API's resource or of a proxy.
#[derive(Clone, Copy)]
pub enum Way<'t, 'a> {
    /// Steps written in place.
    Inline(&'t Placed<'a>),
    /// A named sequence; the element that names it.
    Named(&'t Placed<'a>),
    /// There is none.
    Absent,
}

/// The flows of an API's resource or of a proxy's target: `inSequence`, `outSequence`, `faultSequence`.
#[must_use]
pub fn way<'t, 'a>(tree: &'t Tree<'a>, owner: &'t Placed<'a>, which: &str) -> Way<'t, 'a> {
    if owner.element.value(which).is_some_and(|name| !name.trim().is_empty()) {
        Way::Named(owner)
    } else {
        tree.child(owner, which).map_or(Way::Absent, Way::Inline)
    }
}

impl Flows<'_> {
    /// What a flow of a resource or a target leads to.
    #[must_use]
    pub fn way(&self, tree: &Tree<'_>, way: Way<'_, '_>, which: &str) -> Option<Outcome> {
        match way {
            Way::Inline(part) => Some(self.steps(tree, part)),
            Way::Named(owner) => {
                let name = owner.element.value(which).unwrap_or_default();
                Some(self.named(tree, RefKind::Sequence, name.trim()))
            }
            Way::Absent => None,
        }
    }
}

#[cfg(test)]
mod tests;
