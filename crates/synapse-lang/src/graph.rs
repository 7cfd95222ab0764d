//! Which artifacts of a project call which: a graph, its cycles, and its pictures.
//!
//! Nodes are what the project defines and what it names without defining it. Names that are only known when a message
//! is there (`${…}`) are no edges.

mod cycles;
mod layout;
mod svg;
mod written;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::kind;
use crate::model::RefKind;
use crate::project::{File, Project, Reference};
use crate::text::Unit;

/// A graph of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// Artifacts, by kind and name.
    pub nodes: Vec<Node>,
    /// Calls, by caller and called.
    pub edges: Vec<Edge>,
}

/// An artifact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Node {
    /// Its kind: `api`, `sequence`, `resource`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Whether it is there.
    pub state: State,
    /// The file that defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line of its name, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Whether an artifact is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The project defines it.
    Defined,
    /// The server has it, or its registry may: nobody can say from here.
    Outside,
    /// The project names it, and nothing defines it.
    Missing,
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The caller, as an index of the nodes.
    pub from: usize,
    /// The called.
    pub to: usize,
    /// How many places of the caller name it.
    pub count: usize,
    /// Whether it is part of a cycle.
    pub cycle: bool,
}

impl Graph {
    /// The graph of a project.
    #[must_use]
    pub fn of(project: &Project) -> Self {
        let mut building =
            Building { project, nodes: Vec::new(), calls: BTreeMap::new(), known: HashMap::new() };
        for (path, file) in project.files() {
            building.define(path, file);
        }
        for (path, file) in project.files() {
            building.connect(path, file);
        }
        building.finish()
    }

    /// The cycles: groups of artifacts that can reach themselves.
    #[must_use]
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        cycles::find(self.nodes.len(), &self.edges)
    }
}

/// The word for what a reference names; nothing for what is no artifact.
const fn word(kind: RefKind) -> Option<&'static str> {
    Some(match kind {
        RefKind::Sequence => "sequence",
        RefKind::Endpoint => "endpoint",
        RefKind::Template => "template",
        RefKind::EndpointTemplate => "endpoint-template",
        RefKind::LocalEntry => "localEntry",
        RefKind::Resource => "resource",
        RefKind::Connection => "connection",
        RefKind::MessageStore => "messageStore",
        RefKind::Proxy => "proxy",
        RefKind::Api => "api",
        RefKind::DataService => "data-service",
        RefKind::InboundEndpoint => "inboundEndpoint",
        RefKind::Class | RefKind::Variable | RefKind::Property | RefKind::File => return None,
    })
}

/// Sequences that every server has.
const BUILT_IN: [&str; 2] = ["main", "fault"];

struct Building<'a> {
    project: &'a Project,
    nodes: Vec<Node>,
    calls: BTreeMap<(usize, usize), usize>,
    known: HashMap<(&'static str, String), usize>,
}

impl Building<'_> {
    fn add(&mut self, node: Node) -> usize {
        let nodes = &mut self.nodes;
        *self.known.entry((node.kind, node.name.clone())).or_insert_with(|| {
            nodes.push(node);
            nodes.len() - 1
        })
    }

    fn define(&mut self, path: &str, file: &File) {
        let document = file.document();
        let line = |offset| document.lines().position(document.source(), offset, Unit::Scalar).line + 1;
        for one in file.definitions() {
            let Some(kind) = word(one.kind) else { continue };
            self.add(Node {
                kind,
                name: one.name.clone(),
                state: State::Defined,
                path: Some(path.to_owned()),
                line: Some(line(one.name_span.start)),
            });
        }
        if let Some((kind, name)) = nameless(file) {
            let line = document.root().map(|root| line(root.span().start));
            self.add(Node { kind, name, state: State::Defined, path: Some(path.to_owned()), line });
        }
    }

    fn connect(&mut self, path: &str, file: &File) {
        let alone = nameless(file);
        for one in file.references() {
            // The innermost definition around the place calls; a file can hold many.
            let around = file.definitions().iter().filter(|definition| definition.span.covers(one.span));
            let caller = around
                .min_by_key(|definition| definition.span.len())
                .and_then(|definition| Some((word(definition.kind)?, definition.name.clone())))
                .or_else(|| alone.clone());
            let Some(from) = caller.and_then(|caller| self.known.get(&caller).copied()) else { continue };
            if let Some(to) = self.called(one, path) {
                *self.calls.entry((from, to)).or_default() += 1;
            }
        }
    }

    /// The node that a reference names.
    fn called(&mut self, one: &Reference, _path: &str) -> Option<usize> {
        let kind = word(one.kind)?;
        let exact = (kind, one.name.clone());
        if let Some(known) = self.known.get(&exact) {
            return Some(*known);
        }
        // A resource is a local entry as well; so is a connection.
        if matches!(one.kind, RefKind::Resource | RefKind::LocalEntry | RefKind::Connection) {
            for kind in ["localEntry", "connection"] {
                if let Some(known) = self.known.get(&(kind, one.name.clone())) {
                    return Some(*known);
                }
            }
        }
        let (state, path) = self.look_up(one);
        let kind = if one.name.contains(':') { "resource" } else { kind };
        Some(self.add(Node { kind, name: one.name.clone(), state, path, line: None }))
    }

    fn look_up(&self, one: &Reference) -> (State, Option<String>) {
        if one.kind == RefKind::Sequence && BUILT_IN.contains(&one.name.as_str()) {
            return (State::Outside, None);
        }
        let Some((place, name)) = one.name.split_once(':') else { return (State::Missing, None) };
        let name = name.trim_start_matches('/');
        let ends = format!("/{name}");
        let file = self.project.other_files().find(|path| !name.is_empty() && path.ends_with(&ends));
        match (file, place) {
            (Some(file), _) => (State::Defined, Some(file.to_owned())),
            // What `resources:` names is packed with the project; the registry of a server is filled by others, too.
            (None, "resources") => (State::Missing, None),
            (None, _) => (State::Outside, None),
        }
    }

    fn finish(self) -> Graph {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|a, b| self.nodes.get(*a).cmp(&self.nodes.get(*b)));
        let mut place = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            if let Some(slot) = place.get_mut(*old) {
                *slot = new;
            }
        }
        let moved = |old: usize| place.get(old).copied().unwrap_or_default();
        let mut edges: Vec<Edge> = self
            .calls
            .iter()
            .map(|((from, to), count)| Edge {
                from: moved(*from),
                to: moved(*to),
                count: *count,
                cycle: false,
            })
            .collect();
        edges.sort_by_key(|edge| (edge.from, edge.to));
        let nodes = order.iter().filter_map(|old| self.nodes.get(*old).cloned()).collect();
        let mut graph = Graph { nodes, edges };
        cycles::mark(&mut graph);
        graph
    }
}

/// Artifacts that call others and that nobody can call.
fn nameless(file: &File) -> Option<(&'static str, String)> {
    let kind = kind::of(file.document())?.word();
    let calls = matches!(kind, "task" | "messageProcessor");
    let name = file.document().root()?.value("name")?;
    calls.then(|| (kind, name.trim().to_owned()))
}

#[cfg(test)]
mod tests;
