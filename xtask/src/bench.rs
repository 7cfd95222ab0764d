//! `bench`: runs the benchmarks, which are programs that print ratios.

use std::path::Path;

use crate::failure::{Failure, Result};
use crate::{process, workspace};

pub(crate) const ABOUT: &str = "run the benchmarks";
pub(crate) const HELP: &str = "\
Usage: cargo xtask bench [names...] [-- arguments of the benchmarks]

Runs the benchmarks in crates/*/benches, all of them or those that are named. A benchmark prints how it
compares with a peer or a floor that it measures in the same run; absolute times of two machines do not compare.
";

/// Runs the benchmarks.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let split = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (names, rest) = arguments.split_at(split);
    let known = benches(&workspace::root().join("crates"));
    let has = if known.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    };
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(Failure::usage(format!("unknown benchmark {name:?}: {has}")));
    }
    if known.is_empty() {
        println!("No benchmarks: no crate has a benches folder.");
        return Ok(());
    }
    let mut cargo = process::cargo();
    cargo.args(["bench", "--workspace"]);
    for name in if names.is_empty() { &known } else { names } {
        cargo.args(["--bench", name]);
    }
    process::run(cargo.args(rest))
}

/// The names of all benchmarks, sorted: `crates/<crate>/benches/<name>.rs` or `<name>/main.rs`.
fn benches(crates: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(crates).into_iter().flatten().flatten();
    let mut names: Vec<String> = folders
        .filter_map(|folder| std::fs::read_dir(folder.path().join("benches")).ok())
        .flat_map(Iterator::flatten)
        .filter(|entry| {
            entry.path().extension().is_some_and(|e| e == "rs") || entry.path().join("main.rs").is_file()
        })
        .filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn benches_are_files_and_folders_of_all_crates() {
        let folder = tempfile::tempdir().expect("a folder");
        let crates = folder.path();
        for file in ["b/benches/second.rs", "a/benches/first/main.rs", "a/benches/notes.md", "c/src/lib.rs"] {
            let path = crates.join(file);
            workspace::make_folder(path.parent().expect("a parent")).expect("made");
            workspace::write(&path, "").expect("written");
        }
        assert_eq!(benches(crates), ["first", "second"]);
        assert!(benches(&crates.join("nowhere")).is_empty());
    }
}
