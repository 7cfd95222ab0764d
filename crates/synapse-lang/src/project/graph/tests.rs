//! Small graphs, as `A>B` for a call that always happens, `A?B` for one that may, `A:B` for one on the side, and `A` for
//! a definition.

use super::*;
use crate::text::Span;

const SIGNS: [(char, When); 3] = [('>', When::Always), ('?', When::Perhaps), (':', When::Aside)];

fn named(name: &str) -> (RefKind, String) {
    (RefKind::Sequence, name.to_owned())
}

fn call(written: &str) -> Option<Call> {
    let (sign, when) = SIGNS.into_iter().find(|(sign, _)| written.contains(*sign))?;
    let (from, to) = written.split_once(sign)?;
    Some(Call { from: named(from), to: named(to), span: Span::new(0, 0), when })
}

fn graph(written: &str) -> Graph {
    let calls: Vec<Call> = written.split(' ').filter_map(call).collect();
    let names = written.split(' ').filter(|word| call(word).is_none());
    let definitions: Vec<Definition> = names
        .map(|name| Definition {
            kind: RefKind::Sequence,
            name: name.to_owned(),
            name_span: Span::new(0, 0),
            span: Span::new(0, 0),
            parameters: Vec::new(),
            context: None,
        })
        .collect();
    let path: Arc<str> = "a.xml".into();
    Graph::of(std::iter::once((&path, definitions.as_slice(), calls.as_slice())))
}

/// The circles of all calls, in their order, with a sign for whether they always happen.
#[track_caller]
fn circles(written: &str, expected: &[&str]) {
    let graph = graph(written);
    let calls: Vec<Call> = written.split(' ').filter_map(call).collect();
    let circles = calls.iter().filter_map(|call| graph.circle(call));
    let said: Vec<String> = circles
        .map(|one| format!("{}{}", one.names.join(""), if one.is_certain { "" } else { "?" }))
        .collect();
    assert_eq!(said, expected, "{written}");
}

#[test]
fn a_circle_is_shown_from_each_of_its_calls() {
    circles("A A>A", &["AA"]);
    circles("A A?A", &["AA?"]);
    circles("A B A>B B>A", &["ABA", "BAB"]);
    circles("A B C A>B B>C", &[]);
    circles("A B C D A>B B>C C>B C>D D>A", &["ABCDA", "BCB", "CBC", "CDABC", "DABCD"]);
}

#[test]
fn the_shortest_way_that_always_happens_is_shown() {
    circles("A B C A>B B>C B?A C>A", &["ABCA", "BCAB", "BAB?", "CABC"]);
    circles("A B C A>B B?C B?A C>A", &["ABA?", "BCAB?", "BAB?", "CABC?"]);
    circles("A B A:B B>A", &[]);
}

#[test]
fn what_is_defined_twice_or_not_at_all_leads_nowhere() {
    circles("A B B A>B B>A", &[]);
    circles("A A>B B>A", &[]);
}

#[track_caller]
fn followed(written: &str, expected: &str) {
    let graph = graph(written);
    let nodes = (0..).take(graph.len()).filter(|node| graph.is_followed(*node));
    let names: String = nodes.map(|node| graph.names[node as usize].as_str()).collect();
    assert_eq!(names, expected, "{written}");
}

#[test]
fn circles_and_names_of_several_are_not_followed() {
    followed("A B C A>B B>C", "ABC");
    followed("A B C A>B B>C C?B", "A");
    followed("A B C A>B B>C C:B", "A");
    followed("A A:A", "");
    followed("A B B A>B", "A");
}

#[test]
fn chains_are_followed_from_their_end() {
    let mut written: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    written.extend((0..99).map(|number| format!("n{number}>n{}", number + 1)));
    let expected: String = (99 - DEEPEST..100).map(|number| format!("n{number}")).collect();
    followed(&written.join(" "), &expected);
}

#[test]
fn all_that_leads_to_a_node_is_above_it() {
    let graph = graph("A B C D A>B B>C C?B D:A");
    let mut names: Vec<&str> = graph
        .above([graph.node(RefKind::Sequence, "B").unwrap()].into_iter())
        .iter()
        .map(|node| graph.names[*node as usize].as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["A", "B", "C", "D"]);
    assert_eq!(graph.above([graph.node(RefKind::Sequence, "D").unwrap()].into_iter()).len(), 1);
}

/// Components by their meaning: two nodes are together when each leads to the other.
#[test]
fn components_are_what_lead_to_each_other() {
    let mut seed: u64 = 7;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..300 {
        let count = 2 + random(9);
        let mut written: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
        for _ in 0..random(2 * count) {
            written.push(format!("n{}>n{}", random(count), random(count)));
        }
        let written = written.join(" ");
        let graph = graph(&written);
        let (components, order) = graph.components(When::Always);
        let nodes: Vec<Node> = (0..).take(graph.len()).collect();
        for (one, other) in nodes.iter().flat_map(|one| nodes.iter().map(move |other| (*one, *other))) {
            let leads = |from, to| graph.way(from, to, When::Always).is_some();
            let together = components[one as usize] == components[other as usize];
            assert_eq!(together, leads(one, other) && leads(other, one), "{round}: {written}");
            let place = |node| order.iter().position(|one| *one == node);
            if !together && leads(one, other) {
                assert!(place(other) < place(one), "{round}: {written}");
            }
        }
    }
}
