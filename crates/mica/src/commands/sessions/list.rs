//! `mica sessions list`: which sessions there are.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use mica_session::{Listing, Sessions, Summary};
use serde_json::{Value, json};

/// The table for people.
pub fn table(sessions: &Sessions, project: Option<&Path>, now: Timestamp, columns: usize) -> String {
    let listing = sessions.list(project);
    let mut out = String::new();
    if !listing.sessions.is_empty() {
        out.push_str("id           age  turns  session\n");
    }
    for summary in &listing.sessions {
        let turns = summary.turns.map_or("?".to_owned(), |turns| turns.to_string());
        let head = format!("{}  {:>6}  {turns:>5}  ", summary.id.short(), age(now, summary.changed));
        let mut tail = String::new();
        for label in summary.labels.iter().flatten() {
            let _ = write!(tail, " [{}]", clip(label, 20));
        }
        if project.is_none() {
            let _ = write!(tail, "  {}", summary.project);
        }
        let room = columns.saturating_sub(head.chars().count() + tail.chars().count()).max(20);
        let _ = writeln!(out, "{head}{}{tail}", clip(summary.title(), room));
    }
    for error in &listing.unreadable {
        let _ = writeln!(out, "note: {error}");
    }
    if listing.sessions.is_empty() {
        out.push_str(if project.is_some() {
            "there are no sessions of this folder; --all lists those of every folder\n"
        } else {
            "there are no sessions\n"
        });
    }
    out
}

/// A list of sessions as JSON.
pub fn rows(listing: &Listing) -> Value {
    values(&listing.sessions)
}

/// Sessions as JSON.
pub fn values(sessions: &[Summary]) -> Value {
    sessions.iter().map(row).collect()
}

fn row(summary: &Summary) -> Value {
    json!({
        "id": summary.id,
        "title": summary.title(),
        "name": summary.name,
        "labels": summary.labels,
        "project": summary.project,
        "created": summary.created,
        "changed": summary.changed,
        "turns": summary.turns,
        "entries": summary.entries,
        "bytes": summary.bytes + summary.blob_bytes,
        "model": summary.model,
    })
}

/// How long ago something was, in the largest unit that says something.
pub fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The beginning of a text, in so many characters.
pub fn clip(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let then = Timestamp::from_second(1_800_000_000).unwrap();
        for (seconds, told) in [
            (-5, "now"),
            (59, "now"),
            (60, "1 min"),
            (3_599, "59 min"),
            (3_600, "1 h"),
            (86_399, "23 h"),
            (86_400, "1 d"),
            (86_400 * 400, "400 d"),
        ] {
            assert_eq!(age(Timestamp::from_second(1_800_000_000 + seconds).unwrap(), then), told);
        }
        assert_eq!(clip("ääää", 3), "ää…");
    }
}
