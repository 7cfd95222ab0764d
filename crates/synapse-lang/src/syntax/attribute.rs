//! An attribute, as written and as read.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::arena::{AttributeData, NONE, Quote};
use super::decode::{Decoded, Reading, decode};
use super::{Document, Element, name};
use crate::text::Span;

/// An attribute of an element, namespace declarations included.
#[derive(Clone, Copy)]
pub struct Attribute<'a> {
    document: &'a Document,
    element: u32,
    index: u32,
    data: AttributeData,
}

impl<'a> Attribute<'a> {
    pub(super) fn new(document: &'a Document, element: u32, index: u32, data: AttributeData) -> Self {
        Self { document, element, index, data }
    }

    /// The element it belongs to.
    #[must_use]
    pub fn element(&self) -> Element<'a> {
        Element::new(self.document, self.element)
    }

    /// Its name as written.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.data.name.of(self.document.source())
    }

    /// Its name without the prefix.
    #[must_use]
    pub fn local(&self) -> &'a str {
        match self.data.colon {
            NONE => self.name(),
            colon => Span::new(colon + 1, self.data.name.end).of(self.document.source()),
        }
    }

    /// The prefix of its name.
    #[must_use]
    pub fn prefix(&self) -> Option<&'a str> {
        (self.data.colon != NONE)
            .then(|| Span::new(self.data.name.start, self.data.colon).of(self.document.source()))
    }

    /// The namespace of its prefix. An attribute without a prefix has none.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.document.namespace(self.data.namespace)
    }

    /// Whether it declares a namespace: `xmlns` or `xmlns:prefix`.
    #[must_use]
    pub fn is_declaration(&self) -> bool {
        let name = self.name();
        name.strip_prefix("xmlns").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// Where its name is.
    #[must_use]
    pub fn name_span(&self) -> Span {
        self.data.name
    }

    /// Where its value is, inside the quotes. Without a value, the place after the name.
    #[must_use]
    pub fn value_span(&self) -> Span {
        self.data.value
    }

    /// All of it, from the name to the closing quote.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.data.name.start, self.data.end())
    }

    /// All of it with the white space before it: what to remove when it goes.
    #[must_use]
    pub fn span_with_space(&self) -> Span {
        let before = self.document.source().get(..self.data.name.start as usize).unwrap_or_default();
        let space = before.bytes().rev().take_while(|byte| name::is_space(*byte)).count();
        Span::new(self.data.name.start - space as u32, self.data.end())
    }

    /// Its value as written.
    #[must_use]
    pub fn raw(&self) -> &'a str {
        self.data.value.of(self.document.source())
    }

    /// Its value as read: references resolved, line ends and tabs made blanks.
    #[must_use]
    pub fn value(&self) -> Cow<'a, str> {
        if self.data.decoded { self.decoded().into_text() } else { Cow::Borrowed(self.raw()) }
    }

    /// Its value as read, with the way back to the source.
    #[must_use]
    pub fn decoded(&self) -> Decoded<'a> {
        if self.data.decoded {
            decode(self.raw(), self.data.value.start, Reading::Attribute)
        } else {
            Decoded::verbatim(self.raw(), self.data.value.start)
        }
    }

    /// Where a part of the value as read was written. To ask often, keep [`Self::decoded`].
    #[must_use]
    pub fn source_span(&self, decoded: Range<usize>) -> Span {
        self.decoded().source_span(decoded)
    }

    /// The quote around its value.
    #[must_use]
    pub fn quote(&self) -> Option<char> {
        match self.data.quote {
            Quote::Single => Some('\''),
            Quote::Double => Some('"'),
            Quote::Cut(quote) => Some(char::from(quote)),
            Quote::Absent | Quote::NoValue => None,
        }
    }

    /// Whether it has a value, be it empty.
    #[must_use]
    pub fn has_value(&self) -> bool {
        self.data.quote != Quote::NoValue
    }
}

impl PartialEq for Attribute<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.document, other.document) && self.index == other.index
    }
}

impl Eq for Attribute<'_> {}

impl fmt::Debug for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.name(), self.raw())
    }
}
