//! Entries of a server's log: a line with time, level and logger, and the lines that belong to it.
//!
//! `[2026-05-12 10:20:30,456] ERROR {LogMediator} - {api:Orders} message`, with a tenant in front in older logs and the
//! mediator's id behind the logger in newer ones. An exception follows the message on the same line.

/// Lines of a trace that are kept. What is beyond says where the server itself was.
const TRACE: usize = 400;
/// Bytes of a message.
const MESSAGE: usize = 2_000;

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As it is written: `2026-05-12 10:20:30,456`.
    pub(crate) time: String,
    pub(crate) level: Level,
    /// The class that logs, with or without its package.
    pub(crate) logger: String,
    /// Where in the flow, as newer servers tell it.
    pub(crate) mediator: Option<String>,
    /// The artifact that the entry begins with.
    pub(crate) artifact: Option<Artifact>,
    /// What it says, without the exception.
    pub(crate) message: String,
    /// The exceptions, the outermost first.
    pub(crate) causes: Vec<Cause>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// An artifact that an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Artifact {
    /// `api`, `proxy`, `sequence`, `inboundendpoint`.
    pub(crate) kind: String,
    pub(crate) name: String,
    /// What else is told: `GET /orders/{id}`.
    pub(crate) detail: String,
}

/// An exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Its class.
    pub(crate) class: String,
    pub(crate) message: String,
    pub(crate) frames: Vec<Frame>,
}

/// A frame of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    /// `com.acme.Pricing`.
    pub(crate) class: String,
    pub(crate) method: String,
    /// `Pricing.java`.
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
}

impl Entry {
    /// The exception that everything else comes from.
    pub(crate) fn root(&self) -> Option<&Cause> {
        self.causes.last()
    }

    /// Every frame, the innermost exception's first.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.causes.iter().rev().flat_map(|cause| &cause.frames)
    }

    /// The logger without its package.
    pub(crate) fn short_logger(&self) -> &str {
        self.logger.rsplit('.').next().unwrap_or(&self.logger)
    }
}

/// Reads the entries of a text. What stands before the first one is left out: it belongs to an entry that is not there.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut lines = 0;
    for line in text.lines() {
        if let Some(entry) = begin(line) {
            lines = 0;
            found.push(entry);
        } else if let Some(entry) = found.last_mut() {
            lines += 1;
            if lines <= TRACE {
                fold(entry, line);
            }
        }
    }
    found
}

/// An entry that begins with a line.
fn begin(line: &str) -> Option<Entry> {
    // The tenant: `TID: [-1234] [] [2026-…`.
    let line = match line.strip_prefix("TID:") {
        Some(rest) => rest.get(rest.find("[2").or_else(|| rest.find("[1"))?..)?,
        None => line,
    };
    let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
    if !is_time(time) {
        return None;
    }
    let rest = rest.trim_start();
    let (word, rest) = rest.split_once(' ')?;
    let level = match word {
        "TRACE" | "DEBUG" => Level::Debug,
        "INFO" => Level::Info,
        "WARN" => Level::Warn,
        "ERROR" | "FATAL" => Level::Error,
        _ => return None,
    };
    let (logger, rest) = rest.trim_start().strip_prefix('{')?.split_once('}')?;
    let rest = rest.trim_start();
    let (mediator, rest) = match rest.strip_prefix('{').and_then(|rest| rest.split_once("} - ")) {
        Some((mediator, rest)) if !mediator.contains('}') => (Some(mediator.to_owned()), rest),
        _ => (None, rest.strip_prefix("- ").or_else(|| rest.strip_prefix('-'))?),
    };
    let (artifact, message) = artifact(rest.trim_start());
    let (message, cause) = split_exception(message);
    Some(Entry {
        time: time.to_owned(),
        level,
        logger: logger.to_owned(),
        mediator,
        artifact,
        message: shortened(message),
        causes: cause.into_iter().collect(),
    })
}

/// `2026-05-12 10:20:30,456`.
fn is_time(text: &str) -> bool {
    let shape = |one: char| if one.is_ascii_digit() { '0' } else { one };
    let shape: String = text.chars().map(shape).collect();
    shape.starts_with("0000-00-00 00:00:00") || shape.starts_with("0000-00-00T00:00:00")
}

/// `{api:Orders GET /orders} message`.
fn artifact(text: &str) -> (Option<Artifact>, &str) {
    let Some((inside, rest)) =
        text.strip_prefix('{').and_then(|text| text.split_once("} ").or_else(|| text.split_once('}')))
    else {
        return (None, text);
    };
    let Some((kind, name)) = inside.split_once(':') else { return (None, text) };
    if kind.is_empty() || !kind.chars().all(|one| one.is_ascii_alphanumeric() || one == '-' || one == ' ') {
        return (None, text);
    }
    let (name, detail) = name.trim().split_once(' ').unwrap_or((name.trim(), ""));
    let artifact =
        Artifact { kind: kind.trim().to_ascii_lowercase(), name: name.to_owned(), detail: detail.to_owned() };
    (Some(artifact), rest.trim_start())
}

/// A message and the exception behind it: `could not send java.io.IOException: refused`.
fn split_exception(text: &str) -> (&str, Option<Cause>) {
    let mut at = 0;
    for word in text.split(' ') {
        if let Some(class) = word.strip_suffix(':').or(Some(word)).filter(|word| is_exception(word)) {
            let message = text.get(at + word.len()..).unwrap_or_default().trim();
            let cause = Cause { class: class.to_owned(), message: shortened(message), frames: Vec::new() };
            let before = text.get(..at).unwrap_or_default().trim();
            let before = if before.is_empty() { message } else { before };
            return (before, Some(cause));
        }
        at += word.len() + 1;
    }
    (text, None)
}

/// `org.apache.synapse.SynapseException`: a qualified name whose last part says what it is.
fn is_exception(word: &str) -> bool {
    let last = word.rsplit(['.', '$']).next().unwrap_or_default();
    let ends = ["Exception", "Error", "Fault", "Throwable"].iter().any(|end| last.ends_with(end));
    ends && word.contains('.') && word.chars().all(|one| one.is_alphanumeric() || "._$".contains(one))
}

/// Takes in a line that belongs to an entry.
fn fold(entry: &mut Entry, line: &str) {
    let text = line.trim();
    if let Some(frame) = text.strip_prefix("at ") {
        if let (Some(cause), Some(frame)) = (entry.causes.last_mut(), frame_of(frame)) {
            cause.frames.push(frame);
        }
    } else if let Some(rest) = text.strip_prefix("Caused by: ") {
        let (class, message) = rest.split_once(": ").unwrap_or((rest, ""));
        entry.causes.push(Cause { class: class.to_owned(), message: shortened(message), frames: Vec::new() });
    } else if text.starts_with("... ") || text.is_empty() {
    } else if let Some(cause) = entry.causes.last_mut() {
        // A message of several lines.
        if cause.frames.is_empty() && cause.message.len() < MESSAGE {
            cause.message = shortened(format!("{} {text}", cause.message).trim());
        }
    } else if let (before, Some(cause)) = split_exception(text) {
        if before != cause.message && !before.is_empty() {
            entry.message = shortened(&format!("{} {before}", entry.message));
        }
        entry.causes.push(cause);
    } else if entry.message.len() < MESSAGE {
        entry.message = shortened(&format!("{} {text}", entry.message));
    }
}

/// `com.acme.Pricing.mediate(Pricing.java:42) ~[pricing.jar:?]`, with the module in front since Java 9.
fn frame_of(text: &str) -> Option<Frame> {
    let (name, place) = text.split_once('(')?;
    let name = name.trim().rsplit('/').next()?;
    let (class, method) = name.rsplit_once('.')?;
    let place = place.split(')').next()?;
    let (file, line) = match place.split_once(':') {
        Some((file, line)) => (Some(file), line.parse().ok()),
        None => (Some(place).filter(|place| place.ends_with(".java")), None),
    };
    Some(Frame {
        class: class.to_owned(),
        method: method.to_owned(),
        file: file.map(ToOwned::to_owned),
        line,
    })
}

fn shortened(text: &str) -> String {
    crate::runtime::arguments::shortened(text, MESSAGE)
}

#[cfg(test)]
mod tests;
