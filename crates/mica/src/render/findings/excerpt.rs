//! A row of a text with a mark under a part of it.
//!
//! The mark stands under exactly the marked characters as a terminal shows them: tabs are widened, wide characters
//! count twice, and what would command the terminal is replaced. A row that is too long is cut around the mark.

use std::fmt::Write as _;

use synapse_lang::diagnostic::Severity;
use synapse_lang::text::{Lines, Span, Unit};
use unicode_width::UnicodeWidthChar;

use crate::render::paint::{Paint, Style, is_unfit};

const TAB: usize = 4;

/// The colour of a severity.
pub fn style(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Red,
        Severity::Warning => Style::Yellow,
        Severity::Info => Style::Cyan,
        Severity::Hint => Style::Green,
    }
}

/// Something that takes columns.
struct Cell {
    shown: char,
    width: usize,
    /// Where it is in the row, in bytes.
    at: usize,
}

/// Two rows: the line where a span begins, and the mark.
pub fn excerpt(text: &str, lines: &Lines, span: Span, severity: Severity, paint: Paint) -> String {
    let start = lines.position(text, span.start, Unit::Utf8);
    let end = lines.position(text, span.end, Unit::Utf8);
    let row = lines.line(text, start.line);
    let last = if end.line == start.line { end.column as usize } else { row.trim_end().len() };
    let number = (start.line + 1).to_string();
    let (shown, before, marked) =
        cut(row, start.column as usize, last, paint.width.saturating_sub(number.len() + 5));
    let mut out = String::new();
    let bar = paint.paint(Style::Blue, "|");
    let _ = writeln!(out, " {} {bar} {}", paint.paint(Style::Blue, &number), shown.trim_end());
    let mark = paint.paint(style(severity), &"^".repeat(marked));
    let _ = write!(out, " {:1$} {bar} {2:3$}{mark}", "", number.len(), "", before);
    if end.line > start.line {
        let _ = write!(out, " {}", paint.paint(Style::Dim, &format!("to line {}", end.line + 1)));
    }
    out.push('\n');
    out
}

/// The part of a row that is shown, the columns before the mark, and the columns of the mark.
fn cut(row: &str, start: usize, end: usize, width: usize) -> (String, usize, usize) {
    let cells = cells(row);
    let index = |byte: usize| cells.partition_point(|cell| cell.at < byte);
    let columns = |from: usize, to: usize| {
        cells.get(from..to).unwrap_or_default().iter().map(|cell| cell.width).sum::<usize>()
    };
    let (first, behind) = (index(start), index(end.max(start)));
    let (mut low, mut high) = (0, cells.len());
    if columns(0, cells.len()) > width {
        // A third of the room is for what stands before; the mark may be longer than the room.
        let mut room = width / 3;
        low = first;
        while low > 0 && cells.get(low - 1).is_some_and(|cell| cell.width <= room) {
            low -= 1;
            room -= cells.get(low).map_or(0, |cell| cell.width);
        }
        let mut room = width.saturating_sub(columns(low, first) + 2);
        high = first;
        while cells.get(high).is_some_and(|cell| cell.width <= room) {
            room -= cells.get(high).map_or(0, |cell| cell.width);
            high += 1;
        }
        // Room that is left behind the mark is given to what stands before it.
        while high == cells.len() && low > 0 && cells.get(low - 1).is_some_and(|cell| cell.width <= room) {
            low -= 1;
            room -= cells.get(low).map_or(0, |cell| cell.width);
        }
    }
    let mut shown = String::new();
    let mut before = columns(low, first);
    if low > 0 {
        shown.push('\u{2026}');
        before += 1;
    }
    shown.extend(cells.get(low..high).unwrap_or_default().iter().map(|cell| cell.shown));
    if high < cells.len() {
        shown.push('\u{2026}');
    }
    (shown, before, columns(first, behind.min(high)).max(1))
}

fn cells(row: &str) -> Vec<Cell> {
    let mut cells = Vec::with_capacity(row.len());
    let mut column = 0;
    for (at, one) in row.char_indices() {
        if one == '\t' {
            let width = TAB - column % TAB;
            cells.extend((0..width).map(|_| Cell { shown: ' ', width: 1, at }));
            column += width;
        } else {
            let shown = if is_unfit(one) { '\u{fffd}' } else { one };
            let width = shown.width().unwrap_or(1);
            cells.push(Cell { shown, width, at });
            column += width;
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, part: &str, width: usize, expect: &str) {
        let start = text.find(part).unwrap() as u32;
        let span = Span::new(start, start + part.len() as u32);
        let paint = Paint { colour: false, width };
        assert_eq!(excerpt(text, &Lines::of(text), span, Severity::Error, paint), expect);
    }

    #[test]
    fn the_mark_is_under_what_is_marked() {
        check("<a>\n  <b c='d'/>\n</a>", "c='d'", 80, " 2 |   <b c='d'/>\n   |      ^^^^^\n");
        check("\t<b\tc='d'/>", "c=", 80, " 1 |     <b  c='d'/>\n   |         ^^\n");
        // Wide characters take two columns, joining marks none.
        check(
            "<\u{65e5}\u{672c} e\u{301}x/>",
            "x",
            80,
            " 1 | <\u{65e5}\u{672c} e\u{301}x/>\n   |        ^\n",
        );
        check("<\u{65e5}\u{672c}/>", "\u{65e5}\u{672c}", 80, " 1 | <\u{65e5}\u{672c}/>\n   |  ^^^^\n");
        check("<a \u{1b}[2J b/>", "b", 80, " 1 | <a \u{fffd}[2J b/>\n   |         ^\n");
        check("<a>\n</a>", "<a>\n</a>", 80, " 1 | <a>\n   | ^^^ to line 2\n");
        check("<a>", "", 80, " 1 | <a>\n   | ^\n");
    }

    #[test]
    fn long_rows_are_cut_around_the_mark() {
        let text = format!("{}HERE{}", "a".repeat(100), "b".repeat(100));
        check(
            &text,
            "HERE",
            36,
            " 1 | \u{2026}aaaaaaaaaaHERE\
             bbbbbbbbbbbbbb\u{2026}\n   |            ^^^^\n",
        );
        let text = format!("{}HERE", "a".repeat(100));
        check(
            &text,
            "HERE",
            36,
            " 1 | \u{2026}aaaaaaaaaaaaaaaaaaaaaaaaHERE\n   |                          ^^^^\n",
        );
        let text = format!("HERE{}", "b".repeat(100));
        check(&text, "HERE", 36, " 1 | HEREbbbbbbbbbbbbbbbbbbbbbbbb\u{2026}\n   | ^^^^\n");
    }
}
