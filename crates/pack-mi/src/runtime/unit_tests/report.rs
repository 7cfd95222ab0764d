//! What the plugin says came of tests: its report as JSON, and what it prints where it writes none.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    /// The file of the test, relative to the project, or its name.
    pub(crate) file: String,
    pub(crate) line: Option<u32>,
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) failures: Vec<Failure>,
}

/// Why it failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
}

impl Case {
    /// `src/test/wso2mi/OrdersTest.xml:14 adds`.
    pub(super) fn title(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line} {}", self.file, self.name)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Suite {
    #[serde(default)]
    deployment_status: String,
    deployment_exception: Option<String>,
    deployment_description: Option<String>,
    #[serde(default)]
    mediation_status: String,
    mediation_exception: Option<String>,
    current_test_case: Option<String>,
    #[serde(default)]
    test_cases: Vec<TestCase>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestCase {
    #[serde(default)]
    test_case_name: String,
    #[serde(default)]
    mediation_status: String,
    #[serde(default)]
    assertion_status: String,
    exception: Option<String>,
    failure_assertions: Option<Vec<Assertion>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    assertion_type: String,
    #[serde(default)]
    assertion_expression: String,
    actual: Option<String>,
    expected: Option<String>,
    message: Option<String>,
    assertion_description: Option<String>,
}

const PASSED: &str = "PASSED";

/// Reads a report. What is no report has no cases.
pub(super) fn read(text: &str, project: &Path) -> Vec<Case> {
    let Ok(Value::Object(suites)) = serde_json::from_str(text) else { return Vec::new() };
    let mut cases = Vec::new();
    for (file, suite) in suites {
        let Ok(suite) = Suite::deserialize(suite) else { continue };
        let file =
            Path::new(&file).strip_prefix(project).map_or(file.clone(), |path| path.display().to_string());
        cases.extend(suite.cases(&file));
    }
    cases
}

impl Suite {
    fn cases(self, file: &str) -> Vec<Case> {
        let failed = |name: &str, what: String| Case {
            file: file.to_owned(),
            line: None,
            name: name.to_owned(),
            outcome: Outcome::Failed,
            failures: vec![Failure { what, ..Failure::default() }],
        };
        if self.deployment_status != PASSED {
            let why = self.deployment_exception.or(self.deployment_description).unwrap_or_default();
            return vec![failed("(all of it)", format!("The artifacts could not be deployed: {why}"))];
        }
        let mut cases: Vec<Case> = self.test_cases.into_iter().map(|case| case.case(file)).collect();
        if self.mediation_status != PASSED
            && let Some(name) = &self.current_test_case
            && !cases.iter().any(|case| case.name == *name)
        {
            let why = self.mediation_exception.unwrap_or_default();
            cases.push(failed(name, format!("The flow failed: {why}")));
        }
        cases
    }
}

impl TestCase {
    fn case(self, file: &str) -> Case {
        let mut failures = Vec::new();
        if self.mediation_status != PASSED {
            let why = self.exception.clone().unwrap_or_default();
            failures.push(Failure { what: format!("The flow failed: {why}"), ..Failure::default() });
        } else if self.assertion_status != PASSED {
            for one in self.failure_assertions.into_iter().flatten() {
                let said = [one.message, one.assertion_description]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" ");
                let what = format!("{} of {}: {said}", one.assertion_type, one.assertion_expression);
                failures.push(Failure { what, expected: one.expected, actual: one.actual });
            }
            if failures.is_empty() {
                let what = self.exception.unwrap_or_else(|| "An assertion failed".to_owned());
                failures.push(Failure { what, ..Failure::default() });
            }
        }
        let outcome = if failures.is_empty() { Outcome::Passed } else { Outcome::Failed };
        Case { file: file.to_owned(), line: None, name: self.test_case_name, outcome, failures }
    }
}

/// What the plugin prints: tables below the name of each file.
#[derive(Default)]
pub(super) struct Console {
    file: String,
    table: Table,
    cases: Vec<Case>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Table {
    #[default]
    None,
    Summary,
    Failures,
    Assertions,
}

impl Console {
    /// Takes a line in.
    pub(super) fn line(&mut self, line: &str) {
        let text = line.strip_prefix("[INFO]").unwrap_or(line).trim();
        if let Some(name) = text.strip_prefix("Test Suite Name: ") {
            self.file = name.trim().to_owned();
            self.table = Table::None;
        } else if text.starts_with("Failed Test Case(s)") {
            self.table = Table::Failures;
        } else if text.starts_with("Failed Assertion(s)") {
            self.table = Table::Assertions;
        } else if text.contains("TEST CASE") && text.contains("MEDIATION") {
            self.table = Table::Summary;
        } else if text.contains('|') {
            self.row(text);
        }
    }

    fn row(&mut self, text: &str) {
        let cells: Vec<&str> = text.split('|').map(str::trim).collect();
        let cells: Vec<&str> = match cells.as_slice() {
            ["", inner @ .., ""] => inner.to_vec(),
            all => all.to_vec(),
        };
        let name = cells.first().and_then(|cell| cell.strip_prefix("Test Case - ")).map(str::trim);
        match (self.table, cells.as_slice(), name) {
            (Table::Summary, [_, deployment, mediation, assertion], Some(name)) => {
                let outcome = match (*deployment, *mediation, *assertion) {
                    (PASSED, PASSED, PASSED) => Outcome::Passed,
                    (PASSED, PASSED, "SKIPPED") => Outcome::Skipped,
                    _ => Outcome::Failed,
                };
                let (file, name) = (self.file.clone(), name.to_owned());
                self.cases.push(Case { file, line: None, name, outcome, failures: Vec::new() });
            }
            (Table::Failures, [_, state, message], Some(name)) => {
                let what = format!("{state}: {message}");
                self.fail(name, what);
            }
            (Table::Assertions, [_, expression, failure], Some(name)) => {
                self.fail(name, format!("{expression}: {failure}"));
            }
            // The rest of a cell that has several lines.
            (Table::Failures | Table::Assertions, ["", _, more], None) if !more.is_empty() => {
                let last = self.cases.iter_mut().rev().find(|case| !case.failures.is_empty());
                if let Some(failure) = last.and_then(|case| case.failures.last_mut()) {
                    failure.what = format!("{} {more}", failure.what);
                }
            }
            _ => {}
        }
    }

    fn fail(&mut self, name: &str, what: String) {
        let file = &self.file;
        if let Some(case) = self.cases.iter_mut().rev().find(|case| case.file == *file && case.name == name) {
            case.failures.push(Failure { what, ..Failure::default() });
        }
    }

    /// The cases.
    pub(super) fn cases(&self) -> Vec<Case> {
        self.cases.clone()
    }
}

#[cfg(test)]
mod tests;
