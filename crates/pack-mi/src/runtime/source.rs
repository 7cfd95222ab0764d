//! From what a server says to places in the project: artifacts by name, mediators by class, Java by frame.
//!
//! A server names artifacts and classes, never files. The project knows which file defines what, and where in it a
//! mediator stands; what is not certain is told as such.

use std::path::Path;
use std::sync::OnceLock;

use serde::Deserialize;
use synapse_lang::diagnostic::Severity;
use synapse_lang::model::RefKind;
use synapse_lang::outline::{self, ItemKind};
use synapse_lang::project::{File, Project, disk};
use synapse_lang::text::{Span, Unit};

use super::server_logs::{Artifact, Entry};

/// Places of one entry at most: beyond that it is no help.
const PLACES: usize = 4;

/// A place in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Relative to the project.
    pub(super) file: String,
    pub(super) line: u32,
    /// What is there.
    pub(super) what: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} ({})", self.file, self.line, self.what)
    }
}

/// Where an entry comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The places, the likeliest first. More than one: it is one of them.
    pub(super) places: Vec<Place>,
}

/// The sources of a project.
pub(super) struct Sources {
    project: Project,
}

#[derive(Deserialize)]
struct Tables {
    mediators: std::collections::BTreeMap<String, String>,
    foreign: Vec<String>,
    message: Vec<Message>,
}

/// What a message says about a name.
#[derive(Deserialize)]
struct Message {
    before: String,
    #[serde(default)]
    after: String,
    kind: String,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    let empty = || Tables { mediators: Default::default(), foreign: Vec::new(), message: Vec::new() };
    // A test reads it; should it ever not be readable, fewer places are found.
    TABLES.get_or_init(|| toml::from_str(include_str!("source/tables.toml")).unwrap_or_else(|_| empty()))
}

/// Whether a class is the project's own, and not the server's, Java's or a library's.
pub(super) fn is_own(class: &str) -> bool {
    !tables().foreign.iter().any(|package| class.starts_with(package.as_str()))
}

/// The element that a class of the server runs.
fn element_of(class: &str) -> Option<&'static str> {
    let short = class.rsplit(['.', '$']).next().unwrap_or(class);
    tables().mediators.get(short).map(String::as_str)
}

impl Sources {
    /// The sources of a folder; nothing when it cannot be read.
    pub(super) fn read(root: &Path) -> Option<Self> {
        Some(Self { project: disk::read(root).ok()? })
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut project = Project::default();
        for (path, text) in files {
            project.set(*path, *text);
        }
        Self { project }
    }

    /// Where an entry comes from.
    pub(super) fn origin(&self, entry: &Entry) -> Origin {
        let mut places = self.java(entry);
        if places.is_empty() {
            places = self.deployment(entry);
        }
        if places.is_empty() {
            places = self.named(entry);
        }
        let step = self.step(entry);
        // Code of the project says where it failed; the step says who called it.
        places.extend(step);
        places.dedup();
        let mut once: Vec<Place> = Vec::new();
        for place in places {
            if !once.iter().any(|one| (&one.file, one.line) == (&place.file, place.line)) {
                once.push(place);
            }
        }
        once.truncate(PLACES);
        Origin { places: once }
    }

    /// Frames of the project's own classes.
    fn java(&self, entry: &Entry) -> Vec<Place> {
        let mut places = Vec::new();
        for frame in entry.frames().filter(|frame| is_own(&frame.class)) {
            let Some(line) = frame.line else { continue };
            let outer = frame.class.split('$').next().unwrap_or(&frame.class);
            let tail = format!("src/main/java/{}.java", outer.replace('.', "/"));
            if let Some(file) = self.project.other_files().find(|path| path.ends_with(&tail)) {
                let short = outer.rsplit('.').next().unwrap_or(outer);
                places.push(Place { file: file.to_owned(), line, what: format!("{short}.{}", frame.method) });
                // The first one is where it failed.
                break;
            }
        }
        places
    }

    /// An artifact that could not be deployed: its file, and in it what the checks say or what the message names.
    fn deployment(&self, entry: &Entry) -> Vec<Place> {
        let texts = std::iter::once(entry.message.as_str())
            .chain(entry.causes.iter().map(|cause| cause.message.as_str()));
        let Some(name) = texts.filter_map(deployed_name).next() else { return Vec::new() };
        let Some((path, file)) = self.find_artifact(name) else { return Vec::new() };
        let mut places = Vec::new();
        for cause in entry.causes.iter().rev() {
            if let Some(element) = named_element(&cause.message) {
                places.extend(elements(path, file, element));
            }
        }
        if places.is_empty() {
            let errors = self.project.check_file(path);
            let errors = errors.iter().filter(|one| one.severity == Severity::Error);
            places = errors
                .map(|one| place(path, file, one.span, format!("{}: {}", one.code, one.message)))
                .collect();
        }
        if places.is_empty() {
            let span = file.document().root().map(|root| root.name_span()).unwrap_or_default();
            places.push(place(path, file, span, format!("artifact {name}")));
        }
        places
    }

    /// The file of an artifact by its name, or by the name of its file.
    fn find_artifact(&self, name: &str) -> Option<(&str, &File)> {
        let defines = |(_, file): &(&str, &File)| file.definitions().iter().any(|one| one.name == name);
        let called = |(path, _): &(&str, &File)| {
            let stem = path.rsplit('/').next().unwrap_or(path);
            stem.strip_suffix(".xml").or_else(|| stem.strip_suffix(".dbs")) == Some(name)
        };
        let is_main = |(path, _): &(&str, &File)| path.contains("src/main/");
        self.project
            .files()
            .filter(is_main)
            .find(called)
            .or_else(|| self.project.files().filter(is_main).find(defines))
    }

    /// Something that the message names and that is written in the project: a key, an expression.
    fn named(&self, entry: &Entry) -> Vec<Place> {
        let texts = || {
            std::iter::once(entry.message.as_str())
                .chain(entry.causes.iter().map(|cause| cause.message.as_str()))
        };
        for text in texts() {
            for pattern in &tables().message {
                let Some((_, rest)) = text.split_once(pattern.before.as_str()) else { continue };
                let name = match pattern.after.as_str() {
                    "" => rest.split([' ', ',', ';']).next().unwrap_or_default().trim_end_matches('.'),
                    after => rest.split(after).next().unwrap_or_default(),
                };
                let name = name.trim().trim_matches(['\'', '"', '[', ']']);
                let Some(kind) = kind_of(&pattern.kind).filter(|_| !name.is_empty()) else { continue };
                let mut places: Vec<Place> = self
                    .project
                    .references(kind, name)
                    .filter_map(|(path, reference)| {
                        let file = self.project.file(path)?;
                        Some(place(path, file, reference.span, format!("names {} {name}", pattern.kind)))
                    })
                    .collect();
                // The artifact that the entry is about comes first.
                if let Some((own, _)) = entry.artifact.as_ref().and_then(|one| self.artifact(one)) {
                    places.sort_by_key(|one| one.file != own);
                }
                if !places.is_empty() {
                    return places;
                }
            }
        }
        texts().find_map(|text| self.expression(text, entry)).unwrap_or_default()
    }

    /// An expression that a message quotes.
    fn expression(&self, text: &str, entry: &Entry) -> Option<Vec<Place>> {
        let start = text.find("${")?;
        let rest = text.get(start..)?;
        let quoted = rest.get(..=rest.find('}')?)?;
        let own = entry.artifact.as_ref().and_then(|one| self.artifact(one)).map(|(path, _)| path.to_owned());
        let mut places = Vec::new();
        for (path, file) in self.project.files() {
            if own.as_deref().is_some_and(|own| own != path) || !path.contains("src/main/") {
                continue;
            }
            for (at, _) in file.document().source().match_indices(quoted) {
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                places.push(place(path, file, Span::at(at), quoted.to_owned()));
            }
        }
        (!places.is_empty()).then_some(places)
    }

    /// The step of the artifact that the classes in the entry name.
    fn step(&self, entry: &Entry) -> Vec<Place> {
        let Some(artifact) = &entry.artifact else { return Vec::new() };
        let Some((path, file)) = self.artifact(artifact) else { return Vec::new() };
        let classes = entry.frames().map(|frame| frame.class.as_str()).chain([entry.logger.as_str()]);
        let mut wanted = classes.filter_map(element_of);
        let own = entry.frames().find(|frame| is_own(&frame.class)).map(|frame| frame.class.as_str());
        let items = outline::outline(file.document());
        let (from, to) = resource(&items, artifact).unwrap_or((0, u32::MAX));
        let steps: Vec<Place> = match wanted.next() {
            None => Vec::new(),
            Some(element) => items
                .iter()
                .filter(|item| matches!(item.kind, ItemKind::Step | ItemKind::Operation))
                .filter(|item| from <= item.span.start && item.span.end <= to)
                .filter(|item| item.label.split(' ').next() == Some(element))
                .filter(|item| element != "class" || own.is_none_or(|own| item.label.ends_with(own)))
                .map(|item| place(path, file, item.name_span, item.label.clone()))
                .collect(),
        };
        if !steps.is_empty() {
            return steps;
        }
        let item = items.iter().find(|item| item.span.start == from).or(items.first());
        item.map(|item| place(path, file, item.name_span, item.label.clone())).into_iter().collect()
    }

    /// The file of an artifact that the server names.
    fn artifact(&self, artifact: &Artifact) -> Option<(&str, &File)> {
        let kinds: &[RefKind] = match artifact.kind.as_str() {
            "api" => &[RefKind::Api],
            "proxy" | "proxyservice" => &[RefKind::Proxy],
            "sequence" => &[RefKind::Sequence],
            "inboundendpoint" | "inbound-endpoint" | "inbound" => &[RefKind::InboundEndpoint],
            "endpoint" => &[RefKind::Endpoint],
            "template" => &[RefKind::Template],
            "dataservice" | "data-service" => &[RefKind::DataService],
            _ => return self.find_artifact(&artifact.name),
        };
        // A versioned API is called `Orders:v1.0.0`.
        let plain = artifact.name.split(":v").next().unwrap_or(&artifact.name);
        for name in [artifact.name.as_str(), plain] {
            for kind in kinds {
                if let Some((path, _)) = self.project.definitions(*kind, name).next() {
                    return Some((path, self.project.file(path)?));
                }
            }
        }
        None
    }
}

/// The part of an API that a request went to: `GET /orders/7` of `resource GET /{id}`.
fn resource(items: &[outline::Item], artifact: &Artifact) -> Option<(u32, u32)> {
    let method = artifact.detail.split(' ').next().filter(|one| !one.is_empty())?;
    let fits = |item: &&outline::Item| {
        let mut words = item.label.split(' ');
        words.next() == Some("resource") && words.any(|word| word == method)
    };
    let mut found = items.iter().filter(fits);
    let first = found.next()?;
    // Two with the same method: which one cannot be told.
    found.next().is_none().then_some((first.span.start, first.span.end))
}

/// `… Deployment from the file : …/Orders_1.0.0/Orders-1.0.0.xml : Failed.`
fn deployed_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("from the file : ").or_else(|| text.split_once("from the file: "))?;
    let path = rest.split(" : ").next()?.trim();
    let name = path.rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".xml").or_else(|| name.strip_suffix(".dbs")).unwrap_or(name);
    let version = name.match_indices('-').find(|(at, _)| {
        name.get(at + 1..)
            .is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()) && rest.contains('.'))
    });
    Some(version.and_then(|(at, _)| name.get(..at)).unwrap_or(name))
}

/// `… configuration element : {http://ws.apache.org/ns/synapse}event`.
fn named_element(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("{http://ws.apache.org/ns/synapse}")?;
    let name = rest.split(|one: char| !(one.is_alphanumeric() || "-_.".contains(one))).next()?;
    let name = name.trim_end_matches('.');
    (!name.is_empty()).then_some(name)
}

fn elements(path: &str, file: &File, name: &str) -> Vec<Place> {
    let all = file.document().elements().filter(|element| element.local() == name);
    all.map(|element| place(path, file, element.name_span(), outline::label(element))).collect()
}

fn place(path: &str, file: &File, span: Span, what: String) -> Place {
    let document = file.document();
    let line = document.lines().position(document.source(), span.start, Unit::Scalar).line + 1;
    Place { file: path.to_owned(), line, what }
}

fn kind_of(word: &str) -> Option<RefKind> {
    Some(match word {
        "endpoint" => RefKind::Endpoint,
        "sequence" => RefKind::Sequence,
        "template" => RefKind::Template,
        "connection" => RefKind::Connection,
        "local entry" => RefKind::LocalEntry,
        "resource" => RefKind::Resource,
        "message store" => RefKind::MessageStore,
        "class" => RefKind::Class,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
