//! Questions that wait: what they rest on, who decided, what was meant, and what becomes of them in other processes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use mica_agent::hooks::Record;
use mica_agent::tool::{Access, Approval};
use mica_agent::{
    Args, Ask, Decision, Effect, Event, EventKind, Hooks, Listener, Outcome, Preview, RunError, Tool, ToolCx,
    ToolError, ToolOutput, ToolSpec,
};
use mica_ai::message::ToolCall;
use mica_ai::{Dialect, Message, Model};
use mica_domain::approvals::{ApprovalError, CardState, Choice, Deed, People, Person, approver, trail};
use mica_domain::records::{InMemory, Kept, RecordError, Records};
use mica_domain::{
    Act, Base, Capability, Copilot, CopilotError, Domain, Org, OrgView, Page, Rights, Said, Section, Setup,
    Static, Surroundings,
};
use mica_session::Session;
use mica_testkit::{Scenario, ScriptedModel, Turn};
use serde_json::{Value, json};
use support::{noon, says};
use tokio::sync::{Notify, Semaphore};

/// What the product keeps: values with versions, and when things are due. All processes have the same.
#[derive(Clone)]
struct Ledger {
    rows: Arc<Mutex<BTreeMap<String, (String, u32)>>>,
    /// What was done, and by whom.
    log: Arc<Mutex<Vec<String>>>,
    /// Days since noon.
    day: Arc<AtomicI64>,
    /// Another make of the product.
    version: u32,
    /// Whoever looks at what a question rests on needs one of these, and is counted while they wait for it.
    looks: Arc<Semaphore>,
    looking: Arc<AtomicI64>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            rows: Arc::default(),
            log: Arc::default(),
            day: Arc::default(),
            version: 0,
            looks: Arc::new(Semaphore::new(1)),
            looking: Arc::default(),
        }
    }
}

impl Ledger {
    fn get(&self, row: &str) -> (String, u32) {
        self.rows.lock().unwrap().get(row).cloned().unwrap_or_default()
    }

    fn put(&self, row: &str, value: &str) {
        let version = self.get(row).1 + 1;
        self.rows.lock().unwrap().insert(row.to_owned(), (value.to_owned(), version));
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn now(&self) -> Timestamp {
        noon() + SignedDuration::from_hours(24 * self.day.load(Ordering::SeqCst))
    }
}

/// Sets a row. A person is asked.
struct Set(Ledger, ToolSpec);

fn text<'a>(args: &'a Args, name: &str) -> &'a str {
    args.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[async_trait]
impl Tool for Set {
    fn spec(&self) -> &ToolSpec {
        &self.1
    }

    async fn preview(&self, args: &Args) -> Option<Preview> {
        let was = self.0.get(text(args, "row")).0;
        let title = text(args, "row").to_owned();
        Some(Preview::Text {
            title,
            text: format!("{was} → {} by {}", text(args, "value"), text(args, "due")),
        })
    }

    async fn call(&self, args: Args, _: &ToolCx) -> Result<ToolOutput, ToolError> {
        let (row, value) = (text(&args, "row"), text(&args, "value"));
        self.0.put(row, value);
        let by = approver().unwrap_or_else(|| "nobody".to_owned());
        self.0.log.lock().unwrap().push(format!("{row} = {value}, due {}, by {by}", text(&args, "due")));
        Ok(ToolOutput::text("done"))
    }
}

#[async_trait]
impl Domain for Ledger {
    fn name(&self) -> &str {
        "ledger"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let text = json!({ "type": "string" });
        let schema = json!({
            "type": "object",
            "properties": { "row": text, "value": text, "due": text },
            "required": ["row", "value"],
        });
        let mut spec = ToolSpec::new("set", format!("Sets a row, version {}.", self.version), schema);
        (spec.approval, spec.access, spec.effect) = (Approval::Needed, Access::Write, Effect::Keyed);
        let (rows, clock) = (self.clone(), self.clone());
        let act = Act::of("set")
            .needing("write")
            .amending("value")
            .amending("due")
            .based_on(move |args| {
                let row = text_of(&args, "row");
                let (value, version) = rows.get(&row);
                let (looks, looking) = (Arc::clone(&rows.looks), Arc::clone(&rows.looking));
                async move {
                    looking.fetch_add(1, Ordering::SeqCst);
                    drop(looks.acquire().await);
                    looking.fetch_sub(1, Ordering::SeqCst);
                    Ok(Base::of(&row, format!("version {version}")).with(format!("value of {row}"), value))
                }
            })
            .settling(move |mut args| {
                let now = clock.now();
                async move {
                    if let Some(due) = args.get_mut("due") {
                        let day = match due.as_str() {
                            Some("today") => now,
                            Some("tomorrow") => now + SignedDuration::from_hours(24),
                            Some("never") => return Err("never is no day. Say when.".to_owned()),
                            _ => return Ok(args),
                        };
                        *due = json!(day.strftime("%Y-%m-%d").to_string());
                    }
                    Ok(args)
                }
            });
        let mut all = vec![
            Capability::new(Page::Global, "sets rows", vec![Arc::new(Set(self.clone(), spec))]).acting(act),
        ];
        if self.version > 1 {
            let more = ToolSpec::new("more", "More.", json!({ "type": "object" }));
            all.push(Capability::new(Page::Global, "does more", vec![Arc::new(Set(self.clone(), more))]));
        }
        all
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You keep a ledger.")]
    }

    fn org(&self, _: &OrgView<'_>) -> Vec<Section<Org>> {
        let section = || Section::<Org>::new("team", "The ledger is kept by a team.");
        (self.version > 2).then(section).into_iter().collect()
    }
}

fn text_of(args: &Args, name: &str) -> String {
    text(args, name).to_owned()
}

/// Who people are; nobody knows more.
#[derive(Default)]
struct Staff(Mutex<BTreeMap<String, Rights>>);

#[async_trait]
impl People for Staff {
    async fn person(&self, name: &str) -> Result<Option<Person>, String> {
        Ok(self.0.lock().unwrap().get(name).map(|rights| Person::new(name, rights.clone())))
    }
}

/// Records that can be made to fail.
#[derive(Default)]
struct Failing {
    inner: InMemory,
    fails: AtomicBool,
}

#[async_trait]
impl Records for Failing {
    async fn get(&self, kind: &str, id: &str) -> Result<Option<Kept>, RecordError> {
        self.inner.get(kind, id).await
    }

    async fn put(&self, kind: &str, id: &str, doc: &Value, was: Option<u64>) -> Result<u64, RecordError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(RecordError::Store { kind: kind.to_owned(), problem: "the disk is full".to_owned() });
        }
        self.inner.put(kind, id, doc, was).await
    }

    async fn list(&self, kind: &str) -> Result<Vec<(String, Kept)>, RecordError> {
        self.inner.list(kind).await
    }

    async fn delete(&self, kind: &str, id: &str, expected: u64) -> Result<(), RecordError> {
        self.inner.delete(kind, id, expected).await
    }
}

/// Everything that outlives a process.
struct World {
    desk: support::Desk,
    ledger: Ledger,
    records: Arc<Failing>,
    staff: Arc<Staff>,
}

impl World {
    fn new() -> Self {
        let world = Self {
            desk: support::Desk::default(),
            ledger: Ledger::default(),
            records: Arc::default(),
            staff: Arc::default(),
        };
        world.ledger.put("lumen", "trial");
        for name in ["maya", "omar"] {
            world.staff.0.lock().unwrap().insert(name.to_owned(), Rights::of(["write"]));
        }
        world
    }

    fn session(&self) -> Session {
        self.desk.session()
    }

    fn setup(&self, scenario: Scenario) -> Setup {
        let ledger = self.ledger.clone();
        let model = Arc::new(Model::assumed("scripted", Dialect::Responses));
        let clock = Arc::new(move || ledger.now());
        let mut setup =
            Setup::new(Arc::new(self.ledger.clone()), Arc::new(ScriptedModel::new(scenario)), model, clock);
        setup.records = Arc::clone(&self.records) as _;
        setup.people = Some(Arc::clone(&self.staff) as _);
        setup
    }

    /// A process opens the session.
    async fn open(&mut self, setup: Setup) -> Copilot {
        let copilot = Copilot::open(setup.in_session(self.session())).await.unwrap();
        self.desk.path = copilot.path();
        copilot
    }

    /// A process in which a question is asked.
    async fn asking(&mut self, args: Value) -> Copilot {
        let scenario =
            Scenario::new().turn(Turn::new().call("set", args)).otherwise(Turn::new().text("Done."));
        let copilot = self.open(self.setup(scenario)).await;
        let turned = copilot.say(says("Do it.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Suspended { .. }), "{:?}", turned.outcome);
        self.desk.path = copilot.path();
        copilot
    }

    /// Another process goes on.
    async fn again(&mut self) -> Copilot {
        self.open(self.setup(Scenario::new().otherwise(Turn::new().text("Done.")))).await
    }

    async fn deeds(&self) -> Vec<String> {
        let entries = trail(&*self.records).await.unwrap();
        entries
            .into_iter()
            .map(|entry| {
                let deed = match entry.trace.deed {
                    Deed::Approved { .. } => "approved".to_owned(),
                    Deed::Rejected { reason } => format!("rejected: {reason}"),
                    Deed::Outdated { changed } => format!("outdated: {}", changed.join("; ")),
                    Deed::Revoked { reason } => format!("revoked: {reason}"),
                    Deed::Abandoned => "abandoned".to_owned(),
                    other => format!("{other:?}"),
                };
                format!("{} {deed}", entry.trace.by)
            })
            .collect()
    }
}

fn paid() -> Value {
    json!({ "row": "lumen", "value": "active" })
}

fn person(name: &str) -> Person {
    Person::new(name, Rights::of(["write"]))
}

fn yes() -> Choice {
    Choice::Approve { edits: Args::new() }
}

fn preview(ask: &Ask) -> &str {
    match ask.preview.as_ref() {
        Some(Preview::Text { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

fn changed(result: Result<mica_domain::copilot::Answered, CopilotError>) -> Vec<String> {
    match result {
        Err(CopilotError::Approval(ApprovalError::Changed { changes, .. })) => changes,
        other => panic!("{other:?}"),
    }
}

const CHANGES: [&str; 2] = ["lumen: version 1 → version 2", "value of lumen: trial → paused"];

#[tokio::test(start_paused = true)]
async fn a_late_yes_does_not_overwrite_what_a_colleague_changed_meanwhile() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    assert_eq!(preview(&asked), "trial → active by ");
    world.ledger.put("lumen", "paused");
    let refused = copilot.decide([(asked.call.id.clone(), yes())], &person("maya")).await;
    assert_eq!(changed(refused), CHANGES);
    assert_eq!(world.ledger.get("lumen").0, "paused");
    assert_eq!(world.deeds().await, Vec::<String>::new(), "nothing was decided");
    // The question is there again, as things are now.
    let now = copilot.waiting().remove(0);
    assert_eq!((preview(&now), now.changed.len()), ("paused → active by ", 2));
    // Under another name, and for as long as before: nobody who has the old one on their screen answers this one by its name.
    let [old, card] = copilot.approvals().cards().unwrap().try_into().unwrap();
    assert_eq!(
        (&old.preview, &old.shown, &old.state),
        (&asked.preview, &asked.shown, &CardState::Superseded)
    );
    assert_eq!((&card.preview, &card.shown, &card.state), (&now.preview, &now.shown, &CardState::Pending));
    assert_ne!(old.id, card.id);
    assert_eq!(card.expires, old.expires);
    assert_eq!(changed(copilot.decide([(&old, yes())], &person("omar")).await), CHANGES);
    // Who still has the old one before them says yes to that only.
    assert_eq!(changed(copilot.decide([(&asked, yes())], &person("omar")).await), CHANGES);
    let answered = copilot.decide([(&now, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(world.deeds().await, ["maya approved"]);
}

#[tokio::test(start_paused = true)]
async fn a_no_needs_nothing_to_stand() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    world.ledger.put("lumen", "paused");
    let no = Choice::Reject { reason: "wait".to_owned() };
    let answered = copilot.decide([(&asked, no)], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), Vec::<String>::new());
    assert_eq!(world.deeds().await, ["maya rejected: wait"]);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_shown_as_things_are_whenever_it_is_shown() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    drop(copilot);
    world.ledger.put("lumen", "paused");
    // After a restart.
    let copilot = world.again().await;
    let opened = copilot.waiting().remove(0);
    assert_eq!(
        (preview(&opened), opened.changed.as_slice()),
        ("paused → active by ", &CHANGES.map(str::to_owned)[..])
    );
    assert_eq!(opened.reason, "what it rests on has changed since it was shown; set asks before it runs");
    // To a client that comes.
    world.ledger.put("lumen", "lost");
    let anew = copilot.follow(None).await.unwrap().anew.unwrap();
    assert_eq!(preview(&anew.waiting[0]), "lost → active by ");
    assert_eq!(preview(&copilot.questions().await.unwrap()[0]), "lost → active by ");
    // What nobody here was shown is no yes.
    assert_eq!(changed(copilot.decide([(&asked, yes())], &person("maya")).await).len(), 4);
    drop(copilot);
    let copilot = world.again().await;
    let shown = copilot.waiting();
    assert_eq!(copilot.questions().await.unwrap(), shown, "the same, as long as nothing changes");
    copilot.decide([(shown[0].call.id.clone(), yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// The process dies between a decision and what comes of it.
#[tokio::test(start_paused = true)]
async fn what_was_decided_before_a_crash_is_carried_out_as_whoever_decided_if_it_still_holds() {
    struct Case {
        meanwhile: fn(&World),
        log: &'static [&'static str],
        deeds: &'static [&'static str],
        waits: bool,
    }
    let cases = [
        Case {
            meanwhile: |_| {},
            log: &["lumen = active, due , by maya"],
            deeds: &["maya approved"],
            waits: false,
        },
        Case {
            meanwhile: |world| world.ledger.put("lumen", "paused"),
            log: &[],
            deeds: &[
                "maya approved",
                "nobody outdated: lumen: version 1 → version 2; value of lumen: trial → paused",
            ],
            waits: true,
        },
        Case {
            meanwhile: |world| {
                world.staff.0.lock().unwrap().insert("maya".to_owned(), Rights::of(["read"]));
            },
            log: &[],
            deeds: &[
                "maya approved",
                "nobody revoked: maya approved it, and may not approve it any more: the right write is missing. Nothing was \
                 done.",
            ],
            waits: false,
        },
        Case {
            meanwhile: |world| drop(world.staff.0.lock().unwrap().remove("maya")),
            log: &[],
            deeds: &[
                "maya approved",
                "nobody revoked: maya approved it, and may not approve it any more: they are not there any more. Nothing was \
                 done.",
            ],
            waits: false,
        },
    ];
    for case in cases {
        let mut world = World::new();
        let copilot = world.asking(paid()).await;
        let asks = copilot.waiting();
        copilot.approvals().decide(&asks, [(asks[0].call.id.clone(), yes())], &person("maya")).await.unwrap();
        drop(copilot);
        (case.meanwhile)(&world);
        // Somebody else opens it, and sits there.
        let mut setup = world.setup(Scenario::new().otherwise(Turn::new().text("Done.")));
        setup.present = Some("omar".to_owned());
        let copilot = world.open(setup).await;
        let answered = copilot.expire().await.unwrap();
        assert_eq!(answered.turned.is_none(), case.waits);
        assert_eq!(copilot.waiting().len(), usize::from(case.waits));
        assert_eq!(world.ledger.log(), case.log);
        assert_eq!(world.deeds().await, case.deeds);
        if case.waits {
            // And then by somebody who is there.
            let now = copilot.waiting().remove(0);
            copilot.decide([(&now, yes())], &person("omar")).await.unwrap();
            assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn of_two_who_answer_at_once_one_counts_and_neither_fails() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let no = Choice::Reject { reason: "wait".to_owned() };
    let (maya, omar) = (person("maya"), person("omar"));
    let (first, second) =
        tokio::join!(copilot.decide([(&asked, yes())], &maya), copilot.decide([(&asked, no)], &omar));
    let late = [first.unwrap(), second.unwrap()].map(|answered| answered.decided.late.len());
    assert_eq!(late.iter().sum::<usize>(), 1, "{late:?}");
    copilot.idle().await;
    assert!(copilot.waiting().is_empty());
    let deeds = world.deeds().await;
    let log = world.ledger.log();
    match deeds[0].as_str() {
        "maya approved" => assert_eq!(log, ["lumen = active, due , by maya"]),
        "omar rejected: wait" => assert_eq!(log, Vec::<String>::new()),
        other => panic!("{other}"),
    }
}

/// Waits until something was decided.
async fn recorded(world: &World) {
    while world.deeds().await.is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_decides_while_somebody_looks_has_the_run_go_on() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let held = Arc::clone(&world.ledger.looks).acquire_owned().await.unwrap();
    let looking = tokio::spawn({
        let copilot = copilot.clone();
        async move { copilot.questions().await }
    });
    while world.ledger.looking.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let maya = person("maya");
    let deciding = copilot.decide([(&asked, yes())], &maya);
    let released = async {
        // From then on nothing keeps them from going on but who looks.
        while copilot.approvals().cards().unwrap()[0].state == CardState::Pending {
            tokio::task::yield_now().await;
        }
        drop(held);
    };
    let (answered, ()) = tokio::join!(deciding, released);
    assert!(matches!(answered.unwrap().turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(looking.await.unwrap().unwrap(), [asked]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_on_record_is_carried_out_although_whoever_gave_it_is_gone() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let (asked, maya) = (copilot.waiting().remove(0), person("maya"));
    tokio::select! {
        biased;
        answered = copilot.decide([(&asked, yes())], &maya) => panic!("{answered:?}"),
        () = recorded(&world) => {}
    }
    while world.ledger.log().is_empty() {
        tokio::task::yield_now().await;
    }
    copilot.idle().await;
    assert_eq!(copilot.waiting(), []);
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Somebody elsewhere answers at once, while the run still looks for somebody in place.
struct Elsewhere {
    copilot: OnceLock<Copilot>,
    choice: Choice,
    then: Option<Decision>,
}

#[async_trait]
impl Hooks for Elsewhere {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        let said = asks.iter().map(|ask| (ask, self.choice.clone()));
        let answered = self.copilot.get().unwrap().decide(said, &person("maya")).await.unwrap();
        assert!(answered.turned.is_none(), "the run that goes on has it");
        self.then.clone().map(|then| vec![then; asks.len()])
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_decided_before_the_run_waits_is_carried_out_by_that_run() {
    let no = || Choice::Reject { reason: "wait".to_owned() };
    let deny = || Decision::Deny { reason: "not now".to_owned() };
    let done: &[&str] = &["lumen = active, due , by maya"];
    for (choice, then, log, deed) in [
        (yes(), None, done, "maya approved"),
        (no(), None, &[][..], "maya rejected: wait"),
        // And whoever is in place answers it, too, otherwise: the first one counts.
        (no(), Some(Decision::Allow), &[], "maya rejected: wait"),
        (yes(), Some(deny()), done, "maya approved"),
        (yes(), Some(Decision::Allow), done, "maya approved"),
    ] {
        let mut world = World::new();
        let scenario =
            Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
        let elsewhere = Arc::new(Elsewhere { copilot: OnceLock::new(), choice, then });
        let mut setup = world.setup(scenario);
        setup.hooks = vec![Arc::clone(&elsewhere) as _];
        setup.present = Some("omar".to_owned());
        let copilot = world.open(setup).await;
        assert!(elsewhere.copilot.set(copilot.clone()).is_ok());
        let turned = copilot.say(says("Do it.")).await.unwrap();
        assert!(matches!(turned.outcome, Outcome::Completed), "{:?}", turned.outcome);
        assert_eq!(copilot.waiting(), []);
        assert_eq!(world.ledger.log(), log);
        assert_eq!(world.deeds().await, [deed]);
    }
}

fn both() -> Scenario {
    let orion = json!({ "row": "orion", "value": "active" });
    Scenario::new()
        .turn(Turn::new().call("set", paid()).call("set", orion))
        .otherwise(Turn::new().text("Done."))
}

#[tokio::test(start_paused = true)]
async fn a_no_is_not_asked_again_because_something_else_changed() {
    for restarts in [false, true] {
        let mut world = World::new();
        let mut copilot = world.open(world.setup(both())).await;
        copilot.say(says("Do both.")).await.unwrap();
        world.desk.path = copilot.path();
        let asks = copilot.waiting();
        let no = Choice::Reject { reason: "never".to_owned() };
        let said = [(asks[0].call.id.clone(), no), (asks[1].call.id.clone(), yes())];
        copilot.approvals().decide(&asks, said, &person("maya")).await.unwrap();
        world.ledger.put("orion", "paused");
        // Also of what was refused: nobody cares any more.
        world.ledger.put("lumen", "paused");
        let answered = copilot.expire().await.unwrap();
        assert!(matches!(answered.turned.unwrap().outcome, Outcome::Suspended { .. }));
        if restarts {
            drop(copilot);
            copilot = world.again().await;
        }
        let waiting = copilot.waiting();
        let standing = copilot.approvals().standing(&waiting).unwrap();
        assert_eq!(standing.open, [asks[1].call.id.clone()], "{restarts}");
        let states: Vec<CardState> =
            copilot.approvals().cards().unwrap().into_iter().map(|card| card.state).collect();
        let rejected = CardState::Rejected { by: Some("maya".to_owned()), reason: "never".to_owned() };
        assert_eq!(states, [rejected, CardState::Superseded, CardState::Pending]);
        let now = waiting.into_iter().find(|ask| ask.call.id == asks[1].call.id).unwrap();
        let answered = copilot.decide([(&now, yes())], &person("omar")).await.unwrap();
        assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
        assert_eq!(world.ledger.log(), ["orion = active, due , by omar"]);
    }
}

/// Says yes to the first call, then thinks about the second one for ever.
#[derive(Default)]
struct Slow {
    thinks: Notify,
}

#[async_trait]
impl Hooks for Slow {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        if asks.len() == 1 {
            self.thinks.notify_one();
            std::future::pending::<()>().await;
        }
        Some(vec![Decision::Allow, Decision::Later])
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_said_in_place_is_not_lost_when_the_process_dies_over_the_rest() {
    let mut world = World::new();
    let slow = Arc::new(Slow::default());
    let mut setup = world.setup(both());
    setup.hooks = vec![Arc::clone(&slow) as _];
    setup.present = Some("omar".to_owned());
    let copilot = world.open(setup).await;
    let running = tokio::spawn({
        let copilot = copilot.clone();
        async move { copilot.say(says("Do both.")).await }
    });
    slow.thinks.notified().await;
    // What a process that dies here leaves.
    let left = world.desk.folder.path().join("left.jsonl");
    std::fs::copy(copilot.path().unwrap(), &left).unwrap();
    running.abort();
    world.desk.path = Some(left);
    let copilot = world.again().await;
    let asks = copilot.waiting();
    assert_eq!(asks.len(), 2);
    assert_eq!(copilot.approvals().standing(&asks).unwrap().open, [asks[1].call.id.clone()]);
    let no = Choice::Reject { reason: "no".to_owned() };
    copilot.decide([(&asks[1], no)], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
    assert_eq!(world.deeds().await, ["omar approved", "maya rejected: no"]);
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_cannot_be_read_is_asked_for_again_and_keeps_nobody_out() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let card = copilot.approvals().cards().unwrap().remove(0);
    let session = copilot.keeper().unwrap().session().header().id.to_string();
    let record = format!("{session}/{}", card.id);
    let garbage = json!("{\"state\":{\"is\":\"appro");
    world.records.put("approval", &record, &garbage, None).await.unwrap();
    drop(copilot);
    let copilot = world.again().await;
    assert_eq!(
        copilot.notices(),
        [format!(
            "what was decided about {:?} (set) cannot be read, so it counts as not approved and is asked again; the record \
             approval {record} is left as it is",
            card.digest
        )]
    );
    assert!(copilot.expire().await.unwrap().turned.is_none(), "nobody said yes");
    assert_eq!((copilot.waiting(), world.ledger.log()), (vec![asked.clone()], Vec::new()));
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Completed));
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    assert_eq!(world.records.get("approval", &record).await.unwrap().unwrap().doc, garbage);
}

/// Answers in place.
struct There;

#[async_trait]
impl Hooks for There {
    async fn approve(&self, asks: &[Ask]) -> Option<Vec<Decision>> {
        Some(asks.iter().map(|_| Decision::Allow).collect())
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_cannot_be_recorded_has_no_effect() {
    // By name.
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    world.records.fails.store(true, Ordering::SeqCst);
    let refused = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap_err();
    assert!(refused.to_string().contains("the disk is full"), "{refused}");
    assert_eq!((world.ledger.log(), copilot.waiting().len()), (Vec::new(), 1));
    world.records.fails.store(false, Ordering::SeqCst);
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
    // In place, by whoever sits there.
    for fails in [false, true] {
        let mut world = World::new();
        world.records.fails.store(fails, Ordering::SeqCst);
        let scenario =
            Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
        let mut setup = world.setup(scenario);
        setup.present = Some("omar".to_owned());
        setup.hooks = vec![Arc::new(There)];
        let copilot = world.open(setup).await;
        let turned = copilot.say(says("Do it.")).await.unwrap();
        if fails {
            assert!(matches!(turned.outcome, Outcome::Suspended { .. }), "{:?}", turned.outcome);
            assert_eq!((world.ledger.log(), copilot.waiting().len()), (Vec::new(), 1));
        } else {
            assert_eq!(world.ledger.log(), ["lumen = active, due , by omar"]);
            assert_eq!(world.deeds().await, ["omar approved"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_meant_from_here_and_now_is_settled_when_it_is_asked() {
    let due = json!({ "row": "lumen", "value": "active", "due": "tomorrow" });
    let (first, third) = ("2027-01-16", "2027-01-18");
    for (edit, expect) in [(None, first), (Some("tomorrow"), third)] {
        let mut world = World::new();
        let copilot = world.asking(due.clone()).await;
        let asked = copilot.waiting().remove(0);
        assert_eq!(asked.arguments["due"], first, "people see what is meant");
        assert_eq!(preview(&asked), format!("trial → active by {first}"));
        drop(copilot);
        world.ledger.day.store(2, Ordering::SeqCst);
        let copilot = world.again().await;
        assert_eq!(copilot.waiting()[0].shown, asked.shown, "it is the same call days later");
        let edits: Args = edit.map(|due| ("due".to_owned(), json!(due))).into_iter().collect();
        copilot.decide([(&asked, Choice::Approve { edits })], &person("maya")).await.unwrap();
        assert_eq!(world.ledger.log(), [format!("lumen = active, due {expect}, by maya")]);
    }
    // What cannot be settled is told to the model, and nobody is asked.
    let mut world = World::new();
    let never = json!({ "row": "lumen", "value": "active", "due": "never" });
    let scenario = Scenario::new().turn(Turn::new().call("set", never)).otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(scenario)).await;
    let turned = copilot.say(says("Do it.")).await.unwrap();
    assert!(matches!(turned.outcome, Outcome::Completed));
    let messages = copilot.agent().with(|cx| cx.messages.clone()).await.unwrap();
    assert_eq!(support::line(&messages[2]), "set: never is no day. Say when.");
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_takes_no_question_from_anybody() {
    let mut world = World::new();
    let scenario = Scenario::new()
        .turn(Turn::new().text("Hello."))
        .turn(Turn::new().call("set", paid()))
        .otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(scenario)).await;
    let named = |text: &str| Said { source: Some("mail-1".to_owned()), ..says(text) };
    copilot.say(named("Hi.")).await.unwrap();
    copilot.say(says("Do it.")).await.unwrap();
    let asked = copilot.waiting();
    let here = Said { surroundings: Some(Surroundings::on("elsewhere")), ..named("Hi.") };
    assert!(matches!(copilot.say(here).await, Err(CopilotError::SaidBefore { .. })));
    assert_eq!(copilot.waiting(), asked);
    assert_eq!(copilot.domain().snapshot().page, None, "and leaves everybody where they are");
    copilot.decide([(&asked[0], yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Has so much to say of calls that were left that it is kept in a file of its own.
struct Verbose;

#[async_trait]
impl Hooks for Verbose {
    fn left(&self, _: &ToolCall) -> Option<String> {
        Some("Not run. ".repeat(10_000))
    }
}

/// The store fails behind everybody else who keeps what is said, among them who keeps the questions.
#[tokio::test(start_paused = true)]
async fn what_could_not_be_written_was_not_said_and_the_question_stays() {
    let mut world = World::new();
    let scenario = Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::new(Verbose)];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    world.desk.path = copilot.path();
    let asked = copilot.waiting().remove(0);
    // Where the folder of such files would be.
    let blobs = copilot.path().unwrap().with_extension("blobs");
    std::fs::File::create_new(&blobs).unwrap();
    let turned = copilot.say(says("Never mind.")).await.unwrap();
    assert!(
        matches!(&turned.outcome, Outcome::Failed { error: RunError::Record { .. } }),
        "{:?}",
        turned.outcome
    );
    let states: Vec<CardState> =
        copilot.approvals().cards().unwrap().into_iter().map(|card| card.state).collect();
    assert_eq!(states, [CardState::Superseded, CardState::Pending], "it was taken back, and is asked again");
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked));
    drop(copilot);
    let copilot = world.again().await;
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked), "also for the next process");
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Does not write results, or anything, when it is told not to.
#[derive(Default)]
struct Full {
    results: AtomicBool,
}

#[async_trait]
impl Hooks for Full {
    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Message(Message::ToolResult(_)) if self.results.load(Ordering::SeqCst) => {
                Err("the disk is full".to_owned())
            }
            _ => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_is_not_asked_about_again_although_its_result_is_lost() {
    let mut world = World::new();
    let full = Arc::new(Full::default());
    let scenario = Scenario::new().turn(Turn::new().call("set", paid())).otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::clone(&full) as _];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    let asked = copilot.waiting().remove(0);
    full.results.store(true, Ordering::SeqCst);
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert!(matches!(answered.turned.unwrap().outcome, Outcome::Failed { .. }));
    full.results.store(false, Ordering::SeqCst);
    assert_eq!(copilot.waiting(), []);
    assert!(copilot.expire().await.unwrap().turned.is_none());
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"], "once");
    copilot.say(says("And?")).await.unwrap();
    let messages = copilot.agent().with(|cx| cx.messages.clone()).await.unwrap();
    assert_eq!(
        support::line(&messages[2]),
        "set: No result: the run ended before this call did. If it had begun, its effect is unknown."
    );
}

/// The store fails later in a run that took the place of one that waited.
#[tokio::test(start_paused = true)]
async fn a_question_does_not_come_back_once_something_else_was_said() {
    let mut world = World::new();
    let full = Arc::new(Full::default());
    let never = json!({ "row": "lumen", "value": "active", "due": "never" });
    let scenario = Scenario::new()
        .turn(Turn::new().call("set", paid()))
        .turn(Turn::new().call("set", never))
        .otherwise(Turn::new().text("Done."));
    let mut setup = world.setup(scenario);
    setup.hooks = vec![Arc::clone(&full) as _];
    let told = Arc::clone(&full);
    setup.listeners = vec![Arc::new(Then(Box::new(move |kind| {
        if matches!(kind, EventKind::Message { message: Message::ToolResult(_) }) {
            told.results.store(true, Ordering::SeqCst);
        }
    })))];
    let copilot = world.open(setup).await;
    copilot.say(says("Do it.")).await.unwrap();
    let turned = copilot.say(says("Another way.")).await.unwrap();
    assert!(
        matches!(&turned.outcome, Outcome::Failed { error: RunError::Record { .. } }),
        "{:?}",
        turned.outcome
    );
    assert_eq!(copilot.waiting(), []);
    let cards = copilot.approvals().cards().unwrap();
    assert_eq!(cards.into_iter().map(|card| card.state).collect::<Vec<_>>(), [CardState::Superseded]);
}

/// Does something with every event.
struct Then(Box<dyn Fn(&EventKind) + Send + Sync>);

#[async_trait]
impl Listener for Then {
    async fn event(&self, event: Event) {
        (self.0)(&event.kind);
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_in_a_run_that_was_abandoned_is_taken_back_on_record() {
    let mut world = World::new();
    let copilot = world.open(world.setup(both())).await;
    copilot.say(says("Do both.")).await.unwrap();
    let asked = copilot.waiting().remove(0);
    let answered = copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(answered.decided.open.len(), 1);
    copilot.say(says("Never mind.")).await.unwrap();
    let cards = copilot.approvals().cards().unwrap();
    let states: Vec<CardState> = cards.into_iter().map(|card| card.state).collect();
    assert_eq!(states, [CardState::Superseded, CardState::Superseded]);
    assert_eq!(world.deeds().await, ["maya approved", "nobody abandoned"]);
    assert_eq!(world.ledger.log(), Vec::<String>::new());
}

/// What a later version of the product, or a damaged disk, leaves beside a session.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_beside_a_session_keeps_nobody_out_of_it() {
    for (kind, notices) in [
        ("settled", &[][..]),
        ("model", &["which model this session went on with cannot be read; it goes on with scripted"]),
        ("approvals", &[]),
    ] {
        let mut world = World::new();
        let due = json!({ "row": "lumen", "value": "active", "due": "tomorrow" });
        let copilot = world.asking(due).await;
        let asked = copilot.waiting().remove(0);
        copilot.side().append(kind, json!({ "unheard": "of" })).await.unwrap();
        drop(copilot);
        let copilot = world.again().await;
        assert_eq!(copilot.notices(), notices, "{kind}");
        copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
        assert_eq!(world.ledger.log(), ["lumen = active, due 2027-01-16, by maya"], "{kind}");
    }
}

/// The process dies after a question was taken back, and before what was said instead is kept.
#[tokio::test(start_paused = true)]
async fn a_question_that_was_taken_back_for_nothing_is_asked_again() {
    let mut world = World::new();
    let copilot = world.asking(paid()).await;
    let asked = copilot.waiting().remove(0);
    let card = copilot.approvals().cards().unwrap().remove(0).id;
    let change = json!({ "settled": { "card": card, "state": { "is": "superseded" } } });
    copilot.side().append("approvals", change).await.unwrap();
    drop(copilot);
    let copilot = world.again().await;
    assert!(copilot.expire().await.unwrap().turned.is_none(), "nobody answered");
    assert_eq!(copilot.waiting(), std::slice::from_ref(&asked));
    copilot.decide([(&asked, yes())], &person("maya")).await.unwrap();
    assert_eq!(world.ledger.log(), ["lumen = active, due , by maya"]);
}

/// Keeps why the window changed.
#[derive(Default)]
struct Windows(Mutex<Vec<String>>);

#[async_trait]
impl Listener for Windows {
    async fn event(&self, event: Event) {
        if let EventKind::Window { change } = event.kind {
            self.0.lock().unwrap().push(format!("{}: {}", change.kind, change.reason));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_requests_begin_with_after_a_restart_is_told_with_its_reason() {
    let mut world = World::new();
    let windows = Arc::new(Windows::default());
    let told = |windows: &Windows| std::mem::take(&mut *windows.0.lock().unwrap());
    for (version, expect) in [
        (0, None),
        (0, None),
        (1, Some("tools that are described otherwise: set")),
        (2, Some("new tools: more; tools that are described otherwise: set")),
        (2, None),
        (3, Some("tools that are described otherwise: set; the prompt says something else")),
        (
            1,
            Some(
                "tools that are gone: more; tools that are described otherwise: set; the prompt says something else",
            ),
        ),
    ] {
        world.ledger.version = version;
        let mut setup = world.setup(Scenario::new().otherwise(Turn::new().text("Done.")));
        setup.listeners = vec![Arc::clone(&windows) as _];
        let copilot = world.open(setup).await;
        copilot.say(says("Hello.")).await.unwrap();
        world.desk.path = copilot.path();
        let expect = expect.map(|why| format!("opened: since the session was last at work: {why}"));
        assert_eq!(told(&windows), expect.into_iter().collect::<Vec<_>>(), "{version}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_with_its_model_and_on_its_page() {
    let mut world = World::new();
    let plain = || Scenario::new().otherwise(Turn::new().text("Done."));
    let copilot = world.open(world.setup(plain())).await;
    copilot.say(Said { surroundings: Some(Surroundings::on("books")), ..says("Hello.") }).await.unwrap();
    world.desk.path = copilot.path();
    let other = Arc::new(Model::assumed("other", Dialect::Messages));
    copilot.switch(Arc::new(ScriptedModel::new(plain())), Arc::clone(&other)).await.unwrap();
    drop(copilot);
    // Without anybody who finds it: said, and gone on with what is there.
    let copilot = world.again().await;
    assert_eq!(
        copilot.notices(),
        ["this session went on with the model other, which is not to be had here; it goes on with scripted"]
    );
    assert_eq!(copilot.domain().snapshot().page.as_deref(), Some("books"));
    drop(copilot);
    let mut setup = world.setup(plain());
    setup.models = Some(Arc::new(move |name, dialect| {
        assert_eq!((name, dialect), ("other", Dialect::Messages));
        Some((Arc::new(ScriptedModel::new(plain())) as _, Arc::clone(&other)))
    }));
    let copilot = world.open(setup).await;
    assert_eq!(copilot.notices(), Vec::<String>::new());
    assert_eq!(copilot.agent().with(|cx| cx.model.id.clone()).await.unwrap(), "other");
    copilot.notify("It is done.", "job", "job:1", None).await.unwrap();
    assert_eq!(copilot.domain().snapshot().page.as_deref(), Some("books"), "news go on where it was");
}
