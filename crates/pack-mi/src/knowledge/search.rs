//! Finds the row that answers a question, by words.
//!
//! What is searched are [rows](rows): paragraphs, rows of tables with their header, items of lists, blocks of code. They
//! are ranked by BM25 over whole identifiers and their parts, with more for an identifier that stands there exactly, for
//! the question standing there word by word, and for rows that have all of its words. Everyday words are looked for in the
//! words of the language too, and the keywords of a section count for its rows. Vectors were not needed: questions
//! about a language name its words, and the same question always gets the same answer.

mod rank;
pub mod rows;
mod terms;
mod wordings;

use std::sync::LazyLock;

use synapse_lang::model::Version;

use super::library::Library;
use rank::Ranking;
use rows::Row;

/// How much a search gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchLimits {
    /// Hits at most.
    pub hits: usize,
    /// Tokens of all hits together at most.
    pub tokens: u64,
    /// Hits of one section at most.
    pub of_one_section: usize,
}

impl Default for SearchLimits {
    /// Eight hits and 1,500 tokens are a glance; who needs more loads the section.
    fn default() -> Self {
        Self { hits: 8, tokens: 1_500, of_one_section: 3 }
    }
}

impl SearchLimits {
    /// Hits somebody may ask for.
    pub const MOST_HITS: usize = 25;

    /// For so many hits, with tokens in proportion.
    #[must_use]
    pub fn of_hits(hits: usize) -> Self {
        let hits = hits.clamp(1, Self::MOST_HITS);
        let standard = Self::default();
        let tokens = standard.tokens.max(hits as u64 * standard.tokens / standard.hits as u64);
        Self { hits, tokens, of_one_section: standard.of_one_section.max(hits / 2) }
    }
}

/// A row that fits a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The name of the reference.
    pub reference: String,
    /// The name of the section; empty for what stands before the first.
    pub section: String,
    /// The headings above it, below the section's.
    pub under: Vec<String>,
    /// For a row of a table, its header and the line below it.
    pub header: String,
    /// The row.
    pub text: String,
    /// How well it fits; comparable within one search only.
    pub score: f64,
}

impl Hit {
    /// The row with its header.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{}{}", self.header, self.text)
    }

    /// The selector that loads what is around it.
    #[must_use]
    pub fn selector(&self) -> String {
        if self.section.is_empty() {
            self.reference.clone()
        } else {
            format!("{}:{}", self.reference, self.section)
        }
    }
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hits {
    /// The hits, the best first.
    pub hits: Vec<Hit>,
    /// How many rows fit that are not among them.
    pub more: usize,
    /// How many rows fit that are about other runtimes.
    pub other_runtimes: usize,
}

/// The rows of a library, ready to be searched.
pub struct Index<'a> {
    rows: Vec<Row<'a>>,
    ranking: Ranking,
}

impl<'a> Index<'a> {
    /// Of a library.
    #[must_use]
    pub fn of(library: &'a Library) -> Self {
        let rows: Vec<Row<'a>> = library.references().iter().flat_map(rows::of).collect();
        let ranking = Ranking::of(&rows);
        Self { rows, ranking }
    }

    /// Of the references that are part of the program; made at first use.
    #[must_use]
    pub fn builtin() -> &'static Index<'static> {
        static BUILTIN: LazyLock<Index<'static>> = LazyLock::new(|| Index::of(Library::builtin()));
        &BUILTIN
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is nothing to search.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows that fit a question, the best first. Rows about other runtimes than a known one are left out.
    #[must_use]
    pub fn search(&self, question: &str, version: Option<Version>, limits: SearchLimits) -> Hits {
        let mut found = Hits::default();
        let mut tokens = 0;
        for (at, score) in self.ranking.rank(question, &self.rows) {
            let Some(row) = self.rows.get(at) else { continue };
            if version.is_some_and(|version| !row.runtimes.has(version)) {
                found.other_runtimes += 1;
                continue;
            }
            let siblings = found
                .hits
                .iter()
                .filter(|hit| hit.reference == row.reference.name && hit.section == row.section_name())
                .count();
            let full = found.hits.len() >= limits.hits || siblings >= limits.of_one_section;
            if full {
                found.more += 1;
                continue;
            }
            let size = mica_context::tokens::of_text(&row.shown());
            if tokens + size > limits.tokens && !found.hits.is_empty() {
                found.more += 1;
                continue;
            }
            tokens += size;
            found.hits.push(Hit {
                reference: row.reference.name.clone(),
                section: row.section_name().to_owned(),
                under: row.under.clone(),
                header: row.header.clone(),
                text: row.text.clone(),
                score,
            });
        }
        found
    }
}

#[cfg(test)]
mod tests;
