//! Notebooks (`.ipynb`): JSON that is shown as the cells it stands for.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::text::floor;

/// Bytes of one output that are shown.
const OUTPUT: usize = 2_000;
/// Outputs of one cell that are shown.
const OUTPUTS: usize = 20;

/// Whether a path is that of a notebook.
pub(crate) fn is_notebook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb"))
}

/// Whether a notebook that could be read cannot be any more.
pub(crate) fn breaks(before: &str, after: &str) -> bool {
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    is_json(before) && !is_json(after)
}

/// The cells of a notebook, as text. `None`: it is none.
pub fn cells(bytes: &[u8]) -> Option<String> {
    let whole: Value = serde_json::from_slice(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).ok()?;
    let cells = whole.get("cells")?.as_array()?;
    let kernel = whole.pointer("/metadata/kernelspec/name").and_then(Value::as_str);
    let language = whole.pointer("/metadata/language_info/name").and_then(Value::as_str);
    let about = kernel.or(language).map(|kernel| format!(", {kernel}")).unwrap_or_default();
    let count = if cells.len() == 1 { "1 cell".to_owned() } else { format!("{} cells", cells.len()) };
    // Writing to a string cannot fail.
    let mut shown = format!(
        "[a notebook with {count}{about}; this is not its text: read it with raw to quote its JSON in an edit]\n"
    );
    for (index, cell) in cells.iter().enumerate() {
        let kind = cell.get("cell_type").and_then(Value::as_str).unwrap_or("unknown");
        let run = cell.get("execution_count").and_then(Value::as_u64);
        let run = run.map(|run| format!(", run {run}")).unwrap_or_default();
        let _ = writeln!(shown, "--- cell {index} ({kind}{run}) ---");
        push_lines(&mut shown, &text_of(cell.get("source")));
        let outputs = cell.get("outputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for output in outputs.iter().take(OUTPUTS) {
            let _ = writeln!(shown, "--- output of cell {index} ---");
            push_lines(&mut shown, &clipped(&output_of(output)));
        }
        if outputs.len() > OUTPUTS {
            let _ = writeln!(shown, "[… {} more outputs are left out …]", outputs.len() - OUTPUTS);
        }
    }
    Some(shown)
}

/// Text that is one string, or a list of lines.
fn text_of(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output_of(output: &Value) -> String {
    if output.get("output_type").and_then(Value::as_str) == Some("error") {
        let part = |name: &str| output.get(name).and_then(Value::as_str).unwrap_or_default();
        return format!("{}: {}", part("ename"), part("evalue"));
    }
    if let text @ Some(_) = output.get("text") {
        return text_of(text);
    }
    let Some(data) = output.get("data").and_then(Value::as_object) else {
        return "[nothing to show]".to_owned();
    };
    if let plain @ Some(_) = data.get("text/plain") {
        let pictures: Vec<&str> =
            data.keys().map(String::as_str).filter(|kind| kind.starts_with("image/")).collect();
        let also =
            if pictures.is_empty() { String::new() } else { format!("\n[and {}]", pictures.join(", ")) };
        return format!("{}{also}", text_of(plain));
    }
    let kinds: Vec<&str> = data.keys().map(String::as_str).collect();
    format!("[{}]", kinds.join(", "))
}

fn clipped(text: &str) -> String {
    if text.len() <= OUTPUT {
        return text.to_owned();
    }
    let end = floor(text, OUTPUT);
    format!("{}\n[… {} more bytes of this output are left out …]", &text[..end], text.len() - end)
}

fn push_lines(shown: &mut String, text: &str) {
    shown.push_str(text);
    if !text.is_empty() && !text.ends_with('\n') {
        shown.push('\n');
    }
}

#[cfg(test)]
mod tests;
