//! What a command needs: the right of the tool that does the same. What is not known to be allowed is refused.

use anyhow::{Result, anyhow, bail};
use mica_domain::Rights;
use pack_desk::{Desk, ids, tools};

use super::super::places;
use super::super::room::Room;
use super::{proposals, split};

/// What a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it changes nothing that is not the member's own, and shows nothing of the desk.
    Nothing,
    /// The right of a tool.
    Tool(&'static str),
    /// A right that no tool has as a whole.
    Right(&'static str),
    /// The right of the tool that shows a thing of this kind.
    Thing,
    /// To decide about a bundle as a whole: the rights of all that it proposes.
    Bundle,
    /// The same, or to say no to what their own copilot asks, which anybody may.
    No,
    /// To pick some of a bundle: the rights of what is picked, which are looked at when it is done.
    Picks,
}

/// Refuses what the member may not do.
///
/// # Errors
/// What is missing.
pub async fn check(room: &Room, needs: Needs, rest: &str, command: &str) -> Result<()> {
    let rights = room.person()?.rights;
    for right in rights_of(room, needs, rest).await? {
        if !rights.allow(&right) {
            bail!("{} may not do that: /{command} needs the right {right}", room.who);
        }
    }
    Ok(())
}

/// Whether the member may do something.
///
/// # Errors
/// What cannot be looked up.
pub async fn may(room: &Room, needs: Needs) -> Result<bool> {
    let rights = room.person()?.rights;
    Ok(rights_of(room, needs, "").await?.iter().all(|right| rights.allow(right)))
}

/// Whether somebody may set agents to work: that is what sorting mail is to an agent.
pub fn calls_agents(rights: &Rights) -> Result<bool> {
    Ok(rights.allow(&of_tool(tools::update_thread::NAME)?))
}

/// The rights that something needs.
async fn rights_of(room: &Room, needs: Needs, rest: &str) -> Result<Vec<String>> {
    Ok(match needs {
        Needs::Nothing | Needs::Picks => Vec::new(),
        Needs::Right(right) => vec![right.to_owned()],
        Needs::Tool(tool) => vec![of_tool(tool)?],
        Needs::Thing => vec![of_tool(shows(places::kind(&ids::reduced(rest))))?],
        Needs::No if room.named(split(rest).0)?.is_some() => Vec::new(),
        Needs::Bundle | Needs::No => {
            let (id, _) = split(rest);
            // Without an id nothing is done: what is missing is told.
            if id.is_empty() {
                return Ok(Vec::new());
            }
            let bundle = proposals::named(room, id).await?;
            let mut all = Vec::new();
            for action in &bundle.actions {
                all.extend(action.right.clone());
                all.push(of_tool(&action.tool)?);
            }
            all
        }
    })
}

/// The tool that shows things of a kind.
fn shows(kind: &str) -> &'static str {
    match kind {
        "thread" | "mail" | "draft" => tools::get_thread::NAME,
        "article" => tools::get_article::NAME,
        "task" => tools::list_tasks::NAME,
        _ => tools::get_record::NAME,
    }
}

/// The right of a tool. One of which nothing is said is nobody's to use by hand.
fn of_tool(tool: &str) -> Result<String> {
    let said = Desk::acts().into_iter().find(|act| act.tool == tool);
    said.and_then(|act| act.needs)
        .ok_or_else(|| anyhow!("nobody may do that: it is not said what {tool} needs"))
}
