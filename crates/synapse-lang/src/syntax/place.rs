//! What a cursor is on.

use super::arena::{Kind, NONE, TagEnd};
use super::{Attribute, Document, Element, Node, Piece};
use crate::text::Span;

/// What is at a place of a document.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// What it is.
    pub spot: Spot<'a>,
    /// The bytes of that thing.
    pub span: Span,
    /// The element it belongs to: that of the tag, or the one whose content it is.
    pub element: Option<Element<'a>>,
}

/// The kinds of places.
#[derive(Debug, Clone, Copy)]
pub enum Spot<'a> {
    /// The name in a start tag, which may be empty.
    ElementName,
    /// The name of an attribute.
    AttributeName(Attribute<'a>),
    /// Between the name of an attribute and its value: the `=` and white space.
    AttributeEquals(Attribute<'a>),
    /// The value of an attribute, inside the quotes.
    AttributeValue(Attribute<'a>),
    /// In a start tag, where an attribute could stand: white space, or what is no attribute.
    TagSpace,
    /// At the end of a start tag, between `/` and `>`.
    TagEnd,
    /// The name in an end tag.
    CloseName,
    /// Another place in an end tag.
    CloseTag,
    /// Text.
    Text(Piece<'a>),
    /// A CDATA section.
    CData(Piece<'a>),
    /// A comment.
    Comment(Piece<'a>),
    /// A processing instruction.
    Instruction(Piece<'a>),
    /// A document type.
    Doctype(Piece<'a>),
    /// Markup that is nothing.
    Junk(Piece<'a>),
    /// Between two tags with nothing between them, or outside of everything.
    Content,
}

/// Finds what is at a place.
pub(super) fn find(document: &Document, offset: u32) -> Place<'_> {
    let offset = offset.min(document.source().len() as u32);
    let before = document.nodes.partition_point(|node| node.span.start < offset);
    let mut at = (before as u32).checked_sub(1).unwrap_or(NONE);
    while at != NONE && !is_inside(document, at, offset) {
        at = document.data(at).parent;
    }
    if at == NONE {
        return content(document, None, before as u32, offset);
    }
    match Node::new(document, at) {
        Node::Element(element) => in_element(document, element, before as u32, offset),
        other => in_piece(other),
    }
}

/// Whether a place that is after a node's start is still in the node. Where a text ends it is still text; where a tag
/// ends it is not the tag any more, unless it has no end.
fn is_inside(document: &Document, node: u32, offset: u32) -> bool {
    let data = document.data(node);
    if offset != data.span.end {
        return offset < data.span.end;
    }
    match data.kind {
        Kind::Text => true,
        Kind::Element => {
            let element = document.element_data(node);
            element.close_start == NONE && element.tag_end != TagEnd::SelfClosing
        }
        _ => false,
    }
}

fn in_element<'a>(document: &'a Document, element: Element<'a>, next: u32, offset: u32) -> Place<'a> {
    if let Some(close) = element.close_span().filter(|close| close.start < offset) {
        let name = Span::new(close.start + 2, element.close_name_span().unwrap_or(close).end);
        let (spot, span) =
            if name.touches(offset) { (Spot::CloseName, name) } else { (Spot::CloseTag, close) };
        return Place { spot, span, element: Some(element) };
    }
    let open = element.open_span();
    if offset < open.end || (offset == open.end && !element.has_complete_tag()) {
        return in_tag(document, element, offset);
    }
    content(document, Some(element), next, offset)
}

fn in_tag<'a>(document: &'a Document, element: Element<'a>, offset: u32) -> Place<'a> {
    let here = |spot, span| Place { spot, span, element: Some(element) };
    if element.name_span().touches(offset) {
        return here(Spot::ElementName, element.name_span());
    }
    for attribute in element.attributes() {
        let (name, value, whole) = (attribute.name_span(), attribute.value_span(), attribute.span());
        if name.touches(offset) {
            return here(Spot::AttributeName(attribute), name);
        }
        if attribute.has_value() && value.touches(offset) {
            return here(Spot::AttributeValue(attribute), value);
        }
        if name.end < offset && offset < value.start {
            return here(Spot::AttributeEquals(attribute), Span::new(name.end, value.start));
        }
        if offset < whole.end {
            break;
        }
    }
    let open = element.open_span();
    if element.is_self_closing() && offset + 1 == open.end {
        return here(Spot::TagEnd, Span::new(open.end - 2, open.end));
    }
    here(Spot::TagSpace, gap(document, element, offset))
}

/// The place between two parts of a tag.
fn gap(document: &Document, element: Element<'_>, offset: u32) -> Span {
    let open = element.open_span();
    let mut gap = Span::new(element.name_span().end, open.end);
    for attribute in element.attributes() {
        if attribute.span().end <= offset {
            gap.start = attribute.span().end;
        } else if attribute.span().start >= offset {
            gap.end = attribute.span().start;
            break;
        }
    }
    let tail = if element.is_self_closing() { 2 } else { u32::from(element.has_complete_tag()) };
    let end = gap.end.min(open.end - tail);
    debug_assert!(end as usize <= document.source().len());
    Span::new(gap.start, end)
}

/// A place between tags: a text that begins or ends there, or nothing.
fn content<'a>(document: &'a Document, element: Option<Element<'a>>, next: u32, offset: u32) -> Place<'a> {
    let after = document.data(next);
    let parent = element.map_or(NONE, |element| element.id().0);
    if (next as usize) < document.nodes.len()
        && after.kind == Kind::Text
        && after.span.start == offset
        && after.parent == parent
    {
        return in_piece(Node::new(document, next));
    }
    Place { spot: Spot::Content, span: Span::at(offset), element }
}

fn in_piece(node: Node<'_>) -> Place<'_> {
    let spot = match node {
        Node::Text(piece) => Spot::Text(piece),
        Node::CData(piece) => Spot::CData(piece),
        Node::Comment(piece) => Spot::Comment(piece),
        Node::Instruction(piece) => Spot::Instruction(piece),
        Node::Doctype(piece) => Spot::Doctype(piece),
        Node::Junk(piece) => Spot::Junk(piece),
        Node::Element(_) => Spot::Content,
    };
    Place { spot, span: node.span(), element: node.parent() }
}

#[cfg(test)]
mod tests;
