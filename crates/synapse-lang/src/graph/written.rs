//! A graph as text for other programs: Mermaid, Graphviz, JSON.

use std::fmt::Write as _;

use super::{Graph, Node, State};

impl Graph {
    /// As a Mermaid flowchart.
    #[must_use]
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let (open, close) = mermaid_shape(node);
            let _ = writeln!(
                out,
                "    n{at}{open}\"{}<br/><small>{}</small>\"{close}",
                mermaid(&node.name),
                mermaid(&said(node))
            );
        }
        for edge in &self.edges {
            let times = if edge.count > 1 { format!("|{}x|", edge.count) } else { String::new() };
            let _ = writeln!(out, "    n{} -->{times} n{}", edge.from, edge.to);
        }
        let listed = |wanted: State| {
            let found = self.nodes.iter().enumerate().filter(|(_, node)| node.state == wanted);
            found.map(|(at, _)| format!("n{at}")).collect::<Vec<_>>().join(",")
        };
        for (state, class, style) in [
            (State::Missing, "missing", "stroke:#c62828,stroke-dasharray:4 3,color:#c62828"),
            (State::Outside, "outside", "stroke-dasharray:2 2"),
        ] {
            let nodes = listed(state);
            if !nodes.is_empty() {
                let _ = writeln!(out, "    classDef {class} {style}\n    class {nodes} {class}");
            }
        }
        let cycle: Vec<String> = self
            .edges
            .iter()
            .enumerate()
            .filter(|(_, edge)| edge.cycle)
            .map(|(at, _)| at.to_string())
            .collect();
        if !cycle.is_empty() {
            let _ = writeln!(out, "    linkStyle {} stroke:#c62828,stroke-width:2px", cycle.join(","));
        }
        out
    }

    /// As a Graphviz digraph.
    #[must_use]
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph calls {\n    rankdir=LR;\n    node [shape=box, style=rounded, fontname=\"sans-serif\"];\n",
        );
        for (at, node) in self.nodes.iter().enumerate() {
            let style = match node.state {
                State::Defined => "",
                State::Outside => ", style=\"rounded,dotted\"",
                State::Missing => ", style=\"rounded,dashed\", color=\"#c62828\", fontcolor=\"#c62828\"",
            };
            let _ = writeln!(
                out,
                "    n{at} [label=\"{}\\n{}\"{style}];",
                quoted(&node.name),
                quoted(&said(node))
            );
        }
        for edge in &self.edges {
            let mut styles = Vec::new();
            if edge.count > 1 {
                styles.push(format!("label=\"{}x\"", edge.count));
            }
            if edge.cycle {
                styles.push("color=\"#c62828\"".to_owned());
            }
            let style = if styles.is_empty() { String::new() } else { format!(" [{}]", styles.join(", ")) };
            let _ = writeln!(out, "    n{} -> n{}{style};", edge.from, edge.to);
        }
        out.push_str("}\n");
        out
    }

    /// As JSON: nodes, edges with indices of nodes, and the cycles.
    #[must_use]
    pub fn json(&self) -> String {
        let whole = serde_json::json!({ "nodes": self.nodes, "edges": self.edges, "cycles": self.cycles() });
        format!("{whole}\n")
    }
}

/// The kind, and what is special about it.
fn said(node: &Node) -> String {
    match node.state {
        State::Defined => node.kind.to_owned(),
        State::Outside => format!("{}, outside", node.kind),
        State::Missing => format!("{}, missing", node.kind),
    }
}

fn mermaid_shape(node: &Node) -> (&'static str, &'static str) {
    match node.kind {
        "api" | "proxy" | "inboundEndpoint" | "task" | "data-service" => ("([", "])"),
        "endpoint" | "endpoint-template" | "connection" => ("[/", "/]"),
        "messageStore" => ("[(", ")]"),
        "template" => ("[[", "]]"),
        _ => ("[", "]"),
    }
}

/// A text in a label of Mermaid, where quotes and markup need entities.
fn mermaid(text: &str) -> String {
    let mut out = String::new();
    for one in text.chars() {
        match one {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '\n' | '\r' => out.push(' '),
            _ => out.push(one),
        }
    }
    out
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}
