//! Archives into the server and out of it, with the server's own word on what became of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mica_agent::{ToolCx, ToolError, ToolOutput};
use serde_json::json;
use tokio::time::Instant;

use super::life::{Health, health};
use super::ports::Ports;
use crate::runtime::Runtime;
use crate::runtime::archive::{self, Archive};
use crate::runtime::arguments::size;
use crate::runtime::contained;
use crate::runtime::server_logs::{self, Deployment, deployments, entries, from_offset};
use crate::runtime::source::Sources;

/// How often the log is looked at.
const EVERY: Duration = Duration::from_millis(250);

/// Where a server takes archives from.
const ARCHIVES: &str = "repository/deployment/server/carbonapps";

/// The log that says what became of them.
const LOG: &str = "wso2carbon.log";

struct Places {
    archives: PathBuf,
    home: PathBuf,
}

fn places(home: &Path) -> Places {
    Places { archives: home.join(ARCHIVES), home: home.to_owned() }
}

fn length(home: &Path) -> u64 {
    server_logs::open(home, LOG).and_then(|log| log.metadata()).map_or(0, |facts| facts.len())
}

/// Removes archives of the same projects, apart from those that are replaced.
fn remove_older(folder: &Path, new: &[Archive], keep: bool) -> Result<Vec<String>, ToolError> {
    let mut removed = Vec::new();
    for old in archive::in_folder(folder) {
        let same_project = new.iter().any(|one| archive::stem(one.name()) == archive::stem(old.name()));
        let replaced = keep && new.iter().any(|one| one.name() == old.name());
        if same_project && !replaced {
            std::fs::remove_file(&old.path).map_err(|error| {
                ToolError::new(format!("{} cannot be removed: {error}.", old.path.display()))
            })?;
            removed.push(old.name().to_owned());
        }
    }
    Ok(removed)
}

/// Puts the archives of the project into the server, and waits until it says what became of them.
pub(super) async fn deploy(runtime: &Runtime, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    let new = archive::built(&runtime.project()).map_err(ToolError::new)?;
    if new.is_empty() {
        return Err(ToolError::new(
            "There is no archive in target/. Build the project first. Nothing was deployed.",
        ));
    }
    let places = places(&home);
    let ports = Ports::running(&home);
    let runs = health(runtime, ports).await != Health::Silent;
    let failed = |error: std::io::Error| {
        ToolError::new(format!("{} cannot be written: {error}.", places.archives.display()))
    };
    contained::made(&home, Path::new(ARCHIVES)).map_err(failed)?;
    let from = length(&places.home);
    let removed = remove_older(&places.archives, &new, true)?;
    let mut lines = Vec::new();
    for one in &new {
        let (folder, name) = (one.path.parent().unwrap_or(&one.path), Path::new(one.name()));
        let mut from = contained::open(folder, name)
            .map_err(|error| ToolError::new(format!("{} cannot be read: {error}.", one.path.display())))?;
        contained::write(&places.archives.join(name), &mut from).map_err(failed)?;
        lines.push(format!("{} ({}) was copied to the server.", one.name(), size(one.bytes)));
    }
    if !removed.is_empty() {
        lines.push(format!("Older archives of the project were removed: {}.", removed.join(", ")));
    }
    if !runs {
        lines.push("The server does not run: they are deployed when it starts.".to_owned());
        return Ok(
            ToolOutput::text(lines.join("\n")).with_details(json!({ "deployed": [], "running": false }))
        );
    }
    let names: Vec<String> = new.iter().map(|one| one.name().trim_end_matches(".car").to_owned()).collect();
    let came =
        wait(runtime, &places.home, from, &names, cx, |one| !matches!(one, Deployment::Undeployed(_))).await;
    let mut deployed = Vec::new();
    let mut any_failed = false;
    for name in &names {
        match came.iter().find(|(one, _)| one.name() == name) {
            Some((Deployment::Deployed(_), _)) => {
                deployed.push(name.clone());
                lines.push(format!("{name} is deployed."));
            }
            Some((Deployment::Failed(_, why), places)) => {
                any_failed = true;
                lines.push(format!("{name} could NOT be deployed: {why}"));
                lines.extend(places.iter().map(|place| format!("  place: {place}")));
            }
            Some((Deployment::Empty(_), _)) => {
                any_failed = true;
                lines.push(format!("{name} was ignored: there is nothing in it for this server."));
            }
            _ => {
                any_failed = true;
                lines.push(format!(
                    "The server has said nothing about {name} within {} s. It looks for new archives every 15 s unless hot \
                     deployment is off; restart it, or look with read_server_logs.",
                    runtime.settings().deploy_timeout.as_secs()
                ));
            }
        }
    }
    let details = json!({ "deployed": deployed, "running": true });
    if any_failed && deployed.is_empty() {
        return Err(ToolError { message: lines.join("\n"), details: Some(details) });
    }
    Ok(ToolOutput::text(lines.join("\n")).with_details(details))
}

/// Takes the archives of the project out of the server.
pub(super) async fn undeploy(runtime: &Runtime, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let home = runtime.home().map_err(ToolError::new)?;
    let places = places(&home);
    let own = archive::built(&runtime.project()).map_err(ToolError::new)?;
    if own.is_empty() {
        return Err(ToolError::new(
            "There is no archive in target/, so it is not known which of the server's are this project's. Build it first.",
        ));
    }
    let from = length(&places.home);
    contained::folder(&home, Path::new(ARCHIVES))
        .map_err(|error| ToolError::new(format!("{} cannot be used: {error}.", places.archives.display())))?;
    let removed = remove_older(&places.archives, &own, false)?;
    if removed.is_empty() {
        return Ok(ToolOutput::text("The server has no archive of this project."));
    }
    let mut text = format!("Removed from the server: {}.", removed.join(", "));
    let ports = Ports::running(&home);
    if health(runtime, ports).await != Health::Silent {
        let names: Vec<String> =
            removed.iter().map(|name| name.trim_end_matches(".car").to_owned()).collect();
        let came =
            wait(runtime, &places.home, from, &names, cx, |one| matches!(one, Deployment::Undeployed(_)))
                .await;
        let gone = names.iter().all(|name| came.iter().any(|(one, _)| one.name() == name));
        text.push_str(if gone {
            " The server has undeployed them."
        } else {
            " The server has not said yet that they are undeployed."
        });
    }
    Ok(ToolOutput::text(text))
}

/// Waits until the log has said something about each archive. Answers the last word about each, with places of failures.
async fn wait(
    runtime: &Runtime,
    home: &Path,
    from: u64,
    names: &[String],
    cx: &ToolCx,
    counts: fn(&Deployment) -> bool,
) -> Vec<(Deployment, Vec<String>)> {
    let until = Instant::now() + runtime.settings().deploy_timeout;
    let said = || server_logs::open(home, LOG).and_then(|log| from_offset(log, from)).unwrap_or_default();
    let mut shown = 0;
    loop {
        let text = said();
        if let Some(news) = text.get(shown..).filter(|news| !news.is_empty()) {
            cx.progress(news);
            shown = text.len();
        }
        let entries = entries(&text);
        let mut last: Vec<(Deployment, Vec<String>)> = Vec::new();
        for (entry, deployment) in deployments(&entries) {
            if counts(&deployment) && names.iter().any(|name| name == deployment.name()) {
                last.retain(|(one, _)| one.name() != deployment.name());
                let places = match deployment {
                    Deployment::Failed(..) => Sources::read(&runtime.project())
                        .map(|sources| sources.origin(entry).places.iter().map(ToString::to_string).collect())
                        .unwrap_or_default(),
                    _ => Vec::new(),
                };
                last.push((deployment, places));
            }
        }
        // A trace comes in pieces: a failure is complete when something follows, or a moment later.
        let all = last.len() == names.len();
        if all || Instant::now() >= until || cx.cancel.is_cancelled() {
            if all && last.iter().any(|(one, _)| matches!(one, Deployment::Failed(..))) && shown > 0 {
                tokio::time::sleep(EVERY).await;
                let text = said();
                if text.len() > shown && Instant::now() < until {
                    continue;
                }
            }
            return last;
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = cx.cancel.cancelled() => {}
        }
    }
}
