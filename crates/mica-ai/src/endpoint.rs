//! Where requests go: one place that serves models, its address, its credential and its deployments.
//!
//! Invariants: an address is normalised once, when it is read, and normalising it again changes nothing. Plain `http`
//! reaches this machine only. No text made here contains a key.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::auth::{HeaderStyle, Scope};
use crate::message::Dialect;

mod address;
mod azure;
mod deployments;
mod discover;
mod error;
mod select;
mod settings;

pub use address::{Address, OpenAiPath};
pub use deployments::DeploymentMap;
pub use discover::Variables;
pub use error::{AddressError, EndpointError, SelectError};
pub use select::{Choice, Endpoints, Facts};
pub use settings::{AuthSettings, EndpointSettings, Settings};

/// Something that serves models.
#[derive(Clone)]
pub struct Endpoint {
    /// Its name in the configuration; answers remember it as their origin.
    pub name: String,
    /// What it is.
    pub kind: HostKind,
    /// Where it is.
    pub address: Address,
    /// The dialect to speak there, whatever the model's own is.
    pub dialect: Option<Dialect>,
    /// What its models are deployed as.
    pub deployments: DeploymentMap,
    /// What requests are signed with.
    pub auth: Auth,
    /// Headers to send beside the usual ones.
    pub headers: BTreeMap<String, String>,
}

impl Endpoint {
    /// The whole address that a request of a dialect for a deployment goes to.
    pub fn url(&self, dialect: Dialect, deployment: &str) -> String {
        self.address.url(dialect, deployment)
    }

    /// Whether models whose own dialect this is are found here.
    pub fn hosts(&self, dialect: Dialect) -> bool {
        self.dialect == Some(dialect) || self.kind.hosts(dialect)
    }

    /// The header a key goes into.
    pub fn key_header(&self, dialect: Dialect) -> HeaderStyle {
        match (self.kind, dialect) {
            (HostKind::Foundry, Dialect::Responses | Dialect::Chat) => HeaderStyle::ApiKey,
            (HostKind::Foundry, Dialect::Messages) | (HostKind::FoundryClaude, _) => {
                HeaderStyle::XApiKeyAndApiKey
            }
            (HostKind::Anthropic, _) => HeaderStyle::XApiKey,
            (HostKind::OpenAi | HostKind::Local, _) => HeaderStyle::Bearer,
        }
    }
}

impl fmt::Debug for Endpoint {
    /// Leaves out the values of headers: gateways take keys in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("address", &self.address)
            .field("dialect", &self.dialect)
            .field("deployments", &self.deployments)
            .field("auth", &self.auth)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish()
    }
}

/// The kinds of places that serve models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// An Azure AI Foundry or Azure OpenAI resource: all three dialects.
    Foundry,
    /// Claude on an Azure AI Foundry resource that is configured for it alone.
    FoundryClaude,
    /// OpenAI, or a gateway that speaks like it.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic, or a gateway that speaks like it.
    Anthropic,
    /// A server on this machine or network that speaks like OpenAI: Ollama, llama.cpp, vLLM.
    Local,
}

impl HostKind {
    /// The name used in configuration, and the name of an endpoint found in the environment.
    pub fn name(self) -> &'static str {
        match self {
            HostKind::Foundry => "foundry",
            HostKind::FoundryClaude => "foundry_claude",
            HostKind::OpenAi => "openai",
            HostKind::Anthropic => "anthropic",
            HostKind::Local => "local",
        }
    }

    /// Whether models whose own dialect this is are usually found at such a place.
    pub fn hosts(self, dialect: Dialect) -> bool {
        match self {
            HostKind::Foundry => true,
            HostKind::FoundryClaude | HostKind::Anthropic => dialect == Dialect::Messages,
            HostKind::OpenAi => dialect != Dialect::Messages,
            HostKind::Local => dialect == Dialect::Chat,
        }
    }

    /// The dialect for models nobody knows. Chat is what the most models of a mixed place understand.
    pub fn default_dialect(self) -> Dialect {
        match self {
            HostKind::FoundryClaude | HostKind::Anthropic => Dialect::Messages,
            HostKind::Foundry | HostKind::OpenAi | HostKind::Local => Dialect::Chat,
        }
    }
}

impl fmt::Display for HostKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What requests are signed with. Says which credential is wanted; the credential itself is made elsewhere.
#[derive(Debug, Clone)]
pub enum Auth {
    /// A key.
    ApiKey {
        /// The key. Does not print.
        key: SecretString,
        /// The variable it came from, for hints.
        variable: String,
    },
    /// A token from Microsoft Entra.
    Entra {
        /// What the token is for.
        scope: Scope,
    },
    /// A key that is kept in an Azure Key Vault, read with a token from Microsoft Entra.
    KeyVault {
        /// The vault's address.
        vault: String,
        /// The secret's name.
        secret: String,
    },
    /// Nothing.
    None,
}

/// Something a person should know about how the configuration was read. Nothing is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// The v1 path needs no version, so a dated one is not sent.
    ApiVersionIgnored {
        /// The endpoint.
        endpoint: String,
        /// The version.
        version: String,
    },
    /// A key is set, but not where to go with it.
    KeyWithoutAddress {
        /// The variable of the key.
        variable: String,
        /// The variables of which one is needed.
        needed: Vec<String>,
    },
    /// An address is set, but no key for it.
    AddressWithoutKey {
        /// The variable of the address.
        variable: String,
        /// The variable of the key.
        needed: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::ApiVersionIgnored { endpoint, version } => write!(
                f,
                "endpoint {endpoint}: api-version {version} is not sent, because the v1 path needs none; \
                 for the older path give an address that ends in /openai/deployments"
            ),
            Note::KeyWithoutAddress { variable, needed } => {
                write!(f, "{variable} is set but not used: set {} as well", needed.join(" or "))
            }
            Note::AddressWithoutKey { variable, needed } => {
                write!(f, "{variable} is set but not used: set {needed} as well")
            }
        }
    }
}

#[cfg(test)]
mod tests;
