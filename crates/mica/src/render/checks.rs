//! What the check of a change found, as a person reads it beside the call: a row for each finding, the worst first.
//!
//! The model gets all findings with their repairs; a person who watches wants to see that something is wrong, where, and
//! whether it is gone after the next call.

use serde::Deserialize;
use serde_json::Value;

use super::paint::Style;
use super::question::plain;

/// Rows of findings. More of them say no more to somebody who watches.
const ROWS: usize = 5;

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// What stands before it.
    pub mark: &'static str,
    /// How it is painted, where there are colours.
    pub style: Style,
    /// What it says.
    pub text: String,
}

/// A file that was checked, as packs tell it.
#[derive(Deserialize)]
struct File {
    path: String,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    broken: Vec<Broken>,
}

#[derive(Deserialize)]
struct Finding {
    severity: String,
    code: String,
    message: String,
    line: u32,
}

/// A use of something that a change took away.
#[derive(Deserialize)]
struct Broken {
    path: String,
    line: u32,
    name: String,
}

/// The rows for what a call gave besides, each of so many columns at most; none when nothing was checked.
pub fn rows(details: &Value, columns: usize) -> Vec<Row> {
    let Some(files) = details.get("checks").and_then(|checks| Vec::<File>::deserialize(checks).ok()) else {
        return Vec::new();
    };
    let several = files.len() > 1;
    let mut rows = Vec::new();
    for (severity, mark, style) in [("error", "✗", Style::Red), ("warning", "!", Style::Yellow)] {
        for file in &files {
            let place = |line: u32| {
                if several { format!("{}:{line}", name(&file.path)) } else { format!("line {line}") }
            };
            for one in file.findings.iter().filter(|one| one.severity == severity) {
                let head = format!("{} {}: ", plain(&place(one.line)), plain(&one.code));
                // Two columns for the mark.
                let room = columns.saturating_sub(2 + head.chars().count());
                let text = format!("{head}{}", clip(&plain(&one.message), room));
                rows.push(Row { mark, style, text });
            }
            for one in file.broken.iter().filter(|_| severity == "error") {
                let text = format!(
                    "{}:{}: uses {:?}, which is gone now",
                    plain(name(&one.path)),
                    one.line,
                    one.name
                );
                rows.push(Row { mark, style, text: clip(&text, columns.saturating_sub(2)) });
            }
        }
    }
    let hints = files
        .iter()
        .flat_map(|file| &file.findings)
        .filter(|one| one.severity != "error" && one.severity != "warning")
        .count();
    match (files.as_slice(), rows.len(), hints) {
        ([], ..) => {}
        ([_], 0, 0) => rows.push(good("checked, nothing wrong".to_owned())),
        ([_], 0, hints) => rows.push(good(format!("checked, nothing wrong ({})", counted(hints, "hint")))),
        (files, 0, _) => rows.push(good(format!("checked {} files, nothing wrong", files.len()))),
        (_, found, _) if found > ROWS => {
            rows.truncate(ROWS);
            rows.push(Row { mark: "…", style: Style::Dim, text: format!("and {} more", found - ROWS) });
        }
        _ => {}
    }
    rows
}

fn good(text: String) -> Row {
    Row { mark: "✓", style: Style::Green, text }
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn clip(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    // Whole words, as long as that leaves most of it.
    let cut: String = text.chars().take(longest.saturating_sub(1)).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(whole, _)| whole);
    let kept = if whole.chars().count() * 2 > longest { whole } else { cut.as_str() };
    format!("{}…", kept.trim_end_matches([',', ':', ';', '.', ' ']))
}

#[cfg(test)]
mod tests;
