//! `mica outline`: what is in a file.

use std::path::Path;

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use synapse_lang::outline::{Item, outline};
use synapse_lang::syntax::Document;
use synapse_lang::text::{Lines, Unit};

use super::language::Said;
use crate::cli::language::PlainForm;
use crate::render::findings::Region;
use crate::render::paint::{Paint, Style, clean};
use crate::sources;

/// Shows what is in a file.
///
/// # Errors
/// When it cannot be read.
pub fn run(file: &Path, form: PlainForm, paint: Paint) -> Result<Said> {
    let text = sources::read(file).map_err(|why| anyhow!("{}: {why}", sources::shown(file)))?;
    let document = Document::parse(text.text);
    let items = outline(&document);
    let (source, lines) = (document.source(), document.lines());
    Ok(Said::done(match form {
        PlainForm::Json => {
            let listed: Vec<Value> = items.iter().map(|item| as_json(item, source, lines)).collect();
            serde_json::to_string(&listed)? + "\n"
        }
        PlainForm::Text => items.iter().map(|item| as_text(item, source, lines, paint)).collect(),
    }))
}

fn as_text(item: &Item, source: &str, lines: &Lines, paint: Paint) -> String {
    let line = lines.position(source, item.span.start, Unit::Utf16).line + 1;
    let line = paint.paint(Style::Blue, &format!("{line:>5}"));
    // Trees of garbage are as deep as they are long; screens are not.
    let indent = item.depth.min(60) * 2;
    let label = clean(&item.label).replace('\n', " ");
    let (element, detail) = label.split_once(' ').unwrap_or((&label, ""));
    let detail =
        if detail.is_empty() { String::new() } else { format!(" {}", paint.paint(Style::Bold, detail)) };
    format!("{line}  {:indent$}{element}{detail}\n", "")
}

/// An item for programs.
pub fn as_json(item: &Item, source: &str, lines: &Lines) -> Value {
    let place = |span| {
        let Region { line, column, end_line, end_column } = Region::of(source, lines, span);
        json!({ "line": line, "column": column, "endLine": end_line, "endColumn": end_column })
    };
    json!({
        "label": item.label,
        "kind": item.kind.word(),
        "depth": item.depth,
        "range": place(item.span),
        "selection": place(item.name_span),
    })
}
