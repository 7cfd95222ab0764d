//! A small product for the tests of evals: notes that are kept in a file, letters that ask first, and a mailbox that
//! anybody can write into.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "helpers of tests are tests, and not every file uses all of them"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use mica_agent::tool::{Access, Approval};
use mica_agent::{Tool, ToolOutput, TypedTool};
use mica_domain::cards::{Form, Kind, Kinds, Probe, Thing};
use mica_domain::{Capability, Domain, Page, Section, Static};
use mica_eval::{
    Case, CaseReport, CopilotStage, Happened, Here, Live, LiveModel, Opening, Product, Report, Runner, Stage,
    StageError, World,
};
use mica_testkit::{Scenario, ScriptedModel};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The product.
pub struct Notebook;

#[derive(Deserialize, JsonSchema)]
struct Letter {
    to: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// What is on the disk.
#[derive(Clone)]
struct Paper(PathBuf);

impl Paper {
    fn read(&self, what: &str) -> Vec<Value> {
        std::fs::read_to_string(self.0.join(what))
            .map_or(Vec::new(), |text| serde_json::from_str(&text).unwrap())
    }

    fn add(&self, what: &str, one: Value) {
        let mut all = self.read(what);
        all.push(one);
        std::fs::write(self.0.join(what), json!(all).to_string()).unwrap();
    }
}

struct Pages(Paper);

impl Domain for Pages {
    fn name(&self) -> &str {
        "notebook"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let paper = self.0.clone();
        let add = TypedTool::new("note_add", "Adds a note.", move |args: Note, _| {
            paper.add("notes", json!(args.text));
            async move { Ok(ToolOutput::text("noted").with_details(json!({ "note": args.text }))) }
        })
        .with(|spec| spec.access = Access::Write);
        let paper = self.0.clone();
        let list = TypedTool::new("note_list", "Lists notes.", move |_: Nothing, _| {
            let notes = paper.read("notes");
            let rows = notes.iter().enumerate();
            let rows: Vec<Value> =
                rows.map(|(index, note)| json!({ "id": format!("note_{index}"), "title": note })).collect();
            async move { Ok(ToolOutput::text(json!(notes).to_string()).with_details(json!({ "notes": rows }))) }
        });
        let paper = self.0.clone();
        let mail = TypedTool::new("mail_read", "Reads mail.", move |_: Nothing, _| {
            let mail = json!(paper.read("mail")).to_string();
            async move { Ok(ToolOutput::text(mail)) }
        });
        let paper = self.0.clone();
        let send = TypedTool::new("letter_send", "Sends a letter.", move |args: Letter, _| {
            paper.add("sent", json!({ "to": args.to, "text": args.text }));
            async move { Ok(ToolOutput::text(format!("sent to {}", args.to))) }
        })
        .with(|spec| (spec.approval, spec.access) = (Approval::Needed, Access::Write));
        let set = mica_domain::store::tools::set_variable();
        let everywhere: Vec<Arc<dyn Tool>> = vec![Arc::new(add), Arc::new(list), Arc::new(mail), set];
        vec![
            Capability::new(Page::Global, "keeps notes", everywhere),
            Capability::new(Page::named("desk"), "sends letters", vec![Arc::new(send)]),
        ]
    }

    fn cards(&self) -> Kinds {
        let probe = Probe::new("note", "id").id_like(Form::Prefix("note_".to_owned()));
        Kinds::default()
            .thing(Thing::new("note", "title").from_tool("note_list"))
            .card(Kind::many("note-list", "note", "notes"))
            .probe(probe.with("title").keeping("title"))
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You keep a notebook.")]
    }
}

struct Room(Paper);

#[async_trait]
impl World for Room {
    async fn domain(&mut self) -> Result<Arc<dyn Domain>, StageError> {
        Ok(Arc::new(Pages(self.0.clone())))
    }

    async fn event(
        &mut self,
        here: &Here,
        name: &str,
        args: &Map<String, Value>,
    ) -> Result<Happened, StageError> {
        match name {
            "mail" => {
                self.0.add("mail", args["text"].clone());
                Ok(json!({ "mails": self.0.read("mail").len(), "at": here.clock.now() }).into())
            }
            "panic" => panic!("the room is on fire"),
            _ => Err(StageError::unknown("event", name, ["mail"])),
        }
    }

    async fn look(&mut self, here: &Here, what: &str) -> Result<Value, StageError> {
        match what {
            "notes" | "sent" => Ok(json!(self.0.read(what))),
            "now" => Ok(json!(here.clock.now())),
            "diary" => Ok(Value::Null),
            _ => Err(StageError::unknown("thing to look at", what, ["notes", "sent", "now", "diary"])),
        }
    }
}

#[async_trait]
impl Product for Notebook {
    fn name(&self) -> &str {
        "notebook"
    }

    async fn open(&self, opening: Opening) -> Result<Box<dyn Stage>, StageError> {
        let paper = Paper(opening.folder.clone());
        for (key, value) in &opening.setup {
            match key.as_str() {
                "notes" => value.as_array().unwrap().iter().for_each(|note| paper.add("notes", note.clone())),
                other => return Err(StageError::unknown("key of setup", other, ["notes"])),
            }
        }
        Ok(Box::new(CopilotStage::open(&opening, Room(paper)).await?))
    }
}

/// A real model, as far as a test can have one.
pub struct Pretended(pub Scenario);

impl Live for Pretended {
    fn model(&self, name: Option<&str>) -> Result<LiveModel, String> {
        let model = mica_ai::Model::assumed(name.unwrap_or("pretended"), mica_ai::Dialect::Responses);
        Ok(LiveModel {
            provider: Arc::new(ScriptedModel::new(self.0.clone())),
            model: Arc::new(model),
            secrets: vec!["correct-horse-battery".to_owned()],
        })
    }
}

/// Where cases are played in a test.
pub struct Ground {
    pub folder: tempfile::TempDir,
    pub record: bool,
    pub live: Option<Arc<dyn Live>>,
    pub deadline: Duration,
    count: Mutex<usize>,
}

impl Ground {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            record: false,
            live: None,
            deadline: Duration::from_secs(60),
            count: Mutex::new(0),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A case of the notebook.
    pub fn case(&self, text: &str) -> Case {
        let text = format!("about = \"It is shown.\"\nproduct = \"notebook\"\n{text}");
        Case::parse("shown", &self.path("shown.toml"), &text).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    pub async fn suite(&self, cases: &[Case]) -> Report {
        let number = {
            let mut count = self.count.lock().unwrap();
            *count += 1;
            *count
        };
        let runner = Arc::new(Runner {
            products: vec![Arc::new(Notebook)],
            live: self.live.clone(),
            play_live: false,
            record: self.record,
            jobs: 2,
            deadline: self.deadline,
            scratch: self.path(&format!("scratch-{number}")),
            journals: Some(self.path(&format!("journals-{number}"))),
        });
        runner.play(cases, |_| {}).await
    }

    pub async fn play(&self, text: &str) -> CaseReport {
        let mut report = self.suite(&[self.case(text)]).await;
        report.cases.remove(0)
    }

    /// The journal of the case that was played last.
    pub fn journal(&self) -> String {
        let number = *self.count.lock().unwrap();
        read(&self.path(&format!("journals-{number}/shown.jsonl")))
    }
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
