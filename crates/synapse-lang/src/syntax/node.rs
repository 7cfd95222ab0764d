//! What stands between tags: elements, texts, comments and the rest.

use std::borrow::Cow;
use std::ops::Range;

use super::arena::{Kind, NONE, NodeData, NodeId};
use super::decode::{Decoded, Reading, decode};
use super::{Document, Element};
use crate::text::Span;

/// Anything in a tree.
#[derive(Debug, Clone, Copy)]
pub enum Node<'a> {
    /// An element.
    Element(Element<'a>),
    /// Text, white space included.
    Text(Piece<'a>),
    /// `<![CDATA[…]]>`.
    CData(Piece<'a>),
    /// `<!--…-->`.
    Comment(Piece<'a>),
    /// `<?…?>`, the XML declaration included.
    Instruction(Piece<'a>),
    /// `<!DOCTYPE …>`.
    Doctype(Piece<'a>),
    /// Markup that is nothing: a stray end tag, an unknown `<!`. There is a problem for each.
    Junk(Piece<'a>),
}

impl<'a> Node<'a> {
    pub(super) fn new(document: &'a Document, id: u32) -> Self {
        let data = document.data(id);
        let piece = Piece { document, id, data };
        match data.kind {
            Kind::Element => Self::Element(Element::new(document, id)),
            Kind::Text => Self::Text(piece),
            Kind::CData => Self::CData(piece),
            Kind::Comment => Self::Comment(piece),
            Kind::Instruction => Self::Instruction(piece),
            Kind::Doctype => Self::Doctype(piece),
            Kind::Junk => Self::Junk(piece),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(self) -> NodeId {
        match self {
            Self::Element(element) => element.id(),
            Self::Text(piece)
            | Self::CData(piece)
            | Self::Comment(piece)
            | Self::Instruction(piece)
            | Self::Doctype(piece)
            | Self::Junk(piece) => piece.id(),
        }
    }

    /// All of its bytes.
    #[must_use]
    pub fn span(self) -> Span {
        match self {
            Self::Element(element) => element.span(),
            Self::Text(piece)
            | Self::CData(piece)
            | Self::Comment(piece)
            | Self::Instruction(piece)
            | Self::Doctype(piece)
            | Self::Junk(piece) => piece.span(),
        }
    }

    /// The enclosing element.
    #[must_use]
    pub fn parent(self) -> Option<Element<'a>> {
        match self {
            Self::Element(element) => element.parent(),
            Self::Text(piece)
            | Self::CData(piece)
            | Self::Comment(piece)
            | Self::Instruction(piece)
            | Self::Doctype(piece)
            | Self::Junk(piece) => piece.parent(),
        }
    }

    /// The element, when it is one.
    #[must_use]
    pub fn as_element(self) -> Option<Element<'a>> {
        match self {
            Self::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// A node that is not an element.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    document: &'a Document,
    id: u32,
    data: NodeData,
}

impl<'a> Piece<'a> {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> NodeId {
        NodeId(self.id)
    }

    /// All of its bytes, delimiters included.
    #[must_use]
    pub fn span(&self) -> Span {
        self.data.span
    }

    /// Its bytes as written, delimiters included.
    #[must_use]
    pub fn raw(&self) -> &'a str {
        self.data.span.of(self.document.source())
    }

    /// The bytes between the delimiters; a text has none.
    #[must_use]
    pub fn inner_span(&self) -> Span {
        let (open, close) = match self.data.kind {
            Kind::CData => ("<![CDATA[", "]]>"),
            Kind::Comment => ("<!--", "-->"),
            Kind::Instruction => ("<?", "?>"),
            Kind::Doctype => ("<!DOCTYPE", ">"),
            Kind::Element | Kind::Text | Kind::Junk => ("", ""),
        };
        let inner = self.raw().get(open.len()..).unwrap_or_default();
        let inner = inner.strip_suffix(close).unwrap_or(inner);
        let start = self.data.span.start + open.len() as u32;
        Span::new(start, start + inner.len() as u32)
    }

    /// The enclosing element.
    #[must_use]
    pub fn parent(&self) -> Option<Element<'a>> {
        (self.data.parent != NONE).then(|| Element::new(self.document, self.data.parent))
    }

    /// Whether it is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.raw().bytes().all(super::name::is_space)
    }

    /// What is between the delimiters, as read.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        self.decoded().into_text()
    }

    /// What is between the delimiters as read, with the way back to the source.
    #[must_use]
    pub fn decoded(&self) -> Decoded<'a> {
        let span = self.inner_span();
        let raw = span.of(self.document.source());
        match self.data.kind {
            Kind::Text if self.data.detail == 0 => Decoded::verbatim(raw, span.start),
            Kind::Text => decode(raw, span.start, Reading::Text),
            _ => decode(raw, span.start, Reading::CData),
        }
    }

    /// Where a part of the read text was written.
    #[must_use]
    pub fn source_span(&self, decoded: Range<usize>) -> Span {
        self.decoded().source_span(decoded)
    }

    pub(super) fn reading(&self) -> Reading {
        if self.data.kind == Kind::Text { Reading::Text } else { Reading::CData }
    }
}

/// Sibling nodes in order.
#[derive(Debug, Clone)]
pub struct Children<'a> {
    document: &'a Document,
    next: u32,
    end: u32,
}

impl<'a> Children<'a> {
    pub(super) fn new(document: &'a Document, next: u32, end: u32) -> Self {
        Self { document, next, end }
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        if self.next >= self.end {
            return None;
        }
        let node = Node::new(self.document, self.next);
        self.next = self.document.data(self.next).end;
        Some(node)
    }
}
