//! Which subagents a session has sent: entries in its own session that lead to theirs.

use anyhow::{Context as _, Result, bail};
use mica_ai::id::CallId;
use mica_ai::message::ToolCall;
use mica_session::entry::{Body, ChildOf, RunId};
use mica_session::{Access, Durability, Kind, SessionError, SessionId};
use mica_tools::subagent::{Place, Profile, Profiles, Wanted};
use serde::{Deserialize, Serialize};

use super::{Base, Begins, KEPT, profile_of, session_part};
use mica_domain::keeping::Keeper;
use mica_domain::keeping::window;

/// Whose entries these are: in the session that sends, and in the one that was sent.
const SUBAGENT: &str = "mica.subagent";

/// That the end of a subagent in the background was told.
const TOLD: &str = "mica.subagent_told";

/// A subagent that was sent, or sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The session that sent it. A fork has copies of these entries, and not the subagents.
    pub session: SessionId,
    /// Its id.
    pub agent: String,
    /// Its profile.
    pub profile: String,
    /// What it is to do, for people.
    pub description: String,
    /// The run that sent it.
    pub run: String,
    /// The call that sent it.
    pub call: CallId,
    /// Whether that run went on meanwhile.
    pub background: bool,
}

impl Link {
    pub(super) fn new(parent: &Keeper, begins: &Begins, wanted: &Wanted<'_>) -> Self {
        Self {
            session: parent.session().header().id,
            agent: begins.id.clone(),
            profile: begins.profile.name.clone(),
            description: wanted.description.trim().to_owned(),
            run: wanted.run.to_string(),
            call: wanted.call.clone(),
            background: wanted.place == Place::Background,
        }
    }

    fn body(&self) -> Result<Body, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        Ok(Body::Custom { custom: SUBAGENT.to_owned(), value })
    }
}

/// Keeps that a subagent is sent.
pub(super) async fn keep(keeper: &Keeper, link: &Link) -> Result<(), String> {
    keeper.append(link.body()?, Durability::Now).await
}

/// Keeps that the end of a subagent was told.
pub(super) fn told(keeper: &Keeper, agent: &str) -> Result<(), SessionError> {
    let value = serde_json::Value::String(agent.to_owned());
    keeper.set(Body::Custom { custom: TOLD.to_owned(), value })
}

/// The newest subagent that a call has sent.
pub(super) fn sent_by(keeper: &Keeper, call: &ToolCall) -> Option<Link> {
    let own = keeper.session().header().id;
    keeper.newest(Kind::Custom, |body| read(body).filter(|link| link.call == call.id && link.session == own))
}

/// Subagents in the background whose end was not told, the oldest first.
pub(super) fn untold(keeper: &Keeper) -> Vec<Link> {
    let session = keeper.session();
    let Ok(branch) = session.branch() else { return Vec::new() };
    let mut untold: Vec<Link> = Vec::new();
    for entry in branch.entries {
        match entry.body {
            Body::Custom { custom, value } if custom == TOLD => {
                untold.retain(|link| value.as_str() != Some(&link.agent));
            }
            body => {
                if let Some(link) = read(body).filter(|link| link.session == session.header().id) {
                    untold.retain(|other| other.agent != link.agent);
                    untold.extend(Some(link).filter(|link| link.background));
                }
            }
        }
    }
    untold
}

fn read(body: Body) -> Option<Link> {
    match body {
        Body::Custom { custom, value } if custom == SUBAGENT => serde_json::from_value(value).ok(),
        _ => None,
    }
}

/// A subagent with a session of its own, which is made when it is first asked.
pub(super) async fn fresh(
    base: &Base,
    parent: &Keeper,
    profile: &Profile,
    wanted: &Wanted<'_>,
) -> Result<Begins> {
    let (path, of) = {
        let session = parent.session();
        let of = ChildOf {
            session: session.header().id,
            run: RunId::from(wanted.run.as_str()),
            call: wanted.call.to_string(),
        };
        (session.path().to_owned(), of)
    };
    swept(base, &path).await;
    let session = base.sessions.draft_child(&path, &base.folder, Some(wanted.description.trim()), of);
    let id = format!("{}-{}", profile.name, session.header().id.short());
    let begins =
        Begins { id, profile: profile.clone(), keeper: Some(Keeper::new(session)), messages: Vec::new() };
    if let Some(keeper) = &begins.keeper {
        keeper.before_next(Link::new(parent, &begins, wanted).body().map_err(anyhow::Error::msg)?);
    }
    Ok(begins)
}

/// A subagent that was there before, with the conversation that its session has.
pub(super) async fn again(
    base: &Base,
    parent: &Keeper,
    profiles: &Profiles,
    id: &str,
    taken: Option<&str>,
) -> Result<Begins> {
    let parent = parent.session().path().to_owned();
    swept(base, &parent).await;
    let (sessions, part) = (base.sessions.clone(), session_part(id).to_owned());
    let opening = tokio::task::spawn_blocking(move || {
        let path = sessions.child(&parent, &part)?;
        sessions.open(&path, Access::Write)
    });
    let session = match opening.await? {
        Ok(session) => session,
        Err(SessionError::NotFound { .. }) => bail!(
            "this session has no subagent {id:?} any more: one that ended more than an hour ago is cleaned up. Send a \
             new one"
        ),
        Err(SessionError::Locked { .. }) => {
            bail!("{id} is still at work; wait for its end before it is given something else")
        }
        Err(error) => return Err(error).with_context(|| format!("{id} cannot go on")),
    };
    let messages = window::restore(&session.live()?);
    let keeper = Keeper::new(session);
    let link = keeper.newest(Kind::Custom, read).with_context(|| format!("{id} does not say what it was"))?;
    let profile = profile_of(profiles, &link.agent, &link.profile, taken)?;
    Ok(Begins { id: link.agent, profile, keeper: Some(keeper), messages })
}

/// Cleans up what ended long ago. It is a matter of tidiness: what cannot be deleted stays.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
async fn swept(base: &Base, parent: &std::path::Path) {
    let (sessions, parent) = (base.sessions.clone(), parent.to_owned());
    let sweeping = move || sessions.sweep_children(Some(&parent), kept(), jiff::Timestamp::now());
    let _ = tokio::task::spawn_blocking(sweeping).await;
}

/// How long a subagent is kept after its end.
pub fn kept() -> jiff::SignedDuration {
    jiff::SignedDuration::from_secs(i64::try_from(KEPT.as_secs()).unwrap_or(i64::MAX))
}
