//! Has something happen that agents look at: mail, notes, threads that are given to them, words, and the sweep.

use anyhow::{Result, bail};
use mica_domain::runners::Attended;
use pack_desk::ids;
use pack_desk::office::{Inbound, Ran};
use pack_desk::store::{notes, threads};

use super::super::room::{Did, Room};
use super::super::screen::row;
use super::{needed, needs, split};

/// How mail is written.
pub const INBOUND: &str = "/inbound contact:ana-silva | Printer is down | It stopped printing.";
/// How notes are.
pub const NOTE: &str = "/note thread:1001 @Triage please look";
/// How threads are given to somebody.
pub const ASSIGN: &str = "/assign thread:1001 jonas";
/// How agents are written to.
pub const TELL: &str = "/tell triage Which tags do you use?";

/// A mail comes in.
pub async fn inbound(room: &mut Room, rest: &str) -> Result<Did> {
    let parts: Vec<&str> = rest.splitn(3, '|').map(str::trim).collect();
    let [from, subject, body] = parts.as_slice() else { bail!("write for example: {INBOUND}") };
    let thread = subject.starts_with("thread:").then(|| (*subject).to_owned());
    let mail = Inbound {
        from: (*from).to_owned(),
        subject: (*subject).to_owned(),
        body: body.replace("\\n", "\n"),
        thread,
    };
    let thread = room.office.inbound(mail).await?;
    let ran = room.office.mailed(&thread.id).await?;
    let mut out = format!("{} came in: {}\n", thread.id, row(&thread.subject));
    out.push_str(&room.came(&ran));
    let mut missing = missing(&ran);
    out.push_str(&answered(room, &thread.id, &mut missing).await?);
    Ok(Did::told(out, missing))
}

/// What agents that were called did not come to the end of, and why.
fn missing(ran: &[Ran]) -> Vec<String> {
    let failed = ran.iter().filter(|ran| matches!(ran.outcome(), "failed" | "exhausted" | "aborted"));
    let one = |ran: &Ran| {
        let about = ran.about().map(|about| format!(" at {}", row(about))).unwrap_or_default();
        let why = ran.problem().map(|why| format!(": {}", row(why))).unwrap_or_default();
        format!("{}{about} {}{why}", row(&ran.fire.agent), row(ran.outcome()))
    };
    failed.map(one).collect()
}

/// What the agent that has a thread answered there, for people.
async fn answered(room: &Room, thread: &str, missing: &mut Vec<String>) -> Result<String> {
    Ok(match room.office.answer_in(thread).await? {
        None | Some(Attended::Done { answers: 0 }) => String::new(),
        Some(Attended::Done { .. }) => {
            format!("the agent that has {thread} answered: /show {thread}, /outbox\n")
        }
        Some(Attended::Handed) => format!("the agent that has {thread} is at it already\n"),
        Some(Attended::Waiting) => format!("the agent that has {thread} waits for a decision: /today\n"),
        Some(Attended::More) => format!("the agent that has {thread} goes on later\n"),
        Some(Attended::Failed { problem }) => {
            let problem = format!("{thread} could not be answered: {}", row(&problem));
            missing.push(problem.clone());
            format!("✗ {problem}\n")
        }
    })
}

/// Writes a note. The agents that it calls look, when the member may set agents to work.
pub async fn note(room: &mut Room, rest: &str) -> Result<Did> {
    let (id, text) = split(rest);
    let (id, text) = (id.to_owned(), needed(text, NOTE)?.to_owned());
    let hand = room.office.station(&room.who).own_hand();
    let store = &room.office.means().store;
    let note = store
        .write(move |tx| {
            let about = ids::anything(tx, &id)?;
            notes::add(tx, &hand, &about, &text)
        })
        .await?;
    let mut out = format!("noted on {}\n", note.about);
    let called = note.mentions.iter().any(|who| who.starts_with("agent:"));
    if called && !needs::calls_agents(&room.person()?.rights)? {
        out.push_str(&format!(
            "no agent was called: {} may write notes, and not set agents to work\n",
            room.who
        ));
        return Ok(Did::Said(out));
    }
    let ran = room.office.mentioned(&note).await?;
    out.push_str(&room.came(&ran));
    Ok(Did::told(out, missing(&ran)))
}

/// Gives a thread to somebody. An agent begins at once.
pub async fn assign(room: &mut Room, rest: &str) -> Result<Did> {
    let (thread, who) = split(rest);
    let (thread, who) = (ids::of_kind(thread, "thread")?, needed(who, ASSIGN)?.to_owned());
    let hand = room.office.station(&room.who).own_hand();
    let store = &room.office.means().store;
    let after = store
        .write(move |tx| {
            let assignee = ids::actor(tx, &who)?;
            let change = threads::Change { assignee: Some(assignee), ..Default::default() };
            Ok(threads::update(tx, &hand, &thread, &change)?.1)
        })
        .await?;
    let assignee = after.assignee.clone().unwrap_or_default();
    let mut out = format!("{} is with {}\n", after.id, row(&assignee));
    let ran = room.office.assigned(&after, &room.who).await?;
    out.push_str(&room.came(&ran));
    let mut missing = missing(&ran);
    out.push_str(&answered(room, &after.id, &mut missing).await?);
    Ok(Did::told(out, missing))
}

/// Writes to an agent.
pub async fn tell(room: &mut Room, rest: &str) -> Result<Did> {
    let (agent, text) = split(rest);
    let text = needed(text, TELL)?;
    let agent = room.office.means().store.look(|connection| ids::actor(connection, agent))?;
    if !agent.starts_with("agent:") {
        bail!("{agent} is a person, and reads notes: /note; agents are written to, for example: {TELL}");
    }
    let ran = room.office.message(&agent, &room.who, text).await?;
    Ok(Did::told(room.came(&ran), missing(&ran)))
}

/// The nightly sweep, now.
pub async fn sweep(room: &mut Room) -> Result<Did> {
    let ran = room.office.sweep().await?;
    let text = match ran.is_empty() {
        true => "no other thread waits for so long; /bundles lists what was proposed before".to_owned(),
        false => room.came(&ran),
    };
    Ok(Did::told(text, missing(&ran)))
}
