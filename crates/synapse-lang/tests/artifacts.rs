//! Real artifacts that deploy: none of them may get an error.
//!
//! They are not part of this repository. `MICA_ORACLES` names the folder that holds them as `xml/<kind>/*.xml`.

#![allow(clippy::expect_used, reason = "a folder that cannot be read stops the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use synapse_lang::check::{self, Setting};
use synapse_lang::diagnostic::{Code, Severity};
use synapse_lang::syntax::Document;

#[allow(clippy::disallowed_methods, reason = "this test is told by its environment where the artifacts are")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("MICA_ORACLES").map(PathBuf::from)?.join("xml");
    folder.is_dir().then_some(folder)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end != "tsv") {
            found.push(path);
        }
    }
}

#[test]
fn artifacts_that_deploy_get_no_error() {
    let Some(folder) = folder() else {
        println!("SKIP: MICA_ORACLES does not name a folder with real artifacts");
        return;
    };
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    let mut errors = Vec::new();
    let mut counts: BTreeMap<(Severity, Code), usize> = BTreeMap::new();
    for path in &paths {
        let bytes = std::fs::read(path).expect("a file");
        let document = Document::parse(String::from_utf8_lossy(&bytes).into_owned());
        let fragment = path.to_string_lossy().contains("(no-namespace)");
        for one in check::check(&document, Setting::default()) {
            *counts.entry((one.severity, one.code)).or_default() += 1;
            // Fragments of documentation have no namespace, and that is rightly an error.
            if one.severity == Severity::Error && !(fragment && one.code == Code(2)) {
                let at = document.lines().position(
                    document.source(),
                    one.span.start,
                    synapse_lang::text::Unit::Utf16,
                );
                errors.push(format!("{}:{}: {} {}", path.display(), at.line + 1, one.code, one.message));
            }
        }
    }
    for ((severity, code), count) in counts.iter().rev() {
        println!("{severity:?} {code} {count}");
    }
    assert!(errors.is_empty(), "{} errors in {} files\n{}", errors.len(), paths.len(), errors.join("\n"));
}
