//! Indents a document. Nothing that the runtime reads changes.
//!
//! Only white space between the elements of the language moves. Text, CDATA, comments, payloads and other content that
//! is not Synapse, attributes and their order, quotes and entities stay as they are written. A blank line between two
//! steps stays (one, of several), and so does a comment behind a step. Formatting twice changes nothing more.
//!
//! A text that is not well-formed, or whose root is no artifact, is left alone.

use crate::check::walk::{Placed, Role, Tree};
use crate::model::{Content, Model};
use crate::syntax::{Document, Element, Node};
use crate::text::Span;

/// How a document is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Blanks for each level.
    pub indent: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { indent: 4 }
    }
}

/// The text, indented. What cannot be indented comes back as it is.
#[must_use]
pub fn format(text: &str, style: &Style) -> String {
    let document = Document::parse(text);
    if obstacle(&document).is_some() {
        return text.to_owned();
    }
    let tree = Tree::of(&document, Model::get());
    let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    Layout {
        tree: &tree,
        source: text,
        indent: style.indent,
        line,
        out: String::with_capacity(text.len() + 256),
    }
    .document(&document)
}

/// Why a document is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// It is not well-formed.
    #[error("it is not well-formed: {message}")]
    Broken {
        /// Where.
        span: Span,
        /// What is wrong.
        message: String,
    },
    /// Its root is nothing that the language knows.
    #[error("its root is no artifact")]
    Unknown,
}

/// What keeps a document from being formatted.
#[must_use]
pub fn obstacle(document: &Document) -> Option<Obstacle> {
    if let Some(problem) = document.problems().first() {
        return Some(Obstacle::Broken { span: problem.span, message: problem.to_string() });
    }
    // Several roots are not well-formed; no root has nothing to indent.
    let known = document.root().is_some_and(|root| Model::get().artifact_named(root.local()).is_some());
    (!known).then_some(Obstacle::Unknown)
}

/// What is still to be written.
enum Step<'a> {
    /// White space, then a node.
    Node { lead: String, node: Node<'a>, depth: usize },
    /// The end tag of an element whose children are written.
    Close { element: Element<'a>, depth: usize },
}

struct Layout<'a> {
    tree: &'a Tree<'a>,
    source: &'a str,
    indent: usize,
    line: &'static str,
    out: String,
}

impl<'a> Layout<'a> {
    fn document(mut self, document: &'a Document) -> String {
        if self.source.starts_with('\u{feff}') {
            self.out.push('\u{feff}');
        }
        let mut pending = Vec::new();
        self.children(document.top_level(), 0, &mut pending);
        // Nothing stands before the first node, not even white space: a declaration would be none.
        if let Some(Step::Node { lead, .. }) = pending.last_mut() {
            lead.clear();
        }
        while let Some(step) = pending.pop() {
            match step {
                Step::Node { lead, node, depth } => {
                    self.out.push_str(&lead);
                    self.node(node, depth, &mut pending);
                }
                Step::Close { element, depth } => {
                    self.new_line(depth);
                    self.copy(element.close_span().unwrap_or_default());
                }
            }
        }
        self.out.push_str(self.line);
        self.out
    }

    /// Plans the nodes between two tags, the last first.
    fn children(&self, nodes: impl Iterator<Item = Node<'a>>, depth: usize, pending: &mut Vec<Step<'a>>) {
        let mut planned = Vec::new();
        let mut gap = 0;
        for node in nodes {
            if let Node::Text(piece) = node {
                gap += piece.raw().matches('\n').count();
                continue;
            }
            let behind = matches!(node, Node::Comment(_)) && gap == 0 && !planned.is_empty();
            let lead = if behind {
                " ".to_owned()
            } else {
                let blank = if gap > 1 && !planned.is_empty() { self.line } else { "" };
                format!("{blank}{}{}", self.line, " ".repeat(self.indent * depth))
            };
            planned.push(Step::Node { lead, node, depth });
            gap = 0;
        }
        pending.extend(planned.into_iter().rev());
    }

    fn node(&mut self, node: Node<'a>, depth: usize, pending: &mut Vec<Step<'a>>) {
        let Node::Element(element) = node else { return self.copy(node.span()) };
        let Some(placed) = self.tree.entry(element) else { return self.copy(element.span()) };
        self.tag(element, depth);
        if element.is_self_closing() {
            return;
        }
        let inside = element.content_span().unwrap_or_default();
        if !is_laid_out(placed) || inside.of(self.source).is_empty() {
            self.copy(inside);
            self.copy(element.close_span().unwrap_or_default());
        } else if element.children().all(|child| matches!(child, Node::Text(_))) {
            // Only white space: it stays on its line, or the end tag gets a line of its own.
            if inside.of(self.source).contains('\n') {
                self.new_line(depth);
            } else {
                self.copy(inside);
            }
            self.copy(element.close_span().unwrap_or_default());
        } else {
            pending.push(Step::Close { element, depth });
            self.children(element.children(), depth + 1, pending);
        }
    }

    /// A start tag. Attributes that begin a line of their own stand two levels further in.
    fn tag(&mut self, element: Element<'a>, depth: usize) {
        let mut at = element.open_span().start;
        for attribute in element.attributes() {
            let span = attribute.span();
            let before = Span::new(at, span.start).of(self.source);
            let kept = before.trim_end();
            self.out.push_str(kept);
            let gap = before.get(kept.len()..).unwrap_or_default();
            if gap.contains('\n') {
                self.new_line(depth + 2);
            } else {
                self.out.push_str(gap);
            }
            self.copy(span);
            at = span.end;
        }
        let rest = Span::new(at, element.open_span().end).of(self.source);
        let end = rest.trim_start();
        let gap = rest.get(..rest.len() - end.len()).unwrap_or_default();
        if gap.contains('\n') {
            self.new_line(depth);
        } else {
            self.out.push_str(gap);
        }
        self.out.push_str(end);
    }

    fn new_line(&mut self, depth: usize) {
        self.out.push_str(self.line);
        self.out.extend(std::iter::repeat_n(' ', self.indent * depth));
    }

    fn copy(&mut self, span: Span) {
        self.out.push_str(span.of(self.source));
    }
}

/// Whether white space between the children of an element means nothing.
fn is_laid_out(placed: &Placed<'_>) -> bool {
    let by_model = match placed.role {
        Role::Operation => true,
        Role::Artifact | Role::Mediator | Role::Endpoint | Role::Part => {
            placed.definition.is_some_and(|definition| {
                let parts = match definition.content {
                    Content::Parts
                    | Content::Parameters
                    | Content::Mediators
                    | Content::MediatorsUnless(_) => true,
                    Content::Empty | Content::Text | Content::Markup | Content::Mixed => false,
                };
                parts && !definition.shallow && definition.text.is_none()
            })
        }
        Role::Parameter | Role::NoMediator | Role::Stray | Role::Unknown => false,
    };
    let blank = |child: Node<'_>| match child {
        Node::Text(piece) => piece.is_blank(),
        Node::CData(_) => false,
        _ => true,
    };
    let preserved =
        || placed.element.attributes().any(|one| one.name() == "xml:space" && one.value() == "preserve");
    by_model && placed.element.children().all(blank) && !preserved()
}

#[cfg(test)]
mod tests;
