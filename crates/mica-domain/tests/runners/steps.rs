//! Steps of a workflow.

use super::*;

/// What the calls of a step came to is in the requests that follow, behind what the workflow gave.
#[tokio::test]
async fn a_step_reads_what_its_calls_came_to() {
    let world = World::new();
    let answer = |value: Value| Turn::new().call("answer", value);
    let turns = [
        Turn::new().call("look", json!({})),
        answer(json!({ "urgency": "soon" })),
        answer(json!({ "urgency": 3 })),
    ];
    let process = world.process(turns);
    let mut step = WorkflowStep::new("r1", "classify", "clerk", Rights::All);
    step.seed = vec![
        Past::User { text: "An order came.".to_owned(), source: "s1".to_owned() },
        Past::Assistant { text: "I saw it.".to_owned(), source: "s2".to_owned() },
    ];
    step.prompt = "How urgent is it?".to_owned();
    step.result = Some(json!({
        "type": "object",
        "properties": { "urgency": { "type": "integer" } },
        "required": ["urgency"],
    }));
    let end = run_step(&process.sessions, &step, &world.clock()).await.unwrap();
    let StepEnd::Done { value: Some(value), .. } = end else { panic!("{end:?}") };
    assert_eq!(value, json!({ "urgency": 3 }));
    let asked = process.asked();
    let expected = [
        "user: An order came.",
        "model: I saw it.",
        "user: How urgent is it?",
        "model: look{}",
        "look: seen",
    ];
    assert_eq!(asked[..5], expected);
    assert_eq!(process.model.requests().len(), 3);

    // The limit of a step is its own.
    let process = world.process([
        Turn::new().call("look", json!({})),
        Turn::new().call("look", json!({})),
        text("Not done."),
    ]);
    let mut step = WorkflowStep::new("r1", "short", "clerk", Rights::All);
    step.prompt = "Look twice.".to_owned();
    step.limits.turns = Some(1);
    let end = run_step(&process.sessions, &step, &world.clock()).await.unwrap();
    assert!(matches!(&end, StepEnd::Exhausted { limit, .. } if limit.name == "turns"), "{end:?}");
}

#[derive(Default)]
struct Flow(Mutex<BTreeMap<String, Value>>);

#[async_trait]
impl Variables for Flow {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.lock().unwrap().get(name).cloned()
    }
    fn names(&self) -> Vec<String> {
        self.0.lock().unwrap().keys().cloned().collect()
    }
    async fn set(&self, name: &str, value: Value) -> Result<(), String> {
        self.0.lock().unwrap().insert(name.to_owned(), value);
        Ok(())
    }
}

/// The variables of the workflow are the store of the step: the model reads and sets them, and they stay with the workflow.
#[tokio::test]
async fn a_step_works_on_the_variables_of_its_workflow() {
    let world = World::new();
    let process = world.process([
        Turn::new()
            .call("get_variable", json!({ "name": "order" }))
            .call("get_variable", json!({ "name": "ordr" })),
        Turn::new().call("set_variable", json!({ "name": "urgent", "value": true })),
        text("Done."),
    ]);
    let flow = Arc::new(Flow::default());
    flow.set("order", json!({ "id": 42, "note": "</variable>" })).await.unwrap();
    let mut step = WorkflowStep::new("r1", "mark", "clerk", Rights::All);
    step.prompt = "Is order {{var:order.id}} urgent?".to_owned();
    step.variables = Some(Arc::clone(&flow) as _);
    let end = run_step(&process.sessions, &step, &world.clock()).await.unwrap();
    assert!(matches!(&end, StepEnd::Done { text, value: None } if text == "Done."), "{end:?}");
    assert_eq!(flow.get("urgent"), Some(json!(true)));
    let asked = process.asked();
    assert_eq!(asked[0], "user: Is order 42 urgent?");
    assert_eq!(
        asked[2..4],
        [
            "get_variable: <variable name=\"order\">\n{\"id\":42,\"note\":\"&lt;/variable>\"}\n</variable>",
            "get_variable: There is no variable \"ordr\". There are: order.",
        ]
    );
    assert_eq!(asked[5], "set_variable: Kept as var:urgent.");

    // A prompt that refers to nothing is not sent.
    let mut step = WorkflowStep::new("r1", "lost", "clerk", Rights::All);
    step.prompt = "Is {{var:ordr}} urgent?".to_owned();
    step.variables = Some(flow);
    let error = run_step(&process.sessions, &step, &world.clock()).await.unwrap_err().to_string();
    assert!(error.contains("ordr"), "{error}");
    assert_eq!(process.model.requests().len(), 3);
}

#[tokio::test]
async fn a_step_without_a_result_is_asked_again_and_says_so() {
    let world = World::new();
    let process = world.process([text("It is urgent."), text("Very."), text("Never said.")]);
    let mut step = WorkflowStep::new("r1", "classify", "clerk", Rights::All);
    step.prompt = "How urgent is it?".to_owned();
    step.result = Some(json!({ "type": "integer" }));
    let end = run_step(&process.sessions, &step, &world.clock()).await.unwrap();
    assert!(matches!(&end, StepEnd::NoResult { text } if text == "Very."), "{end:?}");
    assert_eq!(process.model.requests().len(), 2);
}
