//! Markdown. Words stay as they were written; what tools were given and gave is fenced, with fences that what is inside
//! cannot end.

use std::fmt::Write;

use mica_ai::Message;
use mica_ai::message::{Block, Content, Image, ImageSource, ResultStatus};

use super::{Document, arguments, remark, usage_line};
use crate::entry::Body;

pub(super) fn write(document: &Document) -> String {
    let mut text = String::new();
    let header = &document.header;
    let _ = writeln!(text, "# {}\n", one_line(&document.title));
    let _ = writeln!(
        text,
        "- Session: `{}`\n- Project: {}\n- Begun: {}",
        header.id,
        code(&header.project),
        header.created
    );
    if let Some(from) = &header.forked_from {
        let _ = writeln!(text, "- Forked from: `{}` at `{}`", from.session, from.entry);
    }
    if let Some(of) = &header.child_of {
        let _ = writeln!(text, "- Subagent of: `{}`", of.session);
    }
    for (number, part) in document.parts.iter().enumerate() {
        if part.begins_branch && number > 0 {
            let after = part.entry.parent.map(|parent| format!("after `{parent}`"));
            let _ =
                writeln!(text, "\n---\n\n*Another branch, {}*", after.as_deref().unwrap_or("from the start"));
        }
        if let Some(label) = &part.label {
            let _ = writeln!(text, "\n*Label: {}*", one_line(label));
        }
        entry(&mut text, &part.entry.body);
    }
    let _ = writeln!(text, "\n---\n\n{}", usage_line(document));
    text
}

fn entry(text: &mut String, body: &Body) {
    match body {
        Body::Message { message: Message::User(user) } => {
            text.push_str("\n## User\n");
            content(text, &user.content);
        }
        Body::Message { message: Message::Assistant(answer) } => {
            let _ = writeln!(text, "\n## Assistant ({})", one_line(&answer.origin.model));
            answer.blocks.iter().for_each(|piece| block(text, piece));
            if !answer.stop.is_whole() {
                let _ = writeln!(text, "\n*Ended early: {:?}*", answer.stop);
            }
        }
        Body::Message { message: Message::ToolResult(result) } => {
            let failed = if result.status == ResultStatus::Failed { " (failed)" } else { "" };
            let _ = writeln!(text, "\n### Result of {}{failed}", code(&result.tool));
            for piece in &result.content {
                match piece {
                    Content::Text { text: words } => fence(text, "", words),
                    Content::Image(picture) => image(text, picture),
                }
            }
        }
        Body::Compaction(compaction) => {
            let _ = writeln!(text, "\n## Summary of what came before\n\n{}", compaction.summary);
        }
        Body::BranchSummary(summary) => {
            let _ = writeln!(text, "\n## Summary of a branch that was left\n\n{}", summary.summary);
        }
        other => {
            if let Some(remark) = remark(other) {
                let _ = writeln!(text, "\n*{}*", one_line(&remark));
            }
        }
    }
}

fn content(text: &mut String, pieces: &[Content]) {
    for piece in pieces {
        match piece {
            Content::Text { text: words } => {
                let _ = writeln!(text, "\n{words}");
            }
            Content::Image(picture) => image(text, picture),
        }
    }
}

fn block(text: &mut String, block: &Block) {
    match block {
        Block::Text(words) => {
            let _ = writeln!(text, "\n{}", words.text);
        }
        Block::Thinking(thinking) if thinking.text.is_empty() => {}
        Block::Thinking(thinking) => {
            text.push_str("\n*Thinking:*\n");
            fence(text, "", &thinking.text);
        }
        Block::Image(picture) => image(text, picture),
        Block::ToolCall(call) => {
            let _ = writeln!(text, "\n### Call of {}", code(&call.name));
            fence(text, "json", &arguments(call.arguments.text()));
        }
    }
}

fn image(text: &mut String, image: &Image) {
    let _ = match &image.source {
        ImageSource::Base64(data) => {
            writeln!(text, "\n*Image ({}, {} bytes as base64)*", one_line(&image.media_type), data.len())
        }
        ImageSource::Url(url) => writeln!(text, "\n*Image at {}*", code(url)),
    };
}

/// A block that nothing inside can end: its fence is longer than any run of back-ticks in it.
fn fence(text: &mut String, language: &str, inside: &str) {
    let ticks = "`".repeat(longest_run(inside).max(2) + 1);
    let _ = writeln!(text, "\n{ticks}{language}\n{}\n{ticks}", inside.trim_end_matches('\n'));
}

/// A piece of a line that nothing inside can end.
fn code(inside: &str) -> String {
    let ticks = "`".repeat(longest_run(inside) + 1);
    let space = if inside.contains('`') { " " } else { "" };
    format!("{ticks}{space}{}{space}{ticks}", one_line(inside))
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
