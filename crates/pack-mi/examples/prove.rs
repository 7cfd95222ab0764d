//! Proves the examples of reference documents: `cargo run -p pack-mi --example prove -- knowledge/*.md`.
//!
//! With `--show` the filled documents are printed as well.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people who write documents"
)]

use std::process::ExitCode;

use pack_mi::knowledge::Library;
use pack_mi::knowledge::prove::prove;

fn main() -> ExitCode {
    let (options, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|one| one.starts_with("--"));
    if files.is_empty() || options.iter().any(|one| one != "--show") {
        eprintln!("usage: prove [--show] FILE.md…");
        return ExitCode::from(2);
    }
    let mut failed = false;
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{file}: {error}");
                failed = true;
                continue;
            }
        };
        let library = Library::read([(file.as_str(), text.as_str())]);
        if !options.is_empty() {
            library.references().iter().for_each(|reference| println!("{}", reference.markdown()));
        }
        let proof = prove(file, &text);
        for failure in &proof.failures {
            println!("{failure}");
        }
        failed |= !proof.failures.is_empty();
        let tokens: u64 = library.references().iter().map(pack_mi::knowledge::Reference::tokens).sum();
        println!(
            "{file}: {} examples, {} failures, about {tokens} tokens",
            proof.tried,
            proof.failures.len()
        );
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
