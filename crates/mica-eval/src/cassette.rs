//! What a real model said once, kept in a file and said again.
//!
//! Promise: playing never asks a model. A request that was not recorded fails, and says what is different. What is written
//! has no headers in it, nor anything that looks like a key; where a key that is known would be in it all the same, nothing
//! is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use mica_ai::error::Reply;
use mica_ai::{AiError, Assistant, ModelStream, Origin, Outcome, Provider, Request, StreamEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::error::EvalError;

mod parts;
mod secrets;
mod told;

pub use parts::{Part, difference, parts};
pub use secrets::Secrets;
use told::Told;

/// The version of the file.
const VERSION: u32 = 1;

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Head(Head),
    Ask(Ask),
    Part(Part),
    Event(Event),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    cassette: u32,
    model: String,
    dialect: String,
}

/// A request. Its parts follow, but for those it shares with the request before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    ask: usize,
    key: String,
    keeps: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    event: Told,
    /// Milliseconds since the request, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
}

/// A request, and what came of it.
#[derive(Debug, Clone, Default, PartialEq)]
struct Exchange {
    key: String,
    parts: Vec<Part>,
    events: Vec<Event>,
}

/// What must not be written as it is, and what stands for what changes from run to run.
#[derive(Debug, Clone, Default)]
pub struct Covers {
    /// What looks like a key, and keys that are known.
    pub secrets: Secrets,
    /// The folder of the case.
    pub folder: String,
}

/// What the folder of a case is written as.
pub(crate) const FOLDER: &str = "$FOLDER";

impl Covers {
    fn cover(&self, text: &str) -> String {
        let text = self.secrets.redact(text);
        if self.folder.is_empty() { text } else { text.replace(&self.folder, FOLDER) }
    }

    fn uncover(&self, text: &str) -> String {
        if self.folder.is_empty() { text.to_owned() } else { text.replace(FOLDER, &self.folder) }
    }

    /// A value whose texts are covered. Text by text, because what stands around them in a line of JSON is none.
    fn covered(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.cover(&text)),
            Value::Array(members) => members.into_iter().map(|member| self.covered(member)).collect(),
            Value::Object(members) => {
                members.into_iter().map(|(key, member)| (self.cover(&key), self.covered(member))).collect()
            }
            other => other,
        }
    }

    /// The parts of a request as they are written, and their digest.
    fn of(&self, request: &Request) -> (String, Vec<Part>) {
        let mut parts = parts(request);
        for part in &mut parts {
            part.part = self.cover(&part.part);
            part.value = self.covered(std::mem::take(&mut part.value));
        }
        let written = serde_json::to_value(&parts).unwrap_or_default();
        (crate::case::digest(crate::case::canonical(&written).as_bytes()), parts)
    }
}

/// Records what a model says while it is said.
pub struct Recorder {
    inner: Arc<dyn Provider>,
    covers: Covers,
    timings: bool,
    taken: Arc<Mutex<Vec<Exchange>>>,
}

impl Recorder {
    /// Records a provider.
    pub fn new(inner: Arc<dyn Provider>, covers: Covers, timings: bool) -> Self {
        Self { inner, covers, timings, taken: Arc::default() }
    }

    /// What was recorded, as the file has it.
    pub fn text(&self, model: &str, dialect: &str) -> String {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let head = Head { cassette: VERSION, model: model.to_owned(), dialect: dialect.to_owned() };
        let mut lines = vec![Line::Head(head)];
        let mut before: &[Part] = &[];
        for (index, exchange) in taken.iter().enumerate() {
            let keeps = exchange.parts.iter().zip(before).take_while(|(one, other)| one == other).count();
            lines.push(Line::Ask(Ask { ask: index + 1, key: exchange.key.clone(), keeps }));
            lines.extend(exchange.parts.iter().skip(keeps).cloned().map(Line::Part));
            lines.extend(self.whole(&exchange.events).into_iter().map(Line::Event));
            before = &exchange.parts;
        }
        let mut text = String::new();
        for line in lines {
            let line = serde_json::to_value(&line).unwrap_or_default();
            text.push_str(&self.covers.covered(line).to_string());
            text.push('\n');
        }
        text
    }

    /// The events of an answer. What must not be written may have come in pieces, none of which looks like it: then the
    /// first piece of its block is the whole of it, redacted, and there are no others.
    fn whole(&self, events: &[Event]) -> Vec<Event> {
        let mut blocks: BTreeMap<usize, String> = BTreeMap::new();
        for event in events {
            if let Some((block, text)) = event.event.piece() {
                blocks.entry(block).or_default().push_str(text);
            }
        }
        blocks.retain(|_, text| self.covers.cover(text) != *text);
        let mut told = BTreeSet::new();
        let mut whole = Vec::new();
        for event in events {
            let block = event.event.piece().map(|(block, _)| block);
            match block.and_then(|block| blocks.get(&block).map(|text| (block, text))) {
                None => whole.push(event.clone()),
                Some((block, text)) if told.insert(block) => {
                    let mut event = event.clone();
                    event.event.replace(self.covers.cover(text));
                    whole.push(event);
                }
                Some(_) => {}
            }
        }
        whole
    }

    /// The line with something secret in it, or where the last piece of it stands that came in pieces.
    fn gives_away(&self, text: &str) -> Option<usize> {
        let secrets = &self.covers.secrets;
        let mut blocks: BTreeMap<usize, (usize, String)> = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            if secrets.found(line) {
                return Some(index + 1);
            }
            match serde_json::from_str(line) {
                Ok(Line::Event(event)) => {
                    if let Some((block, piece)) = event.event.piece() {
                        let (last, all) = blocks.entry(block).or_default();
                        *last = index + 1;
                        all.push_str(piece);
                    }
                }
                _ => {
                    if let Some((last, _)) = blocks.values().find(|(_, all)| secrets.found(all)) {
                        return Some(*last);
                    }
                    blocks.clear();
                }
            }
        }
        blocks.values().find(|(_, all)| secrets.found(all)).map(|(last, _)| *last)
    }

    /// Whether a model gave no answer.
    fn has_failed(&self) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events = taken.iter().flat_map(|exchange| &exchange.events);
        events.any(|event| matches!(event.event, Told::Error { .. }))
    }

    /// Writes it. The file is there whole, or as it was; and as it was when something known to be secret would be in it, or
    /// when there is a recording already and the model failed this time.
    ///
    /// # Errors
    /// [`EvalError::File`]; [`EvalError::Secret`]; [`EvalError::Failed`].
    pub fn save(&self, path: &Path, model: &str, dialect: &str) -> Result<(), EvalError> {
        if self.has_failed() && path.exists() {
            return Err(EvalError::Failed { path: path.to_path_buf() });
        }
        let text = self.text(model, dialect);
        if let Some(line) = self.gives_away(&text) {
            return Err(EvalError::Secret { path: path.to_path_buf(), line });
        }
        crate::files::write(path, text.as_bytes())
    }
}

impl Provider for Recorder {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let (key, parts) = self.covers.of(&request);
        let taken = Arc::clone(&self.taken);
        let index = {
            let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
            taken.push(Exchange { key, parts, events: Vec::new() });
            taken.len() - 1
        };
        let (began, timings) = (Instant::now(), self.timings);
        let mut inner = self.inner.stream(request, cancel);
        ModelStream::new(move |sink| async move {
            while let Some(event) = inner.next().await {
                let ms = timings.then(|| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
                let told = Event { event: Told::from(&event), ms };
                if let Some(exchange) = taken.lock().unwrap_or_else(PoisonError::into_inner).get_mut(index) {
                    exchange.events.push(told);
                }
                match event {
                    StreamEvent::Done { message } => return Outcome::Done(*message),
                    StreamEvent::Error { partial, error } => {
                        return Outcome::Failed { partial: *partial, error };
                    }
                    other => {
                        sink.send(other);
                        sink.flush().await;
                    }
                }
            }
            Outcome::Failed { partial: nobody(), error: broken("the model's answer had no end") }
        })
    }
}

/// Plays what was recorded.
pub struct Cassette {
    exchanges: Vec<Exchange>,
    covers: Covers,
    /// The same with what is known to be secret here.
    knowing: Covers,
    played: Mutex<Vec<bool>>,
    problems: Arc<Mutex<Vec<String>>>,
    /// The model that was recorded.
    pub model: String,
    /// The wire it was asked on.
    pub dialect: String,
}

impl Cassette {
    /// Reads a file.
    ///
    /// # Errors
    /// [`EvalError::File`]; [`EvalError::Invalid`] for what is no cassette, or one of another version.
    pub fn read(path: &Path, covers: Covers) -> Result<Self, EvalError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| EvalError::File { path: path.to_path_buf(), source })?;
        Self::parse(&text, covers).map_err(|(line, problem)| EvalError::Invalid {
            path: path.to_path_buf(),
            line: Some(line),
            column: None,
            problem,
        })
    }

    /// Reads its text.
    ///
    /// # Errors
    /// The line, and what is wrong with it.
    pub fn parse(text: &str, covers: Covers) -> Result<Self, (usize, String)> {
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut head: Option<Head> = None;
        for (index, line) in text.lines().enumerate() {
            let wrong = |problem: String| (index + 1, problem);
            let read: Line = serde_json::from_str(line).map_err(|_| {
                wrong("this is no line of a cassette: record it again with --record".to_owned())
            })?;
            match (read, exchanges.last_mut()) {
                (Line::Head(read), _) if index == 0 => {
                    if read.cassette != VERSION {
                        let problem =
                            format!("cassettes have version {VERSION}, and this is {}", read.cassette);
                        return Err(wrong(format!("{problem}: record it again with --record")));
                    }
                    head = Some(read);
                }
                (Line::Ask(ask), last) => {
                    let before = last.map_or(&[][..], |last| &last.parts);
                    let Some(kept) = before.get(..ask.keeps) else {
                        return Err(wrong(format!(
                            "the request before has no {} parts: record it again with --record",
                            ask.keeps
                        )));
                    };
                    let exchange = Exchange { key: ask.key, parts: kept.to_vec(), events: Vec::new() };
                    exchanges.push(exchange);
                }
                (Line::Part(part), Some(last)) => last.parts.push(part),
                (Line::Event(event), Some(last)) => last.events.push(event),
                _ => {
                    return Err(wrong(
                        "a cassette begins with its head, and each request with an `ask`: record it again with --record"
                            .to_owned(),
                    ));
                }
            }
        }
        let Some(Head { model, dialect, .. }) = head else {
            return Err((1, "the file is empty: record it with --record".to_owned()));
        };
        let played = Mutex::new(vec![false; exchanges.len()]);
        let knowing = covers.clone();
        Ok(Self { exchanges, covers, knowing, played, problems: Arc::default(), model, dialect })
    }

    /// The same where something is known to be secret. A request that was recorded without it is found without it; but
    /// one that was recorded elsewhere, where it was none, is found as it is.
    #[must_use]
    pub fn knowing(mut self, secrets: Secrets) -> Self {
        self.knowing.secrets = secrets;
        self
    }

    /// How many of its requests nobody has made.
    pub fn left(&self) -> usize {
        self.played.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|done| !**done).count()
    }

    /// What did not fit, so far. Shared, and filled while it plays.
    pub fn problems(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.problems)
    }

    /// The recorded answer to a request.
    fn find(&self, request: &Request) -> Result<Exchange, String> {
        let (key, parts) = self.covers.of(request);
        let (without, _) = self.knowing.of(request);
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        for key in [&key, &without] {
            for (exchange, done) in self.exchanges.iter().zip(played.iter_mut()) {
                if !*done && exchange.key == *key {
                    *done = true;
                    return Ok(exchange.clone());
                }
            }
        }
        let next = self.exchanges.iter().zip(played.iter()).position(|(_, done)| !done);
        let number = played.iter().filter(|done| **done).count() + 1;
        match next.and_then(|index| self.exchanges.get(index)) {
            None => Err(format!(
                "request {number} was not recorded: the cassette has {} and all of them were played; record it again with --record",
                self.exchanges.len()
            )),
            Some(recorded) => Err(format!(
                "request {number} is not the one that was recorded: {}; record it again with --record if that is meant",
                difference(&recorded.parts, &parts)
            )),
        }
    }
}

impl Provider for Cassette {
    fn stream(&self, request: Arc<Request>, cancel: CancellationToken) -> ModelStream {
        let exchange = match self.find(&request) {
            Ok(exchange) => exchange,
            Err(problem) => {
                self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem.clone());
                let mut partial = nobody();
                partial.id = request.answer.clone();
                return ModelStream::failed(partial, AiError::BadRequest { reply: Reply::local(problem) });
            }
        };
        let covers = self.covers.clone();
        let began = Instant::now();
        ModelStream::new(move |sink| async move {
            for Event { event, ms } in exchange.events {
                if let Some(ms) = ms {
                    tokio::select! {
                        () = cancel.cancelled() => break,
                        () = tokio::time::sleep_until(began + Duration::from_millis(ms)) => {}
                    }
                }
                let event = event.uncovered(&covers);
                match event.event(&request.answer) {
                    StreamEvent::Done { message } => return Outcome::Done(*message),
                    StreamEvent::Error { partial, error } => {
                        return Outcome::Failed { partial: *partial, error };
                    }
                    event => {
                        sink.send(event);
                        sink.flush().await;
                    }
                }
            }
            let mut partial = nobody();
            partial.id = request.answer.clone();
            Outcome::Failed { partial, error: AiError::Cancelled }
        })
    }
}

/// An answer of nobody.
fn nobody() -> Assistant {
    let origin = Origin {
        dialect: mica_ai::Dialect::Responses,
        provider: "cassette".to_owned(),
        model: String::new(),
    };
    Assistant::empty(mica_ai::id::MessageId::from(""), origin)
}

fn broken(detail: &str) -> AiError {
    AiError::Protocol { detail: detail.to_owned() }
}

#[cfg(test)]
mod tests;
