//! Runs without a client, through the engine and sessions on disk: background work, threads, triggers, workflows,
//! suggestions. Processes end in between.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mica_agent::tool::{Access, Approval};
use mica_agent::{Decision, Decisions, Outcome, Tool, ToolOutput, TypedTool};
use mica_ai::{Dialect, Model};
use mica_domain::capture::{About, Base, Bundles, Subject};
use mica_domain::runners::{
    Attended, By, Clock, Making, OpenError, OpenSessions, Opens, Past, Reply, StepEnd, Suggested, Suggestion,
    Thread, ThreadAgent, ThreadMessage, ThreadSetup, WorkflowStep, chat, later, run_step, suggest,
};
use mica_domain::store::Variables;
use mica_domain::tasks::{
    Announced, Summary, TaskKind, TaskKinds, TaskStatus, Waker, Watch, WatchState, Watcher, WatcherLimits,
};
use mica_domain::triggers::{
    Agents, Dispatcher, DispatcherLimits, EventKinds, FieldKind, FireState, Happened, Known, TriggerSet, What,
};
use mica_domain::{
    Act, Autonomy, Capability, Domain, InMemory, Minted, Page, Profile, Records, Rights, Section, Setup,
    Static,
};
use mica_session::{Access as SessionAccess, Sessions};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use support::{lines, noon, says};

/// The state of the world outside of every process.
#[derive(Clone)]
struct World {
    folder: Arc<tempfile::TempDir>,
    files: Arc<Mutex<BTreeMap<String, PathBuf>>>,
    records: InMemory,
    jobs: Arc<Mutex<BTreeMap<String, Value>>>,
    sent: Arc<Mutex<Vec<String>>>,
    seconds: Arc<Mutex<u64>>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Look {
    /// At what.
    #[serde(default)]
    #[allow(dead_code, reason = "it makes calls differ")]
    what: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    to: String,
}

impl World {
    fn new() -> Self {
        Self {
            folder: Arc::new(tempfile::tempdir().unwrap()),
            files: Arc::default(),
            records: InMemory::default(),
            jobs: Arc::default(),
            sent: Arc::default(),
            seconds: Arc::default(),
        }
    }

    fn clock(&self) -> Clock {
        let seconds = Arc::clone(&self.seconds);
        Arc::new(move || later(noon(), Duration::from_secs(*seconds.lock().unwrap())))
    }

    fn now(&self) -> Timestamp {
        (self.clock())()
    }

    fn pass(&self, seconds: u64) {
        *self.seconds.lock().unwrap() += seconds;
    }

    fn records(&self) -> Arc<dyn Records> {
        Arc::new(self.records.clone())
    }

    fn sent(&self) -> Vec<String> {
        self.sent.lock().unwrap().clone()
    }

    /// A process, whose model says this.
    fn process(&self, turns: impl IntoIterator<Item = Turn>) -> Process {
        let scenario = turns.into_iter().fold(Scenario::new(), Scenario::turn);
        let model = ScriptedModel::new(scenario);
        let waker = Waker::default();
        let making = Arc::new(Shop { world: self.clone(), model: model.clone() });
        Process {
            world: self.clone(),
            sessions: OpenSessions::new(making).waking(waker.clone()),
            model,
            waker,
        }
    }
}

struct Process {
    world: World,
    sessions: OpenSessions,
    model: ScriptedModel,
    waker: Waker,
}

impl Process {
    fn watcher(&self) -> Watcher {
        let kinds = TaskKinds::new([Arc::new(Job(self.world.clone())) as Arc<dyn TaskKind>]);
        let opening = Arc::new(self.sessions.clone());
        Watcher::new(
            "w",
            self.world.records(),
            kinds,
            opening,
            self.world.clock(),
            WatcherLimits::default(),
            self.waker.clone(),
        )
    }

    async fn tick(&self) -> Vec<Watch> {
        let watcher = self.watcher();
        watcher.tick(self.world.now()).await.unwrap();
        watcher.watches().of("chat").await.unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.model.requests().last().map(|request| lines(request)).unwrap_or_default()
    }
}

struct Shop {
    world: World,
    model: ScriptedModel,
}

#[async_trait]
impl Making for Shop {
    async fn setup(&self, session: &str, opens: Option<&Opens>) -> Result<Setup, OpenError> {
        let sessions = Sessions::new(self.world.folder.path(), noon);
        let known = self.world.files.lock().unwrap().get(session).cloned();
        let file = match (known, opens) {
            (Some(path), _) => sessions.open(&path, SessionAccess::Write).map_err(|error| {
                OpenError::Failed { session: session.to_owned(), problem: error.to_string() }
            })?,
            (None, Some(_)) => sessions.create(Path::new("/product"), None).unwrap(),
            (None, None) => {
                let reason = "deleted".to_owned();
                return Err(OpenError::Gone { session: session.to_owned(), reason });
            }
        };
        self.world.files.lock().unwrap().insert(session.to_owned(), file.path().to_owned());
        let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
        let domain = Arc::new(Store(self.world.clone()));
        let mut setup = Setup::new(domain, Arc::new(self.model.clone()), model, self.world.clock());
        setup.records = self.world.records();
        Ok(setup.in_session(file))
    }
}

/// A shop: it looks, sends letters when a person agrees, and counts its stock in the background.
struct Store(World);

#[async_trait]
impl Domain for Store {
    fn name(&self) -> &str {
        "store"
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You work in a shop.")]
    }

    fn capabilities(&self) -> Vec<Capability> {
        let look = TypedTool::new("look", "Looks.", |_: Look, _| async { Ok(ToolOutput::text("seen")) });
        let sent = Arc::clone(&self.0.sent);
        let letter = TypedTool::new("letter_send", "Sends a letter.", move |letter: Letter, _| {
            sent.lock().unwrap().push(letter.to.clone());
            async move { Ok(ToolOutput::text(format!("sent to {}", letter.to))) }
        })
        .with(|spec| (spec.approval, spec.access) = (Approval::Needed, Access::Write));
        let jobs = Arc::clone(&self.0.jobs);
        let count =
            TypedTool::new("stock_count", "Counts the stock in the background.", move |_: Nothing, _| {
                jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": false }));
                async { Ok(ToolOutput::text("Begun.").with_details(Announced::new("count", "j1").details())) }
            });
        let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(look), Arc::new(letter), Arc::new(count)];
        let mint = |args: &mica_agent::Args, minting: &mica_domain::Minting| Minted {
            text: format!("{} would be sent to {}", minting.id, args["to"]),
            details: json!({ "id": minting.id }),
        };
        let letters = Act::of("letter_send").needing("letters").minting(mint);
        vec![Capability::new(Page::Global, "works in the shop", tools).acting(letters)]
    }

    fn task_kinds(&self) -> Vec<Arc<dyn TaskKind>> {
        vec![Arc::new(Job(self.0.clone()))]
    }
}

struct Job(World);

#[async_trait]
impl TaskKind for Job {
    fn kind(&self) -> &str {
        "count"
    }
    async fn load(&self, reference: &str) -> Result<Option<Value>, String> {
        Ok(self.0.jobs.lock().unwrap().get(reference).cloned())
    }
    fn is_terminal(&self, task: &Value) -> bool {
        task["done"] == true
    }
    fn summarise(&self, task: &Value) -> Summary {
        Summary {
            status: TaskStatus::Completed,
            line: format!("{} things", task["things"]),
            instruction: "Say how many.".to_owned(),
        }
    }
}

fn opens(session: &str) -> Opens {
    Opens {
        session: session.to_owned(),
        agent: "clerk".to_owned(),
        profile: Profile::default(),
        rights: Rights::All,
        autonomy: Autonomy::default(),
    }
}

fn text(text: &str) -> Turn {
    Turn::new().text(text)
}

fn letter(to: &str) -> Turn {
    Turn::new().call("letter_send", json!({ "to": to }))
}

const NEWS: &str = "user: Background work that was started in this conversation has news; no person wrote this.\n\
    <task-notification kind=\"count\" ref=\"j1\" status=\"completed\">\n7 things\n</task-notification>\nSay how many.";

/// Nobody is connected, and the process that began the work is gone: the conversation picks up once.
#[tokio::test]
async fn work_that_ends_picks_the_conversation_up_once() {
    let world = World::new();
    let first = world.process([Turn::new().call("stock_count", json!({})), text("It runs.")]);
    let turned = chat(&first.sessions, &opens("chat"), says("Count.")).await.unwrap();
    assert_eq!(turned.text, "It runs.");
    let watches = first.tick().await;
    assert_eq!(watches[0].state, WatchState::Watching);
    drop(first);
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true, "things": 7 }));
    world.pass(60);
    let second = world.process([text("There are 7.")]);
    let watches = second.tick().await;
    assert!(
        matches!(&watches[0].state, WatchState::Delivered { outcome, .. } if outcome == "completed"),
        "{watches:?}"
    );
    let asked = ["user: Count.", "model: stock_count{}", "stock_count: Begun.", "model: It runs.", NEWS];
    assert_eq!(second.asked(), asked);
    drop(second);
    world.pass(600);
    let third = world.process([text("Never said.")]);
    third.tick().await;
    assert_eq!(third.model.requests().len(), 0);
}

/// A person is asked something: the news wait, and the answer is not lost.
#[tokio::test]
async fn news_wait_until_a_person_decided() {
    let world = World::new();
    let both = Turn::new().call("stock_count", json!({}));
    let first = world.process([both, letter("Ann"), text("Ann has it."), text("There are 7.")]);
    let turned = chat(&first.sessions, &opens("chat"), says("Count, and write to Ann.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Suspended { .. }));
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true, "things": 7 }));
    let watches = first.tick().await;
    assert!(watches[0].ready && watches[0].state == WatchState::Watching);
    let copilot = first.sessions.copilot("chat", None).await.unwrap();
    let asks = copilot.waiting();
    copilot.answer(Decisions::to(&asks, [Decision::Allow])).await.unwrap();
    assert_eq!(world.sent(), ["Ann"]);
    world.pass(10);
    let watches = first.tick().await;
    assert!(watches[0].is_over());
    assert_eq!(first.asked().last().unwrap(), NEWS);
}

#[tokio::test]
async fn nobody_is_told_of_a_session_that_is_gone() {
    let world = World::new();
    let first = world.process([Turn::new().call("stock_count", json!({})), text("It runs.")]);
    chat(&first.sessions, &opens("chat"), says("Count.")).await.unwrap();
    drop(first);
    world.files.lock().unwrap().clear();
    world.jobs.lock().unwrap().insert("j1".to_owned(), json!({ "done": true }));
    let second = world.process([]);
    assert!(matches!(&second.tick().await[0].state, WatchState::Gone { reason, .. } if reason == "deleted"));
}

#[derive(Clone, Default)]
struct Mail(Arc<Mutex<Vec<ThreadMessage>>>);

impl Mail {
    fn add(&self, id: &str, by: By) {
        let text = format!("words of {id}");
        self.0.lock().unwrap().push(ThreadMessage { id: id.to_owned(), by, text });
    }

    fn replies(&self) -> Vec<String> {
        let messages = self.0.lock().unwrap();
        let own = messages.iter().filter(|message| matches!(message.by, By::Own { .. }));
        own.map(|message| message.text.clone()).collect()
    }
}

#[async_trait]
impl Thread for Mail {
    async fn messages(&self, _: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String> {
        let messages = self.0.lock().unwrap();
        let from = messages.iter().position(|message| Some(message.id.as_str()) == after);
        Ok(messages.iter().skip(from.map_or(0, |from| from + 1)).cloned().collect())
    }

    async fn reply(&self, _: &str, reply: &Reply) -> Result<(), String> {
        let by = By::Own { key: Some(reply.key.clone()) };
        let mut messages = self.0.lock().unwrap();
        if !messages.iter().any(|message| message.by == by) {
            messages.push(ThreadMessage { id: format!("re:{}", reply.to), by, text: reply.text.clone() });
        }
        Ok(())
    }
}

fn thread_agent(process: &Process, mail: &Mail) -> ThreadAgent {
    let setup = ThreadSetup::new("clerk", Rights::All);
    let opening = Arc::new(process.sessions.clone());
    ThreadAgent::new(setup, Arc::new(mail.clone()), opening, process.world.records(), process.world.clock())
}

#[tokio::test]
async fn a_thread_is_answered_across_processes() {
    let (world, mail) = (World::new(), Mail::default());
    let name = |name: &str| name.to_owned();
    mail.add("a0", By::Own { key: None });
    mail.add("m1", By::Inbound { name: name("Ann") });
    let first = world.process([text("Hello Ann.")]);
    assert_eq!(thread_agent(&first, &mail).attend("t").await.unwrap(), Attended::Done { answers: 1 });
    drop(first);
    mail.add("t1", By::Teammate { name: name("Bo") });
    mail.add("m2", By::Inbound { name: name("Ann") });
    let second = world.process([Turn::new().call("look", json!({})), text("Here you are.")]);
    assert_eq!(thread_agent(&second, &mail).attend("t").await.unwrap(), Attended::Done { answers: 1 });
    assert_eq!(
        second.asked(),
        [
            "user: Background: what follows was said earlier, elsewhere.",
            "model: words of a0",
            "user: <message from=\"Ann\">\nwords of m1\n</message>",
            "model: Hello Ann.",
            "user: Background: a teammate answered in this thread. Nothing is asked of you here.\n<teammate \
             from=\"Bo\">\nwords of t1\n</teammate>",
            "user: <message from=\"Ann\">\nwords of m2\n</message>",
            "model: look{}",
            "look: seen",
        ]
    );
    assert_eq!(mail.replies(), ["words of a0", "Hello Ann.", "Here you are."]);
}

/// The model fails in the middle of an answer, after a call: the next process goes on, and the message is said once.
#[tokio::test]
async fn an_answer_that_broke_off_is_gone_on_with() {
    let (world, mail) = (World::new(), Mail::default());
    mail.add("m1", By::Inbound { name: "Ann".to_owned() });
    let first = world.process([Turn::new().call("look", json!({}))]);
    let attended = thread_agent(&first, &mail).attend("t").await.unwrap();
    assert!(matches!(attended, Attended::Failed { .. }), "{attended:?}");
    drop(first);
    mail.add("m2", By::Inbound { name: "Ann".to_owned() });
    let second = world.process([text("To the first."), text("To the second.")]);
    let swept = thread_agent(&second, &mail).sweep().await.unwrap();
    assert_eq!(swept, [("t".to_owned(), Ok(Attended::Done { answers: 2 }))]);
    assert_eq!(mail.replies(), ["To the first.", "To the second."]);
    let said = second.asked();
    for id in ["m1", "m2"] {
        let count = said.iter().filter(|line| line.contains(&format!("words of {id}"))).count();
        assert_eq!(count, 1, "{id}: {said:#?}");
    }
}

struct Staff;

#[async_trait]
impl Agents for Staff {
    async fn agent(&self, _: &str) -> Option<Rights> {
        Some(Rights::of(["letters"]))
    }
    async fn person(&self, person: &str) -> Option<Rights> {
        Some(if person == "ann" { Rights::of(["letters"]) } else { Rights::none() })
    }
}

const TRIGGERS: &str = r#"
[[trigger]]
id = "order"
agent = "clerk"
instructions = "Thank them."
on = { kind = "event", event = "order.placed", filter = [{ field = "total", at_least = 100 }] }

[[trigger]]
id = "named"
agent = "clerk"
instructions = "Do it."
autonomy = { usually = "auto" }
on = { kind = "mention" }
"#;

fn dispatcher(process: &Process) -> Dispatcher {
    let known = Known {
        agents: ["clerk".to_owned()].into(),
        tools: Default::default(),
        events: EventKinds::default().with("order.placed", [("total", FieldKind::Number)]),
    };
    let set = TriggerSet::from_toml(TRIGGERS, &known).unwrap();
    let (records, clock) = (process.world.records(), process.world.clock());
    let opening = Arc::new(process.sessions.clone());
    Dispatcher::new("d", set, records, opening, Arc::new(Staff), clock, DispatcherLimits::default())
}

/// What a person would be asked about is captured: nothing is sent, and a bundle waits.
#[tokio::test]
async fn a_trigger_captures_what_a_person_decides_about() {
    let world = World::new();
    let process = world.process([letter("Ann"), text("I would thank Ann.")]);
    let dispatcher = dispatcher(&process);
    let mut order = Happened::new("o1", What::Event { event: "order.placed".to_owned() });
    order.fields.insert("total".to_owned(), json!(120));
    order.subject = Some(Subject::new("order", "o1"));
    dispatcher.happened(&order).await.unwrap();
    dispatcher.tick(world.now()).await.unwrap();
    let fire = dispatcher.fires("order").await.unwrap().remove(0);
    let FireState::Ended { outcome, summary, bundle: Some(bundle), error: None, .. } = fire.state else {
        panic!("{fire:?}")
    };
    assert_eq!(
        (outcome.as_str(), summary.as_str()),
        ("completed", "I would thank Ann.\nProposed, not done: letter_send (to: Ann).")
    );
    assert_eq!(world.sent(), [] as [&str; 0], "nothing was sent");
    let bundle = Bundles::new(world.records()).get(&bundle).await.unwrap();
    let tools: Vec<&str> = bundle.actions.iter().map(|action| action.tool.as_str()).collect();
    assert_eq!(tools, ["letter_send"]);
    assert_eq!(bundle.about.subject, Some(Subject::new("order", "o1")));
    assert_eq!(bundle.about.kind, "order");
}

/// The model fails in the middle: the next try is the same fire, about the same thing, and what was captured is one bundle.
/// Also when another process tries it again.
#[tokio::test]
async fn a_fire_that_is_tried_again_captures_for_the_same() {
    for restarted in [false, true] {
        let world = World::new();
        let mut process = world.process([
            letter("Ann"),
            Turn::error("azure_401".into()),
            letter("Bob"),
            text("I would thank both."),
        ]);
        let mut order = Happened::new("o1", What::Event { event: "order.placed".to_owned() });
        order.fields.insert("total".to_owned(), json!(120));
        order.subject = Some(Subject::new("order", "o1"));
        order.base = Base::version("7");
        dispatcher(&process).happened(&order).await.unwrap();
        dispatcher(&process).tick(world.now()).await.unwrap();
        let fire = dispatcher(&process).fires("order").await.unwrap().remove(0);
        assert!(matches!(fire.state, FireState::Pending { .. }), "{fire:?}");
        if restarted {
            drop(process);
            process = world.process([letter("Bob"), text("I would thank both.")]);
        }
        world.pass(60);
        dispatcher(&process).tick(world.now()).await.unwrap();
        let fire = dispatcher(&process).fires("order").await.unwrap().remove(0);
        let FireState::Ended { outcome, bundle: Some(bundle), error: None, .. } = &fire.state else {
            panic!("{fire:?}")
        };
        assert_eq!((outcome.as_str(), bundle.as_str(), fire.tries), ("completed", "fire/order/o1", 2));
        let all = Bundles::new(world.records()).list().await.unwrap();
        assert_eq!(all.len(), 1, "{restarted}: {all:?}");
        assert_eq!(all[0].proposal(), "Proposed, not done: letter_send (to: Ann); letter_send (to: Bob).");
        assert_eq!(all[0].summary, "I would thank both.");
        let about = &all[0].about;
        assert_eq!(
            (about.subject.as_ref(), &about.base),
            (Some(&Subject::new("order", "o1")), &Base::version("7"))
        );
        assert_eq!((about.kind.as_str(), about.session.as_deref()), ("order", Some("fire/order/o1")));
    }
}

/// An agent that acts for somebody has what both may do: a tool that needs more is not there.
#[tokio::test]
async fn whoever_causes_a_run_lends_it_their_rights() {
    let world = World::new();
    let process = world.process([letter("Ann"), text("Done."), text("I cannot.")]);
    let dispatcher = dispatcher(&process);
    for (id, by) in [("n1", "ann"), ("n2", "bo")] {
        let what = What::Mention { agent: "clerk".to_owned() };
        dispatcher
            .happened(&Happened { invoker: Some(by.to_owned()), ..Happened::new(id, what) })
            .await
            .unwrap();
        dispatcher.tick(world.now()).await.unwrap();
    }
    assert_eq!(world.sent(), ["Ann"]);
    let tools = |number: usize| -> Vec<String> {
        process.model.requests()[number].tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert!(tools(0).contains(&"letter_send".to_owned()));
    assert!(!tools(2).contains(&"letter_send".to_owned()), "{:?}", tools(2));
}

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

fn suggestion(id: &str) -> Suggestion {
    Suggestion {
        id: id.to_owned(),
        agent: "clerk".to_owned(),
        rights: Rights::All,
        about: About { bundle: format!("b-{id}"), kind: "next".to_owned(), ..About::default() },
        prompt: "What should be done about this order?".to_owned(),
        reads: 2,
        limits: Default::default(),
    }
}

#[tokio::test]
async fn a_suggestion_looks_a_little_and_captures() {
    let world = World::new();
    let look = |what: u32| Turn::new().call("look", json!({ "what": what }));
    let process = world.process([look(1), look(2), look(3), letter("Ann"), text("Write to Ann.")]);
    let bundles = Bundles::new(world.records());
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    let Suggested::Bundle { bundle, summary, limit: None } = suggested else { panic!("{suggested:?}") };
    assert_eq!((bundle.id(), bundle.actions.len(), summary.as_str()), ("b-s1", 1, "Write to Ann."));
    assert_eq!(world.sent(), [] as [&str; 0]);
    let results: Vec<String> =
        process.asked().into_iter().filter(|line| line.starts_with("look: ")).collect();
    let denied = "look: You looked at 2 things, and no more are allowed. Decide with what you know.";
    assert_eq!(results, ["look: seen", "look: seen", denied]);
    // The same is thought about once.
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    assert!(matches!(&suggested, Suggested::Bundle { bundle, .. } if bundle.id() == "b-s1"), "{suggested:?}");
    assert_eq!(process.model.requests().len(), 5);
}

#[tokio::test]
async fn a_suggestion_may_be_to_do_nothing() {
    let world = World::new();
    let process =
        world.process([Turn::new().call("suggest_nothing", json!({ "reason": "It is paid." })), text("No.")]);
    let bundles = Bundles::new(world.records());
    let suggested = suggest(&process.sessions, &bundles, &suggestion("s1")).await.unwrap();
    assert!(matches!(&suggested, Suggested::Nothing { reason } if reason == "It is paid."), "{suggested:?}");
    assert_eq!(process.model.requests().len(), 1);
}

/// A session is open once: whoever wants it gets the same, and one who may do something else gets it when it is free.
#[tokio::test]
async fn a_session_is_open_once() {
    let world = World::new();
    let process = world.process([text("One."), text("Two.")]);
    let sessions = process.sessions.clone();
    let one = sessions.copilot("chat", Some(&opens("chat"))).await.unwrap();
    let two = sessions.copilot("chat", None).await.unwrap();
    assert!(Arc::ptr_eq(&one, &two));
    let other = Opens { rights: Rights::none(), ..opens("chat") };
    let refused = sessions.copilot("chat", Some(&other)).await.err().unwrap();
    assert_eq!(refused.to_string(), "the session chat cannot be opened: it is open for somebody else");
    assert!(!sessions.close("chat").await);
    one.say(says("Hello.")).await.unwrap();
    drop((one, two));
    let less = sessions.copilot("chat", Some(&other)).await.unwrap();
    less.say(says("Again.")).await.unwrap();
    assert!(!process.model.requests()[1].tools.iter().any(|tool| tool.name == "letter_send"));
    assert_eq!(process.asked(), ["user: Hello.", "model: One.", "user: Again."]);
    drop(less);
    assert!(sessions.close("chat").await);
}

/// Sessions that nobody uses are closed, the oldest first, and opened again as they were.
#[tokio::test]
async fn sessions_that_nobody_uses_are_closed() {
    let world = World::new();
    let process = world.process([text("One."), text("Two."), text("Three."), text("Again.")]);
    let sessions = process.sessions.clone().keeping(2);
    for session in ["a", "b", "c"] {
        chat(&sessions, &opens(session), says("Hello.")).await.unwrap();
    }
    let files = Sessions::new(world.folder.path(), noon);
    let open: Vec<bool> =
        ["a", "b", "c"].iter().map(|session| files.is_open(&world.files.lock().unwrap()[*session])).collect();
    assert_eq!(open, [false, true, true]);
    chat(&sessions, &opens("a"), says("Me again.")).await.unwrap();
    assert_eq!(process.asked(), ["user: Hello.", "model: One.", "user: Me again."]);
}
