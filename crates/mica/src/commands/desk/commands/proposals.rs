//! What agents proposed, and what is decided about it; and questions that are answered by their name.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use mica_agent::Args;
use mica_domain::approvals::{Choice, Deed};
use mica_domain::capture::{Action, Bundle, Outdated, Picked, State, Status};
use pack_desk::office::Ran;
use pack_desk::{deadline, ids};

use super::super::edits;
use super::super::room::{Did, Room};
use super::super::screen::{indented, row};
use super::{needed, split};

/// What is kept as the reason of a no that had none.
const NO: &str = "no";

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
    let is_left = |bundle: &&Bundle| {
        let is_begun = matches!(bundle.state, State::PartiallyApproved | State::Approved);
        is_begun && bundle.actions.iter().any(Action::is_open)
    };
    let about: Vec<&Bundle> = all.iter().filter(is_about).collect();
    let open: Vec<&Bundle> = about.iter().copied().filter(is_open).collect();
    let left: Vec<&Bundle> = about.iter().copied().filter(is_left).collect();
    let part: Vec<&Bundle> = all.iter().filter(|bundle| bundle.id().contains(text)).collect();
    // What can still be decided goes before what was.
    let fits = [open, left, about, part].into_iter().find(|fits| !fits.is_empty()).unwrap_or_default();
    match fits.as_slice() {
        [one] => Ok((*one).clone()),
        [] => match room.ended(text) {
            Some(ended) => bail!(ended),
            None => bail!("there is no proposal, and no question, {text:?}; /bundles and /waiting list them"),
        },
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
        State::Stale { because: Outdated::Activity } => "stale: what it is about changed since".to_owned(),
        State::Stale { because: Outdated::Superseded { by } } => format!("stale: {} took its place", row(by)),
        State::Approved => format!("approved{}", but(bundle)),
        State::PartiallyApproved => format!("approved in part{}", but(bundle)),
        State::Rejected
            if bundle.actions.iter().any(|action| matches!(action.status, Status::Done { .. })) =>
        {
            format!("approved in part, the rest rejected{}", why_not(bundle))
        }
        State::Rejected => format!("rejected{}", why_not(bundle)),
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

/// Why somebody said no, as far as they said so.
fn why_not(bundle: &Bundle) -> String {
    let reason = bundle.trail.iter().rev().find_map(|trace| match &trace.deed {
        Deed::Rejected { reason } => Some(reason),
        _ => None,
    });
    reason.filter(|reason| *reason != NO).map(|reason| format!(": {}", row(reason))).unwrap_or_default()
}

/// What of an approved bundle was not done, in a few words.
fn but(bundle: &Bundle) -> String {
    let count = |is: fn(&Status) -> bool| bundle.actions.iter().filter(|action| is(&action.status)).count();
    let counts = [
        (count(|status| matches!(status, Status::Failed { .. })), "failed"),
        (count(|status| matches!(status, Status::Skipped { .. })), "left out because of that"),
        (count(|status| matches!(status, Status::Unknown { .. })), "in doubt"),
    ];
    let words: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if words.is_empty() { String::new() } else { format!(", but {}", words.join(", ")) }
}

/// What of these actions was not done, each with why.
fn undone(bundle: &Bundle, picked: &Picked) -> Vec<String> {
    let actions = picked.0.iter().filter_map(|pick| bundle.action(&pick.action));
    let one = |action: &Action| {
        let (what, reason) = match &action.status {
            Status::Failed { reason } => ("was not done", reason),
            Status::Skipped { reason } => ("was left out", reason),
            Status::Unknown { reason } => ("may have been done or not", reason),
            Status::Open | Status::Picked | Status::Began | Status::Done { .. } => return None,
        };
        Some(format!("{} ({}) {what}: {}", row(&action.id), row(&action.tool), row(reason)))
    };
    actions.filter_map(one).collect()
}

/// What an agent did, for people.
pub fn came(room: &Room, ran: &Ran) -> String {
    let about = ran.about().map(|about| format!(" looked at {}", row(about))).unwrap_or_default();
    let mut out = format!("{}{about} ({})\n", row(&ran.fire.agent), row(ran.outcome()));
    // What is proposed stands below, action by action.
    let proposal = ran.bundle.as_ref().map(Bundle::proposal).unwrap_or_default();
    let summary = ran.summary().trim().strip_suffix(&proposal).unwrap_or(ran.summary());
    if !summary.trim().is_empty() {
        out.push_str(&indented(room.of_agent(summary).trim(), 2));
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
    let missing = undone(&applied, &picked);
    let mut text = told(room, &applied, false);
    let failed = |action: &&Action| {
        let is_picked = picked.0.iter().any(|pick| pick.action == action.id);
        is_picked && action.is_open() && action.status != Status::Open
    };
    let again: Vec<&str> = applied.actions.iter().filter(failed).map(|action| action.id.as_str()).collect();
    if !again.is_empty() {
        let _ = writeln!(text, "  /approve {} {} tries again", row(applied.id()), row(&again.join(" ")));
    }
    Ok(Did::told(text, missing))
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
    let why = if why.is_empty() { NO } else { why };
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
