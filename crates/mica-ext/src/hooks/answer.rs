//! Reads what a hook answered.
//!
//! Invariant: before a tool is called, everything that is not a clear answer is a no. A clear answer is the end with code 0
//! and nothing that looks like JSON, or JSON that says something this program knows; and the end with code 2. A crash, a
//! signal, a time that was up, JSON that is cut or garbled or in other words than these is none.
//!
//! JSON is looked for on lines that begin with it, so that what a program logs before and after does no harm. Where there
//! are several objects, the strictest of what they say counts.

use serde_json::{Map, Value};

use super::event::HookEvent;
use super::runner::{End, Ran};

/// Letters of what is told to the model by one hook.
const CONTEXT: usize = 10_000;
/// Letters of a reason or a message.
const REASON: usize = 4_000;

/// What a hook wants of a call. The strictest comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Nobody needs to be asked.
    Allow,
    /// A person decides.
    Ask,
    /// It must not run. At other events: it must not go on like this.
    Deny,
}

/// What a hook answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What it wants.
    pub wish: Option<Wish>,
    /// Why.
    pub reason: Option<String>,
    /// The run ends, for this reason.
    pub halt: Option<String>,
    /// Something for the model.
    pub context: Option<String>,
    /// All of the input that the tool is to be called with instead, in the words of the hook.
    pub input: Option<Map<String, Value>>,
    /// What the model is to read instead of what the tool gave.
    pub output: Option<String>,
    /// Something for people.
    pub message: Option<String>,
    /// What went wrong, for people.
    pub problem: Option<String>,
}

impl Answer {
    fn deny(reason: String) -> Self {
        Self { wish: Some(Wish::Deny), reason: Some(reason), ..Self::default() }
    }

    /// Something went wrong: before a call and where the entry says so, a no; elsewhere something to tell.
    fn failed(problem: String, blocks: bool) -> Self {
        let told = if blocks { Self::deny(problem.clone()) } else { Self::default() };
        Self { problem: Some(problem), ..told }
    }

    /// The strictest of both.
    fn and(mut self, other: Self) -> Self {
        if other.wish > self.wish {
            self.wish = other.wish;
            self.reason = other.reason.or(self.reason);
        } else if self.reason.is_none() && other.wish == self.wish {
            self.reason = other.reason;
        }
        self.halt = self.halt.or(other.halt);
        self.context = joined(self.context, other.context);
        self.input = other.input.or(self.input);
        self.output = other.output.or(self.output);
        self.message = joined(self.message, other.message);
        self.problem = joined(self.problem, other.problem);
        self
    }
}

fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    }
}

/// Reads an answer. `blocks` says whether what goes wrong is a no.
pub fn read(event: HookEvent, ran: &Ran, blocks: bool) -> Answer {
    let blocks = blocks || event == HookEvent::PreToolUse;
    let errors = short(&String::from_utf8_lossy(&ran.stderr), REASON);
    let with_errors = |what: String| match errors.as_str() {
        "" => what,
        errors => format!("{what}: {errors}"),
    };
    match &ran.end {
        End::Exited(0) => from_output(event, ran, blocks),
        End::Exited(2) => exit_two(event, ran, errors),
        End::Exited(code @ (126 | 127)) => {
            let what =
                format!("it could not be started (code {code}; is the program there, and executable?)");
            Answer::failed(with_errors(what), blocks)
        }
        End::Exited(code) => Answer::failed(with_errors(format!("it ended with code {code}")), blocks),
        End::Signalled(signal) => {
            Answer::failed(with_errors(format!("it was ended by signal {signal}")), blocks)
        }
        End::TimedOut => {
            Answer::failed(with_errors("its time was up, and it was stopped".to_owned()), blocks)
        }
        End::Limited(limit) => Answer::failed(with_errors(limit.clone()), blocks),
        End::Cancelled => Answer::failed("it was stopped before it answered".to_owned(), blocks),
        End::NotRun(reason) => Answer::failed(format!("it was not run: {reason}"), blocks),
    }
}

/// The end with code 2 is a no, whatever was printed.
fn exit_two(event: HookEvent, ran: &Ran, errors: String) -> Answer {
    if !event.can_block() {
        let what = if errors.is_empty() { "it ended with code 2".to_owned() } else { errors };
        return Answer { problem: Some(what), ..Answer::default() };
    }
    // The convention says that the reason is what was printed as errors. Many print JSON all the same.
    let told = || {
        let found = Found::search(&String::from_utf8_lossy(&ran.stdout));
        found.objects.iter().find_map(|object| said(event, object).ok()?.reason)
    };
    let reason = Some(errors).filter(|errors| !errors.is_empty()).or_else(told);
    Answer::deny(reason.unwrap_or_else(|| "it ended with code 2 and gave no reason".to_owned()))
}

fn from_output(event: HookEvent, ran: &Ran, blocks: bool) -> Answer {
    let text = String::from_utf8_lossy(&ran.stdout);
    let found = Found::search(&text);
    let is_plain = found.objects.is_empty() || !found.objects.iter().any(is_answer);
    // What is told in plain words may look like anything.
    if event.takes_plain_text() && is_plain {
        let is_nothing = text.trim().is_empty() || (found.objects.len() == 1 && found.rest_is_empty);
        let context = (!is_nothing).then(|| short(&text, CONTEXT)).filter(|text| !text.is_empty());
        return Answer { context, ..Answer::default() };
    }
    // What was cut may have said something where it was cut.
    if found.objects.is_empty() && !found.is_garbled && !ran.is_cut {
        return Answer::default();
    }
    let mut answer = Answer::default();
    for object in &found.objects {
        match said(event, object) {
            Ok(said) => answer = answer.and(said),
            Err(problem) => answer = answer.and(Answer::failed(problem, blocks)),
        }
    }
    let unreadable = if ran.is_cut {
        Some("it printed more than is read, so its answer cannot be relied on")
    } else if found.is_garbled {
        Some("it printed something that looks like JSON and cannot be read as such")
    } else if std::str::from_utf8(&ran.stdout).is_err() {
        Some("its answer is no UTF-8")
    } else {
        None
    };
    match unreadable {
        // A no that can be read is one, whatever else there is.
        Some(problem) if answer.wish == Some(Wish::Deny) => {
            Answer { problem: Some(problem.to_owned()), ..answer }
        }
        Some(problem) => Answer::failed(format!("{problem}: {:?}", short(&text, 200)), blocks),
        None => answer,
    }
}

/// JSON in what was printed.
#[derive(Default)]
struct Found {
    objects: Vec<Map<String, Value>>,
    /// Something began like JSON and was none.
    is_garbled: bool,
    /// There was nothing else.
    rest_is_empty: bool,
}

impl Found {
    fn search(text: &str) -> Self {
        let mut found = Self { rest_is_empty: true, ..Self::default() };
        let mut rest = text.trim_start_matches('\u{feff}');
        while !rest.is_empty() {
            let line = rest.trim_start();
            if line.starts_with(['{', '[']) {
                let mut objects = serde_json::Deserializer::from_str(line).into_iter::<Value>();
                match objects.next() {
                    Some(Ok(Value::Object(object))) => {
                        found.objects.push(object);
                        rest = line.get(objects.byte_offset()..).unwrap_or_default();
                        continue;
                    }
                    // Lines like `[info] …` are not even a list.
                    Some(Err(_)) => found.is_garbled |= line.starts_with('{'),
                    Some(Ok(_)) | None => {}
                }
            }
            let (this, next) = line.split_once('\n').unwrap_or((line, ""));
            // A list of answers, or one behind other words, is no clear answer; but somebody wanted to give one.
            found.is_garbled |= decides(this);
            found.rest_is_empty &= this.trim().is_empty();
            rest = next;
        }
        found
    }
}

/// Whether a line that is no object has a key that decides something: `result: {"decision": …`.
fn decides(line: &str) -> bool {
    DECIDING.iter().any(|key| {
        ['"', '\''].iter().any(|quote| {
            let quoted = format!("{quote}{key}{quote}");
            let behind = line.match_indices(&quoted).filter_map(|(at, _)| line.get(at + quoted.len()..));
            behind.into_iter().any(|behind| behind.trim_start().starts_with(':'))
        })
    })
}

const SAYINGS: [&str; 10] = [
    "continue",
    "stopReason",
    "decision",
    "reason",
    "systemMessage",
    "suppressOutput",
    "hookSpecificOutput",
    "additionalContext",
    "permissionDecision",
    "async",
];

/// What is for the event, within `hookSpecificOutput` or without it.
const SPECIFIC: [&str; 10] = [
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "additionalContext",
    "updatedInput",
    "decision",
    "reason",
    "updatedToolOutput",
    "updatedMCPToolOutput",
    "updatedPermissions",
];

/// Keys that decide something: a line with one of them was meant to be an answer.
const DECIDING: [&str; 4] = ["decision", "permissionDecision", "hookSpecificOutput", "behavior"];

fn is_answer(object: &Map<String, Value>) -> bool {
    object.keys().any(|key| SAYINGS.contains(&key.as_str()))
}

/// What an object says. `Err`: it cannot be relied on.
fn said(event: HookEvent, object: &Map<String, Value>) -> Result<Answer, String> {
    if object.is_empty() {
        return Ok(Answer::default());
    }
    if !is_answer(object) {
        let keys: Vec<&str> = object.keys().map(String::as_str).take(8).collect();
        return Err(format!(
            "it answered JSON that says nothing mica knows (its keys are {})",
            keys.join(", ")
        ));
    }
    let halts = match object.get("continue") {
        None | Some(Value::Null | Value::Bool(true)) => false,
        Some(Value::Bool(false)) => true,
        Some(other) => return Err(format!("`continue` is {other}; it can be true or false")),
    };
    // Some say what is for the event without the object around it, and some say it in both places.
    let mut answer = match object.get("hookSpecificOutput") {
        None | Some(Value::Null) => Answer::default(),
        Some(Value::Object(inner)) => {
            if let Some(named) = text(inner, "hookEventName")?
                && super::event::HookEvent::named(&named) != super::event::Named::Known(event)
            {
                return Err(format!("`hookSpecificOutput` is for {named}, and this is {event}"));
            }
            known(event, inner, "`hookSpecificOutput`", &SPECIFIC)?;
            level(event, inner)?
        }
        Some(_) => return Err("`hookSpecificOutput` is no object".to_owned()),
    };
    let outer = level(event, object)?;
    let reason = answer.reason.clone().or_else(|| outer.reason.clone());
    answer = answer.and(outer);
    answer.reason = answer.reason.or(reason);
    answer.message = text(object, "systemMessage")?;
    if event == HookEvent::PreToolUse && answer.wish.is_none() && !halts {
        // Whoever says neither yes nor no must not have meant to: a word that nobody knows may have been the no.
        known(event, object, "its answer", &SAYINGS)?;
        if answer.reason.is_some() && answer.input.is_none() {
            return Err("it gave a reason, and no decision".to_owned());
        }
    }
    if halts {
        let reason = text(object, "stopReason")?.or_else(|| answer.reason.clone());
        let reason = reason.unwrap_or_else(|| "a hook ended the run".to_owned());
        answer.wish = Some(Wish::Deny);
        answer.reason.get_or_insert_with(|| reason.clone());
        answer.halt = Some(reason);
    }
    answer.context = answer.context.map(|text| short(&text, CONTEXT)).filter(|text| !text.is_empty());
    answer.reason = answer.reason.map(|text| short(&text, REASON)).filter(|text| !text.is_empty());
    answer.message = answer.message.map(|text| short(&text, REASON)).filter(|text| !text.is_empty());
    Ok(answer)
}

/// Before a call, a key that nobody knows is no clear answer.
fn known(event: HookEvent, object: &Map<String, Value>, whose: &str, besides: &[&str]) -> Result<(), String> {
    let is_known = |key: &&String| besides.contains(&key.as_str()) || SPECIFIC.contains(&key.as_str());
    match object.keys().find(|key| !is_known(key)) {
        Some(key) if event == HookEvent::PreToolUse => {
            Err(format!("{whose} has a key that mica does not know: {key:?}"))
        }
        _ => Ok(()),
    }
}

/// What one object says of the event: that around, or the one within.
fn level(event: HookEvent, inner: &Map<String, Value>) -> Result<Answer, String> {
    let mut answer = Answer { reason: text(inner, "reason")?, ..Answer::default() };
    if let Some(reason) = text(inner, "permissionDecisionReason")? {
        answer.reason = Some(reason);
    }
    answer.context = text(inner, "additionalContext")?;
    answer.input = object(inner, "updatedInput")?;
    if matches!(event, HookEvent::PostToolUse | HookEvent::PostToolUseFailure) {
        let output = ["updatedToolOutput", "updatedMCPToolOutput"].iter().find_map(|key| inner.get(*key));
        answer.output = output.and_then(shown);
    }
    answer.wish = match text(inner, "permissionDecision")?.as_deref() {
        None => None,
        Some("allow") => Some(Wish::Allow),
        // Whoever defers leaves it to a person.
        Some("ask" | "defer") => Some(Wish::Ask),
        Some("deny") => Some(Wish::Deny),
        Some(other) => {
            return Err(format!(
                "`permissionDecision` is {other:?}; it can be \"allow\", \"ask\" or \"deny\""
            ));
        }
    };
    let decision = match inner.get("decision") {
        Some(Value::Object(decision)) => {
            answer.reason = text(decision, "message")?.or(answer.reason);
            answer.input = object(decision, "updatedInput")?.or(answer.input);
            let behavior = text(decision, "behavior")?;
            let wish = wish_named(behavior.as_deref().unwrap_or_default());
            Some(wish.ok_or_else(|| format!("`behavior` is {behavior:?}; it can be \"allow\" or \"deny\""))?)
        }
        _ => match text(inner, "decision")? {
            None => None,
            Some(word) => Some(
                wish_named(&word)
                    .ok_or_else(|| format!("`decision` is {word:?}; it can be \"approve\" or \"block\""))?,
            ),
        },
    };
    answer.wish = answer.wish.max(decision);
    Ok(answer)
}

fn wish_named(word: &str) -> Option<Wish> {
    match word {
        "approve" | "allow" => Some(Wish::Allow),
        "block" | "deny" => Some(Wish::Deny),
        "ask" => Some(Wish::Ask),
        _ => None,
    }
}

/// A tool's output as text: itself, the texts of a list of blocks, or the JSON that it is.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Object(object) if object.get("content").is_some() => object.get("content").and_then(shown),
        Value::Array(blocks) => {
            let texts: Option<Vec<&str>> =
                blocks.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
            Some(texts.map_or_else(|| value.to_string(), |texts| texts.join("\n")))
        }
        other => Some(other.to_string()),
    }
}

fn text(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{key}` is {}; it is a text", short(&other.to_string(), 80))),
    }
}

fn object(from: &Map<String, Value>, key: &str) -> Result<Option<Map<String, Value>>, String> {
    match from.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(inner)) => Ok(Some(inner.clone())),
        Some(other) => Err(format!("`{key}` is {}; it is an object", short(&other.to_string(), 80))),
    }
}

/// Both ends of a text that is too long, without control characters that a terminal would obey.
pub(crate) fn short(text: &str, most: usize) -> String {
    let clean: String =
        text.trim().chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect();
    let count = clean.chars().count();
    if count <= most {
        return clean;
    }
    let head: String = clean.chars().take(most * 2 / 3).collect();
    let tail: String = clean.chars().skip(count - most / 3).collect();
    let left_out = count - head.chars().count() - tail.chars().count();
    format!("{head}\n[{left_out} letters were left out]\n{tail}")
}

#[cfg(test)]
mod tests;
