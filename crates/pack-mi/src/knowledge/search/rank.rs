//! Ranks rows by a question: BM25, and more for what stands there exactly.

use std::collections::{HashMap, HashSet};

use super::rows::{Row, RowKind};
use super::terms::{Term, asked, terms};
use super::wordings::{is_aside, others};

/// How fast more of the same word counts less.
const SATURATION: f64 = 1.2;
/// How much longer rows are held back.
const LENGTH: f64 = 0.6;
/// What a word above the row counts (names, headings, the header of the table) beside one in it.
const ABOVE: f64 = 0.45;
/// What an identifier that stands there exactly counts more.
const EXACT: f64 = 1.2;
/// What a row counts more that has the question word by word.
const PHRASE: f64 = 1.6;
/// What the first cell of a row of a table counts more: it is what the row is about.
const FIRST_CELL: f64 = 0.9;
/// What a row of a table counts more that is about the question and nothing else.
const ONLY_CELL: f64 = 1.5;
/// Bytes of a question that are read. Longer ones are pasted texts, whose beginning says what they are about.
const LONGEST: usize = 1_000;
/// What fits so much less well than the best row is no answer.
const TAIL: f64 = 0.25;
/// What a row about a tool counts that the question does not name.
const ASIDE: f64 = 0.5;

/// What is known about the words of all rows.
pub(super) struct Ranking {
    rows: Vec<Counted>,
    /// In how many rows a term stands.
    spread: HashMap<String, usize>,
    average: f64,
}

/// The words of one row.
struct Counted {
    /// Weights of terms.
    weights: HashMap<String, f64>,
    /// Identifiers in the row itself.
    exact: HashSet<String>,
    /// Terms of the first cell of a row of a table.
    first: HashSet<String>,
    length: f64,
    plain: String,
}

impl Ranking {
    pub(super) fn of(rows: &[Row<'_>]) -> Self {
        let rows: Vec<Counted> = rows.iter().map(Counted::of).collect();
        let mut spread: HashMap<String, usize> = HashMap::new();
        for row in &rows {
            for term in row.weights.keys() {
                *spread.entry(term.clone()).or_default() += 1;
            }
        }
        let total: f64 = rows.iter().map(|row| row.length).sum();
        let average = if rows.is_empty() { 1.0 } else { total / rows.len() as f64 };
        Self { rows, spread, average }
    }

    /// Rows that have any word of the question, the best first.
    pub(super) fn rank(&self, question: &str, rows: &[Row<'_>]) -> Vec<(usize, f64)> {
        let question = question.get(..question.floor_char_boundary(LONGEST)).unwrap_or_default();
        let weighed = |terms: Vec<Term>| -> Vec<(Term, f64)> {
            terms.into_iter().map(|term| (term.clone(), self.rarity(&term.text))).collect()
        };
        let own = asked(question);
        let mut wordings: Vec<(Vec<(Term, f64)>, String)> =
            others(&own).into_iter().map(|other| (weighed(other.terms), plain(other.words))).collect();
        wordings.push((weighed(own), plain(question)));
        let mut ranked: Vec<(usize, f64)> = Vec::new();
        for (at, (counted, row)) in self.rows.iter().zip(rows).enumerate() {
            let mut score = wordings
                .iter()
                .map(|(asked, phrase)| self.score(asked, phrase, counted, row.kind))
                .fold(0.0, f64::max);
            if is_aside(&row.reference.name, question) {
                score *= ASIDE;
            }
            if score > 0.0 {
                ranked.push((at, score));
            }
        }
        ranked.sort_by(|(one, left), (two, right)| right.total_cmp(left).then(one.cmp(two)));
        let best = ranked.first().map_or(0.0, |(_, score)| *score);
        ranked.retain(|(_, score)| *score >= best * TAIL);
        ranked
    }

    fn score(&self, asked: &[(Term, f64)], phrase: &str, row: &Counted, kind: RowKind) -> f64 {
        let mut score = 0.0;
        let mut possible = 0.0;
        let mut reached = 0.0;
        for (term, rarity) in asked {
            possible += rarity;
            let Some(weight) = row.weights.get(&term.text) else { continue };
            reached += rarity;
            let held = SATURATION * (1.0 - LENGTH + LENGTH * row.length / self.average);
            score += rarity * weight * (SATURATION + 1.0) / (weight + held);
            if term.exact && row.exact.contains(&term.text) {
                score += rarity * EXACT;
            }
            if row.first.contains(&term.text) {
                score += rarity * FIRST_CELL;
            }
        }
        if score == 0.0 {
            return 0.0;
        }
        // A row with one rare word of four is rarely what was meant.
        let covered = if possible > 0.0 { reached / possible } else { 0.0 };
        score *= covered * covered;
        let long_enough = phrase.len() > 3 || phrase.chars().any(|letter| !letter.is_alphanumeric());
        if long_enough && row.plain.contains(phrase) {
            score *= PHRASE;
        }
        let only =
            asked.len() == row.first.len() && asked.iter().all(|(term, _)| row.first.contains(&term.text));
        match kind {
            RowKind::TableRow if only => score * 1.1 * ONLY_CELL,
            RowKind::TableRow => score * 1.1,
            RowKind::Code => score * 0.85,
            RowKind::About | RowKind::Paragraph | RowKind::Item => score,
        }
    }

    /// How rare a term is; one that stands nowhere is as rare as can be.
    fn rarity(&self, term: &str) -> f64 {
        let all = self.rows.len() as f64;
        let with = self.spread.get(term).copied().unwrap_or_default() as f64;
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

impl Counted {
    fn of(row: &Row<'_>) -> Self {
        let mut weights: HashMap<String, f64> = HashMap::new();
        let own = terms(&row.text);
        let length = own.len() as f64;
        let exact = own.iter().filter(|term| term.exact).map(|term| term.text.clone()).collect();
        for term in own {
            *weights.entry(term.text).or_default() += 1.0;
        }
        let mut above = format!("{} {}", row.reference.name, row.header);
        if let Some(section) = row.section {
            above.push(' ');
            above.push_str(&section.heading);
            for keyword in &section.keywords {
                above.push(' ');
                above.push_str(keyword);
            }
        }
        for heading in &row.under {
            above.push(' ');
            above.push_str(heading);
        }
        for term in terms(&above).into_iter().collect::<HashSet<_>>() {
            *weights.entry(term.text).or_default() += ABOVE;
        }
        let first = match row.kind {
            RowKind::TableRow => row.text.trim_start_matches('|').split(" | ").next().unwrap_or_default(),
            _ => "",
        };
        let first = terms(first).into_iter().map(|term| term.text).collect();
        Self { weights, exact, first, length, plain: plain(&row.shown()) }
    }
}

/// A text for comparing phrases: lower case, single blanks, without the marks of Markdown.
fn plain(text: &str) -> String {
    let letters = text.to_lowercase();
    let bare: String =
        letters.chars().map(|letter| if matches!(letter, '`' | '|' | '\n') { ' ' } else { letter }).collect();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}
