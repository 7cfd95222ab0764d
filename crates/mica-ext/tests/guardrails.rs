//! Guards in a run: they block, ask, allow, and write what happened to their log.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

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

/// The example that people copy, with its types imported from another name: as an extension that was written for agents
/// of this kind has it.
fn example() -> String {
    let example = include_str!("../../../examples/extensions/guardrails.ts");
    let swapped = example.replace(" from \"mica\"", " from \"@somebody/agent-sdk\"");
    assert_ne!(swapped, example, "it imports its types by name");
    swapped
}

#[tokio::test(flavor = "multi_thread")]
async fn an_example_for_another_agent_runs_as_it_stands() {
    guards(&example(), |line| line.ends_with(" worked")).await;
}

/// An extension that somebody else wrote for agents of this kind, with nothing changed: `MICA_EXTENSION_SAMPLE` names its
/// file, or a document whose last block of TypeScript with a default export it is. It asks before `rm -rf /`, and logs `OK`.
#[tokio::test(flavor = "multi_thread")]
#[allow(clippy::disallowed_methods, reason = "where a sample is, is known outside")]
async fn an_extension_of_somebody_else_runs_as_it_stands() {
    let Some(path) = std::env::var_os("MICA_EXTENSION_SAMPLE") else {
        println!("skipped: MICA_EXTENSION_SAMPLE is not set");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```typescript\n").skip(1).filter_map(|rest| rest.split("```").next());
    let code = blocks.filter(|code| code.contains("export default")).last().unwrap_or(&text);
    guards(code, |line| line.ends_with(": OK")).await;
}

/// That a person is asked before the root is wiped, that their word counts, and that what ran is logged so.
async fn guards(code: &str, worked: impl Fn(&str) -> bool) {
    for (stage, runs) in [
        (Stage::with_person([json!(true)]), true),
        (Stage::with_person([json!(false)]), false),
        (Stage::new(), false),
    ] {
        let extensions = only(&stage, code).await;
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
        let ends: Vec<bool> = stage.log().iter().map(|line| worked(line)).collect();
        assert_eq!(ends, if runs { vec![true, true, false] } else { vec![true, false] }, "{:?}", stage.log());
    }
}
