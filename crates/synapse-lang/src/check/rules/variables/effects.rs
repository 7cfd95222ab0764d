//! What a named sequence or template does to variables, whatever was set before it runs.
//!
//! Invariant: applying its effects leaves what going along its steps would leave. That is possible because each step
//! adds names and takes names away, and no step asks which are there.

use std::collections::BTreeSet;

use crate::check::follow::Sight;
use crate::check::walk::{Placed, Tree};

use super::bits::{Bits, Names};
use super::state::{State, Taken, Thing};
use super::trace::Tracer;

/// What a flow that others run does to variables.
#[derive(Debug)]
pub(crate) struct Effects {
    set: Vec<String>,
    maybe: Vec<String>,
    ever: Vec<String>,
    lost: BTreeSet<(Thing, String, &'static str)>,
    removed: Vec<String>,
    removed_perhaps: Vec<String>,
    found: BTreeSet<(Thing, String)>,
    found_all: bool,
    unknown: bool,
    ever_unknown: bool,
    ended: bool,
}

impl Effects {
    /// Those of the steps directly inside an element.
    pub(crate) fn of(sight: Sight<'_>, tree: &Tree<'_>, body: &Placed<'_>) -> Self {
        let tracer = Tracer::new(sight, tree, &[]);
        let after = tracer.steps(tree, body, State::blank());
        tracer.into_effects(after)
    }

    /// What is known after a flow that started with [`State::blank`].
    pub(super) fn new(state: State, names: &Names) -> Self {
        let named = |bits: &Bits| -> Vec<String> {
            let numbered = names.named.iter().enumerate();
            numbered.filter(|(number, _)| bits.contains(*number)).map(|(_, name)| name.clone()).collect()
        };
        let taken = state.taken.unwrap_or_default();
        let Taken { perhaps, always, found, found_all } = *taken;
        Self {
            set: named(&state.set),
            maybe: named(&state.maybe),
            ever: named(&state.ever),
            lost: state.lost,
            removed: named(&always),
            removed_perhaps: named(&perhaps),
            found,
            found_all,
            unknown: state.unknown,
            ever_unknown: state.ever_unknown,
            ended: state.ended,
        }
    }

    /// What is known after it ran.
    pub(super) fn apply(&self, state: &mut State, names: &mut Names) {
        if self.found_all {
            state.find_all();
        }
        for (thing, name) in &self.found {
            state.find(*thing, name);
        }
        state.lost.extend(self.lost.iter().cloned());
        self.removed.iter().for_each(|name| state.remove(names.number(name)));
        self.removed_perhaps.iter().for_each(|name| state.remove_perhaps(names.number(name)));
        self.ever.iter().for_each(|name| state.ever.insert(names.number(name)));
        self.maybe.iter().for_each(|name| state.maybe.insert(names.number(name)));
        self.set.iter().for_each(|name| state.set(names.number(name)));
        state.unknown |= self.unknown;
        state.ever_unknown |= self.ever_unknown;
        state.ended = self.ended;
    }
}
