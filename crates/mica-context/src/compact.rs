//! Compaction: a summary takes the place of the beginning of the window.
//!
//! It runs between turns and before the window is full, after the provider said that it is, or when asked to. Nothing is
//! lost: what leaves the window is in the session, and a compaction is a record there, so it can be undone by going back.
//!
//! Invariants: each message is either in what was summarised or kept; kept ones are kept as they are, in order, with
//! their results; an earlier summary is part of what is summarised. A compaction frees at least a floor or does not
//! happen.

use mica_agent::Context;
use mica_ai::id::MessageId;
use mica_ai::{Message, Usage};
use serde::{Deserialize, Serialize};

pub mod checkpoint;
pub mod cut;
pub mod ledger;
pub mod limits;
pub mod machine;
pub mod summarise;
pub mod summary;
pub mod transcript;

pub use cut::Cut;
pub use ledger::{FileFact, FileFacts, FileLedger, NamedArguments};
pub use limits::WindowLimits;
pub use summarise::{AskModel, Job, Summarise, Summarised, SummaryError};
pub use summary::Summary;

use crate::breakpoints::MarkSettings;
use crate::section::{Rendered, context_block};
use crate::tokens::{self, Scale};

/// How compaction is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompactSettings {
    /// Tokens of the newest messages that are kept.
    pub keep_recent: u64,
    /// The same for small windows, as a share of what may be filled, in percent. The smaller of the two counts.
    pub keep_percent: u64,
    /// It must free this share of the window's content, in percent …
    pub floor_percent: u64,
    /// … or this many tokens.
    pub floor_tokens: u64,
    /// Compactions in a row without an answer between them.
    pub max_in_a_row: u32,
}

impl Default for CompactSettings {
    /// 20,000 tokens are the last dozen of tool calls. A fifth is what a summary must free to be worth its price; 30,000
    /// tokens are ten ordinary turns, however large the window is.
    fn default() -> Self {
        Self {
            keep_recent: 20_000,
            keep_percent: 25,
            floor_percent: 20,
            floor_tokens: 30_000,
            max_in_a_row: 2,
        }
    }
}

/// Why a compaction was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "trigger", rename_all = "snake_case")]
pub enum Trigger {
    /// The window is nearly full.
    Threshold {
        /// Tokens in it.
        filled: u64,
        /// Tokens that may be.
        threshold: u64,
    },
    /// The provider said that the window is full.
    Overflow,
    /// Somebody asked for it.
    Manual {
        /// What the summary should pay attention to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        focus: Option<String>,
    },
}

impl Trigger {
    /// The reason in words.
    pub fn reason(&self) -> String {
        match self {
            Trigger::Threshold { filled, threshold } => {
                format!("{filled} tokens are in the window, and {threshold} may be")
            }
            Trigger::Overflow => "the provider said that the window is full".to_owned(),
            Trigger::Manual { .. } => "it was asked for".to_owned(),
        }
    }
}

/// Who wrote a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum MadeBy {
    /// A model.
    Model,
    /// No model could; it was put together by machine.
    Machine {
        /// Why no model could.
        because: String,
    },
}

/// What a compaction did: everything a session needs to keep it, show it and go back before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompactionRecord {
    /// Why.
    #[serde(flatten)]
    pub trigger: Trigger,
    /// The summary.
    pub summary: Summary,
    /// Who wrote it.
    #[serde(flatten)]
    pub made: MadeBy,
    /// The message that begins the window from now on.
    pub message: Message,
    /// The messages that were summarised, in order.
    pub summarised: Vec<MessageId>,
    /// The first message that was kept.
    pub first_kept: MessageId,
    /// Whether what was kept begins inside a turn.
    pub split_turn: bool,
    /// Files read and changed up to here.
    pub ledger: FileLedger,
    /// Tokens in the window before.
    pub before: u64,
    /// Tokens after, as estimated.
    pub after: u64,
    /// What the summary took.
    pub usage: Usage,
}

/// Why a window cannot be made smaller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "stuck", rename_all = "snake_case")]
pub enum Stuck {
    /// There is nothing before the part that is kept.
    #[error("nothing can be summarised: all of it is recent")]
    NothingToDrop,
    /// It would free too little to be worth it.
    #[error(
        "it would free {freed} tokens of {before}, and must free {floor}: what is left is the prompt, the tools and recent messages"
    )]
    TooLittle {
        /// Tokens in the window.
        before: u64,
        /// Tokens it would free.
        freed: u64,
        /// Tokens it must free.
        floor: u64,
    },
    /// It was done several times in a row, and the window is full again without an answer between.
    #[error("{count} compactions in a row led to no answer")]
    NoProgress {
        /// How many.
        count: u32,
    },
}

/// What a compaction works with besides the conversation.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// How it is done.
    pub settings: CompactSettings,
    /// How large the window is.
    pub limits: WindowLimits,
    /// How tokens are scaled.
    pub scale: Scale,
    /// Tokens in the window now.
    pub filled: u64,
    /// Who writes the summary.
    pub summarise: &'a dyn Summarise,
    /// What is known of files.
    pub files: &'a dyn FileFacts,
    /// How marks are planned.
    pub marks: MarkSettings,
    /// The turn sections as they are now.
    pub sections: &'a [Rendered],
}

/// Plans a cut and has the summary written. The window is not touched: record what comes back, then [`apply`] it.
///
/// # Errors
/// [`Stuck`] when there is nothing to gain. It is found out before a model is asked, except for how long a summary gets.
pub async fn prepare(
    cx: &mut Context,
    trigger: Trigger,
    means: Means<'_>,
) -> Result<CompactionRecord, Stuck> {
    let (settings, scale) = (means.settings, means.scale);
    let sizes: Vec<u64> =
        cx.messages.iter().map(|message| scale.apply(tokens::of_message(message))).collect();
    let previous = cx.messages.first().and_then(checkpoint::read);
    let fixed = usize::from(previous.is_some());
    let keep = settings.keep_recent.min(means.limits.threshold() * settings.keep_percent / 100);
    let found = cut::find(&cx.messages, &sizes, keep, fixed).ok_or(Stuck::NothingToDrop)?;

    // What the provider counted is less than the estimate, as a rule. What is freed is measured with the same rule.
    let estimated =
        scale.apply(tokens::of_prefix(&cx.system, cx.tools.definitions())) + sizes.iter().sum::<u64>();
    let counted = |estimate: u64| (estimate * means.filled).checked_div(estimated).unwrap_or(0);
    let dropped = counted(sizes.iter().take(found.first_kept).sum());
    let floor = (means.filled * settings.floor_percent / 100).min(settings.floor_tokens);
    let too_little = |freed: u64| Stuck::TooLittle { before: means.filled, freed, floor };
    if dropped < floor {
        return Err(too_little(dropped));
    }

    let focus = match &trigger {
        Trigger::Manual { focus } => focus.as_deref(),
        Trigger::Threshold { .. } | Trigger::Overflow => None,
    };
    let job = Job {
        cx,
        messages: &cx.messages,
        cut: found,
        focus,
        whole: means.limits.summary_room(means.filled).filter(|_| trigger != Trigger::Overflow),
        room: means.limits.input(),
        marks: means.marks,
    };
    let made = means.summarise.summarise(job).await;
    let (summary, by) = match made.summary {
        Ok(summary) => (summary, MadeBy::Model),
        Err(error) => (machine::summarise(&job), MadeBy::Machine { because: error.to_string() }),
    };
    let (dropped_messages, kept) = cx.messages.split_at(found.first_kept);
    let mut ledger = previous.map(|(_, ledger)| ledger).unwrap_or_default();
    ledger.take(dropped_messages, means.files);
    let mut message = checkpoint::write(&summary, &ledger);
    message
        .content
        .extend(context_block::carried(dropped_messages, kept, means.sections).map(mica_ai::Content::text));
    let message = Message::User(message);
    let added = counted(scale.apply(tokens::of_message(&message)));
    let summarised = dropped_messages.iter().map(|message| message.id().clone()).collect();
    let first_kept = kept.first().map(|message| message.id().clone()).ok_or(Stuck::NothingToDrop)?;
    cx.tally.usage += made.usage;

    let freed = dropped.saturating_sub(added);
    if freed < floor {
        return Err(too_little(freed));
    }
    Ok(CompactionRecord {
        trigger,
        summary,
        made: by,
        message,
        summarised,
        first_kept,
        split_turn: found.inside,
        ledger,
        before: means.filled,
        after: means.filled - freed,
        usage: made.usage,
    })
}

/// Puts a compaction into a window: the summary, then what was kept. Also how a session builds a window again. A record
/// that names no message of the window leaves it as it is.
pub fn apply(messages: &mut Vec<Message>, record: &CompactionRecord) {
    if let Some(at) = messages.iter().position(|message| *message.id() == record.first_kept) {
        messages.splice(..at, [record.message.clone()]);
    }
}

#[cfg(test)]
mod tests;
