//! What builds and runs Micro Integrator projects here: the settings, made into what the pack's tools are given.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use mica_sandbox::{Host, SandboxError, Weak};
use pack_mi::runtime::{Given, LocalClient, Login, Runtime, RuntimeSettings};
use pack_mi::second_opinion::{LanguageServer, SecondOpinion};

use crate::equipment::{Equipment, Outfit};
use crate::surroundings::Surroundings;

/// What the tools are given.
pub(super) fn runtime(outfit: &Outfit<'_>, equipment: &Equipment, settings: RuntimeSettings) -> Runtime {
    let given = Given {
        ground: Arc::clone(&equipment.ground),
        tasks: equipment.tasks.clone(),
        logs: Arc::clone(&outfit.logs),
        clock: Arc::clone(&outfit.clock),
        client: Arc::new(LocalClient),
        settings,
    };
    Runtime::new(outfit.workspace, given)
}

/// A path of the settings: below the home folder, or below the project.
fn path(text: &str, surroundings: &Surroundings) -> PathBuf {
    match (text.strip_prefix("~/"), surroundings.variable("HOME")) {
        (Some(below), Some(home)) => PathBuf::from(home).join(below),
        _ => surroundings.folder.join(text),
    }
}

fn seconds(key: &str, value: Option<u64>, usual: Duration) -> Result<Duration> {
    match value {
        Some(0) => bail!("mi.{key} is a number of seconds, 1 or more"),
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Ok(usual),
    }
}

/// A person's choices.
///
/// # Errors
/// Those that do not fit.
pub(super) fn settings(outfit: &Outfit<'_>) -> Result<RuntimeSettings> {
    let Outfit { values, surroundings, .. } = outfit;
    let mi = &values.mi;
    let usual = RuntimeSettings::default();
    let maven_home = surroundings.variable("HOME").map(|home| PathBuf::from(home).join(".m2"));
    let hosts: Result<Vec<Host>, SandboxError> = mi.network.iter().map(|host| host.parse()).collect();
    let mut login = Login::default();
    if let Some(user) = &mi.management_user {
        login.user.clone_from(user);
    }
    if let Some(name) = &mi.management_password_env {
        // A variable that is not set is told by the server, which refuses the login: most runs need none.
        login.password = surroundings.variable(name).unwrap_or_default();
    }
    let maven = mi.maven.as_deref().map(str::parse).transpose().map_err(|error: String| anyhow!(error))?;
    let repository = mi.maven_repository.as_ref().map(|text| path(text, surroundings));
    Ok(RuntimeSettings {
        runtime: mi.runtime.as_ref().map(|text| path(text, surroundings)),
        java_home: mi.java_home.as_ref().map(|text| path(text, surroundings)),
        maven: maven.unwrap_or_default(),
        local_repository: repository.or_else(|| maven_home.as_ref().map(|folder| folder.join("repository"))),
        wrapper_folder: maven_home.as_ref().map(|folder| folder.join("wrapper")),
        user_settings: maven_home.map(|folder| folder.join("settings.xml")),
        reads_user_settings: mi.maven_settings == Some(true),
        hosts: hosts.context("mi.network")?,
        weak: if values.shell.weak_network == Some(true) { Weak::Accept } else { Weak::Refuse },
        build_timeout: seconds("build_timeout", mi.build_timeout, usual.build_timeout)?,
        server_timeout: seconds("server_timeout", mi.server_timeout, usual.server_timeout)?,
        deploy_timeout: seconds("deploy_timeout", mi.deploy_timeout, usual.deploy_timeout)?,
        login,
        management: mi.management_url.clone(),
        ..usual
    })
}

/// Another language server, if one is configured.
///
/// # Errors
/// Settings that do not fit.
pub(super) fn second_opinion(outfit: &Outfit<'_>, equipment: &Equipment) -> Result<Option<SecondOpinion>> {
    let Some(values) = &outfit.values.mi.language_server else { return Ok(None) };
    if values.command.is_empty() {
        bail!("mi.language_server.command is a list: the program and its arguments");
    }
    let mut server = LanguageServer::new(values.command.clone());
    if let Some(name) = &values.name {
        server.name.clone_from(name);
    }
    if let Some(language) = &values.language {
        server.language.clone_from(language);
    }
    server.deadline = seconds("language_server.timeout", values.timeout, server.deadline)?;
    Ok(Some(SecondOpinion::new(server, Arc::clone(&equipment.ground), outfit.workspace.root())))
}
