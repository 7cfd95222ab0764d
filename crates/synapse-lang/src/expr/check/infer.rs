//! The kind of every part of an expression.

use std::cell::RefCell;
use std::collections::HashMap;

use super::env::{Env, Wanted};
use super::kind::{Atom, Kind};
use super::{operators, paths, signatures};
use crate::expr::ast::{Call, Lookup, Node, NodeKind, Suffix};
use crate::expr::functions;

/// Finds kinds, each once.
pub(super) struct Inference<'a> {
    /// What is known about the surroundings.
    pub env: &'a Env,
    /// Kinds by the address of their nodes, which do not move while the tree is looked at.
    known: RefCell<HashMap<usize, Kind>>,
}

impl<'a> Inference<'a> {
    pub(super) fn new(env: &'a Env) -> Self {
        Self { env, known: RefCell::new(HashMap::new()) }
    }

    /// The kind of a node.
    pub(super) fn kind(&self, node: &Node) -> Kind {
        let key = std::ptr::from_ref(node).addr();
        if let Some(kind) = self.known.borrow().get(&key) {
            return *kind;
        }
        let kind = self.find(node);
        self.known.borrow_mut().insert(key, kind);
        kind
    }

    fn find(&self, node: &Node) -> Kind {
        match &node.kind {
            NodeKind::Null => Kind::one(Atom::Null),
            NodeKind::Boolean(_) => Kind::one(Atom::Boolean),
            NodeKind::Number(text) => number(text),
            NodeKind::Text(_) => Kind::one(Atom::Text),
            NodeKind::Array(items) => {
                let fails = items.iter().any(|item| {
                    let kind = self.kind(item);
                    kind.is_never() || kind.is(Kind::NULL)
                });
                if fails { Kind::NEVER } else { Kind::ARRAY }
            }
            NodeKind::Binary { operator, left, right, .. } => {
                operators::outcome(*operator, self.kind(left), self.kind(right)).kind
            }
            NodeKind::Conditional { condition, then, otherwise } => {
                if !self.kind(condition).may_be(Kind::BOOLEAN) {
                    return Kind::NEVER;
                }
                match condition.ungrouped().kind {
                    NodeKind::Boolean(true) => self.kind(then),
                    NodeKind::Boolean(false) => self.kind(otherwise),
                    _ => self.kind(then).or(self.kind(otherwise)),
                }
            }
            NodeKind::Group(inner) => self.kind(inner),
            NodeKind::Call(call) => self.call(call),
            NodeKind::Payload(access) => paths::payload(self, access),
            NodeKind::Variable(variable) => paths::variable(self, variable),
            NodeKind::Lookup(lookup) => self.lookup(lookup),
        }
    }

    fn lookup(&self, lookup: &Lookup) -> Kind {
        let known = self.env.texts.get(&(lookup.place, lookup.name.value.clone()));
        match known {
            Some(kind) => *kind,
            None if self.env.all_texts => Kind::NEVER,
            None => Kind::AUTO,
        }
    }

    fn call(&self, call: &Call) -> Kind {
        let Some(function) = functions::find(&call.name) else { return Kind::UNKNOWN };
        let Some(signature) = function.signature(call.arguments.len()) else { return Kind::NEVER };
        if call.name == "exists" {
            return Kind::one(Atom::Boolean);
        }
        let kinds: Vec<Kind> = call.arguments.iter().map(|argument| self.kind(argument)).collect();
        if kinds.iter().any(|kind| kind.is_never()) || signatures::refused(call, signature, &kinds).is_some()
        {
            return Kind::NEVER;
        }
        let result = signatures::result(call, signature, &kinds, self.env.wanted == Wanted::Object);
        match &call.suffix {
            Some(Suffix::Path(path)) if function.path => paths::behind(self, path),
            Some(Suffix::Property { .. }) => Kind::one(Atom::Text),
            _ => result,
        }
    }
}

/// The kind of a number as it is written.
pub(super) fn number(text: &str) -> Kind {
    if text.contains('.') {
        Kind::one(Atom::Double)
    } else if text.parse::<i32>().is_ok() {
        Kind::one(Atom::Int)
    } else if text.parse::<i64>().is_ok() {
        Kind::one(Atom::Long)
    } else {
        Kind::of(&[Atom::Double, Atom::Big, Atom::Long]).opened()
    }
}
