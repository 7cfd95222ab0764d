//! What the agent of a Micro Integrator project can do here: what of its pack depends on where the agent runs.

mod maps;
mod runtime;
mod store;

use std::sync::Arc;

use anyhow::Result;
use mica_agent::Settings;
use mica_domain::{Capability, Page};
use mica_tools::{Ground, Workspace};
use pack_mi::Checker;
use pack_mi::connectors::{StoreCache, tools as connector_tools};
use pack_mi::datamapper::{DataMapping, Mapper, SandboxedTsc, TypeChecker};
use pack_mi::runtime::{Runtime, RuntimeGate, exceptions};
use pack_mi::second_opinion::SecondOpinion;

use super::{Equipment, Outfit, shell};
use crate::assembly::Shared;
use crate::switching::Models;
use maps::Maps;

/// What is about a server. Most conversations have none.
const SERVER: [&str; 2] = ["server_management", "read_server_logs"];

/// What the tools of the pack are made from. Nothing is read or started until a call needs it.
pub struct Mi {
    checker: Checker,
    store: Option<Arc<StoreCache>>,
    maps: Arc<Maps>,
    mapping: DataMapping,
    runtime: Runtime,
    second: Option<SecondOpinion>,
}

impl Mi {
    /// What there is here. Adds to the equipment what the pack's tools need there.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>, equipment: &mut Equipment) -> Result<Self> {
        let ground: Arc<dyn Ground> = Arc::new(shell::Here::new(&outfit.values.shell, outfit.surroundings)?);
        let maps = Arc::new(Maps::default());
        let mapping = DataMapping {
            mapper: Some(Arc::clone(&maps) as Arc<dyn Mapper>),
            types: Some(Arc::new(SandboxedTsc::new(ground)) as Arc<dyn TypeChecker>),
        };
        let settings = runtime::settings(outfit)?;
        let gate = RuntimeGate::new(outfit.mode.clone(), settings.hosts.clone());
        equipment.hooks.push(Arc::new(gate.allowing_everything(outfit.flags.yes)));
        equipment.exceptions.extend(exceptions()?);
        Ok(Self {
            checker: Checker::new(outfit.workspace.root()),
            store: store::find(outfit),
            maps,
            mapping,
            runtime: runtime::runtime(outfit, equipment, settings),
            second: runtime::second_opinion(outfit, equipment)?,
        })
    }

    /// Says which models there are, and what counts. Until then, nobody writes mappings from words.
    pub fn ready(&self, models: &Arc<Models>, shared: &Shared, settings: Settings) {
        self.maps.ready(models, shared, settings);
    }

    /// Another language server, if one is configured.
    pub fn second_opinion(&self) -> Option<&SecondOpinion> {
        self.second.as_ref()
    }

    /// The project as it is on disk, for all that look at it.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The tools, for an agent that works in this workspace. What a project needs now and then is behind the others: it is
    /// listed, and loaded when it is wanted.
    pub fn capabilities(&self, workspace: &Workspace) -> Vec<Capability> {
        let connectors = connector_tools(workspace, self.store.clone());
        let mapping = self.mapping.tools(workspace, &self.checker);
        let runtime = self.runtime.for_another(workspace).tools();
        let (server, builds): (Vec<_>, Vec<_>) =
            runtime.into_iter().partition(|tool| SERVER.contains(&tool.spec().name.as_str()));
        vec![
            Capability::new(Page::Global, "looks connectors up, and adds or removes them", connectors),
            Capability::new(Page::Global, "makes data mappers, and tries their mappings", mapping).deferred(),
            Capability::new(Page::Global, "builds the project and runs its tests", builds),
            Capability::new(Page::Global, "runs the Micro Integrator and reads its logs", server).deferred(),
        ]
    }
}
