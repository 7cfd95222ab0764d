//! The syntax tree of an XML text: lossless, with exact places, and made of whatever was typed.
//!
//! [`Document::parse`] never fails. It keeps every byte, reports what is wrong as [`Problem`]s (few, and where a
//! person would point) and recovers so that the rest of the tree is what was evidently meant. Entities are never
//! expanded and nothing is loaded, so a text cannot grow when it is read. The tree is flat in memory: depth costs
//! no stack, and an element is a small copyable handle.
//!
//! ```
//! use synapse_lang::syntax::Document;
//!
//! let document = Document::parse(r#"<log level="full"><property name="a" expression="${1 &lt; 2}"/></log>"#);
//! let property = document.root().and_then(|log| log.first("property")).unwrap();
//! assert_eq!(property.value("expression").as_deref(), Some("${1 < 2}"));
//! // The `<` of the expression is written as four bytes.
//! let expression = property.attribute("expression").unwrap();
//! assert_eq!(expression.source_span(4..5).of(document.source()), "&lt;");
//! ```

mod arena;
mod attribute;
mod decode;
mod element;
pub(crate) mod name;
mod node;
mod parse;
mod place;
mod problem;
mod token;
mod write;

use std::sync::{Arc, OnceLock};

pub use arena::NodeId;
pub use attribute::Attribute;
pub use decode::{Decoded, unescape, unescape_attribute};
pub use element::Element;
pub use node::{Children, Node, Piece};
pub use place::{Place, Spot};
pub use problem::{MOST_PROBLEMS, Problem, ProblemKind};
pub use token::{Token, TokenKind, Tokens};
pub use write::{escape_attribute, escape_text};

use arena::{AttributeData, ElementData, Kind, NONE, NodeData};

use crate::text::Lines;

/// The namespace that the prefix `xml` is always bound to.
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

/// A text and its tree.
#[derive(Debug)]
pub struct Document {
    source: Arc<str>,
    nodes: Vec<NodeData>,
    elements: Vec<ElementData>,
    attributes: Vec<AttributeData>,
    /// Interned; the first is no namespace.
    namespaces: Vec<Box<str>>,
    problems: Vec<Problem>,
    lines: OnceLock<Lines>,
}

impl Document {
    /// Reads a text, whatever it is.
    #[must_use]
    pub fn parse(source: impl Into<Arc<str>>) -> Self {
        parse::parse(source.into())
    }

    /// The text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text, shared.
    #[must_use]
    pub fn shared_source(&self) -> Arc<str> {
        Arc::clone(&self.source)
    }

    /// Where its lines begin; found when first asked for.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.source))
    }

    /// What is wrong with it as XML, in the order of the text. At most [`MOST_PROBLEMS`], and one that counts the
    /// others.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The document element: the first element, when there are several.
    #[must_use]
    pub fn root(&self) -> Option<Element<'_>> {
        self.top_level().find_map(Node::as_element)
    }

    /// What stands outside of all elements, and the elements there, in order.
    #[must_use]
    pub fn top_level(&self) -> Children<'_> {
        Children::new(self, 0, self.nodes.len() as u32)
    }

    /// All elements in document order.
    pub fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.elements_between(0, self.nodes.len() as u32)
    }

    /// A node of this document.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<Node<'_>> {
        ((id.0 as usize) < self.nodes.len()).then(|| Node::new(self, id.0))
    }

    /// An element of this document.
    #[must_use]
    pub fn element(&self, id: NodeId) -> Option<Element<'_>> {
        self.node(id).and_then(Node::as_element)
    }

    /// What is at a place, as for a cursor that stands before the byte at this offset.
    #[must_use]
    pub fn node_at(&self, offset: u32) -> Place<'_> {
        place::find(self, offset)
    }

    /// The text cut into tokens: every byte belongs to exactly one.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(self)
    }

    /// The elements among the nodes of a range, in document order.
    fn elements_between(&self, start: u32, end: u32) -> impl Iterator<Item = Element<'_>> {
        (start..end).filter_map(|node| {
            let data = self.data(node);
            (data.kind == Kind::Element).then(|| Element::new(self, node))
        })
    }

    fn data(&self, node: u32) -> NodeData {
        self.nodes.get(node as usize).copied().unwrap_or(NodeData::MISSING)
    }

    fn element_data(&self, node: u32) -> ElementData {
        let detail = self.data(node).detail;
        self.elements.get(detail as usize).copied().unwrap_or(ElementData::MISSING)
    }

    fn namespace(&self, interned: u32) -> Option<&str> {
        if interned == 0 || interned == NONE {
            return None;
        }
        self.namespaces.get(interned as usize).map(|namespace| &**namespace)
    }
}

#[cfg(test)]
mod tests;
