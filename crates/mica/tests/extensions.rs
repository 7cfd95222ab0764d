//! Extensions, as people meet them: the real binary, a scripted model, files in a folder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

mod stage;

#[path = "extensions/commands.rs"]
mod commands;
#[path = "extensions/examples.rs"]
mod examples;
#[path = "extensions/guarding.rs"]
mod guarding;
#[path = "extensions/pipe.rs"]
mod over_a_pipe;
#[path = "extensions/reach.rs"]
mod reach;
#[path = "extensions/trust.rs"]
mod trust;

use std::path::PathBuf;

use mica_testkit::{Scenario, Turn};
use serde_json::{Value, json};
use stage::{Ran, Stage};

/// An extension in the user's folder.
fn user(stage: &Stage, name: &str, source: &str) -> PathBuf {
    let folder = stage.folder.path().join("home/config/extensions");
    put(folder.join(name), source)
}

/// An extension in the project's folder.
fn project(stage: &Stage, name: &str, source: &str) -> PathBuf {
    put(stage.project().join(".mica/extensions").join(name), source)
}

fn put(path: PathBuf, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// One of the examples, in the user's folder.
fn example(stage: &Stage, name: &str) {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/extensions");
    let source = std::fs::read_to_string(examples.join(format!("{name}.ts"))).unwrap();
    user(stage, &format!("{name}.ts"), &source);
}

/// What the model was told a call came to, the last first.
fn results(stage: &Stage) -> Vec<String> {
    let captured = stage.server.captured();
    let messages = captured.last().unwrap().json["messages"].as_array().unwrap().clone();
    let tool = messages.iter().rev().filter(|message| message["role"] == "tool");
    tool.map(|message| text(&message["content"])).collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(|part| part["text"].as_str().unwrap_or_default()).collect(),
        other => other.to_string(),
    }
}

/// The names of the tools that a request had.
fn tools(stage: &Stage, request: usize) -> Vec<String> {
    let captured = stage.server.captured();
    let tools = captured[request].json["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn writes(path: &str, content: &str) -> Turn {
    Turn::new().call("file_write", json!({ "path": path, "content": content }))
}

fn done() -> Turn {
    Turn::new().text("Done.")
}

/// A run that ended as it should.
async fn runs(stage: &Stage, arguments: &[&str]) -> Ran {
    let ran = stage.ask(arguments).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    ran
}

#[tokio::test]
async fn a_guard_that_never_ends_refuses_its_call_and_the_run_goes_on() {
    let scenario = Scenario::new().turn(writes("b.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    user(&stage, "loops.ts", "export default (api) => { api.on('tool_call', () => { for (;;); }); };\n");
    let ran = runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(!stage.project().join("b.txt").exists());
    let told = results(&stage);
    assert!(told[0].contains("loops") && told[0].contains("it computed for longer than"), "{told:?}");
    assert!(ran.err.contains("loops: it was stopped"), "{}", ran.err);
}

#[tokio::test]
async fn what_an_extension_was_not_allowed_fails_and_a_guard_that_fails_means_no() {
    let scenario = Scenario::new().turn(writes("b.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "git-checkpoint");
    let ran = runs(&stage, &["-p", "write", "--yes"]).await;
    let asks = "extension git-checkpoint asks for exec:git, which you have not allowed: `mica ext allow git-checkpoint`";
    assert!(ran.err.contains(asks), "{}", ran.err);
    let told = results(&stage);
    assert!(told[0].contains("which the user has not granted"), "{told:?}");
    assert!(!stage.project().join("b.txt").exists());
}

#[tokio::test]
async fn one_that_does_not_load_is_told_with_its_place_and_the_others_work() {
    let scenario =
        Scenario::new().turn(Turn::new().call("count_words", json!({ "text": "a b" }))).turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "custom-tool");
    user(&stage, "broken.ts", "export default (api) => {\n  api.on('tool_call', (;\n};\n");
    user(&stage, "empty.ts", "export const a = 1;\n");
    let ran = runs(&stage, &["-p", "count"]).await;
    assert!(
        ran.err.contains("extension broken is not used: ") && ran.err.contains("line 2, column"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("extension empty is not used: ")
            && ran.err.contains("export a function as its default"),
        "{}",
        ran.err
    );
    assert_eq!(results(&stage)[0], "2 words, 3 characters, 1 lines");
}

#[tokio::test]
async fn an_extension_that_is_named_is_used_for_that_run() {
    let scenario =
        Scenario::new().turn(writes("b.txt", "x")).turn(done()).turn(writes("b.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    let block =
        "export default (api) => { api.on('tool_call', () => ({ block: true, reason: 'not today' })); };\n";
    put(stage.project().join("tools/no.ts"), block);
    let ran = runs(&stage, &["-p", "write", "--yes", "--extension", "tools/no.ts"]).await;
    assert!(results(&stage)[0].contains("not today"), "{}{:?}", ran.err, results(&stage));
    assert!(!stage.project().join("b.txt").exists());
    runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(stage.project().join("b.txt").exists(), "without it, nothing stands in the way");
}

#[tokio::test]
async fn guards_hold_for_subagents_too() {
    let sends = json!({ "description": "writes", "prompt": "Write b.txt.", "profile": "general" });
    let scenario = Scenario::new()
        .turn(Turn::new().call("create_subagent", sends))
        .turn(writes("b.txt", "x"))
        .turn(Turn::new().text("It was refused."))
        .turn(done());
    let stage = Stage::new(scenario).await;
    let block = "export default (api) => { api.on('tool_call', (event) => event.toolName === 'file_write' ? \
                 { block: true, reason: 'no writing here' } : undefined); };\n";
    user(&stage, "no.ts", block);
    let ran = runs(&stage, &["-p", "send one", "--yes"]).await;
    assert!(!stage.project().join("b.txt").exists());
    let captured = stage.server.captured();
    let inner = captured[2].json["messages"].to_string();
    assert!(inner.contains("no writing here"), "{inner} {}", ran.err);
}

#[tokio::test]
async fn tools_can_be_turned_off_with_a_reason_and_the_list_stays() {
    let scenario = Scenario::new().turn(writes("b.txt", "x")).turn(done());
    let stage = Stage::new(scenario).await;
    let narrow = "// @mica-extension {\"permissions\": [\"agent\"]}\n\
                  export default (api) => { api.on('agent_start', () => api.setActiveTools(['file_read'])); };\n";
    user(&stage, "narrow.ts", narrow);
    stage.does(&["ext", "allow", "narrow"]).await;
    runs(&stage, &["-p", "write", "--yes"]).await;
    assert!(!stage.project().join("b.txt").exists());
    let told = results(&stage);
    assert!(told[0].contains("file_write is turned off for now by the extension narrow"), "{told:?}");
    assert_eq!(tools(&stage, 0), tools(&stage, 1));
    assert!(tools(&stage, 0).contains(&"file_write".to_owned()));
}

#[tokio::test]
async fn what_is_added_to_a_prompt_rides_at_its_end() {
    let stage = Stage::new(Scenario::new().turn(done()).turn(done())).await;
    let adds = "export default (api) => { api.on('before_agent_start', (event) => \
                ({ message: { content: 'It is winter. ' + event.prompt.length } })); };\n";
    user(&stage, "season.ts", adds);
    runs(&stage, &["-p", "what now?"]).await;
    let first = stage.server.captured()[0].json["messages"].clone();
    let said = text(&first.as_array().unwrap().last().unwrap()["content"]);
    assert!(
        said.starts_with("what now?")
            && said.contains("<section id=\"extension-season\">\nIt is winter. 9\n"),
        "{said}"
    );
    let system = first[0].to_string();
    assert!(!system.contains("winter"), "{system}");
    // The same again is not said again: it is still there.
    runs(&stage, &["-p", "what then?", "--continue"]).await;
    let again = stage.server.captured()[1].json["messages"].clone();
    let texts: Vec<String> =
        again.as_array().unwrap().iter().map(|message| text(&message["content"])).collect();
    assert_eq!(texts.iter().filter(|text| text.contains("It is winter. 9")).count(), 1, "{texts:?}");
    assert!(texts.last().unwrap().contains("It is winter. 10"), "{texts:?}");
}

#[tokio::test]
async fn an_extension_can_begin_a_run_and_there_is_an_end_to_it() {
    let mut scenario = Scenario::new();
    for _ in 0..12 {
        scenario = scenario.turn(done());
    }
    let stage = Stage::new(scenario).await;
    let again = "// @mica-extension {\"permissions\": [\"messages\"]}\n\
                 export default (api) => { api.on('agent_end', () => { api.sendUserMessage('again'); }); };\n";
    user(&stage, "again.ts", again);
    stage.does(&["ext", "allow", "again"]).await;
    runs(&stage, &["-p", "once"]).await;
    assert_eq!(stage.server.captured().len(), 6, "one that was asked for, and five that were not");
}
