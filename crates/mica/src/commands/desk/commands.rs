//! The commands of the desk: what can be done there without the copilot.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use jiff::SignedDuration;
use mica_domain::capture::{Bundle, Picked, State, Status};
use mica_domain::runners::Attended;
use pack_desk::office::{Inbound, Ran};
use pack_desk::store::{activity, articles, entities, jobs, mail, notes, tasks, threads};
use pack_desk::{Desk, deadline, ids};

use super::room::{Did, Room};
use crate::render::question::plain;

const HELP: &str = "Lines are said to the copilot. @thread:1001 in a line mentions something.
  /page [PAGE]             go to a page: inbox, records, tasks, kb, agents, today, runs; none
  /open ID, /close         open a thread, article, record, task or agent; close everything
  /mention ID              mention something in the next line
  /tools                   what the copilot can do on this page
  /inbox [WORDS]           the newest open threads
  /tasks [MEMBER]          tasks, the most urgent first
  /show ID                 look at something
  /today                   what waits for a person
  /bundles                 what agents proposed
  /bundle ID               one of them
  /approve ID [ACTION…]    do it, or only these actions; with NAME=VALUE behind an action, changed
  /reject ID [WHY]         do not do it
  /snooze ID WHEN          later
  /renew ID                it counts although something changed since
  /waiting                 what the copilot asks
  /inbound FROM | SUBJECT | TEXT    a mail comes in; FROM is a contact or an address; thread:ID as subject continues one
  /note ID TEXT            write a note; @Triage in it calls the agent
  /assign THREAD WHO       give a thread to somebody; an agent begins at once
  /tell AGENT TEXT         write to an agent
  /sweep                   the nightly sweep, now
  /runs                    what was triggered and what came of it, what fires next, and what happened lately
  /outbox, /unsend ID      mail that was sent; take it back
  /undo [ID]               what can be taken back in articles; take it back
  /clock [+2h]             what time it is; let time pass
  /quit";

/// Does a command.
///
/// # Errors
/// In words, for the person.
pub async fn command(room: &mut Room, line: &str) -> Result<Did> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let text = match name {
        "help" | "?" => HELP.to_owned(),
        "quit" | "exit" | "q" => return Ok(Did::Quit),
        "page" => page(room, rest)?,
        "open" => {
            let one = room.open(needed(rest, "/open thread:1001")?)?;
            format!("open: {} {}", one.id, plain(one.label.as_deref().unwrap_or_default()))
        }
        "close" => {
            room.opened.clear();
            "nothing is open".to_owned()
        }
        "mention" => {
            let one = room.reference(needed(rest, "/mention contact:ana-silva")?)?;
            let mut mentioned = mica_domain::refs::Ref::mentioned(one.kind, one.id.clone());
            mentioned.label = one.label;
            room.mentioned.push(mentioned);
            format!("the next line mentions {}", one.id)
        }
        "tools" => room.copilot.summaries().iter().map(|line| format!("- {line}\n")).collect(),
        "inbox" => inbox(room, rest)?,
        "tasks" => task_list(room, rest)?,
        "show" => show(room, needed(rest, "/show company:initech")?)?,
        "today" => today(room).await?,
        "bundles" => bundles(room).await?,
        "bundle" => told(&room.office.bundles().get(needed(rest, "/bundle ID")?).await?, true),
        "approve" => approve(room, rest).await?,
        "reject" => {
            let (id, why) = split(needed(rest, "/reject ID WHY")?);
            let why = if why.is_empty() { "no" } else { why };
            let rejected = room.office.bundles().reject(id, why, &room.person()?, room.clock.now()).await?;
            told(&rejected, false)
        }
        "snooze" => {
            let (id, when) = split(needed(rest, "/snooze ID tomorrow 9am")?);
            let until = deadline::parse(when, room.clock.now(), &room.office.means().zone)?;
            let snoozed = room.office.bundles().snooze(id, until, &room.person()?, room.clock.now()).await?;
            told(&snoozed, false)
        }
        "renew" => {
            let id = needed(rest, "/renew ID")?;
            told(&room.office.bundles().renew(id, &room.person()?, room.clock.now()).await?, false)
        }
        "waiting" => match room.questions()? {
            nothing if nothing.is_empty() => "nothing is asked".to_owned(),
            asked => asked,
        },
        "inbound" => inbound(room, rest).await?,
        "note" => note(room, rest).await?,
        "assign" => assign(room, rest).await?,
        "tell" => tell(room, rest).await?,
        "sweep" => {
            let ran = room.office.sweep().await?;
            if ran.is_empty() { "no thread waits for so long".to_owned() } else { room.came(&ran) }
        }
        "runs" => runs(room).await?,
        "outbox" => outbox(room)?,
        "unsend" => {
            let id = ids::of_kind(needed(rest, "/unsend mail:001")?, "mail")?;
            let hand = room.office.station(&room.who).own_hand();
            let mail = room.office.means().store.write(move |tx| mail::unsend(tx, &hand, &id)).await?;
            format!("{} was taken back", mail.id)
        }
        "undo" => undo(room, rest).await?,
        "clock" => clock(room, rest).await?,
        unknown => {
            let known = HELP
                .lines()
                .filter_map(|line| line.trim().strip_prefix('/'))
                .filter_map(|line| line.split([' ', ',']).next());
            let near = mica_agent::nearest::nearest(unknown, known);
            let near = near.map_or(String::new(), |near| format!("; did you mean /{near}?"));
            bail!("there is no command /{unknown}{near} (/help lists them)")
        }
    };
    Ok(Did::Said(text))
}

fn needed<'a>(rest: &'a str, example: &str) -> Result<&'a str> {
    if rest.is_empty() {
        Err(anyhow!("something is missing; write for example: {example}"))
    } else {
        Ok(rest)
    }
}

fn split(rest: &str) -> (&str, &str) {
    let (first, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (first, rest.trim())
}

fn page(room: &mut Room, name: &str) -> Result<String> {
    match name {
        "" => {}
        "none" => room.page = None,
        name if Desk::PAGES.contains(&name) => {
            room.page = Some(name.to_owned());
            room.opened.clear();
        }
        name => {
            let near = mica_agent::nearest::nearest(name, Desk::PAGES.iter().copied());
            let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
            bail!("there is no page {name:?}{near} (the pages are: {})", Desk::PAGES.join(", "))
        }
    }
    Ok(format!("on {}", room.page.as_deref().unwrap_or("no page")))
}

fn inbox(room: &Room, words: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    let search = threads::Search {
        words: words.to_owned(),
        status: words.is_empty().then(|| "open".to_owned()),
        limit: Some(15),
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
            plain(thread.sender.as_deref().unwrap_or("somebody")),
            plain(&thread.subject),
            thread.assignee.as_deref().map(|who| format!("  [{who}]")).unwrap_or_default()
        );
    }
    let _ = write!(out, "{} of {all}", found.len());
    Ok(out)
}

fn task_list(room: &Room, who: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    let (found, all) = station.store.look(|connection| {
        let assignee = match who {
            "" => None,
            "me" => Some(room.who.clone()),
            who => Some(ids::actor(connection, who)?),
        };
        tasks::search(connection, &tasks::Search { assignee, limit: Some(15), ..Default::default() })
    })?;
    let mut out = String::new();
    for task in &found {
        let due = task.deadline.map_or("no deadline".to_owned(), |due| station.said(due));
        let who = task.assignee.as_deref().unwrap_or("nobody");
        let _ = writeln!(out, "  {}  {due}  {who}  {}", task.id, plain(&task.title));
    }
    let _ = write!(out, "{} of {all}", found.len());
    Ok(out)
}

fn show(room: &Room, id: &str) -> Result<String> {
    let station = room.office.station(&room.who);
    Ok(station.store.look(|connection| {
        let id = ids::anything(connection, id)?;
        let mut out = String::new();
        match id.split_once(':').map(|(kind, _)| kind) {
            Some("thread") => {
                let thread = threads::get(connection, &id)?;
                let _ = writeln!(
                    out,
                    "{} ({id}): {}, {}",
                    plain(&thread.subject),
                    thread.status,
                    thread.priority
                );
                for message in threads::messages(connection, &id, None)?.0 {
                    let _ = writeln!(out, "\n{}, {}:", plain(&message.author), station.said(message.sent));
                    message.body.lines().for_each(|line| {
                        let _ = writeln!(out, "  {}", plain(line));
                    });
                }
                for draft in mail::drafts(connection, Some(&id), None)? {
                    let _ = writeln!(out, "\n{} by {}, not sent:", draft.id, draft.author);
                    draft.body.lines().for_each(|line| {
                        let _ = writeln!(out, "  {}", plain(line));
                    });
                }
            }
            Some("task") => {
                let task = tasks::get(connection, &id)?;
                let _ = writeln!(
                    out,
                    "{} ({id}) for {}",
                    plain(&task.title),
                    task.assignee.as_deref().unwrap_or("nobody")
                );
            }
            Some("article") => {
                let article = articles::get(connection, &id)?;
                let _ = writeln!(
                    out,
                    "{} ({id}, version {})\n\n{}",
                    plain(&article.title),
                    article.version,
                    plain(&article.body)
                );
            }
            _ => {
                let entity = entities::get(connection, &id)?;
                let gone = if entity.deleted { ", deleted" } else { "" };
                let _ = writeln!(out, "{} ({id}, version {}{gone})", plain(&entity.name), entity.version);
                for (name, value) in &entity.fields {
                    let _ = writeln!(out, "  {name}: {}", plain(value.as_str().unwrap_or_default()));
                }
            }
        }
        for note in notes::about(connection, &id, None)? {
            let _ = writeln!(out, "note by {}: {}", note.author, plain(&note.body));
        }
        Ok(out)
    })?)
}

async fn today(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let waiting = room.office.bundles().waiting(room.clock.now()).await?;
    let mut out = format!("{}\n", room.said_now());
    let _ = writeln!(out, "\n{} proposals", waiting.len());
    waiting.iter().for_each(|bundle| out.push_str(&told(bundle, false)));
    let due = room.clock.now() + SignedDuration::from_hours(24);
    let search = tasks::Search { due_before: Some(due), limit: Some(10), ..Default::default() };
    let (due, all) = station.store.look(|connection| tasks::search(connection, &search))?;
    let _ = writeln!(out, "\n{all} tasks until tomorrow");
    for task in &due {
        let when = task.deadline.map(|due| station.said(due)).unwrap_or_default();
        let _ = writeln!(out, "  {}  {when}  {}", task.id, plain(&task.title));
    }
    let asked = room.waiting().len();
    let _ = write!(out, "\n{asked} questions of the copilot");
    Ok(out)
}

async fn bundles(room: &Room) -> Result<String> {
    room.office.bundles().sweep().await?;
    let all = room.office.bundles().list().await?;
    if all.is_empty() {
        return Ok("nothing was proposed; /sweep or /inbound has agents look".to_owned());
    }
    Ok(all.iter().map(|bundle| told(bundle, false)).collect())
}

/// A bundle, for people.
fn told(bundle: &Bundle, long: bool) -> String {
    let state = match &bundle.state {
        State::Fresh => "waits for you".to_owned(),
        State::Snoozed { until } => format!("snoozed until {until}"),
        State::Stale { .. } => "stale: what it is about changed since".to_owned(),
        State::Approved => "approved".to_owned(),
        State::PartiallyApproved => "approved in part".to_owned(),
        State::Rejected => "rejected".to_owned(),
    };
    let about = bundle.about.subject.as_ref().map(|subject| subject.id.as_str()).unwrap_or_default();
    let mut out = format!("{}  {about}  {}: {state}\n", bundle.id(), bundle.about.kind);
    if long && !bundle.summary.trim().is_empty() {
        let _ = writeln!(out, "  {}", plain(bundle.summary.trim()).replace('\n', "\n  "));
    }
    for action in &bundle.actions {
        let mark = match &action.status {
            Status::Open => "[ ]".to_owned(),
            Status::Picked | Status::Began => "[…]".to_owned(),
            Status::Done { .. } => "[x]".to_owned(),
            Status::Failed { reason } => format!("[✗ {}]", plain(reason)),
            Status::Skipped { reason } => format!("[- {}]", plain(reason)),
            Status::Unknown { reason } => format!("[? {}]", plain(reason)),
        };
        let _ = writeln!(out, "  {mark} {} {}", action.id, plain(&action.digest));
        if long {
            let _ = writeln!(
                out,
                "      {} {}",
                action.tool,
                plain(&serde_json::Value::Object(action.arguments().clone()).to_string())
            );
        }
    }
    out
}

async fn approve(room: &Room, rest: &str) -> Result<String> {
    let mut words = needed(rest, "/approve ID, or /approve ID temp_1 temp_2")?.split_whitespace();
    let id = words.next().unwrap_or_default();
    let bundle = room.office.bundles().get(id).await?;
    let mut picked = Picked::default();
    let mut last: Option<String> = None;
    for word in words {
        match (word.split_once('='), &last) {
            (Some((name, value)), Some(action)) => {
                picked = picked.editing(action, name, serde_json::Value::String(value.replace('_', " ")));
            }
            (Some(_), None) => bail!("name the action before what changes in it"),
            (None, _) => {
                if bundle.action(word).is_none() {
                    let known: Vec<&str> = bundle.actions.iter().map(|action| action.id.as_str()).collect();
                    bail!("{id} has no action {word:?}; it has: {}", known.join(", "));
                }
                picked.0.extend(Picked::some([word]).0);
                last = Some(word.to_owned());
            }
        }
    }
    if picked.0.is_empty() {
        picked = Picked::all(&bundle);
    }
    let applied = room.office.apply(&room.who, id, &picked).await?;
    Ok(told(&applied, false))
}

async fn inbound(room: &mut Room, rest: &str) -> Result<String> {
    let example = "/inbound contact:ana-silva | Printer is down | It stopped printing.";
    let parts: Vec<&str> = needed(rest, example)?.splitn(3, '|').map(str::trim).collect();
    let [from, subject, body] = parts.as_slice() else { bail!("write for example: {example}") };
    let thread = subject.starts_with("thread:").then(|| (*subject).to_owned());
    let mail = Inbound {
        from: (*from).to_owned(),
        subject: (*subject).to_owned(),
        body: body.replace("\\n", "\n"),
        thread,
    };
    let thread = room.office.inbound(mail).await?;
    let ran = room.office.mailed(&thread.id).await?;
    let mut out = format!("{} came in: {}\n", thread.id, plain(&thread.subject));
    out.push_str(&room.came(&ran));
    out.push_str(&answered(room, &thread.id).await?);
    Ok(out)
}

/// What the agent that has a thread answered there, for people.
async fn answered(room: &Room, thread: &str) -> Result<String> {
    Ok(match room.office.answer_in(thread).await? {
        None | Some(Attended::Done { answers: 0 }) => String::new(),
        Some(Attended::Done { .. }) => {
            format!("the agent that has {thread} answered: /show {thread}, /outbox\n")
        }
        Some(Attended::Handed) => format!("the agent that has {thread} is at it already\n"),
        Some(Attended::Waiting) => format!("the agent that has {thread} waits for a decision: /today\n"),
        Some(Attended::More) => format!("the agent that has {thread} goes on later\n"),
        Some(Attended::Failed { problem }) => {
            format!("✗ {thread} could not be answered: {}\n", plain(&problem))
        }
    })
}

/// What an agent did, for people.
pub fn came(ran: &Ran) -> String {
    let about = ran.about().map(|about| format!(" looked at {about}")).unwrap_or_default();
    let mut out = format!("{}{about} ({})\n", ran.fire.agent, ran.outcome());
    if !ran.summary().trim().is_empty() {
        let _ = writeln!(out, "  {}", plain_text(ran.summary()).replace('\n', "\n  "));
    }
    if let Some(problem) = ran.problem() {
        let _ = writeln!(out, "  ✗ {}", plain(problem));
    }
    if let Some(bundle) = &ran.bundle {
        out.push_str(&told(bundle, false));
    }
    out
}

fn plain_text(text: &str) -> String {
    text.trim().lines().map(plain).collect::<Vec<_>>().join("\n")
}

async fn note(room: &mut Room, rest: &str) -> Result<String> {
    let (id, text) = split(needed(rest, "/note thread:1001 @Triage please look")?);
    let (id, text) = (id.to_owned(), text.to_owned());
    let hand = room.office.station(&room.who).own_hand();
    let note = room
        .office
        .means()
        .store
        .write(move |tx| {
            let about = ids::anything(tx, &id)?;
            notes::add(tx, &hand, &about, &text)
        })
        .await?;
    let ran = room.office.mentioned(&note).await?;
    Ok(format!("noted on {}\n{}", note.about, room.came(&ran)))
}

async fn assign(room: &mut Room, rest: &str) -> Result<String> {
    let (thread, who) = split(needed(rest, "/assign thread:1001 jonas")?);
    needed(who, "/assign thread:1001 jonas")?;
    let (thread, who) = (ids::of_kind(thread, "thread")?, who.to_owned());
    let hand = room.office.station(&room.who).own_hand();
    let after = room
        .office
        .means()
        .store
        .write(move |tx| {
            let assignee = ids::actor(tx, &who)?;
            let change = threads::Change { assignee: Some(assignee), ..Default::default() };
            Ok(threads::update(tx, &hand, &thread, &change)?.1)
        })
        .await?;
    let assignee = after.assignee.clone().unwrap_or_default();
    let mut out = format!("{} is with {assignee}\n", after.id);
    let ran = room.office.assigned(&after, &room.who).await?;
    out.push_str(&room.came(&ran));
    out.push_str(&answered(room, &after.id).await?);
    Ok(out)
}

/// Writes to an agent.
async fn tell(room: &mut Room, rest: &str) -> Result<String> {
    let example = "/tell triage Which tags do you use?";
    let (agent, text) = split(needed(rest, example)?);
    needed(text, example)?;
    let agent = room.office.means().store.look(|connection| ids::actor(connection, agent))?;
    if !agent.starts_with("agent:") {
        bail!("{agent} is a person, and reads notes: /note; agents are written to, for example: {example}");
    }
    let ran = room.office.message(&agent, &room.who, text).await?;
    Ok(room.came(&ran))
}

/// What was triggered: when, by what, how it ended, what it says, what it proposes; then jobs and changes.
async fn runs(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let mut out = String::new();
    for (trigger, next) in room.office.upcoming()? {
        let _ = writeln!(out, "next: {}  {trigger}", station.said(next));
    }
    for ran in room.office.runs().await?.iter().take(15) {
        let _ = writeln!(
            out,
            "{}  {}  {}  {}{}",
            station.said(ran.fire.due),
            plain(&ran.fire.trigger),
            plain(&ran.fire.agent),
            ran.outcome(),
            ran.about().map(|about| format!("  {}", plain(about))).unwrap_or_default(),
        );
        if let Some(line) = ran.summary().lines().find(|line| !line.trim().is_empty()) {
            let _ = writeln!(out, "  {}", plain(line));
        }
        if let Some(problem) = ran.problem() {
            let _ = writeln!(out, "  ✗ {}", plain(problem));
        }
        if let Some(bundle) = &ran.bundle {
            let _ = writeln!(out, "  proposes {} actions: /bundle {}", bundle.actions.len(), bundle.id());
        }
    }
    station.store.look(|connection| {
        for job in jobs::newest(connection, None, Some(5))? {
            let _ = writeln!(out, "{}  {}  {} ({} of {})", job.id, job.kind, job.state, job.done, job.total);
        }
        for entry in activity::newest(connection, None, Some(15))? {
            let _ = writeln!(
                out,
                "{:>5}  {}  {} {} {}",
                entry.seq,
                station.said(entry.at),
                entry.who,
                entry.verb,
                entry.about
            );
        }
        Ok(())
    })?;
    Ok(out)
}

fn outbox(room: &Room) -> Result<String> {
    let station = room.office.station(&room.who);
    let all = station.store.look(|connection| mail::outbox(connection, None))?;
    if all.is_empty() {
        return Ok("nothing was sent".to_owned());
    }
    let mut out = String::new();
    for mail in all {
        let state = match mail.state.as_str() {
            "queued" => format!("can be taken back until {}", station.said(mail.leaves)),
            state => state.to_owned(),
        };
        let _ =
            writeln!(out, "{}  to {}  {}: {state}", mail.id, plain(&mail.recipient), plain(&mail.subject));
    }
    Ok(out)
}

async fn undo(room: &Room, id: &str) -> Result<String> {
    let store = &room.office.means().store;
    if id.is_empty() {
        let all = store.look(|connection| articles::undoable(connection, None))?;
        let mut out = String::new();
        for snapshot in &all {
            let why = if snapshot.why.is_empty() { "the run ended well" } else { &snapshot.why };
            let _ = writeln!(out, "{}  {}: {why}", snapshot.id, snapshot.article);
        }
        return Ok(if out.is_empty() { "nothing can be taken back".to_owned() } else { out });
    }
    if room.copilot.offers().iter().any(|offer| offer.id == id) {
        return Ok(room.copilot.undo(id).await?);
    }
    let (id, hand) = (id.to_owned(), room.office.station(&room.who).own_hand());
    let article = store.write(move |tx| articles::undo(tx, &hand, &id)).await?;
    Ok(format!("{} says again what it said before", article.id))
}

async fn clock(room: &Room, rest: &str) -> Result<String> {
    if !rest.is_empty() {
        let by: SignedDuration = rest
            .trim_start_matches('+')
            .parse()
            .map_err(|_| anyhow!("{rest:?} is no time that could pass; write for example /clock +2h 30m"))?;
        if by.is_negative() {
            bail!("time goes forward only");
        }
        // Signs of life are told by this clock: whoever else is here would be taken for dead.
        if !room.office.beside().await?.is_empty() {
            bail!("another program is at this desk, and time passes for both; leave it there first (/quit)");
        }
        // A schedule that nobody looked at yet begins now.
        room.office.due().await?;
        room.clock.advance(by).await?;
        room.office.beat().await?;
        // What became due meanwhile fires now.
        room.office.due().await?;
    }
    Ok(format!("it is {}", room.said_now()))
}
