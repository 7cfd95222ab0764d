//! Looks at the desk: threads, tasks, things, mail, and what happened.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use jiff::SignedDuration;
use pack_desk::store::{self, activity, articles, entities, jobs, mail, notes, threads};
use pack_desk::{ids, tools};

use super::super::places;
use super::super::room::Room;
use super::super::screen::{indented, row};
use super::needs::{self, Needs};
use super::proposals::told;

/// Rows of a list.
const ROWS: u32 = 15;

/// The newest open threads, or those with these words.
pub fn inbox(room: &Room, words: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    let search = threads::Search {
        words: words.to_owned(),
        status: words.is_empty().then(|| "open".to_owned()),
        limit: Some(ROWS),
        ..Default::default()
    };
    let (found, all) = station.store.look(|connection| threads::search(connection, &search))?;
    let mut out = String::new();
    for thread in &found {
        let mark = if thread.unread { "*" } else { " " };
        let _ = writeln!(
            out,
            "{mark} {}  {}  {}  {}{}",
            thread.id,
            station.said(thread.last_message),
            row(thread.sender.as_deref().unwrap_or("somebody")),
            row(&thread.subject),
            thread.assignee.as_deref().map(|who| format!("  [{}]", row(who))).unwrap_or_default()
        );
    }
    out.push_str(&counted(found.len(), all));
    Ok(out)
}

fn counted(shown: usize, all: usize) -> String {
    match all {
        0 => "none".to_owned(),
        _ => format!("{shown} of {all}"),
    }
}

/// Tasks, the most urgent first.
pub fn tasks(room: &Room, who: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    let (found, all) = station.store.look(|connection| {
        let assignee = match who {
            "" => None,
            "me" => Some(room.who.clone()),
            who => Some(ids::actor(connection, who)?),
        };
        let search = store::tasks::Search { assignee, limit: Some(ROWS), ..Default::default() };
        store::tasks::search(connection, &search)
    })?;
    let mut out = String::new();
    for task in &found {
        let due = task.deadline.map_or("no deadline".to_owned(), |due| station.said(due));
        let who = task.assignee.as_deref().unwrap_or("nobody");
        let _ = writeln!(out, "  {}  {due}  {}  {}", task.id, row(who), row(&task.title));
    }
    out.push_str(&counted(found.len(), all));
    Ok(out)
}

/// One thing, with its notes.
pub async fn show(room: &Room, id: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    if let "agent" | "member" = places::kind(&ids::reduced(id)) {
        return somebody(room, id).await;
    }
    if places::kind(&ids::reduced(id)) == "mail" {
        let mail = station.store.look(|connection| mail::get(connection, &ids::of_kind(id, "mail")?))?;
        let (to, state) = (row(&mail.recipient), row(&mail.state));
        return Ok(format!(
            "{} ({}) to {to}: {state}\n{}",
            row(&mail.subject),
            mail.id,
            indented(&mail.body, 2)
        ));
    }
    Ok(station.store.look(|connection| {
        let id = ids::anything(connection, id)?;
        let mut out = String::new();
        match places::kind(&id) {
            "thread" => {
                let thread = threads::get(connection, &id)?;
                let with = thread.assignee.as_deref().map(|who| format!(", with {}", row(who)));
                let _ = writeln!(
                    out,
                    "{} ({id}): {}, {}{}",
                    row(&thread.subject),
                    row(&thread.status),
                    row(&thread.priority),
                    with.unwrap_or_default()
                );
                for message in threads::messages(connection, &id, None)?.0 {
                    let mark = if message.known { "" } else { " (unverified)" };
                    let _ =
                        writeln!(out, "\n{}{mark}, {}:", row(&message.author), station.said(message.sent));
                    out.push_str(&indented(&message.body, 2));
                }
                for draft in mail::drafts(connection, Some(&id), None)? {
                    let _ = writeln!(out, "\n{} by {}, not sent:", draft.id, row(&draft.author));
                    out.push_str(&indented(&draft.body, 2));
                }
            }
            "task" => {
                let task = store::tasks::get(connection, &id)?;
                let who = row(task.assignee.as_deref().unwrap_or("nobody"));
                let due = task.deadline.map_or("no deadline".to_owned(), |due| station.said(due));
                let done = if task.done.is_some() { ", done" } else { "" };
                let _ = writeln!(out, "{} ({id}{done}) for {who}, {due}", row(&task.title));
                for about in [&task.about, &task.thread].into_iter().flatten() {
                    let _ = writeln!(out, "  about {}", row(about));
                }
                out.push_str(&indented(&task.detail, 2));
            }
            "article" => {
                let article = articles::get(connection, &id)?;
                let _ = writeln!(out, "{} ({id}, version {})\n", row(&article.title), article.version);
                out.push_str(&indented(&article.body, 0));
            }
            _ => {
                let entity = entities::get(connection, &id)?;
                let gone = if entity.deleted { ", deleted" } else { "" };
                let _ = writeln!(out, "{} ({id}, version {}{gone})", row(&entity.name), entity.version);
                for (name, value) in &entity.fields {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    match value.trim_end().contains('\n') {
                        true => drop(write!(out, "  {}:\n{}", row(name), indented(&value, 4))),
                        false => drop(writeln!(out, "  {}: {}", row(name), row(&value))),
                    }
                }
            }
        }
        for note in notes::about(connection, &id, None)? {
            let _ = write!(
                out,
                "\nnote by {}, {}:\n{}",
                row(&note.author),
                station.said(note.at),
                indented(&note.body, 2)
            );
        }
        Ok(out)
    })?)
}

/// A member or an agent, in a few lines.
async fn somebody(room: &Room, text: &str) -> Result<String> {
    let store = &room.office.means().store;
    let id = store.look(|connection| ids::actor(connection, text))?;
    if id.starts_with("agent:") {
        let agent = store.look(|connection| store::team::agent(connection, &id))?;
        let (name, owner) = (row(&agent.name), row(&agent.owner));
        let mut out =
            format!("{name} ({id}), of {owner}\n  may at most: {}\n", row(&agent.rights.join(", ")));
        // What agents are told is read and written by the same tool.
        if needs::may(room, Needs::Tool(tools::set_agent_prompt::NAME)).await? {
            let _ = write!(out, "  is told:\n{}", indented(&agent.prompt, 4));
        }
        return Ok(out);
    }
    let members = store.look(store::team::members)?;
    let Some(one) = members.into_iter().find(|member| member.id == id) else { bail!("there is no {id}") };
    let role = format!("{:?}", one.role).to_lowercase();
    Ok(format!("{} ({id}, {role})\n  {}\n  {}", row(&one.name), row(&one.email), row(&one.about)))
}

/// What waits for a person.
pub async fn today(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let waiting = room.office.bundles().waiting(room.clock.now()).await?;
    let mut out = format!("{}\n", room.said_now());
    let _ = writeln!(out, "\n{}", counts(waiting.len(), "proposal"));
    waiting.iter().for_each(|bundle| out.push_str(&told(room, bundle, false)));
    let due = room.clock.now() + SignedDuration::from_hours(24);
    let search = store::tasks::Search { due_before: Some(due), limit: Some(10), ..Default::default() };
    let (due, all) = station.store.look(|connection| store::tasks::search(connection, &search))?;
    let _ = writeln!(out, "\n{} until tomorrow", counts(all, "task"));
    for task in &due {
        let when = task.deadline.map(|due| station.said(due)).unwrap_or_default();
        let _ = writeln!(out, "  {}  {when}  {}", task.id, row(&task.title));
    }
    if let Some(more) = all.checked_sub(due.len()).filter(|more| *more > 0) {
        let _ = writeln!(out, "  and {more} more: /tasks has them");
    }
    let _ = write!(out, "\n{} of the copilot", counts(room.waiting().len(), "question"));
    Ok(out)
}

fn counts(count: usize, what: &str) -> String {
    let many = if count == 1 { "" } else { "s" };
    format!("{count} {what}{many}")
}

/// What was triggered: when, by what, how it ended, what it says, what it proposes; then jobs and changes.
pub async fn runs(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let mut out = String::new();
    for (trigger, next) in room.office.upcoming()? {
        let _ = writeln!(out, "next: {}  {}", station.said(next), row(&trigger));
    }
    for ran in room.office.runs().await?.iter().take(ROWS as usize) {
        let _ = writeln!(
            out,
            "{}  {}  {}  {}{}",
            station.said(ran.fire.due),
            row(&ran.fire.trigger),
            row(&ran.fire.agent),
            row(ran.outcome()),
            ran.about().map(|about| format!("  {}", row(about))).unwrap_or_default(),
        );
        let said = room.of_agent(ran.summary());
        if let Some(line) = said.lines().find(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "  {}", row(line));
        }
        if let Some(problem) = ran.problem() {
            let _ = writeln!(out, "  ✗ {}", row(problem));
        }
        if let Some(bundle) = &ran.bundle {
            let actions = counts(bundle.actions.len(), "action");
            let _ = writeln!(out, "  proposes {actions}: /bundle {}", row(bundle.id()));
        }
    }
    station.store.look(|connection| {
        for job in jobs::newest(connection, None, Some(5))? {
            let (kind, state) = (row(&job.kind), row(&job.state));
            let _ = writeln!(out, "{}  {kind}  {state} ({} of {})", job.id, job.done, job.total);
        }
        for entry in activity::newest(connection, None, Some(ROWS))? {
            let _ = writeln!(
                out,
                "{:>5}  {}  {} {} {}",
                entry.seq,
                station.said(entry.at),
                row(&entry.who),
                row(&entry.verb),
                row(&entry.about)
            );
        }
        Ok(())
    })?;
    Ok(out)
}

/// Mail that was sent.
pub fn outbox(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let all = station.store.look(|connection| mail::outbox(connection, None))?;
    if all.is_empty() {
        return Ok("nothing was sent".to_owned());
    }
    let mut out = String::new();
    for mail in all {
        let state = match mail.state.as_str() {
            "queued" => format!("can be taken back until {}", station.said(mail.leaves)),
            state => row(state),
        };
        let _ = writeln!(out, "{}  to {}  {}: {state}", mail.id, row(&mail.recipient), row(&mail.subject));
    }
    Ok(out)
}
