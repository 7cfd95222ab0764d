//! What was done to the window, in the session: so that a session that is opened again has the same window.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mica_ai::id::MessageId;
use mica_ai::{Content, Message, User};
use mica_context::compact::CompactionRecord;
use mica_context::prune::{self, PruneRecord};
use mica_context::section::context_block;
use mica_session::entry::{Body, Compaction, FileUse};
use mica_session::{Durability, Entries, EntryId};
use serde_json::{Value, json};

use super::Keeper;

const PRUNED: &str = "mica.pruned";
const ATTACHED: &str = "mica.attached";
const CLOSE: &str = "</summary>";

#[async_trait]
impl mica_context::Journal for Keeper {
    async fn compacted(&self, record: &CompactionRecord) -> Result<(), String> {
        let mut files: BTreeMap<String, FileUse> = BTreeMap::new();
        files.extend(record.ledger.read.iter().map(|path| (path.clone(), FileUse::Read)));
        files.extend(record.ledger.changed.iter().map(|path| (path.clone(), FileUse::Changed)));
        let compaction = Compaction {
            summary: words(&record.message),
            first_kept: self.entry_of(&record.first_kept),
            tokens_before: record.before,
            tokens_after: Some(record.after),
            files,
            reason: record.trigger.reason(),
        };
        self.append(Body::Compaction(compaction), Durability::Now).await
    }

    async fn pruned(&self, record: &PruneRecord) -> Result<(), String> {
        let value = serde_json::to_value(&record.notes).map_err(|error| error.to_string())?;
        self.append(Body::Custom { custom: PRUNED.to_owned(), value }, Durability::Lazy).await
    }

    async fn attached(&self, message: &MessageId, block: &str) -> Result<(), String> {
        let value = json!({ "message": message, "block": block });
        self.append(Body::Custom { custom: ATTACHED.to_owned(), value }, Durability::Lazy).await
    }
}

/// The window that a session's live entries come to.
pub fn restore(live: &Entries) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for entry in &live.entries {
        match &entry.body {
            Body::Message { message } => messages.push(message.clone()),
            Body::Compaction(compaction) => {
                messages.insert(0, summary(&entry.id.to_string(), &compaction.summary));
            }
            Body::BranchSummary(left) => messages.push(left_behind(entry.id, &left.summary)),
            Body::Custom { custom, value } if custom == PRUNED => {
                if let Ok(notes) = serde_json::from_value::<Vec<(MessageId, String)>>(value.clone()) {
                    prune::apply(&mut messages, &notes);
                }
            }
            Body::Custom { custom, value } if custom == ATTACHED => attach(&mut messages, value),
            _ => {}
        }
    }
    messages
}

fn attach(messages: &mut [Message], value: &Value) {
    let (Some(id), Some(block)) = (value["message"].as_str(), value["block"].as_str()) else { return };
    for message in messages {
        if let Message::User(user) = message
            && user.id.as_str() == id
        {
            user.content.push(Content::text(block));
        }
    }
}

/// A summary as the message that begins the window. Its id tells the context layer what it is.
fn summary(id: &str, text: &str) -> Message {
    let at = text.find(CLOSE).map_or(text.len(), |at| at + CLOSE.len());
    let (words, ledger) = text.split_at(at);
    let mut content = vec![Content::text(words)];
    let (ledger, sections) = context_block::split(ledger);
    content
        .extend([ledger.trim_matches('\n')].into_iter().filter(|text| !text.is_empty()).map(Content::text));
    content.extend(sections.map(Content::text));
    Message::User(User { id: MessageId::from(format!("compaction/{id}")), content })
}

/// What a person, or a model, wrote of a branch that was left, as a message.
fn left_behind(entry: EntryId, summary: &str) -> Message {
    let text = format!("<left_branch>\nThis was tried before, and left:\n{summary}\n</left_branch>");
    Message::User(User { id: left_behind_id(entry), content: vec![Content::text(text)] })
}

/// The id of the message that the summary of a branch becomes.
pub fn left_behind_id(entry: EntryId) -> MessageId {
    MessageId::from(format!("branch/{entry}"))
}

fn words(message: &Message) -> String {
    let Message::User(user) = message else { return String::new() };
    let texts: Vec<&str> = user
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } => Some(text.as_str()),
            Content::Image(_) => None,
        })
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests;
