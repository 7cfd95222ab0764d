//! What a subagent came to: watched while it works, told once it has ended.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use mica_agent::{Event, EventKind, Listener, Outcome, ToolError, ToolOutput};
use mica_ai::{Content, StreamEvent, Usage};
use serde_json::{Value, json};

use crate::file_use::FileUse;

/// What a subagent did and said in one run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The id to resume it with.
    pub id: String,
    /// Its profile.
    pub profile: String,
    /// The run that it was.
    pub run: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it said last.
    pub text: String,
    /// Turns it took.
    pub turns: u32,
    /// What they took.
    pub usage: Usage,
    /// How often it called which tool.
    pub tools: BTreeMap<String, u32>,
    /// The files it read and changed.
    pub files: FileUse,
}

impl Report {
    /// How it ended, in words that follow "it". `None` when it did what it should.
    pub fn trouble(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Completed => None,
            Outcome::Exhausted { limit } => Some(format!("stopped at a limit: {limit}")),
            Outcome::Suspended { .. } => {
                Some("stopped, because it needed an approval and nobody was there".to_owned())
            }
            Outcome::Aborted => Some("was stopped".to_owned()),
            Outcome::Failed { error } => Some(format!("failed: {error}")),
        }
    }

    /// What it said last, and when it is not done, why. For the model that sent it.
    pub fn words(&self) -> String {
        let said = self.text.trim();
        match (self.trouble(), said.is_empty()) {
            (None, false) => said.to_owned(),
            (None, true) => "The subagent ended without a word.".to_owned(),
            (Some(trouble), true) => format!("The subagent {trouble}. It had said nothing yet. {NOT_AGAIN}"),
            (Some(trouble), false) => {
                format!("The subagent {trouble}. {NOT_AGAIN}\n\nWhat it said last:\n{said}")
            }
        }
    }

    /// The facts that go with the words.
    pub fn facts(&self) -> String {
        let outcome = match &self.outcome {
            Outcome::Completed => "completed",
            Outcome::Exhausted { .. } => "exhausted",
            Outcome::Suspended { .. } => "suspended",
            Outcome::Aborted => "aborted",
            Outcome::Failed { .. } => "failed",
        };
        let mut text = format!(
            "<subagent id=\"{}\" profile=\"{}\" outcome=\"{outcome}\" turns=\"{}\" tokens=\"{}\"",
            self.id,
            self.profile,
            self.turns,
            self.usage.total(),
        );
        if let Some(cost) = self.usage.cost {
            let _ = write!(text, " cost=\"{}\"", cost.total());
        }
        text.push_str(">\n");
        if !self.tools.is_empty() {
            let tools: Vec<String> =
                self.tools.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
            let _ = writeln!(text, "tools: {}", tools.join(", "));
        }
        for path in &self.files.changed {
            let _ = writeln!(text, "{CHANGED}{}", path.display());
        }
        text.push_str(CLOSE);
        text
    }

    /// What user interfaces and logs get, and those who keep a ledger of files.
    pub fn details(&self) -> Value {
        let mut details = json!({
            "subagent": {
                "id": self.id,
                "profile": self.profile,
                "run": self.run,
                "end": self.outcome,
                "turns": self.turns,
                "usage": self.usage,
                "tools": self.tools,
            }
        });
        self.files.tell(&mut details);
        details
    }

    /// As the result of the call that waited for it.
    ///
    /// # Errors
    /// When it did not do what it should: with what it reached until then.
    pub fn into_result(self) -> Result<ToolOutput, ToolError> {
        let (words, facts, details) = (self.words(), self.facts(), self.details());
        if self.trouble().is_some() {
            return Err(ToolError { message: format!("{words}\n\n{facts}"), details: Some(details) });
        }
        let content = vec![Content::text(words), Content::text(facts)];
        Ok(ToolOutput { content, details: Some(details) })
    }
}

const NOT_AGAIN: &str =
    "It was not tried again: decide whether to resume it, to ask otherwise, or to do it yourself.";
const CHANGED: &str = "changed: ";
const CLOSE: &str = "</subagent>";

/// The files that a subagent changed, as its result tells them: for whoever has only the conversation to go by. Looks at
/// the facts behind the last words, and nowhere else.
pub fn changed_files(result: &[Content]) -> Vec<PathBuf> {
    let facts = result.iter().rev().find_map(|content| match content {
        Content::Text { text } => text.rsplit_once("<subagent id=").map(|(_, facts)| facts),
        Content::Image(_) => None,
    });
    let Some((facts, _)) = facts.and_then(|facts| facts.split_once(CLOSE)) else { return Vec::new() };
    facts.lines().filter_map(|line| line.strip_prefix(CHANGED)).map(PathBuf::from).collect()
}

/// Watches a subagent at work.
pub(super) struct Watch {
    seen: Mutex<Seen>,
    /// Told what it does, a line at a time.
    news: Box<dyn Fn(String) + Send + Sync>,
}

#[derive(Default)]
pub(super) struct Seen {
    pub(super) run: Option<String>,
    pub(super) turns: u32,
    pub(super) usage: Usage,
    pub(super) tools: BTreeMap<String, u32>,
    pub(super) files: FileUse,
    /// What it said last.
    pub(super) said: String,
    /// What it is saying.
    saying: String,
}

impl Watch {
    /// A watch that tells news.
    pub(super) fn new(news: impl Fn(String) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { seen: Mutex::default(), news: Box::new(news) })
    }

    /// What was seen.
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Listener for Watch {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(
            kind,
            EventKind::TurnStart { .. }
                | EventKind::AnswerStart { .. }
                | EventKind::Answer {
                    delta: StreamEvent::TextStart { .. } | StreamEvent::TextDelta { .. },
                    ..
                }
                | EventKind::AnswerEnd { .. }
                | EventKind::CallStart { .. }
                | EventKind::CallEnd { .. }
        )
    }

    async fn event(&self, event: Event) {
        let mut seen = self.seen();
        match event.kind {
            EventKind::TurnStart { turn } => {
                seen.run = Some(event.run.to_string());
                seen.turns = seen.turns.max(turn);
            }
            EventKind::AnswerStart { .. } => seen.saying.clear(),
            EventKind::Answer { delta: StreamEvent::TextStart { .. }, .. } if !seen.saying.is_empty() => {
                seen.saying.push('\n');
            }
            EventKind::Answer { delta: StreamEvent::TextDelta { text, .. }, .. } => {
                seen.saying.push_str(&text);
            }
            EventKind::AnswerEnd { usage, .. } => {
                seen.usage += usage;
                if !seen.saying.trim().is_empty() {
                    seen.said = std::mem::take(&mut seen.saying);
                }
            }
            EventKind::CallStart { tool, .. } => {
                let line = format!("turn {}: {tool}\n", seen.turns);
                *seen.tools.entry(tool).or_default() += 1;
                drop(seen);
                (self.news)(line);
            }
            EventKind::CallEnd { details, .. } => {
                let FileUse { read, changed } = FileUse::of(details.as_ref());
                add(&mut seen.files.read, read);
                add(&mut seen.files.changed, changed);
            }
            _ => {}
        }
    }
}

fn add(known: &mut Vec<PathBuf>, more: Vec<PathBuf>) {
    for path in more {
        if !known.contains(&path) {
            known.push(path);
        }
    }
}

#[cfg(test)]
mod tests;
