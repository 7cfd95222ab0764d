//! `suggest_replies`: ends the run with answers that the person can pick.

use std::sync::Arc;

use mica_agent::{Ends, Tool, ToolError, ToolOutput, TypedTool};
use mica_domain::Act;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::line;

/// Its name.
pub const NAME: &str = "suggest_replies";

const ABOUT: &str = "Offers the person short answers to pick from, and ends your turn. Say what you have to say before, and use it \
                     when a choice between a few things is open, for example which of two records is meant.";

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Two to four answers, in the person's words, each under 60 letters.
    replies: Vec<String>,
}

pub(crate) fn tool() -> Arc<dyn Tool> {
    let tool = TypedTool::new(NAME, ABOUT, |input: Input, _| async move {
        let replies: Vec<String> =
            input.replies.iter().map(|reply| line(reply, 80)).filter(|reply| !reply.is_empty()).collect();
        if replies.is_empty() || replies.len() > 4 {
            return Err(ToolError::new("Offer one to four answers. Nothing was offered."));
        }
        let text = format!("Offered: {}", replies.join(" | "));
        Ok(ToolOutput::text(text).with_details(json!({ "replies": replies })))
    });
    Arc::new(tool.with(|spec| {
        spec.label = "Suggest replies".to_owned();
        spec.ends = Ends::Run;
    }))
}

pub(crate) fn act() -> Act {
    Act::of(NAME).questioning()
}
