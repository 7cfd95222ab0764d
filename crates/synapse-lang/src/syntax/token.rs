//! The text cut into tokens, each byte in exactly one.

use std::collections::VecDeque;

use super::arena::{Kind, NONE};
use super::{Document, Element, name};
use crate::text::Span;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is; never empty.
    pub span: Span,
}

/// The kinds of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// The byte order mark.
    ByteOrderMark,
    /// `<`, `</`, `>` or `/>`.
    Bracket,
    /// The name in a start or an end tag.
    ElementName,
    /// White space in a tag.
    Space,
    /// The name of an attribute.
    AttributeName,
    /// The `=` of an attribute, with the white space around it.
    Equals,
    /// A quote of a value.
    Quote,
    /// The value of an attribute, inside the quotes.
    Value,
    /// Something in a tag that does not belong there.
    TagJunk,
    /// Text.
    Text,
    /// A CDATA section.
    CData,
    /// A comment.
    Comment,
    /// A processing instruction.
    Instruction,
    /// A document type.
    Doctype,
    /// Markup that is nothing.
    Junk,
}

/// The tokens of a document in order.
#[derive(Debug)]
pub struct Tokens<'a> {
    document: &'a Document,
    /// The next node whose start was not yet reached.
    next: u32,
    /// The element whose content is being walked.
    inside: u32,
    ready: VecDeque<Token>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        let mut tokens = Self { document, next: 0, inside: NONE, ready: VecDeque::new() };
        if document.source().starts_with('\u{feff}') {
            tokens.push(TokenKind::ByteOrderMark, 0, 3);
        }
        tokens
    }

    fn push(&mut self, kind: TokenKind, start: u32, end: u32) {
        if start < end {
            self.ready.push_back(Token { kind, span: Span::new(start, end) });
        }
    }

    /// Makes the tokens of the next node, or of the end tag that comes before it.
    fn advance(&mut self) -> bool {
        let document = self.document;
        if self.inside != NONE && self.next >= document.data(self.inside).end {
            self.close_tag(Element::new(document, self.inside));
            self.inside = document.data(self.inside).parent;
            return true;
        }
        if self.next as usize >= document.nodes.len() {
            return false;
        }
        let node = self.next;
        let data = document.data(node);
        self.next += 1;
        let kind = match data.kind {
            Kind::Element => {
                self.start_tag(Element::new(document, node));
                self.inside = node;
                return true;
            }
            Kind::Text => TokenKind::Text,
            Kind::CData => TokenKind::CData,
            Kind::Comment => TokenKind::Comment,
            Kind::Instruction => TokenKind::Instruction,
            Kind::Doctype => TokenKind::Doctype,
            Kind::Junk => TokenKind::Junk,
        };
        self.push(kind, data.span.start, data.span.end);
        true
    }

    fn start_tag(&mut self, element: Element<'_>) {
        let (open, name) = (element.open_span(), element.name_span());
        self.push(TokenKind::Bracket, open.start, name.start);
        self.push(TokenKind::ElementName, name.start, name.end);
        let mut at = name.end;
        for attribute in element.attributes() {
            let (name, value, whole) = (attribute.name_span(), attribute.value_span(), attribute.span());
            self.gap(at, whole.start);
            self.push(TokenKind::AttributeName, name.start, name.end);
            if attribute.has_value() {
                let quoted = u32::from(attribute.quote().is_some());
                self.push(TokenKind::Equals, name.end, value.start - quoted);
                self.push(TokenKind::Quote, value.start - quoted, value.start);
                self.push(TokenKind::Value, value.start, value.end);
                self.push(TokenKind::Quote, value.end, whole.end);
            } else {
                self.push(TokenKind::Equals, name.end, whole.end);
            }
            at = whole.end;
        }
        let bracket = match (element.is_self_closing(), element.has_complete_tag()) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => 0,
        };
        self.gap(at, open.end - bracket);
        self.push(TokenKind::Bracket, open.end - bracket, open.end);
    }

    fn close_tag(&mut self, element: Element<'_>) {
        let (Some(close), Some(name)) = (element.close_span(), element.close_name_span()) else { return };
        self.push(TokenKind::Bracket, close.start, name.start);
        self.push(TokenKind::ElementName, name.start, name.end);
        let bracket = u32::from(close.of(self.document.source()).ends_with('>') && name.end < close.end);
        self.gap(name.end, close.end - bracket);
        self.push(TokenKind::Bracket, close.end - bracket, close.end);
    }

    /// What is between the parts of a tag: white space and junk.
    fn gap(&mut self, start: u32, end: u32) {
        let text = Span::new(start, end).of(self.document.source()).as_bytes();
        let mut at = start;
        for run in text.chunk_by(|one, other| name::is_space(*one) == name::is_space(*other)) {
            let space = run.first().is_some_and(|byte| name::is_space(*byte));
            let next = at + run.len() as u32;
            self.push(if space { TokenKind::Space } else { TokenKind::TagJunk }, at, next);
            at = next;
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            if let Some(token) = self.ready.pop_front() {
                return Some(token);
            }
            if !self.advance() {
                return None;
            }
        }
    }
}
