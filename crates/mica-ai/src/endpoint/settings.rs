//! Endpoints as a configuration file describes them.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use secrecy::SecretString;
use serde::Deserialize;

use super::discover::Variables;
use super::error::EndpointError;
use super::select::Endpoints;
use super::{Address, Auth, DeploymentMap, Endpoint, HostKind, Note};
use crate::auth::Scope;
use crate::message::Dialect;

/// Endpoints in the order they are preferred in. In TOML, each is a table `[[endpoints]]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The endpoints.
    #[serde(default)]
    pub endpoints: Vec<EndpointSettings>,
}

/// One endpoint.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointSettings {
    /// What it is called; the kind's name when absent.
    pub name: Option<String>,
    /// What it is.
    pub kind: HostKind,
    /// Where it is, in any form people paste.
    pub base_url: Option<String>,
    /// On Azure: the resource's name, instead of an address.
    pub resource: Option<String>,
    /// On Azure: the version, for the older path only.
    pub api_version: Option<String>,
    /// The dialect to speak there, whatever the model's own is.
    pub dialect: Option<Dialect>,
    /// What models are deployed as.
    #[serde(default)]
    pub deployments: BTreeMap<String, String>,
    /// What requests are signed with. When absent: the key in the kind's own variable; on Azure, Entra without one.
    pub auth: Option<AuthSettings>,
    /// Headers to send beside the usual ones.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
}

/// What requests are signed with. A key is never written into a configuration: the name of its variable is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum AuthSettings {
    /// A key.
    ApiKey {
        /// The variable that holds it; the kind's own when absent.
        env: Option<String>,
    },
    /// A key that is kept in an Azure Key Vault.
    KeyVault {
        /// The vault's address.
        vault: String,
        /// The secret's name.
        secret: String,
    },
    /// A token from Microsoft Entra.
    Entra {
        /// What the token is for.
        scope: Option<String>,
    },
    /// Nothing.
    None {},
}

impl HostKind {
    /// The variable that holds the key for this kind of endpoint.
    pub fn key_variable(self) -> &'static str {
        match self {
            HostKind::Foundry => "AZURE_OPENAI_API_KEY",
            HostKind::FoundryClaude => "ANTHROPIC_FOUNDRY_API_KEY",
            HostKind::OpenAi => "OPENAI_API_KEY",
            HostKind::Anthropic => "ANTHROPIC_API_KEY",
            HostKind::Local => "MICA_LOCAL_API_KEY",
        }
    }

    fn own_address(self) -> Option<&'static str> {
        match self {
            HostKind::OpenAi => Some("https://api.openai.com/v1"),
            HostKind::Anthropic => Some("https://api.anthropic.com"),
            HostKind::Foundry | HostKind::FoundryClaude | HostKind::Local => None,
        }
    }

    fn is_azure(self) -> bool {
        matches!(self, HostKind::Foundry | HostKind::FoundryClaude)
    }
}

impl Settings {
    /// Reads settings from TOML.
    ///
    /// # Errors
    /// When the text is not TOML, or has a field or value that is not known. The error says where.
    pub fn parse(text: &str) -> Result<Settings, EndpointError> {
        toml::from_str(text)
            .map_err(|error| EndpointError::Settings { problem: error.to_string().trim_end().to_owned() })
    }

    /// Makes endpoints of the settings. Keys are looked up in the variables given.
    ///
    /// # Errors
    /// The first thing that is wrong, with the endpoint and what to do about it.
    pub fn resolve(&self, variables: Variables<'_>) -> Result<Endpoints, EndpointError> {
        let mut out = Endpoints::default();
        for settings in &self.endpoints {
            let (endpoint, note) = settings.resolve(variables)?;
            out.push(endpoint)?;
            out.notes.extend(note);
        }
        Ok(out)
    }
}

impl EndpointSettings {
    /// Settings of a kind, with nothing set.
    pub fn new(kind: HostKind) -> Self {
        Self {
            name: None,
            kind,
            base_url: None,
            resource: None,
            api_version: None,
            dialect: None,
            deployments: BTreeMap::new(),
            auth: None,
            headers: BTreeMap::new(),
        }
    }

    /// Makes an endpoint of the settings.
    ///
    /// # Errors
    /// As [`Settings::resolve`].
    pub fn resolve(&self, variables: Variables<'_>) -> Result<(Endpoint, Option<Note>), EndpointError> {
        let kind = self.kind;
        let name = self.name.clone().unwrap_or_else(|| kind.name().to_owned());
        if name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        {
            return Err(EndpointError::Name { name });
        }
        for (field, set) in
            [("resource", self.resource.is_some()), ("api_version", self.api_version.is_some())]
        {
            if set && !kind.is_azure() {
                return Err(EndpointError::Field { endpoint: name, field, kind: kind.name() });
            }
        }
        let wrong = |field: &str, source| EndpointError::Address {
            setting: format!("endpoint {name}: {field}"),
            source,
        };
        let base = match (&self.base_url, &self.resource, kind.own_address()) {
            (Some(base), _, _) => base.clone(),
            (None, Some(resource), _) => {
                Address::of_resource(kind, resource).map_err(|source| wrong("resource", source))?
            }
            (None, None, Some(own)) => own.to_owned(),
            (None, None, None) => {
                let needed = if kind.is_azure() { "resource or base_url" } else { "base_url" };
                return Err(EndpointError::NoAddress { endpoint: name, needed });
            }
        };
        let (address, unused) = Address::parse(kind, &base, self.api_version.as_deref())
            .map_err(|source| wrong("base_url", source))?;
        let note = unused.map(|version| Note::ApiVersionIgnored { endpoint: name.clone(), version });
        self.check_headers(&name)?;
        let deployments =
            DeploymentMap::from_table(&format!("endpoint {name}: deployments"), &self.deployments)?;
        let auth = self.auth(&name, variables)?;
        let headers = self.headers.clone();
        Ok((Endpoint { name, kind, address, dialect: self.dialect, deployments, auth, headers }, note))
    }

    fn auth(&self, endpoint: &str, variables: Variables<'_>) -> Result<Auth, EndpointError> {
        let key = |variable: &str| {
            let key = value_of(variables, variable)?;
            Some(Auth::ApiKey { key: SecretString::from(key), variable: variable.to_owned() })
        };
        let missing = |variable: &str| EndpointError::NoKey {
            endpoint: endpoint.to_owned(),
            variable: variable.to_owned(),
        };
        let own = self.kind.key_variable();
        match &self.auth {
            Some(AuthSettings::ApiKey { env }) => {
                let variable = env.as_deref().unwrap_or(own);
                key(variable).ok_or_else(|| missing(variable))
            }
            Some(AuthSettings::Entra { scope }) => {
                Ok(Auth::Entra { scope: scope.as_deref().map_or_else(Scope::default, Scope::named) })
            }
            Some(AuthSettings::KeyVault { vault, secret }) => {
                Ok(Auth::KeyVault { vault: vault.clone(), secret: secret.clone() })
            }
            Some(AuthSettings::None {}) => Ok(Auth::None),
            None => match (key(own), self.kind) {
                (Some(key), _) => Ok(key),
                (None, HostKind::Foundry | HostKind::FoundryClaude) => {
                    Ok(Auth::Entra { scope: Scope::default() })
                }
                (None, HostKind::Local) => Ok(Auth::None),
                (None, HostKind::OpenAi | HostKind::Anthropic) => Err(missing(own)),
            },
        }
    }

    fn check_headers(&self, endpoint: &str) -> Result<(), EndpointError> {
        for (header, value) in &self.headers {
            let wrong = |problem| EndpointError::Header {
                endpoint: endpoint.to_owned(),
                header: header.clone(),
                problem,
            };
            let name = HeaderName::from_bytes(header.as_bytes())
                .map_err(|_| wrong("this is not a header's name"))?;
            HeaderValue::from_str(value).map_err(|_| wrong("its value cannot be sent"))?;
            if matches!(name.as_str(), "authorization" | "api-key" | "x-api-key") {
                return Err(wrong("keys are configured under auth"));
            }
        }
        Ok(())
    }
}

/// A variable that is set to something. People unset variables by emptying them.
pub(super) fn value_of(variables: Variables<'_>, name: &str) -> Option<String> {
    variables(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}
