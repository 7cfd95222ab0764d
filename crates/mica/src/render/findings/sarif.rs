//! Findings as SARIF 2.1.0, the form that code scanning reads.

use std::fmt::Write as _;

use serde_json::{Value, json};
use synapse_lang::diagnostic::{Diagnostic, Fix, Severity};
use synapse_lang::pages::{self, Page};
use synapse_lang::text::Lines;

use super::{Region, Report};
use crate::sources::Checked;

/// One run with all rules, files and findings.
pub fn print(report: &Report<'_>) -> serde_json::Result<String> {
    let results: Vec<Value> = report
        .files
        .iter()
        .enumerate()
        .flat_map(|(index, file)| {
            let lines = Lines::of(&file.text);
            report.shown(file).map(|one| result(index, file, &lines, one)).collect::<Vec<_>>()
        })
        .collect();
    let artifacts: Vec<Value> = report
        .files
        .iter()
        .map(|file| json!({ "location": location(file, None), "properties": { "kind": file.kind } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "mica",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": pages::all().iter().map(rule).collect::<Vec<_>>(),
            } },
            "invocations": [{ "executionSuccessful": true }],
            "columnKind": "utf16CodeUnits",
            "artifacts": artifacts,
            "results": results,
        }],
    });
    Ok(serde_json::to_string(&log)? + "\n")
}

fn rule(page: &Page) -> Value {
    json!({
        "id": page.code.to_string(),
        "name": page.name,
        "shortDescription": { "text": page.title },
        "fullDescription": { "text": first_paragraph(page) },
        "help": { "text": page.body.trim(), "markdown": page.body.trim() },
        "defaultConfiguration": { "level": level(page.severity) },
        "properties": { "tags": [page.class.word()], "class": page.class.word().to_uppercase() },
    })
}

/// The first paragraph below the title, as one line; the title when there is none.
fn first_paragraph(page: &Page) -> String {
    let body = page.body.trim().split_once("\n\n").map_or("", |(_, rest)| rest);
    let paragraph = body.split("\n\n").next().unwrap_or_default().trim();
    if paragraph.is_empty() || paragraph.starts_with("```") {
        page.title.to_owned()
    } else {
        paragraph.replace('\n', " ")
    }
}

fn result(index: usize, file: &Checked, lines: &Lines, one: &Diagnostic) -> Value {
    let mut result = json!({
        "ruleId": one.code.to_string(),
        "level": level(one.severity),
        "message": { "text": one.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": location(file, Some(index)),
            "region": region(Region::of(&file.text, lines, one.span)),
        } }],
        "properties": { "class": one.class.word().to_uppercase(), "severity": one.severity.word() },
    });
    if let Ok(at) = pages::all().binary_search_by_key(&one.code, |page| page.code) {
        result["ruleIndex"] = json!(at);
    }
    if !one.fixes.is_empty() {
        result["fixes"] = one.fixes.iter().map(|fix| repair(index, file, lines, fix)).collect();
    }
    result
}

fn repair(index: usize, file: &Checked, lines: &Lines, fix: &Fix) -> Value {
    let replacements: Vec<Value> = fix
        .edits
        .iter()
        .map(|edit| {
            json!({
                "deletedRegion": region(Region::of(&file.text, lines, edit.span)),
                "insertedContent": { "text": edit.text },
            })
        })
        .collect();
    json!({
        "description": { "text": fix.title },
        "artifactChanges": [{ "artifactLocation": location(file, Some(index)), "replacements": replacements }],
        "properties": { "safety": fix.safety.word() },
    })
}

fn region(region: Region) -> Value {
    json!({
        "startLine": region.line,
        "startColumn": region.column,
        "endLine": region.end_line,
        "endColumn": region.end_column,
    })
}

/// Relative paths are below the root of the sources, wherever the log is read.
fn location(file: &Checked, index: Option<usize>) -> Value {
    let mut location = json!({ "uri": uri(&file.shown) });
    if !file.shown.starts_with('/') {
        location["uriBaseId"] = json!("%SRCROOT%");
    }
    if let Some(index) = index {
        location["index"] = json!(index);
    }
    location
}

/// A path as an address: what addresses cannot have is escaped byte by byte.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => _ = write!(uri, "%{byte:02X}"),
        }
    }
    uri
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_addresses() {
        for (path, expect) in [
            ("a b/ü.xml", "a%20b/%C3%BC.xml"),
            ("/a/b.xml", "file:///a/b.xml"),
            ("<stdin>", "%3Cstdin%3E"),
            ("a:b", "a%3Ab"),
        ] {
            assert_eq!(uri(path), expect);
        }
    }
}
