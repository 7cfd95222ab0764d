//! The connector store that the settings name, reached over the web.

use std::sync::Arc;

use async_trait::async_trait;
use mica_tools::web::{Proxies, SystemResolver, Web};
use pack_mi::connectors::{Store, StoreCache};
use tokio_util::sync::CancellationToken;

use super::Outfit;

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
pub(super) fn find(outfit: &Outfit<'_>) -> Option<Arc<StoreCache>> {
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
