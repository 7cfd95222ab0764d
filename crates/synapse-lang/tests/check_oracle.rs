//! The checker against recorded answers of the runtime's own engine.
//!
//! What the engine evaluates must get no error; of what it refuses most must get a finding. The recordings are no part
//! of the project: their folder is named by the environment variable `MICA_ORACLES`; without it this says so and
//! passes.

#![allow(clippy::print_stdout, reason = "a table of results is what this test is for")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a recording that cannot be read fails the test")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use synapse_lang::diagnostic::Severity;
use synapse_lang::expr::Context;
use synapse_lang::expr::check::{Env, check};

#[allow(clippy::disallowed_methods, reason = "this test is told by its environment where the recordings are")]
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("MICA_ORACLES").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: MICA_ORACLES does not name a folder of recordings");
    }
    folder
}

fn lines(folder: &std::path::Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).expect(name);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// How many of the failing cases were found, by how they fail.
#[derive(Default)]
struct Tally {
    table: BTreeMap<String, (usize, usize)>,
    missed: Vec<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, status: &str, text: &str, env: &Env, reason: &Value) {
        let found = check(text, env);
        if matches!(status, "ok" | "null") {
            for one in found.iter().filter(|one| one.severity == Severity::Error) {
                self.wrong.push(format!("{text}: SYN{:04} {}", one.code, one.message));
            }
            return;
        }
        let row = self.table.entry(status.to_owned()).or_default();
        row.1 += 1;
        if found.iter().any(|one| one.severity >= Severity::Warning) {
            row.0 += 1;
        } else {
            self.missed.push(format!("{status}: {text}   {reason}"));
        }
    }

    /// Prints the table; nothing evaluated may be an error, and this share of each kind of failure must be found.
    #[track_caller]
    fn judge(self, share: usize) {
        for line in self.missed.iter().take(60) {
            println!("missed {line}");
        }
        for (status, (found, all)) in &self.table {
            println!("{status}: {found} of {all} found");
        }
        assert!(self.wrong.is_empty(), "{} are no errors:\n{}", self.wrong.len(), self.wrong.join("\n"));
        for (status, (found, all)) in &self.table {
            assert!(found * 100 >= all * share, "{status}: only {found} of {all} found");
        }
    }
}

#[test]
fn what_the_engine_evaluates_is_no_error() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read_to_string(folder.join("expr_engine_context.json")).expect("the context");
    let context: Context = serde_json::from_str(&text).expect("a context");
    let (known, unknown) = (Env::of_sample(&context), Env::default());
    let mut tally = Tally::default();
    for case in lines(&folder, "expr_engine_cases.jsonl") {
        let status = case["status"].as_str().unwrap_or_default();
        let text = case["expr"].as_str().unwrap_or_default();
        tally.add(status, text, &known, &case["message"]);
        // Without any knowledge there is less to find, and still nothing to find wrongly.
        if matches!(status, "ok" | "null") {
            tally.add(status, text, &unknown, &case["message"]);
        }
    }
    tally.judge(95);
}

#[test]
fn what_the_runtimes_own_tests_evaluate_is_no_error() {
    let Some(folder) = folder() else { return };
    let mut tally = Tally::default();
    for case in lines(&folder, "expr_cases.jsonl") {
        let text = case["expr"].as_str().unwrap_or_default();
        let kind = case["expected_kind"].as_str().unwrap_or_default();
        let status = match kind {
            "value" | "parse_ok" | "nondeterministic" => "ok",
            "syntax_error" => "syntax_error",
            _ => continue,
        };
        let context = json!({
            "payload": case["payload"].as_str().map(str::to_owned),
            "vars": if case["vars"].is_object() { case["vars"].clone() } else { json!({}) },
        });
        let known = serde_json::from_value::<Context>(context).map(|one| {
            let mut env = Env::of_sample(&one);
            // The tests carry properties and other things along from one to the next.
            env.all_texts = false;
            env.all_variables = false;
            env.in_template = synapse_lang::expr::check::InTemplate::Unknown;
            env
        });
        tally.add(status, text, &known.unwrap_or_default(), &case["engine_message"]);
        tally.add(status, text, &Env::default(), &case["engine_message"]);
    }
    tally.judge(95);
}
