//! The coding agent against the scripted model: a small project is searched, read and changed, to the byte.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Access, Agent, Ask, Context, Decision, Hooks, Outcome, ToolSpec};
use mica_ai::{Content, Dialect, Message, Model};
use mica_domain::{Confidence, Domain, DomainHooks, Facts, Instructions, Packs, Surroundings, Trust};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use mica_tools::{Sight, Workspace};
use pack_code::CodePack;
use serde_json::json;
use tempfile::TempDir;

/// Says yes to everything.
struct Yes;

#[async_trait]
impl Hooks for Yes {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

fn project() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join("AGENTS.md"), "Greetings are polite.\n").unwrap();
    fs::write(folder.path().join("src/greet.rs"), "pub fn greet() {\r\n    say(\"hey\");\r\n}\r\n").unwrap();
    fs::write(folder.path().join("src/main.rs"), "mod greet;\n\nfn main() {\n    greet::greet();\n}\n")
        .unwrap();
    folder
}

fn pack(folder: &Path) -> Arc<CodePack> {
    let workspace = Workspace::new(folder).unwrap();
    let facts = Facts {
        folder: workspace.root().to_owned(),
        system: "Linux".to_owned(),
        under_git: true,
        date: Some("2026-01-02".to_owned()),
    };
    let instructions = Instructions::read(folder, Trust::Trusted, mica_domain::instructions::LIMIT).unwrap();
    Arc::new(CodePack::new(&workspace, Sight::Blind, facts, instructions))
}

fn agent(folder: &Path, scenario: Scenario, mut others: Vec<Arc<dyn Hooks>>) -> Agent {
    let pack = pack(folder);
    let hooks = Arc::new(DomainHooks::new(pack, &Surroundings::default()));
    let resolved = hooks.resolve(&|_| true).unwrap();
    let prompt = hooks.prompt(&resolved).unwrap();
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.system = prompt.system();
    context.tools = resolved.tools;
    others.push(hooks);
    Agent::new(context, others)
}

async fn results(agent: &Agent) -> Vec<String> {
    let messages = agent.with(|cx| cx.messages.clone()).await.unwrap();
    let mut results = Vec::new();
    for message in &messages {
        if let Message::ToolResult(result) = message {
            let [Content::Text { text }] = result.content.as_slice() else { panic!("not one text") };
            results.push(text.clone());
        }
    }
    results
}

#[tokio::test]
async fn a_small_project_from_question_to_bytes() {
    let folder = project();
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .call("grep", json!({ "pattern": "hey" }))
                .call("glob", json!({ "pattern": "*.rs" }))
                .call("file_read", json!({ "path": "src/greet.rs" })),
        )
        .turn(
            Turn::new()
                .call(
                    "file_edit",
                    // Quoted with LF and a deeper indentation, as models do.
                    json!({ "path": "src/greet.rs", "old": "  pub fn greet() {\n      say(\"hey\");\n  }\n",
                            "new": "  pub fn greet() {\n      say(\"good day\");\n  }\n" }),
                )
                .call("file_write", json!({ "path": "docs/notes.md", "content": "# Notes\n" }))
                .call("file_write", json!({ "path": "src/main.rs", "content": "fn main() {}\n" }))
                .call("file_read", json!({ "path": "src/greet.rs", "line_numbers": true })),
        )
        .turn(Turn::new().text("Done."));
    let agent = agent(folder.path(), scenario, vec![Arc::new(Yes)]);
    let outcome = agent.prompt("Make it polite.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    assert_eq!(
        results(&agent).await,
        [
            "src/greet.rs\n2:    say(\"hey\");\n[1 match in 1 file]",
            "src/greet.rs\nsrc/main.rs",
            "pub fn greet() {\n    say(\"hey\");\n}\n[lines end with CRLF, shown as LF; edits keep CRLF]\n",
            "Edited src/greet.rs in 1 place (+1 -1 lines). The quotation was not exact: indentation differed, and the new \
             text was indented like the file. What changed:\n--- a/src/greet.rs\n+++ b/src/greet.rs\n@@ -1,3 +1,3 @@\n pub \
             fn greet() {\r\n-    say(\"hey\");\r\n+    say(\"good day\");\r\n }\r\n",
            "Created docs/notes.md (1 lines, 8 bytes).",
            "src/main.rs exists and was not read in this session, so it was not replaced. Read all of it first, or \
             replace only the part you know.",
            "1\tpub fn greet() {\n2\t    say(\"good day\");\n3\t}\n[lines end with CRLF, shown as LF; edits keep CRLF]\n",
        ]
    );
    let bytes = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
    assert_eq!(bytes("src/greet.rs"), "pub fn greet() {\r\n    say(\"good day\");\r\n}\r\n");
    assert_eq!(bytes("docs/notes.md"), "# Notes\n");
    assert_eq!(bytes("src/main.rs"), "mod greet;\n\nfn main() {\n    greet::greet();\n}\n");
}

#[tokio::test]
async fn nothing_is_written_before_a_person_says_so() {
    let folder = project();
    let call = json!({ "path": "src/main.rs", "old": "mod greet;", "new": "mod hello;" });
    let scenario = Scenario::new().turn(Turn::new().call("file_edit", call));
    let agent = agent(folder.path(), scenario, Vec::new());
    let outcome = agent.prompt("Rename it.").await.unwrap();
    let Outcome::Suspended { asks } = outcome else { panic!("{outcome:?}") };
    assert_eq!(asks[0].reason, "Edit file asks before it runs");
    let text = fs::read_to_string(folder.path().join("src/main.rs")).unwrap();
    assert!(text.starts_with("mod greet;"));
}

#[test]
fn the_prompt_is_short_and_true() {
    let folder = project();
    let pack = pack(folder.path());
    let hooks = DomainHooks::new(pack, &Surroundings::default());
    let only_reading = |spec: &ToolSpec| spec.access == Access::Read;
    let mut largest = 0;
    for keep in [&(|_: &ToolSpec| true) as &dyn Fn(&ToolSpec) -> bool, &only_reading, &|_| false] {
        let resolved = hooks.resolve(keep).unwrap();
        // Fails when a text names a tool that is not there.
        let prompt = hooks.prompt(&resolved).unwrap();
        let system = prompt.system().join("\n\n");
        let tools = serde_json::to_string(&resolved.tools.definitions().iter().map(|tool| {
            json!({ "name": tool.name, "description": tool.description, "schema": tool.schema })
        }).collect::<Vec<_>>()).unwrap();
        let tokens = |text: &str| mica_testkit::cache::tokens(text.len());
        println!(
            "system {} tokens, {} tools {} tokens",
            tokens(&system),
            resolved.names.iter().count(),
            tokens(&tools)
        );
        largest = largest.max(tokens(&system));
        let told: Vec<_> = hooks.turn(&resolved.names).into_iter().filter_map(|one| one.text).collect();
        assert_eq!(told, ["Today is 2026-01-02."]);
        assert!(!system.contains("2026"), "what changes is not in the system prompt");
        assert!(system.contains("Greetings are polite."));
    }
    assert!(largest < 1_500, "{largest} tokens");
}

#[test]
fn any_folder_will_do() {
    let folder = project();
    let pack = pack(folder.path());
    assert_eq!(pack.detect(folder.path()), Some(Confidence::Fallback));
    assert_eq!(pack.detect(&folder.path().join("AGENTS.md")), None);
    let picked = Packs::default().with(pack).pick(None, folder.path()).unwrap();
    assert_eq!(picked.name(), "code");
}
