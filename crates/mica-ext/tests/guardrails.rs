//! Guards that others wrote, in a run: they block, ask, allow, and write what happened to their log.
//!
//! `MICA_GUARDRAILS` may name a document with an example that somebody else wrote for agents like this one, in a block of
//! TypeScript; it runs as it stands but for the name it imports its types from. Without it that test says so.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a test says why it is skipped")]

mod support;

use serde_json::{Value, json};
use support::{Stage, only, run};

const GUARD: &str = include_str!("extensions/guard.ts");
const BLOCKED: &str = "Not run: the extension x says no: nobody confirmed it";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_asked_and_their_word_counts() {
    let stage = Stage::with_person([json!(true), json!(false)]);
    let extensions = only(&stage, GUARD).await;
    let wipe = json!({ "command": "rm -rf /" });
    let calls = [
        ("echo", json!({ "command": "ls" })),
        ("echo", wipe.clone()),
        ("echo", wipe),
        ("echo", json!({ "fail": "drop the rest" })),
    ];
    let ran = run(&extensions, &calls).await;
    assert_eq!(
        ran.results,
        ["{\"command\":\"ls\"}", "{\"command\":\"rm -rf /\"}", BLOCKED, "{\"fail\":\"drop the rest\"}"]
    );
    let question = r#"x confirm "This cannot be undone" "{\"command\":\"rm -rf /\"}""#;
    assert_eq!(stage.asked(), [question, question]);
    assert_eq!(
        stage.log(),
        ["x Info echo worked", "x Info echo worked", "x Info echo failed"],
        "what did not run is not in the log"
    );
    assert_eq!(ran.notices, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_person_the_answer_is_no() {
    let stage = Stage::new();
    let extensions = only(&stage, GUARD).await;
    let calls = [("echo", json!({ "sql": "drop  database x" })), ("echo", json!({ "sql": "select 1" }))];
    let ran = run(&extensions, &calls).await;
    assert_eq!(ran.results, [BLOCKED, "{\"sql\":\"select 1\"}"]);
    assert_eq!(stage.asked(), Vec::<String>::new());
}

/// The example in a document: the last block of TypeScript that exports something by default.
fn example(document: &str) -> Option<String> {
    let blocks = document.split("```typescript\n").skip(1).filter_map(|block| block.split("```").next());
    let code = blocks.filter(|block| block.contains("export default")).last()?;
    let from = code.find(" from \"")? + " from \"".len();
    let to = from + code.get(from..)?.find('"')?;
    Some(format!("{}mica{}", code.get(..from)?, code.get(to..)?))
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_example_runs_as_it_stands() {
    let Ok(path) = std::env::var("MICA_GUARDRAILS") else {
        println!("skipped: MICA_GUARDRAILS names no document with an example");
        return;
    };
    let code = example(&std::fs::read_to_string(path).unwrap()).expect("an example in the document");
    for (stage, runs) in [
        (Stage::with_person([json!(true)]), true),
        (Stage::with_person([json!(false)]), false),
        (Stage::new(), false),
    ] {
        let extensions = only(&stage, &code).await;
        let calls: [(&str, Value); 3] = [
            ("echo", json!({ "command": "rm -rf /" })),
            ("echo", json!({ "command": "ls" })),
            ("echo", json!({ "fail": true })),
        ];
        let ran = run(&extensions, &calls).await;
        let wiped = ran.results[0] == "{\"command\":\"rm -rf /\"}";
        assert_eq!(wiped, runs, "{:?}", ran.results);
        assert!(
            wiped || ran.results[0].starts_with("Not run: the extension x says no: "),
            "{:?}",
            ran.results
        );
        assert_eq!(ran.results[1..], ["{\"command\":\"ls\"}", "{\"fail\":true}"]);
        let there = usize::from(stage.answers.lock().unwrap().is_some());
        assert_eq!(stage.asked().len(), there, "asked once where somebody is there");
        let ends: Vec<bool> = stage.log().iter().map(|line| line.ends_with(": OK")).collect();
        assert_eq!(ends, if runs { vec![true, true, false] } else { vec![true, false] }, "{:?}", stage.log());
    }
}
