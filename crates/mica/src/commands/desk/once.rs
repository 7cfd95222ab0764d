//! Says or does some things at the desk, and leaves: for scripts.
//!
//! Promise: the exit code says how it stands at the end. When something is asked, it is 4, and what is said tells how to
//! answer.

use std::collections::VecDeque;
use std::time::Duration;

use anyhow::Result;
use mica_agent::{Args, Outcome};
use mica_domain::approvals::Choice;
use mica_domain::keeping::word;
use serde_json::{Value, json};

use super::flags;
use super::lines::From;
use super::room::{Did, Room, Spoke, why};
use super::stopping::{Ended, Scope, Stop};
use super::talking::{Asking, hurry};
use crate::cli::desk::DeskFlags;
use crate::cli::given::{Given, typed};
use crate::cli::{Form, RunFlags};
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

impl Step<'_> {
    /// How it is called, for people and programs.
    fn said(&self) -> String {
        match self {
            Step::Answer(name, _) => format!("answer {name}"),
            Step::Line(line) => (*line).to_owned(),
        }
    }

    /// Whether it is said to the copilot, which withdraws what that asked.
    fn is_words(&self) -> bool {
        matches!(self, Step::Line(line) if !line.starts_with('/'))
    }
}

/// Says or does some things, and leaves. What was asked by one of them is not withdrawn by what would be said next: that is
/// not said.
///
/// # Errors
/// Data that cannot be used.
pub async fn once(room: &mut Room, flags: &DeskFlags, run: &RunFlags, asking: Asking) -> Result<Exit> {
    if flags.format == Form::Json {
        room.screen.keep();
    }
    let stop = Stop::of(room);
    let mut from = From::pipe();
    let (mut done, mut news) = (Vec::new(), Vec::new());
    let (mut exit, mut suspended) = (Exit::Done, false);
    let mut steps: VecDeque<Step<'_>> = steps(flags).into();
    while let Some(step) = steps.pop_front() {
        if suspended && step.is_words() && !room.open_questions()?.is_empty() {
            steps.push_front(step);
            break;
        }
        let scope = match &step {
            Step::Line(line) if line.starts_with('/') => Scope::Agents,
            Step::Answer(..) | Step::Line(_) => Scope::Conversation,
        };
        news.extend(room.screen.take());
        let said = step.said();
        let (did, is_stopped) = match stop.attend(&mut from, scope, take(room, step, asking)).await {
            Ended::Done(did) => (did, false),
            Ended::Stopped(did) => (did, true),
            Ended::Left => return hurry(room, &stop).await,
        };
        if let Ok(Did::Quit) = did {
            break;
        }
        // What the step itself said stands with it.
        room.screen.take();
        let (row, ended) = told(room, flags.format, &said, did);
        let ended = if is_stopped { Exit::Aborted } else { ended };
        done.push(row);
        suspended |= ended == Exit::NeedsApproval;
        if ended != Exit::Done {
            exit = ended;
        }
        if matches!(ended, Exit::Error | Exit::Aborted) {
            break;
        }
        // What agents and the background did since is told, too.
        match stop.attend(&mut from, Scope::Conversation, room.settle()).await {
            Ended::Done(settled) => settled?,
            Ended::Stopped(_) => {
                exit = Exit::Aborted;
                break;
            }
            Ended::Left => return hurry(room, &stop).await,
        }
    }
    let unsaid: Vec<String> = steps.iter().map(Step::said).collect();
    if !matches!(exit, Exit::Error | Exit::Aborted) {
        // What was begun in the background is waited for a little: the next start would go on with it.
        match stop.attend(&mut from, Scope::Conversation, background(room)).await {
            Ended::Done(waited) => waited?,
            Ended::Stopped(_) => exit = Exit::Aborted,
            Ended::Left => return hurry(room, &stop).await,
        }
    }
    room.look_again().await?;
    let waiting = room.questions_as_data()?;
    if flags.format == Form::Json || suspended {
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
        lines.line(&json!({
            "did": done, "unsaid": unsaid, "news": news, "waiting": waiting, "page": room.page, "member": room.who,
        }));
        return Ok(exit);
    }
    if suspended && !waiting.is_empty() {
        room.screen.complain(&room.questions()?);
        room.screen.complain(&how_to_answer(flags, run, &waiting));
    }
    if !unsaid.is_empty() {
        let unsaid: Vec<String> = unsaid.iter().map(|line| format!("{line:?}")).collect();
        room.screen.complain(&format!("desk: this was not said or done any more: {}", unsaid.join(", ")));
    }
    Ok(exit)
}

/// Says what went wrong before anything could be said, for programs.
pub fn broken(problem: &anyhow::Error) {
    JsonLines::new(std::io::stdout()).line(&json!({ "did": [], "error": format!("{problem:#}") }));
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
    let say = |text: &str| {
        if format == Form::Text {
            room.screen.tell(text);
        }
    };
    match did {
        Ok(Did::Quit) => (json!({ "line": line }), Exit::Done),
        Ok(Did::Said(text)) => {
            say(&text);
            (json!({ "line": line, "said": text.trim_end() }), Exit::Done)
        }
        Ok(Did::Asks(text)) => {
            say(&text);
            (json!({ "line": line, "said": text.trim_end() }), Exit::NeedsApproval)
        }
        Ok(Did::Short { text, missing }) => {
            say(&text);
            missing.iter().for_each(|missing| room.screen.complain(&format!("desk: {missing}")));
            (json!({ "line": line, "said": text.trim_end(), "error": missing.join("; ") }), Exit::Error)
        }
        Ok(Did::Ran(Spoke { outcome, text, replies, withdrawn, missing })) => {
            let problems: Vec<String> = missing.into_iter().chain(why(&outcome)).collect();
            problems.iter().for_each(|problem| room.screen.complain(&format!("desk: {problem}")));
            let exit = match Exit::from(&outcome) {
                Exit::Done if !problems.is_empty() => Exit::Error,
                exit => exit,
            };
            let mut row = json!({ "line": line, "ended": word(&outcome), "text": text, "replies": replies });
            if !withdrawn.is_empty() {
                row["withdrawn"] = json!(withdrawn);
            }
            if !problems.is_empty() {
                row["error"] = json!(problems.join("; "));
            }
            (row, exit)
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

/// The commands that would answer, each on a row of its own.
fn how_to_answer(flags: &DeskFlags, run: &RunFlags, waiting: &[Value]) -> String {
    let again = flags::again(flags, run);
    let names = |flag: &'static str, is: &dyn Fn(&Value) -> bool| {
        let names = waiting.iter().filter(|one| is(one)).filter_map(|one| one["name"].as_str());
        typed(&names.map(|name| Given::with(flag, name)).collect::<Vec<_>>())
    };
    let yes = names("--approve", &|one| one["may"] == true);
    let no = names("--reject", &|_| true);
    let mut out = "desk: it waits for an answer:\n".to_owned();
    if !yes.is_empty() {
        out.push_str(&format!("  {again}{yes}\n"));
    }
    out.push_str(&format!("  {again}{no} --why 'TEXT'\n"));
    out.push_str(&format!("desk: `{again}` asks it again, and --yes says yes to everything"));
    out
}
