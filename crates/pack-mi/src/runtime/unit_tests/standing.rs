//! Test files without running them: whether what they name is there, and whether they can be told apart.

use std::path::Path;

use synapse_lang::diagnostic::Severity;
use synapse_lang::project::{File, Project, disk};
use synapse_lang::text::Unit;

use super::super::arguments::count;
use super::FOLDER;
use super::report::Case;

/// Test files as they stand.
pub(super) struct Standing {
    pub(super) files: Vec<TestFile>,
}

/// A test file.
pub(super) struct TestFile {
    pub(super) path: String,
    /// Its test cases, with their lines.
    pub(super) cases: Vec<(String, u32)>,
    pub(super) findings: Vec<String>,
}

impl Standing {
    /// Reads the tests of a project, or one of its files.
    ///
    /// # Errors
    /// In words, when there are none or not that one.
    pub(super) fn of(root: &Path, wanted: Option<&str>) -> Result<Self, String> {
        let project = disk::read(root).map_err(|error| format!("The project cannot be read: {error}."))?;
        Self::in_project(&project, wanted)
    }

    fn in_project(project: &Project, wanted: Option<&str>) -> Result<Self, String> {
        let is_test = |path: &str, file: &File| {
            path.starts_with(FOLDER)
                && file.document().root().is_some_and(|root| root.local().ends_with("unit-test"))
        };
        let all: Vec<(&str, &File)> = project.files().filter(|(path, file)| is_test(path, file)).collect();
        let has_java =
            project.other_files().any(|path| path.contains("src/test/java/") && path.ends_with(".java"));
        if all.is_empty() && !has_java {
            return Err(format!(
                "There are no unit tests in {FOLDER}. A test file has the root unit-test, with the artifact that it tests, and \
                 test cases."
            ));
        }
        let chosen: Vec<(&str, &File)> = match wanted {
            None => all,
            Some(wanted) => {
                let name = |path: &str| {
                    path == wanted
                        || path
                            .strip_prefix(FOLDER)
                            .is_some_and(|rest| rest.trim_start_matches('/') == wanted)
                };
                let found: Vec<(&str, &File)> = all.iter().copied().filter(|(path, _)| name(path)).collect();
                if found.is_empty() {
                    let known: Vec<&str> = all.iter().map(|(path, _)| *path).collect();
                    return Err(format!(
                        "There is no test file {wanted:?}. There are: {}.",
                        known.join(", ")
                    ));
                }
                found
            }
        };
        Ok(Self { files: chosen.into_iter().map(|(path, file)| check(project, path, file)).collect() })
    }

    /// What is wrong with them, with places.
    pub(super) fn findings(&self) -> Vec<&str> {
        self.files.iter().flat_map(|file| &file.findings).map(String::as_str).collect()
    }

    /// As text.
    pub(super) fn told(&self) -> String {
        let cases: usize = self.files.iter().map(|file| file.cases.len()).sum();
        let findings = self.findings();
        let mut lines = vec![format!(
            "{} with {}, {}.",
            count(self.files.len(), "test file"),
            count(cases, "test case"),
            if findings.is_empty() {
                "nothing is wrong with them".to_owned()
            } else {
                count(findings.len(), "finding")
            }
        )];
        for file in &self.files {
            let names: Vec<&str> = file.cases.iter().map(|(name, _)| name.as_str()).collect();
            lines.push(format!("{}: {}", file.path, names.join(", ")));
            lines.extend(file.findings.iter().map(|finding| format!("  {finding}")));
        }
        lines.join("\n")
    }

    /// Gives cases the file and the line that they are written in.
    pub(super) fn place(&self, cases: &mut [Case]) {
        for case in cases {
            let file = self.files.iter().find(|file| {
                file.path == case.file
                    || file.path.rsplit('/').next() == Some(case.file.rsplit('/').next().unwrap_or_default())
            });
            if let Some(file) = file {
                case.file.clone_from(&file.path);
                case.line = file.cases.iter().find(|(name, _)| *name == case.name).map(|(_, line)| *line);
            }
        }
    }
}

fn check(project: &Project, path: &str, file: &File) -> TestFile {
    let document = file.document();
    let line = |offset: u32| document.lines().position(document.source(), offset, Unit::Scalar).line + 1;
    let mut findings: Vec<String> = project
        .check_file(path)
        .iter()
        .filter(|one| one.severity >= Severity::Warning)
        .map(|one| {
            format!(
                "{path}:{}: {}: {} ({})",
                line(one.span.start),
                one.severity.word(),
                one.message,
                one.code
            )
        })
        .collect();
    let cases: Vec<(String, u32)> = document
        .elements()
        .filter(|element| element.local() == "test-case")
        .map(|case| {
            let name = case.value("name").map(|name| name.trim().to_owned()).unwrap_or_default();
            (name, line(case.name_span().start))
        })
        .collect();
    if cases.is_empty() {
        findings.push(format!("{path}:1: error: there is no test case in it"));
    }
    TestFile { path: path.to_owned(), cases, findings }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> Project {
        let mut project = Project::default();
        project.set("pom.xml", "<project/>");
        project.set("src/main/wso2mi/artifacts/apis/Orders.xml", "<api xmlns=\"http://ws.apache.org/ns/synapse\" name=\"Orders\" context=\"/o\"><resource methods=\"GET\"><inSequence><respond/></inSequence></resource></api>");
        project.set(
            "src/test/wso2mi/OrdersTest.xml",
            "<unit-test>\n<artifacts><test-artifact><artifact>src/main/wso2mi/artifacts/apis/Order.xml</artifact></test-artifact></artifacts>\n<test-cases>\n<test-case name=\"a\"><input/><assertions><assertNotNull><actual>$body</actual><message>m</message></assertNotNull></assertions></test-case>\n<test-case name=\"a\"><input/><assertions/></test-case>\n</test-cases></unit-test>",
        );
        project
    }

    #[test]
    fn tests_are_checked_without_running_them() {
        let standing = Standing::in_project(&project(), None).unwrap();
        assert_eq!(
            standing.told(),
            "1 test file with 2 test cases, 3 findings.\n\
             src/test/wso2mi/OrdersTest.xml: a, a\n  \
             src/test/wso2mi/OrdersTest.xml:2: error: There is no file src/main/wso2mi/artifacts/apis/Order.xml in this project (SYN1020)\n  \
             src/test/wso2mi/OrdersTest.xml:5: warning: two test cases have the same name; it does something else than it says (SYN0123)\n  \
             src/test/wso2mi/OrdersTest.xml:5: warning: A test case without assertions proves nothing; it does something else than it says (SYN0120)"
        );
    }

    #[test]
    fn one_file_can_be_chosen_and_a_wrong_name_is_told() {
        for name in ["OrdersTest.xml", "src/test/wso2mi/OrdersTest.xml"] {
            assert_eq!(Standing::in_project(&project(), Some(name)).unwrap().files.len(), 1);
        }
        let wrong = Standing::in_project(&project(), Some("X.xml")).err();
        assert_eq!(
            wrong.as_deref(),
            Some("There is no test file \"X.xml\". There are: src/test/wso2mi/OrdersTest.xml.")
        );
        let none = Standing::in_project(&Project::default(), None).err().unwrap();
        assert!(none.starts_with("There are no unit tests in src/test/wso2mi."));
    }
}
