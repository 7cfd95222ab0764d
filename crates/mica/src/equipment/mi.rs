//! What the agent of a Micro Integrator project can do here: what of its pack depends on where the agent runs.

mod maps;
mod store;

use std::sync::Arc;

use anyhow::Result;
use mica_agent::Settings;
use mica_domain::{Capability, Page};
use mica_tools::{Ground, Workspace};
use pack_mi::Checker;
use pack_mi::connectors::{StoreCache, tools as connector_tools};
use pack_mi::datamapper::{DataMapping, Mapper, SandboxedTsc, TypeChecker};

use super::{Outfit, shell};
use crate::assembly::Shared;
use crate::switching::Models;
use maps::Maps;

/// What the tools of the pack are made from. Nothing is read or started until a call needs it.
pub struct Mi {
    checker: Checker,
    store: Option<Arc<StoreCache>>,
    maps: Arc<Maps>,
    mapping: DataMapping,
}

impl Mi {
    /// What there is here.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>) -> Result<Self> {
        let ground: Arc<dyn Ground> = Arc::new(shell::Here::new(&outfit.values.shell, outfit.surroundings)?);
        let maps = Arc::new(Maps::default());
        let mapping = DataMapping {
            mapper: Some(Arc::clone(&maps) as Arc<dyn Mapper>),
            types: Some(Arc::new(SandboxedTsc::new(ground)) as Arc<dyn TypeChecker>),
        };
        Ok(Self { checker: Checker::new(outfit.workspace.root()), store: store::find(outfit), maps, mapping })
    }

    /// Says which models there are, and what counts. Until then, nobody writes mappings from words.
    pub fn ready(&self, models: &Arc<Models>, shared: &Shared, settings: Settings) {
        self.maps.ready(models, shared, settings);
    }

    /// The project as it is on disk, for all that look at it.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The tools, for an agent that works in this workspace.
    pub fn capabilities(&self, workspace: &Workspace) -> Vec<Capability> {
        let connectors = connector_tools(workspace, self.store.clone());
        let mapping = self.mapping.tools(workspace, &self.checker);
        vec![
            Capability::new(Page::Global, "looks connectors up, and adds or removes them", connectors),
            Capability::new(Page::Global, "makes data mappers, and tries their mappings", mapping),
        ]
    }
}
