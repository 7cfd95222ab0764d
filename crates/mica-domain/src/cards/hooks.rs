//! The cards of a session at work in its runs.
//!
//! | moment | what happens |
//! |---|---|
//! | a call gave something | things are looked for in it |
//! | its result is on record, and is no failure | what was found is known, and kept |
//! | an answer is about to be on record | what models will see of its cards is made, and kept |
//! | a request is made | the answers in it are seen so |
//!
//! What was made of an answer is kept before the answer is, so no request can be made that would show it otherwise later.

use async_trait::async_trait;
use mica_agent::event::WindowChange;
use mica_agent::hooks::{Point, Record};
use mica_agent::{Context, Hooks, ToolOutput, ToolSpec};
use mica_ai::message::{ResultStatus, ToolCall};
use mica_ai::{Assistant, Block, Message};

use super::Cards;
use super::view::may_have_cards;

#[async_trait]
impl Hooks for Cards {
    fn says(&self, at: Point) -> bool {
        let wanted = matches!(at, Point::Transform | Point::AfterTool | Point::Record);
        wanted && !self.kinds().is_empty()
    }

    /// Nothing that was sent before is changed: what models see of an answer was made before it was sent the first time.
    async fn transform(&self, messages: &mut Vec<Message>, _: &Context) -> Vec<WindowChange> {
        let mut is_new = false;
        for message in messages.iter_mut() {
            if let Message::Assistant(answer) = message
                && has_cards(answer)
            {
                is_new |= self.seen(answer);
                self.put_on(answer);
            }
        }
        // Answers that came from elsewhere, such as from another session. A failure is told where the next thing is kept.
        if is_new && let Err(problem) = self.flush().await {
            tracing::warn!(problem, "what models see of cards could not be kept yet");
        }
        Vec::new()
    }

    async fn after_tool(&self, call: &ToolCall, _: &ToolSpec, output: &mut ToolOutput) {
        self.found(call, output);
    }

    async fn record(&self, record: Record<'_>) -> Result<(), String> {
        match record {
            Record::Message(Message::ToolResult(result)) => {
                self.settle(&result.call, result.status == ResultStatus::Ok);
            }
            Record::Message(Message::Assistant(answer)) if has_cards(answer) => {
                self.seen(answer);
            }
            _ => {}
        }
        self.flush().await
    }
}

fn has_cards(answer: &Assistant) -> bool {
    answer.blocks.iter().any(|block| matches!(block, Block::Text(text) if may_have_cards(&text.text)))
}

#[cfg(test)]
mod tests;
