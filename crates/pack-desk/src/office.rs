//! The desk at work: opens conversations of members and runs of agents, takes mail in, and applies what was proposed.
//!
//! Promises: a conversation is open once at a time, and goes on where it was, also in another process; what an agent
//! proposes is kept as a bundle, and is stale once somebody else changed what it is about.

mod answers;
mod opening;
mod people;
mod proposals;
mod stopping;
mod sweeping;
mod triggers;
mod upkeep;
mod work;

pub use sweeping::QUIET;
pub use triggers::Ran;
pub use upkeep::Entered;
pub use work::Work;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use mica_agent::{Listener, Settings};
use mica_ai::{Model, Provider};
use mica_domain::autonomy::{ApprovalMode, Autonomy};
use mica_domain::copilot::Watch;
use mica_domain::profile::{Audience, Profile};
use mica_domain::runners::Opening;
use mica_domain::tasks::{TaskKinds, Waker, Watcher, WatcherLimits, Watches};
use mica_domain::triggers::{Dispatcher, TriggerSet};
use mica_domain::{Copilot, CopilotError, Domain, Now, Records, Rights, Setup};
use mica_policy::budget::Limits;
use mica_session::{Access, Sessions};
use serde_json::json;

use crate::desk::{Around, Desk};
use crate::error::DeskError;
use crate::life::Life;
use crate::station::{Sight, Station};
use crate::store::{Hand, Result, Store, entities, mail, team, threads};

/// What a desk is put to work with.
#[derive(Clone)]
pub struct Means {
    /// The data.
    pub store: Store,
    /// Names this life of the process: nobody else has it, not even the same program started again. Whoever starts the
    /// program makes it up.
    pub life: String,
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
    life: Life,
    open: Arc<tokio::sync::Mutex<HashMap<String, Open>>>,
    waker: Waker,
    triggers: TriggerSet,
    /// What it is trusted with that agents answer customers.
    answers: Autonomy,
    /// What commands wait for.
    awaited: Arc<stopping::Awaited>,
    /// `None` in what the dispatcher itself opens sessions with: nothing owns itself.
    dispatcher: Option<Dispatcher>,
}

/// A conversation that is open, and what it was opened for.
struct Open {
    copilot: Copilot,
    rights: Rights,
}

/// Who a conversation is opened for.
struct Opener<'a> {
    who: &'a str,
    profile: Profile,
    autonomy: Autonomy,
    /// What it may do, where that is less than `who` may.
    within: Option<Rights>,
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
    /// Of the triggers that come along.
    #[error(transparent)]
    Triggers(#[from] mica_domain::triggers::TriggersError),
    /// Of something that happened.
    #[error(transparent)]
    Trigger(#[from] mica_domain::triggers::TriggerError),
    /// Of a thread that an agent answers.
    #[error(transparent)]
    Thread(#[from] mica_domain::runners::ThreadError),
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

/// The kind of document that says where a conversation is kept.
pub(crate) const SESSION: &str = "session";

impl Office {
    /// Puts a desk to work, with the triggers that come along. The data has its members and agents already.
    ///
    /// # Errors
    /// [`OfficeError::Desk`], or [`OfficeError::Triggers`]: what is wrong with the triggers.
    pub fn new(means: Means) -> Result<Self, OfficeError> {
        let triggers = triggers::read(&means.store, include_str!("../triggers.toml"))?;
        let answers = Autonomy::all(ApprovalMode::Capture);
        let (open, awaited, waker) = (Arc::default(), Arc::default(), Waker::default());
        let life = Life::new(&means.life, means.store.clone(), Arc::clone(&means.now));
        let mut office = Self { means, life, open, waker, triggers, answers, awaited, dispatcher: None };
        office.dispatcher = Some(office.dispatching());
        Ok(office)
    }

    /// With answers of agents that are sent instead of kept as drafts, as far as this says so of `reply_to_thread`.
    #[must_use]
    pub fn answering(mut self, answers: Autonomy) -> Self {
        self.answers = answers;
        self
    }

    /// What it works with.
    pub fn means(&self) -> &Means {
        &self.means
    }

    /// A station for somebody.
    pub fn station(&self, who: &str) -> Station {
        let means = &self.means;
        Station::new(means.store.clone(), who, Arc::clone(&means.now), means.zone.clone())
            .living(self.life.clone())
    }

    /// The domain for somebody, with what is put around its tools.
    ///
    /// # Errors
    /// [`OfficeError::Desk`].
    pub fn desk(&self, who: &str) -> Result<Arc<dyn Domain>, OfficeError> {
        self.domain(self.station(who))
    }

    fn domain(&self, station: Station) -> Result<Arc<dyn Domain>, OfficeError> {
        let desk = Desk::new(station)?;
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
        let (profile, autonomy) = (Profile::default(), Autonomy::default());
        let opener = Opener { who, profile, autonomy, within: None };
        self.copilot(&format!("chat/{who}/{name}"), opener).await
    }

    async fn copilot(&self, key: &str, opener: Opener<'_>) -> Result<Copilot, OfficeError> {
        let Opener { who, profile, autonomy, within } = opener;
        let store = &self.means.store;
        let rights = {
            let who = who.to_owned();
            store.read(move |connection| team::rights(connection, &who)).await?
        };
        let rights = within.as_ref().map_or_else(|| rights.clone(), |within| rights.and(within));
        let mut open = self.open.lock().await;
        match open.get(key) {
            Some(one) if one.rights == rights => return Ok(one.copilot.clone()),
            // Somebody may do more or less than when it was opened: it is opened anew.
            Some(_) => drop(open.remove(key)),
            None => {}
        }
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
                let doc = json!({
                    "path": path, "who": who, "profile": profile, "autonomy": autonomy, "within": within,
                });
                store.put(SESSION, key, &doc, None).await?;
                session
            }
        };
        // Whoever talks to customers sees what customers may see.
        let station = match profile.audience {
            Audience::Customer => self.station(who).seeing(Sight::Customer),
            Audience::Member => self.station(who),
        };
        let mut setup = Setup::new(
            self.domain(station)?,
            Arc::clone(&self.means.provider),
            Arc::clone(&self.means.model),
            Arc::clone(&self.means.now),
        )
        .in_session(session);
        setup.settings = self.means.settings.clone();
        let approvals = self.means.limits.approvals.or(setup.limits.approvals);
        setup.limits = Limits { approvals, ..self.means.limits.clone() };
        (setup.profile, setup.rights, setup.autonomy) = (profile, rights.clone(), autonomy);
        setup.present = Some(who.to_owned());
        setup.people = Some(Arc::new(people::Team(store.clone())));
        setup.records = Arc::new(store.clone());
        setup.listeners.clone_from(&self.means.listeners);
        setup.watch = Some(Watch { session: key.to_owned(), waker: self.waker.clone() });
        let copilot = Copilot::open(setup).await?;
        open.insert(key.to_owned(), Open { copilot: copilot.clone(), rights });
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
        // Whoever calls this decides when: nothing is put off because it was looked at a moment ago.
        let limits = WatcherLimits {
            first: Duration::ZERO,
            longest: Duration::ZERO,
            unfree: Duration::ZERO,
            ..WatcherLimits::default()
        };
        Ok(self.watcher(opening, limits).tick((self.means.now)()).await?)
    }

    fn watcher(&self, opening: Arc<dyn Opening>, limits: WatcherLimits) -> Watcher {
        let kinds = TaskKinds::new(crate::jobs::kinds(&self.means.store));
        let records: Arc<dyn Records> = Arc::new(self.means.store.clone());
        let clock = Arc::clone(&self.means.now);
        Watcher::new(self.life.name(), records, kinds, opening, clock, limits, self.waker.clone())
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
            let from = mail::checked_sender(&mail.from)?;
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
}

/// The contact that an address is of.
fn contact_of(connection: &rusqlite::Connection, address: &str) -> Result<Option<String>> {
    let mut select = connection
        .prepare("SELECT id FROM contacts WHERE email = ?1 AND deleted IS NULL ORDER BY id LIMIT 1")?;
    let mut rows = select.query([address.to_lowercase()])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
}

#[cfg(test)]
pub(crate) mod tests;
