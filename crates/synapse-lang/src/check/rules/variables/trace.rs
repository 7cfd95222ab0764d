//! Which variables are set where, along the steps of a flow.
//!
//! A variable is set, perhaps set, or not set. Once a step runs that may set anything, nothing is said any more.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::check::flow::{Flows, body_in};
use crate::check::follow::Sight;
use crate::check::value::{self, Reading, Value};
use crate::check::walk::{Placed, Role, Tree};
use crate::check::writes;
use crate::expr::ast::{self, NameForm, NodeKind};
use crate::expr::parser;
use crate::model::{Model, Place, RefKind};
use crate::syntax::Document;
use crate::text::Span;

use super::bits::Names;
use super::effects::Effects;
use super::guarded;
use super::state::{State, Thing, optional, property_in, set_by, set_inside};

/// How deep steps are followed; the stack is finite.
const DEEPEST: usize = 200;

/// How a variable is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nobody set it.
    Never {
        /// What is set at that place.
        others: Vec<String>,
    },
    /// It is set on some ways only.
    Perhaps,
    /// It was set in copies that are gone.
    Lost(&'static str),
}

/// A place that reads a variable which is not there.
#[derive(Debug)]
pub(super) struct Use {
    pub name: String,
    pub span: Span,
    pub trouble: Trouble,
    /// The entry of the step that reads it.
    pub step: usize,
    /// Whether the name is written without quotes.
    pub is_plain: bool,
}

/// Goes along flows.
pub(super) struct Tracer<'p, 'v, 'a> {
    sight: Sight<'p>,
    flows: Flows<'p>,
    /// The values of the document that is judged, by the entry of their element.
    values: HashMap<usize, Vec<&'v Value<'a>>>,
    document: Option<&'a Document>,
    uses: RefCell<Vec<Use>>,
    visiting: RefCell<Vec<(RefKind, String)>>,
    /// The numbers of names.
    names: RefCell<Names>,
    /// How many sequences of the document may still be followed; circles have no end otherwise.
    budget: RefCell<usize>,
}

impl<'p, 'v, 'a> Tracer<'p, 'v, 'a> {
    pub(super) fn new(sight: Sight<'p>, tree: &Tree<'a>, values: &'v [Value<'a>]) -> Self {
        let mut by_entry: HashMap<usize, Vec<&Value<'a>>> = HashMap::new();
        for value in values {
            by_entry.entry(value.placed.index).or_default().push(value);
        }
        Self {
            sight,
            flows: Flows::within(sight),
            values: by_entry,
            document: tree.root().map(|root| root.element.document()),
            uses: RefCell::default(),
            visiting: RefCell::default(),
            names: RefCell::default(),
            budget: RefCell::new(500),
        }
    }

    /// What was found so far.
    pub(super) fn into_uses(self) -> Vec<Use> {
        self.uses.into_inner()
    }

    /// What it knows after a flow, for whoever runs that flow.
    pub(super) fn into_effects(self, state: State) -> Effects {
        Effects::new(state, &self.names.into_inner())
    }

    /// Goes along the steps directly inside an element.
    pub(super) fn steps(&self, tree: &Tree<'_>, parent: &Placed<'_>, state: State) -> State {
        self.list(tree, parent, state, 0)
    }

    /// Goes along a named sequence.
    pub(super) fn named(&self, tree: &Tree<'_>, name: &str, state: State) -> State {
        self.follow(tree, RefKind::Sequence, name, state, 0)
    }

    fn list(&self, tree: &Tree<'_>, parent: &Placed<'_>, mut state: State, depth: usize) -> State {
        for step in tree.children(parent).filter(|child| child.is_step()) {
            if state.ended {
                break;
            }
            state = self.step(tree, step, state, depth);
        }
        state
    }

    fn step(&self, tree: &Tree<'_>, step: &Placed<'_>, mut state: State, depth: usize) -> State {
        if depth > DEEPEST {
            state.lose_sight();
            return state;
        }
        let element = step.element;
        let kind = if step.role == Role::Mediator { step.id() } else { "" };
        match kind {
            "filter" => {
                self.read(tree, step, step.index, &state);
                return self.filter(tree, step, state, depth);
            }
            "switch" => {
                self.read(tree, step, step.index, &state);
                return self.switch(tree, step, &state, depth);
            }
            "sequence" => {
                self.read(tree, step, step.index, &state);
                return match element.attribute("key").filter(|_| element.attribute("name").is_none()) {
                    Some(key) => {
                        self.reference(tree, RefKind::Sequence, &key.value(), Place::Value, state, depth)
                    }
                    None => self.list(tree, step, state, depth + 1),
                };
            }
            "call-template" => {
                self.read_all(tree, step, step.index, &state);
                let target = element.value("target").unwrap_or_default();
                return self.reference(tree, RefKind::Template, &target, Place::Literal, state, depth);
            }
            "foreach" if element.value("collection").is_some_and(|value| !value.trim().is_empty()) => {
                self.read(tree, step, step.index, &state);
                let mut inside = state.clone();
                if let Some(counter) = element.value("counter-variable") {
                    self.write(&mut inside, counter.trim());
                }
                self.copies(tree, step, &mut state, &inside, "foreach", depth);
            }
            "scatter-gather" => {
                self.read(tree, step, step.index, &state);
                let inside = state.clone();
                self.copies(tree, step, &mut state, &inside, "scatter-gather", depth);
            }
            _ => {
                self.read(tree, step, step.index, &state);
                state = self.parts(tree, step, step.index, state, depth);
            }
        }
        self.effects(tree, step, &mut state);
        state.ended = !self.flows.step(tree, step).goes_on;
        state
    }

    fn write(&self, state: &mut State, name: &str) {
        state.write(name, self.names.borrow_mut().number(name));
    }

    /// What is wrong with reading a variable at a place.
    fn trouble(&self, state: &State, name: &str) -> Option<Trouble> {
        if let Some(what) = state.is_lost(Thing::Variable, name) {
            return Some(Trouble::Lost(what));
        }
        let number = self.names.borrow_mut().number(name);
        if state.unknown || state.set.contains(number) {
            return None;
        }
        if state.maybe.contains(number) {
            return Some(Trouble::Perhaps);
        }
        let names = self.names.borrow();
        let others = names.named.iter().enumerate().filter(|(number, _)| state.maybe.contains(*number));
        Some(Trouble::Never { others: others.map(|(_, name)| name.clone()).collect() })
    }

    /// What a step sets or takes away itself.
    fn effects(&self, tree: &Tree<'_>, step: &Placed<'_>, state: &mut State) {
        let element = step.element;
        if step.is_mediator("variable") && element.value("action").is_some_and(|action| action == "remove") {
            let name = element.value("name").unwrap_or_default();
            state.remove(self.names.borrow_mut().number(name.trim()));
            return;
        }
        for one in std::iter::once(step).chain(tree.children(step)) {
            if let Some((Thing::Property, name)) = set_by(one) {
                state.find(Thing::Property, &name);
            }
        }
        let counter = element.value("counter-variable").filter(|_| step.is_mediator("foreach"));
        let written = writes::of(tree, step);
        for name in written.names {
            if counter.as_deref().map(str::trim) != Some(name.as_str()) {
                self.write(state, &name);
            }
        }
        if written.is_opaque {
            state.lose_sight();
        }
    }

    fn filter(&self, tree: &Tree<'_>, step: &Placed<'_>, state: State, depth: usize) -> State {
        let expected = Self::expected(step);
        let mut inside = state.clone();
        for name in expected {
            self.write(&mut inside, &name);
        }
        match tree.child(step, "then").filter(|then| then.role == Role::Part) {
            Some(then) => {
                let yes = self.branch(tree, then, inside.clone(), depth);
                // Which of the branches has it is not worked out.
                let no = tree.child(step, "else").map(|other| self.branch(tree, other, inside, depth));
                yes.join(no.unwrap_or(state))
            }
            None => self.list(tree, step, inside, depth + 1).join(state),
        }
    }

    fn switch(&self, tree: &Tree<'_>, step: &Placed<'_>, state: &State, depth: usize) -> State {
        let default = tree.child(step, "default");
        let first = match default {
            Some(default) => self.branch(tree, default, state.clone(), depth),
            None => state.clone(),
        };
        let cases = tree.children(step).filter(|part| part.id() == "switch.case");
        cases.fold(first, |all, case| all.join(self.branch(tree, case, state.clone(), depth)))
    }

    fn branch(&self, tree: &Tree<'_>, part: &Placed<'_>, state: State, depth: usize) -> State {
        match part.element.value("sequence").filter(|_| part.id().starts_with("filter.")) {
            Some(name) => self.reference(tree, RefKind::Sequence, &name, Place::Literal, state, depth),
            None => self.list(tree, part, state, depth + 1),
        }
    }

    /// Steps that work on copies of the message: what they set is gone afterwards.
    fn copies(
        &self,
        tree: &Tree<'_>,
        step: &Placed<'_>,
        state: &mut State,
        inside: &State,
        what: &'static str,
        depth: usize,
    ) {
        for part in tree.children(step) {
            self.read(tree, part, step.index, state);
            if part.element.local() != "sequence" {
                continue;
            }
            let after = match part.element.value("key") {
                Some(key) => {
                    self.reference(tree, RefKind::Sequence, &key, Place::Literal, inside.clone(), depth)
                }
                None => self.list(tree, part, inside.clone(), depth + 1),
            };
            for (thing, name) in set_inside(tree, part) {
                state.lost.insert((thing, name, what));
            }
            if after.unknown && !state.unknown {
                state.unknown = true;
                state.ever_unknown = true;
            }
            state.ever = state.ever.or(&after.ever);
        }
    }

    /// The parts of any other step: their values are read, and the flows in them may run.
    fn parts(
        &self,
        tree: &Tree<'_>,
        parent: &Placed<'_>,
        step: usize,
        mut state: State,
        depth: usize,
    ) -> State {
        if depth > DEEPEST {
            state.lose_sight();
            return state;
        }
        for attribute in parent.element.attributes().filter(|one| one.prefix().is_none()) {
            let known = parent.definition.and_then(|one| Model::get().attribute(one, attribute.local()));
            let Some(known) = known.filter(|one| one.reference == Some(RefKind::Sequence)) else { continue };
            if !matches!(known.name.as_str(), "onError" | "receive") {
                let after = self.reference(
                    tree,
                    RefKind::Sequence,
                    &attribute.value(),
                    known.place,
                    state.clone(),
                    depth,
                );
                state = optional(state, after);
            }
        }
        for child in tree.children(parent).filter(|child| !child.is_step()) {
            self.read(tree, child, step, &state);
            state = self.parts(tree, child, step, state, depth + 1);
        }
        if parent.takes_steps() {
            let after = self.list(tree, parent, state.clone(), depth + 1);
            state = optional(state, after);
        }
        state
    }

    fn reference(
        &self,
        tree: &Tree<'_>,
        kind: RefKind,
        name: &str,
        place: Place,
        mut state: State,
        depth: usize,
    ) -> State {
        if value::read(place, name) == Reading::Literal {
            self.follow(tree, kind, name.trim(), state, depth)
        } else {
            state.lose_sight();
            state
        }
    }

    fn follow(&self, tree: &Tree<'_>, kind: RefKind, name: &str, mut state: State, depth: usize) -> State {
        let Some(body) = body_in(self.sight, tree, kind, name) else {
            match self.sight.summary(kind, name) {
                Some(known) => known.effects.apply(&mut state, &mut self.names.borrow_mut()),
                None => state.lose_sight(),
            }
            return state;
        };
        let key = (kind, name.to_owned());
        let exhausted = {
            let mut budget = self.budget.borrow_mut();
            *budget = budget.saturating_sub(1);
            *budget == 0
        };
        if exhausted || depth > DEEPEST || self.visiting.borrow().contains(&key) {
            state.lose_sight();
            return state;
        }
        self.visiting.borrow_mut().push(key);
        let after = self.list(tree, body, state, depth + 1);
        self.visiting.borrow_mut().pop();
        after
    }

    /// Notes what the values of an element and of everything below it read.
    fn read_all(&self, tree: &Tree<'_>, placed: &Placed<'_>, step: usize, state: &State) {
        self.read(tree, placed, step, state);
        for below in tree.descendants(placed) {
            self.read(tree, below, step, state);
        }
    }

    /// Notes what the values of an element read, in the document that is judged.
    fn read(&self, tree: &Tree<'_>, placed: &Placed<'_>, step: usize, state: &State) {
        let document = tree.root().map(|root| root.element.document());
        let here = document.zip(self.document).is_some_and(|(one, other)| std::ptr::eq(one, other));
        if !here {
            return;
        }
        for value in self.values.get(&placed.index).into_iter().flatten() {
            if let Reading::XPath(range) = &value.reading
                && let Some(name) = value.text().get(range.clone()).and_then(property_in)
                && let Some(what) = state.is_lost(Thing::Property, name)
            {
                let (name, span) = (name.to_owned(), value.span());
                self.uses.borrow_mut().push(Use {
                    name,
                    span,
                    trouble: Trouble::Lost(what),
                    step,
                    is_plain: false,
                });
            }
            for range in value.expressions() {
                let Ok(expression) = parser::parse(value.text().get(range.clone()).unwrap_or_default())
                else {
                    continue;
                };
                let expected = guarded(&expression);
                expression.root.walk(&mut |node| {
                    let (name, trouble) = match &node.kind {
                        NodeKind::Variable(variable) => {
                            (&variable.name, self.trouble(state, &variable.name.value))
                        }
                        NodeKind::Lookup(lookup) if lookup.place == ast::Place::Synapse => {
                            let lost = state.is_lost(Thing::Property, &lookup.name.value);
                            (&lookup.name, lost.map(Trouble::Lost))
                        }
                        _ => return,
                    };
                    // Other forms of names do not lead to the variable, which another rule tells.
                    let leads = matches!(name.form, NameForm::Dot | NameForm::DoubleQuoted);
                    if !leads || expected.contains(&name.value.as_str()) {
                        return;
                    }
                    if let Some(trouble) = trouble {
                        let start = range.start + name.span.start as usize;
                        let end = range.start + name.span.end as usize;
                        let span = value.source_span(start..end);
                        let is_plain = name.form == NameForm::Dot;
                        let name = name.value.clone();
                        self.uses.borrow_mut().push(Use { name, span, trouble, step, is_plain });
                    }
                });
            }
        }
    }

    /// The variables that a filter asks for with `exists`.
    fn expected(filter: &Placed<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let text = filter.element.value("xpath").unwrap_or_default();
        if let Reading::Expression(range) = value::read(Place::Path, &text)
            && let Ok(expression) = parser::parse(text.get(range).unwrap_or_default())
        {
            names.extend(guarded(&expression).into_iter().map(str::to_owned));
        }
        names
    }
}
