//! From what a person types to the session or the entry that they mean. What is not there, or not the only one, is
//! answered with what could be meant.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use jiff::Timestamp;
use mica_session::{EntryId, Node, Sessions, Summary, Tree};

use super::list::{age, clip};

/// Candidates that are listed at most.
const LISTED: usize = 8;

/// The session that a text names: by its id, or by the beginning or the end of it.
///
/// # Errors
/// When there is none or more than one, with those that could be meant.
#[allow(clippy::disallowed_methods, reason = "the binary knows the time")]
pub fn session(sessions: &Sessions, given: &str) -> Result<PathBuf> {
    let mut found = sessions.matching(given);
    if found.len() == 1
        && let Some(path) = found.pop()
    {
        return Ok(path);
    }
    let now = Timestamp::now();
    if found.is_empty() {
        let all = sessions.list(None).sessions;
        if all.is_empty() {
            bail!("there is no session {given:?}: there are none at all yet");
        }
        bail!(
            "no session has an id that begins or ends with {given:?}; the newest are:\n{}",
            rows(&all, now)
        );
    }
    let mut candidates: Vec<Summary> = found.iter().filter_map(|path| sessions.summary(path).ok()).collect();
    candidates.sort_by_key(|summary| std::cmp::Reverse(summary.changed));
    bail!(
        "{given:?} could be any of {} sessions; give more of one's id:\n{}",
        found.len(),
        rows(&candidates, now)
    )
}

fn rows(candidates: &[Summary], now: Timestamp) -> String {
    let mut out = String::new();
    for summary in candidates.iter().take(LISTED) {
        let title = clip(summary.title(), 50);
        let _ = writeln!(out, "  {}  {:>6}  {title}", summary.id.short(), age(now, summary.changed));
    }
    more(&mut out, candidates.len());
    out.trim_end().to_owned()
}

fn more(out: &mut String, all: usize) {
    if all > LISTED {
        let _ = writeln!(out, "  … and {} more", all - LISTED);
    }
}

/// The place in a conversation that a text names: an entry by its id, the beginning or the end of it, or its label;
/// `leaf` is where the conversation stands; `start` is before the first entry, and `None`.
///
/// # Errors
/// As [`session`].
pub fn place(tree: &Tree, given: &str) -> Result<Option<EntryId>> {
    match given {
        "start" => return Ok(None),
        "leaf" => return Ok(tree.leaf()),
        _ => {}
    }
    let mut found = tree.find(given);
    if found.is_empty() {
        let labelled =
            |node: &&Node| tree.label(node.id).is_some_and(|label| label.eq_ignore_ascii_case(given));
        found = tree.nodes().iter().filter(labelled).collect();
    }
    match found.as_slice() {
        [one] if one.kind.is_aside() => {
            bail!("{given:?} is no entry of the conversation but a remark on one: name that")
        }
        [one] => Ok(Some(one.id)),
        [] => {
            let mut last: Vec<&Node> =
                tree.branch().into_iter().filter(|node| super::tree::speaks(node.kind)).collect();
            last.reverse();
            if last.is_empty() {
                bail!("there is no entry {given:?}: the session has none yet");
            }
            bail!(
                "no entry has the label {given:?}, or an id that begins or ends so; the last ones are:\n{}",
                entries(&last)
            )
        }
        several => bail!(
            "{given:?} could be any of {} entries; give more of one's id:\n{}",
            several.len(),
            entries(several)
        ),
    }
}

/// As [`place`], for what needs an entry that people can see: `leaf` is the last one that was said.
///
/// # Errors
/// Also for the place before the first entry.
pub fn entry(tree: &Tree, given: &str) -> Result<EntryId> {
    if given == "leaf"
        && let Some(said) = tree.branch().iter().rev().find(|node| super::tree::speaks(node.kind))
    {
        return Ok(said.id);
    }
    match place(tree, given)? {
        Some(id) => Ok(id),
        None => bail!("there is no entry at {given:?}: the conversation is empty there"),
    }
}

fn entries(nodes: &[&Node]) -> String {
    let mut out = String::new();
    for node in nodes.iter().take(LISTED) {
        let _ = writeln!(
            out,
            "  {}  {:<9}  {}",
            node.id.short(),
            super::tree::who(node.kind),
            clip(&node.preview, 50)
        );
    }
    more(&mut out, nodes.len());
    out.trim_end().to_owned()
}
