//! What is known about variables at a place of a flow, and what one step changes.

use std::collections::BTreeSet;

use super::bits::Bits;
use crate::check::walk::{Placed, Tree};

/// What a step sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Variable,
    Property,
}

/// What is known at a place of a flow. Names are numbers that the tracer gives them.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Set on every way that leads here.
    pub set: Bits,
    /// Set on some way that leads here.
    pub maybe: Bits,
    /// Set only in copies of the message, which are gone; with the step that made the copies.
    pub lost: BTreeSet<(Thing, String, &'static str)>,
    /// Something that is not in view may have set anything.
    pub unknown: bool,
    /// Whether no way leads here.
    pub ended: bool,
    /// Set anywhere so far, also on ways that have ended.
    pub ever: Bits,
    /// Whether something unknown ran anywhere so far.
    pub ever_unknown: bool,
    /// What was taken away so far, where that is wanted: in a flow that others run, before which nothing is known.
    pub taken: Option<Box<Taken>>,
}

/// What a flow takes away of what was there before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    /// Variables that are removed on some way, and not set again.
    pub perhaps: Bits,
    /// Variables that are removed on every way.
    pub always: Bits,
    /// What is set anew on some way, so that it is not lost in a copy any more.
    pub found: BTreeSet<(Thing, String)>,
    /// Whether everything may be there again on some way.
    pub found_all: bool,
}

impl Taken {
    fn join(&self, other: &Self) -> Self {
        Self {
            perhaps: self.perhaps.or(&other.perhaps),
            always: self.always.and(&other.always),
            found: &self.found | &other.found,
            found_all: self.found_all || other.found_all,
        }
    }
}

impl State {
    /// Something is there again after it was lost.
    pub(super) fn find(&mut self, thing: Thing, name: &str) {
        self.lost.retain(|(of, lost, _)| *of != thing || lost != name);
        if let Some(taken) = &mut self.taken {
            taken.found.insert((thing, name.to_owned()));
        }
    }

    /// A variable is set.
    pub(super) fn write(&mut self, name: &str, number: usize) {
        self.find(Thing::Variable, name);
        self.ever.insert(number);
        self.set(number);
    }

    /// A variable is set on every way.
    pub(super) fn set(&mut self, number: usize) {
        self.maybe.insert(number);
        self.set.insert(number);
        if let Some(taken) = &mut self.taken {
            taken.perhaps.remove(number);
        }
    }

    /// A variable is removed.
    pub(super) fn remove(&mut self, number: usize) {
        self.remove_perhaps(number);
        self.maybe.remove(number);
        if let Some(taken) = &mut self.taken {
            taken.always.insert(number);
        }
    }

    /// A variable is removed on some way.
    pub(super) fn remove_perhaps(&mut self, number: usize) {
        self.set.remove(number);
        if let Some(taken) = &mut self.taken {
            taken.perhaps.insert(number);
        }
    }

    pub(super) fn is_lost(&self, thing: Thing, name: &str) -> Option<&'static str> {
        self.lost.iter().find(|(of, lost, _)| *of == thing && lost == name).map(|(_, _, what)| *what)
    }

    pub(super) fn lose_sight(&mut self) {
        self.find_all();
        self.unknown = true;
        self.ever_unknown = true;
    }

    /// Nothing is lost any more.
    pub(super) fn find_all(&mut self) {
        self.lost.clear();
        if let Some(taken) = &mut self.taken {
            taken.found_all = true;
        }
    }

    /// What is known after one or the other.
    pub(super) fn join(self, other: Self) -> Self {
        let ever = self.ever.or(&other.ever);
        let ever_unknown = self.ever_unknown || other.ever_unknown;
        if self.ended {
            return Self { ever, ever_unknown, ..other };
        }
        if other.ended {
            return Self { ever, ever_unknown, ..self };
        }
        Self {
            set: self.set.and(&other.set),
            maybe: self.maybe.or(&other.maybe),
            lost: &self.lost & &other.lost,
            unknown: self.unknown || other.unknown,
            ended: false,
            ever,
            ever_unknown,
            taken: self.taken.zip(other.taken).map(|(one, two)| Box::new(one.join(&two))),
        }
    }

    /// Where any variable may be set already: a sequence that others run.
    pub(super) fn anything() -> Self {
        Self { unknown: true, ever_unknown: true, ..Self::default() }
    }

    /// Where a flow starts that others run: nothing is known of what was before, and what is taken away of it is noted.
    pub(super) fn blank() -> Self {
        Self { taken: Some(Box::default()), ..Self::default() }
    }

    /// A later flow of the same message: whatever was set may be there.
    pub(super) fn later(self) -> Self {
        Self {
            set: self.ever.clone(),
            maybe: self.ever.clone(),
            lost: BTreeSet::new(),
            unknown: self.ever_unknown,
            ended: false,
            ever: self.ever,
            ever_unknown: self.ever_unknown,
            taken: None,
        }
    }
}

/// What steps inside an element set, at any depth but not in named sequences.
pub(super) fn set_inside(tree: &Tree<'_>, part: &Placed<'_>) -> Vec<(Thing, String)> {
    tree.descendants(part).iter().filter_map(set_by).collect()
}

/// The variable or the property of the default scope that a step sets.
pub(super) fn set_by(step: &Placed<'_>) -> Option<(Thing, String)> {
    let element = step.element;
    let thing = match step.id() {
        "variable" => Thing::Variable,
        "property" | "propertyGroup.property" => Thing::Property,
        _ => return None,
    };
    let default = element.value("scope").is_none_or(|scope| scope.is_empty() || scope == "default");
    let sets = element.value("action").is_none_or(|action| action != "remove");
    let name = element.value("name")?.trim().to_owned();
    (sets && default && !name.contains('{')).then_some((thing, name))
}

/// The property of the default scope that a path reads, when it reads just one.
pub(super) fn property_in(path: &str) -> Option<&str> {
    let rest = path.split_once("get-property(").map(|(_, rest)| rest.trim_start());
    let named = rest.and_then(|rest| {
        let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        let (name, after) = rest.get(1..)?.split_once(quote)?;
        after.trim_start().starts_with(')').then_some(name)
    });
    named.or_else(|| {
        let (_, rest) = path.split_once("$ctx:")?;
        let end = rest.find(|one: char| !(one.is_alphanumeric() || matches!(one, '_' | '-' | '.')));
        rest.get(..end.unwrap_or(rest.len()))
    })
}

/// What is known after a flow that may have run.
pub(super) fn optional(before: State, after: State) -> State {
    let lost = before.lost.clone();
    let found = before.taken.as_ref().map(|taken| (taken.found.clone(), taken.found_all));
    let mut joined = before.join(after);
    if let (Some(taken), Some((found, found_all))) = (&mut joined.taken, found) {
        taken.found = found;
        taken.found_all = found_all;
    }
    State { lost, ended: false, ..joined }
}
