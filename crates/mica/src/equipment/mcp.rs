//! Servers of the Model Context Protocol: which are configured here, and what the session gets from them.
//!
//! Promises: at the start nothing is read but the files that name servers and what was seen of them before; nothing is
//! started; a project's file counts only while the user trusts every byte of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_agent::Hooks;
use mica_domain::{Capability, Page};
use mica_ext::Origin;
use mica_ext::hooks::scripts;
use mica_ext::mcp::config::{self, Read};
use mica_ext::mcp::programs;
use mica_ext::mcp::{Given, McpGate, Patience, Servers, Settings, Source};
use mica_sandbox::{Places, Sandbox, Stub};
use mica_tools::{Ground, Nobody, Person};

use super::{Fresh, Outfit, Part, shell};
use crate::config::project::{self, Kind};
use crate::config::{Values, text_of};
use crate::surroundings::Surroundings;

/// What a project brings.
pub const KIND: Kind = Kind {
    word: "MCP servers",
    does: "start programs that may do what you may, and give their tools to the model",
};

/// Under what name the folder of a project is part of what is trusted.
const PLACE: &str = "the project's folder";

/// Bytes of a file that names servers.
const LARGEST: usize = 1 << 20;

/// The user's own file.
pub fn user_file(surroundings: &Surroundings) -> PathBuf {
    surroundings.config.join("mcp.json")
}

/// Where lists, logs and tokens are kept.
pub fn data(surroundings: &Surroundings) -> PathBuf {
    surroundings.data.join("mcp")
}

fn project_files(folder: &Path) -> [PathBuf; 2] {
    [folder.join(".mica").join("mcp.json"), folder.join(".mcp.json")]
}

/// The parts of a project that name servers.
///
/// # Errors
/// A file that cannot be read.
pub fn parts(folder: &Path) -> Result<Vec<project::Part>> {
    Ok(files(folder)?.into_iter().map(|(part, _)| part).collect())
}

/// The same, each with the text of its file. What is trusted is a file in this project, with the programs of the project that
/// it starts: the same text elsewhere starts something else.
fn files(folder: &Path) -> Result<Vec<(project::Part, String)>> {
    let mut parts = Vec::new();
    for path in project_files(folder) {
        let Some(text) = text(&path)? else { continue };
        let here = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let shown = here.display().to_string();
        let variables = |name: &str| {
            let is_here = scripts::PROJECT.contains(&name) || name == "PWD";
            Some(if is_here { shown.clone() } else { String::new() })
        };
        let mut trusted = vec![(PLACE.to_owned(), shown.clone().into_bytes())];
        for server in config::read(&text, Source::Project, folder, &variables).servers {
            let programs = programs::files(&server, folder)
                .map_err(|problem| anyhow!("{}: {problem}", path.display()))?;
            trusted.extend(programs.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)));
        }
        trusted.sort();
        trusted.dedup();
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        trusted.push((name, text.clone().into_bytes()));
        parts.push((project::Part::folder(KIND, path, trusted), text));
    }
    Ok(parts)
}

fn text(path: &Path) -> Result<Option<String>> {
    let text = text_of(path)?;
    if text.as_ref().is_some_and(|text| text.len() > LARGEST) {
        bail!("{} has more than {} MB", path.display(), LARGEST >> 20);
    }
    Ok(text)
}

/// All servers that are configured here, and what is wrong with others. Those of a project that is not trusted are not
/// among them.
///
/// # Errors
/// A file that cannot be read.
pub fn configured(surroundings: &Surroundings) -> Result<Read> {
    let variables = |name: &str| surroundings.variable(name);
    let root = &surroundings.folder;
    let read = |path: &Path, text: &str, source: Source| {
        let mut read = config::read(text, source, root, &variables);
        for problem in read.problems.iter_mut().filter(|problem| problem.server.is_none()) {
            problem.problem = format!("{}: {}", path.display(), problem.problem);
        }
        read
    };
    let mut reads = Vec::new();
    let own = user_file(surroundings);
    if let Some(text) = text(&own)? {
        reads.push(read(&own, &text, Source::User));
    }
    for (part, text) in files(root)?.iter().filter(|(part, _)| part.is_trusted(surroundings)) {
        reads.push(read(&part.path, text, Source::Project));
    }
    Ok(config::join(reads))
}

/// What servers are given.
///
/// # Errors
/// Never, as tests see to: the table of places that comes with the program is one.
pub fn given(
    surroundings: &Surroundings,
    ground: Arc<dyn Ground>,
    person: Option<Arc<dyn Person>>,
) -> Result<Given> {
    let places = Places::builtin().context("the table of places cannot be read")?;
    Ok(Given {
        ground,
        open: Sandbox::unconfined(Stub::this_program()),
        environment: places.clean(&surroundings.variables),
        temporary: std::env::temp_dir(),
        root: surroundings.folder.clone(),
        data: data(surroundings),
        person: person.unwrap_or_else(|| Arc::new(Nobody)),
        patience: Patience::default(),
    })
}

/// The servers, without an agent: for those who look at them.
///
/// # Errors
/// Settings that do not fit, a file that cannot be read.
pub fn servers(values: &Values, surroundings: &Surroundings, read: Read) -> Result<Servers> {
    let ground = shell::ground(values, surroundings)?;
    let given = given(surroundings, ground, None)?;
    Ok(Servers::new(read.servers, &given, settings(values)?))
}

fn settings(values: &Values) -> Result<Settings> {
    let usual = Settings::default();
    let allow_read_only = match values.mcp.read_only.as_deref() {
        None | Some("ask") => false,
        Some("allow") => true,
        Some(other) => bail!("mcp.read_only is {other:?}; it can be \"ask\" or \"allow\""),
    };
    Ok(Settings {
        send_tools: values.mcp.send_tools.unwrap_or(usual.send_tools),
        send_bytes: values.mcp.send_bytes.unwrap_or(usual.send_bytes),
        allow_read_only,
    })
}

/// What the session gets from them.
///
/// # Errors
/// Settings that do not fit.
pub(super) fn equip(
    outfit: &Outfit<'_>,
    ground: Arc<dyn Ground>,
    notices: &mut Vec<String>,
) -> Result<(Part, Servers)> {
    let mut part = Part::default();
    let settings = settings(outfit.values)?;
    let read = match configured(outfit.surroundings) {
        _ if outfit.values.mcp.enabled == Some(false) => Read::default(),
        Ok(read) => read,
        Err(error) => {
            notices.push(format!("MCP servers are not used: {error:#}"));
            Read::default()
        }
    };
    notices.extend(read.problems.iter().map(ToString::to_string));
    let sent = outfit.begun.and_then(|begun| begun.mcp.clone());
    if read.servers.iter().all(|server| server.disabled) && sent.is_none() {
        return Ok((part, Servers::default()));
    }
    let given = given(outfit.surroundings, ground, Some(outfit.people.person()))?;
    let servers = match sent {
        Some(sent) => Servers::going_on(read.servers, &given, settings, sent),
        // Where there were none when the session began, none of their tools were sent.
        None if outfit.begun.is_some() => Servers::going_on(read.servers, &given, settings, Vec::new()),
        None => Servers::new(read.servers, &given, settings),
    };
    let summary = "uses what MCP servers offer";
    part.capabilities
        .push(Capability::new(Page::Global, summary, servers.sent()).foreign().growing(servers.shelf()));
    let gate = McpGate::new(servers.clone(), outfit.approvals.approvals().clone());
    part.hooks.push(Arc::new(gate) as Arc<dyn Hooks>);
    part.factories.push((Origin::Compiled, Arc::new(servers.clone())));
    // A subagent lives shortly: it has what there is when it begins.
    let theirs = servers.clone();
    part.anew = Some(Arc::new(move |_| {
        let sent = Capability::new(Page::Global, summary, theirs.sent()).foreign();
        let later =
            Capability::new(Page::Global, summary, theirs.shelf().tools().to_vec()).foreign().deferred();
        Fresh { capabilities: vec![sent, later], hooks: Vec::new() }
    }));
    Ok((part, servers))
}

/// How long servers have to end with the session.
pub const CLOSING: Duration = Duration::from_secs(4);
