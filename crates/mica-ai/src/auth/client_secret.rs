//! A service principal that proves itself with a secret.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};

use super::endpoint::{Authority, TokenEndpoint};
use super::token::{AccessToken, Patience, Scope, TokenError, TokenSource};
use crate::transport::Transport;

/// Fetches tokens of an application registration, with its client secret.
pub struct ClientSecret {
    endpoint: TokenEndpoint,
    secret: SecretString,
}

impl ClientSecret {
    /// The application `client` of `tenant`, in the public cloud.
    pub fn new(
        transport: Arc<dyn Transport>,
        tenant: impl Into<String>,
        client: impl Into<String>,
        secret: SecretString,
    ) -> Self {
        let endpoint = TokenEndpoint {
            transport,
            authority: Authority::default(),
            tenant: tenant.into(),
            client: client.into(),
        };
        Self { endpoint, secret }
    }

    /// In another cloud.
    #[must_use]
    pub fn authority(mut self, authority: Authority) -> Self {
        self.endpoint.authority = authority;
        self
    }
}

#[async_trait]
impl TokenSource for ClientSecret {
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError> {
        let secret = self.secret.expose_secret();
        if secret.is_empty() {
            return Err(TokenError::local(
                "the client secret is empty",
                "Set the application's client secret.",
            ));
        }
        self.endpoint.ask(scope, &[("client_secret", secret)], &[&self.secret], patience).await
    }

    fn describe(&self) -> String {
        format!("service principal {} of tenant {}", self.endpoint.client, self.endpoint.tenant)
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientSecret({})", self.describe())
    }
}

#[cfg(test)]
mod tests;
