//! Every example on every page is checked, and every code of a rule has a page.

#![allow(clippy::expect_used, reason = "a page that is written wrongly stops the test")]

use std::collections::{BTreeMap, BTreeSet};

use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::{Code, Diagnostic, Severity};
use synapse_lang::fix;
use synapse_lang::model::Version;
use synapse_lang::pages::{self, Example, Fence, Page, Verdict};
use synapse_lang::project::Project;
use synapse_lang::syntax::Document;

/// What went wrong, by page; printed together so that one run shows all.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn note(&mut self, page: &Page, what: &str, text: &str) {
        self.0.push(format!("{} ({}): {what}\n{text}", page.code, page.name));
    }

    #[track_caller]
    fn none(self) {
        assert!(self.0.is_empty(), "{} failures\n\n{}", self.0.len(), self.0.join("\n\n"));
    }
}

fn runtime(example: &Example) -> Option<Version> {
    example.option("runtime").map(|text| text.parse().expect("a version"))
}

/// What is found in a text. Hints at better forms count on their own pages only: examples of other pages may use
/// older forms.
fn found(page: &Page, text: &str, example: &Example, project: Option<&Project>) -> Vec<Diagnostic> {
    let document = Document::parse(text);
    let setting = Setting { path: example.option("path"), runtime: runtime(example), project };
    counted(page, check::check(&document, setting))
}

fn counted(page: &Page, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.retain(|one| one.severity > Severity::Hint || one.code == page.code);
    found
}

/// The documents of an example: itself, or one for each expression on its lines.
fn documents(example: &Example) -> Vec<String> {
    if example.fence != Fence::Expr {
        return vec![example.document()];
    }
    let lines = example.text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let escaped = line.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            format!(
                "<sequence xmlns=\"http://ws.apache.org/ns/synapse\" name=\"example\">\n<variable name=\"result\" expression=\"${{{escaped}}}\"/>\n</sequence>\n"
            )
        })
        .collect()
}

fn codes(found: &[Diagnostic]) -> BTreeSet<Code> {
    found.iter().map(|one| one.code).collect()
}

fn expected(page: &Page, example: &Example) -> BTreeSet<Code> {
    let also = example.option("also").unwrap_or_default().split(',').filter(|text| !text.is_empty());
    also.map(|text| text.parse().expect("a code")).chain([page.code]).collect()
}

fn show(found: &[Diagnostic]) -> String {
    found.iter().map(|one| format!("  {} {:?} {}\n", one.code, one.span, one.message)).collect()
}

/// A stand-alone example.
fn single(page: &Page, example: &Example, failures: &mut Failures) {
    for text in documents(example) {
        let found = found(page, &text, example, None);
        match example.verdict {
            Verdict::Bad if codes(&found) != expected(page, example) => {
                failures.note(page, &format!("the bad example gives\n{}", show(&found)), &text);
            }
            Verdict::Good if !found.is_empty() => {
                failures.note(page, &format!("the good example gives\n{}", show(&found)), &text);
            }
            _ => {}
        }
    }
}

/// The repaired form of the bad example before it.
fn repaired(page: &Page, bad: &Example, fixed: &Example, failures: &mut Failures) {
    let before = bad.document();
    let after = fix::repair(&before, fix::Extent::Everything, |text| {
        let mut found = found(page, text, bad, None);
        found.retain(|one| one.code == page.code);
        found
    });
    if after.text != fixed.document() {
        failures.note(page, &format!("the repair gives\n{}\ninstead of", after.text), &fixed.document());
    }
    if codes(&found(page, &after.text, bad, None)).contains(&page.code) {
        failures.note(page, "is still there after its repair", &after.text);
    }
}

/// The files of one small project.
fn project(page: &Page, files: &[&Example], failures: &mut Failures) {
    let mut project = Project::default();
    for file in files {
        let path = file.option("path").expect("a file of a case has a path");
        project.set(path, file.text.as_str());
    }
    for file in files {
        let path = file.option("path").expect("a path");
        let found = counted(page, project.check_file(path));
        let codes = codes(&found);
        match file.verdict {
            Verdict::Bad if codes != expected(page, file) => {
                failures.note(page, &format!("{path} of the bad case gives\n{}", show(&found)), &file.text);
            }
            Verdict::Good if !found.is_empty() => {
                failures.note(page, &format!("{path} of the good case gives\n{}", show(&found)), &file.text);
            }
            _ => {}
        }
    }
}

#[test]
fn every_example_gives_what_its_page_says() {
    let mut failures = Failures::default();
    for page in pages::all() {
        let examples = page.examples();
        let mut cases: BTreeMap<&str, Vec<&Example>> = BTreeMap::new();
        let mut bad: Option<&Example> = None;
        for example in &examples {
            if let Some(case) = example.option("case") {
                cases.entry(case).or_default().push(example);
            } else if example.verdict == Verdict::Fixed {
                match bad {
                    Some(bad) => repaired(page, bad, example, &mut failures),
                    None => failures.note(page, "a fixed example follows no bad one", &example.text),
                }
            } else {
                single(page, example, &mut failures);
            }
            if example.verdict == Verdict::Bad {
                bad = Some(example);
            }
        }
        for files in cases.values() {
            project(page, files, &mut failures);
        }
        for wanted in [Verdict::Bad, Verdict::Good] {
            if !examples.iter().any(|example| example.verdict == wanted) {
                failures.note(page, &format!("has no example that is {wanted:?}"), "");
            }
        }
    }
    failures.none();
}

#[test]
fn codes_and_pages_are_the_same() {
    let reported: BTreeSet<Code> =
        check::rules::all().flat_map(check::Rule::codes).map(|code| Code(*code)).collect();
    let written: BTreeSet<Code> = pages::all().iter().map(|page| page.code).collect();
    let without_page: Vec<_> = reported.difference(&written).collect();
    let without_rule: Vec<_> = written.difference(&reported).collect();
    assert!(without_page.is_empty(), "rules report codes that have no page: {without_page:?}");
    assert!(without_rule.is_empty(), "pages of codes that no rule reports: {without_rule:?}");
    let names: BTreeSet<&str> = pages::all().iter().map(|page| page.name).collect();
    assert_eq!(names.len(), pages::all().len(), "two pages have one name");
}

/// What deploys and runs is not an error; what does not is.
#[test]
fn severities_fit_their_classes() {
    use synapse_lang::diagnostic::Class;
    for page in pages::all() {
        let fits = match page.class {
            Class::Deploy | Class::Fault | Class::Crash => page.severity >= Severity::Warning,
            Class::Style => page.severity <= Severity::Info,
            Class::Empty | Class::Ignored | Class::Surprise => true,
        };
        assert!(fits, "{} is {:?} and {:?}", page.code, page.class, page.severity);
    }
}
