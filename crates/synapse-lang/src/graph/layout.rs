//! Places for a drawing: layers from callers to called, rows with few crossings.
//!
//! The steps of the usual layered method: edges that would go back are turned for the placing, every node gets the layer
//! behind its furthest caller, long edges get a place in every layer they pass, and rows are sorted by the middle of
//! their neighbours a few times. Nodes without any edge stand below, row by row.

use std::collections::HashMap;

use super::Graph;

/// Where a node is: its upper left corner and its width.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
}

/// A drawing without ink.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Layout {
    /// By node.
    pub(super) places: Vec<Place>,
    /// By edge: the points that it passes between its ends.
    pub(super) bends: Vec<Vec<(f64, f64)>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

pub(super) const BOX: f64 = 42.0;
const ROW_GAP: f64 = 16.0;
const LAYER_GAP: f64 = 70.0;
const MARGIN: f64 = 20.0;
/// The height that a passing edge takes.
const PASS: f64 = 6.0;
const SWEEPS: usize = 12;
/// How wide rows of lonely nodes get at least.
const ROW: f64 = 900.0;

/// The width of a box for a name.
fn wide(name: &str) -> f64 {
    let units: f64 = name.chars().map(|one| if one.is_ascii() { 7.6 } else { 12.0 }).sum();
    (units + 24.0).clamp(90.0, 330.0)
}

/// Something in a layer: a node, or an edge that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Thing {
    Node(usize),
    Pass { edge: usize, layer: usize },
}

pub(super) fn lay_out(graph: &Graph) -> Layout {
    let count = graph.nodes.len();
    let mut linked = vec![false; count];
    for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
        for end in [edge.from, edge.to] {
            if let Some(slot) = linked.get_mut(end) {
                *slot = true;
            }
        }
    }
    let directed = acyclic(graph);
    let layer = layers(count, &directed);
    let at = |node: usize| layer.get(node).copied().unwrap_or_default();
    let depth = (0..count)
        .filter(|node| linked.get(*node) == Some(&true))
        .map(|node| at(node) + 1)
        .max()
        .unwrap_or(0);
    let mut rows: Vec<Vec<Thing>> = vec![Vec::new(); depth];
    for node in (0..count).filter(|node| linked.get(*node) == Some(&true)) {
        if let Some(row) = rows.get_mut(at(node)) {
            row.push(Thing::Node(node));
        }
    }
    // Every thing knows its neighbours in the layers beside it.
    let mut before: HashMap<Thing, Vec<Thing>> = HashMap::new();
    let mut after: HashMap<Thing, Vec<Thing>> = HashMap::new();
    for (edge, (from, to)) in directed.iter().enumerate() {
        if from == to {
            continue;
        }
        let mut last = Thing::Node(*from);
        for layer in at(*from) + 1..=at(*to) {
            let next = if layer == at(*to) { Thing::Node(*to) } else { Thing::Pass { edge, layer } };
            if let (Thing::Pass { .. }, Some(row)) = (next, rows.get_mut(layer)) {
                row.push(next);
            }
            after.entry(last).or_default().push(next);
            before.entry(next).or_default().push(last);
            last = next;
        }
    }
    for sweep in 0..SWEEPS {
        let neighbours = if sweep % 2 == 0 { &before } else { &after };
        sort(&mut rows, neighbours, sweep % 2 == 1);
    }
    place(graph, &rows, &linked)
}

/// The edges with those turned that would close a cycle.
fn acyclic(graph: &Graph) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut next: Vec<Vec<(usize, usize)>> = vec![Vec::new(); graph.nodes.len()];
    for (index, edge) in graph.edges.iter().enumerate() {
        if let Some(list) = next.get_mut(edge.from) {
            list.push((index, edge.to));
        }
    }
    let mut directed: Vec<(usize, usize)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let mut marks = vec![Mark::New; graph.nodes.len()];
    // Those that nobody calls begin.
    let mut called = vec![false; graph.nodes.len()];
    for edge in &graph.edges {
        if let Some(slot) = called.get_mut(edge.to) {
            *slot = true;
        }
    }
    let mut roots: Vec<usize> = (0..graph.nodes.len()).collect();
    roots.sort_by_key(|node| called.get(*node).copied().unwrap_or_default());
    for root in roots {
        if marks.get(root) != Some(&Mark::New) {
            continue;
        }
        let mut path = vec![(root, 0)];
        if let Some(mark) = marks.get_mut(root) {
            *mark = Mark::Open;
        }
        while let Some((node, position)) = path.last_mut() {
            let child = next.get(*node).and_then(|list| list.get(*position)).copied();
            let node = *node;
            *position += 1;
            match child {
                Some((edge, child)) => match marks.get(child).copied().unwrap_or(Mark::Done) {
                    Mark::New => {
                        if let Some(mark) = marks.get_mut(child) {
                            *mark = Mark::Open;
                        }
                        path.push((child, 0));
                    }
                    Mark::Open => {
                        if let Some(pair) = directed.get_mut(edge) {
                            *pair = (child, node);
                        }
                    }
                    Mark::Done => {}
                },
                None => {
                    if let Some(mark) = marks.get_mut(node) {
                        *mark = Mark::Done;
                    }
                    path.pop();
                }
            }
        }
    }
    directed
}

/// The layer of every node: behind its furthest caller.
fn layers(count: usize, directed: &[(usize, usize)]) -> Vec<usize> {
    let mut waiting = vec![0_usize; count];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in directed.iter().filter(|(from, to)| from != to) {
        if let (Some(list), Some(slot)) = (next.get_mut(*from), waiting.get_mut(*to)) {
            list.push(*to);
            *slot += 1;
        }
    }
    let mut layer = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|node| waiting.get(*node) == Some(&0)).collect();
    while let Some(node) = ready.pop() {
        let behind = layer.get(node).copied().unwrap_or_default() + 1;
        for child in next.get(node).into_iter().flatten() {
            if let (Some(slot), Some(left)) = (layer.get_mut(*child), waiting.get_mut(*child)) {
                *slot = behind.max(*slot);
                *left -= 1;
                if *left == 0 {
                    ready.push(*child);
                }
            }
        }
    }
    layer
}

/// Sorts every row by the middle of its neighbours in the row before (or behind).
fn sort(rows: &mut [Vec<Thing>], neighbours: &HashMap<Thing, Vec<Thing>>, backwards: bool) {
    let order: Vec<usize> =
        if backwards { (0..rows.len()).rev().collect() } else { (0..rows.len()).collect() };
    let mut position: HashMap<Thing, f64> = HashMap::new();
    for index in order {
        let Some(row) = rows.get_mut(index) else { continue };
        let mut keyed: Vec<(f64, Thing)> = row
            .iter()
            .enumerate()
            .map(|(at, thing)| {
                let places: Vec<f64> = neighbours
                    .get(thing)
                    .into_iter()
                    .flatten()
                    .filter_map(|neighbour| position.get(neighbour).copied())
                    .collect();
                let middle = places.iter().sum::<f64>() / places.len().max(1) as f64;
                (if places.is_empty() { at as f64 } else { middle }, *thing)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        *row = keyed.into_iter().map(|(_, thing)| thing).collect();
        for (at, thing) in row.iter().enumerate() {
            position.insert(*thing, at as f64);
        }
    }
}

fn place(graph: &Graph, rows: &[Vec<Thing>], linked: &[bool]) -> Layout {
    let width = |node: usize| graph.nodes.get(node).map_or(90.0, |node| wide(&node.name));
    let tall = |thing: &Thing| if matches!(thing, Thing::Node(_)) { BOX } else { PASS };
    let height = |row: &Vec<Thing>| row.iter().map(|thing| tall(thing) + ROW_GAP).sum::<f64>() - ROW_GAP;
    let highest = rows.iter().map(height).fold(0.0, f64::max);
    let mut layout = Layout {
        places: vec![Place::default(); graph.nodes.len()],
        bends: vec![Vec::new(); graph.edges.len()],
        width: 0.0,
        height: 0.0,
    };
    let mut x = MARGIN;
    for row in rows {
        let widest = row
            .iter()
            .map(|thing| if let Thing::Node(node) = thing { width(*node) } else { 0.0 })
            .fold(0.0, f64::max);
        let mut y = MARGIN + (highest - height(row)) / 2.0;
        for thing in row {
            match thing {
                Thing::Node(node) => {
                    if let Some(slot) = layout.places.get_mut(*node) {
                        *slot = Place { x, y, width: width(*node) };
                    }
                }
                Thing::Pass { edge, .. } => {
                    if let Some(bends) = layout.bends.get_mut(*edge) {
                        bends.push((x, y + PASS / 2.0));
                        bends.push((x + widest, y + PASS / 2.0));
                    }
                }
            }
            y += tall(thing) + ROW_GAP;
        }
        x += widest + LAYER_GAP;
    }
    layout.width = if rows.is_empty() { 2.0 * MARGIN } else { x - LAYER_GAP + MARGIN };
    layout.height = highest + 2.0 * MARGIN;
    lonely(&mut layout, linked, &width);
    layout
}

/// Nodes without edges: row by row below the others.
fn lonely(layout: &mut Layout, linked: &[bool], width: &impl Fn(usize) -> f64) {
    let alone: Vec<usize> = (0..linked.len()).filter(|node| linked.get(*node) == Some(&false)).collect();
    if alone.is_empty() {
        return;
    }
    let most = layout.width.max(ROW);
    let empty = alone.len() == linked.len();
    let (mut x, mut y) = (MARGIN, if empty { MARGIN } else { layout.height + ROW_GAP });
    let mut right: f64 = layout.width;
    for node in alone {
        let wide = width(node);
        if x > MARGIN && x + wide + MARGIN > most {
            x = MARGIN;
            y += BOX + ROW_GAP;
        }
        if let Some(slot) = layout.places.get_mut(node) {
            *slot = Place { x, y, width: wide };
        }
        x += wide + ROW_GAP;
        right = right.max(x - ROW_GAP + MARGIN);
    }
    layout.width = right;
    layout.height = y + BOX + MARGIN;
}
