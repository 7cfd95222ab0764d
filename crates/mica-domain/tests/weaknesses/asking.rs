//! What may run without a person, and with which arguments: when something breaks, less and never more.

use std::sync::Arc;

use mica_agent::tool::{Access, Approval};
use mica_agent::{Outcome, Tool, ToolOutput, TypedTool};
use mica_domain::refs::Ref;
use mica_domain::store::{Binding, Bindings, Given, StoreError};
use mica_domain::{Act, Capability, Copilot, CopilotError, Domain, Page, Said, Setup, Surroundings};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::{Value, json};

use crate::support::{Desk, Letter, Log, lines, says};

/// A product whose own judgement about letters breaks.
struct Broken {
    log: Log,
    panics: bool,
}

impl Domain for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let log = Arc::clone(&self.log);
        let letter = TypedTool::new("letter_send", "Sends a letter.", move |args: Letter, _| {
            log.lock().unwrap().push(args.to);
            async move { Ok(ToolOutput::text("sent")) }
        })
        .with(|spec| (spec.approval, spec.access) = (Approval::NotNeeded, Access::Write));
        let panics = self.panics;
        let act = Act::of("letter_send").asking_when(move |_| {
            assert!(!panics, "the rule breaks");
            Err("the rule cannot be read".to_owned())
        });
        vec![Capability::new(Page::Global, "writes", vec![Arc::new(letter) as Arc<dyn Tool>]).acting(act)]
    }
}

/// A rule that fails means a person is asked; arguments that are no JSON are told to the model and run nothing, not even with
/// nothing in them.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_judged_never_runs_by_itself() {
    for panics in [false, true] {
        let desk = Desk::default();
        let domain = Broken { log: Log::default(), panics };
        let log = Arc::clone(&domain.log);
        let call = Turn::new().call("letter_send", json!({ "to": "Ann", "text": "Hi." }));
        let model = ScriptedModel::new(Scenario::new().turn(call));
        let copilot = Copilot::open(Setup { domain: Arc::new(domain), ..desk.setup(&model) }).await.unwrap();
        let turned = copilot.say(says("Write.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Suspended { .. }), "{:?}", turned.outcome);
        assert!(log.lock().unwrap().is_empty());
    }
    let mut desk = Desk::default();
    let cut = Turn::new().step(Step::Call(Call::raw("note_add", "{ \"ticket\": \"T-1\", ")));
    let (copilot, model) = desk.open(Scenario::new().turn(cut).turn(Turn::new().text("Sorry."))).await;
    let here = Surroundings::on("ticket").with(Ref::open("ticket", "T-1"));
    copilot.say(Said { surroundings: Some(here), ..says("Note it.") }).await.unwrap();
    assert!(!desk.office.log().iter().any(|line| line.starts_with("noted")), "{:?}", desk.office.log());
    let told = lines(&model.requests()[1]).pop().unwrap();
    assert!(told.starts_with("note_add: ") && told.contains("JSON"), "{told}");
}

/// What is in sight goes into arguments that a tool declared for it, and into no other: not into tools that have an argument
/// of that name and did not say so, and nothing is added that a schema does not know.
#[tokio::test(start_paused = true)]
async fn nothing_is_filled_in_that_no_tool_asked_for() {
    let mut desk = Desk::default();
    let scenario = Scenario::new()
        .turn(
            Turn::new()
                .call("note_add", json!({ "text": "n" }))
                .call("look", json!({}))
                .call("letter_send", json!({ "to": "Ann", "text": "Hi." })),
        )
        .turn(Turn::new().text("Done."));
    let (copilot, _) = desk.open(scenario).await;
    let here = Surroundings::on("ticket")
        .with(Ref::open("ticket", "T-1"))
        .with(Ref::open("record", "R-1"))
        .with(Ref::open("text", "X"))
        .with(Ref::open("to", "Eve"));
    copilot.say(Said { surroundings: Some(here), ..says("Note it, look, and write.") }).await.unwrap();
    let asked: Vec<Value> = copilot.waiting().into_iter().map(|ask| ask.arguments).collect();
    assert_eq!(asked, [json!({ "to": "Ann", "text": "Hi." })]);
    let yes = mica_agent::Decisions::to(&copilot.waiting(), [mica_agent::Decision::Allow]);
    let turned = copilot.answer(yes).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    assert!(desk.office.log().contains(&"noted T-1: n".to_owned()), "{:?}", desk.office.log());

    // What a product binds must be there, too: a slip in a name is told when the session opens, not never.
    for (tool, argument, is_there) in
        [("letter_send", "to", true), ("letter_send", "too", false), ("letter", "to", false)]
    {
        let model = ScriptedModel::new(Scenario::new());
        let bindings = Bindings::default().over([Binding::constant(tool, argument, json!("Ann"))]);
        let setup = Setup { given: Given { bindings, ..Given::default() }, ..desk.setup(&model) };
        match Copilot::open(setup).await {
            Ok(_) => assert!(is_there, "{tool}.{argument}"),
            Err(CopilotError::Store(StoreError::NoSuchArgument { tool: named, .. })) => {
                assert!(!is_there && named == tool);
            }
            Err(error) => panic!("{error}"),
        }
    }
}
