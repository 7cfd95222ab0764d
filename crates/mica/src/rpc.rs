//! An agent over a pipe: JSON lines in, JSON lines out.
//!
//! A request is `{"id": …, "method": …, …}`; its answer is `{"id": …, "result": …}` or `{"id": …, "error": {"message"}}`.
//! Events are lines without an `id`: `{"event": {…}}`. Everything written is one line. `docs/rpc.md` has every method.

mod extending;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, anyhow, bail};
use async_trait::async_trait;
use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use mica_agent::{Agent, Answer, Ask, Decision, Decisions, Event, EventKind, Listener, Outcome, Proposal};
use mica_domain::editor;
use mica_ext::world::Severity;
use mica_policy::mode::Mode;
use mica_session::entry::Body;
use mica_session::undo::Way;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::mpsc;

use crate::cli::{Form, RestoreFlags};
use crate::commands::sessions;
use crate::commands::undo;
use crate::inquiries::Inquiries;
use crate::questions::Question;
use crate::render::json::JsonLines;
use crate::saying::{Heard, Said};
use crate::surroundings::Surroundings;
use crate::switching;
use crate::work::Work;
use mica_domain::keeping::Keeper;

/// What can be asked.
#[derive(Debug, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case", deny_unknown_fields)]
enum Method {
    /// Run from a prompt. Answered when the run ends.
    Prompt {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Say something that joins before the next model call.
    Steer {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Say something for when the run would end.
    FollowUp {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// Cut what is under way and say something instead.
    Interrupt {
        text: String,
        #[serde(default)]
        context: Option<InFront>,
        #[serde(default)]
        id: Value,
    },
    /// End the run.
    Abort {
        #[serde(default)]
        id: Value,
    },
    /// Answer questions: a decision for each call. The run goes on when every call that is asked about is decided.
    Approve {
        decisions: Vec<Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Go on with a run that was waiting when the session was opened. Answered when the run ends.
    Resume {
        decisions: Vec<Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Answer what a running call asks: an answer for each of its questions.
    Answer {
        call: String,
        answers: Vec<mica_tools::person::Answer>,
        #[serde(default)]
        id: Value,
    },
    /// Decline to answer what a running call asks.
    Decline {
        call: String,
        #[serde(default)]
        reason: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// What the last run took, and how full the window is.
    Usage {
        #[serde(default)]
        id: Value,
    },
    /// Which model is asked, and where; with a name, ask that one from the next run on.
    Model {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// The sessions of this folder, or of all.
    Sessions {
        #[serde(default)]
        all: bool,
        #[serde(default)]
        id: Value,
    },
    /// Which entry keeps which message of this session.
    Entries {
        #[serde(default)]
        id: Value,
    },
    /// Begin a new session with what this one said until an entry.
    Fork {
        #[serde(default)]
        entry: Option<String>,
        #[serde(default)]
        id: Value,
    },
    /// What was remembered of approvals; with one of them, take it back.
    Rules {
        #[serde(default)]
        forget: Option<Proposal>,
        #[serde(default)]
        id: Value,
    },
    /// Take back what runs changed in files, between runs.
    Undo {
        #[serde(default)]
        run: Option<String>,
        #[serde(default)]
        files: Vec<PathBuf>,
        #[serde(default)]
        dry_run: bool,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        skip_conflicts: bool,
        #[serde(default)]
        id: Value,
    },
    /// Take back the last undo, between runs.
    Redo {
        #[serde(default)]
        files: Vec<PathBuf>,
        #[serde(default)]
        dry_run: bool,
        #[serde(default)]
        force: bool,
        #[serde(default)]
        skip_conflicts: bool,
        #[serde(default)]
        id: Value,
    },
    /// The runs that changed files.
    Undoable {
        #[serde(default)]
        id: Value,
    },
    /// Which extensions there are, and what became of each.
    Extensions {
        #[serde(default)]
        id: Value,
    },
    /// Load extensions anew, between runs.
    Reload {
        #[serde(default)]
        id: Value,
    },
    /// Do a command of an extension. Answered when it is done.
    Command {
        name: String,
        #[serde(default)]
        arguments: String,
        #[serde(default)]
        id: Value,
    },
    /// What the agent is doing.
    State {
        #[serde(default)]
        id: Value,
    },
    /// Change how much may be done.
    Mode {
        mode: String,
        #[serde(default)]
        id: Value,
    },
    /// Summarise before the next answer.
    Compact {
        #[serde(default)]
        focus: Option<String>,
        #[serde(default)]
        id: Value,
    },
}

/// What the user has in front of them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct InFront {
    /// The file that is open, relative to the folder.
    open_file: Option<String>,
    /// The text that is selected in it.
    selection: Option<String>,
}

impl From<InFront> for mica_domain::Surroundings {
    fn from(told: InFront) -> Self {
        let facts = [(editor::OPEN_FILE, told.open_file), (editor::SELECTION, told.selection)];
        let said = |(name, fact): (&str, Option<String>)| Some((name.to_owned(), Value::String(fact?)));
        Self { facts: facts.into_iter().filter_map(said).collect(), ..Self::default() }
    }
}

/// The questions that are open, as they were told.
#[derive(Clone, Default)]
pub struct Asked(Arc<Mutex<Vec<Told>>>);

/// Whose question it is, the agent's own or a subagent's, and what is asked.
type Told = (Option<String>, Ask);

impl Asked {
    fn open(&self) -> MutexGuard<'_, Vec<Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn asks(&self) -> Vec<Ask> {
        self.open().iter().map(|(_, ask)| ask.clone()).collect()
    }

    /// Hears what happens in an agent.
    fn hear(&self, agent: Option<&str>, kind: &EventKind) {
        let is_own = |whose: &Option<String>| whose.as_deref() == agent;
        match kind {
            EventKind::ApprovalAsked { ask } => {
                // A question that is asked again takes the place of the one before.
                let mut open = self.open();
                open.retain(|(whose, other)| !is_own(whose) || other.call.id != ask.call.id);
                open.push((agent.map(str::to_owned), ask.clone()));
            }
            EventKind::ApprovalGiven { call, .. } => {
                self.open().retain(|(whose, ask)| !is_own(whose) || ask.call.id != *call);
            }
            EventKind::RunStart | EventKind::TurnEnd { .. } | EventKind::RunEnd { .. } => {
                self.open().retain(|(whose, _)| !is_own(whose));
            }
            EventKind::Subagent { agent, event } => self.hear(Some(agent), event),
            _ => {}
        }
    }

    /// Whether an answer is to a question that is open.
    fn has(&self, answer: &Answer) -> bool {
        self.open().iter().any(|(_, ask)| ask.call.id == answer.call && answer.fits(&ask.shown))
    }

    /// Whether an answer is to a question that is open, and for what was shown.
    fn check(&self, answer: &Answer) -> Result<()> {
        let call = &answer.call;
        let open = self.open();
        let asks = || open.iter().map(|(_, ask)| ask).filter(|ask| ask.call.id == *call);
        // Several agents may have named a call alike; the one that was shown is meant.
        let ask = asks().find(|ask| answer.fits(&ask.shown)).or_else(|| asks().next());
        let ask = ask.with_context(|| format!("nothing is asked about the call {call}"))?;
        if answer.decision == Decision::Later {
            bail!("say what is decided about the call {call}; until then its question stays open");
        }
        if let Some(picked) = answer.decision.remembers()
            && ask.proposal(picked).is_none()
        {
            bail!(
                "the question about {call} does not propose to remember {:?} for the {}; \"proposals\" has what it does",
                picked.key,
                picked.scope
            );
        }
        if answer.fits(&ask.shown) {
            return Ok(());
        }
        match &answer.shown {
            None => bail!("say what is allowed: \"shown\" of the question about {call} is \"{}\"", ask.shown),
            Some(shown) => bail!(
                "the call {call} is still asked about: what was allowed (shown \"{shown}\") is not what it would run \
                 with (shown \"{}\")",
                ask.shown
            ),
        }
    }
}

struct Events {
    out: Arc<JsonLines>,
    asked: Asked,
}

#[async_trait]
impl Listener for Events {
    async fn event(&self, event: Event) {
        // Before it is told, so that no answer can come too early.
        self.asked.hear(None, &event.kind);
        self.out.line(&json!({ "event": event }));
    }
}

/// A listener that writes events as RPC lines, and knows what is asked.
pub fn listener(out: &Arc<JsonLines>, asked: &Asked) -> Arc<dyn Listener> {
    Arc::new(Events { out: Arc::clone(out), asked: asked.clone() })
}

/// What is asked, and what was answered. An answer may come before the question is open here: the event that asks is
/// told first.
#[derive(Default)]
struct Asking {
    open: Option<Question>,
    given: Vec<Answer>,
}

impl Asking {
    /// Takes answers. A later one about the same call counts.
    fn take(&mut self, answers: Vec<Answer>) {
        for answer in answers {
            self.given.retain(|other| other.call != answer.call);
            self.given.push(answer);
        }
        self.settle();
    }

    /// Forgets what nobody waits for any more. What a subagent in the background asks stays.
    fn forget(&mut self, asked: &Asked) {
        self.open.take_if(|question| question.reply.is_closed());
        self.given.retain(|answer| asked.has(answer));
    }

    /// Answers the question once all of its calls are decided, each for what it would run with; or one of them is to be
    /// remembered, because the others may be covered by it.
    fn settle(&mut self) {
        let Some(question) = self.open.take() else { return };
        let decision = |ask: &Ask| {
            let answer = self.given.iter().find(|answer| answer.call == ask.call.id)?;
            answer.fits(&ask.shown).then(|| answer.decision.clone())
        };
        let decided: Vec<Option<Decision>> = question.asks.iter().map(decision).collect();
        let remembers = decided.iter().flatten().any(|decision| decision.remembers().is_some());
        if !remembers && decided.iter().any(Option::is_none) {
            self.open = Some(question);
            return;
        }
        // Those to other questions, of other agents, wait for their turn.
        self.given.retain(|answer| question.asks.iter().all(|ask| ask.call.id != answer.call));
        let decided = decided.into_iter().map(|decision| decision.unwrap_or(Decision::Later)).collect();
        // A run that was aborted meanwhile does not wait for it any more.
        let _ = question.reply.send(decided);
    }
}

/// Serves requests until the input ends.
///
/// # Errors
/// When the input cannot be read.
pub async fn serve(
    work: &Work,
    surroundings: &Surroundings,
    input: impl AsyncRead + Unpin,
    out: &Arc<JsonLines>,
    mut questions: mpsc::Receiver<Question>,
    (asked, inquiries): (Asked, Inquiries),
) -> Result<()> {
    let mut lines = BufReader::new(input).lines();
    let mut listens = Some(work.loading.around.listens());
    let starts = starts(work);
    let (ended, mut outcomes) = mpsc::channel::<(Value, Result<Said>)>(4);
    let mut desk = Desk {
        work,
        surroundings,
        out,
        ended,
        asked,
        asking: Asking::default(),
        inquiries,
        running: false,
        starts,
    };
    let mut reading = true;
    loop {
        tokio::select! {
            line = lines.next_line(), if reading => match line? {
                None if desk.running => {
                    // What was asked will not be answered any more, nor what will be.
                    listens = None;
                    desk.inquiries.decline_all();
                    work.agent.abort();
                    reading = false;
                }
                None => {
                    drop(listens.take());
                    desk.inquiries.decline_all();
                    return Ok(());
                }
                Some(line) if line.trim().is_empty() => {}
                Some(line) => match serde_json::from_str::<Method>(&line) {
                    Err(error) => {
                        let id = serde_json::from_str::<Value>(&line).ok().and_then(|value| value.get("id").cloned());
                        desk.answer(&id.unwrap_or(Value::Null), Err(anyhow!("this is no request: {error}")));
                    }
                    Ok(method) => desk.handle(method).await,
                },
            },
            Some(question) = questions.recv() => {
                desk.asking.open = Some(question);
                desk.asking.settle();
            }
            Some((id, outcome)) = outcomes.recv() => {
                desk.running = false;
                desk.asking.forget(&desk.asked);
                desk.answer(&id, outcome.map(|said| told(&said)));
                if !reading {
                    return Ok(());
                }
            }
        }
    }
}

/// The session begins, for extensions: told once, in a task of its own, and waited for by whatever they have a say in.
type Starts = Shared<BoxFuture<'static, ()>>;

fn starts(work: &Work) -> Starts {
    let work = work.clone();
    let starts = async move { work.session_starts().await }.boxed().shared();
    tokio::spawn(starts.clone());
    starts
}

/// Where requests are handled.
struct Desk<'a> {
    work: &'a Work,
    surroundings: &'a Surroundings,
    out: &'a Arc<JsonLines>,
    ended: mpsc::Sender<(Value, Result<Said>)>,
    asked: Asked,
    asking: Asking,
    inquiries: Inquiries,
    running: bool,
    starts: Starts,
}

impl Desk<'_> {
    fn answer(&self, id: &Value, made: Result<Value>) {
        answer(self.out, id, made);
    }

    async fn handle(&mut self, method: Method) {
        let work = self.work;
        let (id, answer) = match method {
            Method::Prompt { id, .. } | Method::Resume { id, .. } if self.running => {
                (id, Err(mica_agent::Busy.into()))
            }
            Method::Prompt { text, context, id } => {
                let (work, here) = (work.clone(), context.unwrap_or_default().into());
                let starts = self.starts.clone();
                return self.start(id, async move {
                    starts.await;
                    if work.loading.is_outdated() {
                        for told in work.reload().await? {
                            work.loading.around.screen.notify("mica", &told, Severity::Info);
                        }
                    }
                    let mut said = work.say_from(&text, &here).await?;
                    // What extensions want a run to begin with belongs to the prompt that led to it.
                    while let Said::Ran(Outcome::Completed) = said {
                        let Some(content) = work.loading.around.next_run() else { break };
                        said = Said::Ran(work.unasked(content).await?);
                    }
                    Ok(said)
                });
            }
            Method::Resume { decisions, id } => {
                let (work, answers) = (work.clone(), Decisions(decisions));
                let starts = self.starts.clone();
                return self.start(id, async move {
                    starts.await;
                    work.resume_waiting(answers).await.map(Said::Ran)
                });
            }
            Method::Extensions { id } => (id, Ok(extending::listed(work))),
            Method::Reload { id } => {
                // An extension that begins may ask something, which is answered here.
                let (work, out, starts) = (work.clone(), Arc::clone(self.out), self.starts.clone());
                tokio::spawn(async move {
                    starts.await;
                    answer(&out, &id, work.reload().await.map(|told| json!({ "told": told })));
                });
                return;
            }
            Method::Command { name, arguments, id } => {
                let (work, out, starts) = (work.clone(), Arc::clone(self.out), self.starts.clone());
                tokio::spawn(async move {
                    starts.await;
                    answer(&out, &id, extending::command(&work, &name, &arguments).await);
                });
                return;
            }
            Method::Steer { text, context, id } => {
                return self.say(id, text, context, Agent::steer).await;
            }
            Method::FollowUp { text, context, id } => {
                return self.say(id, text, context, Agent::follow_up).await;
            }
            Method::Interrupt { text, context, id } => {
                return self.say(id, text, context, Agent::interrupt).await;
            }
            Method::Abort { id } => {
                work.agent.abort();
                (id, Ok(json!({})))
            }
            Method::Approve { id, .. } if !self.running && self.asked.open().is_empty() => {
                (id, Err(anyhow!("nothing is asked: no run goes on")))
            }
            Method::Approve { decisions, id } => (id, self.approve(decisions)),
            Method::Answer { call, answers, id } => (id, done(self.inquiries.answer(&call, answers))),
            Method::Decline { call, reason, id } => (id, done(self.inquiries.decline(&call, reason))),
            Method::Rules { forget, id } => (id, self.rules(forget.as_ref()).await),
            Method::State { id } => (id, Ok(self.state())),
            Method::Mode { mode, id } => {
                let mode = mode.parse::<Mode>().map_err(Into::into);
                (id, done(mode.and_then(|mode| work.set_mode(mode))))
            }
            Method::Compact { focus, id } => {
                work.window.request_compaction(focus);
                (id, Ok(json!({})))
            }
            Method::Undo { id, .. } | Method::Redo { id, .. } if self.running => {
                (id, Err(anyhow!("a run is going on: undo when it has ended, or abort it")))
            }
            Method::Undo { run, files: file, dry_run, force, skip_conflicts, id } => {
                let flags = RestoreFlags { file, dry_run, force, skip_conflicts, format: Form::Json };
                (id, self.restore(Way::Undo, run.as_deref(), &flags).await)
            }
            Method::Redo { files: file, dry_run, force, skip_conflicts, id } => {
                let flags = RestoreFlags { file, dry_run, force, skip_conflicts, format: Form::Json };
                (id, self.restore(Way::Redo, None, &flags).await)
            }
            Method::Undoable { id } => {
                let rows = || undo::rows(work.undoing.undo());
                (id, tokio::task::block_in_place(rows).map(|runs| json!({ "runs": runs })))
            }
            Method::Usage { id } => (id, self.usage().await),
            Method::Model { name: Some(_), id } if self.running => (id, Err(anyhow!(switching::BUSY))),
            Method::Model { name: Some(name), id } => match work.swap(&name).await {
                // An extension that hears of it may ask something, which is answered here.
                Ok(true) => {
                    let (work, out, now) = (work.clone(), Arc::clone(self.out), self.model());
                    tokio::spawn(async move {
                        work.model_changed().await;
                        answer(&out, &id, Ok(now));
                    });
                    return;
                }
                swapped => (id, swapped.map(|_| self.model())),
            },
            Method::Model { name: None, id } => (id, Ok(self.model())),
            Method::Sessions { all, id } => {
                let project = (!all).then_some(self.surroundings.folder.as_path());
                // Reading a folder of sessions can take a while; other tasks go on meanwhile.
                let list = || sessions::rows(&sessions::folder(self.surroundings).list(project));
                (id, Ok(json!({ "sessions": tokio::task::block_in_place(list) })))
            }
            Method::Entries { id } => (id, self.entries()),
            Method::Fork { entry, id } => (id, tokio::task::block_in_place(|| self.fork(entry.as_deref()))),
        };
        self.answer(&id, answer);
    }

    /// Says something to a run that goes on, when extensions have looked at it. What is in front of the user is known before:
    /// what is said may join at once. Left out, it is as it was.
    async fn say(
        &self,
        id: Value,
        text: String,
        context: Option<InFront>,
        say: fn(&Agent, String) -> Result<(), mica_agent::queue::Full>,
    ) {
        if let Some(told) = context {
            self.work.domain.message(&told.into());
        }
        let (work, out) = (self.work.clone(), Arc::clone(self.out));
        let mut saying = Box::pin(async move {
            let made = match work.hear(&text).await {
                Heard::Say(text) => done(say(&work.agent, text)),
                Heard::Handled(text) => Ok(told(&Said::Handled(text))),
                Heard::Refused(reason) => Ok(told(&Said::Refused(reason))),
            };
            answer(&out, &id, made);
        });
        // Where no extension looks, it is said before the next request is read. One that asks somebody is answered here.
        tokio::select! {
            biased;
            () = &mut saying => {}
            () = std::future::ready(()) => drop(tokio::spawn(saying)),
        }
    }

    /// Runs in a task of its own. The answer comes when the run ends.
    fn start(&mut self, id: Value, running: impl Future<Output = Result<Said>> + Send + 'static) {
        self.running = true;
        let ended = self.ended.clone();
        tokio::spawn(async move {
            let outcome = running.await;
            let _ = ended.send((id, outcome)).await;
        });
    }

    /// Takes answers, all or none: a client that is wrong about one is told before anything is done.
    fn approve(&mut self, answers: Vec<Answer>) -> Result<Value> {
        answers.iter().try_for_each(|answer| self.asked.check(answer))?;
        self.asking.take(answers);
        Ok(json!({}))
    }

    /// Conflicts are an answer: `done` says whether anything was touched.
    async fn restore(&self, way: Way, run: Option<&str>, flags: &RestoreFlags) -> Result<Value> {
        let asked = undo::Asked::from_flags(way, run, flags, &self.surroundings.folder);
        let undoing = self.work.undoing.clone();
        Ok(tokio::task::spawn_blocking(move || undoing.perform(&asked)).await??.value)
    }

    fn state(&self) -> Value {
        let waiting = || self.work.keeper.as_ref().and_then(Keeper::waiting).map(|waiting| waiting.asks);
        let mut asks = self.asked.asks();
        if !self.running {
            asks.extend(waiting().unwrap_or_default());
        }
        let choice = self.work.choice();
        json!({
            "running": self.running,
            "mode": self.work.mode.get().name(),
            "model": choice.model.id,
            "endpoint": choice.endpoint.name,
            "session": self.work.session_id(),
            "asks": asks,
            "questions": self.inquiries.list(),
            "todos": self.work.people.todos.get(),
            "notices": *self.work.notices,
        })
    }

    async fn rules(&self, forget: Option<&Proposal>) -> Result<Value> {
        if let Some(approval) = forget {
            self.work.approvals.forget(approval).await?;
        }
        Ok(json!({ "remembered": self.work.approvals.list() }))
    }

    fn model(&self) -> Value {
        let choice = self.work.choice();
        json!({
            "model": choice.model.id,
            "endpoint": choice.endpoint.name,
            "dialect": choice.dialect.to_string(),
            "url": choice.url(),
            "context": choice.model.context,
            "max_output": choice.model.max_output,
        })
    }

    async fn usage(&self) -> Result<Value> {
        let taken = |cx: &mut mica_agent::Context| (cx.tally.clone(), self.work.window.report(cx));
        let (tally, window) = self.work.agent.with(taken).await?;
        Ok(json!({
            "turns": tally.turns,
            "usage": tally.usage,
            "subagents": tally.delegated,
            "cache": self.work.window.cache_checks().last(),
            "window": { "tokens": window.fill.total(), "of": window.window, "shortened_at": window.threshold },
        }))
    }

    fn keeper(&self) -> Result<&Keeper> {
        self.work.keeper.as_ref().context("this conversation is not kept")
    }

    fn entries(&self) -> Result<Value> {
        let branch = self.keeper()?.session().branch()?;
        let entries: Vec<Value> = branch
            .entries
            .iter()
            .filter_map(|entry| match &entry.body {
                Body::Message { message } => Some(json!({ "entry": entry.id, "message": message.id() })),
                _ => None,
            })
            .collect();
        Ok(json!({ "entries": entries }))
    }

    fn fork(&self, entry: Option<&str>) -> Result<Value> {
        let session = self.keeper()?.session();
        let fork = sessions::fork(&sessions::folder(self.surroundings), &session, entry)?;
        Ok(json!({ "session": fork.header().id }))
    }
}

/// Answers a request.
fn answer(out: &JsonLines, id: &Value, made: Result<Value>) {
    out.line(&match made {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(error) => json!({ "id": id, "error": { "message": format!("{error:#}") } }),
    });
}

/// What came of a prompt.
fn told(said: &Said) -> Value {
    match said {
        Said::Ran(outcome) => json!(outcome),
        Said::Handled(text) => json!({ "outcome": "handled", "text": text }),
        Said::Refused(reason) => json!({ "outcome": "refused", "reason": reason }),
    }
}

/// The empty result of what needs none.
fn done<E: Into<anyhow::Error>>(outcome: Result<(), E>) -> Result<Value> {
    outcome.map(|()| json!({})).map_err(Into::into)
}
