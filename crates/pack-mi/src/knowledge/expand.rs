//! Fills placeholders from the description of the language, so that documents say what the checker knows.
//!
//! A placeholder is a line of its own:
//!
//! ```text
//! {{functions string}}    a table of one family of functions; without a family, of all
//! {{operators}}           what every operator makes of every pair of kinds, found out by evaluating
//! {{element log}}         attributes and children of an element, with the attributes of the children
//! {{element http own}}    the same without the attributes of the children
//! {{places}}              which mediators evaluate what, and how it is written
//! {{properties axis2}}    well-known properties of a scope
//! {{scopes}}              the scopes of properties
//! {{roots}}               the roots of expressions
//! {{external}}            the forms of values from outside
//! {{parameters inboundEndpoint http}}   the parameters of a protocol or implementation
//! {{finding SYN0401}}     one line about a finding
//! ```

mod catalogues;
mod elements;
mod functions;
mod operators;
mod places;

use std::fmt::Write as _;

use synapse_lang::model::Model;
use synapse_lang::near::nearest;
use synapse_lang::pages;

/// A placeholder that cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CannotFill {
    /// No placeholder has that name.
    #[error("there is no placeholder `{0}`; there are: {list}", list = KINDS.join(", "))]
    Kind(String),
    /// The description of the language has nothing of that name.
    #[error("`{kind}` knows no `{name}`{near}", near = .near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{near}`?")))]
    Name {
        /// The placeholder.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
}

const KINDS: &[&str] = &[
    "functions",
    "operators",
    "element",
    "places",
    "properties",
    "scopes",
    "roots",
    "external",
    "parameters",
    "finding",
];

/// What a line asks for, when it is a placeholder.
pub(super) fn placeholder(line: &str) -> Option<&str> {
    line.trim().strip_prefix("{{")?.strip_suffix("}}").map(str::trim)
}

/// Fills a placeholder.
pub(super) fn fill(asked: &str) -> Result<String, CannotFill> {
    let (kind, name) = asked.split_once(' ').unwrap_or((asked, ""));
    let name = name.trim();
    match kind {
        "functions" => functions::table(name),
        "operators" => Ok(operators::table()),
        "places" => Ok(places::table()),
        "element" => elements::tables(name),
        "properties" => catalogues::properties(name),
        "scopes" => Ok(catalogues::scopes()),
        "roots" => Ok(catalogues::roots()),
        "external" => Ok(catalogues::external()),
        "parameters" => catalogues::parameters(name),
        "finding" => finding(name),
        other => Err(CannotFill::Kind(other.to_owned())),
    }
}

fn unknown<'a>(kind: &'static str, name: &str, known: impl IntoIterator<Item = &'a str>) -> CannotFill {
    CannotFill::Name { kind, name: name.to_owned(), near: nearest(name, known).map(str::to_owned) }
}

fn finding(name: &str) -> Result<String, CannotFill> {
    let names = || pages::all().iter().map(|page| page.name);
    let page = pages::find(name).ok_or_else(|| unknown("finding", name, names()))?;
    Ok(format!(
        "- **{}** `{}` ({}, {}): {}\n",
        page.code,
        page.name,
        page.severity.word(),
        page.class.word(),
        page.title.trim_end_matches('.')
    ))
}

/// A table of Markdown while it is written. Bars in cells are escaped.
struct Table {
    out: String,
}

impl Table {
    fn new(columns: &[&str]) -> Self {
        let mut table = Self { out: String::new() };
        table.row(columns);
        table.out.push('|');
        for _ in columns {
            table.out.push_str("---|");
        }
        table.out.push('\n');
        table
    }

    fn row<C: AsRef<str>>(&mut self, cells: &[C]) {
        self.out.push('|');
        for cell in cells {
            let _ = write!(self.out, " {} |", cell.as_ref().trim().replace('|', "\\|").replace('\n', " "));
        }
        self.out.push('\n');
    }

    fn finish(self) -> String {
        self.out
    }
}

fn model() -> &'static Model {
    Model::get()
}

#[cfg(test)]
mod tests;
