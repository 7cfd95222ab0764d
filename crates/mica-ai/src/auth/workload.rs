//! Workload identity: an application that proves itself with a token somebody else issued, such as a Kubernetes
//! service account's.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};

use super::endpoint::{Authority, TokenEndpoint};
use super::token::{AccessToken, Patience, Scope, TokenError, TokenSource};
use crate::transport::Transport;

/// The one kind of assertion the token endpoint takes here (RFC 7523).
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Where the foreign token comes from. Asked for each fetch, because it is rotated.
#[async_trait]
pub trait Assertion: Send + Sync {
    /// The foreign token as it is now.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    async fn read(&self) -> Result<SecretString, TokenError>;

    /// Where it comes from, for people.
    fn describe(&self) -> String;
}

/// A file that holds the foreign token. Kubernetes rewrites it about once an hour, so it is read each time.
#[derive(Debug, Clone)]
pub struct TokenFile(pub PathBuf);

#[async_trait]
impl Assertion for TokenFile {
    async fn read(&self) -> Result<SecretString, TokenError> {
        let path = self.0.clone();
        let hint = "In Kubernetes, check that the pod has the label azure.workload.identity/use: \"true\" and that the \
                    file is mounted and readable.";
        let failed = |why: String| {
            TokenError::local(format!("the federated token file {} {why}", self.0.display()), hint)
        };
        let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(path))
            .await
            .map_err(|_| failed("was not read: the runtime is shutting down".to_owned()))?
            .map_err(|error| failed(format!("cannot be read: {error}")))?;
        match text.trim() {
            "" => Err(failed("is empty".to_owned())),
            token => Ok(SecretString::from(token)),
        }
    }

    fn describe(&self) -> String {
        format!("token file {}", self.0.display())
    }
}

/// Fetches tokens of an application that trusts another issuer's tokens.
pub struct WorkloadIdentity {
    endpoint: TokenEndpoint,
    assertion: Arc<dyn Assertion>,
}

impl WorkloadIdentity {
    /// The application `client` of `tenant`, in the public cloud.
    pub fn new(
        transport: Arc<dyn Transport>,
        tenant: impl Into<String>,
        client: impl Into<String>,
        assertion: Arc<dyn Assertion>,
    ) -> Self {
        let endpoint = TokenEndpoint {
            transport,
            authority: Authority::default(),
            tenant: tenant.into(),
            client: client.into(),
        };
        Self { endpoint, assertion }
    }

    /// In another cloud.
    #[must_use]
    pub fn authority(mut self, authority: Authority) -> Self {
        self.endpoint.authority = authority;
        self
    }
}

#[async_trait]
impl TokenSource for WorkloadIdentity {
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError> {
        let assertion = self.assertion.read().await?;
        let proof =
            [("client_assertion_type", ASSERTION_TYPE), ("client_assertion", assertion.expose_secret())];
        self.endpoint.ask(scope, &proof, &[&assertion], patience).await
    }

    fn describe(&self) -> String {
        format!(
            "workload identity {} of tenant {} ({})",
            self.endpoint.client,
            self.endpoint.tenant,
            self.assertion.describe()
        )
    }
}

impl fmt::Debug for WorkloadIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkloadIdentity({})", self.describe())
    }
}

#[cfg(test)]
mod tests;
