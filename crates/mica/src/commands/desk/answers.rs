//! What people answer to a question, in words.
//!
//! Promise: only what is clear decides. A yes with a condition, a no that means a yes (`no problem`) and anything else is
//! unclear, and is asked again; nothing that was not said is taken for a no.

use anyhow::Result;
use mica_agent::Args;

use super::edits;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Do it.
    Yes,
    /// Do it, but with something changed: as it was written.
    Edit(String),
    /// Do not do it, and why, where that was said.
    No {
        /// Why.
        reason: Option<String>,
    },
    /// It stays open.
    Later,
    /// It could be either.
    Unclear,
}

/// What is said where an answer was unclear.
pub const UNCLEAR: &str = "that is neither a clear yes nor a clear no, so nothing was decided: y, n and why, e NAME=VALUE, or l for later \
                           (then you can say something else)";

/// First words of a yes.
const YES: &[&str] = &[
    "y",
    "yes",
    "yep",
    "yeah",
    "yup",
    "ok",
    "okay",
    "k",
    "sure",
    "approve",
    "approved",
    "confirm",
    "confirmed",
    "certainly",
    "absolutely",
    "please",
    "fine",
    "go",
    "do",
    "of",
    "sounds",
    "looks",
    "great",
    "good",
    "perfect",
    "alright",
];
/// Words that change nothing about a yes.
const POLITE: &[&str] = &[
    "yes", "ok", "okay", "sure", "please", "thanks", "thank", "you", "do", "it", "that", "this", "go",
    "ahead", "on", "fine", "good", "great", "perfect", "course", "of", "for", "it", "is", "me", "all",
    "right", "now", "approve", "approved", "send", "with", "by", "so", "then", "very", "much", "i", "agree",
    "to",
];
/// First words alone that are not a yes until more comes.
const ALONE: &[&str] = &["of", "sounds", "looks", "do", "please"];
/// First words of a no.
const NO: &[&str] =
    &["n", "no", "nope", "nah", "deny", "denied", "reject", "rejected", "don't", "dont", "never", "stop"];
/// What follows a no that is none.
const NOT_NO: &[&str] = &[
    "problem",
    "problems",
    "worries",
    "worry",
    "objection",
    "objections",
    "issue",
    "issues",
    "doubt",
    "need",
];

/// Reads an answer.
pub fn read(line: &str) -> Answer {
    let line = line.trim();
    let lower = line.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|letter: char| !letter.is_alphanumeric() && letter != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let Some((first, rest)) = words.split_first() else { return Answer::Unclear };
    let head = line.split(char::is_whitespace).next().unwrap_or_default();
    if matches!(head.to_lowercase().as_str(), "e" | "edit") {
        return Answer::Edit(line.get(head.len()..).unwrap_or_default().trim().to_owned());
    }
    match words.as_slice() {
        ["l" | "later"] | ["not", "now"] | ["ask", "me", "later"] | ["maybe", "later"] | ["not", "yet"] => {
            return Answer::Later;
        }
        ["do", "not", ..] => return Answer::No { reason: reason(line, 2) },
        _ => {}
    }
    if NO.contains(first) {
        let is_none = rest.first().is_some_and(|word| NOT_NO.contains(word)) || rest.contains(&"yes");
        return if is_none { Answer::Unclear } else { Answer::No { reason: reason(line, 1) } };
    }
    let is_yes = YES.contains(first)
        && rest.iter().all(|word| POLITE.contains(word))
        && !(rest.is_empty() && ALONE.contains(first))
        // A question is no answer.
        && !line.contains('?');
    if is_yes { Answer::Yes } else { Answer::Unclear }
}

/// What follows so many words, without what joins it to them.
fn reason(line: &str, words: usize) -> Option<String> {
    let mut rest = line.trim();
    for _ in 0..words {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '\'' && letter != '’')?;
        rest = rest.get(end..)?.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    }
    let rest = rest.strip_prefix("because ").unwrap_or(rest).trim();
    (!rest.is_empty()).then(|| rest.to_owned())
}

/// The changes of [`Answer::Edit`]: one `NAME=VALUE` until the end of the line, several with quotes around what has spaces,
/// or a JSON object. `now` are the arguments as they are: they say what kind of value each of them is.
///
/// # Errors
/// In words.
pub fn changes(text: &str, now: &serde_json::Value) -> Result<Args> {
    if text.starts_with('{') {
        return serde_json::from_str(text)
            .map_err(|error| anyhow::anyhow!("what follows `e` is no JSON object: {error}"));
    }
    let Some((name, value)) = text.split_once('=') else {
        anyhow::bail!("write for example: e body=Hello Ana, or e {{\"body\": \"Hello Ana\"}}")
    };
    let words = edits::words(text).unwrap_or_default();
    let pairs: Option<Vec<(&str, &str)>> = words.iter().map(|word| word.split_once('=')).collect();
    if let Some(pairs) = pairs.filter(|pairs| pairs.len() > 1) {
        let change = |(name, value): (&str, &str)| Ok((name.to_owned(), edits::value(value, now.get(name))?));
        return pairs.into_iter().map(change).collect();
    }
    let name = name.trim();
    Ok(Args::from_iter([(name.to_owned(), edits::value(edits::unquoted(value.trim()), now.get(name))?)]))
}

#[cfg(test)]
mod tests;
