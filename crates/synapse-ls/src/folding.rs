//! What can be folded: elements and comments of more than one line.

use gen_lsp_types::{FoldingRange, FoldingRangeKind};
use synapse_lang::syntax::TokenKind;

use crate::places;
use crate::view::View;

/// The foldable ranges of a document, each beginning on a line of its own. The end tag stays to be seen.
pub(crate) fn ranges(view: &View<'_>) -> Vec<FoldingRange> {
    let line = |offset: u32| places::position(view.document, offset, view.client.unit).line;
    let mut found: Vec<FoldingRange> = Vec::new();
    for element in view.document.elements() {
        let (Some(content), Some(close)) = (element.content_span(), element.close_span()) else { continue };
        let (start, end) = (line(element.open_span().start), line(close.start));
        if content.is_empty() || end < start + 2 {
            continue;
        }
        found.push(range(start, end - 1, None));
    }
    for token in view.document.tokens().filter(|token| token.kind == TokenKind::Comment) {
        let (start, end) = (line(token.span.start), line(token.span.end));
        if end > start {
            found.push(range(start, end, Some(FoldingRangeKind::Comment)));
        }
    }
    found.sort_by_key(|one| (one.start_line, std::cmp::Reverse(one.end_line)));
    found.dedup_by_key(|one| one.start_line);
    found
}

fn range(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange {
        start_line,
        end_line,
        kind,
        start_character: None,
        end_character: None,
        collapsed_text: None,
    }
}
