//! `test`: sets up the real parts that the tests use, says which are missing, and runs the tests.
//!
//! A test that needs a part finds it through an environment variable, and says that it is skipped when the variable
//! is not set. Invariant: a part that is not ready has no variable, and a printed line says why.

mod maven;
mod mcp;
mod parts;
mod peers;
mod venv;

use std::process::Command;

use parts::{Part, Parts};

use crate::failure::{Failure, Result};
use crate::{process, workspace};

pub(crate) const ABOUT: &str = "set up what the tests need, and run them";
pub(crate) const HELP: &str = "\
Usage: cargo xtask test [--peers] [-- arguments of cargo nextest run]

Runs the documentation tests and then all other tests. Before that it sets up what they use, below target/:

  the official Python SDKs, which read from the scripted model (needs python3; required when CI=true)
  pytest-lsp, an independent client of the language server (needs python3)
  the official MCP client, two MCP servers, the conformance suites of MCP and the validator of skills (python3 and npm;
  required when CI=true and the tool is there)
  Maven and plugins that work offline, for builds of Micro Integrator projects (Debian's packages; installed when run as root)
  --peers: foreign servers that mica reads from: a llama.cpp server with a small model (python3), aimock, the TypeScript compiler
  and a language server of JSON (npm)

What cannot be set up is printed as SKIP with the reason, before and behind the tests, and the tests that need it are
skipped.
With arguments after `--` only the chosen tests run, without the documentation tests:

  cargo xtask test -- sse              tests whose name contains `sse`
  cargo xtask test -- -p mica-ai       tests of one crate
";

/// Sets up and tests.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let split = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (own, chosen) = (&arguments[..split], arguments.get(split + 1..).unwrap_or_default());
    let mut with_peers = false;
    for argument in own {
        match argument.as_str() {
            "--peers" => with_peers = true,
            other => {
                return Err(Failure::usage(format!(
                    "unknown option {other:?}: there is --peers, and arguments of nextest go after `--`"
                )));
            }
        }
    }

    let runner = runner();
    let mut parts = Parts::default();
    let sdk = venv::sdk();
    if workspace::is_ci()
        && let Err(failure) = &sdk
    {
        return Err(Failure::new(format!("the Python SDKs are required when CI=true: {failure}")));
    }
    parts.add(Part::new("Python SDKs", "MICA_TEST_PYTHON"), sdk);
    parts.add(
        Part::new("client of language servers", "MICA_TEST_LSP_PYTHON"),
        venv::ensure("lsp", "requirements-lsp.txt"),
    );
    mcp::add(&mut parts)?;
    parts.add(Part::new("Maven with plugins", "MICA_TEST_MAVEN"), maven::ensure());
    peers::add(&mut parts, with_peers);
    println!("\nSet-up:\n  ready test runner: {}\n{parts}", runner.name());

    let tested = run_tests(&runner, &parts, chosen);
    // Tests that lack a part pass; so the last word is which they were.
    let skipped = parts.skipped();
    if !skipped.is_empty() {
        println!("\nTests that need these did not run, and count as passed:\n{skipped}");
    }
    tested
}

/// What runs the tests.
enum Runner {
    Nextest,
    /// Cargo's own, with the reason why.
    Cargo(String),
}

impl Runner {
    fn name(&self) -> String {
        match self {
            Runner::Nextest => "cargo nextest".to_owned(),
            Runner::Cargo(reason) => format!("cargo test, because cargo-nextest is not to be had: {reason}"),
        }
    }
}

/// Nextest, installed first when it is not there.
fn runner() -> Runner {
    let present = || process::output(process::cargo().args(["nextest", "--version"])).is_ok();
    if present() {
        return Runner::Nextest;
    }
    println!("cargo-nextest is not installed. Installing it, which takes some minutes.");
    match process::run(process::cargo().args(["install", "cargo-nextest", "--locked"])) {
        Ok(()) if present() => Runner::Nextest,
        Ok(()) => Runner::Cargo("it was installed to a folder that is not in PATH".to_owned()),
        Err(failure) => Runner::Cargo(failure.to_string()),
    }
}

fn run_tests(runner: &Runner, parts: &Parts, chosen: &[String]) -> Result<()> {
    let cargo = || {
        let mut cargo = process::cargo();
        parts.tell(&mut cargo);
        cargo
    };
    match runner {
        Runner::Nextest if chosen.is_empty() => {
            // First, so that nextest's summary is the last thing to be read. Both are run whatever the other says.
            let documentation = process::run(cargo().args(["test", "--workspace", "--doc"]));
            process::run(&mut nextest(cargo(), &[])).and(documentation)
        }
        Runner::Nextest => {
            println!("Documentation tests are not run, because tests were chosen.");
            process::run(&mut nextest(cargo(), chosen))
        }
        Runner::Cargo(_) => {
            // Cargo runs the documentation tests itself, and takes a part of a name as its only choice.
            process::run(cargo().args(["test", "--workspace", "--no-fail-fast", "--"]).args(chosen))
        }
    }
}

fn nextest(mut cargo: Command, chosen: &[String]) -> Command {
    cargo.args(["nextest", "run"]);
    if chosen.is_empty() {
        // Of a whole run every skipped test is news; of a chosen few it is what was asked for.
        cargo.arg("--final-status-level=skip");
    }
    // A choice of packages excludes the choice of all of them.
    let chooses_package = chosen
        .iter()
        .any(|argument| argument == "-p" || argument == "--package" || argument.starts_with("--package="));
    if !chooses_package {
        cargo.arg("--workspace");
    }
    cargo.args(chosen);
    cargo
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_of(chosen: &[&str]) -> Vec<String> {
        let chosen: Vec<String> = chosen.iter().map(|&argument| argument.to_owned()).collect();
        let command = nextest(process::cargo(), &chosen);
        command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_whole_workspace_is_tested_unless_a_package_is_chosen() {
        assert_eq!(arguments_of(&[]), ["nextest", "run", "--final-status-level=skip", "--workspace"]);
        assert_eq!(arguments_of(&["sse"]), ["nextest", "run", "--workspace", "sse"]);
        assert_eq!(arguments_of(&["-p", "mica-ai"]), ["nextest", "run", "-p", "mica-ai"]);
    }
}
