//! `outline`: what is in a file, as `mica outline` shows it.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use synapse_lang::outline;
use synapse_lang::syntax::Document;
use synapse_lang::text::Unit;

use crate::commands::mcp::serve::answer::{Answer, Offered, Refusal};
use crate::commands::mcp::serve::site::Site;
use crate::commands::outline::as_json;
use crate::sources;

/// Items of one answer at most.
const MOST: usize = 2_000;

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// A file, relative to the root.
    path: String,
}

/// What is in it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Output {
    path: String,
    /// Artifacts, resources, sequences and their steps, in the order of the file: label, kind, depth, range, selection.
    items: Vec<Value>,
    /// Items that there was no room for.
    left_out: usize,
}

/// The tool.
pub fn tool() -> Offered {
    Offered::new(
        "outline",
        "Outline an artifact",
        "Shows what is in a Synapse file: artifacts, resources, sequences and their mediators, with lines. Cheaper than reading \
         the file.",
        run,
    )
}

fn run(site: &Site, input: &Input) -> Result<Answer<Output>, Refusal> {
    let file = site.place(&input.path)?;
    let path = site.shown(&file);
    if file.is_dir() {
        return Err(Refusal::new(format!(
            "{path} is a folder; name a file. `project_graph` shows a project."
        )));
    }
    let text = sources::read(&file).map_err(|why| Refusal::new(format!("{path}: {why}")))?;
    let document = Document::parse(text.text);
    let all = outline::outline(&document);
    let (source, lines) = (document.source(), document.lines());
    let mut text = String::new();
    for item in all.iter().take(MOST) {
        let line = lines.position(source, item.span.start, Unit::Utf16).line + 1;
        let indent = item.depth.min(60) * 2;
        let _ = writeln!(text, "{line:>5}  {:indent$}{}", "", item.label.replace('\n', " "));
    }
    let left_out = all.len().saturating_sub(MOST);
    if left_out > 0 {
        let _ = writeln!(text, "and {left_out} more");
    }
    let items = all.iter().take(MOST).map(|item| as_json(item, source, lines)).collect();
    Ok(Answer { text: text.trim_end().to_owned(), data: Output { path, items, left_out } })
}
