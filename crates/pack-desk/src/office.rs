//! The desk at work: opens conversations of members and runs of agents, takes mail in, and applies what was proposed.
//!
//! Promises: a conversation is open once at a time, and goes on where it was, also in another process; what an agent
//! proposes is kept as a bundle, and is stale once somebody else changed what it is about.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use mica_agent::{Listener, Settings, ToolSet};
use mica_ai::{Model, Provider};
use mica_domain::approvals::Person;
use mica_domain::autonomy::{Autonomy, Judge};
use mica_domain::capture::{About, Activity, Applier, Base, Bundle, Bundles, Picked, Subject};
use mica_domain::copilot::Watch;
use mica_domain::profile::Profile;
use mica_domain::refs::Ref;
use mica_domain::runners::{Conversation, Extras, OpenError, Opening, Opens, Origin, Said, Turned};
use mica_domain::tasks::{TaskKinds, Waker, Watcher, WatcherLimits, Watches};
use mica_domain::{Copilot, CopilotError, Domain, Now, Records, Setup, Surroundings};
use mica_policy::budget::Limits;
use mica_session::{Access, Sessions};
use serde_json::json;

use crate::desk::{Around, Desk};
use crate::error::DeskError;
use crate::station::Station;
use crate::store::{Hand, Result, Store, activity, entities, mail, notes, team, threads};

/// What a desk is put to work with.
#[derive(Clone)]
pub struct Means {
    /// The data.
    pub store: Store,
    /// The clock.
    pub now: Now,
    /// Where the desk's days begin and end.
    pub zone: TimeZone,
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// The model.
    pub model: Arc<Model>,
    /// Settings of every request.
    pub settings: Settings,
    /// The ends of a run.
    pub limits: Limits,
    /// Where conversations are kept.
    pub folder: PathBuf,
    /// Those who are told of everything.
    pub listeners: Vec<Arc<dyn Listener>>,
    /// What is put around tools.
    pub around: Option<Around>,
}

/// The desk at work.
#[derive(Clone)]
pub struct Office {
    means: Means,
    open: Arc<tokio::sync::Mutex<HashMap<String, Copilot>>>,
    waker: Waker,
}

/// Why the desk could not do something.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// Of the data.
    #[error(transparent)]
    Desk(#[from] DeskError),
    /// Of a conversation.
    #[error(transparent)]
    Copilot(#[from] CopilotError),
    /// Of what is kept of one.
    #[error(transparent)]
    Session(#[from] mica_session::SessionError),
    /// Of what was proposed.
    #[error(transparent)]
    Capture(#[from] mica_domain::capture::CaptureError),
    /// Of documents.
    #[error(transparent)]
    Records(#[from] mica_domain::RecordError),
}

/// A mail from outside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inbound {
    /// The sender: a contact's id, or an address.
    pub from: String,
    /// What it is about. Of a thread that goes on it is not needed.
    pub subject: String,
    /// What it says.
    pub body: String,
    /// The thread it belongs to; a new one when absent.
    pub thread: Option<String>,
}

/// A run that nobody watched.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The agent.
    pub agent: String,
    /// What it was about.
    pub about: String,
    /// How it went.
    pub turned: Turned,
    /// What it proposes.
    pub bundle: Option<Bundle>,
}

/// How long a thread may be quiet before the sweep looks at it.
pub const QUIET: SignedDuration = SignedDuration::from_hours(72);
/// Threads of one sweep at most.
const SWEPT: u32 = 5;
/// The kind of document that says where a conversation is kept.
const SESSION: &str = "session";

impl Office {
    /// Puts a desk to work.
    pub fn new(means: Means) -> Self {
        Self { means, open: Arc::default(), waker: Waker::default() }
    }

    /// What it works with.
    pub fn means(&self) -> &Means {
        &self.means
    }

    /// A station for somebody.
    pub fn station(&self, who: &str) -> Station {
        Station::new(self.means.store.clone(), who, Arc::clone(&self.means.now), self.means.zone.clone())
    }

    /// The domain for somebody, with what is put around its tools.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub fn desk(&self, who: &str) -> Result<Arc<dyn Domain>, OfficeError> {
        let desk = Desk::new(self.station(who))?;
        Ok(match &self.means.around {
            None => Arc::new(desk),
            Some(around) => Arc::new(desk.around(Arc::clone(around))),
        })
    }

    /// The conversation of a member under a name.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn chat(&self, who: &str, name: &str) -> Result<Copilot, OfficeError> {
        self.copilot(&format!("chat/{who}/{name}"), who, Profile::default(), Autonomy::default()).await
    }

    async fn copilot(
        &self,
        key: &str,
        who: &str,
        profile: Profile,
        autonomy: Autonomy,
    ) -> Result<Copilot, OfficeError> {
        let mut open = self.open.lock().await;
        if let Some(copilot) = open.get(key) {
            return Ok(copilot.clone());
        }
        let store = &self.means.store;
        let clock = Arc::clone(&self.means.now);
        let sessions = Sessions::new(&self.means.folder, move || clock());
        let session = match store.get(SESSION, key).await? {
            Some(kept) => {
                let path = self.means.folder.join(kept.doc["path"].as_str().unwrap_or_default());
                sessions.open(&path, Access::Write)?
            }
            None => {
                let session = sessions.create(&self.means.folder, Some(key))?;
                let path =
                    session.path().strip_prefix(&self.means.folder).unwrap_or(session.path()).to_owned();
                let doc = json!({ "path": path, "who": who, "profile": profile, "autonomy": autonomy });
                store.put(SESSION, key, &doc, None).await?;
                session
            }
        };
        let rights = {
            let who = who.to_owned();
            store.read(move |connection| team::rights(connection, &who)).await?
        };
        let mut setup = Setup::new(
            self.desk(who)?,
            Arc::clone(&self.means.provider),
            Arc::clone(&self.means.model),
            Arc::clone(&self.means.now),
        )
        .in_session(session);
        setup.settings = self.means.settings.clone();
        let approvals = self.means.limits.approvals.or(setup.limits.approvals);
        setup.limits = Limits { approvals, ..self.means.limits.clone() };
        (setup.profile, setup.rights, setup.autonomy) = (profile, rights, autonomy);
        setup.records = Arc::new(store.clone());
        setup.listeners.clone_from(&self.means.listeners);
        setup.watch = Some(Watch { session: key.to_owned(), waker: self.waker.clone() });
        let copilot = Copilot::open(setup).await?;
        open.insert(key.to_owned(), copilot.clone());
        Ok(copilot)
    }

    /// An answer as people see it, with its cards as rows of text.
    pub fn shown(copilot: &Copilot, text: &str) -> String {
        copilot.cards().show_text(text).as_text()
    }

    /// Tells conversations of background work that has ended, and waits for what they say to it.
    ///
    /// # Errors
    /// [`OfficeError::Records`].
    pub async fn news(&self) -> Result<(), OfficeError> {
        self.news_through(Arc::new(self.clone())).await
    }

    /// The same, with sessions that somebody else opens.
    ///
    /// # Errors
    /// [`OfficeError::Records`].
    pub async fn news_through(&self, opening: Arc<dyn Opening>) -> Result<(), OfficeError> {
        let kinds = TaskKinds::new(crate::jobs::kinds(&self.means.store));
        // Whoever calls this decides when: nothing is put off because it was looked at a moment ago.
        let limits = WatcherLimits {
            first: Duration::ZERO,
            longest: Duration::ZERO,
            unfree: Duration::ZERO,
            ..WatcherLimits::default()
        };
        let records: Arc<dyn Records> = Arc::new(self.means.store.clone());
        let clock = Arc::clone(&self.means.now);
        let watcher = Watcher::new("desk", records, kinds, opening, clock, limits, self.waker.clone());
        Ok(watcher.tick((self.means.now)()).await?)
    }

    /// Whether background work goes on that a conversation will be told about.
    ///
    /// # Errors
    /// [`OfficeError::Records`].
    pub async fn is_watching(&self) -> Result<bool, OfficeError> {
        let watches = Watches::new(Arc::new(self.means.store.clone()));
        Ok(watches.all().await?.iter().any(|(watch, _)| !watch.is_over()))
    }

    /// Forgets the conversations that are open, as if the process had ended.
    pub async fn forget(&self) {
        self.open.lock().await.clear();
    }

    /// Takes a mail in. Answers its thread.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub async fn inbound(&self, mail: Inbound) -> Result<threads::Thread, OfficeError> {
        let at = (self.means.now)();
        let taken = self.means.store.write(move |tx| {
            let body = mail::checked_body(&mail.body)?.to_owned();
            let from = mail.from.trim().to_owned();
            let contact = match from.contains('@') {
                true => contact_of(tx, &from)?,
                false => Some(crate::ids::record(tx, &from, Some(entities::Kind::Contact))?),
            };
            let author = contact.clone().unwrap_or(from);
            let hand = Hand { who: author.clone(), at, key: None };
            match mail.thread {
                Some(thread) => {
                    let id = crate::ids::of_kind(&thread, "thread")?;
                    threads::say(tx, &hand, &id, &author, &body)?;
                    threads::get(tx, &id)
                }
                None => {
                    let subject =
                        if mail.subject.trim().is_empty() { "(no subject)" } else { mail.subject.trim() };
                    threads::begin(tx, &hand, contact.as_deref(), &author, subject, &body)
                }
            }
        });
        Ok(taken.await?)
    }

    /// What an agent does about a thread, without anybody watching.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn attend(
        &self,
        agent: &str,
        thread: &str,
        why: &str,
        autonomy: Autonomy,
    ) -> Result<Ran, OfficeError> {
        let (about, at) = (thread.to_owned(), (self.means.now)());
        let (seq, mark) = self
            .means
            .store
            .read(move |connection| {
                threads::get(connection, &about)?;
                let newest = activity::newest(connection, None, Some(1))?;
                Ok((newest.first().map_or(0, |entry| entry.seq), activity::foreign_mark(connection, &about)?))
            })
            .await?;
        let name = agent.trim_start_matches("agent:");
        let number = thread.trim_start_matches("thread:");
        let key = format!("agent/{name}/{number}/{}-{seq}", at.as_second());
        let copilot = self.copilot(&key, agent, Profile::AUTONOMOUS, autonomy).await?;
        let about = About {
            bundle: format!("{name}-{number}-{}-{seq}", at.as_second()),
            kind: why.to_owned(),
            subject: Some(Subject::new("thread", thread)),
            base: Base::version(mark.to_string()),
            by: Some(agent.to_owned()),
            session: Some(key.clone()),
        };
        copilot.book().begin(about).await?;
        let said = Said {
            text: format!("{why}: look at {thread} and do what you are there for."),
            source: None,
            origin: Origin::Trigger { trigger: why.to_owned(), fire: key },
            surroundings: Some(Surroundings::on("inbox").with(Ref::open("thread", thread))),
        };
        let turned = copilot.say(said).await?;
        Ok(Ran { agent: agent.to_owned(), about: thread.to_owned(), turned, bundle: copilot.bundle() })
    }

    /// A mail came in: the triage agent sorts it by itself, and proposes the rest.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn triage(&self, thread: &str) -> Result<Ran, OfficeError> {
        self.attend("agent:triage", thread, "new mail", Desk::triage_autonomy()).await
    }

    /// The nightly sweep: looks at open threads in which nobody answered the customer for days, the oldest first.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn sweep(&self) -> Result<Vec<Ran>, OfficeError> {
        let before = (self.means.now)() - QUIET;
        let mut quiet = self
            .means
            .store
            .read(move |connection| {
                let search = threads::Search {
                    status: Some("open".to_owned()),
                    before: Some(before),
                    unanswered: true,
                    limit: Some(50),
                    ..Default::default()
                };
                Ok(threads::search(connection, &search)?.0)
            })
            .await?;
        quiet.reverse();
        let mut ran = Vec::new();
        for thread in quiet.iter().take(SWEPT as usize) {
            ran.push(self.attend("agent:sweep", &thread.id, "nightly sweep", Desk::sweep_autonomy()).await?);
        }
        Ok(ran)
    }

    /// A note was written: the agents that it calls look at what it is about, when that is a thread.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn mentioned(&self, note: &notes::Note) -> Result<Vec<Ran>, OfficeError> {
        let mut ran = Vec::new();
        if note.about.starts_with("thread:") {
            for agent in &note.mentions {
                ran.push(
                    self.attend(agent, &note.about, "mention in a note", Desk::triage_autonomy()).await?,
                );
            }
        }
        Ok(ran)
    }

    /// What was proposed. What it is about is watched.
    pub fn bundles(&self) -> Bundles {
        Bundles::new(Arc::new(self.means.store.clone()))
            .watching(Arc::new(Watching(self.means.store.clone())))
    }

    /// Does what a member picked of a bundle.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn apply(&self, who: &str, bundle: &str, picked: &Picked) -> Result<Bundle, OfficeError> {
        let rights = {
            let who = who.to_owned();
            self.means.store.read(move |connection| team::rights(connection, &who)).await?
        };
        let applier = self.applier(who)?;
        Ok(applier.apply(bundle, picked, &Person::new(who, rights)).await?)
    }

    /// Goes on with bundles that a process left in the middle.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn resume(&self, who: &str) -> Result<Vec<Bundle>, OfficeError> {
        Ok(self.applier(who)?.resume_all().await?)
    }

    fn applier(&self, who: &str) -> Result<Applier, OfficeError> {
        let mut tools = ToolSet::default();
        for tool in self.desk(who)?.capabilities().iter().flat_map(|group| &group.tools) {
            tools.add(Arc::clone(tool));
        }
        let judge = Arc::new(Judge::new(Desk::acts(), Autonomy::default()));
        let applier = Applier::new(self.bundles(), tools, "desk", Arc::clone(&self.means.now));
        Ok(applier.judging(judge))
    }
}

/// Sessions that are opened without a client: to be told of background work, by agents, by whatever fires.
#[async_trait]
impl Opening for Office {
    async fn open(&self, opens: &Opens, _: Extras) -> Result<Arc<dyn Conversation>, OpenError> {
        let copilot = self.copilot(&opens.session, &opens.agent, opens.profile, opens.autonomy.clone()).await;
        copilot
            .map(|copilot| Arc::new(copilot) as Arc<dyn Conversation>)
            .map_err(|error| unopened(&opens.session, &error))
    }

    async fn reopen(&self, session: &str) -> Result<Arc<dyn Conversation>, OpenError> {
        let kept = self.means.store.get(SESSION, session).await.map_err(|error| unopened(session, &error))?;
        let Some(kept) = kept else {
            return Err(OpenError::Gone {
                session: session.to_owned(),
                reason: "it was never begun".to_owned(),
            });
        };
        let read = |name: &str| kept.doc[name].clone();
        let profile = serde_json::from_value(read("profile")).map_err(|error| unopened(session, &error))?;
        let autonomy = serde_json::from_value(read("autonomy")).map_err(|error| unopened(session, &error))?;
        let who = kept.doc["who"].as_str().unwrap_or_default();
        let copilot = self.copilot(session, who, profile, autonomy).await;
        copilot
            .map(|copilot| Arc::new(copilot) as Arc<dyn Conversation>)
            .map_err(|error| unopened(session, &error))
    }
}

fn unopened(session: &str, error: &dyn std::fmt::Display) -> OpenError {
    OpenError::Failed { session: session.to_owned(), problem: error.to_string() }
}

/// The contact that an address is of.
fn contact_of(connection: &rusqlite::Connection, address: &str) -> Result<Option<String>> {
    let mut select = connection
        .prepare("SELECT id FROM contacts WHERE email = ?1 AND deleted IS NULL ORDER BY id LIMIT 1")?;
    let mut rows = select.query([address.to_lowercase()])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

/// Whether something happened to what a bundle is about: by anybody but agents, and but the bundle itself.
struct Watching(Store);

#[async_trait]
impl Activity for Watching {
    async fn of(&self, subject: &Subject) -> Result<Base, String> {
        let id = subject.id.clone();
        let mark = self.0.read(move |connection| activity::foreign_mark(connection, &id)).await;
        mark.map(|mark| Base::version(mark.to_string())).map_err(|error| error.to_string())
    }
}
