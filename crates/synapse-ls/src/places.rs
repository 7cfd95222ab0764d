//! Between places of a document, in bytes, and the client's, in lines and columns.

use gen_lsp_types::{Position, Range};
use synapse_lang::syntax::Document;
use synapse_lang::text::{self, Lines, Span, Unit};

/// The client's range of a span.
pub(crate) fn range(document: &Document, span: Span, unit: Unit) -> Range {
    Range { start: position(document, span.start, unit), end: position(document, span.end, unit) }
}

/// The client's position of a byte.
pub(crate) fn position(document: &Document, offset: u32, unit: Unit) -> Position {
    let place = document.lines().position(document.source(), offset, unit);
    Position { line: place.line, character: place.column }
}

/// The byte of a client's position.
pub(crate) fn offset(document: &Document, position: Position, unit: Unit) -> u32 {
    offset_in(document.source(), document.lines(), position, unit)
}

/// The byte of a client's position in a text that is no document yet.
pub(crate) fn offset_in(text: &str, lines: &Lines, position: Position, unit: Unit) -> u32 {
    lines.offset(text, text::Position { line: position.line, column: position.character }, unit)
}

/// The span of a client's range; an end before the start makes it empty.
pub(crate) fn span(document: &Document, range: Range, unit: Unit) -> Span {
    Span::new(offset(document, range.start, unit), offset(document, range.end, unit))
}
