//! Statements of dblookup and dbreport: one parameter for every `?`, and settings of the pool that are numbers.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::syntax::Element;

const COUNT: u16 = 822;
const NUMBER: u16 = 823;

/// Parameters that do not fit their statement.
pub(super) struct Databases;

impl Rule for Databases {
    fn codes(&self) -> &'static [u16] {
        &[COUNT, NUMBER]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["statement", "property"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        match placed.id() {
            "db.statement" => statement(placed, findings),
            "db.property" => setting(placed, findings),
            _ => {}
        }
    }
}

fn statement(placed: &Placed<'_>, findings: &mut Findings) {
    let Some(sql) = placed.element.first("sql") else { return };
    let text = sql.text();
    let Some(marks) = question_marks(&text) else { return };
    let read = |one: &Element<'_>| one.attribute("value").is_some() || one.attribute("expression").is_some();
    let parameters: Vec<Element<'_>> =
        placed.element.elements().filter(|one| one.local() == "parameter").collect();
    if !parameters.iter().all(read) {
        return; // One that is not read has a finding of its own.
    }
    let parameters = parameters.len();
    if marks != parameters {
        let message = format!(
            "The statement has {marks} {} and {parameters} {}; it fails when it runs",
            if marks == 1 { "place for a parameter" } else { "places for parameters" },
            if parameters == 1 { "parameter" } else { "parameters" },
        );
        findings.report(COUNT, sql.name_span(), message);
    }
}

/// The number of `?` outside strings, names and comments; nothing where `?` may be an operator.
pub(in crate::check::rules) fn question_marks(sql: &str) -> Option<usize> {
    let plain = without_strings(sql);
    let operator = ["??", "?|", "?&"].iter().any(|sign| plain.contains(sign));
    (!operator).then(|| plain.matches('?').count())
}

/// SQL with its strings, quoted names and comments blanked out.
pub(in crate::check::rules) fn without_strings(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '"' | '`' => {
                let inside = rest.get(1..).unwrap_or_default();
                Some(inside.find(first).map_or(rest.len(), |at| at + 2))
            }
            '-' if rest.starts_with("--") => Some(rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => Some(rest.find("*/").map_or(rest.len(), |at| at + 2)),
            _ => None,
        };
        match end {
            Some(end) => {
                plain.push(' ');
                rest = rest.get(end..).unwrap_or_default();
            }
            None => {
                plain.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
    }
    plain
}

fn setting(placed: &Placed<'_>, findings: &mut Findings) {
    const NUMBERS: [&str; 6] =
        ["initialsize", "maxactive", "maxidle", "maxopenstatements", "maxwait", "minidle"];
    let element = placed.element;
    let (Some(name), Some(value)) = (element.value("name"), element.attribute("value")) else { return };
    let text = value.value();
    if NUMBERS.contains(&name.as_ref()) && !text.contains('$') && text.trim().parse::<i64>().is_err() {
        let message = format!("{name} is {text:?}, which is not a number, and is not read");
        findings.report(NUMBER, value.value_span(), message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_count_outside_strings_and_comments() {
        let check = |sql: &str, marks: Option<usize>| assert_eq!(question_marks(sql), marks, "{sql}");
        check("select * from t where a = ? and b = ?", Some(2));
        check("select '?' from t where \"a?\" = ? -- ?\n and b = ?", Some(2));
        check("/* ? */ {call p(?, ?)}", Some(2));
        check("select a ?| b", None);
        check("select 'it''s ?' where x = ?", Some(1));
        check("select 'open ? ", Some(0));
    }
}
