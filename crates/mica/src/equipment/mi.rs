//! What the agent of a Micro Integrator project can do here: what of its pack depends on where the agent runs.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use mica_domain::{Capability, Page};
use mica_tools::Workspace;
use mica_tools::web::{Proxies, SystemResolver, Web};
use pack_mi::Checker;
use pack_mi::connectors::{Store, StoreCache, tools as connector_tools};
use tokio_util::sync::CancellationToken;

use super::Outfit;

/// What the tools of the pack are made from. Nothing is read or started until a call needs it.
pub struct Mi {
    checker: Checker,
    store: Option<Arc<StoreCache>>,
}

/// A connector store, reached over the web.
struct WebStore(Web);

#[async_trait]
impl Store for WebStore {
    async fn fetch(&self, address: &str) -> Result<String, String> {
        // The way there has a deadline of its own.
        self.0.text_at(address, &CancellationToken::new()).await.map_err(|error| error.to_string())
    }
}

/// The store that the settings name, if they do.
#[allow(clippy::disallowed_methods, reason = "the binary hands the clock over")]
fn store(outfit: &Outfit<'_>) -> Option<Arc<StoreCache>> {
    let addresses = outfit.values.connectors.store.clone();
    if addresses.is_empty() {
        return None;
    }
    let mut web = Web::new(Arc::new(SystemResolver));
    if outfit.values.web.proxy.unwrap_or(true) {
        web = web.with_proxies(Proxies::from_variables(|name| outfit.surroundings.variable(name)));
    }
    let folder = outfit.surroundings.data.join("connectors");
    let cache =
        StoreCache::new(Arc::new(WebStore(web)), addresses, folder, Arc::new(std::time::SystemTime::now));
    Some(Arc::new(cache))
}

impl Mi {
    /// What there is here.
    ///
    /// # Errors
    /// Settings that do not fit.
    pub fn find(outfit: &Outfit<'_>) -> Result<Self> {
        Ok(Self { checker: Checker::new(outfit.workspace.root()), store: store(outfit) })
    }

    /// The project as it is on disk, for all that look at it.
    pub fn checker(&self) -> &Checker {
        &self.checker
    }

    /// The tools, for an agent that works in this workspace.
    pub fn capabilities(&self, workspace: &Workspace) -> Vec<Capability> {
        let connectors = connector_tools(workspace, self.store.clone());
        vec![Capability::new(Page::Global, "looks connectors up, and adds or removes them", connectors)]
    }
}
