//! The user's `mcp.json`, changed by commands: everything else in it stays as it is.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use mica_session::{Readers, Worth, replace_file};
use serde_json::{Map, Value, json};

use crate::config::text_of;

/// What stands under a server's name.
pub(super) fn entry(target: &[String], env: &[String], header: &[String], sandbox: bool) -> Result<Value> {
    let pairs = |list: &[String], sign: char, what: &str| -> Result<Map<String, Value>> {
        list.iter()
            .map(|pair| {
                let (name, value) =
                    pair.split_once(sign).with_context(|| format!("{what} is NAME{sign}VALUE"))?;
                anyhow::ensure!(!name.trim().is_empty(), "{what} is NAME{sign}VALUE");
                Ok((name.trim().to_owned(), Value::String(value.trim().to_owned())))
            })
            .collect()
    };
    let (env, headers) = (pairs(env, '=', "--env")?, pairs(header, ':', "--header")?);
    let mut entry = Map::new();
    match target {
        [url] if url.starts_with("http://") || url.starts_with("https://") => {
            if !env.is_empty() || sandbox {
                bail!("--env and --sandbox are for commands; an address has headers");
            }
            entry.insert("transport".to_owned(), json!("http"));
            entry.insert("url".to_owned(), json!(url));
            if !headers.is_empty() {
                entry.insert("headers".to_owned(), Value::Object(headers));
            }
        }
        [command, args @ ..] => {
            if !headers.is_empty() {
                bail!("--header is for addresses; a command has --env");
            }
            entry.insert("transport".to_owned(), json!("stdio"));
            entry.insert("command".to_owned(), json!(command));
            entry.insert("args".to_owned(), json!(args));
            if !env.is_empty() {
                entry.insert("env".to_owned(), Value::Object(env));
            }
            if sandbox {
                entry.insert("sandbox".to_owned(), json!(true));
            }
        }
        [] => bail!("say a command behind --, or an address"),
    }
    Ok(Value::Object(entry))
}

/// Adds a server.
pub(super) fn add(path: &Path, name: &str, entry: Value, replace: bool) -> Result<()> {
    let fits = !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    anyhow::ensure!(fits, "{name:?} is no name: it has 1 to 64 letters, digits, - and _");
    let mut file = read(path)?;
    let key = if file.contains_key("mcpServers") { "mcpServers" } else { "servers" };
    let is_there =
        ["servers", "mcpServers"].iter().any(|key| file.get(*key).is_some_and(|all| all.get(name).is_some()));
    anyhow::ensure!(replace || !is_there, "{name} is there already; --replace puts this one in its place");
    remove_from(&mut file, name);
    let servers = file.entry(key).or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else { bail!("{key:?} in {} is no object", path.display()) };
    servers.insert(name.to_owned(), entry);
    write(path, &file)
}

/// Takes one out.
pub(super) fn remove(path: &Path, name: &str) -> Result<()> {
    let mut file = read(path)?;
    anyhow::ensure!(remove_from(&mut file, name), "{name} is not in {}", path.display());
    write(path, &file)
}

fn remove_from(file: &mut Map<String, Value>, name: &str) -> bool {
    let mut any = false;
    for key in ["servers", "mcpServers"] {
        if let Some(Value::Object(servers)) = file.get_mut(key) {
            any |= servers.shift_remove(name).is_some();
        }
    }
    any
}

fn read(path: &Path) -> Result<Map<String, Value>> {
    match text_of(path)?.filter(|text| !text.trim().is_empty()) {
        None => Ok(Map::new()),
        Some(text) => {
            match serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))? {
                Value::Object(members) => Ok(members),
                _ => bail!("{} is no JSON object", path.display()),
            }
        }
    }
}

/// Written whole or not at all, and for the user alone: it may hold secrets.
fn write(path: &Path, file: &Map<String, Value>) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    let text = format!("{}\n", serde_json::to_string_pretty(file)?);
    replace_file(path, text.as_bytes(), Worth::Truth, Readers::Owner).with_context(failed)
}
