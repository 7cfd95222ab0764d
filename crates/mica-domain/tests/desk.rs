//! A product added without touching another crate: a tool on a page, a section, an argument that is filled in, and a check
//! after writes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::hooks::Record;
use mica_agent::{Agent, Context, Hooks, Outcome, Tool, ToolOutput, ToolSpec, TypedTool};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model};
use mica_domain::{
    Capability, Domain, DomainHooks, Input, Memory, Org, OrgView, Page, Remark, Section, State, Static,
    Surroundings, Turn as TurnTier, TurnView, Unreadable,
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

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You help at a desk.")]
    }

    fn org(&self, _: &OrgView<'_>) -> Vec<Section<Org>> {
        vec![Section::<Org>::new("team", "The team is Blue.")]
    }

    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<TurnTier>> {
        let text = format!("The ticket is {}.", view.state.kept["ticket"]);
        vec![Section::<TurnTier>::new("now", text)]
    }

    fn restore_state(&self, mut kept: State) -> Result<State, String> {
        // The name that a ticket had in an older version.
        if let Some(issue) = kept.kept.remove("issue") {
            kept.kept.insert("ticket".to_owned(), issue);
        }
        match kept.kept.get("ticket") {
            None | Some(Value::String(_)) => Ok(kept),
            Some(other) => Err(format!("{other} is no ticket")),
        }
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

    async fn after_write(&self, files: &[PathBuf], _: &State) -> Option<Remark> {
        let text = format!("checked {}", files[0].display());
        Some(Remark { text, checks: Some(json!([files])) })
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
    Surroundings { page: Some(page.to_owned()), facts, ..Surroundings::default() }
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
    let prompt = hooks.prompt(&resolved).unwrap();
    assert_eq!(prompt.system(), ["You help at a desk.", "Reply with ticket_reply.\n\nThe team is Blue."]);
    let told: Vec<_> = hooks.turn(&resolved.names).into_iter().map(|section| section.text.unwrap()).collect();
    assert_eq!(told, ["The ticket is \"T-1\"."]);

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
    hooks.run_ended(&outcome).await.unwrap();
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
fn a_message_is_where_it_says_it_is() {
    struct Plain;
    impl Domain for Plain {
        fn name(&self) -> &str {
            "plain"
        }
    }
    let hooks = DomainHooks::new(Arc::new(Plain), &at("ticket"));
    assert_eq!(hooks.snapshot().page.as_deref(), Some("ticket"));
    hooks.message(&Surroundings::default());
    assert_eq!(hooks.snapshot().page, None);
}

/// What was kept and recorded, in order. Fails when told to.
#[derive(Default)]
struct Shelf {
    said: Mutex<Vec<String>>,
    states: Mutex<Vec<Value>>,
    is_full: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Memory for Shelf {
    async fn keep(&self, domain: &str, state: &Value) -> Result<(), String> {
        if self.is_full.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("the disk is full".to_owned());
        }
        self.said.lock().unwrap().push(format!("state of {domain}"));
        self.states.lock().unwrap().push(state.clone());
        Ok(())
    }
}

#[async_trait]
impl Hooks for Shelf {
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        self.said.lock().unwrap().push(match record {
            Record::TurnOpen => "turn".to_owned(),
            Record::Message(message) => match message {
                Message::User(_) => "user".to_owned(),
                Message::Assistant(_) => "answer".to_owned(),
                Message::ToolResult(result) => format!("result of {}", result.tool),
            },
            Record::Asked(_) => "asked".to_owned(),
            Record::Answered(_) => "answered".to_owned(),
        });
        Ok(())
    }
}

fn desk_agent(hooks: &Arc<DomainHooks>, shelf: &Arc<Shelf>, scenario: Scenario) -> Agent {
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(ScriptedModel::new(scenario)), model);
    context.tools = hooks.resolve(&|_| true).unwrap().tools;
    Agent::new(context, vec![Arc::clone(hooks) as Arc<dyn Hooks>, Arc::clone(shelf) as Arc<dyn Hooks>])
}

#[tokio::test(start_paused = true)]
async fn what_is_remembered_is_kept_before_each_model_call_if_it_changed() {
    let shelf = Arc::new(Shelf::default());
    let hooks =
        DomainHooks::new(Arc::new(Desk), &at("ticket")).keeping(Arc::clone(&shelf) as Arc<dyn Memory>);
    let hooks = Arc::new(hooks);
    let scenario = Scenario::new()
        .turn(Turn::new().call("ticket_reply", json!({ "text": "Hello." })))
        .turn(Turn::new().call("ticket_reply", json!({ "text": "Again." })))
        .turn(Turn::new().text("Done."))
        .turn(Turn::new().text("Never asked."));
    let agent = desk_agent(&hooks, &shelf, scenario);
    let outcome = agent.prompt("Reply twice.").await.unwrap();
    hooks.run_ended(&outcome).await.unwrap();
    hooks.run_ended(&outcome).await.unwrap();
    assert_eq!(
        *shelf.said.lock().unwrap(),
        [
            "user",
            "state of desk", // the ticket
            "turn",
            "answer",
            "result of ticket_reply",
            "state of desk", // that a reply was made
            "turn",
            "answer",
            "result of ticket_reply", // nothing new
            "turn",
            "answer",
            "state of desk", // that the run ended; once
        ]
    );
    // What cannot be kept is not asked about.
    hooks.message(&at("list"));
    shelf.is_full.store(true, std::sync::atomic::Ordering::SeqCst);
    let outcome = agent.prompt("More.").await.unwrap();
    let Outcome::Failed { error } = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.to_string(), "the session could not be written: the disk is full");

    // Another process goes on with the last of it: the page, the ticket, and what the last run came to.
    let kept = shelf.states.lock().unwrap().last().unwrap().clone();
    let (again, unreadable) = DomainHooks::restored(Arc::new(Desk), &Surroundings::default(), &kept);
    assert_eq!(unreadable, None);
    assert_eq!(serde_json::to_value(again.snapshot()).unwrap(), kept);
    assert_eq!(
        kept,
        json!({ "page": "ticket", "kept": { "ticket": "T-1", "ended": true }, "run": { "ticket_reply": true } })
    );
    assert!(again.resolve(&|_| true).unwrap().names.has("ticket_reply"), "the tools of the page are there");
}

#[test]
fn what_was_kept_is_brought_up_to_date_or_begun_anew() {
    let check = |kept: Value, expect: Result<Value, &str>| {
        let (hooks, unreadable) = DomainHooks::restored(Arc::new(Desk), &at("list"), &kept);
        let problem = expect
            .as_ref()
            .err()
            .map(|problem| Unreadable { domain: "desk".to_owned(), problem: (*problem).to_owned() });
        assert_eq!(unreadable, problem, "{kept}");
        let fresh = json!({ "page": "list", "kept": { "ticket": "T-1" }, "run": {} });
        assert_eq!(serde_json::to_value(hooks.snapshot()).unwrap(), expect.unwrap_or(fresh), "{kept}");
    };
    // Where the user is now goes before where they were.
    check(
        json!({ "page": "ticket", "kept": { "issue": "I-7", "ended": true } }),
        Ok(json!({ "page": "list", "kept": { "ticket": "T-1", "ended": true }, "run": {} })),
    );
    check(json!({ "kept": { "ticket": 7 } }), Err("7 is no ticket"));
    check(json!({ "kept": [] }), Err("invalid type: sequence, expected a map"));
    check(json!("T-1"), Err("invalid type: string \"T-1\", expected struct State"));
}

#[tokio::test(start_paused = true)]
async fn another_make_of_the_domain_keeps_what_was_remembered() {
    struct Bare;
    impl Domain for Bare {
        fn name(&self) -> &str {
            "desk"
        }
    }
    let hooks = DomainHooks::new(Arc::new(Desk), &at("ticket"));
    let before = hooks.snapshot();
    hooks.rebuild(Arc::new(Bare));
    assert_eq!(hooks.snapshot(), before);
    assert!(hooks.resolve(&|_| true).unwrap().names.is_empty());
}
