//! Ranges that grow from a cursor, and tag names that change together.

use gen_lsp_types::{LinkedEditingRanges, Position, SelectionRange};
use synapse_lang::syntax::Spot;
use synapse_lang::text::Span;

use crate::view::View;

/// Chains are no longer: they are written by recursion.
const LONGEST: usize = 120;

/// For each position, the ranges around it from the smallest to the whole document.
pub(crate) fn ranges(view: &View<'_>, positions: &[Position]) -> Vec<SelectionRange> {
    positions.iter().map(|position| chain(view, view.offset(*position))).collect()
}

fn chain(view: &View<'_>, offset: u32) -> SelectionRange {
    let place = view.document.node_at(offset);
    let mut spans = vec![place.span];
    if let Spot::AttributeName(attribute)
    | Spot::AttributeValue(attribute)
    | Spot::AttributeEquals(attribute) = place.spot
    {
        spans.push(attribute.span());
    }
    let around =
        place.element.into_iter().flat_map(|element| std::iter::once(element).chain(element.ancestors()));
    for element in around {
        let open = element.open_span();
        if open.touches(offset) {
            spans.push(open);
        }
        spans.extend(element.content_span());
        spans.push(element.span());
    }
    let whole = u32::try_from(view.document.source().len()).unwrap_or(u32::MAX);
    spans.push(Span::new(0, whole));
    // Each must lie in the next and be smaller.
    let mut growing: Vec<Span> = Vec::new();
    for span in spans {
        let fits = growing.last().is_none_or(|last| span.covers(*last) && span != *last);
        if span.touches(offset) && fits && growing.len() < LONGEST {
            growing.push(span);
        }
    }
    let nested = growing.into_iter().rev().fold(None, |parent, span| {
        Some(SelectionRange { range: view.range(span), parent: parent.map(Box::new) })
    });
    nested.unwrap_or_else(|| SelectionRange { range: view.range(Span::at(offset)), parent: None })
}

/// The names in the two tags of an element, when the cursor is in one of them.
pub(crate) fn linked(view: &View<'_>, offset: u32) -> Option<LinkedEditingRanges> {
    let place = view.document.node_at(offset);
    if !matches!(place.spot, Spot::ElementName | Spot::CloseName) {
        return None;
    }
    let element = place.element?;
    let close = element.close_name_span()?;
    let source = view.document.source();
    if element.name_span().of(source) != close.of(source) {
        return None;
    }
    let ranges = vec![view.range(element.name_span()), view.range(close)];
    Some(LinkedEditingRanges { ranges, word_pattern: Some("[A-Za-z_][A-Za-z0-9_.:-]*".to_owned()) })
}
