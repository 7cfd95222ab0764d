//! What begins with `<!` and `<?`: comments, CDATA sections, document types and processing instructions.

use super::super::arena::Kind;
use super::super::name;
use super::super::problem::ProblemKind;
use super::{BOM, Parser, span};
use crate::diagnostic::{Edit, Fix};

impl Parser<'_> {
    /// Reads what begins with `<!`.
    pub(super) fn declaration(&mut self) {
        if self.starts_with(self.at, "<!--") {
            self.comment();
        } else if self.starts_with(self.at, "<![CDATA[") {
            self.cdata();
        } else if self.starts_with(self.at, "<!DOCTYPE") {
            self.doctype();
        } else {
            let start = self.at;
            let rest = self.bytes.get(start + 2..).unwrap_or_default();
            let end = match memchr::memchr2(b'<', b'>', rest) {
                Some(found) if rest.get(found) == Some(&b'>') => start + 2 + found + 1,
                Some(found) => start + 2 + found,
                None => self.bytes.len(),
            };
            self.problems.add(span(start, end), || ProblemKind::UnknownMarkup);
            self.at = end;
            self.push_node(Kind::Junk, start, end, 0);
        }
    }

    fn comment(&mut self) {
        let start = self.at;
        let (inner, end) = self.delimited(4, "-->", ProblemKind::UnclosedComment);
        let text = self.bytes.get(start + 4..inner).unwrap_or_default();
        // The dash before `-->` is one too many as well.
        let dashes = memchr::memmem::find(text, b"--").or_else(|| {
            let last = text.len().checked_sub(1)?;
            (end > inner && text.get(last) == Some(&b'-')).then_some(last)
        });
        if let Some(found) = dashes {
            let from = start + 4 + found;
            let run = self
                .bytes
                .get(from..inner)
                .unwrap_or_default()
                .iter()
                .take_while(|byte| **byte == b'-')
                .count();
            let dashes = span(from, from + run);
            self.problems.add_with(dashes, || {
                let written = vec!["-"; run].join(" ");
                let written = if from + run == inner { format!("{written} ") } else { written };
                let fix = Fix::review("Separate the dashes", vec![Edit::replace(dashes, written)]);
                (ProblemKind::DashesInComment, Some(fix))
            });
        }
        self.at = end;
        self.push_node(Kind::Comment, start, end, 0);
    }

    fn cdata(&mut self) {
        let start = self.at;
        let (_, end) = self.delimited(9, "]]>", ProblemKind::UnclosedCData);
        if self.open.is_empty() {
            self.problems.add(span(start, end), || ProblemKind::CDataOutsideRoot);
        }
        self.at = end;
        self.push_node(Kind::CData, start, end, 0);
    }

    /// Finds the end of what begins here: the place before the delimiter and the place after it. Without one, all
    /// of the rest belongs to it.
    fn delimited(&mut self, opening: usize, delimiter: &str, kind: ProblemKind) -> (usize, usize) {
        let from = self.at + opening;
        let rest = self.bytes.get(from..).unwrap_or_default();
        if let Some(found) = memchr::memmem::find(rest, delimiter.as_bytes()) {
            return (from + found, from + found + delimiter.len());
        }
        let end = self.bytes.len();
        self.problems.add_with(span(self.at, from), || {
            let fix = Fix::review(format!("Add `{delimiter}`"), vec![Edit::insert(end as u32, delimiter)]);
            (kind, Some(fix))
        });
        (end, end)
    }

    /// Reads what begins with `<?`.
    pub(super) fn instruction(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start + 2..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| name::is_name_byte(**byte)).count();
        let target = self.source.get(start + 2..start + 2 + length).unwrap_or_default();
        let is_declaration = target.eq_ignore_ascii_case("xml");
        // Remembered, so that many instructions without an end do not each search the whole text.
        if self.instruction_end < start + 2 {
            let found = memchr::memmem::find(rest, b"?>");
            self.instruction_end = found.map_or(usize::MAX, |found| start + 2 + found);
        }
        let found = Some(self.instruction_end).filter(|end| *end != usize::MAX).map(|end| end - start - 2);
        // `<?xml version="1.0">` is a usual slip; a declaration never contains a tag.
        let found = found.filter(|found| {
            !is_declaration || memchr::memchr(b'<', rest.get(..*found).unwrap_or_default()).is_none()
        });
        let end = match found {
            Some(found) => start + 2 + found + 2,
            None => self.unclosed_instruction(start),
        };
        if !name::is_name(target) {
            self.problems.add(span(start, start + 2), || ProblemKind::BadInstruction);
        }
        let first = if self.source.starts_with(BOM) { BOM.len() } else { 0 };
        if is_declaration && start != first {
            let blank = self.nodes.len() < 2
                && self.bytes.get(first..start).unwrap_or_default().iter().all(|byte| name::is_space(*byte));
            self.problems.add_with(span(start, end), || {
                let fix = if blank {
                    Fix::safe("Remove the white space before it", vec![Edit::remove(span(first, start))])
                } else {
                    Fix::review("Remove the declaration", vec![Edit::remove(span(start, end))])
                };
                (ProblemKind::MisplacedDeclaration { after_blanks: blank }, Some(fix))
            });
        }
        self.at = end;
        self.push_node(Kind::Instruction, start, end, 0);
    }

    /// Where a processing instruction without `?>` ends: with its tag, or before the next one.
    fn unclosed_instruction(&mut self, start: usize) -> usize {
        let rest = self.bytes.get(start + 2..).unwrap_or_default();
        let (insert, end) = match memchr::memchr2(b'<', b'>', rest) {
            Some(found) if rest.get(found) == Some(&b'>') => (start + 2 + found, start + 2 + found + 1),
            Some(found) => (start + 2 + found, start + 2 + found),
            None => (self.bytes.len(), self.bytes.len()),
        };
        self.problems.add_with(span(start, end), || {
            let missing = if insert == end { "?>" } else { "?" };
            let fix = Fix::safe(format!("Add `{missing}`"), vec![Edit::insert(insert as u32, missing)]);
            (ProblemKind::UnclosedInstruction, Some(fix))
        });
        end
    }

    /// Reads a document type. Its inside is skipped: nothing in it is ever used.
    fn doctype(&mut self) {
        let start = self.at;
        let mut at = start + "<!DOCTYPE".len();
        let mut inside = false;
        let mut external = None;
        let end = loop {
            let Some(byte) = self.byte(at) else {
                self.problems.add(span(start, start + 9), || ProblemKind::UnclosedDoctype);
                break self.bytes.len();
            };
            match byte {
                b'[' => inside = true,
                b']' => inside = false,
                b'>' if !inside => break at + 1,
                b'"' | b'\'' => at = self.find_from(at + 1, &[byte]),
                b'<' if !inside => {
                    // The next tag has begun: the `>` was forgotten.
                    self.problems.add(span(start, start + 9), || ProblemKind::UnclosedDoctype);
                    break at;
                }
                b'<' if self.starts_with(at, "<!--") => at = self.find_from(at + 4, b"-->"),
                b'<' if self.starts_with(at, "<?") => at = self.find_from(at + 2, b"?>"),
                b'<' if self.starts_with(at, "<!ENTITY") => {
                    self.declares_entities = true;
                    self.problems.add(span(at, at + 8), || ProblemKind::RefusedEntityDeclaration);
                }
                b'S' | b'P' if !inside && external.is_none() => {
                    let word = ["SYSTEM", "PUBLIC"].into_iter().find(|word| self.starts_with(at, word));
                    let apart = self.byte(at - 1).is_some_and(name::is_space);
                    external = word.filter(|_| apart).map(|word| span(at, at + word.len()));
                }
                _ => {}
            }
            at += 1;
        };
        if let Some(external) = external {
            self.problems.add(external, || ProblemKind::RefusedExternalSubset);
        }
        if self.has_root || self.has_doctype || !self.open.is_empty() {
            self.problems.add(span(start, end), || ProblemKind::MisplacedDoctype);
        }
        self.has_doctype = true;
        self.at = end;
        self.push_node(Kind::Doctype, start, end, 0);
    }

    /// The last byte of the next such text, or the end.
    fn find_from(&self, from: usize, wanted: &[u8]) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        memchr::memmem::find(rest, wanted).map_or(self.bytes.len(), |found| from + found + wanted.len() - 1)
    }
}
