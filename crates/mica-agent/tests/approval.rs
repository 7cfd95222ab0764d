//! Asking a person: at once, later, in part, with changed arguments, and while rules change.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::hooks::{Gated, Record};
use mica_agent::{
    Answer, Approval, Args, Ask, Context, Decision, HookStack, Hooks, Outcome, Preview, Tool, ToolCx,
    ToolError, ToolOutput, ToolSpec, Verdict,
};
use serde_json::json;
use support::{Rig, calls, ended, says};

fn deny(reason: &str) -> Decision {
    Decision::Deny { reason: reason.to_owned() }
}

fn risky() -> [mica_testkit::Turn; 2] {
    [calls([("a", "risky", json!({ "say": "did it" }))]), says("Done.")]
}

#[tokio::test(start_paused = true)]
async fn suspended_then_allowed() {
    let rig = Rig::new(risky());
    let Outcome::Suspended { asks } = rig.prompt("Go.").await else { panic!("not suspended") };
    assert_eq!(asks[0].reason, "risky asks before it runs");
    assert_eq!(asks[0].arguments, json!({ "say": "did it" }));
    let runs: Vec<_> = rig.events().iter().map(|event| event.run.clone()).collect();
    assert_eq!(
        rig.told()[3..],
        ["answer_start", "answer_end tool_use", "asked a", "turn_end 1", "run_end suspended a"]
    );
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "completed");
    assert!(rig.events().iter().all(|event| event.run == runs[0]), "the same run goes on");
    assert_eq!(
        rig.told(),
        [
            "run_start",
            "turn_start 1",
            "given a allow",
            "call_start a",
            "call_end a ok",
            "result a ok: did it",
            "turn_end 1",
            "turn_start 2",
            "answer_start",
            "answer_end stop",
            "turn_end 2",
            "run_end completed",
        ]
    );
    let tally = rig.agent.with(|cx| cx.tally.clone()).await.unwrap();
    assert_eq!(
        (tally.turns, tally.calls.len()),
        (2, 1),
        "what the run took counts once, across the suspension"
    );
    let requests = rig.model.requests();
    assert_eq!(requests.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn suspended_then_denied() {
    let rig = Rig::new(risky());
    rig.prompt("Go.").await;
    assert_eq!(ended(&rig.resume([("a", deny("too risky"))]).await), "completed");
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(rig.said().await[2], "result a failed: The person declined: too risky");
}

#[tokio::test(start_paused = true)]
async fn suspended_then_allowed_with_other_arguments() {
    let rig = Rig::new(risky());
    rig.prompt("Go.").await;
    let changed = Decision::AllowWith { arguments: json!({ "say": "did less" }) };
    rig.resume([("a", changed)]).await;
    assert_eq!(rig.said().await[2], "result a ok: did less");
    // Something that is no object runs nothing.
    let rig = Rig::new(risky());
    rig.prompt("Go.").await;
    rig.resume([("a", Decision::AllowWith { arguments: json!("all") })]).await;
    assert_eq!(rig.ran(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn several_at_once_and_a_question_without_an_answer_is_a_no() {
    let rig = Rig::new([
        calls([
            ("a", "risky", json!({ "say": "1" })),
            ("b", "look", json!({ "say": "2" })),
            ("c", "risky", json!({ "say": "3" })),
            ("d", "risky", json!({ "say": "4" })),
        ]),
        says("Done."),
    ]);
    assert_eq!(ended(&rig.prompt("Go.").await), "suspended a c d");
    assert_eq!(rig.ran(), Vec::<String>::new(), "the whole batch waits");
    assert_eq!(ended(&rig.resume([("c", deny("no")), ("a", Decision::Allow)]).await), "completed");
    assert_eq!(
        rig.said().await[2..6],
        [
            "result a ok: 1",
            "result b ok: 2",
            "result c failed: The person declined: no",
            "result d failed: Nobody answered whether this call may run, so it was not run.",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_fit_change_nothing() {
    let rig = Rig::new(risky());
    assert_eq!(ended(&rig.resume([]).await), "failed resume", "nothing is suspended");
    rig.prompt("Go.").await;
    let run = rig.events().last().unwrap().run.clone();
    rig.told();
    for stray in [
        &[("x", Decision::Allow)][..],
        &[("a", Decision::Allow), ("a", deny("no"))],
        &[("a", Decision::Allow), ("x", Decision::Allow)],
    ] {
        let answers = stray.iter().map(|(call, decision)| rig.answer(call, decision.clone())).collect();
        let outcome = rig.agent.resume(mica_agent::Decisions(answers)).await.unwrap();
        assert_eq!(ended(&outcome), "failed resume");
        assert_eq!(rig.told(), ["run_start", "run_end failed resume"]);
    }
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "completed");
    assert!(rig.events().iter().all(|event| event.run == run), "it is still the same run");
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "failed resume", "answered once");
    assert_eq!(rig.ran(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_while_suspended_settles_what_was_asked() {
    let rig = Rig::new([calls([("a", "risky", json!({})), ("b", "look", json!({}))]), says("Fine.")]);
    rig.prompt("Go.").await;
    rig.told();
    assert_eq!(ended(&rig.prompt("Never mind.").await), "completed");
    let declined = "Not run: the person was asked whether it may run, and said something else instead.";
    assert_eq!(
        rig.told()[1..6],
        [
            "turn_start 1".to_owned(),
            format!("result a failed: {declined}"),
            format!("result b failed: {declined}"),
            "user: Never mind.".to_owned(),
            "answer_start".to_owned(),
        ]
    );
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "failed resume");
    assert_eq!(rig.ran(), Vec::<String>::new());
}

/// Answers in place.
struct Person(Vec<Decision>);

#[async_trait]
impl Hooks for Person {
    async fn approve(&self, _: &[Ask]) -> Option<Vec<Decision>> {
        Some(self.0.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn answers_in_place_and_too_few_or_too_many_of_them() {
    let turns = || {
        [calls([("a", "risky", json!({ "say": "1" })), ("b", "risky", json!({ "say": "2" }))]), says("Done.")]
    };
    for (answers, ran) in [
        (vec![Decision::Allow, Decision::Allow], &["a", "b"][..]),
        (vec![deny("no"), Decision::Allow], &["b"]),
        (vec![Decision::Allow], &["a"]),
        (vec![], &[]),
        (vec![deny("no"), deny("no"), Decision::Allow], &[]),
    ] {
        let rig = Rig::with(turns(), vec![Arc::new(Person(answers.clone()))]);
        assert_eq!(ended(&rig.prompt("Go.").await), "completed");
        assert_eq!(rig.ran(), ran, "{answers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_call_that_was_asked_about_ends_the_run() {
    struct AskAll;
    #[async_trait]
    impl Hooks for AskAll {
        async fn gate(&self, _: &mut Gated<'_>, _: &Context) -> Verdict {
            Verdict::Ask { reason: "really?".to_owned(), rule: Some("all".to_owned()), proposals: Vec::new() }
        }
    }
    let rig = Rig::with([calls([("a", "finish", json!({}))])], vec![Arc::new(AskAll)]);
    assert_eq!(ended(&rig.prompt("Go.").await), "suspended a");
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "completed");
    assert_eq!(rig.asked(), 1);
}

/// A gate that asks until it is told not to, and always denies one word.
#[derive(Default)]
struct Rules {
    relaxed: AtomicBool,
    asked: Mutex<usize>,
    recorded: Mutex<Vec<String>>,
}

#[async_trait]
impl Hooks for Rules {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        *self.asked.lock().unwrap() += 1;
        if gated.args.get("say") == Some(&json!("forbidden")) {
            return Verdict::Deny { reason: "That word is not allowed.".to_owned(), rule: None };
        }
        if self.relaxed.load(Ordering::SeqCst) { Verdict::Allow } else { Verdict::Pass }
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        self.recorded.lock().unwrap().push(match record {
            Record::TurnOpen => "open".to_owned(),
            Record::Message(message) => support::said(message),
            Record::Asked(asks) => format!("asked {}", asks.len()),
            Record::Answered(answers) => format!("answered {}", answers.len()),
        });
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_persons_no_holds_although_a_rule_says_yes_by_now() {
    let rules = Arc::new(Rules::default());
    let rig = Rig::with(risky(), vec![rules.clone()]);
    assert_eq!(ended(&rig.prompt("Go.").await), "suspended a");
    rules.relaxed.store(true, Ordering::SeqCst);
    rig.resume([("a", deny("no"))]).await;
    assert_eq!(rig.ran(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_programs_no_does_not_hold_where_nobody_needs_to_be_asked_any_more() {
    let refuse = || Decision::Refuse { reason: "nobody is there".to_owned() };
    for (relaxed, ran) in [(false, Vec::<String>::new()), (true, vec!["a".to_owned()])] {
        let rules = Arc::new(Rules::default());
        let rig = Rig::with(risky(), vec![rules.clone()]);
        assert_eq!(ended(&rig.prompt("Go.").await), "suspended a");
        rules.relaxed.store(relaxed, Ordering::SeqCst);
        rig.resume([("a", refuse())]).await;
        assert_eq!(rig.ran(), ran);
    }
}

#[tokio::test(start_paused = true)]
async fn changed_arguments_pass_the_gate_again() {
    let rules = Arc::new(Rules::default());
    let rig = Rig::with(risky(), vec![rules.clone()]);
    rig.prompt("Go.").await;
    rig.resume([("a", Decision::AllowWith { arguments: json!({ "say": "forbidden" }) })]).await;
    assert_eq!(rig.ran(), Vec::<String>::new());
    assert_eq!(rig.said().await[2], "result a failed: That word is not allowed.");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_on_record_before_anybody_is_asked() {
    let rules = Arc::new(Rules::default());
    let rig = Rig::with(risky(), vec![rules.clone(), Arc::new(Person(vec![Decision::Allow]))]);
    rig.prompt("Go.").await;
    assert_eq!(
        *rules.recorded.lock().unwrap(),
        [
            "user: Go.",
            "open",
            "assistant:  [a] tool_use",
            "asked 1",
            "answered 1",
            "result a ok: did it",
            "open",
            "assistant: Done. []"
        ]
    );
}

/// Changes an argument.
struct Changes(&'static str, &'static str);

#[async_trait]
impl Hooks for Changes {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.args.get("say") == Some(&json!(self.0)) {
            gated.args.insert("say".to_owned(), json!(self.1));
        }
        Verdict::Allow
    }
}

#[tokio::test(start_paused = true)]
async fn promise_6_nothing_runs_with_arguments_that_a_gate_has_not_seen() {
    let run = async |hooks: Vec<Arc<dyn Hooks>>| {
        let rig = Rig::with([calls([("a", "look", json!({ "say": "fine" }))]), says("Done.")], hooks);
        rig.prompt("Go.").await;
        rig.said().await[2].clone()
    };
    let rules = || Arc::new(Rules::default());
    assert_eq!(run(vec![Arc::new(Changes("fine", "better")), rules()]).await, "result a ok: better");
    assert_eq!(run(vec![rules(), Arc::new(Changes("fine", "better"))]).await, "result a ok: better");
    // Behind the rule, and still judged by it.
    assert_eq!(
        run(vec![rules(), Arc::new(Changes("fine", "forbidden"))]).await,
        "result a failed: That word is not allowed."
    );
    // Also when the hooks are stacked twice.
    let inner: Arc<dyn Hooks> = Arc::new(HookStack::new(vec![Arc::new(Changes("fine", "forbidden"))]));
    assert_eq!(run(vec![rules(), inner]).await, "result a failed: That word is not allowed.");
    // Two that undo each other never agree.
    assert_eq!(
        run(vec![Arc::new(Changes("better", "fine")), Arc::new(Changes("fine", "better"))]).await,
        "result a failed: The checks before this call do not agree on its arguments, so it was not run."
    );
}

/// Fills in an argument, which changes with time.
struct Fills(Mutex<&'static str>);

#[async_trait]
impl Hooks for Fills {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        gated.args.insert("say".to_owned(), json!(*self.0.lock().unwrap()));
        Verdict::Pass
    }
}

#[tokio::test(start_paused = true)]
async fn promise_6_a_yes_counts_for_what_was_shown_only() {
    let fills = Arc::new(Fills(Mutex::new("pay Ann")));
    let rig = Rig::with(
        [calls([("a", "risky", json!({})), ("b", "look", json!({}))]), says("Done.")],
        vec![fills.clone()],
    );
    let Outcome::Suspended { asks } = rig.prompt("Go.").await else { panic!("not suspended") };
    assert_eq!(asks[0].arguments, json!({ "say": "pay Ann" }));
    let given = rig.answer("a", Decision::Allow);
    rig.told();
    // Meanwhile the call has come to mean something else.
    *fills.0.lock().unwrap() = "pay Bob";
    let Outcome::Suspended { asks } = rig.agent.resume(mica_agent::Decisions(vec![given])).await.unwrap()
    else {
        panic!("not asked again")
    };
    assert_eq!(
        (asks[0].reason.as_str(), &asks[0].arguments),
        (
            "it was allowed for other arguments than it would run with now; risky asks before it runs",
            &json!({ "say": "pay Bob" })
        )
    );
    assert_eq!(rig.ran(), Vec::<String>::new(), "nothing of the batch is run");
    assert_eq!(rig.told(), ["run_start", "turn_start 1", "asked a", "turn_end 1", "run_end suspended a"]);
    // A yes that does not say what for is no yes either; a no needs not say.
    let bare = |decision| {
        mica_agent::Decisions(vec![Answer { call: "a".into(), shown: None, base: None, decision }])
    };
    assert_eq!(ended(&rig.agent.resume(bare(Decision::Allow)).await.unwrap()), "suspended a");
    assert_eq!(ended(&rig.resume([("a", Decision::Allow)]).await), "completed");
    assert_eq!(rig.said().await[2..4], ["result a ok: pay Bob", "result b ok: pay Bob"]);

    let rig = Rig::new(risky());
    rig.prompt("Go.").await;
    assert_eq!(ended(&rig.agent.resume(bare(deny("no"))).await.unwrap()), "completed");
    assert_eq!(rig.said().await[2], "result a failed: The person declined: no");
}

#[tokio::test(start_paused = true)]
async fn what_is_asked_again_can_be_answered_in_place() {
    let fills = Arc::new(Fills(Mutex::new("pay Ann")));
    let person = Arc::new(Returns(AtomicBool::new(false)));
    let rig = Rig::with(risky(), vec![fills.clone(), person.clone()]);
    rig.prompt("Go.").await;
    let given = rig.answer("a", Decision::AllowWith { arguments: json!({}) });
    *fills.0.lock().unwrap() = "pay Bob";
    person.0.store(true, Ordering::SeqCst);
    let outcome = rig.agent.resume(mica_agent::Decisions(vec![given])).await.unwrap();
    assert_eq!(ended(&outcome), "completed");
    assert_eq!(rig.said().await[2], "result a failed: Refused without asking a person: it is late");
}

/// Is away at first.
struct Returns(AtomicBool);

#[async_trait]
impl Hooks for Returns {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let refuse = Decision::Refuse { reason: "it is late".to_owned() };
        self.0.load(Ordering::SeqCst).then(|| vec![refuse; asks.len()])
    }
}

/// A tool that asks, and shows what its argument says: something, nothing, or a panic.
struct Shows(ToolSpec);

#[async_trait]
impl Tool for Shows {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        match args["show"].as_str() {
            Some("panic") => panic!("no preview today"),
            Some("") | None => None,
            Some(reason) => Some(Preview::Fails { reason: reason.to_owned() }),
        }
    }

    async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("ran"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_shows_what_the_tool_shows_and_is_asked_when_it_cannot() {
    let rig = Rig::new([
        calls([
            ("a", "shows", json!({ "show": "a change" })),
            ("b", "shows", json!({ "show": "" })),
            ("c", "shows", json!({ "show": "panic" })),
        ]),
        says("Done."),
    ]);
    let mut spec = ToolSpec::new("shows", "shows", json!({ "type": "object" }));
    spec.approval = Approval::Needed;
    rig.agent.with(|cx| cx.tools.add(Arc::new(Shows(spec)))).await.unwrap();
    let Outcome::Suspended { asks } = rig.prompt("Go.").await else { panic!("not suspended") };
    let shown: Vec<_> = asks.into_iter().map(|ask| ask.preview).collect();
    assert_eq!(shown, [Some(Preview::Fails { reason: "a change".to_owned() }), None, None]);
}
