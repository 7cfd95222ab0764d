//! `mica outline`: what is in a file.

use std::fmt::Write as _;
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
        PlainForm::Text => {
            let mut out = String::new();
            for item in &items {
                as_text(&mut out, item, source, lines, 0, paint);
            }
            out
        }
    }))
}

fn as_text(out: &mut String, item: &Item, source: &str, lines: &Lines, depth: usize, paint: Paint) {
    let line = lines.position(source, item.span.start, Unit::Utf16).line + 1;
    let _ = write!(
        out,
        "{:>5}  {:2$}{3}",
        paint.paint(Style::Blue, &format!("{line:>5}")).trim_start_matches(' '),
        "",
        depth * 2,
        item.label
    );
    if !item.name.is_empty() {
        let _ = write!(out, " {}", paint.paint(Style::Bold, &clean(&item.name).replace('\n', " ")));
    }
    out.push('\n');
    for child in &item.children {
        as_text(out, child, source, lines, depth + 1, paint);
    }
}

fn as_json(item: &Item, source: &str, lines: &Lines) -> Value {
    let place = |span| {
        let Region { line, column, end_line, end_column } = Region::of(source, lines, span);
        json!({ "line": line, "column": column, "endLine": end_line, "endColumn": end_column })
    };
    json!({
        "label": item.label,
        "name": item.name,
        "kind": item.kind.word(),
        "range": place(item.span),
        "selection": place(item.name_span),
        "children": item.children.iter().map(|child| as_json(child, source, lines)).collect::<Vec<_>>(),
    })
}
