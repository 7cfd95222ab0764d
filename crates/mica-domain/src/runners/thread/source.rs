//! What is said in a thread, and how a session reads it.

use async_trait::async_trait;
use mica_context::fence::fenced;

use crate::runners::opening::Past;

/// Who said something in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// Somebody outside.
    Inbound {
        /// Their name.
        name: String,
    },
    /// An agent of the product.
    Own {
        /// The key of the reply, where it was one.
        key: Option<String>,
    },
    /// A teammate, to whoever is outside. What came before needs no other answer.
    Teammate {
        /// Their name.
        name: String,
    },
    /// A teammate, to other teammates.
    Note {
        /// Their name.
        name: String,
    },
}

/// Something that was said in a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadMessage {
    /// Names it, for good.
    pub id: String,
    /// Who said it.
    pub by: By,
    /// What.
    pub text: String,
}

/// An answer of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The same whenever it is the same answer: one that was sent under it is not sent again.
    pub key: String,
    /// What.
    pub text: String,
    /// The message that it answers.
    pub to: String,
}

/// Threads of a product.
///
/// Contract: messages have one order that does not change, and new ones come at its end. A reply that was sent comes back
/// among the messages with its key.
#[async_trait]
pub trait Thread: Send + Sync {
    /// What was said after a message, in order. `None`: all of it.
    ///
    /// # Errors
    /// In words.
    async fn messages(&self, thread: &str, after: Option<&str>) -> Result<Vec<ThreadMessage>, String>;

    /// Sends an answer, unless it was sent before under the same key.
    ///
    /// # Errors
    /// In words. It is tried again, with the same key.
    async fn reply(&self, thread: &str, reply: &Reply) -> Result<(), String>;
}

/// What is new in a thread, with something to answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct News {
    /// What the session must catch up on first.
    pub past: Vec<Past>,
    /// What is answered: the last message from outside.
    pub message: ThreadMessage,
    /// How the session reads it.
    pub text: String,
}

/// What is to be answered among messages. The agent's own answers in this session, known by how their keys begin, are in
/// it already.
pub(super) fn news(messages: Vec<ThreadMessage>, own: &str) -> Option<News> {
    let is_ours =
        |message: &ThreadMessage| matches!(&message.by, By::Own { key: Some(key) } if key.starts_with(own));
    let mut messages: Vec<ThreadMessage> = messages.into_iter().filter(|message| !is_ours(message)).collect();
    let last = messages.iter().rposition(|message| matches!(message.by, By::Inbound { .. }))?;
    // Somebody of the team answered: whoever is outside is owed nothing.
    if messages.iter().skip(last).any(|message| matches!(message.by, By::Teammate { .. })) {
        return None;
    }
    let message = messages.remove(last);
    Some(News { past: messages.iter().map(past).collect(), text: read(&message), message })
}

fn past(message: &ThreadMessage) -> Past {
    let (text, source) = (read(message), message.id.clone());
    match &message.by {
        By::Own { .. } => Past::Assistant { text, source },
        By::Inbound { .. } | By::Teammate { .. } | By::Note { .. } => Past::User { text, source },
    }
}

/// A message as a session reads it. What the agent said is its own; everything else says whose words it is.
fn read(message: &ThreadMessage) -> String {
    let quoted = |element: &str, name: &str| fenced(element, &[("from", name)], &message.text);
    match &message.by {
        By::Own { .. } => message.text.clone(),
        By::Inbound { name } => quoted("message", name),
        By::Teammate { name } => format!(
            "Background: a teammate answered in this thread. Nothing is asked of you here.\n{}",
            quoted("teammate", name)
        ),
        By::Note { name } => format!(
            "Background: a teammate left a note that whoever is outside cannot see. Do not quote it to them.\n{}",
            quoted("note", name)
        ),
    }
}
