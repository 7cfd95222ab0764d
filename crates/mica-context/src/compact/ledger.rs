//! Which files were read and changed: collected by machine, carried outside the prose of a summary.
//!
//! Summaries lose paths; every comparison of them says so. A list that no model writes cannot lose any.

use std::collections::HashMap;

use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::{Message, ToolResult};
use serde::{Deserialize, Serialize};

/// Paths that each list holds at most; the oldest go first. A ledger is sent with every request.
const LIMIT: usize = 200;

/// What a call did to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", content = "path", rename_all = "snake_case")]
pub enum FileFact {
    /// It was read.
    Read(String),
    /// It was made, changed or removed.
    Changed(String),
}

/// Says what a call that worked did to files.
pub trait FileFacts: Send + Sync {
    /// The facts of one call.
    fn of(&self, call: &ToolCall, result: &ToolResult) -> Vec<FileFact>;
}

/// Nothing is known of files.
impl FileFacts for () {
    fn of(&self, _: &ToolCall, _: &ToolResult) -> Vec<FileFact> {
        Vec::new()
    }
}

/// Takes paths from arguments: which tool, which of its arguments, and what it does to the file.
#[derive(Debug, Clone, Default)]
pub struct NamedArguments {
    rows: Vec<Row>,
}

/// A tool, its argument, and what it does to the file.
#[derive(Debug, Clone)]
struct Row {
    tool: String,
    argument: String,
    fact: fn(String) -> FileFact,
}

impl NamedArguments {
    /// A tool reads the file that an argument names.
    #[must_use]
    pub fn reads(mut self, tool: impl Into<String>, argument: impl Into<String>) -> Self {
        self.rows.push(Row { tool: tool.into(), argument: argument.into(), fact: FileFact::Read });
        self
    }

    /// A tool changes the file that an argument names.
    #[must_use]
    pub fn changes(mut self, tool: impl Into<String>, argument: impl Into<String>) -> Self {
        self.rows.push(Row { tool: tool.into(), argument: argument.into(), fact: FileFact::Changed });
        self
    }
}

impl FileFacts for NamedArguments {
    fn of(&self, call: &ToolCall, _: &ToolResult) -> Vec<FileFact> {
        let Ok(arguments) = call.arguments.parse() else { return Vec::new() };
        self.rows
            .iter()
            .filter(|row| row.tool == call.name)
            .filter_map(|row| Some((row.fact)(arguments.get(&row.argument)?.as_str()?.to_owned())))
            .collect()
    }
}

/// The files of a conversation, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLedger {
    /// Read, and not changed.
    pub read: Vec<String>,
    /// Made, changed or removed.
    pub changed: Vec<String>,
}

impl FileLedger {
    /// Takes in what messages tell. Only calls that worked count.
    pub fn take(&mut self, messages: &[Message], facts: &dyn FileFacts) {
        let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
        for message in messages {
            match message {
                Message::Assistant(answer) => {
                    calls.extend(answer.calls().map(|call| (call.id.as_str(), call)));
                }
                Message::ToolResult(result) if result.status == ResultStatus::Ok => {
                    if let Some(call) = calls.get(result.call.as_str()) {
                        facts.of(call, result).into_iter().for_each(|fact| self.note(fact));
                    }
                }
                Message::ToolResult(_) | Message::User(_) => {}
            }
        }
    }

    /// Notes one fact.
    pub fn note(&mut self, fact: FileFact) {
        let (path, is_change) = match fact {
            FileFact::Read(path) => (path, false),
            FileFact::Changed(path) => (path, true),
        };
        // A path is a line of the ledger.
        let path = path.replace(['\n', '\r'], " ");
        let was_changed = self.changed.contains(&path);
        self.read.retain(|known| *known != path);
        self.changed.retain(|known| *known != path);
        let list = if is_change || was_changed { &mut self.changed } else { &mut self.read };
        list.push(path);
        if list.len() > LIMIT {
            list.remove(0);
        }
    }

    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty() && self.changed.is_empty()
    }

    /// The ledger as the model reads it: a list for each.
    pub fn render(&self) -> String {
        let list = |tag: &str, paths: &[String]| {
            if paths.is_empty() {
                String::new()
            } else {
                format!("<{tag}>\n{}\n</{tag}>\n", paths.join("\n"))
            }
        };
        list(CHANGED, &self.changed) + &list(READ, &self.read)
    }

    /// Reads what [`render`](Self::render) wrote.
    pub fn parse(text: &str) -> Self {
        let list = |tag: &str| {
            let inside = text
                .split_once(&format!("<{tag}>\n"))
                .and_then(|(_, rest)| rest.split_once(&format!("\n</{tag}>")))
                .map_or("", |(inside, _)| inside);
            inside.lines().map(str::to_owned).collect()
        };
        Self { read: list(READ), changed: list(CHANGED) }
    }
}

const READ: &str = "files-read";
const CHANGED: &str = "files-changed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_stays_changed() {
        let mut ledger = FileLedger::default();
        for fact in ["a", "b"].map(|path| FileFact::Read(path.into())) {
            ledger.note(fact);
        }
        ledger.note(FileFact::Changed("a".into()));
        ledger.note(FileFact::Read("a".into()));
        assert_eq!(ledger, FileLedger { read: vec!["b".into()], changed: vec!["a".into()] });
        assert_eq!(FileLedger::parse(&ledger.render()), ledger);
        assert_eq!(FileLedger::parse(""), FileLedger::default());
    }

    #[test]
    fn it_has_an_end() {
        let mut ledger = FileLedger::default();
        (0..500).for_each(|number| ledger.note(FileFact::Read(format!("f{number}"))));
        assert_eq!(ledger.read.len(), LIMIT);
        assert_eq!(ledger.read.last().unwrap(), "f499");
    }
}
