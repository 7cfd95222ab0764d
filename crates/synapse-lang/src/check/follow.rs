//! What named sequences and templates of a project do, as far as whoever runs them can tell.
//!
//! Each is looked into once, those that it runs before itself, and what was found is kept until a file changes that it
//! leads to. So a check of all files of a project looks into every sequence once, and a check of one file into those
//! that it leads to.
//!
//! Invariant: what is known about a name depends on the files of the project and not on who asked first. A name that is
//! part of a circle, that has several definitions, or that leads too deep is not known at all.

use std::sync::OnceLock;

use super::flow::{Flows, Outcome};
use super::rules::Effects;
use super::walk::{Placed, Role, Tree};
use crate::model::{Model, RefKind};
use crate::project::{Definition, Graph, Node, Project, body_of};

/// What a named sequence or template does.
#[derive(Debug)]
pub(crate) struct Summary {
    /// Where its flow goes.
    pub outcome: Outcome,
    /// What it does to variables.
    pub effects: Effects,
}

/// What is known about the sequences and templates of a project.
#[derive(Debug)]
pub(crate) struct Summaries {
    graph: Graph,
    /// By node; nothing inside for what cannot be found.
    known: Vec<OnceLock<Option<Summary>>>,
}

impl Summaries {
    /// Nothing is known yet.
    pub(crate) fn new(graph: Graph) -> Self {
        let known = (0..graph.len()).map(|_| OnceLock::new()).collect();
        Self { graph, known }
    }

    /// Who runs whom.
    pub(crate) const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Forgets what depends on these.
    pub(crate) fn forget(&mut self, definitions: &[Definition]) {
        let nodes = definitions.iter().filter_map(|one| self.graph.node(one.kind, &one.name));
        for node in self.graph.above(nodes) {
            if let Some(known) = self.known.get_mut(node as usize) {
                known.take();
            }
        }
    }

    fn known(&self, node: Node) -> Option<&OnceLock<Option<Summary>>> {
        self.known.get(node as usize).filter(|_| self.graph.is_followed(node))
    }

    /// Looks into a name, and before that into all that it leads to.
    fn look(&self, project: &Project, node: Node) {
        let mut pending = vec![(node, false)];
        while let Some((node, is_ready)) = pending.pop() {
            let Some(known) = self.known(node).filter(|known| known.get().is_none()) else { continue };
            if is_ready {
                known.get_or_init(|| self.summary(project, node));
            } else {
                pending.push((node, true));
                pending.extend(self.graph.calls(node).map(|(to, _)| (to, false)));
            }
        }
    }

    fn summary(&self, project: &Project, node: Node) -> Option<Summary> {
        let file = project.file(self.graph.home(node)?)?;
        #[cfg(test)]
        tests::TREES.with(|trees| trees.set(trees.get() + 1));
        let tree = Tree::of(file.document(), Model::get());
        let is_it = |kind, artifact: &Placed<'_>| {
            artifact.element.value("name").and_then(|name| self.graph.node(kind, name.trim())) == Some(node)
        };
        let artifacts = tree.placed().iter().filter(|one| one.role == Role::Artifact);
        let mut bodies =
            artifacts.filter_map(|one| body_of(&tree, one).filter(|(kind, _)| is_it(*kind, one)));
        let (_, body) = bodies.next()?;
        let sight = Sight::From { summaries: self, node };
        let outcome = Flows::within(sight).steps(&tree, body);
        Some(Summary { outcome, effects: Effects::of(sight, &tree, body) })
    }
}

/// What can be seen of names from a place.
#[derive(Clone, Copy)]
pub(crate) enum Sight<'p> {
    /// From a document that is checked: all of its project, when it has one.
    Project(Option<&'p Project>),
    /// From a sequence or template that is looked into: what it runs, which is known already.
    From {
        /// What is known.
        summaries: &'p Summaries,
        /// Which it is.
        node: Node,
    },
}

impl<'p> Sight<'p> {
    /// What is known about a name; nothing when it is out of sight.
    pub(crate) fn summary(self, kind: RefKind, name: &str) -> Option<&'p Summary> {
        let (summaries, to) = match self {
            Self::Project(project) => {
                let project = project?;
                let summaries = project.followed();
                let to = summaries.graph.node(kind, name)?;
                summaries.look(project, to);
                (summaries, to)
            }
            Self::From { summaries, node } => {
                let to = summaries.graph.node(kind, name)?;
                // Whether something else is known yet depends on who asked before.
                summaries.graph.calls(node).find(|(one, _)| *one == to)?;
                (summaries, to)
            }
        };
        summaries.known(to)?.get()?.as_ref()
    }

    /// Whether names are looked for in the document itself first: it may be newer than its project.
    pub(crate) const fn starts_here(self) -> bool {
        matches!(self, Self::Project(_))
    }
}

#[cfg(test)]
mod tests;
