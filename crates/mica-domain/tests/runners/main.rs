//! Runs without a client, through the engine and sessions on disk: background work, threads, triggers, workflows,
//! suggestions. Processes end in between.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

#[path = "../support/mod.rs"]
mod support;

mod news;
mod sessions;
mod steps;
mod suggestions;
mod threads;
mod triggers;

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
    Agents, Dispatcher, DispatcherLimits, EventKinds, FieldKind, FireState, Happened, Known, TriggerSet,
    What, Words,
};
use mica_domain::{
    Act, Autonomy, Capability, Domain, InMemory, Minted, Page, Profile, Records, Rights, Section, Setup,
    Static,
};
use mica_session::{Access as SessionAccess, SessionError, Sessions};
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
            (Some(path), _) => sessions.open(&path, SessionAccess::Write).map_err(|error| match error {
                SessionError::Locked { .. } => OpenError::InUse {
                    session: session.to_owned(),
                    problem: "another process has it".to_owned(),
                },
                error => OpenError::Failed { session: session.to_owned(), problem: error.to_string() },
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
