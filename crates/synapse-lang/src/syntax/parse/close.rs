//! End tags: what they close, and what to make of those that fit nothing.
//!
//! An end tag closes the nearest open element of its name; what is open inside that one is unclosed. When there is
//! none, the tag is either a misspelt one or one too many, and what comes next tells.

use super::super::arena::{ElementData, Kind, NONE, TagEnd};
use super::super::name;
use super::super::problem::ProblemKind;
use super::{Parser, span};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;

/// How far up an end tag looks for its start tag. It keeps garbage from taking quadratic time; nobody forgets that
/// many end tags.
const LOOK_UP: usize = 128;

/// The same for a text with so many problems that nobody will read about this one.
const LOOK_UP_IN_GARBAGE: usize = 8;

/// Where the name is in an end tag.
pub(in super::super) fn close_name(source: &str, close: Span) -> Span {
    let bytes = close.of(source).as_bytes();
    let length = bytes.iter().skip(2).take_while(|byte| !ends_name(**byte)).count() as u32;
    Span::new(close.start + 2, close.start + 2 + length)
}

/// What a name in an end tag stops at.
fn ends_name(byte: u8) -> bool {
    name::is_space(byte) || matches!(byte, b'>' | b'<' | b'/' | b'=' | b'"' | b'\'')
}

impl<'s> Parser<'s> {
    /// Reads an end tag.
    pub(super) fn close_tag(&mut self) {
        let start = self.at;
        let mut at = start + 2;
        while self.byte(at).is_some_and(|byte| !ends_name(byte)) {
            at += 1;
        }
        let name = self.source.get(start + 2..at).unwrap_or_default();
        let name_end = at;
        let end = match self.byte(self.skip_space(at)) {
            Some(b'>') => self.skip_space(at) + 1,
            _ => self.unclosed_end_tag(name, start, at),
        };
        self.at = end;
        let last = self.open.len().checked_sub(1);
        // The usual case first.
        if let Some(depth) = last
            && self.open.last().is_some_and(|node| self.element_name(*node) == name)
        {
            return self.close_at(depth, start, end);
        }
        let levels = if self.problems.is_full() { LOOK_UP_IN_GARBAGE } else { LOOK_UP };
        let looked_at = self.open.len().saturating_sub(levels);
        let found = self
            .open
            .iter()
            .enumerate()
            .skip(looked_at)
            .rev()
            .find(|(_, node)| self.element_name(**node) == name)
            .map(|(depth, _)| depth);
        match (found, last) {
            (Some(depth), _) => self.close_at(depth, start, end),
            (None, Some(depth)) if self.is_misspelt(name, depth) => {
                let expected = self.open.last().map(|node| self.element_name(*node)).unwrap_or_default();
                let written = span(start + 2, name_end);
                self.problems.add_with(if written.is_empty() { span(start, end) } else { written }, || {
                    let title = format!("Close <{expected}>");
                    let fix = Fix::review(title, vec![Edit::replace(written, expected)]);
                    let (expected, found) = (expected.to_owned(), name.to_owned());
                    (ProblemKind::MismatchedCloseTag { expected, found }, Some(fix))
                });
                self.close_at(depth, start, end);
            }
            _ => {
                let whole = span(start, end);
                self.problems.add_with(whole, || {
                    let fix = Fix::review(format!("Remove </{name}>"), vec![Edit::remove(whole)]);
                    (ProblemKind::StrayCloseTag { name: name.to_owned() }, Some(fix))
                });
                self.push_node(Kind::Junk, start, end, 0);
            }
        }
    }

    /// Where an end tag without its `>` ends, and a complaint about it.
    fn unclosed_end_tag(&mut self, name: &str, start: usize, name_end: usize) -> usize {
        let rest = self.bytes.get(name_end..).unwrap_or_default();
        let stop =
            memchr::memchr3(b'>', b'<', b'\n', rest).map_or(self.bytes.len(), |found| name_end + found);
        if self.byte(stop) == Some(b'>') {
            let junk = span(self.skip_space(name_end), stop);
            self.problems.add_with(junk, || {
                let fix = Fix::review("Remove it", vec![Edit::remove(span(name_end, stop))]);
                (ProblemKind::JunkInTag, Some(fix))
            });
            return stop + 1;
        }
        self.problems.add_with(span(start, name_end), || {
            let fix = Fix::safe("Add `>`", vec![Edit::insert(name_end as u32, ">")]);
            (ProblemKind::UnclosedTag { name: format!("/{name}") }, Some(fix))
        });
        name_end
    }

    /// Whether an end tag that fits no open element was meant for the innermost one.
    fn is_misspelt(&self, name: &str, depth: usize) -> bool {
        let current = self.open.get(depth).copied().unwrap_or(NONE);
        let expected = self.element_name(current);
        if name.is_empty() {
            return true;
        }
        if self.problems.is_full() {
            return false;
        }
        // An element of this name has just been closed: once too often is likelier than a slip.
        if self.last_child_name(current) == Some(name) {
            return false;
        }
        if is_similar(name, expected) {
            return true;
        }
        // What is closed next? The element around this one: then this tag was for this one.
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let rest = rest.get(..4096).unwrap_or(rest);
        let Some(next) = memchr::memchr(b'<', rest) else {
            return self.at + rest.len() == self.bytes.len() && depth == 0;
        };
        let Some(after) = rest.get(next..).and_then(|tag| tag.strip_prefix(b"</")) else { return false };
        let length = after.iter().take_while(|byte| !ends_name(**byte)).count();
        let closed = after.get(..length).unwrap_or_default();
        let around = depth.checked_sub(1).and_then(|depth| self.open.get(depth));
        closed != expected.as_bytes()
            && around.is_some_and(|node| self.element_name(*node).as_bytes() == closed)
    }

    /// The name of the last element that was closed directly inside an open one.
    fn last_child_name(&self, parent: u32) -> Option<&'s str> {
        let mut at = self.nodes.len() as u32;
        // A text or a comment may stand between; more than a few siblings do not matter.
        for _ in 0..4 {
            at = at.checked_sub(1).filter(|at| *at != parent)?;
            for _ in 0..LOOK_UP {
                if self.node(at).parent == parent {
                    break;
                }
                at = self.node(at).parent;
            }
            if self.node(at).kind == Kind::Element {
                return Some(self.element_name(at));
            }
        }
        None
    }

    /// Closes the open element at a depth with an end tag, and everything inside it without one.
    fn close_at(&mut self, depth: usize, start: usize, end: usize) {
        self.abandon(depth + 1, start);
        let Some(node) = self.open.pop() else { return };
        let element = self.element(node);
        if element.tag_end == TagEnd::Missing {
            self.problems.tag_is_open(Span::new(self.node(node).span.start, element.name_end));
        }
        let next = self.nodes.len() as u32;
        if let Some(data) = self.nodes.get_mut(node as usize) {
            data.span.end = end as u32;
            data.end = next;
            if let Some(element) = self.elements.get_mut(data.detail as usize) {
                element.close_start = start as u32;
            }
        }
        self.scope.leave(self.open.len());
    }

    /// Closes everything at the end of the text.
    pub(super) fn close_all(&mut self) {
        self.abandon(0, self.bytes.len());
    }

    /// Ends the open elements from a depth on, which have no end tag, at a place.
    fn abandon(&mut self, depth: usize, at: usize) {
        if depth >= self.open.len() {
            return;
        }
        let abandoned = self.open.split_off(depth);
        let next = self.nodes.len() as u32;
        for node in &abandoned {
            if let Some(data) = self.nodes.get_mut(*node as usize) {
                data.span.end = at as u32;
                data.end = next;
            }
        }
        // From the outside in, so that each node moves at most once.
        for node in abandoned {
            let element = self.element(node);
            if element.tag_end == TagEnd::Missing {
                self.dissolve(node, element);
            } else {
                self.report_unclosed(node, element, at);
            }
        }
        self.scope.leave(self.open.len());
    }

    /// Makes the children of a tag that does not end its siblings: somebody is typing before them.
    fn dissolve(&mut self, node: u32, element: ElementData) {
        let data = self.node(node);
        let mut child = node + 1;
        while child < data.end {
            let next = self.node(child).end;
            if let Some(child) = self.nodes.get_mut(child as usize) {
                child.parent = data.parent;
            }
            child = next;
        }
        if let Some(data) = self.nodes.get_mut(node as usize) {
            data.end = node + 1;
            data.span.end = element.open_end;
        }
    }

    fn report_unclosed(&mut self, node: u32, element: ElementData, at: usize) {
        let source = self.source;
        let name = self.element_name(node);
        let start = self.node(node).span.start + 1;
        self.problems.add_with(Span::new(start, element.name_end), || {
            let content = Span::new(element.open_end, at as u32).of(source);
            let kept = content.trim_end_matches([' ', '\t', '\r', '\n']).len() as u32;
            let fix = if kept == 0 {
                Fix::review(
                    format!("Write <{name}/>"),
                    vec![Edit::insert(element.open_end.saturating_sub(1), "/")],
                )
            } else {
                let edit = Edit::insert(element.open_end + kept, format!("</{name}>"));
                Fix::review(format!("Add </{name}>"), vec![edit])
            };
            (ProblemKind::UnclosedElement { name: name.to_owned() }, Some(fix))
        });
    }
}

/// Whether one name is a likely slip for the other: the case, the prefix, or a letter or two.
fn is_similar(one: &str, other: &str) -> bool {
    let local = |name: &'_ str| name.rsplit(':').next().unwrap_or_default().to_lowercase();
    if one.len() > 64 || other.len() > 64 {
        return false;
    }
    let (one, other) = (local(one), local(other));
    let longest = one.chars().count().max(other.chars().count());
    one == other || distance(&one, &other) * 3 <= longest
}

/// How many letters have to be added, taken away, changed or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let width = other.len() + 1;
    let mut table = vec![0_usize; (one.len() + 1) * width];
    let get =
        |table: &[usize], row: usize, column: usize| table.get(row * width + column).copied().unwrap_or(0);
    for row in 0..=one.len() {
        for column in 0..width {
            let cost = if row == 0 || column == 0 {
                row + column
            } else {
                let letter = |index: usize| one.get(index);
                let wanted = |index: usize| other.get(index);
                let changed = usize::from(letter(row - 1) != wanted(column - 1));
                let mut best = (get(&table, row - 1, column) + 1)
                    .min(get(&table, row, column - 1) + 1)
                    .min(get(&table, row - 1, column - 1) + changed);
                if row > 1
                    && column > 1
                    && letter(row - 1) == wanted(column - 2)
                    && letter(row - 2) == wanted(column - 1)
                {
                    best = best.min(get(&table, row - 2, column - 2) + 1);
                }
                best
            };
            if let Some(cell) = table.get_mut(row * width + column) {
                *cell = cost;
            }
        }
    }
    get(&table, one.len(), other.len())
}
