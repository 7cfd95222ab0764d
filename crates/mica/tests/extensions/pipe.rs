//! Extensions over a pipe: questions, statuses, commands, and files that change while the program runs.

use super::*;
use crate::stage::pipe::Pipe;

#[tokio::test]
async fn a_client_answers_what_an_extension_asks() {
    let drop = writes("drop.sql", "DROP DATABASE orders;");
    let scenario = Scenario::new().turn(drop.clone()).turn(done()).turn(drop).turn(done());
    let stage = Stage::new(scenario).await;
    example(&stage, "guardrails");
    let mut pipe = Pipe::open(&stage, &["--yes"]);
    for (label, there) in [("No", false), ("Yes", true)] {
        pipe.begin("write").await;
        let asked = pipe.until(|line| line["ui"]["type"] == "confirm").await["ui"].clone();
        assert_eq!(asked["extension"], "guardrails");
        let question = asked["questions"][0]["question"].as_str().unwrap();
        assert!(question.contains("file_write throws data away. Run it?"), "{question}");
        assert_eq!(pipe.state("questions").await[0]["call"], asked["call"]);
        let answer = json!({ "method": "answer", "call": asked["call"], "answers": [{ "chosen": [label] }] });
        assert_eq!(pipe.ask(answer).await["result"], json!({}));
        assert_eq!(pipe.outcome().await, "completed");
        assert_eq!(stage.project().join("drop.sql").exists(), there, "{label}");
    }
    pipe.leave().await;
}

#[tokio::test]
async fn statuses_and_commands_and_extensions_are_told() {
    let stage = Stage::new(Scenario::new().turn(done())).await;
    example(&stage, "status-line");
    example(&stage, "audit-log");
    stage.does(&["ext", "allow", "audit-log"]).await;
    let mut pipe = Pipe::open(&stage, &[]);
    let told = pipe.ask(json!({ "method": "extensions" })).await["result"].clone();
    let names: Vec<&str> =
        told["extensions"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["audit-log", "status-line"]);
    let of_extensions = told["commands"].as_array().unwrap().iter();
    let of_extensions: Vec<&str> = of_extensions
        .filter(|command| names.contains(&command["extension"].as_str().unwrap()))
        .map(|command| command["name"].as_str().unwrap())
        .collect();
    assert_eq!(of_extensions, ["audit"]);
    let ran = pipe.ask(json!({ "method": "command", "name": "audit" })).await;
    assert_eq!(ran["result"]["text"], "in all sessions: nothing");
    let unknown = pipe.ask(json!({ "method": "command", "name": "nope" })).await;
    assert!(
        unknown["error"]["message"].as_str().unwrap().contains("there is no command \"nope\""),
        "{unknown}"
    );
    // What is typed is taken the same way.
    let handled = pipe.ask(json!({ "method": "prompt", "text": "/audit" })).await["result"].clone();
    assert_eq!(handled, json!({ "outcome": "handled", "text": "in all sessions: nothing" }));
    pipe.begin("go").await;
    let status = pipe.until(|line| line["ui"]["type"] == "status").await["ui"].clone();
    assert_eq!((status["extension"].clone(), status["key"].clone()), (json!("status-line"), json!("turns")));
    assert!(status["text"].as_str().unwrap().starts_with("1 turn"), "{status}");
    assert_eq!(pipe.outcome().await, "completed");
    pipe.leave().await;
}

#[tokio::test]
async fn a_file_that_changes_counts_with_the_next_prompt_and_what_was_kept_is_there_again() {
    let mut scenario = Scenario::new();
    for _ in 0..3 {
        scenario = scenario.turn(writes("b.txt", "x")).turn(done());
    }
    let stage = Stage::new(scenario).await;
    let guard = |reason: &str| {
        format!(
            "export default (api) => {{ api.on('tool_call', async () => {{ await api.appendEntry('seen', 1); \
             const seen = await api.getEntries('seen'); return {{ block: true, reason: `{reason} ${{seen.length}}` }}; }}); }};\n"
        )
    };
    let path = user(&stage, "guard.ts", &guard("first"));
    let mut pipe = Pipe::open(&stage, &["--yes"]);
    pipe.begin("write").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(results(&stage)[0].contains("first 1"), "{:?}", results(&stage));
    put(path.clone(), &guard("second one"));
    pipe.begin("write").await;
    let told = pipe.until(|line| line["ui"]["type"] == "notify").await["ui"]["text"].clone();
    assert_eq!(told, "extension guard changed, and is loaded anew");
    assert_eq!(pipe.outcome().await, "completed");
    assert!(results(&stage)[0].contains("second one 2"), "{:?}", results(&stage));
    std::fs::remove_file(path).unwrap();
    let told = pipe.ask(json!({ "method": "reload" })).await;
    assert_eq!(told["result"]["told"], json!(["extension guard is gone"]));
    pipe.begin("write").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert!(stage.project().join("b.txt").exists());
    pipe.leave().await;
}

#[tokio::test]
async fn a_tool_that_is_new_waits_for_another_session_and_what_a_tool_does_does_not() {
    let tool = |name: &str, says: &str| {
        format!(
            "export default (api) => {{ api.registerTool({{ name: '{name}', description: 'Says.', readOnly: true, \
             parameters: {{ type: 'object' }}, execute: async () => '{says}' }}); }};\n"
        )
    };
    let call = |name: &str| Turn::new().call(name, json!({}));
    let scenario = Scenario::new()
        .turn(call("first"))
        .turn(done())
        .turn(call("first"))
        .turn(done())
        .turn(call("second"))
        .turn(done());
    let stage = Stage::new(scenario).await;
    user(&stage, "a.ts", &tool("first", "one"));
    let mut pipe = Pipe::open(&stage, &[]);
    pipe.begin("go").await;
    assert_eq!(pipe.outcome().await, "completed");
    assert_eq!(results(&stage)[0], "one");
    user(&stage, "a.ts", &tool("first", "other"));
    user(&stage, "b.ts", &tool("second", "two"));
    pipe.begin("go").await;
    let told = pipe
        .until(|line| line["ui"]["text"].as_str().is_some_and(|text| text.contains("next session")))
        .await;
    let text = "tools of extensions changed: the model sees that in the next session, because what it was sent stays as it is";
    assert_eq!(told["ui"]["text"], text);
    assert_eq!(pipe.outcome().await, "completed");
    assert_eq!(results(&stage)[0], "other");
    assert_eq!(tools(&stage, 0), tools(&stage, 3));
    pipe.leave().await;
    runs(&stage, &["-p", "go"]).await;
    assert!(tools(&stage, 4).contains(&"second".to_owned()));
    assert_eq!(results(&stage)[0], "two");
}

#[tokio::test]
async fn what_is_asked_when_a_session_begins_is_answered_and_nobody_answers_when_it_is_over() {
    let asks = "export default (api) => {\n\
                api.on('session_start', async (_, ctx) => { ctx.ui.notify('begins: ' + await ctx.ui.confirm('Begin?')); });\n\
                api.on('model_change', async (_, ctx) => { ctx.ui.notify('model: ' + await ctx.ui.confirm('Model?')); });\n\
                api.on('session_shutdown', async (_, ctx) => { ctx.ui.notify('ends: ' + await ctx.ui.confirm('End?')); });\n};\n";
    let stage = Stage::new(Scenario::new().turn(done())).await;
    user(&stage, "asks.ts", asks);
    let mut pipe = Pipe::open(&stage, &[]);
    // It waits until the session has begun.
    pipe.begin("go").await;
    let asked = pipe.until(|line| line["ui"]["type"] == "confirm").await["ui"]["call"].clone();
    let yes = json!({ "method": "answer", "call": asked, "answers": [{ "chosen": ["Yes"] }] });
    pipe.send(yes).await;
    let said = pipe.until(|line| line["ui"]["type"] == "notify").await["ui"]["text"].clone();
    assert_eq!(said, "begins: true");
    assert_eq!(pipe.outcome().await, "completed");
    pipe.send(json!({ "id": "reload", "method": "reload" })).await;
    for expect in ["ends: true", "begins: true"] {
        let asked = pipe.until(|line| line["ui"]["type"] == "confirm").await["ui"]["call"].clone();
        pipe.send(json!({ "method": "answer", "call": asked, "answers": [{ "chosen": ["Yes"] }] })).await;
        let said = pipe.until(|line| line["ui"]["type"] == "notify").await["ui"]["text"].clone();
        assert_eq!(said, expect);
    }
    pipe.until(|line| line["id"] == "reload").await;
    pipe.leave().await;
}
