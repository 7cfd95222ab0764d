//! A session for people: one Markdown text, or one HTML file that needs nothing else.

mod html;
mod markdown;

use mica_ai::Usage;

use crate::entry::{Body, Entry, Header};
use crate::error::SessionError;
use crate::node::Kind;
use crate::session::Session;

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Markdown, for other tools and for reading as it is.
    Markdown,
    /// One HTML file: no script, nothing fetched, everything escaped.
    Html,
}

/// How much of the session it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The current branch.
    Branch,
    /// All branches, each after the entry where it begins.
    All,
}

/// What is exported, ready to be written in either format.
struct Document {
    title: String,
    header: Header,
    parts: Vec<Part>,
    usage: Usage,
    answers: usize,
}

struct Part {
    entry: Entry,
    label: Option<String>,
    /// Whether it does not follow what is above it.
    begins_branch: bool,
}

impl Session {
    /// The session as a text for people.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn export(&self, format: Format, scope: Scope) -> Result<String, SessionError> {
        let document = self.document(scope)?;
        Ok(match format {
            Format::Markdown => markdown::write(&document),
            Format::Html => html::write(&document),
        })
    }

    fn document(&self, scope: Scope) -> Result<Document, SessionError> {
        let ids: Vec<_> = match scope {
            Scope::Branch => self.tree().branch().iter().map(|node| node.id).collect(),
            Scope::All => self.tree().rows().iter().map(|row| row.id).collect(),
        };
        let mut parts = Vec::with_capacity(ids.len());
        let mut usage = Usage::default();
        let mut answers = 0;
        let mut above = None;
        for entry in self.entries(ids)?.entries {
            if let Body::Message { message: mica_ai::Message::Assistant(answer) } = &entry.body {
                usage += answer.usage;
                answers += 1;
            }
            let begins_branch = entry.parent != above;
            above = Some(entry.id);
            parts.push(Part { label: self.tree().label(entry.id).map(str::to_owned), entry, begins_branch });
        }
        let opening = || self.tree().nodes().iter().find(|node| node.kind == Kind::User);
        let title = self.name().map(str::to_owned);
        let title = title.or_else(|| opening().map(|node| node.preview.to_string()));
        Ok(Document {
            title: title.unwrap_or_else(|| "Session".to_owned()),
            header: self.header().clone(),
            parts,
            usage,
            answers,
        })
    }
}

/// The last line of either format.
fn usage_line(document: &Document) -> String {
    let usage = &document.usage;
    let cost = usage.cost.map(|cost| format!(", {}", cost.total())).unwrap_or_default();
    format!(
        "{} answers: {} tokens read ({} from the cache), {} written{cost}",
        document.answers, usage.input, usage.cache_read, usage.output
    )
}

/// Arguments as people read them: laid out when they are JSON, as they are when not.
fn arguments(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| text.to_owned())
}

/// What an entry that is no message says, in a line. `None` for those that only programs need.
fn remark(body: &Body) -> Option<String> {
    Some(match body {
        Body::ModelChange(change) => {
            let effort = change.effort.as_deref().map(|effort| format!(", effort {effort}"));
            format!(
                "Model: {} at {} ({}{})",
                change.model,
                change.endpoint,
                change.dialect,
                effort.unwrap_or_default()
            )
        }
        Body::ModeChange { mode } => format!("Mode: {mode}"),
        Body::Custom { custom, .. } => format!("Entry of {custom}"),
        Body::RunEnd { outcome, .. } => format!("Run ended: {outcome}"),
        Body::Unknown { kind, .. } => format!("An entry of kind {kind}, which this version does not know"),
        Body::Malformed { .. } => "A line that cannot be read".to_owned(),
        Body::Message { .. }
        | Body::Compaction(_)
        | Body::BranchSummary(_)
        | Body::Label { .. }
        | Body::Name { .. }
        | Body::RunStart { .. }
        | Body::TurnOpen { .. }
        | Body::Leaf { .. } => return None,
    })
}

#[cfg(test)]
mod tests;
