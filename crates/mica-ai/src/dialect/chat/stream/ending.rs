//! What a `finish_reason` means. The wire names five; servers have more.

use serde_json::Value;

use crate::error::{classify, hits_text};

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The model was done. Not plain: in words of the server's own.
    Done { plain: bool },
    /// The model waits for tool results.
    Calls,
    /// A limit cut it off. Not plain: in words of the server's own.
    Limit { plain: bool },
    /// The model declined.
    Declined,
    /// A filter cut it off.
    Filtered,
    /// The server could not go on.
    Failed,
}

impl Ending {
    /// The meaning of a reason. An unknown one means that the model was done: servers pass on the name of the
    /// token or rule that ended the answer.
    pub(super) fn of(reason: &str) -> Self {
        match reason {
            "stop" => Ending::Done { plain: true },
            "tool_calls" | "function_call" | "tool_call" | "tool_use" => Ending::Calls,
            "length" => Ending::Limit { plain: true },
            "max_tokens" | "model_length" | "MAX_TOKENS" | "model_context_window_exceeded" => {
                Ending::Limit { plain: false }
            }
            "refusal" => Ending::Declined,
            "content_filter"
            | "sensitive"
            | "safety"
            | "SAFETY"
            | "RECITATION"
            | "PROHIBITED_CONTENT"
            | "guardrail_intervened" => Ending::Filtered,
            "error" | "abort" | "network_error" | "insufficient_system_resource" => Ending::Failed,
            _ => Ending::Done { plain: false },
        }
    }
}

/// Which filter struck, as far as the chunk says. Read again from the text, because most chunks of Azure carry
/// these results and only the last one's matter.
pub(super) fn filter_detail(reason: &str, data: &str) -> String {
    let chunk: Value = serde_json::from_str(data).unwrap_or_default();
    let hits = classify::filter_hits(&chunk["choices"][0]["content_filter_results"]);
    if hits.is_empty() { reason.to_owned() } else { format!("{reason}: {}", hits_text(&hits)) }
}
