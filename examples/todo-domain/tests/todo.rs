//! The list at work, with a model that is played by a script.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::sync::Arc;

use mica_agent::Outcome;
use mica_ai::{Dialect, Model};
use mica_domain::approvals::{Choice, Person};
use mica_domain::{Autonomy, Copilot, Ref, Rights, Said, Setup, Surroundings};
use mica_session::{Access, Sessions};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use serde_json::json;
use todo_domain::Todos;

fn noon() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000).unwrap()
}

fn setup(todos: &Todos, scenario: Scenario) -> (Setup, ScriptedModel) {
    let script = ScriptedModel::new(scenario);
    let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let setup = Setup::new(Arc::new(todos.clone()), Arc::new(script.clone()), model, Arc::new(noon));
    (setup, script)
}

#[tokio::test(start_paused = true)]
async fn an_item_is_added_shown_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(folder.path(), noon);
    let todos = Todos { team: "Blue".to_owned(), ..Todos::default() };
    let fence = "```mica:item-list\n{ \"ids\": [\"todo-1\"] }\n```";
    let scenario = Scenario::new()
        .turn(Turn::new().call("todo_add", json!({ "title": "Water the plants" })))
        .turn(Turn::new().call("todo_list", json!({})))
        .turn(Turn::new().text(format!("Here it is:\n\n{fence}")))
        .turn(Turn::new().call("todo_remove", json!({})));
    let (setup, model) = setup(&todos, scenario);

    let session = sessions.draft("/todo".as_ref(), None);
    let copilot = Copilot::open(setup.in_session(session)).await.unwrap();
    let said = Said {
        text: "Put the plants on the list.".to_owned(),
        surroundings: Some(Surroundings::on("list")),
        ..Said::default()
    };
    let turned = copilot.say(said).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    let shown = copilot.shown().await.unwrap();
    assert_eq!(
        shown.last().unwrap().shown.as_text(),
        "Here it is:\n\nitem-list\n  1. Water the plants (todo-1)\n"
    );
    let system = model.requests()[0].system.clone();
    assert_eq!((system.len(), system[0].as_str()), (2, "You keep a list of things to do. Be brief."));
    assert!(system[1].starts_with("Ask nothing before todo_remove"));
    assert!(system[1].contains("- `mica:item-list`: Several items of the list."));
    assert!(system[1].ends_with("The list belongs to Blue."));

    // The item that is open on the page is filled in; the person is asked, and the process ends while they think.
    let here = Surroundings::on("list").with(Ref::open("item", "todo-1"));
    let said = Said { text: "Remove it.".to_owned(), surroundings: Some(here), ..Said::default() };
    copilot.say(said).await.unwrap();
    let path = copilot.path().unwrap();
    drop(copilot);

    let (setup, _) = self::setup(&todos, Scenario::new().turn(Turn::new().text("Done.")));
    let session = sessions.open(&path, Access::Write).unwrap();
    let copilot = Copilot::open(setup.in_session(session)).await.unwrap();
    let ask = copilot.waiting().remove(0);
    assert_eq!(ask.arguments, json!({ "item": "todo-1" }));
    let person = Person::new("Ann", Rights::of(["todo.remove"]));
    let yes = Choice::Approve { edits: Default::default() };
    let answered = copilot.decide([(ask.call.id, yes)], &person).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert!(todos.items().is_empty());
}

#[tokio::test(start_paused = true)]
async fn nobody_is_there_and_removing_is_only_proposed() {
    let todos = Todos { team: "Blue".to_owned(), ..Todos::default() };
    let scenario = Scenario::new()
        .turn(Turn::new().call("todo_remove", json!({ "item": "todo-1" })))
        .turn(Turn::new().text("I propose to remove todo-1."));
    let (mut setup, _) = setup(&todos, scenario);
    setup.profile = mica_domain::Profile::AUTONOMOUS;
    setup.autonomy = Autonomy::all(mica_domain::ApprovalMode::Capture);
    let copilot = Copilot::open(setup).await.unwrap();
    let here = Some(Surroundings::on("list"));
    copilot.say(Said { text: "Tidy up.".to_owned(), surroundings: here, ..Said::default() }).await.unwrap();
    let bundle = copilot.bundle().unwrap();
    assert_eq!((bundle.actions.len(), bundle.summary.as_str()), (1, "I propose to remove todo-1."));
}
