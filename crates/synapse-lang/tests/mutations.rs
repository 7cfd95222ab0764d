//! Small mistakes in valid artifacts: each gives exactly the findings that the runtime's behaviour asks for.
//!
//! `mutations/*.toml` has one valid artifact a file and a list of changes to it. A change says what it replaces, by
//! what, and which codes that gives; an empty list of codes says that the change is harmless. Safe repairs are applied
//! too: they remove their finding and bring no new error, and where `back` says so they restore the artifact.

#![allow(clippy::expect_used, reason = "data that is written wrongly stops the test")]

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::{Code, Diagnostic, Edit, Safety, Severity};
use synapse_lang::fix;
use synapse_lang::model::{Model, Version};
use synapse_lang::syntax::Document;

/// A valid artifact and what can go wrong with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[allow(dead_code, reason = "for those who read the file")]
    about: String,
    runtime: Option<String>,
    path: Option<String>,
    valid: String,
    mutations: Vec<Mutation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    what: String,
    from: String,
    to: String,
    gives: String,
    /// Whether the safe repairs lead back to the valid artifact.
    #[serde(default)]
    back: bool,
    /// Whether every occurrence is replaced, as for the two tags of an element.
    #[serde(default)]
    all: bool,
}

impl Case {
    fn check(&self, text: &str) -> Vec<Diagnostic> {
        let runtime = self.runtime.as_ref().map(|text| text.parse().expect("a version"));
        faults(text, Setting { path: self.path.as_deref(), runtime, project: None })
    }
}

/// What is found, without matters of taste: old forms are valid too.
fn faults(text: &str, setting: Setting<'_>) -> Vec<Diagnostic> {
    let mut found = check::check(&Document::parse(text), setting);
    found.retain(|one| one.severity > Severity::Hint);
    found
}

fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutations");
    let mut cases: Vec<(String, Case)> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| {
            let path = entry.expect("a file").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let case: Result<Case, _> = toml::from_str(&text);
            assert!(case.is_ok(), "{name}: {:?}", case.err());
            let case = case.expect("a case");
            (name, case)
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

fn show(found: &[Diagnostic], text: &str) -> String {
    found.iter().map(|one| format!("    {} {:?} {}\n", one.code, one.span.of(text), one.message)).collect()
}

fn codes(found: &[Diagnostic]) -> BTreeSet<Code> {
    found.iter().map(|one| one.code).collect()
}

fn errors(found: &[Diagnostic]) -> BTreeSet<Code> {
    codes(&found.iter().filter(|one| one.severity == Severity::Error).cloned().collect::<Vec<_>>())
}

/// The failures of one mutation.
fn mutate(case: &Case, mutation: &Mutation) -> Vec<String> {
    let occurrences = case.valid.matches(&mutation.from).count();
    if occurrences == 0 || (occurrences > 1 && !mutation.all) {
        return vec![format!("what it replaces occurs {occurrences} times")];
    }
    let text = case.valid.replace(&mutation.from, &mutation.to);
    let found = case.check(&text);
    let expected: BTreeSet<Code> =
        mutation.gives.split_whitespace().map(|code| code.parse().expect("a code")).collect();
    let mut failures = Vec::new();
    if codes(&found) != expected {
        failures.push(format!("expected {:?}, found\n{}", mutation.gives, show(&found, &text)));
    }
    for one in &found {
        for repair in one.fixes.iter().filter(|fix| fix.safety == Safety::Safe) {
            let edits: Vec<&Edit> = repair.edits.iter().collect();
            let Some(after) = fix::apply(&text, &edits) else {
                failures.push(format!("{} has a repair whose edits meet", one.code));
                continue;
            };
            let left = case.check(&after);
            let count = |list: &[Diagnostic]| list.iter().filter(|other| other.code == one.code).count();
            if count(&left) >= count(&found) {
                failures.push(format!("{} is still there after {:?}:\n{after}", one.code, repair.title));
            }
            let new: Vec<_> = errors(&left).difference(&errors(&found)).copied().collect();
            if !new.is_empty() {
                failures.push(format!("{:?} brings {new:?}\n{}", repair.title, show(&left, &after)));
            }
        }
    }
    if mutation.back {
        let repaired = fix::repair(&text, fix::Extent::Safe, |text| case.check(text));
        if repaired.text != case.valid {
            let titles: Vec<_> = repaired.applied.iter().map(|one| &one.title).collect();
            failures.push(format!(
                "the safe repairs {titles:?} do not lead back; found\n{}",
                show(&found, &text)
            ));
        }
    }
    failures
}

#[test]
fn every_mistake_gives_its_finding() {
    let mut failures = Vec::new();
    let mut count = 0;
    for (name, case) in cases() {
        let found = case.check(&case.valid);
        if !found.is_empty() {
            failures.push(format!("{name}: the valid artifact gives\n{}", show(&found, &case.valid)));
        }
        for mutation in &case.mutations {
            count += 1;
            let all = mutate(&case, mutation);
            failures.extend(all.into_iter().map(|one| format!("{name}: {}: {one}", mutation.what)));
        }
    }
    assert!(failures.is_empty(), "{} of {count} fail\n{}", failures.len(), failures.join("\n"));
    assert!(count >= 200, "only {count} mutations were read");
}

/// Every example in the model is a document that the checker has nothing to say about.
#[test]
fn the_examples_of_the_model_are_clean() {
    let model = Model::get();
    let mut failures = Vec::new();
    let mut count = 0;
    for element in model.elements() {
        for example in &element.examples {
            let text = whole(element.kind, &example.xml);
            for version in versions(model, [element.since, example.since]) {
                count += 1;
                let setting = Setting { runtime: Some(version), ..Setting::default() };
                let found = faults(&text, setting);
                if !found.is_empty() {
                    let found = show(&found, &text);
                    failures.push(format!("{} {:?} on {version}:\n{found}", element.id, example.title));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} fail\n{}", failures.len(), failures.join("\n"));
    assert!(count > 100, "only {count} examples were read");
}

/// The known versions from the latest of some on.
fn versions(model: &Model, since: [Option<Version>; 2]) -> Vec<Version> {
    let since = since.into_iter().flatten().max();
    let all = model.releases().iter().map(|release| release.version);
    all.filter(|version| since.is_none_or(|since| *version >= since)).collect()
}

/// An example as a document: a step in a sequence, an artifact in its namespace.
fn whole(kind: synapse_lang::model::Kind, xml: &str) -> String {
    use synapse_lang::model::{Kind, SYNAPSE_NAMESPACE};
    match kind {
        Kind::Mediator => {
            format!("<sequence xmlns=\"{SYNAPSE_NAMESPACE}\" name=\"example\">\n{xml}\n</sequence>\n")
        }
        Kind::Endpoint => {
            format!("<endpoint xmlns=\"{SYNAPSE_NAMESPACE}\" name=\"example\">\n{xml}\n</endpoint>\n")
        }
        Kind::Artifact | Kind::Part => xml.to_owned(),
    }
}
