//! What agents proposed, and what is decided about it; and questions that are answered by their name.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use mica_agent::Args;
use mica_domain::approvals::Choice;
use mica_domain::capture::{Bundle, Picked, State, Status};
use pack_desk::office::Ran;
use pack_desk::{deadline, ids};

use super::super::edits;
use super::super::room::{Did, Room};
use super::super::screen::{indented, row};
use super::{needed, split};

/// All bundles.
pub async fn all(room: &Room) -> Result<String> {
    room.office.bundles().sweep().await?;
    let all = room.office.bundles().list().await?;
    if all.is_empty() {
        return Ok("nothing was proposed; /sweep or /inbound has agents look".to_owned());
    }
    Ok(all.iter().map(|bundle| told(room, bundle, false)).collect())
}

/// One bundle, with all that it would do.
pub async fn one(room: &Room, id: &str) -> Result<String> {
    Ok(told(room, &named(room, id).await?, true))
}

/// The bundle that somebody means: by its id, by what it is about, or by a part of its id that no other has.
///
/// # Errors
/// There is none, or several are meant.
pub async fn named(room: &Room, text: &str) -> Result<Bundle> {
    let all = room.office.bundles().list().await?;
    if let Some(bundle) = all.iter().find(|bundle| bundle.id() == text) {
        return Ok(bundle.clone());
    }
    let subject = ids::reduced(text);
    let is_about = |bundle: &&Bundle| bundle.about.subject.as_ref().is_some_and(|about| about.id == subject);
    let is_open = |bundle: &&Bundle| matches!(bundle.state, State::Fresh | State::Snoozed { .. });
    let about: Vec<&Bundle> = all.iter().filter(is_about).collect();
    let open: Vec<&Bundle> = about.iter().copied().filter(is_open).collect();
    let part: Vec<&Bundle> = all.iter().filter(|bundle| bundle.id().contains(text)).collect();
    // What can still be decided goes before what was.
    let fits = [open, about, part].into_iter().find(|fits| !fits.is_empty()).unwrap_or_default();
    match fits.as_slice() {
        [one] => Ok((*one).clone()),
        [] => bail!("there is no proposal, and no question, {text:?}; /bundles and /waiting list them"),
        several => {
            let ids: Vec<&str> = several.iter().map(|bundle| bundle.id()).collect();
            bail!("{text:?} could be {}", ids.join(" or "))
        }
    }
}

/// A bundle, for people.
pub fn told(room: &Room, bundle: &Bundle, long: bool) -> String {
    let station = room.office.station(&room.who);
    let state = match &bundle.state {
        State::Fresh => "waits for you".to_owned(),
        State::Snoozed { until } => format!("snoozed until {}", station.said(*until)),
        State::Stale { .. } => "stale: what it is about changed since".to_owned(),
        State::Approved => "approved".to_owned(),
        State::PartiallyApproved => "approved in part".to_owned(),
        State::Rejected => "rejected".to_owned(),
    };
    let about = bundle.about.subject.as_ref().map(|subject| row(&subject.id)).unwrap_or_default();
    let mut out = format!("{}  {about}  {}: {state}\n", row(bundle.id()), row(&bundle.about.kind));
    if long && !bundle.summary.trim().is_empty() {
        out.push_str(&indented(room.of_agent(&bundle.summary).trim(), 2));
    }
    for action in &bundle.actions {
        let mark = match &action.status {
            Status::Open => "[ ]".to_owned(),
            Status::Picked | Status::Began => "[…]".to_owned(),
            Status::Done { .. } => "[x]".to_owned(),
            Status::Failed { reason } => format!("[✗ {}]", row(reason)),
            Status::Skipped { reason } => format!("[- {}]", row(reason)),
            Status::Unknown { reason } => format!("[? {}]", row(reason)),
        };
        let _ = writeln!(out, "  {mark} {} {}", row(&action.id), row(&action.shown()));
        if !long {
            continue;
        }
        let _ = writeln!(out, "      {}", row(&action.tool));
        for (name, value) in action.arguments() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let fixed = if action.amendable.contains(name) { "" } else { " (fixed)" };
            match text.trim_end().contains('\n') {
                true => drop(write!(out, "        {}{fixed}:\n{}", row(name), indented(&text, 10))),
                false => drop(writeln!(out, "        {}{fixed}: {}", row(name), row(&text))),
            }
        }
        for (name, proposed, _) in action.changes() {
            let text = proposed.map_or_else(
                || "not given".to_owned(),
                |value| match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => value.to_string(),
                },
            );
            let _ = writeln!(out, "        proposed {}: {}", row(name), row(&text));
        }
    }
    out
}

/// What an agent did, for people.
pub fn came(room: &Room, ran: &Ran) -> String {
    let about = ran.about().map(|about| format!(" looked at {}", row(about))).unwrap_or_default();
    let mut out = format!("{}{about} ({})\n", row(&ran.fire.agent), row(ran.outcome()));
    if !ran.summary().trim().is_empty() {
        out.push_str(&indented(room.of_agent(ran.summary()).trim(), 2));
    }
    if let Some(problem) = ran.problem() {
        let _ = writeln!(out, "  ✗ {}", row(problem));
    }
    if let Some(bundle) = &ran.bundle {
        out.push_str(&told(room, bundle, false));
    }
    out
}

/// Does a bundle, or some of it; or says yes to a question.
pub async fn approve(room: &mut Room, rest: &str) -> Result<Did> {
    let (id, more) = split(rest);
    if let Some(ask) = room.named(id)? {
        let mut changes = Args::new();
        for word in edits::words(more)? {
            let (name, value) = word.split_once('=').ok_or_else(|| {
                anyhow!("{word:?} is no change; write for example: /approve {id} body=\"Hello Ana\"")
            })?;
            changes.insert(name.to_owned(), edits::value(value, ask.arguments.get(name))?);
        }
        return room.answer_named(id, Choice::Approve { edits: changes }).await;
    }
    let bundle = named(room, id).await?;
    let picked = picked(&bundle, &edits::words(more)?)?;
    let applied = room.office.apply(&room.who, bundle.id(), &picked).await?;
    Ok(Did::Said(told(room, &applied, false)))
}

/// What words pick of a bundle: all of it, or the actions that they name, changed by the `NAME=VALUE` behind them.
fn picked(bundle: &Bundle, words: &[String]) -> Result<Picked> {
    let mut picked = Picked::default();
    let mut last: Option<&str> = None;
    for word in words {
        if let Some(action) = bundle.action(word) {
            picked.0.extend(Picked::some([action.id.as_str()]).0);
            last = Some(word);
            continue;
        }
        let known = || bundle.actions.iter().map(|action| action.id.as_str()).collect::<Vec<_>>().join(", ");
        let Some((name, value)) = word.split_once('=') else {
            bail!("{} has no action {word:?}; it has: {}", bundle.id(), known())
        };
        let Some(action) = last.and_then(|last| bundle.action(last)) else {
            bail!("name the action before what changes in it: one of {}", known())
        };
        let value = edits::value(value, action.arguments().get(name))?;
        picked = picked.editing(&action.id, name, value);
    }
    Ok(if picked.0.is_empty() { Picked::all(bundle) } else { picked })
}

/// Says no to a bundle, or to a question.
pub async fn reject(room: &mut Room, rest: &str) -> Result<Did> {
    let (id, why) = split(rest);
    let why = if why.is_empty() { "no" } else { why };
    if room.named(id)?.is_some() {
        return room.answer_named(id, Choice::Reject { reason: why.to_owned() }).await;
    }
    let bundle = named(room, id).await?;
    let rejected = room.office.bundles().reject(bundle.id(), why, &room.person()?, room.clock.now()).await?;
    Ok(Did::Said(told(room, &rejected, false)))
}

/// Puts the decision off.
pub async fn snooze(room: &Room, rest: &str) -> Result<String> {
    let (id, when) = split(rest);
    let when = needed(when, "/snooze ID tomorrow 9am")?;
    let now = room.clock.now();
    let until = deadline::parse(when, now, &room.office.means().zone)?;
    if until <= now {
        bail!("{when:?} is over already; say for example `tomorrow 9am` or `in 3 days`");
    }
    let bundle = named(room, id).await?;
    let snoozed = room.office.bundles().snooze(bundle.id(), until, &room.person()?, now).await?;
    Ok(told(room, &snoozed, false))
}

/// Says that a bundle counts although something changed since.
pub async fn renew(room: &Room, id: &str) -> Result<String> {
    let bundle = named(room, id).await?;
    let renewed = room.office.bundles().renew(bundle.id(), &room.person()?, room.clock.now()).await?;
    Ok(told(room, &renewed, false))
}
