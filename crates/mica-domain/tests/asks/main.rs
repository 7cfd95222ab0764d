//! Questions that wait: what they rest on, who decided, what was meant, and what becomes of them in other processes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

#[path = "../support/mod.rs"]
mod support;

mod again;
mod changed;
mod dying;
mod instead;
mod racing;
mod unwritten;

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

fn both() -> Scenario {
    let orion = json!({ "row": "orion", "value": "active" });
    Scenario::new()
        .turn(Turn::new().call("set", paid()).call("set", orion))
        .otherwise(Turn::new().text("Done."))
}

/// Does something with every event.
struct Then(Box<dyn Fn(&EventKind) + Send + Sync>);

#[async_trait]
impl Listener for Then {
    async fn event(&self, event: Event) {
        (self.0)(&event.kind);
    }
}
