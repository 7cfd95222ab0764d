//! How a tree lies in memory: flat lists in document order that hold places in the source and no text.
//!
//! A node's first child is the node after it, and its next sibling stands where its descendants end. So there
//! are no lists of children, dropping a tree needs no recursion, and a walk in document order is a loop.

use crate::text::Span;

/// The number of a node: its place in document order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The number itself: nodes are counted from zero, so it is an index into a list of as many as there are.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// No node, no element, no colon.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Element,
    Text,
    CData,
    Comment,
    Instruction,
    Doctype,
    Junk,
}

/// One node.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeData {
    pub(super) span: Span,
    /// The enclosing element's node, or [`NONE`].
    pub(super) parent: u32,
    /// The node after the last descendant.
    pub(super) end: u32,
    /// For an element its place among the elements; for a text, 1 when it has to be decoded.
    pub(super) detail: u32,
    pub(super) kind: Kind,
}

impl NodeData {
    /// What stands in for a node that does not exist, so that a look-up needs no panic.
    pub(super) const MISSING: Self =
        Self { span: Span::at(0), parent: NONE, end: NONE, detail: NONE, kind: Kind::Junk };
}

/// What only elements have. The name begins one byte after the node's span.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElementData {
    pub(super) name_end: u32,
    /// Where the colon of the name is, or [`NONE`].
    pub(super) colon: u32,
    /// Where the start tag ends.
    pub(super) open_end: u32,
    /// Where the end tag begins, or [`NONE`].
    pub(super) close_start: u32,
    pub(super) attributes_start: u32,
    pub(super) attributes_end: u32,
    /// The interned namespace.
    pub(super) namespace: u32,
    pub(super) tag_end: TagEnd,
}

/// How a start tag ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagEnd {
    /// With `>`.
    Open,
    /// With `/>`.
    SelfClosing,
    /// Not at all: another tag or the end of the text came first.
    Missing,
}

impl ElementData {
    /// What stands in for an element that does not exist.
    pub(super) const MISSING: Self = Self {
        name_end: 0,
        colon: NONE,
        open_end: 0,
        close_start: NONE,
        attributes_start: 0,
        attributes_end: 0,
        namespace: 0,
        tag_end: TagEnd::Missing,
    };
}

/// One attribute.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttributeData {
    pub(super) name: Span,
    /// Where the colon of the name is, or [`NONE`].
    pub(super) colon: u32,
    /// Inside the quotes. Without a value, the empty place after the name.
    pub(super) value: Span,
    /// The interned namespace; only attributes with a prefix have one.
    pub(super) namespace: u32,
    pub(super) quote: Quote,
    /// Whether the value as written is not the value as read.
    pub(super) decoded: bool,
}

impl AttributeData {
    /// Where the attribute ends, the closing quote included.
    pub(super) fn end(&self) -> u32 {
        match self.quote {
            Quote::Single | Quote::Double => self.value.end + 1,
            Quote::Absent | Quote::Cut(_) | Quote::NoValue => self.value.end,
        }
    }
}

/// What stands around a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
    /// The closing quote is missing; the opening one is this.
    Cut(u8),
    /// A value without quotes.
    Absent,
    /// No value at all.
    NoValue,
}
