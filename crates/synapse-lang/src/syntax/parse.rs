//! The parser: one pass, no recursion, no failure.
//!
//! Each part has a file: [`tag`] reads start tags, [`value`] decides where a doubtful attribute value ends,
//! [`close`] matches end tags, [`markup`] reads what begins with `<!` and `<?`, [`scope`] resolves prefixes.

mod close;
mod markup;
mod scope;
mod tag;
mod value;

use std::sync::{Arc, OnceLock};

use super::Document;
use super::arena::{AttributeData, ElementData, Kind, NONE, NodeData};
use super::decode::{self, Reference};
use super::name;
use super::problem::{ProblemKind, Problems};
use crate::diagnostic::{Edit, Fix};
use crate::text::Span;
use scope::Scope;

pub(super) use close::close_name;

/// How many nodes and attributes a tree may have. A text of this size is no artifact, and a hundred megabytes of
/// angle brackets must not take gigabytes of memory.
const MOST_PARTS: usize = 8_000_000;

/// The byte order mark.
const BOM: &str = "\u{feff}";

/// Reads a text.
pub(super) fn parse(source: Arc<str>) -> Document {
    let mut parser = Parser::new(&source);
    if u32::try_from(source.len()).is_ok_and(|length| length < NONE) {
        parser.run();
    } else {
        parser.problems.add(Span::at(0), || ProblemKind::TooLarge);
    }
    let end = u32::try_from(source.len()).unwrap_or(NONE);
    let Parser { nodes, elements, attributes, problems, scope, .. } = parser;
    let namespaces = scope.into_namespaces();
    let problems = problems.finish(end);
    Document { nodes, elements, attributes, namespaces, problems, lines: OnceLock::new(), source }
}

struct Parser<'s> {
    source: &'s str,
    bytes: &'s [u8],
    at: usize,
    nodes: Vec<NodeData>,
    elements: Vec<ElementData>,
    attributes: Vec<AttributeData>,
    /// The nodes of the open elements.
    open: Vec<u32>,
    scope: Scope<'s>,
    problems: Problems,
    /// Whether `]]>` is anywhere; when it is not, no text is searched for it.
    has_cdata_end: bool,
    /// Where the next `?>` is, as far as it was looked for.
    instruction_end: usize,
    has_root: bool,
    has_extra_root: bool,
    has_doctype: bool,
    /// The inside of a document type that declares entities.
    declares_entities: bool,
}

impl<'s> Parser<'s> {
    fn new(source: &'s str) -> Self {
        // A tag of thirty bytes and the white space before it are usual: few texts grow the lists twice.
        let guess = (source.len() / 24).min(MOST_PARTS / 16);
        Self {
            source,
            bytes: source.as_bytes(),
            at: 0,
            nodes: Vec::with_capacity(guess),
            elements: Vec::with_capacity(guess / 2),
            attributes: Vec::with_capacity(guess / 2),
            open: Vec::new(),
            scope: Scope::new(),
            problems: Problems::default(),
            has_cdata_end: memchr::memmem::find(source.as_bytes(), b"]]>").is_some(),
            instruction_end: 0,
            has_root: false,
            has_extra_root: false,
            has_doctype: false,
            declares_entities: false,
        }
    }

    fn run(&mut self) {
        if self.source.starts_with(BOM) {
            self.at = BOM.len();
        }
        while self.at < self.bytes.len() {
            if self.nodes.len() + self.attributes.len() > MOST_PARTS {
                self.give_up();
                break;
            }
            self.content();
        }
        self.close_all();
        if !self.has_root {
            self.problems.add(Span::at(self.bytes.len() as u32), || ProblemKind::MissingRoot);
        }
        self.invalid_characters();
    }

    /// Reads one text or one piece of markup.
    fn content(&mut self) {
        if self.byte(self.at) != Some(b'<') {
            return self.text();
        }
        match self.byte(self.at + 1) {
            Some(b'/') => self.close_tag(),
            Some(b'!') => self.declaration(),
            Some(b'?') => self.instruction(),
            Some(next) if name::is_name_start_byte(next) => self.start_tag(),
            // Somebody is about to type a name.
            None | Some(b'<' | b'>' | b'\n' | b'\r') => self.start_tag(),
            Some(_) => self.text(),
        }
    }

    /// Reads text up to the next markup. A `<` that begins no markup is text, too.
    fn text(&mut self) {
        let start = self.at;
        let mut from = start;
        let end = loop {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(found) = memchr::memchr(b'<', rest).map(|found| from + found) else {
                break self.bytes.len();
            };
            let Some(next) = self.byte(found + 1) else { break found };
            let begins = name::is_name_start_byte(next)
                || matches!(next, b'/' | b'!' | b'?' | b'<' | b'>' | b'\n' | b'\r');
            if begins {
                break found;
            }
            from = found + 1;
            let span = span(found, found + 1);
            self.problems.add_with(span, || {
                let fix = Fix::safe("Write `&lt;`", vec![Edit::replace(span, "&lt;")]);
                (ProblemKind::LessInText, Some(fix))
            });
        };
        self.at = end;
        let raw = self.bytes.get(start..end).unwrap_or_default();
        let special = memchr::memchr2(b'&', b'\r', raw).is_some();
        if special {
            self.references(start, end);
        }
        if self.has_cdata_end {
            self.cdata_ends(start, end);
        }
        if self.open.is_empty() {
            self.text_outside(start, end);
        }
        self.push_node(Kind::Text, start, end, u32::from(special));
    }

    /// Complains about text beside the document element.
    fn text_outside(&mut self, start: usize, end: usize) {
        let raw = self.source.get(start..end).unwrap_or_default();
        let blank = |character: char| character.is_ascii() && name::is_space(character as u8);
        let trimmed = raw.trim_matches(blank);
        if !trimmed.is_empty() {
            let from = start + (raw.len() - raw.trim_start_matches(blank).len());
            self.problems.add(span(from, from + trimmed.len()), || ProblemKind::TextOutsideRoot);
        }
    }

    /// Complains about `]]>` in a text.
    fn cdata_ends(&mut self, start: usize, end: usize) {
        let raw = self.bytes.get(start..end).unwrap_or_default();
        for found in memchr::memmem::find_iter(raw, b"]]>") {
            let span = span(start + found, start + found + 3);
            self.problems.add_with(span, || {
                let fix = Fix::safe("Write `]]&gt;`", vec![Edit::replace(span, "]]&gt;")]);
                (ProblemKind::CDataEndInText, Some(fix))
            });
        }
    }

    /// Complains about ampersands that are not references, between two places.
    fn references(&mut self, start: usize, end: usize) {
        let raw = self.bytes.get(..end).unwrap_or_default();
        let mut from = start;
        while let Some(found) = raw.get(from..).and_then(|rest| memchr::memchr(b'&', rest)) {
            let at = from + found;
            from = at + self.reference(raw, at);
        }
    }

    /// Complains about the ampersand here, if there is reason to, and says how many bytes were looked at.
    fn reference(&mut self, raw: &[u8], at: usize) -> usize {
        let text = |length: usize| self.source.get(at..at + length).unwrap_or_default();
        match Reference::at(raw, at) {
            Reference::Resolved { length, .. } => length,
            Reference::Bare => {
                // `&&` is one slip, not two.
                let length =
                    if raw.get(at + 1) == Some(&b'&') && Reference::at(raw, at + 1) == Reference::Bare {
                        2
                    } else {
                        1
                    };
                let span = span(at, at + length);
                self.problems.add_with(span, || {
                    let written = "&amp;".repeat(length);
                    let title = format!("Write `{written}`");
                    (ProblemKind::BareAmpersand, Some(Fix::safe(title, vec![Edit::replace(span, written)])))
                });
                length
            }
            Reference::Unfinished { length } => {
                let reference = text(length);
                self.problems.add_with(span(at, at + length), || {
                    let edit = Edit::insert((at + length) as u32, ";");
                    let fix = Fix::review(format!("Write `{reference};`"), vec![edit]);
                    (ProblemKind::UnfinishedReference { reference: reference.to_owned() }, Some(fix))
                });
                length
            }
            Reference::Unknown { length } => {
                let name = text(length).trim_matches(['&', ';']);
                let refused = self.declares_entities;
                self.problems.add_with(span(at, at + length), || {
                    let name = name.to_owned();
                    if refused {
                        return (ProblemKind::RefusedEntity { name }, None);
                    }
                    let fix = match html_entity(&name) {
                        Some(code) => Fix::safe(
                            format!("Write `&#{code};`"),
                            vec![Edit::replace(span(at, at + length), format!("&#{code};"))],
                        ),
                        None => Fix::review(
                            format!("Write `&amp;{name};`"),
                            vec![Edit::insert(at as u32 + 1, "amp;")],
                        ),
                    };
                    (ProblemKind::UnknownEntity { name }, Some(fix))
                });
                length
            }
            Reference::Invalid { length } => {
                let reference = text(length);
                self.problems.add(span(at, at + length), || ProblemKind::InvalidCharacterReference {
                    reference: reference.to_owned(),
                });
                length
            }
        }
    }

    /// Complains about characters that XML does not allow. They are wrong wherever they stand.
    fn invalid_characters(&mut self) {
        let control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
        // Without a branch for each byte, so that the compiler can look at many at once.
        let any = |chunk: &[u8]| chunk.iter().fold(false, |any, byte| any | control(byte) | (*byte == 0xef));
        for (index, chunk) in self.bytes.chunks(4096).enumerate() {
            if !any(chunk) {
                continue;
            }
            for (offset, byte) in chunk.iter().enumerate() {
                let at = index * 4096 + offset;
                let character = if control(byte) {
                    Some(char::from(*byte))
                } else if *byte == 0xef {
                    self.source
                        .get(at..at + 3)
                        .and_then(|text| text.chars().next())
                        .filter(|one| !decode::is_xml_char(*one))
                } else {
                    None
                };
                if let Some(character) = character {
                    let span = span(at, at + character.len_utf8());
                    self.problems.add_with(span, || {
                        let fix = Fix::review("Remove the character", vec![Edit::remove(span)]);
                        (ProblemKind::InvalidCharacter { character }, Some(fix))
                    });
                }
            }
        }
    }

    /// Leaves the rest of the text unread.
    fn give_up(&mut self) {
        let (start, end) = (self.at, self.bytes.len());
        self.problems.add(span(start, end), || ProblemKind::TooLarge);
        self.push_node(Kind::Junk, start, end, 0);
        self.at = end;
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn starts_with(&self, at: usize, text: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// The place after the white space here.
    fn skip_space(&self, mut at: usize) -> usize {
        while self.byte(at).is_some_and(name::is_space) {
            at += 1;
        }
        at
    }

    /// Adds a node that has no children, or none yet.
    fn push_node(&mut self, kind: Kind, start: usize, end: usize, detail: u32) {
        let parent = self.open.last().copied().unwrap_or(NONE);
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(NodeData { span: span(start, end), parent, end: next, detail, kind });
    }

    fn node(&self, node: u32) -> NodeData {
        self.nodes.get(node as usize).copied().unwrap_or(NodeData::MISSING)
    }

    fn element(&self, node: u32) -> ElementData {
        self.elements.get(self.node(node).detail as usize).copied().unwrap_or(ElementData::MISSING)
    }

    fn element_name(&self, node: u32) -> &'s str {
        Span::new(self.node(node).span.start + 1, self.element(node).name_end).of(self.source)
    }
}

/// A span of places that are known to fit.
fn span(start: usize, end: usize) -> Span {
    Span::new(start as u32, end as u32)
}

/// The entities of HTML that people bring along.
fn html_entity(name: &str) -> Option<u32> {
    Some(match name {
        "nbsp" => 160,
        "copy" => 169,
        "laquo" => 171,
        "reg" => 174,
        "deg" => 176,
        "raquo" => 187,
        "ndash" => 8211,
        "mdash" => 8212,
        "lsquo" => 8216,
        "rsquo" => 8217,
        "ldquo" => 8220,
        "rdquo" => 8221,
        "bull" => 8226,
        "hellip" => 8230,
        "euro" => 8364,
        "trade" => 8482,
        _ => return None,
    })
}
