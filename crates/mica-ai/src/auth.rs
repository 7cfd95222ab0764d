//! Credentials: what a request is signed with, found anew for each request.

use async_trait::async_trait;
use http::HeaderMap;

use crate::error::AiError;

/// Something that can authorise a request.
///
/// Asked for every request, so that short-lived tokens survive long tool phases. Implementations cache and refresh.
#[async_trait]
pub trait Credential: Send + Sync {
    /// Adds what authorises the request to its headers, marked sensitive.
    ///
    /// # Errors
    /// [`AiError::Auth`] that says which credential was tried, for which scope, and what to do.
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError>;

    /// Which credential this is, and for which scope; never its value. For people.
    fn describe(&self) -> String;

    /// What to do when the provider does not accept it.
    fn hint(&self) -> String;

    /// The provider did not accept what `authorize` gave: whatever is cached is stale.
    async fn rejected(&self) {}
}
