//! Where requests are handled: each is answered once, at once or when what it began has ended.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow};
use mica_agent::{Agent, Answer, Decisions, Outcome, Proposal};
use mica_ext::Moment;
use mica_ext::world::Severity;
use mica_policy::mode::Mode;
use mica_session::entry::Body;
use mica_session::undo::Way;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::asked::{Asked, Asking};
use super::method::{InFront, Method};
use super::{Starts, answer, done, extending, told};
use crate::cli::{Form, RestoreFlags};
use crate::commands::sessions;
use crate::commands::undo;
use crate::inquiries::Inquiries;
use crate::render::json::JsonLines;
use crate::saying::{Heard, Said};
use crate::surroundings::Surroundings;
use crate::switching;
use crate::work::Work;
use mica_domain::keeping::Keeper;

/// Where requests are handled.
pub(super) struct Desk<'a> {
    pub(super) work: &'a Work,
    pub(super) surroundings: &'a Surroundings,
    pub(super) out: &'a Arc<JsonLines>,
    pub(super) ended: mpsc::Sender<(Value, Result<Said>)>,
    pub(super) asked: Asked,
    pub(super) asking: Asking,
    pub(super) inquiries: Inquiries,
    pub(super) running: bool,
    pub(super) starts: Starts,
}

impl Desk<'_> {
    pub(super) fn answer(&self, id: &Value, made: Result<Value>) {
        answer(self.out, id, made);
    }

    pub(super) async fn handle(&mut self, method: Method) {
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
            Method::Fork { entry, id } => {
                let made = tokio::task::block_in_place(|| self.fork(entry.as_deref()));
                // An extension that hears of it may ask something, which is answered here.
                if let Ok(Value::String(session)) = made.as_ref().map(|made| made["session"].clone()) {
                    let work = work.clone();
                    tokio::spawn(
                        async move { work.extensions().tell(&Moment::SessionFork { session }).await },
                    );
                }
                (id, made)
            }
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
