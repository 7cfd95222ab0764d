//! A graph as a picture that needs no other file.

use std::fmt::Write as _;

use super::layout::{BOX, Layout, Place, lay_out};
use super::{Edge, Graph, State};
use crate::syntax::escape_text;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1c2733}.k{font-size:10px;fill:#5b6b7b}\
rect{fill:#eef3f8;stroke:#7d93a8}.entry rect{fill:#e3f4e8;stroke:#5aa06f}.out rect{fill:#fdf3e0;stroke:#c9973f}\
.data rect{fill:#f1ecfa;stroke:#8c76b8}.missing rect{fill:#fff;stroke:#c62828;stroke-dasharray:5 3}.missing text{fill:#c62828}\
.outside rect{stroke-dasharray:2 2}path{fill:none;stroke:#8fa0b0;stroke-width:1.4}.cycle{stroke:#c62828;stroke-width:2}\
marker path{fill:#8fa0b0;stroke:none}marker.red path{fill:#c62828}.bg{fill:#fff;stroke:none}\
@media(prefers-color-scheme:dark){.bg{fill:#14191f}text{fill:#e6edf3}.k{fill:#9aa9b8}rect{fill:#1f2933;stroke:#6a7f94}\
.entry rect{fill:#1c3325}.out rect{fill:#382e19}.data rect{fill:#2a2438}.missing rect{fill:#14191f}}";

impl Graph {
    /// As SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let layout = lay_out(self);
        let (width, height) = (layout.width.ceil(), layout.height.ceil());
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>Calls between artifacts</title>\n<style>{STYLE}</style>\n<defs>{}{}</defs>\n\
             <rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>\n",
            marker("a", ""),
            marker("r", " class=\"red\"")
        );
        for (at, edge) in self.edges.iter().enumerate() {
            let _ = writeln!(out, "{}", line(self, &layout, at, edge));
        }
        for (node, place) in self.nodes.iter().zip(&layout.places) {
            let state = match node.state {
                State::Defined => "",
                State::Outside => " outside",
                State::Missing => " missing",
            };
            let file = node.path.as_deref().unwrap_or(match node.state {
                State::Missing => "nothing defines it",
                State::Outside => "outside of the project",
                State::Defined => "",
            });
            let Place { x, y, width } = *place;
            let (name, kind) = (escape_text(&short(&node.name)).into_owned(), node.kind);
            let kind =
                if node.state == State::Missing { format!("{kind}, missing") } else { kind.to_owned() };
            let _ = writeln!(
                out,
                "<g class=\"{}{state}\"><title>{} {}\n{}</title><rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{BOX}\" rx=\"7\"/>\
                 <text class=\"k\" x=\"{:.0}\" y=\"{:.0}\">{kind}</text><text x=\"{:.0}\" y=\"{:.0}\">{name}</text></g>",
                group(node.kind),
                node.kind,
                escape_text(&node.name),
                escape_text(file),
                x + 12.0,
                y + 15.0,
                x + 12.0,
                y + 32.0
            );
        }
        out.push_str("</svg>\n");
        out
    }
}

fn marker(id: &str, class: &str) -> String {
    format!(
        "<marker id=\"{id}\"{class} viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto-start-reverse\"><path d=\"M0 0L8 4L0 8z\"/></marker>"
    )
}

/// What a kind looks like: where messages come in, where they go out, where data are, or in between.
fn group(kind: &str) -> &'static str {
    match kind {
        "api" | "proxy" | "inboundEndpoint" | "task" | "data-service" | "messageProcessor" => "entry",
        "endpoint" | "endpoint-template" | "connection" => "out",
        "messageStore" | "localEntry" | "resource" => "data",
        _ => "flow",
    }
}

/// A name that fits its box.
fn short(name: &str) -> String {
    const MOST: usize = 40;
    let length = name.chars().count();
    if length <= MOST {
        return name.to_owned();
    }
    // The end of a path says more than its beginning.
    let end: String = name.chars().skip(length - MOST + 1).collect();
    format!("\u{2026}{end}")
}

/// An edge: from the right side of the caller to the left side of the called, through its bends.
fn line(graph: &Graph, layout: &Layout, at: usize, edge: &Edge) -> String {
    let place = |node: usize| layout.places.get(node).copied().unwrap_or_default();
    let (from, to) = (place(edge.from), place(edge.to));
    let (class, end) = if edge.cycle { (" class=\"cycle\"", "r") } else { ("", "a") };
    let middle = BOX / 2.0;
    let path = if edge.from == edge.to {
        let (x, y) = (from.x + from.width / 2.0, from.y);
        format!(
            "M{:.0} {y:.0}C{:.0} {:.0} {:.0} {:.0} {:.0} {y:.0}",
            x + 14.0,
            x + 30.0,
            y - 26.0,
            x - 30.0,
            y - 26.0,
            x - 14.0
        )
    } else {
        let mut bends = layout.bends.get(at).cloned().unwrap_or_default();
        // An edge that was turned for the placing goes back: it leaves on the left and arrives on the right.
        let back = to.x < from.x;
        let (start, stop) = if back {
            bends.reverse();
            ((from.x, from.y + middle), (to.x + to.width, to.y + middle))
        } else {
            ((from.x + from.width, from.y + middle), (to.x, to.y + middle))
        };
        let mut path = format!("M{:.0} {:.0}", start.0, start.1);
        let mut last = start;
        for point in bends.into_iter().chain([stop]) {
            let half = (last.0 + point.0) / 2.0;
            let _ = write!(
                path,
                "C{half:.0} {:.0} {half:.0} {:.0} {:.0} {:.0}",
                last.1, point.1, point.0, point.1
            );
            last = point;
        }
        path
    };
    let name = |node: usize| graph.nodes.get(node).map_or("", |node| node.name.as_str());
    let told = format!("{} calls {}", escape_text(name(edge.from)), escape_text(name(edge.to)));
    format!("<path{class} d=\"{path}\" marker-end=\"url(#{end})\"><title>{told}</title></path>")
}
