//! A conversation as plain text, for a summary that is made without sending the conversation itself.

use mica_ai::message::{Block, ResultStatus};
use mica_ai::{Content, Message, StopReason};

use super::summary::limited;

/// What one entry may have at most: enough to see what a file or an error was about.
const ENTRY: usize = 2_000;

/// The messages as lines of roles and words, of so many bytes at most. The middle is left out when they have more.
pub fn write(messages: &[Message], limit: usize) -> String {
    let entries: Vec<String> = messages.iter().filter_map(entry).collect();
    let total: usize = entries.iter().map(|entry| entry.len() + 2).sum();
    if total <= limit {
        return entries.join("\n\n");
    }
    // The beginning has the task, the end has the state: a third for the one, the rest for the other.
    let fill = |entries: &mut dyn Iterator<Item = &String>, limit: usize| {
        let mut left = limit;
        let mut taken = 0;
        for entry in entries {
            if entry.len() + 2 > left {
                break;
            }
            left -= entry.len() + 2;
            taken += 1;
        }
        taken
    };
    let head = fill(&mut entries.iter(), limit / 3);
    let tail = fill(&mut entries.iter().skip(head).rev(), limit - limit / 3);
    let left_out = entries.len() - head - tail;
    let mut lines: Vec<&str> = entries.iter().take(head).map(String::as_str).collect();
    let note = format!("[{left_out} entries are left out here: there is no room for them]");
    lines.push(&note);
    lines.extend(entries.iter().skip(head + left_out).map(String::as_str));
    lines.join("\n\n")
}

fn entry(message: &Message) -> Option<String> {
    let (role, words) = match message {
        Message::User(user) => ("user", contents(&user.content)),
        Message::ToolResult(result) => {
            let role = if result.status == ResultStatus::Ok { "result" } else { "failed result" };
            (role, format!("{}: {}", result.tool, contents(&result.content)))
        }
        Message::Assistant(answer) if matches!(answer.stop, StopReason::Error | StopReason::Aborted) => {
            return None;
        }
        Message::Assistant(answer) => {
            let blocks: Vec<String> = answer.blocks.iter().filter_map(block).collect();
            ("assistant", blocks.join("\n"))
        }
    };
    (!words.trim().is_empty()).then(|| format!("[{role}] {}", limited(words.trim(), ENTRY)))
}

fn block(block: &Block) -> Option<String> {
    match block {
        Block::Text(text) => Some(text.text.clone()),
        Block::ToolCall(call) => {
            Some(format!("(calls {} {})", call.name, limited(call.arguments.text(), 400)))
        }
        Block::Thinking(_) | Block::Image(_) => None,
    }
}

/// The texts of a content, joined; pictures by a word.
pub fn contents(content: &[Content]) -> String {
    let parts: Vec<&str> = content
        .iter()
        .map(|part| match part {
            Content::Text { text } => text.as_str(),
            Content::Image(_) => "[a picture]",
        })
        .collect();
    parts.join("\n")
}
