//! Builds, tests and the server: what runs a project, and what its output means.
//!
//! Its nouns: a [`Runtime`] is what the tools here work with, [`RuntimeSettings`] are a person's choices, and a
//! [`Loopback`] reaches servers on this machine. The tools are [`BuildProject`], [`ServerManagement`],
//! [`ReadServerLogs`] and [`RunUnitTests`]; [`RuntimeGate`] says which of their calls need nobody's word, and which a mode
//! forbids.
//!
//! Promises: every program runs in the sandbox, with an end; values of `.env` and passwords reach the program they are
//! for and nobody else; a failure is told with its place in the project, wherever that can be found out.

mod access;
mod archive;
mod arguments;
mod build_project;
mod contained;
pub mod loopback;
mod maven;
mod program;
mod server;
mod server_logs;
mod settings;
mod source;
mod unit_tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mica_agent::{Tool, ToolError};
use mica_context::spill::{Clock, SpillFolder};
use mica_tools::{Ground, Tasks, Workspace};
use synapse_lang::project::disk;

use crate::project::choice::{Wanted, choose};

pub use access::{RuntimeGate, exceptions};
pub use build_project::BuildProject;
pub use loopback::{LocalClient, Loopback};
pub use server::ServerManagement;
pub use server_logs::ReadServerLogs;
pub use settings::{Login, MavenChoice, RuntimeSettings};
pub use unit_tests::RunUnitTests;

/// What the tools work with. Cheap to clone; all clones know of the same server.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Given>,
    workspace: Workspace,
    server: Arc<server::Kept>,
    /// The project that a call means.
    chosen: Option<PathBuf>,
}

/// What whoever knows the machine gives.
pub struct Given {
    /// Where programs run.
    pub ground: Arc<dyn Ground>,
    /// The tasks of the session. A server is one of them.
    pub tasks: Tasks,
    /// Where logs go.
    pub logs: Arc<SpillFolder>,
    /// What time it is.
    pub clock: Clock,
    /// How servers on this machine are reached.
    pub client: Arc<dyn Loopback>,
    /// A person's choices.
    pub settings: RuntimeSettings,
}

impl Runtime {
    /// For a project, with what it is given.
    pub fn new(workspace: &Workspace, given: Given) -> Self {
        Self { shared: Arc::new(given), workspace: workspace.clone(), server: Arc::default(), chosen: None }
    }

    /// The same for another agent in the same project. Both know of the same server: there is one at its ports.
    #[must_use]
    pub fn for_another(&self, workspace: &Workspace) -> Self {
        Self { workspace: workspace.clone(), ..self.clone() }
    }

    /// The tools.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        vec![
            Arc::new(BuildProject::new(self)),
            Arc::new(ServerManagement::new(self)),
            Arc::new(ReadServerLogs::new(self)),
            Arc::new(RunUnitTests::new(self)),
        ]
    }

    /// The same for the project that a call means.
    ///
    /// # Errors
    /// Those of [`choose`].
    fn of_project(&self, named: Option<&str>, wanted: Wanted) -> Result<Self, ToolError> {
        let chosen = choose(&self.workspace, named, wanted)?;
        Ok(Self { chosen: Some(chosen), ..self.clone() })
    }

    /// The project: the one that was chosen, the workspace, or the only project right below it.
    fn project(&self) -> PathBuf {
        self.chosen.clone().unwrap_or_else(|| project_in(self.workspace.root()))
    }

    /// What paths are relative to, where that is not the workspace.
    fn relative_to(&self) -> Option<String> {
        let project = self.project();
        let below =
            project.strip_prefix(self.workspace.root()).ok().filter(|path| !path.as_os_str().is_empty())?;
        Some(format!("paths are relative to {}", below.display()))
    }

    fn settings(&self) -> &RuntimeSettings {
        &self.shared.settings
    }

    /// The folder of the server.
    ///
    /// # Errors
    /// In words, with what to do, when there is none.
    fn home(&self) -> Result<PathBuf, String> {
        let Some(home) = &self.settings().runtime else {
            return Err("No Micro Integrator is configured. The user sets its folder as `runtime` in the section [mi] of \
                        the settings, such as runtime = \"/opt/wso2mi-4.4.0\"."
                .to_owned());
        };
        if !home.is_dir() {
            return Err(format!(
                "The setting mi.runtime names {}, which is no folder. The user has to correct it.",
                home.display()
            ));
        }
        Ok(home.canonicalize().unwrap_or_else(|_| home.clone()))
    }
}

/// The project of a folder: itself, or the only one right below it.
fn project_in(folder: &Path) -> PathBuf {
    if disk::is_project(folder) || folder.join("pom.xml").is_file() {
        return folder.to_owned();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut below = entries.filter(|path| disk::is_project(path));
    match (below.next(), below.next()) {
        (Some(only), None) => only,
        _ => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_project_below_a_folder_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(project_in(root), root);
        std::fs::create_dir_all(root.join("orders/src/main/wso2mi")).unwrap();
        assert_eq!(project_in(root), root.join("orders"));
        assert_eq!(project_in(&root.join("orders")), root.join("orders"));
        std::fs::create_dir_all(root.join("billing/src/main/wso2mi")).unwrap();
        assert_eq!(project_in(root), root);
    }
}
