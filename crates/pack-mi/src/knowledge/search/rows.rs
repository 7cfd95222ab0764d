//! Cuts a document into rows: the smallest pieces that say something by themselves.

use super::super::document::{Reference, Section};
use super::super::fence::{Part, Walk};
use super::super::head::Span;

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// The document.
    pub reference: &'a Reference,
    /// Its section; absent before the first.
    pub section: Option<&'a Section>,
    /// The headings above it, below the section's.
    pub under: Vec<String>,
    /// What it is.
    pub kind: RowKind,
    /// For a row of a table, the header and the line below it.
    pub header: String,
    /// The text.
    pub text: String,
    /// The runtimes it is true for.
    pub runtimes: Span,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// What a reference or a section is about.
    About,
    /// A paragraph.
    Paragraph,
    /// A row of a table.
    TableRow,
    /// An item of a list.
    Item,
    /// A block of code, or a line of expressions.
    Code,
}

impl Row<'_> {
    /// The name of its section; empty before the first.
    #[must_use]
    pub fn section_name(&self) -> &str {
        self.section.map_or("", |section| section.name.as_str())
    }

    /// The row as it is shown: with its header.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}{}", self.header, self.text)
    }
}

/// The rows of a document.
pub(super) fn of(reference: &Reference) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    rows.push(Row {
        reference,
        section: None,
        under: Vec::new(),
        kind: RowKind::About,
        header: String::new(),
        text: format!("{}: {}", reference.title, reference.description),
        runtimes: reference.runtimes,
    });
    cut(reference, None, &reference.introduction, &mut rows);
    for section in &reference.sections {
        rows.push(Row {
            reference,
            section: Some(section),
            under: Vec::new(),
            kind: RowKind::About,
            header: String::new(),
            text: format!("{}: {}", section.heading, section.description),
            runtimes: section.runtimes,
        });
        cut(reference, Some(section), &section.body, &mut rows);
    }
    rows
}

/// Cuts a text.
fn cut<'a>(reference: &'a Reference, section: Option<&'a Section>, text: &str, rows: &mut Vec<Row<'a>>) {
    let runtimes = section.map_or(reference.runtimes, |section| section.runtimes);
    let mut cutter =
        Cutter { reference, section, runtimes, under: Vec::new(), pending: None, header: Vec::new(), rows };
    let mut walk = Walk::default();
    let mut block: Option<(String, String)> = None;
    for line in text.lines() {
        match walk.step(line) {
            Part::Prose => cutter.prose(line),
            Part::Opens(info) => {
                cutter.flush();
                block = Some((info.trim().to_owned(), String::new()));
            }
            Part::Inside => {
                if let Some((_, text)) = &mut block {
                    text.push_str(line);
                    text.push('\n');
                }
            }
            Part::Closes => {
                if let Some((info, text)) = block.take() {
                    cutter.block(&info, &text);
                }
            }
        }
    }
    cutter.flush();
}

struct Cutter<'a, 'r> {
    reference: &'a Reference,
    section: Option<&'a Section>,
    runtimes: Span,
    under: Vec<String>,
    pending: Option<(RowKind, String)>,
    header: Vec<String>,
    rows: &'r mut Vec<Row<'a>>,
}

impl Cutter<'_, '_> {
    fn push(&mut self, kind: RowKind, header: String, text: String) {
        self.rows.push(Row {
            reference: self.reference,
            section: self.section,
            under: self.under.clone(),
            kind,
            header,
            text,
            runtimes: self.runtimes,
        });
    }

    fn flush(&mut self) {
        if let Some((kind, text)) = self.pending.take() {
            self.push(kind, String::new(), text);
        }
        self.header.clear();
    }

    fn prose(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.flush();
        } else if let Some(heading) = trimmed.strip_prefix("### ") {
            self.flush();
            self.under = vec![heading.trim().to_owned()];
        } else if trimmed.starts_with('|') {
            self.table(trimmed);
        } else if let Some(item) = trimmed.strip_prefix("- ").or_else(|| numbered(trimmed)) {
            self.flush();
            self.pending = Some((RowKind::Item, format!("- {item}")));
        } else if let Some((_, text)) = &mut self.pending {
            text.push('\n');
            text.push_str(trimmed);
        } else {
            self.header.clear();
            self.pending = Some((RowKind::Paragraph, trimmed.to_owned()));
        }
    }

    /// A line of a table: its first two are the header.
    fn table(&mut self, line: &str) {
        if self.pending.is_some() {
            self.flush();
        }
        if self.header.len() < 2 {
            self.header.push(line.to_owned());
        } else {
            let header = self.header.iter().map(|line| format!("{line}\n")).collect();
            self.push(RowKind::TableRow, header, line.to_owned());
        }
    }

    fn block(&mut self, info: &str, text: &str) {
        match info.split_whitespace().next().unwrap_or_default() {
            // The message that examples are evaluated with answers no question.
            "context" => {}
            "expr" => {
                // A comment belongs to the line below it.
                let mut comments = String::new();
                for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    if line.starts_with("# ") {
                        comments.push_str(line);
                        comments.push('\n');
                    } else {
                        let row = format!("{comments}{line}");
                        comments.clear();
                        self.push(RowKind::Code, String::new(), row);
                    }
                }
            }
            _ => self.push(RowKind::Code, String::new(), format!("```{info}\n{text}```")),
        }
    }
}

/// What follows the number of a numbered item.
fn numbered(line: &str) -> Option<&str> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| line.get(digits..)?.strip_prefix(". ")).flatten()
}
