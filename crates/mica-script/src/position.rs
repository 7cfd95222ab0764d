//! Places in a source: line, column, and the words around them.

use std::fmt;

/// A place in a source, as editors count: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Characters of a line that are shown, before and after the place.
const AROUND: usize = 60;

/// Where a byte of a source is. Beyond its end: at its end.
pub(crate) fn position(source: &str, offset: usize) -> Position {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = source.get(..offset).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    let column = before.get(start..).unwrap_or_default().chars().count() + 1;
    Position { line: small(line), column: small(column) }
}

/// The line of a place with a mark below it: what people and models find the mistake by.
pub(crate) fn excerpt(source: &str, at: Position) -> String {
    let line = source.lines().nth(at.line.saturating_sub(1) as usize).unwrap_or_default();
    let column = at.column.saturating_sub(1) as usize;
    let from = column.saturating_sub(AROUND);
    let shown: String = line.chars().skip(from).take(2 * AROUND).map(flat).collect();
    let number = at.line.to_string();
    let indent = " ".repeat(number.len() + 3 + column - from);
    format!("{number} | {}\n{indent}^", shown.trim_end())
}

/// Tabs would move the mark.
fn flat(c: char) -> char {
    if c == '\t' { ' ' } else { c }
}

pub(crate) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_not_bytes() {
        let source = "äö\n\tü = 1;\n";
        let at = position(source, source.find('=').unwrap());
        assert_eq!(at, Position { line: 2, column: 4 });
        assert_eq!(excerpt(source, at), "2 |  ü = 1;\n       ^");
        assert_eq!(position(source, 1), Position { line: 1, column: 1 }, "inside of a character is at it");
        assert_eq!(position(source, 99), Position { line: 3, column: 1 });
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let source = format!("{}!{}", "a".repeat(100), "b".repeat(100));
        let at = position(&source, 100);
        let line = format!("{}!{}", "a".repeat(60), "b".repeat(59));
        assert_eq!(excerpt(&source, at), format!("1 | {line}\n{}^", " ".repeat(64)));
    }
}
