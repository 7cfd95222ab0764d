//! Commands: the tool that runs them, the sandbox of this machine, and the gates in front.
//!
//! Promises: the sandbox is found out when the first command is judged, never at the start; where nothing can confine
//! commands, none runs, unless the user's settings say so, and then every one is asked about.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use mica_agent::hooks::Gated;
use mica_agent::{Context, Event, EventKind, Hooks, Listener, ToolError, Verdict};
use mica_ai::StreamEvent;
use mica_domain::{Capability, Page};
use mica_policy::rules::Rule;
use mica_policy::shell::{Given, ShellGate};
use mica_sandbox::{Around, Boundary, Host, Places, Sandbox, SandboxError, Stub, Tier, Weak};
use mica_tools::shell::{COMMAND, FOLDER, NAME, NETWORK};
use mica_tools::{Ground, Shell, ShellSettings, Tasks, Workspace};
use tokio::sync::OnceCell;

use super::{Anew, Fresh, Outfit, Part, background};
use crate::commands::rules;
use crate::config::{ShellValues, Values};
use crate::surroundings::Surroundings;

/// Puts it together, and says who judges commands.
///
/// # Errors
/// Settings that do not fit.
pub(super) fn equip(outfit: &Outfit<'_>, tasks: &Tasks, ground: &Arc<Here>) -> Result<(Part, ShellGate)> {
    let Outfit { workspace, values, flags, surroundings, mode, .. } = outfit;
    let settings = settings(&values.shell)?;
    let ground = Arc::clone(ground);
    let place = rules::place(surroundings);
    let config = surroundings.config.clone();
    // Read when the first command is judged. What cannot be read means no.
    let read = move || rules::tables(&config).map_err(|error| format!("{error:#}"));
    let hosts = settings.hosts.iter().map(ToString::to_string).collect();
    let gate = ShellGate::lazy(NAME, COMMAND, place, read, (*mode).clone())
        .with_folder(FOLDER)
        .with_network(NETWORK, hosts)
        .with_given(given(values, flags.yes)?)
        .sharing(outfit.approvals.approvals().clone());
    let tool = {
        let (ground, gate) = (Arc::clone(&ground), gate.clone());
        move |workspace: &Workspace, tasks: &Tasks| {
            let ground = Arc::clone(&ground) as Arc<dyn Ground>;
            let tool = Shell::new(workspace, ground, gate.clone(), tasks, settings.clone());
            Capability::new(Page::Global, "Run commands.", vec![Arc::new(tool)])
        }
    };
    let capabilities = vec![tool(workspace, tasks)];
    let confined = Confined { ground, gate: gate.clone() };
    let own_tasks = tasks.others();
    let anew: Anew = Arc::new(move |workspace| {
        // What a subagent begins in the background ends with it.
        let tasks = own_tasks();
        let capabilities = vec![tool(workspace, &tasks), background(&tasks)];
        Fresh { capabilities, hooks: Vec::new() }
    });
    let listeners: Vec<Arc<dyn Listener>> =
        vec![Arc::new(Foresight { ground: Arc::clone(&confined.ground) })];
    let hooks: Vec<Arc<dyn Hooks>> = vec![Arc::new(confined), Arc::new(gate.clone())];
    Ok((Part { capabilities, hooks, anew: Some(anew), listeners, ..Part::default() }, gate))
}

/// The sandbox of this machine, for all that run programs.
///
/// # Errors
/// Settings that do not fit.
pub(super) fn ground(values: &Values, surroundings: &Surroundings) -> Result<Arc<Here>> {
    Ok(Arc::new(Here::new(&values.shell, surroundings)?))
}

/// What stands in the parentheses of a rule about commands. Other rules have none.
pub fn of_commands(rule: &str) -> Option<&str> {
    rule.trim()
        .strip_prefix(NAME)?
        .strip_prefix('(')?
        .strip_suffix(')')
        .filter(|inside| !inside.trim().is_empty())
}

/// The rules about commands among those that were given. Rules of tools alone count here too when they allow: a question
/// of the judge outweighs a yes of the rules otherwise.
fn given(values: &Values, yes: bool) -> Result<Given> {
    let mut given = Given::new();
    if yes {
        given = given.allow_everything();
    }
    for rule in &values.allow {
        match of_commands(rule) {
            Some(words) => given = given.allow(words),
            None => {
                let rule: Rule = rule.parse()?;
                if rule.is_of_tools() && rule.names(NAME) {
                    given = given.allow_everything();
                }
            }
        }
    }
    for words in values.deny.iter().filter_map(|rule| of_commands(rule)) {
        given = given.deny(words);
    }
    Ok(given)
}

fn settings(values: &ShellValues) -> Result<ShellSettings> {
    let usual = ShellSettings::default();
    let seconds = |key: &str, value: Option<u64>, usual: Duration| match value {
        Some(0) => bail!("shell.{key} is a number of seconds, 1 or more"),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Ok(usual),
    };
    let longest = seconds("longest", values.longest, usual.longest)?;
    let hosts: Result<Vec<Host>, SandboxError> = values.network.iter().map(|host| host.parse()).collect();
    Ok(ShellSettings {
        timeout: seconds("timeout", values.timeout, usual.timeout)?.min(longest),
        longest,
        background: seconds("background", values.background, usual.background)?,
        hosts: hosts.context("shell.network")?,
        weak: if values.weak_network == Some(true) { Weak::Accept } else { Weak::Refuse },
    })
}

/// The sandbox of this machine.
pub(super) struct Here {
    surroundings: Surroundings,
    /// The tier that was asked for; the best when none was.
    tier: Option<Tier>,
    write: Vec<PathBuf>,
    sandbox: OnceCell<Sandbox>,
    known: OnceLock<Result<Known, SandboxError>>,
}

/// What is the same for every command.
struct Known {
    places: Places,
    /// The boundary without what depends on the disk.
    reading: Boundary,
}

impl Here {
    pub(super) fn new(values: &ShellValues, surroundings: &Surroundings) -> Result<Self> {
        let tier = match values.tier.as_deref() {
            None | Some("best") => None,
            Some(tier) => match tier.parse::<Tier>() {
                Ok(tier) => Some(tier),
                Err(_) => bail!("shell.tier is {tier:?}; it can be best, namespaces, landlock or none"),
            },
        };
        let home = surroundings.variable("HOME").map(PathBuf::from);
        let folder = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            _ => surroundings.folder.join(text),
        };
        let write = values.write.iter().map(folder).collect();
        Ok(Self {
            surroundings: surroundings.clone(),
            tier,
            write,
            sandbox: OnceCell::new(),
            known: OnceLock::new(),
        })
    }

    fn known(&self) -> Result<Known, SandboxError> {
        let places = Places::builtin()?;
        let home = self.surroundings.variable("HOME").map(PathBuf::from);
        let temporary = std::env::temp_dir();
        let environment = &self.surroundings.variables;
        let around = Around { home: home.as_deref(), environment, temporary: &temporary };
        let reading = Boundary::reading(&around, &places);
        Ok(Known { places, reading })
    }
}

#[async_trait]
impl Ground for Here {
    async fn sandbox(&self) -> Result<Sandbox, ToolError> {
        if self.tier == Some(Tier::None) {
            return Ok(Sandbox::unconfined(Stub::this_program()));
        }
        let found = self
            .sandbox
            .get_or_init(|| async {
                // One command follows the other: the next boundary is built while the model thinks.
                Sandbox::negotiate(Stub::this_program()).await.keeping_ready()
            })
            .await;
        let wanted = self.tier.unwrap_or(found.tier().max(Tier::Landlock));
        found.at_tier(wanted).map_err(|error| {
            ToolError::new(format!(
                "Commands cannot be run here: {error}. Without a sandbox none is run, unless the user sets shell.tier to \
                 \"none\". Go on without commands, and tell the user."
            ))
        })
    }

    fn boundary(&self) -> Result<Boundary, ToolError> {
        let failed = |error: SandboxError| ToolError::new(error.for_model());
        let known = self.known.get_or_init(|| self.known()).as_ref().map_err(|error| {
            ToolError::new(format!("The table of places cannot be read: {error}. Nothing was run."))
        })?;
        let places = &known.places;
        let mut boundary = known.reading.clone();
        boundary.write(&self.surroundings.folder, places).map_err(failed)?;
        // Settings and sessions are this program's own, and decide what it may do.
        boundary.frozen.push(self.surroundings.config.clone());
        boundary.frozen.push(self.surroundings.data.clone());
        for folder in &self.write {
            boundary.write(folder, places).map_err(|error| {
                ToolError::new(format!("The setting shell.write cannot be used: {error}. Nothing was run."))
            })?;
        }
        Ok(boundary)
    }
}

/// Asks about every command where nothing confines it, and denies all where that was not agreed to.
struct Confined {
    ground: Arc<Here>,
    gate: ShellGate,
}

#[async_trait]
impl Hooks for Confined {
    async fn gate(&self, gated: &mut Gated<'_>, _: &Context) -> Verdict {
        if gated.spec.name != NAME {
            return Verdict::Pass;
        }
        match self.ground.sandbox().await {
            Err(error) => Verdict::Deny { reason: error.message, rule: Some("sandbox".to_owned()) },
            Ok(sandbox) if sandbox.tier() == Tier::None && !self.gate.given().allows_everything() => {
                Verdict::Ask {
                    reason: "Nothing confines commands here: it can do everything that you can.".to_owned(),
                    rule: Some("sandbox".to_owned()),
                    proposals: Vec::new(),
                }
            }
            Ok(_) => Verdict::Pass,
        }
    }
}

/// Gets the sandbox ready at the first sign of a command, while the model still writes it: finding out what the kernel can
/// do, and building a boundary, then cost nobody any time.
struct Foresight {
    ground: Arc<Here>,
}

#[async_trait]
impl Listener for Foresight {
    fn hears(&self, kind: &EventKind) -> bool {
        matches!(kind, EventKind::Answer { delta: StreamEvent::CallStart { tool, .. }, .. } if tool == NAME)
    }

    async fn event(&self, _: Event) {
        // A machine without a sandbox says so when the command is judged.
        let ground = Arc::clone(&self.ground);
        tokio::spawn(async move {
            let Ok(sandbox) = ground.sandbox().await else { return };
            if !sandbox.is_ready_to_look()
                && let Ok(boundary) = ground.boundary()
            {
                sandbox.prepare(&ground.surroundings.folder, &boundary.read_only()).await;
            }
        });
    }
}

#[cfg(test)]
mod tests;
