//! What a small project's graph is, and that its pictures are well-formed.

use super::*;
use crate::syntax::Document;

fn project(files: &[(&str, &str)]) -> Project {
    let mut project = Project::default();
    for (path, inside) in files {
        project.set(*path, inside.replacen('>', " xmlns=\"http://ws.apache.org/ns/synapse\">", 1));
    }
    project
}

fn sample() -> Graph {
    let mut project = project(&[
        (
            "apis/Orders.xml",
            "<api name=\"Orders\" context=\"/o\"><resource methods=\"GET\"><inSequence><sequence key=\"A\"/><sequence key=\"A\"/><sequence key=\"Gone\"/><call><endpoint key=\"Backend\"/></call></inSequence></resource></api>",
        ),
        ("sequences/A.xml", "<sequence name=\"A\"><sequence key=\"B\"/></sequence>"),
        ("sequences/B.xml", "<sequence name=\"B\"><sequence key=\"A\"/><sequence key=\"fault\"/></sequence>"),
        (
            "endpoints/Backend.xml",
            "<endpoint name=\"Backend\"><http uri-template=\"http://a\" method=\"get\"/></endpoint>",
        ),
        ("sequences/Alone.xml", "<sequence name=\"Al&quot;one\"><log/></sequence>"),
    ]);
    project.mention("src/main/wso2mi/resources/json/a.json");
    Graph::of(&project)
}

fn printed(graph: &Graph) -> (Vec<String>, Vec<String>) {
    let nodes =
        graph.nodes.iter().map(|node| format!("{} {} {:?}", node.kind, node.name, node.state)).collect();
    let name = |at: usize| graph.nodes[at].name.as_str();
    let edges = graph.edges.iter().map(|edge| {
        format!(
            "{} > {} {}{}",
            name(edge.from),
            name(edge.to),
            edge.count,
            if edge.cycle { " cycle" } else { "" }
        )
    });
    (nodes, edges.collect())
}

#[test]
fn calls_missing_artifacts_and_cycles_are_in_the_graph() {
    let (nodes, edges) = printed(&sample());
    assert_eq!(
        nodes,
        [
            "api Orders Defined",
            "endpoint Backend Defined",
            "sequence A Defined",
            "sequence Al\"one Defined",
            "sequence B Defined",
            "sequence Gone Missing",
            "sequence fault Outside",
        ]
    );
    assert_eq!(
        edges,
        [
            "Orders > Backend 1",
            "Orders > A 2",
            "Orders > Gone 1",
            "A > B 1 cycle",
            "B > A 1 cycle",
            "B > fault 1"
        ]
    );
    assert_eq!(sample().cycles(), [vec![2, 4]]);
}

#[test]
fn mermaid_marks_what_is_special() {
    assert_eq!(
        sample().mermaid(),
        "flowchart LR\n    \
         n0([\"Orders<br/><small>api</small>\"])\n    \
         n1[/\"Backend<br/><small>endpoint</small>\"/]\n    \
         n2[\"A<br/><small>sequence</small>\"]\n    \
         n3[\"Al#quot;one<br/><small>sequence</small>\"]\n    \
         n4[\"B<br/><small>sequence</small>\"]\n    \
         n5[\"Gone<br/><small>sequence, missing</small>\"]\n    \
         n6[\"fault<br/><small>sequence, outside</small>\"]\n    \
         n0 --> n1\n    n0 -->|2x| n2\n    n0 --> n5\n    n2 --> n4\n    n4 --> n2\n    n4 --> n6\n    \
         classDef missing stroke:#c62828,stroke-dasharray:4 3,color:#c62828\n    class n5 missing\n    \
         classDef outside stroke-dasharray:2 2\n    class n6 outside\n    \
         linkStyle 3,4 stroke:#c62828,stroke-width:2px\n"
    );
}

#[test]
fn graphviz_gets_quoted_names() {
    let dot = sample().dot();
    assert!(dot.starts_with("digraph calls {\n"), "{dot}");
    assert!(dot.contains("    n3 [label=\"Al\\\"one\\nsequence\"];\n"), "{dot}");
    assert!(dot.contains("    n2 -> n4 [color=\"#c62828\"];\n"), "{dot}");
}

#[test]
fn the_picture_is_well_formed_and_boxes_do_not_overlap() {
    let graph = sample();
    let svg = graph.svg();
    let document = Document::parse(svg.as_str());
    assert_eq!(document.problems(), []);
    roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(svg.matches("<g class=").count(), graph.nodes.len());
    let places = layout::lay_out(&graph).places;
    for (at, one) in places.iter().enumerate() {
        for other in &places[at + 1..] {
            let apart = one.x + one.width <= other.x
                || other.x + other.width <= one.x
                || one.y + layout::BOX <= other.y
                || other.y + layout::BOX <= one.y;
            assert!(apart, "{one:?} {other:?}");
        }
    }
}

#[test]
fn callers_stand_left_of_what_they_call() {
    let graph = sample();
    let places = layout::lay_out(&graph).places;
    for edge in graph.edges.iter().filter(|edge| !edge.cycle) {
        assert!(places[edge.from].x < places[edge.to].x, "{edge:?}");
    }
}

#[test]
fn an_empty_project_has_an_empty_picture() {
    let graph = Graph::of(&Project::default());
    assert_eq!(graph.mermaid(), "flowchart LR\n");
    assert_eq!(graph.json(), "{\"nodes\":[],\"edges\":[],\"cycles\":[]}\n");
    roxmltree::Document::parse(&graph.svg()).unwrap();
}
