//! Approvals for a session: entries of it, so that they are there again when it goes on.
//!
//! They count for the whole session, whatever branch they were given on, and so does taking them back. A fork is another
//! session: what it was given by the entries it copied does not count there.

use anyhow::{Result, anyhow};
use mica_agent::{Proposal, Scope};
use mica_session::entry::Body;
use mica_session::{Durability, Kind, Session};
use serde::{Deserialize, Serialize};

use mica_domain::keeping::Keeper;

/// Whose entries they are.
const APPROVAL: &str = "mica.approval";

#[derive(Serialize, Deserialize)]
struct Entry {
    /// The session that it was given in.
    session: String,
    #[serde(flatten)]
    change: Change,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Remember(Proposal),
    Forget(Proposal),
}

/// What was remembered for a session. An entry that cannot be read gives nothing.
pub fn of(session: &Session) -> Vec<Proposal> {
    let id = session.header().id.to_string();
    let mut list: Vec<Proposal> = Vec::new();
    let nodes = session.tree().nodes().iter();
    // The name of a custom entry is its preview, so others are not read.
    for node in nodes.filter(|node| node.kind == Kind::Custom && *node.preview == *APPROVAL) {
        let Ok(Body::Custom { value, .. }) = session.entry(node.id).map(|entry| entry.body) else { continue };
        let Ok(Entry { session, change }) = serde_json::from_value(value) else { continue };
        match change {
            _ if session != id => {}
            Change::Remember(approval) => {
                list.retain(|other| !other.is(&approval));
                list.push(Proposal { scope: Scope::Session, ..approval });
            }
            Change::Forget(approval) => list.retain(|other| !other.is(&approval)),
        }
    }
    list
}

/// Takes an approval of a session back that nobody is at work in.
///
/// # Errors
/// When the session cannot be written.
pub fn forget(session: &mut Session, approval: &Proposal) -> Result<()> {
    let id = session.header().id.to_string();
    session.append(entry(id, Change::Forget(approval.clone()))?, Durability::Now)?;
    Ok(())
}

fn entry(session: String, change: Change) -> Result<Body> {
    let value = serde_json::to_value(Entry { session, change })?;
    Ok(Body::Custom { custom: APPROVAL.to_owned(), value })
}

/// Keeps an approval for the session of a run.
///
/// # Errors
/// When the session cannot be written.
pub async fn keep(keeper: &Keeper, approval: &Proposal) -> Result<()> {
    keep_change(keeper, Change::Remember(approval.clone())).await
}

/// Keeps that an approval for the session of a run was taken back.
///
/// # Errors
/// When the session cannot be written.
pub async fn take_back(keeper: &Keeper, approval: &Proposal) -> Result<()> {
    keep_change(keeper, Change::Forget(approval.clone())).await
}

async fn keep_change(keeper: &Keeper, change: Change) -> Result<()> {
    let id = keeper.session().header().id.to_string();
    keeper.append(entry(id, change)?, Durability::Now).await.map_err(|error| anyhow!(error))
}
