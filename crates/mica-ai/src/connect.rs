//! From a choice of model to a provider that answers for it: the endpoint's credential, the network, patience.

use std::sync::Arc;

use crate::auth::{ApiKey, Credential, EntraCredential, KeyVaultKey, NoCredential, TokenSource};
use crate::endpoint::{Auth, Choice, Endpoint};
use crate::message::Dialect;
use crate::provider::Provider;
use crate::remote::Remote;
use crate::retry::{RetryPolicy, Retrying};
use crate::transport::Transport;
use crate::watchdog::{ModelClock, Watched};

/// What a program hands over so that models can be reached.
#[derive(Clone)]
pub struct Means {
    /// The network.
    pub transport: Arc<dyn Transport>,
    /// Who this program is to Microsoft Entra, for endpoints that want a token.
    pub identity: Arc<dyn TokenSource>,
    /// How to ask again.
    pub retry: RetryPolicy,
    /// How long a model may take.
    pub clock: ModelClock,
}

impl Means {
    /// The provider for a choice: signed, watched, and asking again when that helps.
    pub fn provider(&self, choice: &Choice) -> Arc<dyn Provider> {
        let remote = self.remote(choice);
        Arc::new(Retrying::new(Arc::new(Watched::new(remote, self.clock.clone())), self.retry))
    }

    /// The endpoint of a choice alone, for programs with a patience of their own.
    pub fn remote(&self, choice: &Choice) -> Remote {
        let credential = self.credential(&choice.endpoint, choice.dialect);
        Remote::new(Arc::clone(&choice.endpoint), choice.dialect, credential, Arc::clone(&self.transport))
    }

    /// What requests of a dialect to an endpoint are signed with.
    pub fn credential(&self, endpoint: &Endpoint, dialect: Dialect) -> Arc<dyn Credential> {
        let style = endpoint.key_header(dialect);
        match &endpoint.auth {
            Auth::ApiKey { key, variable } => Arc::new(ApiKey::new(key.clone(), style).found_in(variable)),
            Auth::Entra { scope } => {
                Arc::new(EntraCredential::new(Arc::clone(&self.identity)).scope(scope.clone()))
            }
            Auth::KeyVault { vault, secret } => Arc::new(KeyVaultKey::new(
                Arc::clone(&self.transport),
                Arc::clone(&self.identity),
                vault,
                secret,
                style,
            )),
            Auth::None => Arc::new(NoCredential),
        }
    }
}
