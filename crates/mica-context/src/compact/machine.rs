//! A summary made without a model, for when none can be asked: poorer, and never missing.

use mica_ai::{Message, StopReason};

use super::Job;
use super::checkpoint;
use super::summary::{Summary, limited};
use super::transcript::contents;
use crate::section::context_block;

/// How much of the newest requests, answers and calls is kept, and of each.
const REQUESTS: usize = 8;
const ANSWERS: usize = 4;
const CALLS: usize = 40;
const EXCERPT: usize = 400;

/// What can be said without understanding: the requests, the newest answers, which calls were made. What an earlier
/// summary said stays.
pub fn summarise(job: &Job<'_>) -> Summary {
    let mut summary =
        job.messages.first().and_then(checkpoint::read).map(|(summary, _)| summary).unwrap_or_default();
    let dropped = job.dropped();
    let requests: Vec<String> = dropped.iter().filter_map(request).collect();
    if summary.goal.is_empty() {
        summary.goal = requests.first().cloned().unwrap_or_default();
    }
    append(&mut summary.facts, "The user said:", last(&requests, REQUESTS));
    let answers: Vec<String> = dropped.iter().filter_map(answer).collect();
    append(&mut summary.facts, "The assistant said last:", last(&answers, ANSWERS));
    // Where the turn begins that goes on: after everything when none does, before everything when that was summarised.
    let begins = match (job.cut.inside, job.cut.turn_start) {
        (false, _) => dropped.len(),
        (true, Some(start)) => start.min(dropped.len()),
        (true, None) => 0,
    };
    if begins > 0 && !summary.turn.is_empty() {
        let earlier = std::mem::take(&mut summary.turn);
        append(&mut summary.done, "An earlier turn:", &[line(&earlier)]);
    }
    let (before, turn) = dropped.split_at(begins);
    append(&mut summary.done, "Calls made:", last(&calls(before), CALLS));
    if let Some(begin) = turn.first().and_then(request) {
        summary.turn = format!("The user asked: {begin}");
    }
    append(&mut summary.turn, "Calls made since:", last(&calls(turn), CALLS));
    Summary::parse(&summary.render()).unwrap_or(summary)
}

fn request(message: &Message) -> Option<String> {
    match message {
        Message::User(user) if !checkpoint::is_checkpoint(message) => {
            let said: Vec<_> = user
                .content
                .iter()
                .filter(
                    |part| !matches!(part, mica_ai::Content::Text { text } if context_block::is_block(text)),
                )
                .cloned()
                .collect();
            Some(line(&contents(&said)))
        }
        _ => None,
    }
}

fn answer(message: &Message) -> Option<String> {
    match message {
        Message::Assistant(answer) if !matches!(answer.stop, StopReason::Error | StopReason::Aborted) => {
            let text = line(&answer.text());
            (!text.is_empty()).then_some(text)
        }
        _ => None,
    }
}

fn calls(messages: &[Message]) -> Vec<String> {
    let mut calls = Vec::new();
    for message in messages {
        if let Message::Assistant(answer) = message {
            calls
                .extend(answer.calls().map(|call| line(&format!("{} {}", call.name, call.arguments.text()))));
        }
    }
    calls
}

/// Words on one line, shortened.
fn line(words: &str) -> String {
    limited(&words.split_whitespace().collect::<Vec<_>>().join(" "), EXCERPT)
}

fn last(lines: &[String], count: usize) -> &[String] {
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default()
}

fn append(part: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    if !part.is_empty() {
        part.push('\n');
    }
    part.push_str(title);
    for line in lines {
        part.push_str("\n- ");
        part.push_str(line);
    }
}
