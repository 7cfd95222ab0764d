//! Entries made into a report: what was deployed, and what failed, by artifact, each once with its count.

use std::collections::BTreeMap;

use super::super::arguments::{count, shortened};
use super::super::source::{Sources, is_own};
use super::entry::{Entry, Level};

/// Groups that are told.
const GROUPS: usize = 40;
/// Bytes of a message that are told.
const MESSAGE: usize = 600;
/// Warnings that are told: they matter less than errors.
const WARNINGS: usize = 15;

/// What became of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deployment {
    /// It runs.
    Deployed(String),
    /// It was taken away.
    Undeployed(String),
    /// It does not run, and why.
    Failed(String, String),
    /// There was nothing in it for this server.
    Empty(String),
}

impl Deployment {
    /// The archive.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Deployed(name) | Self::Undeployed(name) | Self::Failed(name, _) | Self::Empty(name) => name,
        }
    }

    /// What an entry says about an archive.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let behind = |words: &str| entry.message.split_once(words).map(|(_, rest)| rest.trim());
        if let Some(name) = behind("Successfully Deployed Carbon Application : ") {
            return Some(Self::Deployed(archive(name)));
        }
        if let Some(name) = behind("Successfully undeployed Carbon Application : ")
            .or_else(|| behind("Successfully Undeployed Carbon Application : "))
        {
            return Some(Self::Undeployed(archive(name)));
        }
        if let Some(name) = behind("Ignoring Carbon Application : ") {
            return Some(Self::Empty(archive(name)));
        }
        let failed = behind("Error occurred while deploying the Carbon application: ")
            .or_else(|| behind("Error occurred while deploying the Carbon application : "))
            .or_else(|| behind("Error while deploying carbon application "))?;
        let why = entry.root().map_or_else(
            || entry.message.clone(),
            |cause| if cause.message.is_empty() { cause.class.clone() } else { cause.message.clone() },
        );
        Some(Self::Failed(archive(failed), why))
    }
}

/// `orders_1.0.0` of `/path/orders_1.0.0.car. Reverting …`, or of `orders_1.0.0 {super-tenant}`.
fn archive(text: &str) -> String {
    let name = text.split([' ', '{']).next().unwrap_or(text);
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).trim_end_matches(['.', ',']);
    name.strip_suffix(".car").unwrap_or(name).to_owned()
}

/// What became of archives, in order.
pub(crate) fn deployments(entries: &[Entry]) -> Vec<(&Entry, Deployment)> {
    entries.iter().filter_map(|entry| Some((entry, Deployment::of(entry)?))).collect()
}

/// What a filter looks at.
pub(super) fn searched(entry: &Entry) -> String {
    let mut text = format!("{} {} ", entry.logger, entry.mediator.as_deref().unwrap_or_default());
    if let Some(artifact) = &entry.artifact {
        text.push_str(&format!("{{{}:{} {}}} ", artifact.kind, artifact.name, artifact.detail));
    }
    text.push_str(&entry.message);
    for cause in &entry.causes {
        text.push_str(&format!("\n{}: {}", cause.class, cause.message));
        for frame in &cause.frames {
            text.push_str(&format!("\n{}.{}", frame.class, frame.method));
        }
    }
    text
}

/// Entries that say the same.
struct Group<'a> {
    first: &'a Entry,
    last: &'a Entry,
    times: usize,
}

/// The report.
pub(super) fn digest(entries: &[Entry], sources: Option<&Sources>, frames: usize) -> String {
    let mut told: Vec<String> = Vec::new();
    told.extend(deployment_section(entries, sources, frames));
    let errors: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.level == Level::Error && Deployment::of(entry).is_none())
        .collect();
    told.extend(section("error", &errors, GROUPS, sources, frames));
    let warnings: Vec<&Entry> = entries
        .iter()
        .filter(|entry| entry.level == Level::Warn && Deployment::of(entry).is_none())
        .collect();
    told.extend(section("warning", &warnings, WARNINGS, sources, frames));
    let others = entries.iter().filter(|entry| entry.level < Level::Warn).count();
    if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
        told.push(format!(
            "{} from {} to {}, {others} of them only inform.",
            match entries.len() {
                1 => "1 entry".to_owned(),
                many => format!("{many} entries"),
            },
            first.time,
            last.time
        ));
    }
    told.join("\n")
}

fn deployment_section(entries: &[Entry], sources: Option<&Sources>, frames: usize) -> Vec<String> {
    let all = deployments(entries);
    if all.is_empty() {
        return Vec::new();
    }
    let mut told = vec!["Deployments:".to_owned()];
    // The last word about each archive counts.
    let mut last: BTreeMap<&str, &(&Entry, Deployment)> = BTreeMap::new();
    for one in &all {
        last.insert(one.1.name(), one);
    }
    for (entry, deployment) in last.values() {
        let time = clock(&entry.time);
        told.push(match deployment {
            Deployment::Deployed(name) => format!("  {name}: deployed at {time}"),
            Deployment::Undeployed(name) => format!("  {name}: undeployed at {time}"),
            Deployment::Empty(name) => {
                format!("  {name}: ignored at {time}, there is nothing in it for this server")
            }
            Deployment::Failed(name, why) => {
                format!("  {name}: FAILED at {time}: {}", shortened(why, MESSAGE))
            }
        });
        if matches!(deployment, Deployment::Failed(..)) {
            told.extend(explained(entry, sources, frames, Says::Chain));
        }
    }
    told
}

fn section(
    what: &str,
    entries: &[&Entry],
    most: usize,
    sources: Option<&Sources>,
    frames: usize,
) -> Vec<String> {
    if entries.is_empty() {
        return Vec::new();
    }
    let mut order: Vec<String> = Vec::new();
    let mut groups: BTreeMap<String, Group<'_>> = BTreeMap::new();
    for entry in entries {
        let key = key(entry);
        match groups.get_mut(&key) {
            Some(group) => (group.last, group.times) = (entry, group.times + 1),
            None => {
                order.push(key.clone());
                groups.insert(key, Group { first: entry, last: entry, times: 1 });
            }
        }
    }
    let times = count(entries.len(), what);
    let kinds =
        if order.len() == entries.len() { String::new() } else { format!(", {} different", order.len()) };
    let mut told =
        vec![format!("{}{}{kinds}:", times.get(..1).unwrap_or_default(), times.get(1..).unwrap_or_default())];
    let mut by_artifact: Vec<(String, Vec<&Group<'_>>)> = Vec::new();
    for group in order.iter().take(most).filter_map(|key| groups.get(key)) {
        let of = owner(group.first);
        match by_artifact.iter_mut().find(|(name, _)| *name == of) {
            Some((_, of_artifact)) => of_artifact.push(group),
            None => by_artifact.push((of, vec![group])),
        }
    }
    for (artifact, of_artifact) in by_artifact {
        told.push(format!("{artifact}:"));
        for group in of_artifact {
            told.push(format!("  {}{} {}", repeated(group), group.first.short_logger(), said(group.first)));
            told.extend(explained(group.first, sources, frames, Says::Root));
        }
    }
    if order.len() > most {
        told.push(format!("  … and {} more kinds", order.len() - most));
    }
    told
}

/// `×3 10:20:30–10:25:01`.
fn repeated(group: &Group<'_>) -> String {
    let first = clock(&group.first.time);
    if group.times == 1 {
        return format!("{first} ");
    }
    format!("×{} {first}–{} ", group.times, clock(&group.last.time))
}

/// The time of the day.
fn clock(time: &str) -> &str {
    let time = time.split([' ', 'T']).nth(1).unwrap_or(time);
    time.split([',', '.']).next().unwrap_or(time)
}

fn said(entry: &Entry) -> String {
    shortened(&entry.message, MESSAGE)
}

/// Which exceptions are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// The innermost.
    Root,
    /// What stands above says the innermost already.
    Chain,
}

/// The cause, frames of the project's own code, and places in it.
fn explained(entry: &Entry, sources: Option<&Sources>, frames: usize, says: Says) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(mediator) = &entry.mediator {
        told.push(format!("    in {mediator}"));
    }
    if let Some(cause) = entry.root().filter(|_| says == Says::Root) {
        let message = if cause.message.is_empty() {
            String::new()
        } else {
            format!(": {}", shortened(&cause.message, MESSAGE))
        };
        told.push(format!("    cause: {}{message}", cause.class));
    }
    for frame in entry.frames().filter(|frame| is_own(&frame.class)).take(frames) {
        let file = frame.file.as_deref().unwrap_or("unknown source");
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        told.push(format!("    at {}.{}({file}{line})", frame.class, frame.method));
    }
    let places = sources.map(|sources| sources.origin(entry).places).unwrap_or_default();
    match places.as_slice() {
        [] => {}
        [one] => told.push(format!("    place: {one}")),
        many => {
            let many: Vec<String> = many.iter().map(ToString::to_string).collect();
            told.push(format!("    places: {}", many.join("; ")));
        }
    }
    told
}

fn owner(entry: &Entry) -> String {
    match &entry.artifact {
        Some(artifact) => format!("{} {}", artifact.kind, artifact.name),
        None => "the server".to_owned(),
    }
}

/// What makes two entries the same: numbers, ids and quotations of a message differ from request to request.
fn key(entry: &Entry) -> String {
    let cause =
        entry.root().map(|cause| format!("{}{}", cause.class, plain(&cause.message))).unwrap_or_default();
    format!("{:?}|{}|{}|{}|{cause}", entry.level, entry.logger, owner(entry), plain(&entry.message))
}

/// Without numbers and ids.
fn plain(text: &str) -> String {
    let is_id = |word: &str| {
        let long = word.len() >= 8 && word.chars().all(|one| one.is_ascii_hexdigit() || one == '-');
        long && word.chars().any(|one| one.is_ascii_digit())
    };
    let mut out = String::new();
    for word in text.split_inclusive(|one: char| !(one.is_alphanumeric() || one == '-')) {
        let bare = word.trim_end_matches(|one: char| !(one.is_alphanumeric() || one == '-'));
        if is_id(bare) || bare.chars().all(|one| one.is_ascii_digit()) {
            out.push('#');
            out.push_str(word.get(bare.len()..).unwrap_or_default());
        } else {
            out.extend(word.chars().map(|one| if one.is_ascii_digit() { '#' } else { one }));
        }
    }
    out
}

#[cfg(test)]
mod tests;
