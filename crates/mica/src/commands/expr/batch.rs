//! Many expressions against one context: a line in, a line out.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use synapse_lang::expr::{self, Context};

use super::super::check::input;
use super::super::language::Said;
use super::{inner, result};
use crate::exit::Exit;
use crate::parallel;

/// Evaluates every line of a file. The results say how each ended; the exit code says whether all could be read.
pub(super) fn run(file: &Path, context: &Context) -> Result<Said> {
    let text = if file == Path::new("-") {
        String::from_utf8(input()?).context("standard input is not UTF-8")?
    } else {
        std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?
    };
    let lines: Vec<(usize, &str)> =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).collect();
    let results = parallel::map(&lines, |(at, line)| match request(line) {
        Ok((id, expression)) => {
            let id = id.unwrap_or_else(|| json!(at + 1));
            Ok(result(Some(&id), &expr::evaluate_text(inner(&expression), context)).to_string())
        }
        Err(why) => {
            let told = format!("line {}: {why}", at + 1);
            Err(json!({ "id": at + 1, "status": "unreadable", "string": null, "type": null, "message": told }).to_string())
        }
    });
    let mut out = String::new();
    let mut exit = Exit::Done;
    for line in results {
        let line = line.unwrap_or_else(|line| {
            exit = Exit::Usage;
            line
        });
        out.push_str(&line);
        out.push('\n');
    }
    let err = if exit == Exit::Done {
        String::new()
    } else {
        "mica: some lines are no expressions; their results say why\n".to_owned()
    };
    Ok(Said { out, err, exit })
}

/// The id and the expression of a line.
fn request(line: &str) -> Result<(Option<Value>, String), String> {
    match serde_json::from_str(line) {
        Ok(Value::String(text)) => Ok((None, text)),
        Ok(Value::Object(mut fields)) => match fields.remove("expr") {
            Some(Value::String(text)) => Ok((fields.remove("id"), text)),
            Some(_) => Err("`expr` is no string".to_owned()),
            None => Err("`expr` is missing".to_owned()),
        },
        Ok(_) => Err("write {\"id\":…,\"expr\":\"…\"} or a JSON string".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}
