//! Says or does some things at the desk, and leaves: for scripts.
//!
//! Promise: the exit code says how it stands at the end. When something is asked, it is 4, and what is said tells how to
//! answer.

use std::time::Duration;

use anyhow::Result;
use mica_agent::{Args, Outcome};
use mica_domain::approvals::Choice;
use mica_domain::keeping::word;
use serde_json::{Value, json};

use super::lines::From;
use super::room::{Did, Room, Spoke};
use super::stopping::{Ended, Scope, Stop};
use super::talking::Asking;
use crate::cli::Form;
use crate::cli::desk::DeskFlags;
use crate::exit::Exit;
use crate::render::json::JsonLines;

/// How often it is looked whether background work has ended.
const LOOK: Duration = Duration::from_millis(250);
/// How often at most before leaving.
const PATIENCE: u32 = 40;

/// One thing that is to be done.
enum Step<'a> {
    Answer(&'a str, Choice),
    Line(&'a str),
}

/// Says or does some things, and leaves.
///
/// # Errors
/// Data that cannot be used.
pub async fn once(room: &mut Room, flags: &DeskFlags, asking: Asking) -> Result<Exit> {
    if flags.format == Form::Json {
        room.screen.keep();
    }
    let stop = Stop::of(room);
    let mut from = From::pipe();
    let (mut done, mut news) = (Vec::new(), Vec::new());
    let (mut exit, mut suspended) = (Exit::Done, false);
    for step in steps(flags) {
        let (said, scope) = match &step {
            Step::Answer(name, _) => (format!("answer {name}"), Scope::Conversation),
            Step::Line(line) if line.starts_with('/') => ((*line).to_owned(), Scope::Agents),
            Step::Line(line) => ((*line).to_owned(), Scope::Conversation),
        };
        news.extend(room.screen.take());
        let Ended::Done(did) = stop.attend(&mut from, scope, take(room, step, asking)).await else {
            return Ok(Exit::Aborted);
        };
        if let Ok(Did::Quit) = did {
            break;
        }
        // What the step itself said stands with it.
        room.screen.take();
        let (row, ended) = told(room, flags.format, &said, did);
        done.push(row);
        suspended |= ended == Exit::NeedsApproval;
        if ended != Exit::Done {
            exit = ended;
        }
        if matches!(ended, Exit::Error | Exit::Aborted) {
            break;
        }
        // What agents and the background did since is told, too.
        room.settle().await?;
    }
    if !matches!(exit, Exit::Error | Exit::Aborted) {
        // What was begun in the background is waited for a little: the next start would go on with it.
        match stop.attend(&mut from, Scope::Conversation, background(room)).await {
            Ended::Done(waited) => waited?,
            Ended::Left => return Ok(Exit::Aborted),
        }
    }
    room.look_again().await?;
    let waiting = room.questions_as_data()?;
    if flags.format == Form::Json || exit == Exit::NeedsApproval || suspended {
        room.is_shown().await?;
    }
    if suspended && matches!(exit, Exit::Done | Exit::NeedsApproval) {
        // A later step may have answered.
        exit = if waiting.is_empty() { Exit::Done } else { Exit::NeedsApproval };
    }
    if flags.format == Form::Json {
        news.extend(room.screen.take());
        let news: Vec<&str> = news.iter().map(|news| news.trim_end()).collect();
        let lines = JsonLines::new(std::io::stdout());
        lines.line(
            &json!({ "did": done, "news": news, "waiting": waiting, "page": room.page, "member": room.who }),
        );
    } else if exit == Exit::NeedsApproval {
        room.screen.complain(&room.questions()?);
        room.screen.complain(&how_to_answer(flags, &waiting));
    }
    Ok(exit)
}

fn steps(flags: &DeskFlags) -> Vec<Step<'_>> {
    let why = flags.why.clone().unwrap_or_else(|| "no".to_owned());
    let mut all = Vec::new();
    for name in &flags.approve {
        all.push(Step::Answer(name, Choice::Approve { edits: Args::new() }));
    }
    for name in &flags.reject {
        all.push(Step::Answer(name, Choice::Reject { reason: why.clone() }));
    }
    all.extend(flags.say.iter().map(|line| Step::Line(line)));
    all
}

async fn take(room: &mut Room, step: Step<'_>, asking: Asking) -> Result<Did> {
    let mut did = match step {
        Step::Answer(name, choice) => room.answer_named(name, choice).await?,
        Step::Line(line) => room.take(line).await?,
    };
    while let (Did::Ran(spoke), Asking::Nobody) = (&did, asking) {
        if !matches!(spoke.outcome, Outcome::Suspended { .. }) {
            break;
        }
        did = Did::Ran(room.approve_all().await?);
    }
    Ok(did)
}

/// Says what came of a step, and answers it as data, with how the program would end.
fn told(room: &Room, format: Form, line: &str, did: Result<Did>) -> (Value, Exit) {
    match did {
        Ok(Did::Quit) => (json!({ "line": line }), Exit::Done),
        Ok(Did::Said(text)) => {
            if format == Form::Text {
                room.screen.tell(&text);
            }
            (json!({ "line": line, "said": text.trim_end() }), Exit::Done)
        }
        Ok(Did::Ran(Spoke { outcome, text, replies })) => {
            match &outcome {
                Outcome::Completed | Outcome::Suspended { .. } => {}
                Outcome::Exhausted { limit } => room.screen.complain(&format!("desk: stopped: {limit}")),
                Outcome::Aborted => room.screen.complain("desk: stopped"),
                Outcome::Failed { error } => {
                    room.screen.complain(&format!("desk: {}", crate::interactive::for_person(error)));
                }
            }
            let exit = Exit::from(&outcome);
            (json!({ "line": line, "ended": word(&outcome), "text": text, "replies": replies }), exit)
        }
        Err(error) => {
            let problem = format!("{error:#}");
            room.screen.complain(&format!("desk: {problem}"));
            (json!({ "line": line, "error": problem }), Exit::Error)
        }
    }
}

async fn background(room: &mut Room) -> Result<()> {
    for _ in 0..PATIENCE {
        if !room.office.is_watching().await? {
            break;
        }
        tokio::time::sleep(LOOK).await;
        room.settle().await?;
    }
    Ok(())
}

/// The commands that would answer.
fn how_to_answer(flags: &DeskFlags, waiting: &[Value]) -> String {
    let name = waiting.first().and_then(|one| one["name"].as_str()).unwrap_or("NAME");
    let mut same = String::new();
    if let Some(data) = &flags.data {
        same.push_str(&format!(" --data {}", data.display()));
    }
    if flags.member != "member:maya" {
        same.push_str(&format!(" --as {}", flags.member));
    }
    if flags.conversation != "main" {
        same.push_str(&format!(" --conversation {}", flags.conversation));
    }
    format!(
        "desk: it waits for an answer: `mica desk{same} --approve {name}`, or `--reject {name} --why …`; `mica desk{same}` asks it again, \
         and --yes says yes to everything"
    )
}
