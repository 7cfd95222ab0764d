//! An element: its names, its attributes, its places and its way around the tree.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::arena::{ElementData, Kind, NONE, NodeData, NodeId, TagEnd};
use super::decode::{Decoded, Joined};
use super::{Attribute, Children, Document, Node, name};
use crate::text::Span;

/// An element of a document.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    document: &'a Document,
    id: u32,
}

impl<'a> Element<'a> {
    pub(super) fn new(document: &'a Document, id: u32) -> Self {
        Self { document, id }
    }

    fn node(&self) -> NodeData {
        self.document.data(self.id)
    }

    fn data(&self) -> ElementData {
        self.document.element_data(self.id)
    }

    /// Its number in the document.
    #[must_use]
    pub fn id(&self) -> NodeId {
        NodeId(self.id)
    }

    /// The document it belongs to.
    #[must_use]
    pub fn document(&self) -> &'a Document {
        self.document
    }

    /// Its name as written, empty when there is only a `<`.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name_span().of(self.document.source())
    }

    /// Its name without the prefix.
    #[must_use]
    pub fn local(&self) -> &'a str {
        match self.data().colon {
            NONE => self.name(),
            colon => Span::new(colon + 1, self.data().name_end).of(self.document.source()),
        }
    }

    /// The prefix of its name.
    #[must_use]
    pub fn prefix(&self) -> Option<&'a str> {
        let colon = self.data().colon;
        (colon != NONE).then(|| Span::new(self.name_span().start, colon).of(self.document.source()))
    }

    /// Its namespace. None also when its prefix is not declared.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.document.namespace(self.data().namespace)
    }

    /// Whether it has this local name in this namespace; the empty text stands for no namespace.
    #[must_use]
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local() == local && self.namespace().unwrap_or_default() == namespace
    }

    /// Its attributes in order, namespace declarations included.
    pub fn attributes(&self) -> impl DoubleEndedIterator<Item = Attribute<'a>> + use<'a> {
        let (document, id, data) = (self.document, self.id, self.data());
        let (start, end) = (data.attributes_start, data.attributes_end);
        let listed = document.attributes.get(start as usize..end as usize).unwrap_or_default();
        listed
            .iter()
            .enumerate()
            .map(move |(index, attribute)| Attribute::new(document, id, start + index as u32, *attribute))
    }

    /// The first attribute without a prefix of this name.
    #[must_use]
    pub fn attribute(&self, local: &str) -> Option<Attribute<'a>> {
        self.attributes().find(|attribute| attribute.name() == local && !attribute.is_declaration())
    }

    /// The value, as read, of the first attribute without a prefix of this name.
    #[must_use]
    pub fn value(&self, local: &str) -> Option<Cow<'a, str>> {
        self.attribute(local).map(|attribute| attribute.value())
    }

    /// The namespace that a prefix is bound to here; the empty prefix is the default namespace.
    #[must_use]
    pub fn lookup_namespace(&self, prefix: &str) -> Option<Cow<'a, str>> {
        if prefix == "xml" {
            return Some(Cow::Borrowed(super::XML_NAMESPACE));
        }
        let declares = |attribute: &Attribute<'a>| match attribute.prefix() {
            None => prefix.is_empty() && attribute.name() == "xmlns",
            Some(xmlns) => xmlns == "xmlns" && attribute.local() == prefix,
        };
        std::iter::once(*self)
            .chain(self.ancestors())
            .find_map(|element| element.attributes().find(declares))
            .map(|attribute| attribute.value())
            .filter(|namespace| !namespace.is_empty())
    }

    /// The enclosing element.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let parent = self.node().parent;
        (parent != NONE).then(|| Self::new(self.document, parent))
    }

    /// The enclosing elements, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> + use<'a> {
        std::iter::successors(self.parent(), Self::parent)
    }

    /// What is between its tags, in order.
    #[must_use]
    pub fn children(&self) -> Children<'a> {
        Children::new(self.document, self.id + 1, self.node().end)
    }

    /// The elements directly between its tags.
    pub fn elements(&self) -> impl Iterator<Item = Self> + use<'a> {
        self.children().filter_map(Node::as_element)
    }

    /// All elements between its tags, at any depth, in document order.
    pub fn descendants(&self) -> impl Iterator<Item = Self> + use<'a> {
        self.document.elements_between(self.id + 1, self.node().end)
    }

    /// The first child element of this local name, in any namespace.
    #[must_use]
    pub fn first(&self, local: &str) -> Option<Self> {
        self.elements().find(|element| element.local() == local)
    }

    /// Whether an element is directly between its tags.
    #[must_use]
    pub fn has_element_children(&self) -> bool {
        self.elements().next().is_some()
    }

    /// The next element beside it.
    #[must_use]
    pub fn next_sibling_element(&self) -> Option<Self> {
        let node = self.node();
        let end = match node.parent {
            NONE => self.document.nodes.len() as u32,
            parent => self.document.data(parent).end,
        };
        Children::new(self.document, node.end, end).find_map(Node::as_element)
    }

    /// The element beside it that comes before.
    #[must_use]
    pub fn previous_sibling_element(&self) -> Option<Self> {
        let parent = self.node().parent;
        let mut at = self.id;
        loop {
            // The node before is the last one inside the sibling before: climb until the parent is the same.
            at = at.checked_sub(1).filter(|at| *at != parent)?;
            while self.document.data(at).parent != parent {
                at = self.document.data(at).parent;
            }
            if self.document.data(at).kind == Kind::Element {
                return Some(Self::new(self.document, at));
            }
        }
    }

    /// The text and CDATA directly between its tags, as read and joined.
    #[must_use]
    pub fn text(&self) -> Cow<'a, str> {
        self.decoded_text().into_text()
    }

    /// As [`Self::text`], with the way back to the source.
    #[must_use]
    pub fn decoded_text(&self) -> Decoded<'a> {
        let mut pieces = self.children().filter_map(|child| match child {
            Node::Text(piece) | Node::CData(piece) => Some(piece),
            _ => None,
        });
        let base = self.content_span().unwrap_or_else(|| self.open_span()).start;
        let Some(first) = pieces.next() else { return Decoded::verbatim("", base) };
        let Some(second) = pieces.next() else { return first.decoded() };
        let mut joined = Joined::default();
        for piece in [first, second].into_iter().chain(pieces) {
            let span = piece.inner_span();
            joined.add(span.of(self.document.source()), span.start, piece.reading());
        }
        joined.finish(base)
    }

    /// Everything between its tags, markup included, with references resolved: what a template made of elements is
    /// searched for placeholders in.
    #[must_use]
    pub fn decoded_content(&self) -> Decoded<'a> {
        let span = self.content_span().unwrap_or_else(|| Span::at(self.open_span().end));
        super::decode::decode(span.of(self.document.source()), span.start, super::decode::Reading::Text)
    }

    /// All of it, from `<` to the end of its end tag, or to where it ends without one.
    #[must_use]
    pub fn span(&self) -> Span {
        self.node().span
    }

    /// Where its name in the start tag is.
    #[must_use]
    pub fn name_span(&self) -> Span {
        Span::new(self.node().span.start + 1, self.data().name_end)
    }

    /// Its start tag.
    #[must_use]
    pub fn open_span(&self) -> Span {
        Span::new(self.node().span.start, self.data().open_end)
    }

    /// Its end tag.
    #[must_use]
    pub fn close_span(&self) -> Option<Span> {
        let start = self.data().close_start;
        (start != NONE).then(|| Span::new(start, self.node().span.end))
    }

    /// Where the name in its end tag is.
    #[must_use]
    pub fn close_name_span(&self) -> Option<Span> {
        self.close_span().map(|close| super::parse::close_name(self.document.source(), close))
    }

    /// What is between its tags; nothing for `<a/>` and for a tag that does not end.
    #[must_use]
    pub fn content_span(&self) -> Option<Span> {
        let data = self.data();
        match (data.tag_end, data.close_start) {
            (TagEnd::SelfClosing, _) | (TagEnd::Missing, NONE) => None,
            (_, NONE) => Some(Span::new(data.open_end, self.node().span.end)),
            (_, close) => Some(Span::new(data.open_end, close)),
        }
    }

    /// Whether its start tag ends with `/>`.
    #[must_use]
    pub fn is_self_closing(&self) -> bool {
        self.data().tag_end == TagEnd::SelfClosing
    }

    /// Whether it ends where it says: with an end tag or `/>`.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_self_closing() || self.data().close_start != NONE
    }

    /// Whether its start tag ends with `>` or `/>`.
    #[must_use]
    pub fn has_complete_tag(&self) -> bool {
        self.data().tag_end != TagEnd::Missing
    }

    /// Where a new attribute goes, with a blank before it: after the last attribute, or after the name.
    #[must_use]
    pub fn attributes_end(&self) -> u32 {
        self.attributes().next_back().map_or(self.data().name_end, |last| last.span().end)
    }

    /// The white space at the beginning of its line, when nothing else is before it there.
    #[must_use]
    pub fn indentation(&self) -> Option<&'a str> {
        let before = self.document.source().get(..self.node().span.start as usize)?;
        let line = before.rfind(['\n', '\r']).map_or(before, |end| before.get(end + 1..).unwrap_or_default());
        line.bytes().all(name::is_space).then_some(line)
    }
}

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.document, other.document) && self.id == other.id
    }
}

impl Eq for Element<'_> {}

impl Hash for Element<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}> at {}", self.name(), self.node().span.start)
    }
}
