//! Whole runs against the scripted model, with the policies in the loop.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::{
    Access, Agent, Approval, Args, Context, Decision, Decisions, Effect, Hooks, Limit, Outcome, Tool, ToolCx,
    ToolError, ToolOutput, ToolSpec,
};
use mica_ai::request::ToolChoice;
use mica_ai::usage::Usd;
use mica_ai::{Content, Dialect, Message, Model};
use mica_policy::{
    Action, Budget, Headless, Limits, Mode, ModeGate, ModeSwitch, ModeTable, Patience, RepeatGuard, RuleGate,
    RuleSet, SchemaGate, Subjects,
};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use serde_json::{Value, json};

/// A tool that remembers what it was called with, and fails when it is told to.
struct Noting {
    spec: ToolSpec,
    seen: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl Tool for Noting {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let fails = args.get("path") == Some(&json!("missing"));
        self.seen.lock().unwrap().push(Value::Object(args));
        if fails { Err(ToolError::new("There is no such file.")) } else { Ok(ToolOutput::text("done")) }
    }
}

struct Bench {
    agent: Agent,
    model: ScriptedModel,
    seen: Arc<Mutex<Vec<Value>>>,
}

fn bench(scenario: Scenario, hooks: Vec<Arc<dyn Hooks>>) -> Bench {
    let model = ScriptedModel::new(scenario);
    let facts = Arc::new(Model::assumed("scripted", Dialect::Responses));
    let mut context = Context::new(Arc::new(model.clone()), facts);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "lines": { "type": "integer" } },
        "required": ["path"],
        "additionalProperties": false,
    });
    for (name, access, effect, approval) in [
        ("read", Access::Read, Effect::Pure, Approval::NotNeeded),
        ("write", Access::Write, Effect::Idempotent, Approval::Needed),
    ] {
        let spec = ToolSpec { access, effect, approval, ..ToolSpec::new(name, name, schema.clone()) };
        context.tools.add(Arc::new(Noting { spec, seen: seen.clone() }));
    }
    Bench { agent: Agent::new(context, hooks), model, seen }
}

impl Bench {
    async fn run(&self) -> Outcome {
        self.agent.prompt("Go.").await.unwrap()
    }

    fn seen(&self) -> Vec<Value> {
        self.seen.lock().unwrap().clone()
    }

    /// The texts of all results, in order.
    async fn results(&self) -> Vec<String> {
        let text = |content: &Content| match content {
            Content::Text { text } => text.clone(),
            Content::Image(_) => String::new(),
        };
        self.agent
            .with(|cx| {
                let results = cx.messages.iter().filter_map(|message| match message {
                    Message::ToolResult(result) => Some(&result.content),
                    _ => None,
                });
                results.map(|content| content.iter().map(text).collect::<Vec<_>>().join("\n")).collect()
            })
            .await
            .unwrap()
    }
}

fn calls(name: &str, args: &Value, times: usize) -> Scenario {
    (0..times).fold(Scenario::new(), |scenario, _| scenario.turn(Turn::new().call(name, args.clone())))
}

fn exhausted(outcome: &Outcome) -> &Limit {
    match outcome {
        Outcome::Exhausted { limit } => limit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_are_put_right_or_sent_back() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("read", json!({ "path": "a", "lines": "5" })))
        .turn(Turn::new().call("read", json!({ "pth": "a" })))
        .turn(Turn::new().text("Done."));
    let bench = bench(scenario, vec![Arc::new(SchemaGate::new())]);
    assert!(matches!(bench.run().await, Outcome::Completed));
    assert_eq!(bench.seen(), [json!({ "path": "a", "lines": 5 })]);
    assert_eq!(
        bench.results().await,
        [
            "done",
            "The arguments of read do not fit its schema, so it was not run:\n\
             - /pth: is not a known property; did you mean \"path\"?\n\
             - /path: is required, but missing\n\
             Received: {\"pth\":\"a\"}\n\
             Call read again with this put right.",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn circles_are_denied_and_then_the_run_is_closed() {
    let scenario = calls("read", &json!({ "path": "a" }), 5).turn(Turn::new().text("I went in circles."));
    let hooks: Vec<Arc<dyn Hooks>> = vec![Arc::new(RepeatGuard::default()), Arc::new(Budget::default())];
    let bench = bench(scenario, hooks);
    let outcome = bench.run().await;
    assert_eq!(
        exhausted(&outcome).to_string(),
        "the limit of repeats is reached: the same call 5 times in a row"
    );
    assert_eq!(bench.seen().len(), 2, "two run, three are denied");
    let last = bench.model.requests().last().unwrap().clone();
    assert_eq!(last.tool_choice, ToolChoice::None, "the last answer is a goodbye");
}

#[tokio::test(start_paused = true)]
async fn who_waits_may_ask_again() {
    let scenario = calls("read", &json!({ "path": "a" }), 9).turn(Turn::new().text("Done."));
    let polls = RuleSet::default().and(Action::Allow, "read").unwrap();
    let bench = bench(
        scenario,
        vec![
            Arc::new(RepeatGuard::new(Patience::default(), polls.clone())),
            Arc::new(Budget::new(Limits::default(), polls)),
        ],
    );
    assert!(matches!(bench.run().await, Outcome::Completed));
    assert_eq!(bench.seen().len(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_keeps_failing_is_denied_until_something_changes() {
    let fails = || Turn::new().call("read", json!({ "path": "missing" }));
    let looks = |path: &str| Turn::new().call("read", json!({ "path": path }));
    let scenario = Scenario::new()
        .turn(fails())
        .turn(looks("a"))
        .turn(fails())
        .turn(fails())
        .turn(Turn::new().call("write", json!({ "path": "b" })))
        .turn(fails())
        .turn(Turn::new().text("Done."));
    let allow = RuleSet::default().and(Action::Allow, "write").unwrap();
    let bench = bench(scenario, vec![Arc::new(RepeatGuard::default()), Arc::new(RuleGate::new(allow))]);
    assert!(matches!(bench.run().await, Outcome::Completed));
    let results = bench.results().await;
    assert_eq!(
        results[3],
        "This call was not run: exactly this call of read has failed 2 times, and nothing has changed since. Read why \
         it failed, then change the arguments or take another way."
    );
    assert_eq!(bench.seen().len(), 5, "it ran again after the write");
}

#[tokio::test(start_paused = true)]
async fn the_mode_can_change_during_a_run() {
    struct Switching(ModeSwitch);
    #[async_trait]
    impl Hooks for Switching {
        async fn after_tool(&self, _: &mica_ai::message::ToolCall, spec: &ToolSpec, _: &mut ToolOutput) {
            if spec.name == "read" {
                self.0.set(Mode::Edit);
            }
        }
    }
    let scenario = Scenario::new()
        .turn(Turn::new().call("write", json!({ "path": "a" })).call("read", json!({ "path": "a" })))
        .turn(Turn::new().call("write", json!({ "path": "a" })))
        .turn(Turn::new().text("Done."));
    let switch = ModeSwitch::new(Mode::Ask);
    let allow = RuleSet::default().and(Action::Allow, "*").unwrap();
    let bench = bench(
        scenario,
        vec![
            Arc::new(ModeGate::new(switch.clone(), ModeTable::builtin(), None)),
            Arc::new(RuleGate::new(allow)),
            Arc::new(Switching(switch)),
        ],
    );
    assert!(matches!(bench.run().await, Outcome::Completed));
    assert_eq!(
        bench.results().await,
        [
            "write is not available in ask mode: it changes something. Answer with what you can look up, or ask the \
             user to switch to edit mode.",
            "done",
            "done",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_without_a_person() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("write", json!({ "path": "src/a" })).call("write", json!({ "path": "b" })))
        .turn(Turn::new().call("write", json!({ "path": "src/secret/a" })))
        .turn(Turn::new().text("Done."));
    let rules = RuleSet::new(Subjects::new().path("write", "path"))
        .and(Action::Allow, "write(src/**)")
        .unwrap()
        .and(Action::Deny, "*(src/secret/**)")
        .unwrap();
    let bench = bench(scenario, vec![Arc::new(RuleGate::new(rules)), Arc::new(Headless)]);
    assert!(matches!(bench.run().await, Outcome::Completed));
    assert_eq!(bench.seen(), [json!({ "path": "src/a" })]);
    let results = bench.results().await;
    assert_eq!(
        results[1..],
        [
            "Refused without asking a person: nobody is there to approve it. Whoever starts the run can allow it with \
             the rule \"write\". Go on without it, and say at the end what was left undone.",
            "write was not run: the rule \"deny *(src/secret/**)\" forbids this call. Do not try to get around it. Go \
             on without it, or tell the user what you need it for.",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_turns_end_with_a_warning_before_and_a_goodbye_after() {
    let scenario = (0..11).fold(Scenario::new(), |scenario, index| {
        scenario.turn(Turn::new().call("read", json!({ "path": format!("file {index}") })))
    });
    let limits = Limits { turns: Some(11), ..Limits::default() };
    let scenario = scenario.turn(Turn::new().text("Goodbye."));
    let bench = bench(scenario, vec![Arc::new(Budget::new(limits, RuleSet::default()))]);
    let outcome = bench.run().await;
    assert_eq!(exhausted(&outcome).to_string(), "the limit of turns is reached: 11 turns");
    assert_eq!(bench.seen().len(), 11);
    let results = bench.results().await;
    let warned: Vec<usize> = (0..11).filter(|index| results[*index] != "done").collect();
    assert_eq!(warned, [5], "once, in the sixth turn");
    assert_eq!(
        results[5],
        "done\n[Note from the system, not from the user: 5 of 11 turns are left, then the run ends. Finish what \
         matters most, and leave things in working order.]"
    );
    let requests = bench.model.requests();
    assert_eq!(requests.len(), 12);
    for pair in requests.windows(2) {
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages[..], "the window only grows");
    }
}

#[tokio::test(start_paused = true)]
async fn limits_hold_across_a_suspension() {
    let scenario = Scenario::new()
        .turn(Turn::new().call("read", json!({ "path": "a" })))
        .turn(Turn::new().call("write", json!({ "path": "b" })))
        .turn(Turn::new().text("Goodbye."));
    let limits = Limits { turns: Some(2), ..Limits::default() };
    let bench = bench(scenario, vec![Arc::new(Budget::new(limits, RuleSet::default()))]);
    let Outcome::Suspended { asks } = bench.run().await else { panic!("a person is needed") };
    let yes = Decisions::to(&asks, [Decision::Allow]);
    let outcome = bench.agent.resume(yes).await.unwrap();
    assert_eq!(exhausted(&outcome).to_string(), "the limit of turns is reached: 2 turns");
    assert_eq!(bench.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cost_that_cannot_be_known_is_not_spent() {
    let limits = Limits { cost: Some(Usd::from_dollars(1.0)), ..Limits::default() };
    let budget = Budget::new(limits, RuleSet::default());
    let bench = bench(Scenario::new().turn(Turn::new().text("Hello.")), vec![Arc::new(budget)]);
    let outcome = bench.run().await;
    assert_eq!(
        exhausted(&outcome).to_string(),
        "the limit of cost is reached: $1.0000 cannot be kept, because the prices of scripted are unknown"
    );
    assert_eq!(bench.model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_a_user_says_starts_the_count_anew() {
    let look = || Turn::new().call("read", json!({ "path": "a" }));
    let scenario = Scenario::new()
        .turn(look())
        .turn(look())
        .turn(Turn::new().text("Done."))
        .turn(look())
        .turn(Turn::new().text("Done again."));
    let bench = bench(scenario, vec![Arc::new(RepeatGuard::default())]);
    bench.run().await;
    bench.run().await;
    assert_eq!(bench.seen().len(), 3, "the user asked for it again");
}

#[tokio::test(start_paused = true)]
async fn identical_calls_of_one_answer_count_too() {
    let look = |turn: Turn| turn.call("read", json!({ "path": "a" }));
    let scenario = Scenario::new().turn(look(look(look(Turn::new())))).turn(Turn::new().text("Done."));
    let bench = bench(scenario, vec![Arc::new(RepeatGuard::default())]);
    bench.run().await;
    assert_eq!(bench.seen().len(), 2, "the third was denied, the first was not");
}

#[tokio::test(start_paused = true)]
async fn every_run_is_warned() {
    let limits = Limits { turns: Some(3), warning: 1, ..Limits::default() };
    let look = |index: u32| Turn::new().call("read", json!({ "path": format!("file {index}") }));
    let scenario = (0..2).fold(Scenario::new(), |scenario, _| {
        scenario.turn(look(1)).turn(look(2)).turn(Turn::new().text("Done."))
    });
    let bench = bench(scenario, vec![Arc::new(Budget::new(limits, RuleSet::default()))]);
    bench.run().await;
    bench.run().await;
    let warned: Vec<bool> = bench.results().await.iter().map(|text| text != "done").collect();
    assert_eq!(warned, [false, true, false, true]);
}
