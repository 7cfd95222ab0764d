//! Reports of Java tests: one XML file for each class.

use std::path::Path;

use synapse_lang::syntax::Document;

use super::super::contained;
use super::report::{Case, Failure, Outcome};

/// Reports that are read.
const MOST: usize = 2_000;
/// Bytes of a report.
const LARGEST: u64 = 4 << 20;

/// Reads the reports in a folder of `target`.
pub(super) fn read(target: &Path, folder: &str, project: &Path) -> Vec<Case> {
    let relative = Path::new(folder);
    let Ok(Some(folder)) = contained::folder(target, relative) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("TEST-") && name.ends_with(".xml"))
        .collect();
    names.sort();
    names.truncate(MOST);
    let texts = names.iter().filter_map(|name| contained::text(target, &relative.join(name), LARGEST).ok());
    texts.flat_map(|text| cases(&text, project)).collect()
}

fn cases(text: &str, project: &Path) -> Vec<Case> {
    let document = Document::parse(text);
    let cases = document.elements().filter(|element| element.local() == "testcase");
    cases
        .map(|case| {
            let value = |name: &str| case.value(name).map(std::borrow::Cow::into_owned).unwrap_or_default();
            let (class, name) = (value("classname"), value("name"));
            let failed: Vec<_> =
                case.elements().filter(|one| matches!(one.local(), "failure" | "error")).collect();
            let is_skipped = case.first("skipped").is_some();
            let outcome = match (failed.is_empty(), is_skipped) {
                (false, _) => Outcome::Failed,
                (true, true) => Outcome::Skipped,
                (true, false) => Outcome::Passed,
            };
            let path =
                format!("src/test/java/{}.java", class.split('$').next().unwrap_or(&class).replace('.', "/"));
            let trace = failed.first().map(|one| one.text().into_owned()).unwrap_or_default();
            let failures = failed
                .iter()
                .map(|one| {
                    let message = one.value("message").map(std::borrow::Cow::into_owned);
                    let what = message
                        .unwrap_or_else(|| one.text().lines().next().unwrap_or_default().trim().to_owned());
                    Failure { what, ..Failure::default() }
                })
                .collect();
            let file = if project.join(&path).is_file() { path } else { class.clone() };
            Case { line: line_of(&trace, &class), file, name, outcome, failures }
        })
        .collect()
}

/// The line of the test's own class in a trace: `at com.acme.XTest.adds(XTest.java:12)`.
fn line_of(trace: &str, class: &str) -> Option<u32> {
    let own = trace
        .lines()
        .map(str::trim)
        .find(|line| line.strip_prefix("at ").is_some_and(|frame| frame.starts_with(&format!("{class}."))))?;
    own.rsplit_once(':')?.1.trim_end_matches(')').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_have_the_line_of_the_test() {
        let text = r#"<?xml version="1.0"?><testsuite name="com.acme.XTest" tests="3" failures="1">
          <testcase name="gets" classname="com.acme.XTest" time="0.01"/>
          <testcase name="adds" classname="com.acme.XTest"><failure message="expected:&lt;2&gt; but was:&lt;3&gt;" type="java.lang.AssertionError">java.lang.AssertionError: x
	at org.junit.Assert.fail(Assert.java:89)
	at com.acme.XTest.adds(XTest.java:12)
</failure></testcase>
          <testcase name="later" classname="com.acme.XTest"><skipped/></testcase></testsuite>"#;
        let shown: Vec<String> = cases(text, Path::new("/p"))
            .iter()
            .map(|case| {
                format!(
                    "{:?} {} {}",
                    case.outcome,
                    case.title(),
                    case.failures.first().map_or("", |one| one.what.as_str())
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Passed com.acme.XTest gets ",
                "Failed com.acme.XTest:12 adds expected:<2> but was:<3>",
                "Skipped com.acme.XTest later ",
            ]
        );
    }
}
