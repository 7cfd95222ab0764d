//! `mica mcp`: servers of the Model Context Protocol, without an agent.

mod file;
mod list;
pub mod serve;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_agent::nearest::nearest;
use mica_ext::mcp::auth::{self, FileStore};
use mica_ext::mcp::config::Read;
use mica_ext::mcp::{Log, Server, ServerConfig, Servers, Store, public_name, told};
use serde_json::{Value, json};

use crate::cli::mcp::McpCommand;
use crate::cli::{Cli, Form};
use crate::config::Config;
use crate::equipment::mcp as here;
use crate::exit::Exit;
use crate::render::question::{plain, plain_page};
use crate::surroundings::Surroundings;

/// Does what was typed.
///
/// # Errors
/// In words, with what to do.
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "a program speaks")]
pub async fn run(command: &McpCommand, cli: &Cli, surroundings: &Surroundings) -> Result<Exit> {
    let values = || Config::read(surroundings, &cli.run)?.values();
    match command {
        // It needs no settings and no home, and is run before they are looked for.
        McpCommand::Serve(flags) => serve::run(flags, None).await,
        McpCommand::List { check, format } => {
            let read = here::configured(surroundings)?;
            let shown = list::Shown::of(&read, surroundings)?;
            let servers = here::servers(&values()?, surroundings, read)?;
            let checked = if *check { Some(servers.look().await) } else { None };
            print!("{}", list::print(&shown, &servers, checked.as_ref(), *format)?);
            end(&servers).await;
            let bad = checked.is_some_and(|checked| checked.values().any(Result::is_err));
            Ok(if bad || !shown.problems.is_empty() { Exit::Error } else { Exit::Done })
        }
        McpCommand::Add { name, env, header, sandbox, replace, target } => {
            let entry = file::entry(target, env, header, *sandbox)?;
            let path = here::user_file(surroundings);
            file::add(&path, name, entry, *replace)?;
            let read = here::configured(surroundings)?;
            let wrong = read.problems.iter().find(|problem| problem.server.as_deref() == Some(name));
            if let Some(problem) = wrong {
                eprintln!("mica: {problem}");
            }
            println!("{name} is in {}; `mica mcp list --check` tries it", path.display());
            Ok(Exit::Done)
        }
        McpCommand::Remove { name } => {
            let path = here::user_file(surroundings);
            if let Ok(config) = found(&here::configured(surroundings)?, name) {
                let data = here::data(surroundings);
                Store::new(&data).forget(&config);
                Log::new(&data, &config.tag).remove();
                FileStore::of(&data, &config).forget().context("its tokens cannot be taken away")?;
            }
            file::remove(&path, name)?;
            println!("{name} is not in {} any more", path.display());
            Ok(Exit::Done)
        }
        McpCommand::Tools { name, refresh, format } => {
            let (servers, server) = one(&values()?, surroundings, name)?;
            let tools = tools(&server, *refresh, *format).await;
            end(&servers).await;
            print!("{}", tools?);
            Ok(Exit::Done)
        }
        McpCommand::Call { name, tool, arguments, format } => {
            let arguments: Value = serde_json::from_str(arguments).context("the arguments are no JSON")?;
            let Value::Object(arguments) = arguments else {
                bail!("the arguments are a JSON object: {{…}}")
            };
            let (servers, server) = one(&values()?, surroundings, name)?;
            let called = call(&server, tool, arguments).await;
            end(&servers).await;
            let result = called?;
            match format {
                Form::Json => println!("{}", serde_json::to_string(&result)?),
                Form::Text => print!("{}", plain_page(&told(&result))),
            }
            Ok(if result.is_error == Some(true) { Exit::Error } else { Exit::Done })
        }
        McpCommand::Log { name } => {
            let config = found(&here::configured(surroundings)?, name)?;
            let text =
                Log::new(&here::data(surroundings), &config.tag).read().context("its log cannot be read")?;
            if text.is_empty() {
                println!("{name} was not started yet");
            } else {
                print!("{}", plain_page(&text));
            }
            Ok(Exit::Done)
        }
        McpCommand::Login { name, wait } => {
            let config = found(&here::configured(surroundings)?, name)?;
            let show = |address: &str| {
                println!(
                    "Open this address in a browser and log in; this program waits for it:\n\n  {address}\n"
                );
            };
            let done =
                auth::login(&config, &here::data(surroundings), Duration::from_secs(*wait), show).await;
            done.map_err(|problem| anyhow!("{name}: {problem}"))?;
            println!("you are logged in to {name}");
            Ok(Exit::Done)
        }
        McpCommand::Logout { name } => {
            let config = found(&here::configured(surroundings)?, name)?;
            let had = FileStore::of(&here::data(surroundings), &config)
                .forget()
                .context("its tokens cannot be taken away")?;
            println!(
                "{}",
                if had {
                    format!("the tokens of {name} are gone")
                } else {
                    format!("there are no tokens of {name}")
                }
            );
            Ok(Exit::Done)
        }
    }
}

/// Ends what was started, before the program does.
async fn end(servers: &Servers) {
    servers.close(here::CLOSING).await;
}

/// A server by its name, as it is configured.
fn found(read: &Read, name: &str) -> Result<ServerConfig> {
    if let Some(config) = read.servers.iter().find(|config| config.name == name) {
        return Ok(config.clone());
    }
    if let Some(problem) = read.problems.iter().find(|problem| problem.server.as_deref() == Some(name)) {
        bail!("{problem}");
    }
    let names: Vec<&str> = read.servers.iter().map(|config| config.name.as_str()).collect();
    match nearest(name, names.iter().copied()) {
        Some(meant) => bail!("there is no MCP server {name:?}; did you mean {meant:?}?"),
        None if names.is_empty() => bail!("no MCP servers are configured; `mica mcp add` adds one"),
        None => bail!("there is no MCP server {name:?}; there are {}", names.join(", ")),
    }
}

fn one(values: &crate::config::Values, surroundings: &Surroundings, name: &str) -> Result<(Servers, Server)> {
    let mut read = here::configured(surroundings)?;
    let mut config = found(&read, name)?;
    // Whoever asks for it by name means it.
    config.disabled = false;
    read.servers = vec![config];
    let servers = here::servers(values, surroundings, read)?;
    let server = servers.get(name).cloned().context("it is not there")?;
    Ok((servers, server))
}

async fn tools(server: &Server, refresh: bool, format: Form) -> Result<String> {
    let known = match server.known().filter(|_| !refresh) {
        Some(known) => known,
        None => server.look().await?,
    };
    let own: Vec<&str> = known.tools.iter().map(|tool| tool.name.as_str()).collect();
    let names = public_name(&server.config().tag, &own);
    let rows: Vec<(String, &mica_ext::mcp::KnownTool)> =
        known.tools.iter().filter_map(|tool| Some((names.get(&tool.name)?.clone(), tool))).collect();
    if format == Form::Json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(name, tool)| {
                json!({ "name": name, "tool": tool.name, "description": tool.description, "schema": tool.schema,
                        "readOnlyHint": tool.read_only })
            })
            .collect();
        return Ok(format!("{}\n", serde_json::to_string(&rows)?));
    }
    if rows.is_empty() {
        return Ok("it has no tools\n".to_owned());
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, tool): &(String, &mica_ext::mcp::KnownTool)| {
        let words: Vec<&str> = tool.description.split_whitespace().collect();
        let about: String = words.join(" ").chars().take(100).collect();
        format!("{name:<width$} {}\n", plain(&about))
    };
    Ok(rows.iter().map(line).collect())
}

async fn call(
    server: &Server,
    tool: &str,
    arguments: serde_json::Map<String, Value>,
) -> Result<rmcp::model::CallToolResult> {
    let known = match server.known() {
        Some(known) => known,
        None => server.look().await?,
    };
    let own: Vec<&str> = known.tools.iter().map(|tool| tool.name.as_str()).collect();
    let names = public_name(&server.config().tag, &own);
    let meant =
        names.iter().find(|(own, public)| *own == tool || *public == tool).map(|(own, _)| own.as_str());
    let Some(meant) = meant else {
        let near = nearest(tool, own.iter().copied()).map(|near| format!("; did you mean {near:?}?"));
        bail!("{} has no tool {tool:?}{}", server.config().name, near.unwrap_or_default());
    };
    Ok(server.call(meant, arguments).await?)
}
