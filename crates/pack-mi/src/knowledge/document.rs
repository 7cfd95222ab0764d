//! Reads one document: its head, its introduction and its sections, with the placeholders filled.
//!
//! Invariant: the sections of a [`Reference`] are those its head declares, in that order, each under the heading that
//! spells its name. Whatever does not fit is a [`BadDocument`] with file and line.

use synapse_lang::model::Version;

use super::expand;
use super::fence::{Part, Walk};
use super::head::{Head, Span};

/// A loadable document of knowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it is asked for by: `synapse-expression-spec`.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// One line by which a model decides whether to load it.
    pub description: String,
    /// Other names it answers to.
    pub aliases: Vec<String>,
    /// The runtimes it is true for.
    pub runtimes: Span,
    /// What stands before the first section.
    pub introduction: String,
    /// Its parts.
    pub sections: Vec<Section>,
}

impl Reference {
    /// The section of exactly that name.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The whole document as Markdown, with its title.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title);
        if !self.introduction.is_empty() {
            out.push_str(&self.introduction);
            out.push_str("\n\n");
        }
        for section in &self.sections {
            out.push_str(&section.markdown());
            out.push('\n');
        }
        out
    }

    /// What loading all of it takes, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        mica_context::tokens::of_text(&self.markdown())
    }
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it is asked for by: `type_coercion`.
    pub name: String,
    /// Its heading.
    pub heading: String,
    /// One line that says what is in it.
    pub description: String,
    /// Words that questions about it have and its text has not. They count for the search, and nobody reads them.
    pub keywords: Vec<String>,
    /// The runtimes it is true for, within those of its document.
    pub runtimes: Span,
    /// The text below the heading.
    pub body: String,
}

impl Section {
    /// The section with its heading.
    #[must_use]
    pub fn markdown(&self) -> String {
        format!("## {}\n\n{}\n", self.heading, self.body)
    }

    /// What loading it takes, in tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        mica_context::tokens::of_text(&self.markdown())
    }
}

/// A document that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {problem}")]
pub struct BadDocument {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The first line is not `+++`.
    #[error("the file does not begin with a line of three plus signs (+++)")]
    NoHead,
    /// The head does not end.
    #[error("the head has no end: a second line of three plus signs (+++)")]
    OpenHead,
    /// The head is not what it should be.
    #[error("the head cannot be read: {0}")]
    Head(String),
    /// Name and file differ.
    #[error("the head says the name is `{0}`; the file must be {0}.md")]
    Name(String),
    /// A name that is not written the way names are.
    #[error("`{0}` is no name: {1}")]
    Spelling(String, &'static str),
    /// A heading that the head does not declare.
    #[error("the heading `{0}` spells the section `{1}`, which the head does not declare")]
    Undeclared(String, String),
    /// A section that has no heading.
    #[error("the section `{0}` is declared in the head and has no heading")]
    Missing(String),
    /// A section twice.
    #[error("the section `{0}` is there twice")]
    Twice(String),
    /// Sections in another order than declared.
    #[error("the section `{0}` stands where the head declares `{1}`")]
    Order(String, String),
    /// A section without text.
    #[error("the section `{0}` is empty")]
    Empty(String),
    /// A block that does not end.
    #[error("the block has no end: a line of backticks")]
    OpenFence,
    /// A heading of the highest level.
    #[error("the title stands in the head; sections have ## and parts of sections ###")]
    Title,
    /// A placeholder that cannot be filled.
    #[error("{0}")]
    Placeholder(String),
}

/// Lower case, with every run of other characters than letters and digits as one `separator`.
pub(super) fn spelled(text: &str, separator: char) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_alphanumeric() {
            out.extend(letter.to_lowercase());
        } else if !out.is_empty() && !out.ends_with(separator) {
            out.push(separator);
        }
    }
    if out.ends_with(separator) {
        out.pop();
    }
    out
}

/// Reads a document. With problems, what could be read is there all the same.
pub(super) fn read(file: &str, text: &str) -> (Option<Reference>, Vec<BadDocument>) {
    let mut reader = Reader { file, bad: Vec::new() };
    let reference = reader.read(text);
    (reference, reader.bad)
}

struct Reader<'a> {
    file: &'a str,
    bad: Vec<BadDocument>,
}

/// A section while it is read.
struct Draft {
    name: String,
    heading: String,
    line: usize,
    body: String,
}

impl Reader<'_> {
    fn wrong(&mut self, line: usize, problem: Problem) {
        self.bad.push(BadDocument { file: self.file.to_owned(), line, problem });
    }

    fn read(&mut self, text: &str) -> Option<Reference> {
        let lines: Vec<&str> = text.lines().collect();
        if lines.first().map(|line| line.trim_end()) != Some("+++") {
            self.wrong(1, Problem::NoHead);
            return None;
        }
        let Some(end) = lines.iter().skip(1).position(|line| line.trim_end() == "+++") else {
            self.wrong(1, Problem::OpenHead);
            return None;
        };
        let end = end + 1;
        let head_text = lines.get(1..end).unwrap_or_default().join("\n");
        let head: Head = match toml::from_str(&head_text) {
            Ok(head) => head,
            Err(error) => {
                let before = error.span().and_then(|span| head_text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 2;
                self.wrong(line, Problem::Head(error.message().trim().to_owned()));
                return None;
            }
        };
        self.names(&head, &lines);
        let (introduction, drafts) = self.body(&lines, end + 1);
        self.order(&head, &drafts);
        Some(assemble(head, &introduction, drafts))
    }

    /// Names are spelled the way they are looked up, so that what is listed is what can be asked for.
    fn names(&mut self, head: &Head, lines: &[&str]) {
        let line_of = |key: &str, value: &str| {
            let found = lines.iter().position(|line| line.starts_with(key) && line.contains(value));
            found.map_or(1, |at| at + 1)
        };
        if format!("{}.md", head.name) != file_name(self.file) {
            self.wrong(line_of("name", &head.name), Problem::Name(head.name.clone()));
        }
        for name in std::iter::once(&head.name).chain(&head.aliases) {
            if spelled(name, '-') != *name || name.is_empty() {
                let why = "names are lower case with hyphens";
                self.wrong(line_of("", name), Problem::Spelling(name.clone(), why));
            }
        }
        for section in &head.section {
            if spelled(&section.name, '_') != section.name || section.name.is_empty() {
                let why = "sections are lower case with underscores";
                let line = line_of("name", &section.name);
                self.wrong(line, Problem::Spelling(section.name.clone(), why));
            }
        }
    }

    /// The introduction and the sections, placeholders filled.
    fn body(&mut self, lines: &[&str], from: usize) -> (String, Vec<Draft>) {
        let mut introduction = String::new();
        let mut drafts: Vec<Draft> = Vec::new();
        let mut walk = Walk::default();
        let mut opened = None;
        for (at, line) in lines.iter().enumerate().skip(from) {
            let number = at + 1;
            let part = walk.step(line);
            match part {
                Part::Opens(_) => opened = Some(number),
                Part::Closes => opened = None,
                Part::Inside | Part::Prose => {}
            }
            if part == Part::Prose {
                if let Some(heading) = line.strip_prefix("## ") {
                    let heading = heading.trim().to_owned();
                    let name = spelled(&heading, '_');
                    drafts.push(Draft { name, heading, line: number, body: String::new() });
                    continue;
                }
                if line.starts_with("# ") {
                    self.wrong(number, Problem::Title);
                }
            }
            let into = drafts.last_mut().map_or(&mut introduction, |draft| &mut draft.body);
            let asked = if part == Part::Prose { expand::placeholder(line) } else { None };
            match asked.map(expand::fill) {
                None => {
                    into.push_str(line);
                    into.push('\n');
                }
                Some(Ok(filled)) => into.push_str(&filled),
                Some(Err(error)) => self.wrong(number, Problem::Placeholder(error.to_string())),
            }
        }
        if let Some(line) = opened {
            self.wrong(line, Problem::OpenFence);
        }
        (introduction, drafts)
    }

    /// Declared and written sections are the same, in the same order.
    fn order(&mut self, head: &Head, drafts: &[Draft]) {
        let declared: Vec<&str> = head.section.iter().map(|section| section.name.as_str()).collect();
        let mut expected = declared.iter().filter(|name| drafts.iter().any(|draft| draft.name == **name));
        let mut seen: Vec<&str> = Vec::new();
        for draft in drafts {
            if !declared.contains(&draft.name.as_str()) {
                self.wrong(draft.line, Problem::Undeclared(draft.heading.clone(), draft.name.clone()));
                continue;
            }
            if seen.contains(&draft.name.as_str()) {
                self.wrong(draft.line, Problem::Twice(draft.name.clone()));
                continue;
            }
            seen.push(&draft.name);
            if let Some(next) = expected.next()
                && **next != draft.name
            {
                self.wrong(draft.line, Problem::Order(draft.name.clone(), (*next).to_owned()));
            }
            if draft.body.trim().is_empty() {
                self.wrong(draft.line, Problem::Empty(draft.name.clone()));
            }
        }
        for name in declared {
            if !seen.contains(&name) {
                self.wrong(1, Problem::Missing(name.to_owned()));
            }
        }
    }
}

fn file_name(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

fn assemble(head: Head, introduction: &str, drafts: Vec<Draft>) -> Reference {
    let runtimes = span(head.min_runtime, head.max_runtime);
    let sections = drafts.into_iter().filter_map(|draft| {
        let declared = head.section.iter().find(|section| section.name == draft.name)?;
        Some(Section {
            name: draft.name,
            heading: draft.heading,
            description: declared.description.clone(),
            keywords: declared.keywords.clone(),
            runtimes: runtimes.and(span(declared.min_runtime, declared.max_runtime)),
            body: draft.body.trim().to_owned(),
        })
    });
    let sections = sections.collect();
    Reference {
        name: head.name,
        title: head.title,
        description: head.description,
        aliases: head.aliases,
        runtimes,
        introduction: introduction.trim().to_owned(),
        sections,
    }
}

const fn span(min: Option<Version>, max: Option<Version>) -> Span {
    Span { min, max }
}

#[cfg(test)]
mod tests;
