//! What the platform tells a process about its Azure identity, and the usual chain made from it.
//!
//! The names are those of Azure's own tools, so that what works for them works here. The values are handed over: this
//! reads nothing by itself.

use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;

use super::chain::DefaultChain;
use super::cli::{AzureCli, CommandRunner};
use super::client_secret::ClientSecret;
use super::endpoint::Authority;
use super::managed::ManagedIdentity;
use super::token::{Clock, TokenSource};
use super::workload::{TokenFile, WorkloadIdentity};
use crate::transport::Transport;

/// The variables that describe an Azure identity, as far as they are set.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `AZURE_TENANT_ID`.
    pub tenant: Option<String>,
    /// `AZURE_CLIENT_ID`.
    pub client: Option<String>,
    /// `AZURE_CLIENT_SECRET`.
    pub client_secret: Option<SecretString>,
    /// `AZURE_FEDERATED_TOKEN_FILE`.
    pub token_file: Option<PathBuf>,
    /// `AZURE_AUTHORITY_HOST`.
    pub authority: Authority,
    /// `IDENTITY_ENDPOINT`.
    pub identity_endpoint: Option<String>,
    /// `IDENTITY_HEADER`.
    pub identity_header: Option<SecretString>,
}

impl Surroundings {
    /// Takes the variables from `lookup`, which is usually the environment. Empty ones count as not set.
    pub fn look_up(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let find = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        Self {
            tenant: find("AZURE_TENANT_ID"),
            client: find("AZURE_CLIENT_ID"),
            client_secret: find("AZURE_CLIENT_SECRET").map(SecretString::from),
            token_file: find("AZURE_FEDERATED_TOKEN_FILE").map(PathBuf::from),
            authority: find("AZURE_AUTHORITY_HOST").map(Authority::at).unwrap_or_default(),
            identity_endpoint: find("IDENTITY_ENDPOINT"),
            identity_header: find("IDENTITY_HEADER").map(SecretString::from),
        }
    }

    /// The usual chain: what was set on purpose first, then what the platform offers, then the developer's sign-in.
    /// Members whose variables are missing are left out.
    pub fn chain(
        &self,
        transport: &Arc<dyn Transport>,
        clock: &Arc<dyn Clock>,
        runner: Option<Arc<dyn CommandRunner>>,
    ) -> DefaultChain {
        let mut members: Vec<Arc<dyn TokenSource>> = Vec::new();
        if let (Some(tenant), Some(client)) = (&self.tenant, &self.client) {
            if let Some(secret) = &self.client_secret {
                let source = ClientSecret::new(transport.clone(), tenant, client, secret.clone());
                members.push(Arc::new(source.authority(self.authority.clone())));
            }
            if let Some(path) = &self.token_file {
                let file = Arc::new(TokenFile(path.clone()));
                let source = WorkloadIdentity::new(transport.clone(), tenant, client, file);
                members.push(Arc::new(source.authority(self.authority.clone())));
            }
        }
        let managed = match (&self.identity_endpoint, &self.identity_header) {
            (Some(endpoint), Some(header)) => {
                ManagedIdentity::app_service(transport.clone(), clock.clone(), endpoint, header.clone())
            }
            _ => ManagedIdentity::imds(transport.clone(), clock.clone()),
        };
        members.push(Arc::new(match &self.client {
            Some(client) => managed.client_id(client),
            None => managed,
        }));
        if let Some(runner) = runner {
            let source = AzureCli::new(runner, clock.clone());
            members.push(Arc::new(match &self.tenant {
                Some(tenant) => source.tenant(tenant),
                None => source,
            }));
        }
        DefaultChain::new(members)
    }
}

#[cfg(test)]
mod tests;
