//! The commands of the desk: what can be done there without the copilot.
//!
//! Invariant: [`COMMANDS`] is all of them, each with what it needs, and nothing is done before that was looked at. What a
//! command does needs the right of the tool that does the same.

pub mod happening;
pub mod looking;
pub mod needs;
pub mod placing;
pub mod proposals;
pub mod taking_back;

use anyhow::{Result, bail};
use mica_agent::nearest::nearest;
use needs::Needs;
use pack_desk::tools;

use super::clock;
use super::room::{Did, Room};

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Do {
    Help,
    Page,
    Open,
    Close,
    Mention,
    Tools,
    Inbox,
    Tasks,
    Show,
    Today,
    Bundles,
    Bundle,
    Approve,
    Reject,
    Snooze,
    Renew,
    Waiting,
    Inbound,
    Note,
    Assign,
    Tell,
    Sweep,
    Runs,
    Outbox,
    Unsend,
    Undo,
    Clock,
    Quit,
}

/// A command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// What is typed, behind a slash; others that mean the same follow.
    names: &'static [&'static str],
    /// What follows, for people.
    form: &'static str,
    /// What it is for.
    about: &'static str,
    /// How it is typed, for whoever left something out. Empty: it needs nothing more.
    example: &'static str,
    /// What it needs with something behind it, and alone.
    needs: (Needs, Needs),
    does: Do,
}

const fn command(
    names: &'static [&'static str],
    form: &'static str,
    about: &'static str,
    example: &'static str,
    needs: (Needs, Needs),
    does: Do,
) -> Command {
    Command { names, form, about, example, needs, does }
}

/// The same right, whatever follows.
const fn always(needs: Needs) -> (Needs, Needs) {
    (needs, needs)
}

/// All commands, in the order that help has.
#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    command(&["page"], "[PAGE]", "go to a page: inbox, records, tasks, kb, agents, today, runs; none", "", always(Needs::Nothing), Do::Page),
    command(&["open"], "ID", "open a thread, article, record, task or agent", "/open thread:1001", always(Needs::Thing), Do::Open),
    command(&["close"], "", "close everything", "", always(Needs::Nothing), Do::Close),
    command(&["mention"], "ID", "mention something in the next line", "/mention contact:ana-silva", always(Needs::Thing), Do::Mention),
    command(&["tools"], "", "what the copilot can do on this page", "", always(Needs::Nothing), Do::Tools),
    command(&["inbox"], "[WORDS]", "the newest open threads", "", always(Needs::Tool(tools::find_threads::NAME)), Do::Inbox),
    command(&["tasks"], "[MEMBER]", "tasks, the most urgent first", "", always(Needs::Tool(tools::list_tasks::NAME)), Do::Tasks),
    command(&["show"], "ID", "look at something", "/show company:initech", always(Needs::Thing), Do::Show),
    command(&["today"], "", "what waits for a person", "", always(Needs::Tool(tools::find_threads::NAME)), Do::Today),
    command(&["bundles"], "", "what agents proposed", "", always(Needs::Tool(tools::find_threads::NAME)), Do::Bundles),
    command(&["bundle"], "ID", "one of them, by its id or by what it is about", "/bundle thread:1027", always(Needs::Tool(tools::find_threads::NAME)), Do::Bundle),
    command(&["approve"], "ID [ACTION…]", "do it, or only these actions, changed with NAME=VALUE behind one; or say yes to a question", "/approve ID, or /approve ID temp_1 title=\"Ring Ana\" temp_2", always(Needs::Picks), Do::Approve),
    command(&["reject"], "ID [WHY]", "do not do it, and why; or say no to a question", "/reject ID WHY", always(Needs::No), Do::Reject),
    command(&["snooze"], "ID WHEN", "later", "/snooze ID tomorrow 9am", always(Needs::Bundle), Do::Snooze),
    command(&["renew"], "ID", "it counts although something changed since", "/renew ID", always(Needs::Bundle), Do::Renew),
    command(&["waiting"], "", "what the copilot asks", "", always(Needs::Nothing), Do::Waiting),
    command(&["inbound"], "FROM | SUBJECT | TEXT", "a mail comes in; FROM is a contact or an address; thread:ID as subject continues one", happening::INBOUND, always(Needs::Tool(tools::update_thread::NAME)), Do::Inbound),
    command(&["note"], "ID TEXT", "write a note; @Triage in it calls the agent", happening::NOTE, always(Needs::Tool(tools::add_note::NAME)), Do::Note),
    command(&["assign"], "THREAD WHO", "give a thread to somebody; an agent begins at once", happening::ASSIGN, always(Needs::Tool(tools::update_thread::NAME)), Do::Assign),
    command(&["tell"], "AGENT TEXT", "write to an agent", happening::TELL, always(Needs::Tool(tools::update_thread::NAME)), Do::Tell),
    command(&["sweep"], "", "the nightly sweep, now", "", always(Needs::Tool(tools::update_thread::NAME)), Do::Sweep),
    command(&["runs"], "", "what was triggered and what came of it, what fires next, and what happened lately", "", always(Needs::Tool(tools::find_threads::NAME)), Do::Runs),
    command(&["outbox"], "", "mail that was sent", "", always(Needs::Tool(tools::get_thread::NAME)), Do::Outbox),
    command(&["unsend"], "ID", "take mail back", "/unsend mail:001", always(Needs::Right("mail.send")), Do::Unsend),
    command(&["undo"], "[ID]", "what can be taken back in articles; take it back", "", (Needs::Tool(tools::edit_article::NAME), Needs::Tool(tools::get_article::NAME)), Do::Undo),
    command(&["clock"], "[+2h]", "what time it is; let time pass, for everybody", "", (Needs::Right("agents.write"), Needs::Nothing), Do::Clock),
    command(&["help", "?"], "", "this", "", always(Needs::Nothing), Do::Help),
    command(&["quit", "exit", "q"], "", "leave", "", always(Needs::Nothing), Do::Quit),
];

/// Does a command.
///
/// # Errors
/// In words, for the person.
pub async fn command_line(room: &mut Room, line: &str) -> Result<Did> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let Some(command) = COMMANDS.iter().find(|command| command.names.contains(&name)) else {
        let names = COMMANDS.iter().flat_map(|command| command.names.iter().copied());
        let near = nearest(name, names.filter(|name| name.len() > 1));
        let near = near.map_or(String::new(), |near| format!("; did you mean /{near}?"));
        bail!("there is no command /{name}{near} (/help lists them)")
    };
    let (given, alone) = command.needs;
    needs::check(room, if rest.is_empty() { alone } else { given }, rest, name).await?;
    if rest.is_empty() && !command.example.is_empty() {
        bail!("something is missing; write for example: {}", command.example);
    }
    run(room, command.does, rest).await
}

async fn run(room: &mut Room, does: Do, rest: &str) -> Result<Did> {
    Ok(Did::Said(match does {
        Do::Help => help(),
        Do::Quit => return Ok(Did::Quit),
        Do::Page => placing::page(room, rest)?,
        Do::Open => placing::open(room, rest)?,
        Do::Close => placing::close(room),
        Do::Mention => placing::mention(room, rest)?,
        Do::Tools => placing::tools(room)?,
        Do::Inbox => looking::inbox(room, rest)?,
        Do::Tasks => looking::tasks(room, rest)?,
        Do::Show => looking::show(room, rest).await?,
        Do::Today => looking::today(room).await?,
        Do::Runs => looking::runs(room).await?,
        Do::Outbox => looking::outbox(room)?,
        Do::Waiting => {
            // What was put off is asked again.
            room.later.clear();
            room.look_again().await?;
            room.is_shown().await?;
            match room.questions()? {
                nothing if nothing.is_empty() => "nothing is asked".to_owned(),
                asked => asked,
            }
        }
        Do::Bundles => proposals::all(room).await?,
        Do::Bundle => proposals::one(room, rest).await?,
        Do::Approve => return proposals::approve(room, rest).await,
        Do::Reject => return proposals::reject(room, rest).await,
        Do::Snooze => proposals::snooze(room, rest).await?,
        Do::Renew => proposals::renew(room, rest).await?,
        Do::Inbound => return happening::inbound(room, rest).await,
        Do::Note => return happening::note(room, rest).await,
        Do::Assign => return happening::assign(room, rest).await,
        Do::Tell => return happening::tell(room, rest).await,
        Do::Sweep => return happening::sweep(room).await,
        Do::Unsend => taking_back::unsend(room, rest).await?,
        Do::Undo => taking_back::undo(room, rest).await?,
        Do::Clock => advance(room, rest).await?,
    }))
}

/// What can be typed.
fn help() -> String {
    let mut out = "Lines are said to the copilot. @thread:1001 in a line mentions something.\n".to_owned();
    for command in COMMANDS {
        let name = command.names.first().copied().unwrap_or_default();
        let typed = format!("/{name} {}", command.form);
        let typed = typed.trim_end();
        let gap = if typed.chars().count() > 24 { format!("\n  {:25}", "") } else { String::new() };
        out.push_str(&format!("  {typed:24} {gap}{}\n", command.about));
    }
    out
}

async fn advance(room: &mut Room, rest: &str) -> Result<String> {
    if !rest.is_empty() {
        let by = clock::passing(rest, room.clock.now(), &room.office.means().zone)?;
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

/// The first word of what follows a command, and the rest.
fn split(rest: &str) -> (&str, &str) {
    let (first, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    (first, rest.trim())
}

/// What must be there.
fn needed<'a>(rest: &'a str, example: &str) -> Result<&'a str> {
    if rest.is_empty() {
        bail!("something is missing; write for example: {example}")
    }
    Ok(rest)
}

#[cfg(test)]
mod tests;
