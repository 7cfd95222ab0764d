//! The calls of a project as a graph, and the circles in it.
//!
//! Nodes are what files define: sequences, templates and endpoints. A name with several definitions runs nobody knows
//! what, so no call leads on from it. Nothing here recurses: chains may be as long as a project has files.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::calls::{Call, When};
use super::index::Definition;
use crate::model::RefKind;

/// How many calls deep a check follows names. People nest some five; what lies deeper is not looked into, so that a
/// check of one file costs no more than a few dozen others.
const DEEPEST: u32 = 30;
/// How many calls are looked at for the way that a finding shows; that there is a circle is known without it.
const LONGEST: usize = 10_000;

/// A sequence, a template or an endpoint of a graph.
pub(crate) type Node = u32;

/// What one file adds to a graph: its path, what it defines, and its calls.
pub(crate) type Part<'f> = (&'f Arc<str>, &'f [Definition], &'f [Call]);

/// Who runs whom.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: HashMap<RefKind, HashMap<String, Node>>,
    names: Vec<String>,
    /// The file of each node; nothing when there are several definitions.
    homes: Vec<Option<Arc<str>>>,
    calls: Vec<Vec<(Node, When)>>,
    callers: Vec<Vec<Node>>,
    /// The components over the calls that always happen, and over those that happen at all.
    always: Vec<u32>,
    perhaps: Vec<u32>,
    /// How deep the calls below a node go; nothing for what is part of a circle of any calls.
    depths: Vec<Option<u32>>,
}

/// A way through a graph that ends where it starts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Circle<'g> {
    /// The names on the way, the first of them again at the end; empty when it is too long to tell.
    pub names: Vec<&'g str>,
    /// Whether every call on it always happens.
    pub is_certain: bool,
}

impl Graph {
    /// The graph of some files.
    pub(crate) fn of<'f>(parts: impl Iterator<Item = Part<'f>> + Clone) -> Self {
        let mut graph = Self::default();
        for (path, definitions, _) in parts.clone() {
            for one in definitions.iter().filter(|one| is_node(one.kind)) {
                graph.define(one, path);
            }
        }
        for (_, _, calls) in parts {
            for call in calls {
                graph.connect(call);
            }
        }
        graph.always = graph.components(When::Always).0;
        graph.perhaps = graph.components(When::Perhaps).0;
        graph.measure();
        graph
    }

    fn define(&mut self, one: &Definition, path: &Arc<str>) {
        let names = self.nodes.entry(one.kind).or_default();
        if let Some(node) = names.get(&one.name) {
            if let Some(home) = self.homes.get_mut(*node as usize) {
                *home = None;
            }
            return;
        }
        let Ok(node) = Node::try_from(self.names.len()) else { return };
        names.insert(one.name.clone(), node);
        self.names.push(one.name.clone());
        self.homes.push(Some(path.clone()));
        self.calls.push(Vec::new());
        self.callers.push(Vec::new());
    }

    fn connect(&mut self, call: &Call) {
        let Some(from) = self.node(call.from.0, &call.from.1).filter(|from| self.home(*from).is_some())
        else {
            return;
        };
        let Some(to) = self.node(call.to.0, &call.to.1) else { return };
        if let Some(calls) = self.calls.get_mut(from as usize) {
            calls.push((to, call.when));
        }
        if let Some(callers) = self.callers.get_mut(to as usize) {
            callers.push(from);
        }
    }

    /// What has that name.
    pub(crate) fn node(&self, kind: RefKind, name: &str) -> Option<Node> {
        self.nodes.get(&kind)?.get(name).copied()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// The one file that defines it.
    pub(crate) fn home(&self, node: Node) -> Option<&Arc<str>> {
        self.homes.get(node as usize)?.as_ref()
    }

    /// What it runs, in the order of the calls.
    pub(crate) fn calls(&self, node: Node) -> impl DoubleEndedIterator<Item = (Node, When)> {
        self.calls.get(node as usize).into_iter().flatten().copied()
    }

    /// Whether a check may look into it: it is defined once, is part of no circle, and does not lead too deep.
    pub(crate) fn is_followed(&self, node: Node) -> bool {
        let depth = self.depths.get(node as usize).copied().flatten();
        self.home(node).is_some() && depth.is_some_and(|depth| depth <= DEEPEST)
    }

    /// These and all that lead to them.
    pub(crate) fn above(&self, nodes: impl Iterator<Item = Node>) -> Vec<Node> {
        let mut seen = vec![false; self.len()];
        let mut found: Vec<Node> = Vec::new();
        let mut pending: Vec<Node> = nodes.collect();
        while let Some(node) = pending.pop() {
            let Some(seen) = seen.get_mut(node as usize).filter(|seen| !**seen) else { continue };
            *seen = true;
            found.push(node);
            pending.extend(self.callers.get(node as usize).into_iter().flatten());
        }
        found
    }

    /// The shortest way back to where a call starts; of those that always happen when there is one.
    pub(crate) fn circle(&self, call: &Call) -> Option<Circle<'_>> {
        let (from, to) = (self.node(call.from.0, &call.from.1)?, self.node(call.to.0, &call.to.1)?);
        self.home(from)?;
        let together =
            |components: &[u32]| from == to || components.get(from as usize) == components.get(to as usize);
        let within = match call.when {
            When::Always if together(&self.always) => When::Always,
            When::Always | When::Perhaps if together(&self.perhaps) => When::Perhaps,
            _ => return None,
        };
        let mut names = Vec::new();
        if let Some(way) = self.way(to, from, within) {
            let all = std::iter::once(from).chain(way);
            names = all.filter_map(|node| self.names.get(node as usize)).map(String::as_str).collect();
        }
        Some(Circle { names, is_certain: within == When::Always })
    }

    /// A shortest way, with both ends.
    fn way(&self, from: Node, to: Node, within: When) -> Option<Vec<Node>> {
        let mut before: Vec<Option<Node>> = vec![None; self.len()];
        let mut pending = VecDeque::from([from]);
        let mut looked_at = 0;
        *before.get_mut(from as usize)? = Some(from);
        while let Some(node) = pending.pop_front() {
            if node == to {
                let back =
                    |node: &Node| before.get(*node as usize).copied().flatten().filter(|_| *node != from);
                let mut way: Vec<Node> = std::iter::successors(Some(to), back).collect();
                way.reverse();
                return Some(way);
            }
            looked_at += 1;
            if looked_at > LONGEST {
                return None;
            }
            for (next, _) in self.calls(node).filter(|(_, when)| *when <= within) {
                if let Some(entry) = before.get_mut(next as usize).filter(|entry| entry.is_none()) {
                    *entry = Some(node);
                    pending.push_back(next);
                }
            }
        }
        None
    }

    /// Works out how deep the calls below each node go.
    fn measure(&mut self) {
        let (components, order) = self.components(When::Aside);
        let mut sizes = vec![0_u32; self.len()];
        for component in &components {
            if let Some(size) = sizes.get_mut(*component as usize) {
                *size += 1;
            }
        }
        let mut depths: Vec<Option<u32>> = vec![None; self.len()];
        // What is run comes before what runs it.
        for node in order {
            let alone = components.get(node as usize).and_then(|one| sizes.get(*one as usize)) == Some(&1);
            if !alone || self.calls(node).any(|(to, _)| to == node) {
                continue;
            }
            // A circle is not looked into, so it is not deep.
            let below = self.calls(node).filter_map(|(to, _)| depths.get(to as usize).copied().flatten());
            let depth = below.max().map_or(0, |deepest| deepest.saturating_add(1));
            if let Some(entry) = depths.get_mut(node as usize) {
                *entry = Some(depth);
            }
        }
        self.depths = depths;
    }

    /// The strongly connected components over calls of at most that uncertainty: the number of each node's component,
    /// and the nodes, those that are run before those that run them. This is Tarjan's algorithm with a stack of its own.
    fn components(&self, within: When) -> (Vec<u32>, Vec<Node>) {
        const NONE: u32 = u32::MAX;
        let count = self.len();
        let (mut numbers, mut lows) = (vec![NONE; count], vec![NONE; count]);
        let mut components = vec![NONE; count];
        let (mut open, mut order) = (Vec::new(), Vec::with_capacity(count));
        let (mut next, mut component) = (0, 0);
        let at = |list: &[u32], node: Node| list.get(node as usize).copied().unwrap_or(NONE);
        let set = |list: &mut [u32], node: Node, value: u32| {
            if let Some(entry) = list.get_mut(node as usize) {
                *entry = value;
            }
        };
        for root in (0..).take(count) {
            if at(&numbers, root) != NONE {
                continue;
            }
            // A node, and how many of its calls were looked at.
            let mut pending: Vec<(Node, usize)> = vec![(root, 0)];
            while let Some((node, done)) = pending.pop() {
                if at(&numbers, node) == NONE {
                    set(&mut numbers, node, next);
                    set(&mut lows, node, next);
                    next += 1;
                    open.push(node);
                }
                let mut low = at(&lows, node);
                let calls = self.calls.get(node as usize).map(Vec::as_slice).unwrap_or_default();
                let mut inner = None;
                for (step, (to, _)) in
                    calls.iter().enumerate().skip(done).filter(|(_, (_, when))| *when <= within)
                {
                    if at(&numbers, *to) == NONE {
                        inner = Some((step, *to));
                        break;
                    }
                    if at(&components, *to) == NONE {
                        low = low.min(at(&lows, *to));
                    }
                }
                set(&mut lows, node, low);
                if let Some((step, to)) = inner {
                    // That call is looked at again afterwards, when what lies behind it is known.
                    pending.push((node, step));
                    pending.push((to, 0));
                    continue;
                }
                if low == at(&numbers, node) {
                    while let Some(member) = open.pop() {
                        set(&mut components, member, component);
                        order.push(member);
                        if member == node {
                            break;
                        }
                    }
                    component += 1;
                }
            }
        }
        (components, order)
    }
}

/// Whether things of that kind run others.
pub(super) const fn is_node(kind: RefKind) -> bool {
    matches!(kind, RefKind::Sequence | RefKind::Template | RefKind::Endpoint)
}

#[cfg(test)]
mod tests;
