//! `tidy`: the rules of the house that no compiler checks.
//!
//! A check is a pure function from a file's path and text to findings, in a file of its own with its tests.
//! This file only walks and prints.

mod hosts;
mod layers;
mod length;
mod opening;
mod paths;
mod rust_code;
mod whitespace;
mod words;

use std::fmt;

use crate::failure::{Failure, Result};
use crate::{process, workspace};

pub(crate) const ABOUT: &str =
    "check the rules that no compiler checks: layers, file headers, stray paths and words";
pub(crate) const HELP: &str = "\
Usage: cargo xtask tidy

Reads every file that git tracks or would track, and lists each finding as `path:line: what, and what to do`.

  layers       a dependency between crates that xtask/layers.toml does not have
  opening      a Rust file without `//!` in its first five lines
  paths        an absolute path of somebody's machine
  words        a macro in Rust code that marks unfinished work or debugging
  hosts        the address of a package registry; packages are named, and the tools know where to look
  whitespace   whitespace at the end of a line
  length       a Rust file of more than 700 lines (a warning: it does not fail)
";

/// A check of one file.
type Check = fn(&str, &str) -> Vec<Finding>;

const CHECKS: &[Check] =
    &[opening::check, paths::check, words::check, hosts::check, whitespace::check, length::check];

/// Something that is not as it should be.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    text: String,
    weight: Weight,
}

/// Whether a finding fails the command.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weight {
    Error,
    Warning,
}

impl Finding {
    /// A finding on a line, counted from 1. The text says what it is and what to do.
    pub(crate) fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, text: text.into(), weight: Weight::Error }
    }

    /// The same, as a warning.
    pub(crate) fn warning(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { weight: Weight::Warning, ..Self::new(path, line, text) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = if self.weight == Weight::Warning { "warning: " } else { "" };
        write!(f, "{}:{}: {weight}{}", self.path, self.line, self.text)
    }
}

/// Checks the working copy.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    if let Some(argument) = arguments.first() {
        return Err(Failure::usage(format!("tidy takes no arguments, and has {argument:?}")));
    }
    let files = files()?;
    let layers = layers::Layers::parse(&workspace::read(&workspace::root().join(layers::TABLE))?)
        .map_err(|reason| Failure::new(format!("{}: {reason}", layers::TABLE)))?;
    let mut findings = Vec::new();
    for (path, text) in &files {
        findings.extend(CHECKS.iter().flat_map(|check| check(path, text)));
        findings.extend(layers.check(path, text));
    }
    findings.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
    let errors = findings.iter().filter(|finding| finding.weight == Weight::Error).count();
    findings.iter().for_each(|finding| println!("{finding}"));
    let warnings = findings.len() - errors;
    if errors > 0 {
        return Err(Failure::new(format!("tidy: {errors} to correct, {warnings} to consider")));
    }
    println!("tidy: {} files are in order, {warnings} to consider", files.len());
    Ok(())
}

/// The text files that git tracks or would track, by their paths from the root.
fn files() -> Result<Vec<(String, String)>> {
    let list = process::output(process::program("git").args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]))?;
    let root = workspace::root();
    let mut paths: Vec<&str> = list.split('\0').filter(|path| !path.is_empty()).collect();
    paths.sort_unstable();
    paths.dedup();
    // A file that was removed is listed until that is committed, and one that is no text has no lines to judge.
    let text = |path: &str| {
        let bytes = std::fs::read(root.join(path)).ok()?;
        String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
    };
    Ok(paths.into_iter().filter_map(|path| Some((path.to_owned(), text(path)?))).collect())
}

/// Whether a path has a folder of this name in it.
fn is_below(path: &str, folder: &str) -> bool {
    path.split('/').rev().skip(1).any(|part| part == folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_print_as_place_and_text() {
        assert_eq!(Finding::new("a.rs", 3, "bad: mend it").to_string(), "a.rs:3: bad: mend it");
        assert_eq!(
            Finding::warning("a.rs", 1, "long: split it").to_string(),
            "a.rs:1: warning: long: split it"
        );
    }

    #[test]
    fn folders_are_whole_names() {
        assert!(is_below("fuzz/seeds/sse/one", "seeds"));
        assert!(!is_below("fuzz/seeds", "seeds"));
        assert!(!is_below("fuzz/seedsman/one", "seeds"));
    }
}
