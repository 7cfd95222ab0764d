//! A product added without touching another crate: a tool on a page, a section, an argument that is filled in, and a check
//! after writes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use mica_agent::{Agent, Context, Hooks, Outcome, Tool, ToolOutput, ToolSpec, TypedTool};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model};
use mica_domain::{
    Capability, Domain, DomainHooks, Input, Page, Prompt, Section, State, Surroundings, Tier, ToolNames,
};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use mica_tools::FileUse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Reply {
    /// Which ticket.
    ticket: Option<String>,
    /// What to say.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Export {
    /// Which file.
    path: String,
}

/// A help desk.
struct Desk;

#[async_trait]
impl Domain for Desk {
    fn name(&self) -> &str {
        "desk"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let reply: Arc<dyn Tool> =
            Arc::new(TypedTool::new("ticket_reply", "Replies.", |args: Reply, _| async move {
                Ok(ToolOutput::text(format!("{}: {}", args.ticket.unwrap_or_default(), args.text)))
            }));
        let export: Arc<dyn Tool> =
            Arc::new(TypedTool::new("export", "Exports.", |args: Export, _| async move {
                let mut details = Value::Null;
                FileUse::changed(PathBuf::from(args.path)).tell(&mut details);
                Ok(ToolOutput::text("exported").with_details(details))
            }));
        vec![
            Capability::new(Page::Global, "exports", vec![export]),
            Capability::new(Page::named("ticket"), "replies to tickets", vec![reply])
                .with_prompt(|tools| {
                    tools.when("ticket_reply", "Reply with ticket_reply.").map(str::to_owned)
                })
                .filling("ticket_reply", "ticket"),
        ]
    }

    fn sections(&self, _: &ToolNames, state: &State) -> Vec<Section> {
        vec![
            Section::new("now", Tier::Turn, format!("The ticket is {}.", state.kept["ticket"])),
            Section::new("identity", Tier::Static, "You help at a desk."),
            Section::new("team", Tier::Org, "The team is Blue."),
        ]
    }

    fn apply_context(&self, state: &mut State, surroundings: &Surroundings) {
        if surroundings.page.is_some() {
            state.page.clone_from(&surroundings.page);
        }
        if let Some(ticket) = surroundings.facts.get("ticket") {
            state.kept.insert("ticket".to_owned(), ticket.clone());
        }
    }

    fn prefill(&self, input: &Input, state: &State) -> Option<Value> {
        state.kept.get(&input.argument).cloned()
    }

    fn on_result(&self, call: &ToolCall, _: &ToolSpec, _: &ToolOutput, state: &mut State) {
        state.run.insert(call.name.clone(), json!(true));
    }

    async fn after_write(&self, files: &[PathBuf], _: &State) -> Option<String> {
        Some(format!("checked {}", files[0].display()))
    }

    async fn on_run_end(&self, outcome: &Outcome, state: &mut State) {
        state.kept.insert("ended".to_owned(), json!(matches!(outcome, Outcome::Completed)));
    }

    fn finish_text(&self, text: String, state: &State) -> String {
        format!("{text} ({})", state.run.keys().cloned().collect::<Vec<_>>().join(", "))
    }
}

fn at(page: &str) -> Surroundings {
    let facts = json!({ "ticket": "T-1" }).as_object().unwrap().clone();
    Surroundings { page: Some(page.to_owned()), facts }
}

/// What the tools of a conversation came to.
async fn results(agent: &Agent) -> Vec<String> {
    let messages = agent.with(|cx| cx.messages.clone()).await.unwrap();
    let results = messages.iter().filter_map(|message| match message {
        Message::ToolResult(result) => Some(&result.content),
        _ => None,
    });
    results
        .map(|content| {
            let texts: Vec<&str> = content
                .iter()
                .map(|content| match content {
                    Content::Text { text } => text.as_str(),
                    Content::Image(_) => "image",
                })
                .collect();
            texts.join("|")
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_on_a_page() {
    let domain: Arc<dyn Domain> = Arc::new(Desk);
    let hooks = Arc::new(DomainHooks::new(Arc::clone(&domain), &at("ticket")));
    let resolved = hooks.resolve(&|_| true).unwrap();
    let prompt = Prompt::of(&*domain, &resolved, &hooks.snapshot()).unwrap();
    assert_eq!(prompt.system(), ["You help at a desk.\n\nReply with ticket_reply.", "The team is Blue."]);
    assert_eq!(prompt.turn().as_deref(), Some("The ticket is \"T-1\"."));

    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .call("ticket_reply", json!({ "text": "Hello." }))
                .call("ticket_reply", json!({ "text": "Hello.", "ticket": "T-2" }))
                .call("export", json!({ "path": "/out.csv" })),
        )
        .turn(Turn::new().text("Done."))
        .turn(Turn::new().call("ticket_reply", json!({ "text": "Again." })))
        .turn(Turn::new().text("Done."));
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.system = prompt.system();
    context.tools = resolved.tools;
    let agent = Agent::new(context, vec![Arc::clone(&hooks) as Arc<dyn Hooks>]);

    let outcome = agent.prompt("Reply and export.").await.unwrap();
    assert_eq!(results(&agent).await, ["T-1: Hello.", "T-2: Hello.", "exported|checked /out.csv"]);
    hooks.run_ended(&outcome).await;
    assert_eq!(hooks.snapshot().kept["ended"], json!(true));
    assert_eq!(hooks.finish_text("Done.".to_owned()), "Done. (ticket_reply, export)");

    // The tool list is frozen in the session; on another page the call is refused with a reason.
    hooks.message(&at("list"));
    agent.prompt("Reply again.").await.unwrap();
    assert_eq!(
        results(&agent).await[3],
        "ticket_reply belongs to the page ticket and cannot be called where the user is now. Nothing was done. Say what \
         you would do there, or use the tools of this page."
    );
    assert!(hooks.snapshot().run.is_empty(), "a new run forgets what the last one came to");
}

#[test]
fn an_answer_without_a_page_stays_on_the_page() {
    struct Plain;
    impl Domain for Plain {
        fn name(&self) -> &str {
            "plain"
        }
    }
    let hooks = DomainHooks::new(Arc::new(Plain), &at("ticket"));
    hooks.message(&Surroundings::default());
    assert_eq!(hooks.snapshot().page.as_deref(), Some("ticket"));
}
