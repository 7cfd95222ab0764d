//! Extensions in a run: who is asked, in which order, and what becomes of failures.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::{
    Agent, Args, Ask, Context, Decision, Event, EventKind, Hooks, Listener, Outcome, Patience, Tool, ToolCx,
    ToolError, ToolOutput, ToolSpec,
};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model, User};
use mica_testkit::{Call, Scenario, ScriptedModel, Step, Turn};
use serde_json::{Value, json};

use super::*;
use crate::concern::{Failure, Guarded, Moment, Resulted, Typed};

const HOUR: Duration = Duration::from_secs(3600);

/// What a guard does about a call.
#[derive(Clone)]
enum Does {
    Say(Guarded),
    Fail,
    Panic,
    Hang,
    AskPerson(bool),
    Break,
}

type Review = fn(&Resulted) -> Result<Option<Resulted>, Failure>;

struct Probe {
    does: Vec<Does>,
    seen: Mutex<Vec<String>>,
    review: Option<Review>,
    health: Health,
}

fn probe(does: impl Into<Vec<Does>>) -> Arc<Probe> {
    Arc::new(Probe { does: does.into(), seen: Mutex::default(), review: None, health: Health::default() })
}

#[async_trait]
impl Guard for Probe {
    fn reviews(&self) -> bool {
        self.review.is_some()
    }

    async fn tool_call(&self, _: &ToolCall, spec: &ToolSpec, args: &Args) -> Result<Guarded, Failure> {
        let at = {
            let mut seen = lock(&self.seen);
            seen.push(format!("{} {}", spec.name, Value::Object(args.clone())));
            seen.len() - 1
        };
        match self.does[at.min(self.does.len() - 1)].clone() {
            Does::Say(said) => Ok(said),
            Does::Fail => Err("no idea".to_owned()),
            Does::Panic => panic!("dropped it"),
            Does::Hang => futures::future::pending().await,
            Does::AskPerson(yes) => {
                Patience::current().person(tokio::time::sleep(HOUR)).await;
                let reason = "the person said no".to_owned();
                Ok(if yes { Guarded::Pass } else { Guarded::Block { reason } })
            }
            Does::Break => {
                self.health.fail("it looped");
                Err("it looped".to_owned())
            }
        }
    }

    async fn tool_result(
        &self,
        _: &ToolCall,
        _: &ToolSpec,
        result: &Resulted,
    ) -> Result<Option<Resulted>, Failure> {
        self.review.map_or(Ok(None), |review| review(result))
    }
}

fn guarding(name: &str, guard: &Arc<Probe>) -> Extension {
    let registry = Registry { guards: vec![guard.clone()], ..Registry::default() };
    Extension::new(name, Origin::Compiled, registry).with_health(guard.health.clone())
}

/// A tool that says what it was called with, or fails with it.
struct Echo(ToolSpec);

#[async_trait]
impl Tool for Echo {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let text = Value::Object(args.clone()).to_string();
        if args.contains_key("fail") { Err(ToolError::new(text)) } else { Ok(ToolOutput::text(text)) }
    }
}

fn echo(name: &str) -> Arc<dyn Tool> {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    Arc::new(Echo(ToolSpec::new(name, "Says it again.", schema)))
}

/// Answers every question, and says which there were.
#[derive(Default)]
struct Yes(Mutex<Vec<String>>);

#[async_trait]
impl Hooks for Yes {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        lock(&self.0).extend(asks.iter().map(|ask| ask.reason.clone()));
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

struct Ran {
    /// The results, as the model reads them.
    results: Vec<String>,
    asked: Vec<String>,
    notices: Vec<String>,
    model: ScriptedModel,
}

/// A run that calls `echo` with each of these in a turn of its own.
async fn run(extensions: &Extensions, calls: &[Value]) -> Ran {
    let script = calls.iter().enumerate().fold(Scenario::new(), |script, (at, args)| {
        let call = Call::new("echo", args.clone()).with_id(format!("c{at}"));
        script.turn(Turn::new().step(Step::Call(call)))
    });
    let model = ScriptedModel::new(script.turn(Turn::new().text("Done.")));
    let mut context =
        Context::new(Arc::new(model.clone()), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    context.tools.add(echo("echo"));
    let yes = Arc::new(Yes::default());
    let agent = Agent::new(context, vec![Arc::new(extensions.clone()), yes.clone()]);
    agent.listen(Arc::new(extensions.clone()));
    let outcome = agent.prompt("Go.").await.unwrap();
    assert!(matches!(outcome, Outcome::Completed), "{outcome:?}");
    let results = agent.with(|cx| cx.messages.iter().filter_map(result).collect()).await.unwrap();
    let notices = extensions.take_notices().iter().map(ToString::to_string).collect();
    let asked = lock(&yes.0).clone();
    Ran { results, asked, notices, model }
}

fn result(message: &Message) -> Option<String> {
    let Message::ToolResult(result) = message else { return None };
    let Content::Text { text } = result.content.first()? else { return None };
    Some(text.clone())
}

fn block(reason: &str) -> Does {
    Does::Say(Guarded::Block { reason: reason.to_owned() })
}

fn change(args: Value) -> Does {
    let Value::Object(args) = args else { panic!("no object") };
    Does::Say(Guarded::Change { args })
}

const PASS: Does = Does::Say(Guarded::Pass);

#[tokio::test(start_paused = true)]
async fn what_guards_say_becomes_of_calls() {
    let ask = Does::Say(Guarded::Ask { reason: "sure?".to_owned() });
    for (does, expected, asked, notice) in [
        (PASS, "{\"n\":1}", None, None),
        (block("not today"), "Not run: the extension g says no: not today", None, None),
        (ask, "{\"n\":1}", Some("g: sure?"), None),
        (change(json!({ "n": 2 })), "{\"n\":2}", None, None),
        (
            change(json!({ "n": "two" })),
            "Not run: the extension g says no: it changed the arguments to some that do not fit the tool (the \
             arguments do not fit the schema: /n: must be an integer, but is the string \"two\")",
            None,
            Some(
                "extension g: its guard failed, which means no: it changed the arguments to some that do not fit the \
                 tool (the arguments do not fit the schema: /n: must be an integer, but is the string \"two\")",
            ),
        ),
        (
            Does::Fail,
            "Not run: the extension g says no: its check failed (no idea), which means no",
            None,
            Some("extension g: its guard failed, which means no: no idea"),
        ),
        (
            Does::Panic,
            "Not run: the extension g says no: its check failed (it broke: dropped it), which means no",
            None,
            Some("extension g: its guard failed, which means no: it broke: dropped it"),
        ),
        (
            Does::Hang,
            "Not run: the extension g says no: its check failed (it did not answer within 10 s), which means no",
            None,
            Some("extension g: its guard failed, which means no: it did not answer within 10 s"),
        ),
        (Does::AskPerson(true), "{\"n\":1}", None, None),
        (Does::AskPerson(false), "Not run: the extension g says no: the person said no", None, None),
    ] {
        let extensions = Extensions::new(vec![guarding("g", &probe([does]))]);
        let ran = run(&extensions, &[json!({ "n": 1 })]).await;
        assert_eq!(ran.results, [expected]);
        assert_eq!(ran.asked, asked.into_iter().collect::<Vec<_>>());
        assert_eq!(ran.notices, notice.into_iter().collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_block_wins_and_those_before_a_change_judge_again() {
    let (first, second, third) = (probe([PASS]), probe([change(json!({ "n": 9 }))]), probe([block("late")]));
    let all = Extensions::new(vec![guarding("a", &first), guarding("b", &second), guarding("c", &third)]);
    let ran = run(&all, &[json!({ "n": 1 })]).await;
    assert_eq!(ran.results, ["Not run: the extension c says no: late"]);
    assert_eq!(*lock(&third.seen), ["echo {\"n\":9}"]);
    let (first, second) = (probe([PASS, block("nine is too much")]), probe([change(json!({ "n": 9 }))]));
    let all = Extensions::new(vec![guarding("a", &first), guarding("b", &second)]);
    let ran = run(&all, &[json!({ "n": 1 })]).await;
    assert_eq!(ran.results, ["Not run: the extension a says no: nine is too much"]);
    assert_eq!(*lock(&first.seen), ["echo {\"n\":1}", "echo {\"n\":9}"]);
    let (first, second) =
        (probe([change(json!({ "n": 3 })), change(json!({ "n": 4 }))]), probe([change(json!({ "n": 9 }))]));
    let all = Extensions::new(vec![guarding("a", &first), guarding("b", &second)]);
    let ran = run(&all, &[json!({ "n": 1 })]).await;
    assert_eq!(
        ran.results,
        ["Not run: the extension a says no: it does not agree with another on what the arguments should be"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_was_stopped_keeps_refusing_until_it_is_loaded_anew() {
    let guard = probe([Does::Break]);
    let extensions = Extensions::new(vec![guarding("g", &guard)]);
    let ran = run(&extensions, &[json!({ "n": 1 }), json!({ "n": 2 })]).await;
    assert_eq!(
        ran.results[0],
        "Not run: the extension g says no: its check failed (it looped), which means no"
    );
    assert_eq!(
        ran.results[1],
        "Not run: the extension g says no: it guards calls and was stopped (it looped), so nothing runs until a person \
         loads extensions anew (/reload) or turns it off"
    );
    assert_eq!(
        ran.notices,
        [
            "extension g: it was stopped: it looped. It guards calls, so every call is refused until extensions are loaded \
          anew (/reload) or it is turned off"
        ]
    );
    assert_eq!(lock(&guard.seen).len(), 1, "it is not asked any more");
    assert_eq!(extensions.list()[0].failure.as_deref(), Some("it looped"));
    extensions.exchange(vec![guarding("g", &probe([PASS]))]);
    assert_eq!(run(&extensions, &[json!({ "n": 1 })]).await.results, ["{\"n\":1}"]);
    extensions.exchange(Vec::new());
    assert_eq!(run(&extensions, &[json!({ "n": 1 })]).await.results, ["{\"n\":1}"]);
}

#[tokio::test(start_paused = true)]
async fn results_are_changed_in_both_directions_and_a_failure_leaves_them() {
    let swap: Review = |result| {
        let output = ToolOutput::text(format!(
            "{} {:?}",
            if result.failed { "mended" } else { "spoilt" },
            result.output.content.len()
        ));
        Ok(Some(Resulted { output, failed: !result.failed }))
    };
    let fails: Review = |_| Err("cannot read".to_owned());
    for (review, expected, notices) in [
        (swap, ["spoilt 1", "mended 1"], Vec::new()),
        (
            fails,
            ["{\"n\":1}", "{\"fail\":true}"],
            vec![
                "extension g: its look at results failed and is left out until extensions are loaded anew: cannot read",
            ],
        ),
    ] {
        let guard = Arc::new(Probe {
            does: vec![PASS],
            seen: Mutex::default(),
            review: Some(review),
            health: Health::default(),
        });
        let ran =
            run(&Extensions::new(vec![guarding("g", &guard)]), &[json!({ "n": 1 }), json!({ "fail": true })])
                .await;
        assert_eq!(ran.results, expected);
        assert_eq!(ran.notices, notices);
    }
}

struct Hears(&'static [&'static str], Mutex<Vec<String>>);

#[async_trait]
impl Lifecycle for Hears {
    fn hears(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }

    async fn moment(&self, moment: &Moment) -> Result<(), Failure> {
        let told = match moment {
            Moment::AgentEnd { answer, .. } => format!("agent_end {answer}"),
            Moment::MessageEnd { message } => format!("message_end {}", result(message).unwrap_or_default()),
            Moment::TurnStart { turn: 2 } if self.0.len() == 1 => return Err("two is too many".to_owned()),
            Moment::BeforeCompact { reason, .. } => format!("before_compact {reason}"),
            other => other.kind().to_owned(),
        };
        lock(&self.1).push(told);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn moments_come_in_order_and_one_that_fails_is_left_out() {
    const KINDS: &[&str] =
        &["agent_start", "agent_end", "turn_start", "turn_end", "message_end", "tool_execution_end"];
    let all = Arc::new(Hears(KINDS, Mutex::default()));
    let one = Arc::new(Hears(&["turn_start"], Mutex::default()));
    let hearing = |name: &str, it: &Arc<Hears>| {
        let registry = Registry { lifecycles: vec![it.clone()], ..Registry::default() };
        Extension::new(name, Origin::Compiled, registry)
    };
    let extensions = Extensions::new(vec![hearing("all", &all), hearing("one", &one)]);
    let ran = run(&extensions, &[json!({ "n": 1 }), json!({ "n": 2 })]).await;
    assert_eq!(
        *lock(&all.1),
        [
            "agent_start",
            "turn_start",
            "message_end ",
            "message_end ",
            "tool_execution_end",
            "message_end {\"n\":1}",
            "turn_end",
            "turn_start",
            "message_end ",
            "tool_execution_end",
            "message_end {\"n\":2}",
            "turn_end",
            "turn_start",
            "message_end ",
            "turn_end",
            "agent_end Done."
        ]
    );
    assert_eq!(*lock(&one.1), ["turn_start"]);
    assert_eq!(
        ran.notices,
        [
            "extension one: its handler of turn_start failed and is left out until extensions are loaded anew: two is too \
          many"
        ]
    );
}

struct Cuts(fn(&[Message]) -> Option<Vec<Message>>);

#[async_trait]
impl Window for Cuts {
    async fn context(&self, messages: &[Message]) -> Result<Option<Vec<Message>>, Failure> {
        Ok((self.0)(messages))
    }
}

/// Remembers what changed the window.
#[derive(Default)]
struct Changes(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Changes {
    async fn event(&self, event: Event) {
        if let EventKind::Window { change } = event.kind {
            lock(&self.0).push(format!("{}: {}", change.kind, change.reason));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_is_changed_for_one_request_and_told() {
    type Cut = fn(&[Message]) -> Option<Vec<Message>>;
    let adds: Cut = |messages| {
        let mut all = messages.to_vec();
        all.push(User::text("Mind the gap.").into());
        Some(all)
    };
    let same: Cut = |messages| Some(messages.to_vec());
    let empties: Cut = |_| Some(Vec::new());
    let emptied = "extension w: its change of the context failed and is left out until extensions are loaded anew: it \
                   left nothing for the model to answer";
    for (cut, sent, told, notices) in
        [(adds, [2, 4], 2, Vec::new()), (same, [1, 3], 0, Vec::new()), (empties, [1, 3], 0, vec![emptied])]
    {
        let registry = Registry { windows: vec![Arc::new(Cuts(cut))], ..Registry::default() };
        let extensions = Extensions::new(vec![Extension::new("w", Origin::Compiled, registry)]);
        let script =
            Scenario::new().turn(Turn::new().call("echo", json!({ "n": 1 }))).turn(Turn::new().text("Done."));
        let model = ScriptedModel::new(script);
        let mut context =
            Context::new(Arc::new(model.clone()), Arc::new(Model::assumed("scripted", Dialect::Responses)));
        context.tools.add(echo("echo"));
        let agent = Agent::new(context, vec![Arc::new(extensions.clone())]);
        let changes = Arc::new(Changes::default());
        agent.listen(changes.clone());
        agent.prompt("Go.").await.unwrap();
        let lengths: Vec<usize> = model.requests().iter().map(|request| request.messages.len()).collect();
        assert_eq!(lengths, sent);
        assert_eq!(*lock(&changes.0), vec!["extension: the extension w changed what is sent"; told]);
        let kept = agent.with(|cx| cx.messages.len()).await.unwrap();
        assert_eq!(kept, 4, "what is kept does not change");
        let notices_told: Vec<String> = extensions.take_notices().iter().map(ToString::to_string).collect();
        assert_eq!(notices_told, notices);
    }
}

struct Says(&'static str, fn(&str) -> Result<Typed, Failure>);

#[async_trait]
impl Input for Says {
    async fn input(&self, text: &str) -> Result<Typed, Failure> {
        (self.1)(text)
    }
}

#[async_trait]
impl Command for Says {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &str {
        "Says it."
    }

    async fn run(&self, arguments: &str) -> Result<Typed, Failure> {
        (self.1)(arguments)
    }
}

#[async_trait]
impl Prompting for Says {
    async fn before_run(&self, prompt: &str) -> Result<Option<String>, Failure> {
        match (self.1)(prompt)? {
            Typed::Instead(text) => Ok(Some(text)),
            _ => Ok(None),
        }
    }
}

fn saying(name: &str, it: Says) -> Extension {
    let it = Arc::new(it);
    let registry = Registry {
        inputs: vec![it.clone()],
        commands: vec![it.clone()],
        prompting: vec![it],
        ..Registry::default()
    };
    Extension::new(name, Origin::Compiled, registry)
}

#[tokio::test]
async fn what_is_typed_goes_from_one_to_the_next() {
    let louder: fn(&str) -> _ = |text| Ok(Typed::Instead(format!("{text}!")));
    let help: fn(&str) -> _ = |text| {
        Ok(if text.starts_with("help") {
            Typed::Handled(Some("Help yourself.".to_owned()))
        } else {
            Typed::Go
        })
    };
    let broken: fn(&str) -> _ = |_| Err("what?".to_owned());
    let extensions = Extensions::new(vec![
        saying("a", Says("say", louder)),
        saying("b", Says("broken", broken)),
        saying("c", Says("say", help)),
    ]);
    let taken = "extension c: its command say is not used: the extension a has one of this name";
    assert_eq!(extensions.take_notices()[0].to_string(), taken);
    assert_eq!(extensions.typed("hello").await, Typed::Instead("hello!".to_owned()));
    assert_eq!(extensions.typed("help").await, Typed::Handled(Some("Help yourself.".to_owned())));
    assert_eq!(extensions.take_notices().len(), 1, "a failure is told once");
    assert_eq!(extensions.command("say", "it").await, Some(Ok(Typed::Instead("it!".to_owned()))));
    for _ in 0..2 {
        let failed = Some(Err("extension b: /broken: what?".to_owned()));
        assert_eq!(extensions.command("broken", "").await, failed, "a command can be tried again");
    }
    assert_eq!(extensions.command("other", "").await, None);
    let said = extensions.before_run("Go").await;
    assert_eq!(said, [Said { extension: "a".to_owned(), text: "Go!".to_owned() }]);
}

#[tokio::test]
async fn tools_stay_while_what_is_behind_them_changes() {
    struct Fixed(ToolSpec, &'static str);
    #[async_trait]
    impl Tool for Fixed {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        async fn call(&self, _: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
            Ok(ToolOutput::text(self.1))
        }
    }
    let bringing = |name: &str, says: &'static str| {
        let spec = ToolSpec::new("greet", "Greets.", json!({ "type": "object" }));
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Fixed(spec, says)), echo("read")];
        Extension::new(name, Origin::Compiled, Registry { tools, ..Registry::default() })
    };
    let extensions = Extensions::new(vec![bringing("a", "one"), bringing("b", "other")]);
    let tools = extensions.tools(|name| name == "read");
    let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["greet"]);
    let notices: Vec<String> = extensions.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "extension b: its tool greet is not used: the extension a has one of this name",
            "extension b: its tool read is not used: the extension a has one of this name",
            "extension a: its tool read is not used: the program has one of this name",
        ]
    );
    let cx = ToolCx::new(mica_agent::RunId::fresh(), "c".into(), Default::default(), |_| {});
    let mut said = Vec::new();
    for exchanged in [None, Some(vec![bringing("a", "two")]), Some(Vec::new())] {
        if let Some(exchanged) = exchanged {
            extensions.exchange(exchanged);
        }
        said.push(match tools[0].call(Args::new(), &cx).await {
            Ok(output) => format!("{:?}", output.content),
            Err(error) => error.message,
        });
    }
    assert_eq!(
        said,
        [
            "[Text { text: \"one\" }]",
            "[Text { text: \"two\" }]",
            "The extension that brought greet was removed. Nothing was done; do it in another way."
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_there_is_not_asked() {
    use mica_agent::hooks::Point;
    let extensions = Extensions::default();
    for point in [Point::Gate, Point::AfterCall, Point::Transform, Point::Record, Point::BeforeTurn] {
        assert!(!extensions.says(point), "{point:?}");
    }
    assert!(!extensions.hears(&EventKind::RunStart));
    let ran = run(&extensions, &[json!({ "n": 1 })]).await;
    assert_eq!((ran.results, ran.model.requests().len()), (vec!["{\"n\":1}".to_owned()], 2));
}

#[tokio::test]
async fn a_change_is_not_made_twice() {
    use mica_agent::Verdict;
    use mica_agent::hooks::Gated;
    let guard = probe([change(json!({ "n": 2 })), change(json!({ "n": 3 }))]);
    let extensions = Extensions::new(vec![guarding("g", &guard)]);
    let model = ScriptedModel::new(Scenario::new());
    let cx = Context::new(Arc::new(model), Arc::new(Model::assumed("scripted", Dialect::Responses)));
    let tool = echo("echo");
    let arguments = mica_ai::arguments::Arguments::from_text("{\"n\":1}");
    let call = ToolCall { id: "c".into(), name: "echo".to_owned(), arguments };
    let args = call.arguments.parse().unwrap();
    let mut gated = Gated { call: &call, spec: tool.spec(), args };
    for _ in 0..2 {
        // The second time, because somebody behind it changed something and changed it back.
        assert_eq!(extensions.gate(&mut gated, &cx).await, Verdict::Pass);
        assert_eq!(Value::Object(gated.args.clone()), json!({ "n": 2 }));
    }
}

/// Takes an hour of a person's time, or of its own, when it hears of this.
struct Slow(&'static str, bool, Mutex<Vec<&'static str>>);

#[async_trait]
impl Lifecycle for Slow {
    fn hears(&self, kind: &str) -> bool {
        kind == self.0
    }

    async fn moment(&self, moment: &Moment) -> Result<(), Failure> {
        if self.1 {
            Patience::current().person(tokio::time::sleep(HOUR)).await;
        } else {
            tokio::time::sleep(HOUR).await;
        }
        lock(&self.2).push(moment.kind());
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_hears_of_messages_neither_ends_a_run_nor_counts_the_time_of_people() {
    for kind in ["message_start", "message_end"] {
        for (people, told) in [(true, [kind; 4].as_slice()), (false, &[])] {
            let slow: Vec<Arc<Slow>> =
                (0..8).map(|_| Arc::new(Slow(kind, people, Mutex::default()))).collect();
            let hearing = |(at, it): (usize, &Arc<Slow>)| {
                let registry = Registry { lifecycles: vec![it.clone()], ..Registry::default() };
                Extension::new(format!("slow{at}"), Origin::Compiled, registry)
            };
            let guard = probe([Does::Say(Guarded::Pass)]);
            let all = slow.iter().enumerate().map(hearing).chain([guarding("g", &guard)]);
            let extensions = Extensions::new(all.collect());
            let ran = run(&extensions, &[json!({ "n": 1 })]).await;
            assert_eq!(ran.results, ["{\"n\":1}"], "{kind} {people}");
            for one in slow {
                assert_eq!(*lock(&one.2), told, "{kind} {people}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_of_the_same_name_does_not_take_a_guard_away() {
    let block = probe([Does::Say(Guarded::Block { reason: "no".to_owned() })]);
    let other = Extension::new("g", Origin::Scripted, Registry::default()).from("/project/g.ts");
    let extensions = Extensions::new(vec![guarding("g", &block), other]);
    let ran = run(&extensions, &[json!({ "n": 1 })]).await;
    assert_eq!(ran.results, ["Not run: the extension g says no: no"]);
    assert_eq!(
        ran.notices,
        [
            "extension g: there is another of this name, which guards calls and stays: this one is not used (/project/g.ts)"
        ]
    );
}
