//! `mica mcp list`: what is configured, what is known, and with `--check` what is there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mica_ext::mcp::config::Read;
use mica_ext::mcp::{Known, McpError, Servers};
use serde_json::json;

use crate::cli::Form;
use crate::equipment::mcp as here;
use crate::render::question::plain;
use crate::surroundings::Surroundings;

/// What is configured.
pub(super) struct Shown {
    rows: Vec<Row>,
    pub(super) problems: Vec<String>,
    /// Files of the project that are not trusted.
    untrusted: Vec<String>,
}

struct Row {
    name: String,
    source: String,
    shown: String,
    disabled: bool,
}

impl Shown {
    pub(super) fn of(read: &Read, surroundings: &Surroundings) -> Result<Self> {
        let rows = read.servers.iter().map(|config| Row {
            name: config.name.clone(),
            source: config.source.to_string(),
            shown: config.transport.shown(),
            disabled: config.disabled,
        });
        let untrusted =
            here::parts(&surroundings.folder)?.into_iter().filter(|part| !part.is_trusted(surroundings));
        Ok(Self {
            rows: rows.collect(),
            problems: read.problems.iter().map(ToString::to_string).collect(),
            untrusted: untrusted.map(|part| part.shown(&surroundings.folder).to_string()).collect(),
        })
    }
}

/// What trying each came to, and how long it took.
pub(super) type Checked = BTreeMap<String, Result<(Arc<Known>, Duration), McpError>>;

pub(super) fn print(
    shown: &Shown,
    servers: &Servers,
    checked: Option<&Checked>,
    format: Form,
) -> Result<String> {
    if format == Form::Json {
        let rows = shown.rows.iter().map(|row| {
            let known = servers.get(&row.name).and_then(mica_ext::mcp::Server::known);
            let mut out = json!({
                "name": row.name, "source": row.source, "target": row.shown, "disabled": row.disabled,
                "tools": known.as_ref().map(|known| known.tools.len()),
                "protocol": known.as_ref().map(|known| known.protocol.clone()),
                "server": known.as_ref().and_then(|known| known.server.clone()),
            });
            if let Some(found) = checked.and_then(|checked| checked.get(&row.name)) {
                out["ok"] = json!(found.is_ok());
                out["error"] = json!(found.as_ref().err().map(ToString::to_string));
            }
            out
        });
        let out = json!({ "servers": rows.collect::<Vec<_>>(), "problems": shown.problems, "untrusted": shown.untrusted });
        return Ok(format!("{out}\n"));
    }
    let mut text = String::new();
    if shown.rows.is_empty() {
        text.push_str("no MCP servers are configured; `mica mcp add` adds one\n");
    }
    let width = shown.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or_default();
    for row in &shown.rows {
        let known = servers.get(&row.name).and_then(mica_ext::mcp::Server::known);
        let state = match checked.and_then(|checked| checked.get(&row.name)) {
            _ if row.disabled => "disabled".to_owned(),
            Some(Ok((known, took))) => format!("up after {} ms; {}", took.as_millis(), about(known)),
            Some(Err(McpError::Start { reason, .. })) => format!("cannot be used: {reason}"),
            Some(Err(error)) => format!("cannot be used: {error}"),
            None => known.as_deref().map_or("tools not known yet".to_owned(), about),
        };
        let line = format!("{:<width$} {} ({}): {state}", row.name, row.shown, row.source);
        text.push_str(&format!("{}\n", plain(&line)));
    }
    for problem in &shown.problems {
        text.push_str(&format!("! {}\n", plain(problem)));
    }
    for path in &shown.untrusted {
        text.push_str(&format!(
            "! {} is not used, because it is not trusted: read it, then run `mica trust`\n",
            plain(path)
        ));
    }
    Ok(text)
}

fn about(known: &Known) -> String {
    let server = known.server.as_deref().unwrap_or("it does not say what it is");
    let era = if known.is_of_the_first_era() { "with a handshake" } else { "stateless" };
    let prompts =
        if known.prompts.is_empty() { String::new() } else { format!(", {} prompts", known.prompts.len()) };
    let resources = if known.resources { ", resources" } else { "" };
    format!("{server}, protocol {} ({era}), {} tools{prompts}{resources}", known.protocol, known.tools.len())
}
