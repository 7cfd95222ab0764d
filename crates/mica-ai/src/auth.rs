//! Credentials: what a request is signed with, found anew for each request.
//!
//! Two layers. A [`Credential`] puts something into the headers of a request to a model: [`ApiKey`],
//! [`EntraCredential`], [`KeyVaultKey`], or nothing at all ([`NoCredential`]). Under the Entra ones sits a
//! [`TokenSource`], which fetches one token and remembers nothing: [`ClientSecret`], [`WorkloadIdentity`],
//! [`ManagedIdentity`], [`AzureCli`], or a [`DefaultChain`] of them. What is remembered, and for how long, is decided
//! once, in one cache that all of them share.
//!
//! Invariant: no secret reaches `Debug`, `Display`, an error or a log. Nothing here reads the environment, the clock
//! or the home folder, and nothing starts a process: the binary hands over a [`Clock`], a [`CommandRunner`] and the
//! [`Surroundings`].

use std::sync::Arc;

use async_trait::async_trait;
use http::HeaderMap;

use crate::error::AiError;

mod aadsts;
mod cache;
mod chain;
mod cli;
mod client_secret;
mod endpoint;
mod entra;
#[cfg(test)]
mod fake;
mod key;
mod managed;
mod surroundings;
mod token;
mod vault;
mod wire;
mod workload;

pub use chain::DefaultChain;
pub use cli::{AzureCli, CommandError, CommandOutput, CommandRunner};
pub use client_secret::ClientSecret;
pub use endpoint::Authority;
pub use entra::EntraCredential;
pub use key::{ApiKey, HeaderStyle, NoCredential};
pub use managed::ManagedIdentity;
pub use surroundings::Surroundings;
pub use token::{AccessToken, Clock, Patience, Scope, TokenError, TokenSource};
pub use vault::KeyVaultKey;
pub use workload::{Assertion, TokenFile, WorkloadIdentity};

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

#[async_trait]
impl<C: Credential + ?Sized> Credential for Arc<C> {
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError> {
        (**self).authorize(headers).await
    }

    fn describe(&self) -> String {
        (**self).describe()
    }

    fn hint(&self) -> String {
        (**self).hint()
    }

    async fn rejected(&self) {
        (**self).rejected().await;
    }
}
