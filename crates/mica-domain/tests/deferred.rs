//! A deferred tool is the same tool: for gates, people, hooks, events and the domain, a call through another tool, or by a
//! name that was never sent, is what a plain call is. Each case is played in all three ways, and what everyone saw must be
//! the same.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{
    Access, Agent, Approval, Args, Ask, Context, Decision, Decisions, Effect, Ends, Event, EventKind, Hooks,
    Listener, Outcome, Resource, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, Verdict,
};
use mica_ai::arguments::Arguments;
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::id::MessageId;
use mica_ai::message::{Block, ResultStatus, ToolCall};
use mica_ai::{Assistant, Content, Dialect, Message, Model, Origin, Remote, StopReason, User};
use mica_context::spill::SpillLimits;
use mica_context::{Spill, SpillFolder};
use mica_domain::{
    Capability, Domain, DomainHooks, Input, Page, Remark, Section, State, Static, Surroundings,
};
use mica_policy::budget::{Budget, Limits};
use mica_policy::repeats::{Patience, RepeatGuard};
use mica_policy::shell::{Place, Unseen};
use mica_policy::validate::SchemaGate;
use mica_policy::{
    Action, Approvals, FileGate, Mode, ModeGate, ModeSwitch, ModeTable, RuleGate, RuleSet, Subjects,
};
use mica_testkit::{Call, Scenario, ScriptedModel, ScriptedTransport, Step, Turn, cache, prefix};
use mica_tools::{FileRead, FileWrite, Sight, Workspace, deferred};
use serde_json::{Value, json};
use tokio::time::Instant;

/// How the model calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is sent with every request.
    Plain,
    /// Through another one.
    Through,
    /// By its name, which was never sent.
    ByName,
}

/// A tool that does what its arguments say.
struct Probe(ToolSpec);

impl Probe {
    fn tool(name: &str, change: impl FnOnce(&mut ToolSpec)) -> Arc<dyn Tool> {
        let schema = json!({
            "type": "object",
            "properties": {
                "ms": { "type": "integer" },
                "on": { "type": "string" },
                "ticket": { "type": "string" },
                "then": { "type": "string" },
            },
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new(name, "Does as told.", schema);
        spec.label = format!("The {name}");
        spec.deadline = Duration::from_secs(1);
        change(&mut spec);
        Arc::new(Self(spec))
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn touches(&self, args: &Args) -> Vec<Resource> {
        args.get("on").and_then(Value::as_str).map(|on| Resource::named("thing", on)).into_iter().collect()
    }

    async fn call(&self, args: Args, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        tokio::time::sleep(Duration::from_millis(args.get("ms").and_then(Value::as_u64).unwrap_or(10))).await;
        match args.get("then").and_then(Value::as_str) {
            Some("fail") => Err(ToolError::new("It failed.")),
            Some("panic") => panic!("broken"),
            Some("long") => Ok(ToolOutput::text("a long line\n".repeat(500))),
            _ => {
                cx.progress("on it");
                Ok(ToolOutput::text(format!("done with {}", Value::Object(args))))
            }
        }
    }
}

/// The domain, with all its tools deferred or none.
struct Desk {
    root: PathBuf,
    way: Way,
    log: Log,
}

#[async_trait]
impl Domain for Desk {
    fn name(&self) -> &str {
        "desk"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let workspace = Workspace::new(&self.root).unwrap();
        let tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(FileRead::new(&workspace, Sight::Blind)),
            Arc::new(FileWrite::new(&workspace)),
            Probe::tool("look", |_| {}),
            Probe::tool("change", |spec| {
                (spec.access, spec.effect) = (Access::Write, Effect::Unsafe);
            }),
            Probe::tool("risky", |spec| {
                (spec.access, spec.approval) = (Access::Write, Approval::Needed);
            }),
            Probe::tool("finish", |spec| spec.ends = Ends::Run),
            Probe::tool("switch", |spec| {
                (spec.access, spec.ends) = (Access::Exclusive, Ends::Batch);
            }),
        ];
        let replies = vec![Probe::tool("reply", |_| {})];
        let capabilities = [
            Capability::new(Page::Global, "works", tools).filling("look", "ticket"),
            Capability::new(Page::named("ticket"), "replies", replies),
        ];
        let deferring = |capability: Capability| match self.way {
            Way::Plain => capability,
            Way::Through | Way::ByName => capability.deferred(),
        };
        capabilities.into_iter().map(deferring).collect()
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You work. Write with file_write.")]
    }

    fn prefill(&self, input: &Input, state: &State) -> Option<Value> {
        state.page.as_ref().filter(|page| *page == "filled").map(|_| json!(format!("T-{}", input.argument)))
    }

    fn on_result(&self, call: &ToolCall, spec: &ToolSpec, _: &ToolOutput, _: &mut State) {
        self.log.note(format!("domain: {} {} {}", call.name, spec.name, call.arguments.text()));
    }

    async fn after_write(&self, files: &[PathBuf], _: &State) -> Option<Remark> {
        Some(Remark::from(format!("checked {}", files.first()?.display())))
    }
}

/// What everyone saw, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

/// Somebody who looks at everything, and a person who answers.
struct Witness {
    log: Log,
    began: Instant,
    answer: fn(&Ask) -> Option<Decision>,
}

#[async_trait]
impl Hooks for Witness {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        let (call, args) = (gated.call, Value::Object(gated.args.clone()));
        self.log.note(format!("gate: {} as {} {args}", call.name, gated.spec.name));
        Verdict::Pass
    }

    async fn after_tool(&self, call: &ToolCall, spec: &ToolSpec, output: &mut ToolOutput) {
        self.log.note(format!("after: {} as {}, {} parts", call.name, spec.name, output.content.len()));
    }

    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        asks.iter().map(self.answer).collect()
    }

    fn left(&self, call: &ToolCall) -> Option<String> {
        Some(format!("{} was left.", call.name))
    }
}

#[async_trait]
impl Listener for Witness {
    async fn event(&self, event: Event) {
        let ms = self.began.elapsed().as_millis();
        let line = match event.kind {
            EventKind::CallStart { tool, label, arguments, .. } => {
                format!("{ms}: {tool} ({label}) starts with {arguments}")
            }
            EventKind::CallEnd { status, details, .. } => {
                format!("{ms}: it ends {status:?} {}", details.unwrap_or_default())
            }
            EventKind::ApprovalAsked { ask } => {
                format!(
                    "asked: {} {} {} {} because {} by {:?}, {:?}, {:?}",
                    ask.call.name,
                    ask.arguments,
                    ask.call.arguments.text(),
                    ask.shown,
                    ask.reason,
                    ask.rule,
                    ask.preview,
                    ask.proposals
                )
            }
            EventKind::ApprovalGiven { decision, .. } => format!("given: {decision:?}"),
            EventKind::Message { message: Message::ToolResult(result) } => {
                format!("{ms}: result of {}: {}", result.tool, text(&result.content))
            }
            EventKind::RunEnd { outcome } => match outcome {
                Outcome::Suspended { asks } => format!("suspended with {} questions", asks.len()),
                other => format!("{other:?}"),
            },
            _ => return,
        };
        self.log.note(line);
    }
}

fn text(content: &[Content]) -> String {
    let parts = content.iter().map(|part| match part {
        Content::Text { text } => text.as_str(),
        Content::Image(_) => "image",
    });
    parts.collect::<Vec<_>>().join("|")
}

/// What is played, and under which circumstances.
struct Case {
    name: &'static str,
    turns: Vec<Vec<(&'static str, Value)>>,
    mode: Mode,
    rules: Vec<(Action, &'static str)>,
    page: &'static str,
    answer: fn(&Ask) -> Option<Decision>,
}

fn case<const N: usize>(name: &'static str, calls: [(&'static str, Value); N]) -> Case {
    Case {
        name,
        turns: vec![calls.into_iter().collect()],
        mode: Mode::Edit,
        rules: Vec::new(),
        page: "home",
        answer: |_| Some(Decision::Allow),
    }
}

impl Case {
    fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    fn rule(mut self, action: Action, rule: &'static str) -> Self {
        self.rules.push((action, rule));
        self
    }

    fn page(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    fn answer(mut self, answer: fn(&Ask) -> Option<Decision>) -> Self {
        self.answer = answer;
        self
    }

    fn then<const N: usize>(mut self, calls: [(&'static str, Value); N]) -> Self {
        self.turns.push(calls.into_iter().collect());
        self
    }

    fn scenario(&self, way: Way) -> Scenario {
        let mut number = 0;
        let mut made = |(tool, args): &(&str, Value)| {
            number += 1;
            let call = match way {
                Way::Through => Call::new(deferred::CALL, json!({ "name": tool, "arguments": args })),
                Way::Plain | Way::ByName => Call::new(*tool, args.clone()),
            };
            Step::Call(call.with_id(format!("c{number}")))
        };
        let turns: Vec<Turn> = self
            .turns
            .iter()
            .map(|calls| calls.iter().fold(Turn::new(), |turn, call| turn.step(made(call))))
            .collect();
        turns.into_iter().fold(Scenario::new(), Scenario::turn).turn(Turn::new().text("Done."))
    }
}

/// A folder, an agent, and somebody who looks.
struct World {
    folder: tempfile::TempDir,
    agent: Agent,
    witness: Arc<Witness>,
}

impl World {
    fn new(case: &Case, way: Way) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/a.txt"), "one\n").unwrap();
        let log = Log::default();
        let domain: Arc<dyn Domain> = Arc::new(Desk { root: root.clone(), way, log: log.clone() });
        let here = Surroundings { page: Some(case.page.to_owned()), ..Surroundings::default() };
        let hooks = Arc::new(DomainHooks::new(Arc::clone(&domain), &here));
        // As on the page where replies can be made: the tools stay when the user goes elsewhere.
        hooks.message(&Surroundings { page: Some("ticket".to_owned()), ..Surroundings::default() });
        let resolved = hooks.resolve(&|_| true).unwrap();
        let prompt = hooks.prompt(&resolved).unwrap();
        hooks.message(&here);

        let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
        let mut context = Context::new(Arc::new(ScriptedModel::new(case.scenario(way))), model);
        context.system = prompt.system();
        context.tools = resolved.tools;
        let subjects = Subjects::new().below(&root.display().to_string()).path("file_write", "path");
        let rules = case
            .rules
            .iter()
            .fold(RuleSet::new(subjects), |rules, (action, rule)| rules.and(*action, rule).unwrap());
        let place = Place {
            root: root.display().to_string(),
            cwd: root.display().to_string(),
            temp: Vec::new(),
            home: None,
            disk: Arc::new(Unseen),
        };
        let limits = SpillLimits { inline: 2000, preview: 200, ..SpillLimits::default() };
        let spill = Arc::new(SpillFolder::new(root.join("spill"), limits));
        let witness = Arc::new(Witness { log, began: Instant::now(), answer: case.answer });
        let polls = RuleSet::new(Subjects::new());
        let stack: Vec<Arc<dyn Hooks>> = vec![
            Arc::new(SchemaGate::new()),
            Arc::new(RepeatGuard::new(Patience::default(), polls.clone())),
            Arc::new(ModeGate::new(ModeSwitch::new(case.mode), ModeTable::builtin(), None)),
            Arc::new(FileGate::new(place, Approvals::default()).tool("file_write", "path")),
            Arc::new(RuleGate::new(rules)),
            hooks,
            Arc::clone(&witness) as Arc<dyn Hooks>,
            Arc::new(Spill::new(spill, Arc::new(|| SystemTime::UNIX_EPOCH))),
            Arc::new(Budget::new(Limits::default(), polls)),
        ];
        let agent = Agent::new(context, stack);
        agent.listen(Arc::clone(&witness) as Arc<dyn Listener>);
        Self { folder, agent, witness }
    }

    /// What was seen, with the folder by a name that is the same in every world.
    fn seen(&self) -> Vec<String> {
        let root = self.folder.path().canonicalize().unwrap().display().to_string();
        let lines = self.witness.log.0.lock().unwrap();
        lines.iter().map(|line| without_numbers(&line.replace(&root, "ROOT"))).collect()
    }

    fn file(&self, path: impl AsRef<Path>) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(path)).ok()
    }
}

/// A spilled file has a random name.
fn without_numbers(line: &str) -> String {
    match line.split_once("ROOT/spill/") {
        Some((before, after)) => {
            let rest = after.split_once(".txt").map_or("", |(_, rest)| rest);
            format!("{before}ROOT/spill/….txt{rest}")
        }
        None => line.to_owned(),
    }
}

async fn played(case: &Case, way: Way) -> (Vec<String>, Option<String>) {
    let world = World::new(case, way);
    world.agent.prompt("Go.").await.unwrap();
    (world.seen(), world.file("src/a.txt"))
}

/// Plays a case in all ways, and wants a line to be there: the case is about it.
async fn check(case: Case, expected: &str) {
    let plain = played(&case, Way::Plain).await;
    let lines = plain.0.join("\n");
    assert!(lines.contains(expected), "{}: {expected:?} is not in\n{lines}", case.name);
    for way in [Way::Through, Way::ByName] {
        let (seen, file) = played(&case, way).await;
        assert_eq!(seen.join("\n"), lines, "{}, {way:?}", case.name);
        assert_eq!(file, plain.1, "{}, {way:?}", case.name);
    }
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("file_write", json!({ "path": path, "content": content }))
}

#[tokio::test(start_paused = true)]
async fn every_gate_sees_the_tool_that_is_meant() {
    let look = |args: Value| ("look", args);
    // Arguments: put right, and filled in by the domain.
    check(case("coercion", [look(json!({ "ms": "5" }))]), "0: look (The look) starts with {\"ms\":5}").await;
    check(
        case("prefill", [look(json!({}))]).page("filled"),
        "look (The look) starts with {\"ticket\":\"T-ticket\"}",
    )
    .await;
    // Modes.
    check(case("mode allows", [look(json!({}))]).mode(Mode::Plan), "result of look: done with {}").await;
    check(case("mode denies", [("change", json!({}))]).mode(Mode::Plan), "result of change: change is not")
        .await;
    check(
        case("mode denies files", [write("src/a.txt", "x")]).mode(Mode::Ask),
        "result of file_write: file_write is",
    )
    .await;
    // Rules, with paths.
    let writes = || case("rules", [write("src/new.txt", "x"), write("b.txt", "y")]);
    check(writes().rule(Action::Allow, "file_write(src/**)"), "asked: file_write {\"path\":\"b.txt\"").await;
    check(writes().rule(Action::Deny, "file_write(src/**)"), "result of file_write: ").await;
    check(writes().rule(Action::Ask, "file_*"), "because ").await;
    check(
        case("a rule for the door", [("change", json!({}))]).rule(Action::Deny, "call_tool"),
        "done with {}",
    )
    .await;
    // Pages.
    check(case("page", [("reply", json!({}))]), "reply belongs to the page ticket").await;
    check(case("page", [("reply", json!({}))]).page("ticket"), "result of reply: done with {}").await;
    // Going round in circles.
    check(
        case("repeats", [look(json!({})), look(json!({})), look(json!({}))]),
        "you have made exactly this call of look",
    )
    .await;
    check(
        case("failing", [look(json!({ "then": "fail" }))])
            .then([look(json!({ "then": "fail" }))])
            .then([("change", json!({ "then": "fail" }))])
            .then([look(json!({ "then": "fail" }))]),
        "exactly this call of look has failed 2 times",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn people_see_the_tool_that_is_meant() {
    let both = || case("approval", [write("src/b.txt", "two\n"), ("risky", json!({ "ms": 1 }))]);
    check(both(), "asked: risky {\"ms\":1} ").await;
    check(both(), "because The risky asks before it runs").await;
    check(both(), "Diff { title: \"src/b.txt\"").await;
    check(both().answer(|_| Some(Decision::Deny { reason: "no".to_owned() })), "The person declined: no")
        .await;
    check(both().answer(|_| None), "suspended with 2 questions").await;
    let other = |ask: &Ask| {
        let mut arguments = ask.arguments.clone();
        arguments["ms"] = json!(7);
        let changed = Decision::AllowWith { arguments };
        Some(if ask.call.name == "risky" { changed } else { Decision::Allow })
    };
    check(both().answer(other), "risky (The risky) starts with {\"ms\":7}").await;
    // A yes that is remembered covers the next one, which is not asked about any more.
    let remembers = |ask: &Ask| {
        let picked = ask.proposals.first().cloned();
        Some(picked.map_or(Decision::Allow, |remember| Decision::AllowAndRemember { remember }))
    };
    let twice =
        case("remembering", [write("src/b.txt", "1")]).then([write("src/c.txt", "2")]).answer(remembers);
    let seen = played(&twice, Way::Through).await.0;
    assert_eq!(seen.iter().filter(|line| line.starts_with("asked:")).count(), 1, "{seen:#?}");
    check(twice, "given: AllowAndRemember").await;
}

#[tokio::test(start_paused = true)]
async fn it_runs_as_the_tool_that_is_meant() {
    let on = |tool: &'static str, thing: &str| (tool, json!({ "ms": 100, "on": thing }));
    // Reads side by side, writes one after the other, what touches the same thing in order.
    check(case("reads", [on("look", "a"), on("look", "a")]), "100: result of look").await;
    check(case("writes", [on("change", "a"), on("change", "b")]), "200: result of change").await;
    check(case("touches", [on("change", "a"), on("look", "a"), on("look", "b")]), "200: result of look")
        .await;
    // Ends.
    check(
        case("deadline", [("change", json!({ "ms": 5000 }))]),
        "did not finish within 1 s and was stopped. What it",
    )
    .await;
    check(case("ends the run", [("finish", json!({}))]).then([("change", json!({}))]), "result of finish")
        .await;
    let ends_batch = case("ends the batch", [("switch", json!({})), ("look", json!({}))]);
    check(ends_batch, "result of look: Not run: a call before it").await;
    check(
        case("panic", [("change", json!({ "then": "panic" }))]),
        "The tool broke (broken). What it changed",
    )
    .await;
    // Afterwards.
    check(case("spill", [("look", json!({ "then": "long" }))]), "ROOT/spill/….txt").await;
    check(case("files", [write("src/b.txt", "x")]), "\"changed\":[\"ROOT/src/b.txt\"]").await;
    check(case("after a write", [write("src/b.txt", "x")]), "|checked ROOT/src/b.txt").await;
    check(case("read", [("file_read", json!({ "path": "src/a.txt" }))]), "\"read\":[\"ROOT/src/a.txt\"]")
        .await;
    check(case("domain", [("look", json!({ "ms": 3 }))]), "domain: look look {\"ms\":3}").await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_answered_with_the_schema() {
    let wrong = case("schema", [("look", json!({ "mss": 1 }))]);
    let plain = played(&wrong, Way::Plain).await.0;
    let said = "result of look: The arguments of look do not fit its schema, so it was not run:\n\
                - /mss: is not a known property; known are ms, on, ticket, then";
    assert!(plain.iter().any(|line| line.contains(said)), "{plain:#?}");
    for way in [Way::Through, Way::ByName] {
        let mut seen = played(&wrong, way).await.0;
        let result = seen.iter_mut().find(|line| line.contains(said)).unwrap();
        let (before, schema) = result.split_once("\nIts arguments (JSON Schema): ").unwrap();
        let schema: Value = serde_json::from_str(schema).unwrap();
        assert_eq!(schema, Probe::tool("look", |_| {}).spec().schema);
        *result = before.to_owned();
        assert_eq!(seen, plain, "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_suspended_call_is_understood_again() {
    let case = case("resume", [write("src/a.txt", "two\n")]).answer(|_| None);
    let mut worlds = Vec::new();
    for way in [Way::Plain, Way::Through, Way::ByName] {
        let world = World::new(&case, way);
        let Outcome::Suspended { asks } = world.agent.prompt("Go.").await.unwrap() else { panic!("{way:?}") };
        assert_eq!((asks.len(), asks[0].call.name.as_str()), (1, "file_write"), "{way:?}");
        let answers = Decisions::to(&asks, [Decision::Allow]);
        assert!(matches!(world.agent.resume(answers).await.unwrap(), Outcome::Completed), "{way:?}");
        assert_eq!(world.file("src/a.txt").as_deref(), Some("one\n"), "{way:?}: it was not read before");
        worlds.push(world.seen());
    }
    assert_eq!(worlds[1], worlds[0]);
    assert_eq!(worlds[2], worlds[0]);
}

#[tokio::test(start_paused = true)]
async fn the_conversation_keeps_the_call_that_was_made() {
    let case = case("record", [("look", json!({ "ms": 1 }))]);
    let world = World::new(&case, Way::Through);
    world.agent.prompt("Go.").await.unwrap();
    let said = world.agent.with(|cx| cx.messages.clone()).await.unwrap();
    let [_, Message::Assistant(answer), Message::ToolResult(result), _] = said.as_slice() else {
        panic!("{said:#?}")
    };
    let call = answer.calls().next().unwrap();
    assert_eq!((call.name.as_str(), call.id.as_str()), (deferred::CALL, "c1"));
    assert_eq!(call.arguments.text(), "{\"name\":\"look\",\"arguments\":{\"ms\":1}}");
    assert_eq!((result.tool.as_str(), result.call.as_str()), ("look", "c1"));
}

/// A program that ended in the middle of a call: whoever knows what became of it is asked about the tool that it was for.
#[tokio::test(start_paused = true)]
async fn a_call_that_was_left_is_told_by_the_tool_that_is_meant() {
    for (name, arguments, expected) in [
        (deferred::CALL, r#"{"name":"change","arguments":{}}"#, "change: change was left."),
        ("change", "{}", "change: change was left."),
        (deferred::CALL, r#"{"name":"chang"}"#, "chang: chang was left."),
        (deferred::CALL, "{\"name\":", "call_tool: call_tool was left."),
    ] {
        let world = World::new(&case("left", []), Way::Through);
        let origin =
            Origin { dialect: Dialect::Responses, provider: String::new(), model: "scripted".into() };
        let mut answer = Assistant::empty(MessageId::from("a1"), origin);
        answer.stop = StopReason::ToolUse;
        let arguments = Arguments::from_text(arguments);
        answer.blocks = vec![Block::ToolCall(ToolCall { id: "c1".into(), name: name.to_owned(), arguments })];
        let before = vec![User::text("Change it.").into(), Message::from(answer)];
        world.agent.with(|cx| cx.messages = before).await.unwrap();
        world.agent.prompt("Go on.").await.unwrap();
        let said = world.agent.with(|cx| cx.messages.clone()).await.unwrap();
        let Some(Message::ToolResult(result)) = said.get(2) else { panic!("{said:#?}") };
        assert_eq!(format!("{}: {}", result.tool, text(&result.content)), expected, "{name}");
    }
}

/// Promise 4, with tools that are loaded on the way: what is sent stays the same, and nothing of what is deferred is in it.
#[tokio::test(start_paused = true)]
async fn promise_4_loading_changes_nothing_that_was_sent() {
    const TURNS: usize = 50;
    for dialect in Dialect::ALL {
        let turn = |number: usize| {
            let through = |name: &str, args: Value| {
                Call::new(deferred::CALL, json!({ "name": name, "arguments": args }))
            };
            let turn = Turn::new().thinking(format!("Thought {number}."));
            match number % 5 {
                0 => turn.step(Step::Call(Call::new(deferred::LOAD, json!({ "names": ["look", "change"] })))),
                1 => turn.step(Step::Call(through("look", json!({ "ticket": number.to_string() })))),
                2 => turn.step(Step::Call(Call::new("change", json!({ "ticket": number.to_string() })))),
                3 => turn.step(Step::Call(through("loook", json!({})))),
                _ => turn
                    .step(Step::Call(through("look", json!({ "mss": number }))))
                    .step(Step::Call(Call::new(deferred::LOAD, json!({ "names": ["risky", "nothing"] })))),
            }
        };
        let scenario =
            (0..TURNS).map(turn).fold(Scenario::new(), Scenario::turn).turn(Turn::new().text("Done."));
        let transport = ScriptedTransport::new(scenario);
        let mut settings = EndpointSettings::new(HostKind::Foundry);
        settings.resource = Some("scripted".into());
        settings.auth = Some(AuthSettings::None {});
        let (endpoint, _) = settings.resolve(&|_| None).unwrap();
        let provider =
            Remote::new(Arc::new(endpoint), dialect, Arc::new(NoCredential), Arc::new(transport.clone()));
        let model = Model { cache: cache::usual(dialect), ..Model::assumed("m", dialect) };

        let world = World::new(&case("prefix", []), Way::Through);
        let mut context = Context::new(Arc::new(provider), Arc::new(model));
        world
            .agent
            .with(|cx| (context.system, context.tools) = (cx.system.clone(), cx.tools.clone()))
            .await
            .unwrap();
        let agent = Agent::new(context, vec![Arc::new(SchemaGate::new())]);
        let outcome = agent.prompt("Look at everything.").await.unwrap();
        assert!(matches!(outcome, Outcome::Completed), "{dialect}: {outcome:?}");

        let bodies: Vec<_> =
            transport.script().captured().into_iter().map(|captured| captured.body).collect();
        assert_eq!(bodies.len(), TURNS + 1, "{dialect}");
        prefix::grows_at_the_end(dialect, &bodies).unwrap();
        let first: Value = serde_json::from_slice(&bodies[0]).unwrap();
        let name = |tool: &Value| tool.pointer("/name").or(tool.pointer("/function/name")).cloned();
        let names: Vec<Value> = first["tools"].as_array().unwrap().iter().filter_map(name).collect();
        assert_eq!(names, [deferred::CALL, deferred::LOAD], "{dialect}");
        assert!(first.to_string().contains("- look: Does as told"), "{dialect}: the list is in the prompt");
        let results = agent.with(|cx| cx.messages.clone()).await.unwrap();
        let worked = |message: &&Message| matches!(message, Message::ToolResult(result) if result.status == ResultStatus::Ok);
        assert_eq!(results.iter().filter(worked).count(), 40, "{dialect}: all but the slips");
    }
}
