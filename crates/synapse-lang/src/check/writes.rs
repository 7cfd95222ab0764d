//! Which variables a step sets.

use crate::check::walk::{Placed, Role, Tree};
use crate::syntax::Element;

/// The variables that steps set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writes {
    /// Their names.
    pub names: Vec<String>,
    /// Whether it may set others: it runs code, or does not say where its result goes.
    pub is_opaque: bool,
}

impl Writes {
    /// Adds those of another step.
    pub fn add(&mut self, other: Self) {
        for name in other.names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
        self.is_opaque |= other.is_opaque;
    }

    fn name(&mut self, name: Option<impl AsRef<str>>) {
        let Some(name) = name else { return };
        let name = name.as_ref().trim();
        if name.contains(['{', '$']) {
            self.is_opaque = true;
        } else if !name.is_empty() {
            self.names.push(name.to_owned());
        }
    }
}

/// What a step sets itself; steps inside it are others.
#[must_use]
pub fn of(tree: &Tree<'_>, placed: &Placed<'_>) -> Writes {
    let mut writes = Writes::default();
    let element = placed.element;
    match placed.role {
        Role::Operation => operation(element, &mut writes),
        Role::NoMediator => writes.is_opaque = true,
        Role::Mediator => mediator(tree, placed, &mut writes),
        _ => {}
    }
    writes
}

fn mediator(tree: &Tree<'_>, placed: &Placed<'_>, writes: &mut Writes) {
    let element = placed.element;
    match placed.id() {
        "variable" if element.value("action").is_none_or(|action| action != "remove") => {
            writes.name(element.value("name"));
        }
        "foreach" => {
            writes.name(element.value("target-variable"));
            writes.name(element.value("counter-variable"));
        }
        "scatter-gather" => writes.name(element.value("target-variable")),
        "call" => {
            let target = tree.child(placed, "target").map(|target| target.element);
            let target = target.filter(|one| one.value("type").is_some_and(|kind| kind == "variable"));
            writes.name(target.map(|one| one.text()));
        }
        "class" => {
            writes.name(element.value("target-variable"));
            writes.is_opaque = true;
        }
        "script" => {
            writes.name(element.value("target-variable"));
            if element.attribute("key").is_some() || element.first("include").is_some() {
                writes.is_opaque = true;
            } else {
                script(&element.text(), writes);
            }
        }
        "spring" | "pojoCommand" | "annotatedCommand" | "rule" | "bean" | "ejb" | "conditionalRouter"
        | "smooks" | "sampler" => writes.is_opaque = true,
        _ => {}
    }
}

/// The names that a script sets, when it names them.
fn script(text: &str, writes: &mut Writes) {
    for rest in text.split("setVariable").skip(1) {
        let argument = rest.trim_start().strip_prefix('(').map(str::trim_start).unwrap_or_default();
        let quote = argument.chars().next().filter(|first| matches!(first, '"' | '\''));
        match quote.and_then(|quote| argument.get(1..)?.split_once(quote)) {
            Some((name, _)) => writes.name(Some(name)),
            None => writes.is_opaque = true,
        }
    }
}

/// An operation of a connector says where its result goes, or nobody knows.
fn operation(element: Element<'_>, writes: &mut Writes) {
    let variable = element.first("responseVariable").map(|one| one.text());
    match variable.filter(|name| !name.trim().is_empty()) {
        Some(name) => writes.name(Some(name)),
        None => writes.is_opaque = true,
    }
}
