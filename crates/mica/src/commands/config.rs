//! `mica config`: what is set, and where.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::cli::ConfigCommand;
use crate::config::{self, Config};
use crate::equipment::words::Words;
use crate::surroundings::Surroundings;

/// What settings are for. What a key says by itself is not here.
const ABOUT: &[(&str, &str)] = &[
    ("max_output", "tokens of one answer at most"),
    (
        "defer",
        "tools that are listed and loaded when they are needed, instead of being sent with every request",
    ),
    ("memory", "whether notes of earlier sessions are told to the model, and new ones can be made"),
    ("mcp.enabled", "whether MCP servers are used; which there are is said in mcp.json"),
    (
        "mcp.send_tools",
        "tools of MCP servers that are sent with every request when there are no more; others are loaded",
    ),
    ("mcp.send_bytes", "bytes that those tools take at most"),
    ("mcp.read_only", "what happens with tools of your own servers that say they only look: ask or allow"),
    ("hooks.enabled", "whether commands run at events; which there are is said in hooks.json"),
    ("hooks.claude", "whether the hooks in a project's .claude/settings.json run as well, once trusted"),
    ("extensions.disable", "extensions that are off, by name"),
    ("skills.enabled", "whether there are skills at all"),
    ("skills.builtin", "whether the skills that come along are there"),
    ("skills.disable", "skills that are off, by name"),
    ("limits.time", "seconds of work of one run at most, not counting people"),
    ("limits.idle", "seconds without a word from the model before it is asked again"),
    ("sessions.keep_days", "days a session stays unchanged before it goes; 0 keeps all"),
    ("sessions.keep", "sessions of each project that stay, the newest; 0 keeps all"),
    ("sessions.max_size", "how much of each project's sessions stays, the newest; 0 keeps all"),
    ("web.fetch", "whether web_fetch is there; every host is asked about, unless a rule allows it"),
    (
        "web.private_hosts",
        "hosts on private networks that web_fetch may reach, such as wiki.corp.example or localhost:8080",
    ),
    (
        "web.proxy",
        "whether the web is reached through the proxies that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name",
    ),
    ("web.search", "who finds pages for web_search: searxng, brave, tavily or off"),
    ("web.search_url", "the address of the search service; alone, that of a SearXNG instance"),
    ("web.search_key_env", "the variable that the search service's key is in"),
    ("shell.timeout", "seconds of a command that asks for no other time"),
    ("shell.longest", "seconds that a command can ask for at most"),
    ("shell.background", "seconds of a command in the background at most"),
    (
        "shell.tier",
        "how commands are confined: best, namespaces, landlock; none runs them unconfined and asks about every one",
    ),
    ("shell.network", "hosts that commands reach which may write, without being asked about"),
    ("shell.weak_network", "grant hosts also where only their ports can be checked"),
    ("shell.write", "folders that commands may write besides the project, ~/ is the home folder"),
];

/// The text to print.
///
/// # Errors
/// A key that is set nowhere.
pub fn run(command: &ConfigCommand, config: &Config, surroundings: &Surroundings) -> Result<String> {
    let mut out = String::new();
    match command {
        ConfigCommand::List => {
            let rows = config.list();
            let width = rows.iter().map(|(key, ..)| key.len()).max().unwrap_or(0);
            for (key, value, source) in rows {
                let _ = writeln!(out, "{key:<width$} = {value}  # {source}");
            }
        }
        ConfigCommand::Explain { key } => {
            let about_subagents = key == "subagents" || key.starts_with("subagents.");
            let wanted = config.explain("pack").pop().and_then(|(_, pack)| pack.as_str());
            let below = about_subagents
                .then(|| config.clone().with_subagents(wanted, &surroundings.folder))
                .transpose()?;
            let layers = below.as_ref().unwrap_or(config).explain(key);
            if layers.is_empty() {
                let known: Vec<String> = config.list().into_iter().map(|(key, ..)| key).collect();
                for note in &config.notes {
                    let _ = writeln!(out, "; {note}");
                }
                bail!("{key:?} is set nowhere; these are: {}{}", known.join(", "), out.trim_end());
            }
            let last = layers.len() - 1;
            for (position, (source, value)) in layers.into_iter().enumerate() {
                let counts = if position == last { "counts" } else { "overruled" };
                let _ = writeln!(out, "{value}  from {source} ({counts})");
            }
            if let Some((_, about)) = ABOUT.iter().find(|(known, _)| known == key) {
                let _ = writeln!(out, "# {about}");
            }
        }
        ConfigCommand::Paths => {
            let _ = writeln!(out, "settings   {}", config::user_file(surroundings).display());
            let _ = writeln!(out, "project    {}", config::project_file(&surroundings.folder).display());
            let _ = writeln!(out, "sessions   {}", surroundings.data.join("sessions").display());
            for (what, name) in [("extensions", "extensions"), ("hooks", "hooks.json"), ("mcp", "mcp.json")] {
                let _ = writeln!(out, "{what:<11}{}", surroundings.config.join(name).display());
            }
            let _ = writeln!(out, "skills     {}", surroundings.config.join("skills").display());
            let _ = writeln!(out, "prompts    {}", surroundings.config.join("prompts").display());
            let _ =
                writeln!(out, "memory     {}", surroundings.config.join(mica_ext::memory::FILE).display());
            let mut notices = Vec::new();
            for file in &Words::find(surroundings, &mut notices).files {
                let _ = writeln!(out, "prompt     {}", file.display());
            }
            for notice in notices {
                let _ = writeln!(out, "note: {notice}");
            }
        }
    }
    for note in &config.notes {
        let _ = writeln!(out, "note: {note}");
    }
    Ok(out)
}
