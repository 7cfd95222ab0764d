//! Formatting, when there is a formatter; and the difference between two texts as edits.

use gen_lsp_types::{FormattingOptions, Range, TextEdit};
use similar::{DiffTag, TextDiff};
use synapse_lang::text::Span;

use crate::rpc::{METHOD_NOT_FOUND, Refused};
use crate::view::View;

/// The edits that format a document, or the lines of a range.
pub(crate) fn edits(
    view: &View<'_>,
    options: &FormattingOptions,
    range: Option<Range>,
) -> Result<Vec<TextEdit>, Refused> {
    let Some(formatter) = view.options.formatter else {
        return Err(Refused { code: METHOD_NOT_FOUND, message: "this server does not format".to_owned() });
    };
    let formatted = formatter(view.document.source(), options.tab_size as usize);
    Ok(difference(view, &formatted, range))
}

/// The edits that turn a document into another text, line by line; those outside of a range are left out.
pub(crate) fn difference(view: &View<'_>, new: &str, range: Option<Range>) -> Vec<TextEdit> {
    let old = view.document.source();
    if old == new {
        return Vec::new();
    }
    let diff = TextDiff::from_lines(old, new);
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    // The lines of the difference end at `\n` alone, those of documents at `\r` too, so places are counted in bytes.
    let mut starts = vec![0];
    for line in old.split_inclusive('\n') {
        starts.push(starts.last().copied().unwrap_or(0) + line.len());
    }
    let byte =
        |line: usize| u32::try_from(starts.get(line).copied().unwrap_or(old.len())).unwrap_or(u32::MAX);
    let mut edits = Vec::new();
    for operation in diff.ops().iter().filter(|one| one.tag() != DiffTag::Equal) {
        let (from, to) = (operation.old_range(), operation.new_range());
        let span = Span::new(byte(from.start), byte(from.end));
        let there = view.range(span);
        if range.is_some_and(|range| there.start.line > range.end.line || there.end.line < range.start.line) {
            continue;
        }
        let new_text = new_lines.get(to).unwrap_or_default().concat();
        edits.push(TextEdit { range: there, new_text });
    }
    edits
}
