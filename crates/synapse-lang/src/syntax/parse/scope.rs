//! Which namespace a prefix means at a place, and each namespace kept once.

use std::collections::HashMap;
use std::collections::HashSet;

use super::super::XML_NAMESPACE;

/// The prefixes in force.
pub(super) struct Scope<'s> {
    namespaces: Vec<Box<str>>,
    interned: HashMap<Box<str>, u32>,
    /// The default namespace.
    default: u32,
    /// What each prefix means, the innermost meaning last.
    prefixes: HashMap<&'s str, Vec<u32>>,
    /// What to undo when the element at a depth is closed.
    undo: Vec<Undo<'s>>,
    /// Undeclared prefixes that were reported already.
    reported: HashSet<&'s str>,
}

struct Undo<'s> {
    depth: usize,
    change: Change<'s>,
}

enum Change<'s> {
    Default { before: u32 },
    Prefix(&'s str),
}

impl<'s> Scope<'s> {
    pub(super) fn new() -> Self {
        let mut scope = Self {
            namespaces: vec![Box::from("")],
            interned: HashMap::new(),
            default: 0,
            prefixes: HashMap::new(),
            undo: Vec::new(),
            reported: HashSet::new(),
        };
        let xml = scope.intern(XML_NAMESPACE);
        scope.prefixes.insert("xml", vec![xml]);
        scope
    }

    pub(super) fn into_namespaces(self) -> Vec<Box<str>> {
        self.namespaces
    }

    /// The default namespace here.
    pub(super) fn default(&self) -> u32 {
        self.default
    }

    /// What a prefix means here. Zero is never a meaning: it is a prefix bound to nothing.
    pub(super) fn resolve(&self, prefix: &str) -> Option<u32> {
        self.prefixes
            .get(prefix)
            .and_then(|meanings| meanings.last())
            .copied()
            .filter(|meaning| *meaning != 0)
    }

    /// Whether an undeclared prefix is seen for the first time.
    pub(super) fn is_news(&mut self, prefix: &'s str) -> bool {
        self.reported.insert(prefix)
    }

    /// Declares a namespace for the element at a depth; no prefix is the default namespace.
    pub(super) fn declare(&mut self, depth: usize, prefix: Option<&'s str>, namespace: &str) {
        let interned = self.intern(namespace);
        let change = match prefix {
            None => Change::Default { before: std::mem::replace(&mut self.default, interned) },
            Some(prefix) => {
                self.prefixes.entry(prefix).or_default().push(interned);
                Change::Prefix(prefix)
            }
        };
        self.undo.push(Undo { depth, change });
    }

    /// Forgets what elements deeper than this declared.
    pub(super) fn leave(&mut self, depth: usize) {
        while let Some(undo) = self.undo.pop_if(|undo| undo.depth > depth) {
            match undo.change {
                Change::Default { before } => self.default = before,
                Change::Prefix(prefix) => {
                    if let Some(meanings) = self.prefixes.get_mut(prefix) {
                        meanings.pop();
                    }
                }
            }
        }
    }

    fn intern(&mut self, namespace: &str) -> u32 {
        if namespace.is_empty() {
            return 0;
        }
        if let Some(interned) = self.interned.get(namespace) {
            return *interned;
        }
        let number = self.namespaces.len() as u32;
        self.namespaces.push(Box::from(namespace));
        self.interned.insert(Box::from(namespace), number);
        number
    }
}
