//! Groups of nodes that can reach themselves.

use super::{Edge, Graph};

/// Marks the edges that belong to cycles.
pub(super) fn mark(graph: &mut Graph) {
    let mut group = vec![usize::MAX; graph.nodes.len()];
    for (number, members) in find(graph.nodes.len(), &graph.edges).iter().enumerate() {
        for member in members {
            if let Some(slot) = group.get_mut(*member) {
                *slot = number;
            }
        }
    }
    let of = |node: usize| group.get(node).copied().unwrap_or(usize::MAX);
    for edge in &mut graph.edges {
        edge.cycle = of(edge.from) != usize::MAX && of(edge.from) == of(edge.to);
    }
}

/// The strongly connected groups of more than one node, and the nodes that call themselves (Tarjan, without recursion).
pub(super) fn find(nodes: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for edge in edges {
        if let Some(list) = next.get_mut(edge.from) {
            list.push(edge.to);
        }
    }
    let mut search = Search {
        next: &next,
        seen: vec![None; nodes],
        low: vec![0; nodes],
        open: vec![false; nodes],
        stack: Vec::new(),
        count: 0,
        groups: Vec::new(),
    };
    for node in 0..nodes {
        search.visit(node);
    }
    let calls_itself = |node: &usize| next.get(*node).is_some_and(|list| list.contains(node));
    let mut groups: Vec<Vec<usize>> =
        search.groups.into_iter().filter(|group| group.len() > 1 || group.iter().any(calls_itself)).collect();
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.sort();
    groups
}

struct Search<'a> {
    next: &'a [Vec<usize>],
    seen: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<bool>,
    stack: Vec<usize>,
    count: usize,
    groups: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, root: usize) {
        if self.seen.get(root).copied().flatten().is_some() {
            return;
        }
        let mut path: Vec<(usize, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            let child = self.next.get(node).and_then(|list| list.get(*at)).copied();
            *at += 1;
            match child {
                Some(child) => match self.seen.get(child).copied().flatten() {
                    None => {
                        self.enter(child);
                        path.push((child, 0));
                    }
                    Some(order) if self.open.get(child) == Some(&true) => self.lower(node, order),
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    let low = self.low.get(node).copied().unwrap_or_default();
                    if let Some((parent, _)) = path.last() {
                        self.lower(*parent, low);
                    }
                    if self.seen.get(node).copied().flatten() == Some(low) {
                        self.close(node);
                    }
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        if let (Some(seen), Some(low), Some(open)) =
            (self.seen.get_mut(node), self.low.get_mut(node), self.open.get_mut(node))
        {
            *seen = Some(self.count);
            *low = self.count;
            *open = true;
        }
        self.count += 1;
        self.stack.push(node);
    }

    fn lower(&mut self, node: usize, to: usize) {
        if let Some(low) = self.low.get_mut(node) {
            *low = (*low).min(to);
        }
    }

    fn close(&mut self, node: usize) {
        let mut group = Vec::new();
        while let Some(one) = self.stack.pop() {
            if let Some(open) = self.open.get_mut(one) {
                *open = false;
            }
            group.push(one);
            if one == node {
                break;
            }
        }
        self.groups.push(group);
    }
}
