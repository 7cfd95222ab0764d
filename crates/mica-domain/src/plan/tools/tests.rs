use mica_agent::{RunId, ToolSet};
use mica_ai::id::CallId;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::store::{Given, Path, equipped};
use crate::{Loose, Side};

fn store() -> Store {
    let side: Arc<dyn Side> = Arc::new(Loose::default());
    Store::open(side, Arc::new(|| jiff::Timestamp::UNIX_EPOCH), Given::default()).unwrap()
}

async fn call(store: &Store, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
    let mut tools = ToolSet::default();
    for tool in plan_tools() {
        tools.add(tool);
    }
    let cx = ToolCx::new(RunId::from("r1"), CallId::from("c1"), CancellationToken::new(), |_| {});
    let args = args.as_object().unwrap().clone();
    equipped(&tools, store).get(tool).unwrap().call(args, &cx).await
}

#[tokio::test]
async fn a_plan_is_made_and_gone_through() {
    let store = store();
    let none = call(&store, PLAN_UPDATE_STEP, json!({ "id": "1", "status": "running" })).await.unwrap_err();
    assert_eq!(none.message, "There is no plan yet. Make one with plan_create.");
    let steps = json!({ "steps": [{ "label": "  Find\nthem " }, { "label": "Write", "detail": "" }] });
    let made = call(&store, PLAN_CREATE, steps).await.unwrap();
    let plan = json!({ "steps": [
        { "id": "1", "label": "Find them", "status": "pending" },
        { "id": "2", "label": "Write", "status": "pending" },
    ] });
    assert_eq!(made.details, Some(json!({ "plan": plan })));
    assert_eq!(store.look("var:plan").unwrap(), plan);
    let news = json!({ "id": " 2 ", "status": "failed", "detail": "no mail" });
    call(&store, PLAN_UPDATE_STEP, news).await.unwrap();
    assert_eq!(current(&store).unwrap().as_text(), "1. [pending] Find them\n2. [failed] Write (no mail)");
    call(&store, PLAN_UPDATE_STEP, json!({ "id": "2", "status": "completed", "detail": "" })).await.unwrap();
    assert_eq!(current(&store).unwrap().as_text(), "1. [pending] Find them\n2. [completed] Write");

    let unknown =
        call(&store, PLAN_UPDATE_STEP, json!({ "id": "9", "status": "running" })).await.unwrap_err();
    assert_eq!(
        unknown.message,
        "There is no step \"9\". The plan is:\n1. [pending] Find them\n2. [completed] Write"
    );
    assert_eq!(super::super::from_details(&unknown.details.unwrap()), current(&store));
}

#[tokio::test]
async fn a_plan_has_limits() {
    let store = store();
    let long = "x".repeat(LONGEST + 1);
    for (steps, expected) in [
        (json!([]), "A plan has 1 to 30 steps, not 0. Put some of them together.".to_owned()),
        (
            json!(vec![json!({ "label": "x" }); 31]),
            "A plan has 1 to 30 steps, not 31. Put some of them together.".to_owned(),
        ),
        (
            json!([{ "label": long }]),
            "the label of step 1 has 201 characters, and may have 200. Say it shorter.".to_owned(),
        ),
        (
            json!([{ "label": "x", "detail": long }]),
            "the detail of step 1 has 201 characters, and may have 200. Say it shorter.".to_owned(),
        ),
        (
            json!([{ "label": "x" }, { "label": " " }]),
            "The label of step 2 is empty. Say what is to be done.".to_owned(),
        ),
    ] {
        let error = call(&store, PLAN_CREATE, json!({ "steps": steps })).await.unwrap_err();
        assert_eq!(error.message, expected);
    }
    assert_eq!(current(&store), None);
    let most = json!({ "steps": vec![json!({ "label": "ä".repeat(LONGEST), "detail": "ä".repeat(LONGEST) }); MOST_STEPS] });
    call(&store, PLAN_CREATE, most).await.unwrap();
    assert_eq!(current(&store).unwrap().progress(), (0, 30));
}

/// A variable that somebody else made of it is no plan, and breaks nothing.
#[tokio::test]
async fn what_is_no_plan_is_none() {
    let store = store();
    let plan = Reference { path: Path::default(), ..Reference::var(VARIABLE) };
    store.write(&plan, json!("nonsense")).await.unwrap();
    assert_eq!(current(&store), None);
}

#[test]
fn the_card_is_as_the_plan() {
    let kinds = crate::cards::Kinds::default().card(super::super::card());
    let ready = Arc::new(kinds.ready().unwrap());
    let plan = Plan {
        steps: vec![PlanStep {
            id: "1".to_owned(),
            label: "Find".to_owned(),
            detail: Some("two".to_owned()),
            status: StepStatus::Completed,
        }],
    };
    let text = format!("```mica:plan-steps\n{}\n```", serde_json::to_string(&plan).unwrap());
    let pieces = crate::cards::Reader::all(ready, &text);
    assert!(matches!(pieces.as_slice(), [crate::cards::Piece::Fence(_)]), "{pieces:?}");
}
