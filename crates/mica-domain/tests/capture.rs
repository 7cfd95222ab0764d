//! A run that nobody watches, from what it proposes to what a person has done of it, with processes that end in between.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jiff::SignedDuration;
use mica_agent::tool::{Access, Approval, Effect};
use mica_agent::{Outcome, Tool, ToolOutput, ToolSpec, TypedTool};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model, Request};
use mica_domain::approvals::{CardState, Choice, Deed, Person, trail};
use mica_domain::autonomy::Judge;
use mica_domain::capture::{
    About, Activity, Applier, Base, Bundle, Bundles, Picked, State, Status, Subject, toolbox,
};
use mica_domain::{
    Act, ApprovalMode, Autonomy, Capability, Copilot, Domain, InMemory, Minted, Page, Profile, Records,
    Rights, Said, Setup, State as Remembered,
};
use mica_session::{Access as SessionAccess, Sessions};
use mica_testkit::{Scenario, ScriptedModel, Turn};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Task {
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct Link {
    task: String,
    thread: String,
}

#[derive(Deserialize, JsonSchema)]
struct Reply {
    thread: String,
    body: String,
    send: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Find {
    task: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A support desk with a database that remembers which keys were used.
#[derive(Clone, Default)]
struct Support {
    done: Arc<Mutex<Vec<String>>>,
    used: Arc<Mutex<BTreeMap<String, Value>>>,
    /// Told when a call never ends.
    hangs: Arc<tokio::sync::Notify>,
    /// What the domain was told of results.
    mined: Arc<Mutex<Vec<String>>>,
}

impl Support {
    /// Does something once for a key.
    fn once(&self, key: &str, what: String, details: impl FnOnce(usize) -> Value) -> ToolOutput {
        let (mut used, mut done) = (self.used.lock().unwrap(), self.done.lock().unwrap());
        let made = used.entry(key.to_owned()).or_insert_with(|| {
            done.push(what);
            details(done.len())
        });
        ToolOutput::text("done").with_details(made.clone())
    }

    fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

#[async_trait]
impl Domain for Support {
    fn name(&self) -> &str {
        "support"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let writes = |spec: &mut ToolSpec, approval: Approval| {
            (spec.access, spec.effect, spec.approval) = (Access::Write, Effect::Keyed, approval);
        };
        let desk = self.clone();
        let task = TypedTool::new("create_task", "Makes a task.", move |args: Task, cx| {
            let made = desk.once(
                &cx.effect_key,
                format!("task {}", args.title),
                |n| json!({ "task": { "id": format!("T-{n}") } }),
            );
            async move { Ok(made) }
        })
        .with(|spec| writes(spec, Approval::Needed));
        let desk = self.clone();
        let link = TypedTool::new("link_task", "Links a task to a thread.", move |args: Link, cx| {
            let made = desk.once(
                &cx.effect_key,
                format!("link {} {}", args.task, args.thread),
                |_| json!({ "linked": true }),
            );
            async move { Ok(made) }
        })
        .with(|spec| writes(spec, Approval::Needed));
        let desk = self.clone();
        let reply = TypedTool::new("reply", "Replies to a thread.", move |args: Reply, cx| {
            let how = if args.send { "send" } else { "draft" };
            let made = desk.once(
                &cx.effect_key,
                format!("{how} {}: {}", args.thread, args.body),
                |n| json!({ "mail": n }),
            );
            async move { Ok(made) }
        })
        .with(|spec| writes(spec, Approval::NotNeeded));
        let find = TypedTool::new("find_task", "Finds a task.", |args: Find, _| async move {
            Ok(ToolOutput::text(format!("there is no {}", args.task)))
        });
        let hangs = Arc::clone(&self.hangs);
        let hang = TypedTool::new("hang", "Never ends.", move |_: Nothing, _| {
            let hangs = Arc::clone(&hangs);
            async move {
                hangs.notify_one();
                std::future::pending().await
            }
        });
        let minted = |name: &'static str, what: &'static str| {
            Act::of(name).minting(move |_, minting| Minted {
                text: format!("{what} {}", minting.id),
                details: json!({ what: { "id": minting.id } }),
            })
        };
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(task), Arc::new(link), Arc::new(reply), Arc::new(find), Arc::new(hang)];
        vec![
            Capability::new(Page::Global, "works", tools)
                .acting(
                    minted("create_task", "task")
                        .amending("title")
                        .digesting(|args| format!("Task: {}", args["title"])),
                )
                .acting(
                    Act::of("link_task").minting(|_, _| Minted {
                        text: "linked".to_owned(),
                        details: json!({ "linked": true }),
                    }),
                )
                .acting(minted("reply", "mail").amending("body").asking_when(|args| {
                    args.get("send").and_then(Value::as_bool).ok_or_else(|| "send is not said".to_owned())
                })),
        ]
    }

    fn on_result(&self, call: &ToolCall, _: &ToolSpec, _: &ToolOutput, _: &mut Remembered) {
        self.mined.lock().unwrap().push(call.name.clone());
    }
}

/// How threads stand: by what was done at the desk.
#[async_trait]
impl Activity for Support {
    async fn of(&self, _: &Subject) -> Result<Base, String> {
        Ok(Base::version(self.done().len().to_string()))
    }
}

fn noon() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000).unwrap()
}

struct World {
    folder: tempfile::TempDir,
    support: Support,
    records: Arc<dyn Records>,
    path: Option<PathBuf>,
    /// Seconds since noon.
    now: Arc<std::sync::atomic::AtomicI64>,
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            support: Support::default(),
            records: Arc::new(InMemory::default()),
            path: None,
            now: Arc::default(),
        }
    }

    async fn open(&mut self, scenario: Scenario, autonomy: Autonomy) -> (Copilot, ScriptedModel) {
        let sessions = Sessions::new(self.folder.path(), noon);
        let session = match &self.path {
            None => sessions.draft(Path::new("/support"), None),
            Some(path) => sessions.open(path, SessionAccess::Write).unwrap(),
        };
        let (model, facts) =
            (ScriptedModel::new(scenario), Arc::new(Model::assumed("scripted", Dialect::Responses)));
        let now = Arc::clone(&self.now);
        let clock = Arc::new(move || {
            noon() + SignedDuration::from_secs(now.load(std::sync::atomic::Ordering::SeqCst))
        });
        let mut setup = Setup::new(Arc::new(self.support.clone()), Arc::new(model.clone()), facts, clock);
        setup.profile = Profile::AUTONOMOUS;
        setup.autonomy = autonomy;
        setup.records = Arc::clone(&self.records);
        let copilot = Copilot::open(setup.in_session(session)).await.unwrap();
        self.path = copilot.path();
        (copilot, model)
    }

    fn bundles(&self) -> Bundles {
        Bundles::new(Arc::clone(&self.records)).watching(Arc::new(self.support.clone()))
    }

    fn applier(&self) -> Applier {
        let (tools, acts) = toolbox(&self.support.capabilities());
        let judge = Arc::new(Judge::new(acts, Autonomy::default()));
        Applier::new(self.bundles(), tools, "server", Arc::new(noon)).judging(judge)
    }
}

fn about(id: &str, desk: &Support) -> About {
    About {
        bundle: id.to_owned(),
        kind: "sweep".to_owned(),
        subject: Some(Subject::new("thread", "th-7")),
        base: Base::version(desk.done().len().to_string()),
        by: Some("night".to_owned()),
        session: None,
    }
}

fn sweep() -> Scenario {
    Scenario::new()
        .turn(Turn::new().call("create_task", json!({ "title": "Call back" })))
        .turn(
            Turn::new()
                .call("link_task", json!({ "task": "temp_1", "thread": "th-7" }))
                .call("find_task", json!({ "task": "temp_1" })),
        )
        .turn(
            Turn::new()
                .call(
                    "reply",
                    json!({ "thread": "th-7", "body": "We call you back (temp_1).", "send": true }),
                )
                .call("reply", json!({ "thread": "th-7", "body": "For later.", "send": false })),
        )
        .turn(Turn::new().text("Proposed a task, its link and a reply."))
}

fn says(text: &str) -> Said {
    Said { text: text.to_owned(), ..Said::default() }
}

fn results(request: &Request) -> Vec<String> {
    let results = request.messages.iter().filter_map(|message| match message {
        Message::ToolResult(result) => match &result.content[0] {
            Content::Text { text } => Some(text.lines().next().unwrap().to_owned()),
            _ => None,
        },
        _ => None,
    });
    results.collect()
}

fn told(bundle: &Bundle) -> Vec<String> {
    let one = |action: &mica_domain::capture::Action| match &action.status {
        Status::Done { made, .. } => format!("done {}", made.clone().unwrap_or_default()),
        other => serde_json::to_value(other).unwrap()["is"].as_str().unwrap().to_owned(),
    };
    bundle.actions.iter().map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_proposes_three_and_a_person_has_two_of_them_done() {
    let mut world = World::new();
    let (copilot, model) = world.open(sweep(), Autonomy::all(ApprovalMode::Capture)).await;
    copilot.book().begin(about("night-1", &world.support)).await.unwrap();
    let turned = copilot.say(says("Sweep the inbox.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed), "{:?}", turned.outcome);
    let requests = model.requests();
    let awaits = |tool: &str| {
        format!(
            "Proposed, not done: {tool} awaits a person's approval, and they may say no. Nothing has changed. If it is \
             approved, this is predicted to come of it:"
        )
    };
    assert_eq!(
        results(requests.last().unwrap()),
        [
            awaits("create_task"),
            awaits("link_task"),
            "temp_1 does not exist yet: create_task would make it once a person approves. This is predicted, not found:"
                .to_owned(),
            awaits("reply"),
            "done".to_owned(),
        ]
    );
    assert_eq!(world.support.done(), ["draft th-7: For later."], "a draft asks nobody");
    assert_eq!(*world.support.mined.lock().unwrap(), ["reply"], "only what was really done is mined");
    let bundle = copilot.bundle().unwrap();
    assert_eq!((bundle.id(), &bundle.state), ("night-1", &State::Fresh));
    assert_eq!(bundle.summary, "Proposed a task, its link and a reply.");
    let needs: Vec<_> =
        bundle.actions.iter().map(|action| (action.digest.as_str(), action.needs.join(" "))).collect();
    assert_eq!(
        needs,
        [
            (r#"Task: "Call back""#, String::new()),
            ("link_task (task: temp_1, thread: th-7)", "temp_1".to_owned()),
            ("reply (thread: th-7, body: We call you back (temp_1)., send: true)", "temp_1".to_owned()),
        ]
    );
    drop(copilot);

    // The draft that the run made itself is activity; a person has looked, and renews it.
    let ann = ann();
    let applier = world.applier();
    let picked = Picked::some(["temp_1", "temp_3"]).editing("temp_1", "title", json!("Call back today"));
    let stale = applier.apply("night-1", &picked, &ann).await.unwrap_err();
    assert!(stale.to_string().starts_with("bundle night-1 is stale"), "{stale}");
    world.bundles().renew("night-1", &ann, noon()).await.unwrap();
    let bundle = applier.apply("night-1", &picked, &ann).await.unwrap();
    assert_eq!(bundle.state, State::PartiallyApproved);
    assert_eq!(told(&bundle), [r#"done "T-2""#, "open", "done null"]);
    assert_eq!(
        world.support.done()[1..],
        ["task Call back today", "send th-7: We call you back (T-2)."],
        "with the true id, and as the person changed it"
    );

    // The rest later, although the first part changed the thread: that was the bundle itself.
    let bundle = applier.apply("night-1", &Picked::all(&bundle), &ann).await.unwrap();
    assert_eq!((told(&bundle)[1].as_str(), &bundle.state), ("done null", &State::Approved));
    assert_eq!(world.support.done()[3..], ["link T-2 th-7"]);
    let deeds: Vec<_> = trail(&*world.records)
        .await
        .unwrap()
        .into_iter()
        .map(|entry| (entry.about, entry.trace.deed))
        .collect();
    assert_eq!(deeds.len(), 3);
    assert_eq!(deeds[0], ("bundle/night-1".to_owned(), Deed::Renewed));
    let Deed::Approved { what, edits } = &deeds[1].1 else { panic!("{deeds:?}") };
    assert_eq!(
        (what.join(" "), edits["temp_1"]["title"].clone()),
        ("temp_1 temp_3".to_owned(), json!("Call back today"))
    );
}

/// The process ends in the middle of a run: what was captured is offered all the same, under the same bundle.
#[test]
fn what_was_captured_before_a_crash_is_offered() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut world = World::new();
    let process = runtime();
    process.block_on(async {
        let scenario = Scenario::new()
            .turn(Turn::new().call("create_task", json!({ "title": "Call back" })))
            .turn(Turn::new().call("link_task", json!({ "task": "temp_1", "thread": "th-7" })))
            .turn(Turn::new().call("hang", json!({})));
        let (copilot, _) = world.open(scenario, Autonomy::all(ApprovalMode::Capture)).await;
        copilot.book().begin(about("night-1", &world.support)).await.unwrap();
        let hangs = Arc::clone(&world.support.hangs);
        tokio::select! {
            _ = copilot.say(says("Sweep the inbox.")) => panic!("it should not get to its end"),
            () = hangs.notified() => {}
        }
    });
    // Everything that ran is gone, and nobody closed anything.
    drop(process);
    runtime().block_on(async {
        assert_eq!(world.bundles().list().await.unwrap(), []);
        let (copilot, _) = world.open(Scenario::new(), Autonomy::all(ApprovalMode::Capture)).await;
        let waiting = world.bundles().waiting(noon()).await.unwrap();
        assert_eq!(
            (waiting.len(), waiting[0].id(), told(&waiting[0])),
            (1, "night-1", vec!["open".to_owned(); 2])
        );
        assert_eq!(waiting[0].about.subject, Some(Subject::new("thread", "th-7")));
        assert!(copilot.book().actions().unwrap().is_empty());
    });
}

/// The prompt of a run is the same whatever becomes of its calls.
#[tokio::test(start_paused = true)]
async fn capturing_changes_no_byte_of_what_is_sent_first() {
    let mut first = Vec::new();
    for mode in [ApprovalMode::Pause, ApprovalMode::Capture, ApprovalMode::Auto] {
        let mut world = World::new();
        let (copilot, model) =
            world.open(Scenario::new().turn(Turn::new().text("Nothing.")), Autonomy::all(mode)).await;
        copilot.say(says("Sweep.")).await.unwrap();
        let request = model.requests().remove(0);
        first.push((request.system.clone(), request.tools.to_vec()));
    }
    assert_eq!(first[0], first[1]);
    assert_eq!(first[1], first[2]);
}

fn ann() -> Person {
    Person::new("ann", Rights::All)
}

/// A person answers after a restart, one question after the other, with a change; the other question is answered too late.
#[tokio::test(start_paused = true)]
async fn questions_have_cards_that_survive_the_process() {
    let mut world = World::new();
    let scenario = Scenario::new().turn(
        Turn::new()
            .call("create_task", json!({ "title": "Call back" }))
            .call("reply", json!({ "thread": "th-7", "body": "We call.", "send": true })),
    );
    let (copilot, _) = world.open(scenario, Autonomy::default()).await;
    let turned = copilot.say(says("Work.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Suspended { .. }), "{:?}", turned.outcome);
    let before = copilot.approvals().cards().unwrap();
    assert_eq!(
        before.iter().map(|card| card.digest.as_str()).collect::<Vec<_>>(),
        [r#"Task: "Call back""#, "reply (thread: th-7, body: We call., send: true)"]
    );
    drop(copilot);

    let (copilot, _) = world.open(Scenario::new(), Autonomy::default()).await;
    assert_eq!(copilot.approvals().cards().unwrap(), before, "the same cards");
    let edits = json!({ "title": "Call back today" }).as_object().unwrap().clone();
    let answered =
        copilot.decide([(before[0].call.clone(), Choice::Approve { edits })], &ann()).await.unwrap();
    assert_eq!(answered.decided.open, [before[1].call.clone()]);
    assert!(answered.turned.is_none(), "the run waits for the other answer");
    assert_eq!(world.support.done(), Vec::<String>::new());
    drop(copilot);

    // The process ended again; a week later nobody has answered the other.
    world.now.store(8 * 24 * 3600, std::sync::atomic::Ordering::SeqCst);
    let (copilot, model) =
        world.open(Scenario::new().turn(Turn::new().text("A task, no mail.")), Autonomy::default()).await;
    let answered = copilot.expire().await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.support.done(), ["task Call back today"]);
    let said = results(&model.requests()[0]);
    assert_eq!(said[0], "done");
    assert!(said[1].starts_with("Refused without asking a person: nobody answered until "), "{}", said[1]);
    let states: Vec<CardState> =
        copilot.approvals().cards().unwrap().into_iter().map(|card| card.state).collect();
    assert!(
        matches!(&states[..], [CardState::Approved { by: Some(by), amended: Some(_) }, CardState::Expired] if by == "ann"),
        "{states:?}"
    );
    let trail = trail(&*world.records).await.unwrap();
    assert_eq!(trail.iter().map(|entry| entry.trace.by.as_str()).collect::<Vec<_>>(), ["ann", "nobody"]);
}

/// What a tool does not declare it would drop without a word: the model hears of it, whatever would become of the call, and
/// nobody is asked about something that is not done.
#[tokio::test(start_paused = true)]
async fn what_a_tool_does_not_declare_is_refused_before_anybody_is_asked() {
    let pause = Autonomy::default();
    let (capture, auto) = (Autonomy::all(ApprovalMode::Capture), Autonomy::all(ApprovalMode::Auto));
    for autonomy in [pause, capture, auto] {
        let mut world = World::new();
        let scenario = Scenario::new()
            .turn(
                Turn::new()
                    .call("create_task", json!({ "title": "Call back", "titles": "x", "owner": "ann" })),
            )
            .turn(Turn::new().text("I see."));
        let (copilot, model) = world.open(scenario, autonomy).await;
        let turned = copilot.say(says("Work.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Completed), "{:?}", turned.outcome);
        let words = "\"titles\" is no argument of create_task. Did you mean \"title\"? It takes: title. \"owner\" is no argument \
                     of create_task. It takes: title. Nothing was done. Call create_task again with this put right.";
        assert_eq!(results(&model.requests()[1]), [words]);
        assert_eq!((world.support.done(), world.bundles().list().await.unwrap()), (Vec::new(), Vec::new()));
    }
}
