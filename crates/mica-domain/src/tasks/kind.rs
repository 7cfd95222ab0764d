//! What a product says of one kind of background work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Background work that a tool began: what it puts under `task_notification` into the details of its result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Announced {
    /// The kind of work, as [`TaskKind::kind`] says it.
    pub kind: String,
    /// Which of them: whatever the kind can find it by.
    #[serde(rename = "ref")]
    pub reference: String,
}

impl Announced {
    /// Where it is in the details of a result.
    pub const KEY: &str = "task_notification";

    /// Work of a kind.
    pub fn new(kind: impl Into<String>, reference: impl Into<String>) -> Self {
        Self { kind: kind.into(), reference: reference.into() }
    }

    /// Details that announce it, and nothing else.
    pub fn details(&self) -> Value {
        json!({ Self::KEY: { "kind": self.kind, "ref": self.reference } })
    }

    /// What the details of a result announce.
    ///
    /// # Errors
    /// In words, when something is announced that cannot be read: work that nobody would watch.
    pub fn of(details: Option<&Value>) -> Result<Option<Self>, String> {
        let Some(announced) = details.and_then(|details| details.get(Self::KEY)) else { return Ok(None) };
        let read: Self = serde_json::from_value(announced.clone())
            .map_err(|error| format!("{} is not {{kind, ref}}: {error}", Self::KEY))?;
        let empty = read.kind.is_empty() || read.reference.is_empty();
        if empty { Err(format!("{} has an empty kind or ref", Self::KEY)) } else { Ok(Some(read)) }
    }
}

/// How work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// It did what it should.
    Completed,
    /// It did not.
    Failed,
    /// Somebody ended it.
    Cancelled,
    /// It is not known: it took too long, or is not there any more.
    Unknown,
}

impl TaskStatus {
    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }
}

/// What a session is told of work that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// How it ended.
    pub status: TaskStatus,
    /// What came of it, in one line. Words of the work itself may be among it: it reaches the model fenced.
    pub line: String,
    /// What the model should do about it, in the product's own words: nothing of the work's belongs here.
    pub instruction: String,
}

/// A kind of background work: how to find it, whether it has ended, and what to say then.
///
/// Contract: `load` only looks. It is asked again and again, by several processes, and after restarts.
#[async_trait]
pub trait TaskKind: Send + Sync {
    /// Names the kind: `reindex`.
    fn kind(&self) -> &str;

    /// How a task stands, from where the truth is. `None`: there is none, or none any more.
    ///
    /// # Errors
    /// In words: it cannot be told now. It is asked again later.
    async fn load(&self, reference: &str) -> Result<Option<Value>, String>;

    /// Whether it has ended.
    fn is_terminal(&self, task: &Value) -> bool;

    /// What is told of one that has ended.
    fn summarise(&self, task: &Value) -> Summary;

    /// How long one may take. When it takes longer, that is told instead, and it is watched no more.
    fn deadline(&self) -> Duration {
        Duration::from_secs(24 * 60 * 60)
    }
}

/// The kinds there are, by name.
#[derive(Clone, Default)]
pub struct TaskKinds {
    kinds: BTreeMap<String, Arc<dyn TaskKind>>,
}

impl TaskKinds {
    /// Kinds. Of two with the same name the later one counts.
    pub fn new(kinds: impl IntoIterator<Item = Arc<dyn TaskKind>>) -> Self {
        Self { kinds: kinds.into_iter().map(|kind| (kind.kind().to_owned(), kind)).collect() }
    }

    /// The one of a name.
    pub fn get(&self, kind: &str) -> Option<&Arc<dyn TaskKind>> {
        self.kinds.get(kind)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }
}
