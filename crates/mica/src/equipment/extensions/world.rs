//! The program, as extensions see it: people, the conversation, the session, commands, the web and files of their own.
//!
//! What an extension may ask for was judged before it gets here ([`mica_ext`] knows what each was allowed). What is asked
//! for is judged here like anything that the agent does: commands by the rules for commands and inside the sandbox, addresses
//! by the rules for the web.

mod exec;
mod steering;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::future::BoxFuture;
use mica_agent::{Agent, Context, Event, EventKind, Listener, RunId};
use mica_ai::Content;
use mica_ai::id::CallId;
use mica_ai::model::Effort;
use mica_ext::World;
use mica_ext::skills::fence;
use mica_ext::world::{
    Choice, Exec, Executed, Fetch, Fetched, Kept, Outgoing, Refusal, Severity, ToolInfo, WindowUse,
};
use mica_session::Kind;
use mica_session::entry::Body;
use mica_tools::person::{Answer, Choice as Option_, Question};
use mica_tools::web::{Web, WebRequest};
use mica_tools::{Inquiry, Person, Redaction, Reply};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::screen::Screen;
use super::store::Store;
use mica_domain::keeping::Keeper;

pub use exec::Commands;
pub use steering::Steering;

/// Whose entries those of extensions are, before the name.
const ENTRY: &str = "extension.";

/// Messages of extensions that wait for a person to say something.
const WAITING: usize = 32;

/// Runs that extensions may begin one after the other without a person.
const UNASKED: u64 = 5;

/// The program, as extensions see it.
pub struct Around {
    /// The folder that the agent works in.
    pub folder: PathBuf,
    /// Where people look.
    pub screen: Arc<dyn Screen>,
    /// Who can be asked; nobody when absent.
    pub person: Option<Arc<dyn Person>>,
    /// What runs commands.
    pub commands: Commands,
    /// The way to the web; none when the settings say so.
    pub web: Option<Web>,
    /// Files of extensions.
    pub store: Store,
    /// What takes values of secrets out of what they tell a model.
    pub redaction: Redaction,
    /// What they change about requests and calls.
    pub steering: Arc<Steering>,
    held: Mutex<Held>,
    now: Mutex<Now>,
    idle: AtomicBool,
    /// How many listen for questions.
    listening: AtomicUsize,
    asked: AtomicU64,
    unasked: AtomicU64,
}

/// What would be held as long as an extension is, and is let go when the session ends: the agent tells this of what happens
/// and holds it, and an extension may end later than the program wants to.
#[derive(Default)]
struct Held {
    /// The session.
    keeper: Option<Keeper>,
    /// The agent, once it is there.
    agent: Option<Agent>,
}

/// What is true at the moment.
#[derive(Default)]
struct Now {
    /// What the model is told, as it is sent.
    system: Arc<Vec<String>>,
    /// The tools it has.
    tools: Vec<(String, String)>,
    /// How hard it thinks when nobody says otherwise.
    effort: Option<Effort>,
    usage: WindowUse,
    /// What joins the next thing a person says.
    next: Vec<Content>,
    /// What begins a run.
    begins: Vec<Vec<Content>>,
}

/// What an [`Around`] is made from.
pub struct Given {
    pub folder: PathBuf,
    pub screen: Arc<dyn Screen>,
    pub person: Option<Arc<dyn Person>>,
    pub keeper: Option<Keeper>,
    pub commands: Commands,
    pub web: Option<Web>,
    pub store: Store,
}

impl Around {
    /// A program without an agent yet.
    pub fn new(given: Given) -> Self {
        let Given { folder, screen, person, keeper, commands, web, store } = given;
        Self {
            redaction: Redaction::new(&folder),
            folder,
            screen,
            person,
            commands,
            web,
            store,
            steering: Arc::default(),
            held: Mutex::new(Held { keeper, agent: None }),
            now: Mutex::default(),
            idle: AtomicBool::new(true),
            listening: AtomicUsize::new(0),
            asked: AtomicU64::new(0),
            unasked: AtomicU64::new(0),
        }
    }

    /// The agent is there.
    pub fn begins(&self, agent: &Agent) {
        self.held().agent = Some(agent.clone());
    }

    /// The session ends: neither it nor the agent is there any more.
    pub fn ends(&self) {
        let _ = std::mem::take(&mut *self.held());
    }

    /// Ends when what is answered goes away, however that comes: else the session would stay locked.
    pub fn until_dropped(self: &Arc<Self>) -> Ends {
        Ends(Arc::clone(self))
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keeper(&self) -> Option<Keeper> {
        self.held().keeper.clone()
    }

    /// From now on somebody listens for what extensions ask, until the answer to this is dropped. Without anybody they are
    /// told at once that nobody is there: a question that is never seen would be waited for without an end.
    pub fn listens(&self) -> Listens<'_> {
        self.listening.fetch_add(1, Ordering::SeqCst);
        Listens(self)
    }

    /// What the model is told and has, after it changed.
    pub fn told(&self, cx: &Context) {
        let mut now = self.now();
        now.system = Arc::new(cx.system.clone());
        let sent = cx.tools.iter().cloned().chain(cx.tools.behind());
        now.tools = sent.map(|tool| (tool.spec().name.clone(), tool.spec().description.clone())).collect();
        now.tools.sort();
        now.effort = cx.settings.effort;
        now.usage.window = cx.model.context;
    }

    /// A person says something: what waited for it joins.
    pub fn person_speaks(&self) -> Vec<Content> {
        self.unasked.store(0, Ordering::SeqCst);
        std::mem::take(&mut self.now().next)
    }

    /// What joins the next thing a person says.
    pub fn joins_next(&self, content: Vec<Content>) {
        self.now().next.extend(content);
    }

    /// What an extension wants a run to begin with. There is an end to it: a person has to say something now and then.
    pub fn next_run(&self) -> Option<Vec<Content>> {
        let mut now = self.now();
        if now.begins.is_empty() || self.unasked.fetch_add(1, Ordering::SeqCst) >= UNASKED {
            return None;
        }
        Some(now.begins.remove(0))
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run that goes on; one of its own for what is done between runs.
    pub fn run(&self) -> RunId {
        let running = self.steering.run().filter(|_| !self.idle.load(Ordering::SeqCst));
        running.unwrap_or_else(RunId::fresh)
    }

    fn agent(&self) -> Result<Agent, Refusal> {
        self.held().agent.clone().ok_or(Refusal::Unavailable { what: "conversation" })
    }

    /// Asks one question, and gives the answer to it.
    async fn ask(
        &self,
        by: &str,
        kind: &str,
        question: Question,
        cancel: &CancellationToken,
    ) -> Option<Answer> {
        let person = self.person.as_ref()?;
        if self.listening.load(Ordering::SeqCst) == 0 {
            return None;
        }
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let call = CallId::from(format!("ui_{by}_{number}"));
        let inquiry = Inquiry { call, questions: vec![question] };
        let asking = person.ask(inquiry.clone());
        tokio::pin!(asking);
        // It is open before it is told, so that no answer can come too early.
        let reply = tokio::select! {
            biased;
            reply = &mut asking => Some(reply),
            () = std::future::ready(()) => None,
        };
        let reply = match reply {
            Some(reply) => reply,
            None => {
                self.screen.asks(by, kind, &inquiry);
                let reply = tokio::select! {
                    reply = &mut asking => reply,
                    () = cancel.cancelled() => Reply::Declined { reason: None },
                };
                self.screen.over(&inquiry);
                reply
            }
        };
        match reply {
            Reply::Answered(answers) => answers.into_iter().next(),
            Reply::Declined { .. } | Reply::Nobody => None,
        }
    }
}

/// The session is there as long as this is.
pub struct Ends(Arc<Around>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ends();
    }
}

/// Somebody listens for what extensions ask, as long as this is there.
pub struct Listens<'a>(&'a Around);

impl Drop for Listens<'_> {
    fn drop(&mut self) {
        self.0.listening.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Listener for Around {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::RunStart | EventKind::RunEnd { .. } | EventKind::AnswerEnd { .. })
    }

    async fn event(&self, event: Event) {
        match event.kind {
            EventKind::RunStart => {
                self.idle.store(false, Ordering::SeqCst);
                self.steering.runs(event.run);
            }
            EventKind::RunEnd { .. } => self.idle.store(true, Ordering::SeqCst),
            EventKind::AnswerEnd { usage, .. } => self.now().usage.tokens = usage.input + usage.output,
            _ => {}
        }
    }
}

const YES: &str = "Yes";
const NO: &str = "No";

fn option(label: &str, description: Option<&str>) -> Option_ {
    Option_ { label: label.to_owned(), description: description.map(str::to_owned) }
}

/// Words of an extension, for the model: whose they are, and nothing inside can end the boundary.
fn fenced(by: &str, kind: Option<&str>, text: &str) -> String {
    let attributes: Vec<(&str, &str)> =
        [("name", by)].into_iter().chain(kind.map(|kind| ("type", kind))).collect();
    fence::fenced("extension", &attributes, text)
}

#[async_trait]
impl World for Around {
    fn cwd(&self) -> PathBuf {
        self.folder.clone()
    }

    fn has_ui(&self) -> bool {
        self.person.is_some()
    }

    async fn confirm(&self, by: &str, title: &str, message: &str, cancel: &CancellationToken) -> bool {
        let question = Question {
            header: format!("{by}{}{title}", if title.is_empty() { "" } else { ", " }),
            question: message.to_owned(),
            options: vec![option(YES, None), option(NO, None)],
            multi_select: false,
        };
        let said = self.ask(by, "confirm", question, cancel).await;
        said.is_some_and(|answer| {
            let words = answer.words().unwrap_or_default().to_lowercase();
            answer.chosen.iter().any(|label| label == YES) || matches!(words.as_str(), "y" | "yes")
        })
    }

    async fn select(
        &self,
        by: &str,
        title: &str,
        choices: &[Choice],
        cancel: &CancellationToken,
    ) -> Option<usize> {
        let options =
            choices.iter().map(|choice| option(&choice.label, choice.description.as_deref())).collect();
        let question =
            Question { header: by.to_owned(), question: title.to_owned(), options, multi_select: false };
        let answer = self.ask(by, "select", question, cancel).await?;
        let said = answer.chosen.first().map(String::as_str).or(answer.words())?;
        choices.iter().position(|choice| choice.label.eq_ignore_ascii_case(said))
    }

    async fn input(
        &self,
        by: &str,
        title: &str,
        placeholder: &str,
        cancel: &CancellationToken,
    ) -> Option<String> {
        let hint = if placeholder.is_empty() { String::new() } else { format!(" ({placeholder})") };
        let question = Question {
            header: by.to_owned(),
            question: format!("{title}{hint}"),
            options: Vec::new(),
            multi_select: false,
        };
        self.ask(by, "input", question, cancel).await?.text
    }

    fn notify(&self, by: &str, text: &str, severity: Severity) {
        self.screen.notify(by, text, severity);
    }

    fn set_status(&self, by: &str, key: &str, text: Option<&str>) {
        self.screen.status(by, key, text);
    }

    fn stopped(&self, by: &str) {
        self.screen.clear(Some(by));
    }

    fn send_message(&self, by: &str, message: Outgoing) -> Result<(), Refusal> {
        use mica_ext::world::{Deliver, Voice};
        if message.display {
            for content in &message.content {
                if let Content::Text { text } = content {
                    self.screen.notify(by, text, Severity::Info);
                }
            }
        }
        let kind = message.custom_type.as_deref();
        let said = |content: Content| match content {
            Content::Text { text } => {
                let text = self.redaction.clean_now(text);
                Content::text(if message.voice == Voice::User { text } else { fenced(by, kind, &text) })
            }
            image @ Content::Image(_) => image,
        };
        let content: Vec<Content> = message.content.into_iter().map(said).collect();
        let idle = self.idle.load(Ordering::SeqCst);
        let full = |_| Refusal::failed("too many messages wait already");
        let user = || mica_ai::User { id: mica_ai::id::MessageId::fresh(), content: content.clone() };
        match message.deliver {
            Deliver::Steer if !idle => return self.agent()?.steer(user()).map_err(full),
            Deliver::FollowUp if !idle => return self.agent()?.follow_up(user()).map_err(full),
            Deliver::Steer | Deliver::FollowUp if message.trigger => {
                let mut now = self.now();
                if now.begins.len() >= WAITING {
                    return Err(Refusal::failed("too many runs wait already"));
                }
                now.begins.push(content);
                return Ok(());
            }
            Deliver::Steer | Deliver::FollowUp | Deliver::NextTurn => {}
        }
        let mut now = self.now();
        if now.next.len() >= WAITING {
            return Err(Refusal::failed("too many messages wait already"));
        }
        now.next.extend(content);
        Ok(())
    }

    async fn append_entry(&self, by: &str, custom_type: &str, data: Value) -> Result<String, Refusal> {
        let keeper = self.keeper().ok_or(Refusal::Unavailable { what: "session" })?;
        let value = json!({ "type": custom_type, "data": data });
        let body = Body::Custom { custom: format!("{ENTRY}{by}"), value };
        keeper.append_aside(body).await.map(Option::unwrap_or_default).map_err(Refusal::failed)
    }

    async fn entries(&self, by: &str) -> Result<Vec<Kept>, Refusal> {
        let Some(keeper) = self.keeper() else { return Ok(Vec::new()) };
        let whose = format!("{ENTRY}{by}");
        let kept = |body: &Body, id: String| match body {
            Body::Custom { custom, value } if *custom == whose => Some(Kept {
                id,
                custom_type: value["type"].as_str().unwrap_or_default().to_owned(),
                data: value["data"].clone(),
            }),
            _ => None,
        };
        let session = keeper.session();
        let branch = session.tree().branch();
        let custom = branch.iter().filter(|node| node.kind == Kind::Custom);
        let mut all: Vec<Kept> =
            custom.filter_map(|node| kept(&session.entry(node.id).ok()?.body, node.id.to_string())).collect();
        drop(session);
        all.extend(keeper.waiting_aside().iter().filter_map(|body| kept(body, String::new())));
        Ok(all)
    }

    fn tools(&self) -> Vec<ToolInfo> {
        let now = self.now();
        let info = |(name, description): &(String, String)| ToolInfo {
            name: name.clone(),
            description: description.clone(),
            active: self.steering.off(name).is_none(),
        };
        now.tools.iter().map(info).collect()
    }

    fn set_active_tools(&self, by: &str, names: &[String]) -> Result<(), Refusal> {
        let known: Vec<String> = self.now().tools.iter().map(|(name, _)| name.clone()).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            return Err(Refusal::failed(format!(
                "there is no tool {name:?}; there are {}",
                known.join(", ")
            )));
        }
        self.steering.narrow(by, names, &known);
        Ok(())
    }

    fn thinking_level(&self) -> String {
        let effort = self.steering.effort().or(self.now().effort);
        effort.map_or("off".to_owned(), |effort| match effort {
            Effort::None => "off".to_owned(),
            other => other.to_string(),
        })
    }

    fn set_thinking_level(&self, _: &str, level: &str) -> Result<(), Refusal> {
        let effort = match level {
            "off" => Effort::None,
            other => other.parse().map_err(|_| {
                Refusal::failed(format!(
                    "{other:?} is no level: off, minimal, low, medium, high, xhigh or max"
                ))
            })?,
        };
        self.steering.think(effort);
        Ok(())
    }

    fn abort(&self, _: &str) {
        if let Ok(agent) = self.agent() {
            agent.abort();
        }
    }

    fn is_idle(&self) -> bool {
        self.idle.load(Ordering::SeqCst)
    }

    fn usage(&self) -> WindowUse {
        self.now().usage
    }

    fn system_prompt(&self) -> String {
        let system = Arc::clone(&self.now().system);
        system.join("\n\n")
    }

    async fn exec(&self, by: &str, exec: Exec, cancel: &CancellationToken) -> Result<Executed, Refusal> {
        let asks = |line: String| -> BoxFuture<'_, bool> {
            let question = format!("Run this outside of any sandbox? {line}");
            Box::pin(async move { self.confirm(by, "", &question, cancel).await })
        };
        self.commands.exec(&self.folder, self.run(), by, exec, asks, cancel).await
    }

    async fn fetch(&self, _: &str, fetch: Fetch, cancel: &CancellationToken) -> Result<Fetched, Refusal> {
        let web = self.web.as_ref().ok_or(Refusal::Unavailable { what: "network" })?;
        let Fetch { url, method, headers, body, timeout } = fetch;
        let request = WebRequest { address: url.clone(), method, headers, body };
        let answer = tokio::time::timeout(timeout, web.request(&request, cancel)).await;
        let answer =
            answer.map_err(|_| Refusal::failed(format!("{url} took longer than {} s", timeout.as_secs())))?;
        let answer = answer.map_err(|error| match error {
            mica_tools::web::WebError::Private { .. } => Refusal::Denied { reason: error.to_string() },
            other => Refusal::failed(other.to_string()),
        })?;
        Ok(Fetched { status: answer.status, headers: answer.headers, body: answer.body, url })
    }

    async fn stored(&self, by: &str, key: &str) -> Result<Option<Value>, Refusal> {
        Ok(self.store.all(by).map_err(Refusal::failed)?.remove(key))
    }

    async fn store(&self, by: &str, key: &str, value: Option<Value>) -> Result<(), Refusal> {
        self.store.keep(by, key, value).map_err(Refusal::failed)
    }

    async fn stored_keys(&self, by: &str) -> Result<Vec<String>, Refusal> {
        Ok(self.store.all(by).map_err(Refusal::failed)?.into_keys().collect())
    }

    #[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
    fn log(&self, by: &str, severity: Severity, line: &str) {
        let mark = match severity {
            Severity::Info => "",
            Severity::Warn => "warning: ",
            Severity::Error => "error: ",
        };
        let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S").to_string();
        self.store.log(by, &time, mark, line);
    }
}
