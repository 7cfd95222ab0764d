//! A small product for the tests of copilots: notes on a page, letters that ask first.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mica_agent::tool::{Access, Approval};
use mica_agent::{Outcome, Tool, ToolOutput, ToolSpec, TypedTool};
use mica_ai::auth::NoCredential;
use mica_ai::endpoint::{AuthSettings, EndpointSettings, HostKind};
use mica_ai::message::ToolCall;
use mica_ai::{Content, Dialect, Message, Model, Remote, Request};
use mica_domain::{
    Act, Capability, Copilot, Domain, Org, OrgView, Page, RefKinds, Refs, Said, Section, Setup, State,
    Static, Surroundings, Turn as TurnTier, TurnView,
};
use mica_session::{Access as SessionAccess, Session, Sessions};
use mica_testkit::{Scenario, ScriptedModel, ScriptedTransport, cache};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
pub struct Letter {
    /// To whom.
    pub to: String,
    /// What it says.
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
pub struct Note {
    /// Which ticket.
    pub ticket: String,
    /// What it says.
    pub text: Option<String>,
}

/// What the product did, in order.
pub type Log = Arc<Mutex<Vec<String>>>;

/// A product: notes are on the page of a ticket, letters are everywhere and ask first.
#[derive(Clone, Default)]
pub struct Office {
    pub log: Log,
    /// Changes what is said of the team.
    pub team: Arc<Mutex<String>>,
    pub lifecycle: Option<Arc<dyn mica_domain::Lifecycle>>,
    pub breaks: bool,
}

impl Office {
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    fn says(&self, what: impl Into<String>) {
        self.log.lock().unwrap().push(what.into());
    }
}

#[async_trait]
impl Domain for Office {
    fn name(&self) -> &str {
        "office"
    }

    fn capabilities(&self) -> Vec<Capability> {
        let log = Arc::clone(&self.log);
        let letter = TypedTool::new("letter_send", "Sends a letter.", move |args: Letter, _| {
            log.lock().unwrap().push(format!("sent {}: {}", args.to, args.text));
            async move { Ok(ToolOutput::text(format!("sent to {}", args.to))) }
        })
        .with(|spec| (spec.approval, spec.access) = (Approval::Needed, Access::Write));
        let log = Arc::clone(&self.log);
        let note = TypedTool::new("note_add", "Adds a note.", move |args: Note, _| {
            // A tool asks the same function that fills in arguments.
            let meant = Refs::here().find("ticket").map(|one| one.id.clone());
            let other = meant.filter(|id| *id != args.ticket).map(|id| format!(" (not {id})"));
            let text = args.text.unwrap_or_default() + &other.unwrap_or_default();
            log.lock().unwrap().push(format!("noted {}: {text}", args.ticket));
            async move { Ok(ToolOutput::text("noted").with_details(serde_json::json!({ "note": text }))) }
        });
        let look =
            TypedTool::new("look", "Looks.", |_: Nothing, _| async move { Ok(ToolOutput::text("seen")) });
        let ask = TypedTool::new("ask_person", "Asks somebody.", |_: Nothing, _| async move {
            Ok(ToolOutput::text("yes"))
        });
        let (letter, note): (Arc<dyn Tool>, Arc<dyn Tool>) = (Arc::new(letter), Arc::new(note));
        let mut tickets = Capability::new(Page::named("ticket"), "keeps notes", vec![note])
            .with_prompt(|tools| tools.when("note_add", "Note things with note_add.").map(str::to_owned))
            .filling_from("note_add", "ticket", "ticket")
            .acting(Act::of("note_add").saving_first("ticket", "ticket"));
        tickets.lifecycle.clone_from(&self.lifecycle);
        vec![
            Capability::new(Page::Global, "sends letters", vec![letter, Arc::new(look), Arc::new(ask)])
                .acting(Act::of("letter_send").needing("letters"))
                .acting(Act::of("ask_person").questioning()),
            tickets,
        ]
    }

    fn statics(&self) -> Vec<Section<Static>> {
        vec![Section::<Static>::fixed("identity", "You work in an office.")]
    }

    fn org(&self, _: &OrgView<'_>) -> Vec<Section<Org>> {
        vec![Section::<Org>::new("team", format!("The team is {}.", self.team.lock().unwrap()))]
    }

    fn turn(&self, view: &TurnView<'_>) -> Vec<Section<TurnTier>> {
        let page = view.state.page.as_deref().unwrap_or("nowhere");
        vec![Section::<TurnTier>::new("page", format!("The user is on {page}."))]
    }

    fn ref_kinds(&self) -> RefKinds {
        RefKinds::default().one("ticket").several("record")
    }

    fn on_result(&self, call: &ToolCall, _: &ToolSpec, _: &ToolOutput, state: &mut State) {
        state.run.insert(call.name.clone(), true.into());
        self.says(format!("result of {}", call.name));
    }

    fn reset_run(&self, state: &mut State) {
        self.says("reset");
        state.run.clear();
    }

    async fn on_run_end(&self, outcome: &Outcome, state: &mut State) {
        self.says(format!("ended {}", mica_domain::keeping::word(outcome)));
        assert!(!self.breaks, "the domain breaks");
        let ended = state.kept.get("ended").and_then(serde_json::Value::as_u64).unwrap_or(0);
        state.kept.insert("ended".to_owned(), (ended + 1).into());
    }

    fn finish_text(&self, text: String, state: &State) -> String {
        let did: Vec<&str> = state.run.keys().map(String::as_str).collect();
        if did.is_empty() { text } else { format!("{text} [{}]", did.join(", ")) }
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Nothing {}

/// Noon of some day.
pub fn noon() -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_800_000_000).unwrap()
}

/// A folder with one session, opened again and again.
pub struct Desk {
    pub folder: tempfile::TempDir,
    pub office: Office,
    pub path: Option<PathBuf>,
}

impl Default for Desk {
    fn default() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), office: Office::default(), path: None }
    }
}

impl Desk {
    pub fn sessions(&self) -> Sessions {
        Sessions::new(self.folder.path(), noon)
    }

    pub fn session(&self) -> Session {
        match &self.path {
            None => self.sessions().draft(Path::new("/product"), None),
            Some(path) => self.sessions().open(path, SessionAccess::Write).unwrap(),
        }
    }

    pub fn setup(&self, model: &ScriptedModel) -> Setup {
        let facts = Arc::new(Model::assumed("scripted", Dialect::Responses));
        Setup::new(Arc::new(self.office.clone()), Arc::new(model.clone()), facts, Arc::new(noon))
    }

    /// Opens the session, a new one the first time.
    pub async fn open(&mut self, scenario: Scenario) -> (Copilot, ScriptedModel) {
        let model = ScriptedModel::new(scenario);
        let copilot = Copilot::open(self.setup(&model).in_session(self.session())).await.unwrap();
        self.path = copilot.path();
        (copilot, model)
    }
}

/// A copilot whose provider reads and writes a wire.
pub fn remote(dialect: Dialect, transport: &ScriptedTransport) -> Setup {
    let mut settings = EndpointSettings::new(HostKind::Foundry);
    settings.resource = Some("scripted".into());
    settings.auth = Some(AuthSettings::None {});
    let (endpoint, _) = settings.resolve(&|_| None).unwrap();
    let provider =
        Remote::new(Arc::new(endpoint), dialect, Arc::new(NoCredential), Arc::new(transport.clone()));
    let model = Model { cache: cache::usual(dialect), ..Model::assumed("m", dialect) };
    Setup::new(Arc::new(Office::default()), Arc::new(provider), Arc::new(model), Arc::new(noon))
}

pub fn says(text: &str) -> Said {
    Said { text: text.to_owned(), ..Said::default() }
}

pub fn says_on(page: &str, text: &str) -> Said {
    Said { surroundings: Some(Surroundings::on(page)), ..says(text) }
}

/// A request as lines: what each message says, and which calls it makes.
pub fn lines(request: &Request) -> Vec<String> {
    request.messages.iter().map(line).collect()
}

pub fn line(message: &Message) -> String {
    match message {
        Message::User(user) => format!("user: {}", text(&user.content)),
        Message::Assistant(answer) => {
            let calls: Vec<String> =
                answer.calls().map(|call| format!("{}{}", call.name, call.arguments.text())).collect();
            let words: Vec<String> = answer
                .blocks
                .iter()
                .filter_map(|block| match block {
                    mica_ai::Block::Text(text) => Some(text.text.clone()),
                    _ => None,
                })
                .collect();
            format!("model: {}", words.into_iter().chain(calls).collect::<Vec<_>>().join(" "))
        }
        Message::ToolResult(result) => format!("{}: {}", result.tool, text(&result.content)),
    }
}

pub fn text(content: &[Content]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } if !mica_context::section::context_block::is_block(text) => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    texts.join("|")
}
