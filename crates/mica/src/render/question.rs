//! A question about a call, as a person reads it: what would happen, why it is asked, and what can be answered.
//!
//! What models and files say reaches the terminal as text and nothing else. A question is where somebody would try to
//! have a person allow something other than what they see, so whatever moves a cursor or hides a letter is spelled out.

use std::fmt::Write as _;

use mica_agent::{Ask, Preview, Proposal, Scope};
use serde_json::Value;

use super::text::brief;

/// How much of a question is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// What fits on a small screen.
    Short,
    /// All of it.
    Whole,
}

/// Rows of what would happen that a short question has: with what is around them they fit on a screen of 24.
const ROWS: usize = 18;

/// Whether what is printed may have colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// It may.
    Colours,
    /// It may not.
    Plain,
}

/// The question, without a line break at its end.
pub fn question(ask: &Ask, length: Length, paint: Paint) -> String {
    let rows = rows(ask, paint);
    let hidden = match length {
        // Hiding one row takes a row to say so.
        Length::Short if rows.len() > ROWS + 1 => rows.len() - ROWS,
        _ => 0,
    };
    let mut text = title(ask);
    for row in rows.iter().take(rows.len() - hidden) {
        let _ = write!(text, "\n  {row}");
    }
    let mut answers = "[y]es, [n]o, or say what to do instead:";
    if hidden > 0 {
        let _ = write!(text, "\n  … {hidden} more lines");
        answers = "[y]es, [n]o, [a]ll of it, or say what to do instead:";
    }
    let why = plain(ask.reason.trim_end_matches('.'));
    let _ = write!(text, "\n  {why}.");
    for changed in &ask.changed {
        let _ = write!(text, "\n  changed: {}", plain(changed));
    }
    for (word, proposal) in choices(ask) {
        let lasts = match proposal.scope {
            Scope::Session => "for this session",
            Scope::Project => "always in this project",
        };
        let _ = write!(text, "\n  [{word}] yes, and {lasts}: {}", plain(&proposal.text));
    }
    let _ = write!(text, "\n  {answers}");
    text
}

/// What can be answered to have something remembered: `s` for the session, `p` for the project; with a number where there
/// is more than one.
pub fn choices(ask: &Ask) -> Vec<(String, &Proposal)> {
    let (mut session, mut project) = (0, 0);
    let word = |proposal: &Proposal| {
        let (letter, count) = match proposal.scope {
            Scope::Session => ('s', &mut session),
            Scope::Project => ('p', &mut project),
        };
        *count += 1;
        if *count == 1 { letter.to_string() } else { format!("{letter}{count}") }
    };
    let words: Vec<String> = ask.proposals.iter().map(word).collect();
    words.into_iter().zip(&ask.proposals).collect()
}

/// The proposal that a word stands for.
pub fn picked<'a>(ask: &'a Ask, word: &str) -> Option<&'a Proposal> {
    choices(ask).into_iter().find(|(choice, _)| choice == word).map(|(_, proposal)| proposal)
}

/// Whether a word would stand for a proposal in some question.
pub fn is_choice(word: &str) -> bool {
    word.strip_prefix(['s', 'p']).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The call in one row: what, where, how much.
pub fn title(ask: &Ask) -> String {
    let name = plain(&ask.call.name);
    match &ask.preview {
        Some(Preview::Diff { title, added, removed, .. }) => {
            format!("{name} {} (+{added} -{removed})", plain(title))
        }
        Some(Preview::Text { title, .. }) => format!("{name}: {}", plain(title)),
        _ => match ask.arguments.get("path").and_then(Value::as_str) {
            Some(path) => format!("{name} {}", plain(path)),
            None => name,
        },
    }
}

/// The call in one row that has to do without more: the arguments follow where there is no better picture.
pub fn short(ask: &Ask) -> String {
    match &ask.preview {
        Some(Preview::Diff { .. } | Preview::Text { .. }) => title(ask),
        Some(Preview::Fails { reason }) => {
            let first = reason.lines().next().unwrap_or_default();
            format!("{} (as things are now it fails: {})", title(ask), plain(first))
        }
        None => format!("{} {}", plain(&ask.call.name), brief(&ask.arguments, 60)).trim_end().to_owned(),
    }
}

fn rows(ask: &Ask, paint: Paint) -> Vec<String> {
    match &ask.preview {
        Some(Preview::Diff { diff, .. }) if diff.is_empty() => {
            vec!["nothing would change".to_owned()]
        }
        // Which file it is stands in the title already.
        Some(Preview::Diff { diff, .. }) => {
            diff.lines().skip_while(|line| is_head(line)).map(|line| of_diff(line, paint)).collect()
        }
        Some(Preview::Text { text, .. }) => text.lines().map(plain).collect(),
        Some(Preview::Fails { reason }) => {
            let mut rows = vec!["as things are now, this fails:".to_owned()];
            rows.extend(reason.lines().map(|line| format!("  {}", plain(line))));
            rows.extend(arguments(&ask.arguments));
            rows
        }
        None => arguments(&ask.arguments),
    }
}

fn is_head(line: &str) -> bool {
    line.starts_with("--- ") || line.starts_with("+++ ")
}

fn of_diff(line: &str, paint: Paint) -> String {
    let text = plain(line);
    let colour = match line.as_bytes().first() {
        _ if paint == Paint::Plain => return text,
        Some(b'+') => "32",
        Some(b'-') => "31",
        Some(b'@') => "36",
        _ => return text,
    };
    format!("\x1b[{colour}m{text}\x1b[0m")
}

/// Arguments as rows of `name: value`. Texts of several lines stand below their name.
fn arguments(arguments: &Value) -> Vec<String> {
    let Value::Object(members) = arguments else { return vec![plain(&arguments.to_string())] };
    let mut rows = Vec::new();
    for (name, value) in members {
        let name = plain(name);
        match value {
            Value::String(text) if text.contains('\n') => {
                rows.push(format!("{name}:"));
                rows.extend(text.lines().map(|line| format!("  {}", plain(line))));
            }
            Value::String(text) => rows.push(format!("{name}: {}", plain(text))),
            Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
                rows.push(format!("{name}:"));
                for item in list {
                    let inner = self::arguments(item);
                    rows.extend(
                        inner
                            .into_iter()
                            .enumerate()
                            .map(|(index, row)| format!("  {} {row}", if index == 0 { "-" } else { " " })),
                    );
                }
            }
            Value::Object(_) => {
                rows.push(format!("{name}:"));
                rows.extend(self::arguments(value).into_iter().map(|row| format!("  {row}")));
            }
            other => rows.push(format!("{name}: {}", plain(&other.to_string()))),
        }
    }
    rows
}

/// The same for a text of several lines.
pub fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

/// The same for a text that is printed: every line has its end.
pub fn plain_page(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", plain(line))).collect()
}

/// A text in which whatever a terminal would obey, or would not show, is spelled out.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' => out.push_str("    "),
            '\r' => out.push('␍'),
            c if c.is_control() || is_hidden(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// Characters without a shape, which change how others are read or hide a text of their own: directions, joiners, fillers,
/// marks of byte order, selectors of variants. The one selector that ordinary emoji end with stays.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0e}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests;
