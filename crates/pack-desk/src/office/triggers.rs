//! What happens at the desk, told to the triggers that come along as data (`triggers.toml`), and what came of it.
//!
//! Promises: what happened is told under its own name, so that it triggers once however often it is told; what an agent
//! proposes about a thread is stale once somebody else wrote there.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use mica_domain::capture::{Base, Bundle, Subject};
use mica_domain::triggers::{
    Agents, Dispatcher, DispatcherLimits, EventKinds, FieldKind, Fire, FireState, Happened, Known,
    TriggerSet, What, Words,
};
use mica_domain::{Domain as _, Rights};
use serde_json::json;

use super::stopping::{STOPPED, Waiting};
use super::{Office, OfficeError};
use crate::desk::Desk;
use crate::error::DeskError;
use crate::station::Station;
use crate::store::{Store, activity, notes, team, threads};

/// A mail came in.
const MAIL: &str = "mail.received";
/// The sweep found a thread.
pub(super) const THREAD: &str = "thread.quiet";
/// Between two looks whether a run has ended that something else runs.
const LOOK: Duration = Duration::from_millis(20);

/// A run that nobody watched.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What is on record of it.
    pub fire: Fire,
    /// What it proposes.
    pub bundle: Option<Bundle>,
}

impl Ran {
    /// What it was about, when that is known.
    pub fn about(&self) -> Option<&str> {
        self.fire.subject.as_ref().map(|subject| subject.id.as_str())
    }

    /// How it stands, in a word.
    pub fn outcome(&self) -> &str {
        match &self.fire.state {
            FireState::Pending { .. } => "pending",
            FireState::Running { .. } => "running",
            FireState::Ended { outcome, .. } => outcome,
            FireState::Skipped { .. } => "skipped",
        }
    }

    /// What the agent says it did.
    pub fn summary(&self) -> &str {
        match &self.fire.state {
            FireState::Ended { summary, .. } => summary,
            _ => "",
        }
    }

    /// What went wrong, why it did not run, or what it waits for.
    pub fn problem(&self) -> Option<&str> {
        match &self.fire.state {
            FireState::Ended { error, .. } => error.as_deref(),
            FireState::Skipped { reason, .. } => Some(reason),
            // It begins when its session is free.
            FireState::Pending { .. } => self.fire.waits.as_ref().map(|waits| waits.why.as_str()),
            FireState::Running { .. } => None,
        }
    }

    /// Whether it runs, or would: what waits until later is not waited for, what something else runs is.
    fn goes_on(&self, now: Timestamp) -> bool {
        match &self.fire.state {
            FireState::Running { until, .. } => *until > now,
            FireState::Pending { next } => *next <= now,
            FireState::Ended { .. } | FireState::Skipped { .. } => false,
        }
    }

    /// Whether it runs here: whoever was stopped waits for that, and for nothing else.
    fn runs_by(&self, name: &str) -> bool {
        matches!(&self.fire.state, FireState::Running { by, .. } if by == name)
    }

    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        matches!(self.fire.state, FireState::Ended { .. } | FireState::Skipped { .. })
    }
}

/// Reads triggers, and checks them against the agents, tools and events of the desk.
pub(super) fn read(store: &Store, text: &str) -> Result<TriggerSet, OfficeError> {
    let agents = store.look(team::agents)?;
    let station =
        Station::new(store.clone(), "member", Arc::new(|| Timestamp::UNIX_EPOCH), jiff::tz::TimeZone::UTC);
    let capabilities = Desk::new(station)?.capabilities();
    let tools = capabilities.iter().flat_map(|group| &group.tools).map(|tool| tool.spec().name.clone());
    let text_fields = |names: &[&'static str]| -> Vec<(&'static str, FieldKind)> {
        names.iter().map(|name| (*name, FieldKind::Text)).collect()
    };
    let known = Known {
        agents: agents.into_iter().map(|agent| agent.id).collect(),
        tools: tools.collect(),
        events: EventKinds::default()
            .with(MAIL, text_fields(&["thread", "from", "subject", "status", "agent"]))
            .with(
                THREAD,
                text_fields(&["thread", "subject"]).into_iter().chain([("since", FieldKind::Time)]),
            ),
    };
    Ok(TriggerSet::from_toml(text, &known)?)
}

/// What agents and members may do now.
struct Staff(Store);

impl Staff {
    async fn rights(&self, who: &str) -> Option<Rights> {
        let who = who.to_owned();
        match self.0.read(move |connection| team::rights(connection, &who)).await {
            Ok(rights) => Some(rights),
            Err(DeskError::Missing { .. }) => None,
            Err(error) => {
                // Who cannot be looked up lends no rights.
                tracing::error!(%error, "rights could not be read");
                None
            }
        }
    }
}

#[async_trait]
impl Agents for Staff {
    async fn agent(&self, agent: &str) -> Option<Rights> {
        self.rights(agent).await
    }

    async fn person(&self, person: &str) -> Option<Rights> {
        self.rights(person).await
    }
}

impl Office {
    /// What fires triggers on the desk's data.
    pub fn dispatcher(&self) -> Dispatcher {
        self.dispatcher.clone().unwrap_or_else(|| self.dispatching())
    }

    pub(super) fn dispatching(&self) -> Dispatcher {
        let opening = Self { dispatcher: None, ..self.clone() };
        Dispatcher::new(
            self.life.name(),
            self.triggers.clone(),
            Arc::new(self.means.store.clone()),
            Arc::new(opening),
            Arc::new(Staff(self.means.store.clone())),
            Arc::clone(&self.means.now),
            DispatcherLimits::default(),
        )
    }

    /// A mail came in: what is triggered by it runs to its end. None, when an agent has the thread: it answers there.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn mailed(&self, thread: &str) -> Result<Vec<Ran>, OfficeError> {
        let (thread, last) = {
            let id = thread.to_owned();
            let look = move |connection: &rusqlite::Connection| {
                let (mut messages, _) = threads::messages(connection, &id, Some(1))?;
                Ok((threads::get(connection, &id)?, messages.pop()))
            };
            self.means.store.read(look).await?
        };
        let Some(last) = last else { return Ok(Vec::new()) };
        let mut happened = self.about(&last.id, What::Event { event: MAIL.to_owned() }, &thread.id).await?;
        for (name, value) in
            [("from", &last.author), ("subject", &thread.subject), ("status", &thread.status)]
        {
            happened.fields.insert(name.to_owned(), json!(value));
        }
        if let Some(agent) = thread.assignee.filter(|who| who.starts_with("agent:")) {
            happened.fields.insert("agent".to_owned(), json!(agent));
        }
        self.happened(vec![happened]).await
    }

    /// A note was written: the agents that it calls look at what it is about.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn mentioned(&self, note: &notes::Note) -> Result<Vec<Ran>, OfficeError> {
        let mut all = Vec::new();
        // What an agent writes calls nobody: agents do not set one another to work.
        for agent in note.mentions.iter().filter(|_| !note.author.starts_with("agent:")) {
            let mut happened =
                self.about(&note.id, What::Mention { agent: agent.clone() }, &note.about).await?;
            happened.words = Some(Words { from: note.author.clone(), text: note.body.clone() });
            happened.invoker = Some(note.author.clone());
            all.push(happened);
        }
        self.happened(all).await
    }

    /// A thread was given to an agent by somebody. What a member gets triggers nothing.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn assigned(&self, thread: &threads::Thread, by: &str) -> Result<Vec<Ran>, OfficeError> {
        let Some(agent) = thread.assignee.clone().filter(|who| who.starts_with("agent:")) else {
            return Ok(Vec::new());
        };
        let id = format!("{}@{}", thread.id, thread.version);
        let mut happened = self.about(&id, What::Assignment { agent }, &thread.id).await?;
        happened.invoker = Some(by.to_owned());
        self.happened(vec![happened]).await
    }

    /// A member writes to an agent. They have one conversation.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn message(&self, agent: &str, by: &str, text: &str) -> Result<Vec<Ran>, OfficeError> {
        let id = mica_ai::id::fresh();
        let mut happened = Happened::new(id, What::DirectMessage { agent: agent.to_owned() });
        happened.words = Some(Words { from: by.to_owned(), text: text.to_owned() });
        happened.invoker = Some(by.to_owned());
        self.happened(vec![happened]).await
    }

    /// Something about a thread, or about whatever else, and how that stands now.
    pub(super) async fn about(&self, id: &str, what: What, about: &str) -> Result<Happened, OfficeError> {
        let mark = self.mark(about).await?;
        let kind = about.split_once(':').map_or("record", |(kind, _)| kind);
        let mut happened = Happened::new(id, what);
        happened.fields.insert(kind.to_owned(), json!(about));
        happened.subject = Some(Subject::new(kind, about));
        happened.base = mark;
        Ok(happened)
    }

    /// How something stands now, as far as others than agents changed it.
    pub(super) async fn mark(&self, about: &str) -> Result<Base, OfficeError> {
        let about = about.to_owned();
        let mark =
            self.means.store.read(move |connection| activity::foreign_mark(connection, &about)).await?;
        Ok(Base::version(mark.to_string()))
    }

    /// Tells what happened, and waits for what that triggers.
    pub(super) async fn happened(&self, all: Vec<Happened>) -> Result<Vec<Ran>, OfficeError> {
        let (dispatcher, waiting) = (self.dispatcher(), self.awaited.wait());
        let mut fires = Vec::new();
        for happened in &all {
            let fired = dispatcher.happened(happened).await?;
            fired.iter().for_each(|fire| waiting.add(fire.id()));
            fires.extend(fired);
        }
        let place = |ran: &Ran| fires.iter().position(|fire| fire.id() == ran.fire.id());
        self.attend(&waiting, |ran| place(ran).is_some()).await?;
        let mut ours: Vec<Ran> = self.runs().await?.into_iter().filter(|ran| place(ran).is_some()).collect();
        ours.sort_by_key(place);
        Ok(ours)
    }

    /// Fires what is due by the desk's clock, and waits for it, and for what that triggers.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn due(&self) -> Result<(), OfficeError> {
        self.attend(&self.awaited.wait(), |_| true).await
    }

    /// Runs what is due, and waits until nothing of what is meant goes on any more. Whoever is stopped meanwhile withdraws
    /// what has not begun, and waits for what runs here and nothing else.
    async fn attend(
        &self,
        waiting: &Waiting,
        is_meant: impl Fn(&Ran) -> bool + Send + Sync,
    ) -> Result<(), OfficeError> {
        let dispatcher = self.dispatcher();
        loop {
            dispatcher.tick_until((self.means.now)(), &waiting.stop).await?;
            let now = (self.means.now)();
            let mut goes_on: Vec<Ran> = self.runs().await?;
            goes_on.retain(|ran| is_meant(ran) && ran.goes_on(now));
            goes_on.iter().for_each(|ran| waiting.add(ran.fire.id()));
            if waiting.stop.is_cancelled() {
                dispatcher.withdraw(&waiting.fires(), STOPPED).await?;
                goes_on.retain(|ran| ran.runs_by(dispatcher.name()));
            }
            if goes_on.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Everything that was triggered, the newest first.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub async fn runs(&self) -> Result<Vec<Ran>, OfficeError> {
        let dispatcher = self.dispatcher();
        let bundles = self.bundles().list().await?;
        let mut all = Vec::new();
        for trigger in self.triggers.all() {
            for fire in dispatcher.fires(&trigger.id).await? {
                let id = match &fire.state {
                    FireState::Ended { bundle, .. } => bundle.as_deref(),
                    _ => None,
                };
                let bundle = id.and_then(|id| bundles.iter().find(|bundle| bundle.id() == id)).cloned();
                all.push(Ran { fire, bundle });
            }
        }
        all.sort_by_key(|ran| std::cmp::Reverse((ran.fire.due, ran.fire.id())));
        Ok(all)
    }

    /// The triggers, each with when it fires next, where that is known.
    ///
    /// # Errors
    /// [`OfficeError`].
    pub fn upcoming(&self) -> Result<Vec<(String, Timestamp)>, OfficeError> {
        let mut all = Vec::new();
        for trigger in self.triggers.all() {
            let next = self.dispatcher().upcoming(&trigger.id, 1)?;
            all.extend(next.first().map(|next| (trigger.id.clone(), *next)));
        }
        Ok(all)
    }
}

#[cfg(test)]
pub(super) mod tests;
