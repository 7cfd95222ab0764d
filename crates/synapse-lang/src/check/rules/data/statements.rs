//! The SQL of a data service and its parameters.

use crate::check::walk::Placed;
use crate::check::{Findings, Interest, Rule, Subject};
use crate::syntax::Element;

use super::super::artifacts::{question_marks, without_strings};

const UNDECLARED: u16 = 1004;
const UNUSED: u16 = 1005;
const COUNT: u16 = 1006;

/// Parameters that do not fit the SQL.
pub(super) struct Statements;

impl Rule for Statements {
    fn codes(&self) -> &'static [u16] {
        &[UNDECLARED, UNUSED, COUNT]
    }

    fn interest(&self) -> Interest {
        Interest::Named(&["query"])
    }

    fn element(&self, _subject: &Subject<'_>, placed: &Placed<'_>, findings: &mut Findings) {
        let query = placed.element;
        if placed.id() != "data.query" || !query.is_closed() {
            return;
        }
        let statements: Vec<Element<'_>> = query.elements().filter(|one| one.local() == "sql").collect();
        if statements.is_empty() {
            return;
        }
        let parameters: Vec<Element<'_>> = query.elements().filter(|one| one.local() == "param").collect();
        let declared = |name: &str| {
            parameters.iter().any(|one| one.value("name").is_some_and(|value| value.trim() == name))
        };
        let mut names: Vec<String> = Vec::new();
        let mut marks = false;
        for sql in &statements {
            let text = sql.text();
            let plain = without_strings(&text);
            let found = named(&plain);
            match question_marks(&text) {
                Some(0) => {}
                Some(count) => {
                    marks = true;
                    if count + found.iter().filter(|name| declared(name)).count() != parameters.len() {
                        let message = format!(
                            "The statement has {count} ? and the query {} parameters; it fails when it runs",
                            parameters.len()
                        );
                        findings.report(COUNT, sql.name_span(), message);
                    }
                }
                None => marks = true,
            }
            for name in found.iter().filter(|name| !declared(name)) {
                let message = format!(":{name} is no parameter of this query and stays in the SQL");
                findings.report(UNDECLARED, sql.name_span(), message);
            }
            names.extend(found);
        }
        if marks {
            return;
        }
        for parameter in &parameters {
            let Some(name) = parameter.attribute("name") else { continue };
            let value = name.value().trim().to_owned();
            if !value.is_empty() && !names.contains(&value) {
                let message = format!("The SQL does not use this parameter: :{value} stands nowhere in it");
                findings.report(UNUSED, name.value_span(), message);
            }
        }
    }
}

/// The names of `:name` in SQL without strings, each once.
fn named(sql: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in sql.match_indices(':') {
        let before = sql.get(..at).and_then(|rest| rest.chars().next_back());
        if before.is_some_and(|one| one.is_alphanumeric() || one == ':' || one == '_') {
            continue; // A cast, or part of a word.
        }
        let rest = sql.get(at + 1..).unwrap_or_default();
        let length =
            rest.len() - rest.trim_start_matches(|one: char| one.is_alphanumeric() || one == '_').len();
        let name = rest.get(..length).unwrap_or_default();
        let starts = name.chars().next().is_some_and(|one| one.is_alphabetic() || one == '_');
        if starts && !found.iter().any(|one| one == name) {
            found.push(name.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_casts_and_times() {
        let check = |sql: &str, names: &[&str]| assert_eq!(named(sql), names, "{sql}");
        check("select * from t where a = :a and b=:b or c = :a", &["a", "b"]);
        check("select a::text, 12:30, x := 5", &[]);
        check("insert into t values(:first_name,:last2)", &["first_name", "last2"]);
    }
}
