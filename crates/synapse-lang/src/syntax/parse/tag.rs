//! Start tags and their attributes.

use std::collections::HashSet;

use super::super::arena::{AttributeData, ElementData, Kind, NONE, Quote, TagEnd};
use super::super::decode::{Reading, decode};
use super::super::name;
use super::super::problem::ProblemKind;
use super::{Parser, span};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;

/// From this many attributes on, a set finds the duplicates.
const MANY: usize = 24;

impl<'s> Parser<'s> {
    /// Reads a start tag and opens its element.
    pub(super) fn start_tag(&mut self) {
        let start = self.at;
        let name_end = self.name(start + 1);
        let attributes_start = self.attributes.len();
        let mark = self.problems.mark();
        if name_end == start + 1 {
            self.problems.add(span(start, start + 1), || ProblemKind::MissingElementName);
        } else {
            self.check_name(start + 1, name_end);
        }
        self.at = name_end;
        let tag_end = self.attributes();
        if tag_end == TagEnd::Missing {
            self.incomplete_tag(start, name_end, attributes_start, mark);
        }
        let node = self.nodes.len() as u32;
        let element = self.elements.len() as u32;
        self.push_node(Kind::Element, start, self.at, element);
        let depth = self.open.len() + 1;
        let colon = self.colon(start + 1, name_end);
        self.declare_namespaces(attributes_start, depth);
        let namespace = if colon == NONE { self.scope.default() } else { self.prefixed(start + 1, colon) };
        self.elements.push(ElementData {
            name_end: name_end as u32,
            colon,
            open_end: self.at as u32,
            close_start: NONE,
            attributes_start: attributes_start as u32,
            attributes_end: self.attributes.len() as u32,
            namespace,
            tag_end,
        });
        self.resolve_attributes(attributes_start);
        if self.open.is_empty() {
            self.another_root(start, name_end);
        }
        if tag_end == TagEnd::SelfClosing {
            self.scope.leave(depth - 1);
        } else {
            self.open.push(node);
        }
    }

    fn another_root(&mut self, start: usize, name_end: usize) {
        if self.has_root && !self.has_extra_root {
            self.has_extra_root = true;
            let name = self.source.get(start + 1..name_end).unwrap_or_default();
            self.problems.add(span(start + 1, name_end), || ProblemKind::ExtraRoot { name: name.to_owned() });
        }
        self.has_root = true;
    }

    /// Where the name that begins here ends. Strange characters belong to it, and are complained about later.
    fn name(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(name::is_name_byte) {
            at += 1;
        }
        while self.byte(at).is_some_and(|byte| {
            !name::is_space(byte) && !matches!(byte, b'>' | b'<' | b'/' | b'=' | b'"' | b'\'')
        }) {
            at += 1;
        }
        at
    }

    fn check_name(&mut self, start: usize, end: usize) {
        let text = self.source.get(start..end).unwrap_or_default();
        let simple = text.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !simple && !name::is_name(text) {
            self.problems.add(span(start, end), || ProblemKind::BadName { name: text.to_owned() });
        }
    }

    /// Where the colon of a name with a prefix is.
    fn colon(&self, start: usize, end: usize) -> u32 {
        let text = self.bytes.get(start..end).unwrap_or_default();
        match text.iter().position(|byte| *byte == b':') {
            Some(colon) if colon > 0 && colon + 1 < text.len() => (start + colon) as u32,
            _ => NONE,
        }
    }

    /// Reads the attributes and the end of a tag.
    fn attributes(&mut self) -> TagEnd {
        let first = self.attributes.len();
        loop {
            let before = self.at;
            self.at = self.skip_space(before);
            let Some(byte) = self.byte(self.at) else { return TagEnd::Missing };
            match byte {
                b'>' => {
                    self.at += 1;
                    return TagEnd::Open;
                }
                b'/' if self.byte(self.at + 1) == Some(b'>') => {
                    self.at += 2;
                    return TagEnd::SelfClosing;
                }
                b'<' => return TagEnd::Missing,
                b'/' | b'=' | b'"' | b'\'' => {
                    if !self.resume_cut_value(first) {
                        self.junk();
                    }
                }
                _ => {
                    let apart = self.at > before;
                    self.attribute(first, apart);
                }
            }
        }
    }

    /// Something strange stands here: was the value before it cut short at a quote? Then it goes on.
    fn resume_cut_value(&mut self, first: usize) -> bool {
        let index = self.attributes.len().saturating_sub(1).max(first);
        let Some(last) = self.attributes.get(index).copied() else { return false };
        let quote = match last.quote {
            Quote::Double => b'"',
            Quote::Single => b'\'',
            Quote::Cut(_) | Quote::Absent | Quote::NoValue => return false,
        };
        // Only directly after the value: beyond other junk it cannot go on.
        if self.skip_space(last.end() as usize) != self.at {
            return false;
        }
        let Some(real) = self.was_cut(last.value, quote) else { return false };
        let name = last.name.of(self.source);
        self.nested_quotes(name, last.value.start as usize - 1, real, quote);
        let value = span(last.value.start as usize, real);
        let decoded = self.check_value(Span::new(last.value.end, value.end)) || last.decoded;
        if let Some(last) = self.attributes.get_mut(index) {
            last.value = value;
            last.decoded = decoded;
        }
        self.at = real + 1;
        true
    }

    /// Complains about the references of a value, and says whether it has to be decoded.
    fn check_value(&mut self, value: Span) -> bool {
        let raw = value.of(self.source).as_bytes();
        let decoded = raw.iter().any(|byte| matches!(byte, b'&' | b'\r' | b'\n' | b'\t'));
        if decoded {
            self.references(value.start as usize, value.end as usize);
        }
        decoded
    }

    /// Skips what is no attribute, and complains about it once.
    fn junk(&mut self) {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.byte(self.at) {
            let closes = byte == b'/' && self.byte(self.at + 1) == Some(b'>');
            if name::is_space(byte) || matches!(byte, b'<' | b'>') || closes {
                break;
            }
            self.at += 1;
        }
        let junk = span(start, self.at);
        self.problems.add_with(junk, || {
            (ProblemKind::JunkInTag, Some(Fix::review("Remove it", vec![Edit::remove(junk)])))
        });
    }

    /// Reads an attribute.
    fn attribute(&mut self, first: usize, apart: bool) {
        let start = self.at;
        let end = self.name(start);
        let next = self.byte(self.skip_space(end));
        if next != Some(b'=') && self.resume_cut_value(first) {
            return;
        }
        let name = self.source.get(start..end).unwrap_or_default();
        if !apart && self.attributes.len() > first {
            self.problems.add_with(Span::at(start as u32), || {
                let fix = Fix::safe("Add a blank", vec![Edit::insert(start as u32, " ")]);
                (ProblemKind::MissingSpace, Some(fix))
            });
        }
        self.check_name(start, end);
        let equals = if self.byte(end) == Some(b'=') { end } else { self.skip_space(end) };
        let (value, quote) = match self.byte(equals) {
            Some(b'=') => {
                let at = self.skip_space(equals + 1);
                match self.byte(at) {
                    Some(byte @ (b'"' | b'\'')) => self.value(name, at, byte),
                    _ => self.bare_value(name, start, equals + 1, at),
                }
            }
            Some(byte @ (b'"' | b'\'')) if equals == end => {
                self.problems.add_with(span(start, end), || {
                    let fix = Fix::safe("Add `=`", vec![Edit::insert(end as u32, "=")]);
                    (ProblemKind::MissingEquals { name: name.to_owned() }, Some(fix))
                });
                self.value(name, equals, byte)
            }
            _ => {
                self.problems.add_with(span(start, end), || {
                    let fix = Fix::review("Give it an empty value", vec![Edit::insert(end as u32, "=\"\"")]);
                    (ProblemKind::AttributeWithoutValue { name: name.to_owned() }, Some(fix))
                });
                (Span::at(end as u32), Quote::NoValue)
            }
        };
        let decoded = self.check_value(value);
        let data = AttributeData { name: span(start, end), colon: NONE, value, namespace: 0, quote, decoded };
        self.at = (data.end() as usize).max(end);
        if quote == Quote::NoValue && equals < self.bytes.len() && self.byte(equals) == Some(b'=') {
            self.at = equals + 1;
        }
        self.attributes.push(data);
    }

    /// Reads a value without quotes.
    fn bare_value(&mut self, name: &str, start: usize, after: usize, at: usize) -> (Span, Quote) {
        let mut end = at;
        // A value on another line is another attribute.
        let beside = !self.bytes.get(after..at).unwrap_or_default().contains(&b'\n');
        while let Some(byte) = self.byte(end)
            && beside
        {
            let closes = byte == b'/' && self.byte(end + 1) == Some(b'>');
            if name::is_space(byte) || matches!(byte, b'<' | b'>' | b'"' | b'\'') || closes {
                break;
            }
            end += 1;
        }
        if end == at {
            self.problems.add_with(span(start, after), || {
                let fix = Fix::review("Give it an empty value", vec![Edit::insert(after as u32, "\"\"")]);
                (ProblemKind::AttributeWithoutValue { name: name.to_owned() }, Some(fix))
            });
            return (Span::at(after as u32), Quote::NoValue);
        }
        let value = span(at, end);
        self.problems.add_with(value, || {
            let edits = vec![Edit::insert(at as u32, "\""), Edit::insert(end as u32, "\"")];
            let fix = Fix::safe("Put the value in quotes", edits);
            (ProblemKind::UnquotedValue { name: name.to_owned() }, Some(fix))
        });
        (value, Quote::Absent)
    }

    /// Ends a tag that does not end, and says so instead of what follows from it.
    fn incomplete_tag(&mut self, start: usize, name_end: usize, attributes_start: usize, mark: usize) {
        let last = self.attributes.get(attributes_start..).and_then(<[AttributeData]>::last);
        let used = last.map_or(name_end, |last| last.end() as usize).max(name_end);
        // White space up to the end of the line is where the next attribute would be typed; junk stays inside.
        let mut end = self.at;
        while end > used && self.byte(end - 1).is_some_and(name::is_space) {
            end -= 1;
        }
        let used = end;
        let space = self.bytes.get(used..self.at).unwrap_or_default();
        let same_line = space.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(space.len());
        self.at = used + same_line;
        if name_end == start + 1 {
            return;
        }
        let name = self.source.get(start + 1..name_end).unwrap_or_default();
        self.problems.forget_since(mark, |kind| matches!(kind, ProblemKind::AttributeWithoutValue { .. }));
        self.problems.add_with(span(start, name_end), || {
            let fix = Fix::review("Add `/>`", vec![Edit::insert(used as u32, "/>")]);
            (ProblemKind::UnclosedTag { name: name.to_owned() }, Some(fix))
        });
    }

    /// Puts the namespaces that a tag declares in force.
    fn declare_namespaces(&mut self, from: usize, depth: usize) {
        for index in from..self.attributes.len() {
            let Some(attribute) = self.attributes.get(index).copied() else { continue };
            let text = attribute.name.of(self.source);
            let colon = self.colon(attribute.name.start as usize, attribute.name.end as usize);
            if let Some(attribute) = self.attributes.get_mut(index) {
                attribute.colon = colon;
            }
            let Some(rest) = text.strip_prefix("xmlns") else { continue };
            let prefix = match rest.strip_prefix(':') {
                None if rest.is_empty() => None,
                Some(prefix) if !prefix.is_empty() => Some(prefix),
                _ => continue,
            };
            let raw = attribute.value.of(self.source);
            let namespace = decode(raw, 0, Reading::Attribute).into_text();
            let is_xml = namespace == super::super::XML_NAMESPACE;
            let bad = match prefix {
                Some("xml") => !is_xml,
                Some("xmlns") => true,
                Some(_) => is_xml || namespace.is_empty(),
                None => is_xml,
            };
            if bad {
                let prefix = prefix.unwrap_or("xmlns").to_owned();
                self.problems.add(attribute.name, || ProblemKind::BadNamespace { prefix });
            }
            if !matches!(prefix, Some("xml" | "xmlns")) {
                self.scope.declare(depth, prefix, &namespace);
            }
        }
    }

    /// The namespace of the prefix between two places.
    fn prefixed(&mut self, start: usize, colon: u32) -> u32 {
        let place = Span::new(start as u32, colon);
        let prefix = place.of(self.source);
        match self.scope.resolve(prefix) {
            Some(namespace) => namespace,
            None => {
                if self.scope.is_news(prefix) {
                    self.problems.add(place, || ProblemKind::UndeclaredPrefix { prefix: prefix.to_owned() });
                }
                0
            }
        }
    }

    /// Gives the attributes of a tag their namespaces and finds those that are there twice.
    fn resolve_attributes(&mut self, from: usize) {
        let mut any = false;
        for index in from..self.attributes.len() {
            let Some(attribute) = self.attributes.get(index).copied() else { continue };
            if attribute.colon == NONE || attribute.name.of(self.source).starts_with("xmlns:") {
                continue;
            }
            any = true;
            let namespace = self.prefixed(attribute.name.start as usize, attribute.colon);
            if let Some(attribute) = self.attributes.get_mut(index) {
                attribute.namespace = namespace;
            }
        }
        let added = self.attributes.get(from..).unwrap_or_default();
        let source = self.source;
        // Names are compared by namespace, unless there are none.
        let key = |attribute: &AttributeData| -> (u32, &'s str) {
            match (any && attribute.namespace != 0, attribute.colon) {
                (true, colon) if colon != NONE => {
                    (attribute.namespace, Span::new(colon + 1, attribute.name.end).of(source))
                }
                _ => (0, attribute.name.of(source)),
            }
        };
        let mut twice = Vec::new();
        if added.len() < MANY {
            for (index, attribute) in added.iter().enumerate().skip(1) {
                let this = key(attribute);
                if added.iter().take(index).any(|before| key(before) == this) {
                    twice.push(attribute.name);
                }
            }
        } else {
            let mut seen = HashSet::with_capacity(added.len());
            twice.extend(
                added.iter().filter(|attribute| !seen.insert(key(attribute))).map(|attribute| attribute.name),
            );
        }
        for place in twice {
            let name = place.of(source);
            self.problems.add(place, || ProblemKind::DuplicateAttribute { name: name.to_owned() });
        }
    }
}
