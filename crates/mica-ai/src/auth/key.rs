//! API keys, and having none.

use std::fmt;

use async_trait::async_trait;
use http::{HeaderMap, HeaderName};
use secrecy::{ExposeSecret, SecretString};

use super::{Credential, wire};
use crate::error::{AiError, Reply};

const API_KEY: HeaderName = HeaderName::from_static("api-key");
const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Which header a key travels in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderStyle {
    /// `api-key`: Azure OpenAI and Azure AI Foundry.
    ApiKey,
    /// `Authorization: Bearer`: OpenAI and servers that speak like it.
    Bearer,
    /// `x-api-key`: Anthropic.
    XApiKey,
    /// `x-api-key` and `api-key`: Claude on Azure AI Foundry, whose gateways look at either.
    XApiKeyAndApiKey,
}

impl HeaderStyle {
    /// Puts a key into the headers.
    ///
    /// # Errors
    /// What is wrong with the key, when a header cannot carry it.
    pub(super) fn apply(self, key: &SecretString, headers: &mut HeaderMap) -> Result<(), &'static str> {
        let key = key.expose_secret().trim();
        if key.is_empty() {
            return Err("the key is empty");
        }
        let unfit = "the key holds characters that a header cannot carry, such as a line break";
        let value = wire::sensitive(key).ok_or(unfit)?;
        match self {
            HeaderStyle::ApiKey => {
                headers.insert(API_KEY, value);
            }
            HeaderStyle::Bearer => bearer(key, headers).ok_or(unfit)?,
            HeaderStyle::XApiKey => {
                headers.insert(X_API_KEY, value);
            }
            HeaderStyle::XApiKeyAndApiKey => {
                headers.insert(X_API_KEY, value.clone());
                headers.insert(API_KEY, value);
            }
        }
        Ok(())
    }

    /// What to do when the key is not accepted.
    pub(super) fn hint(self) -> &'static str {
        match self {
            HeaderStyle::ApiKey | HeaderStyle::XApiKeyAndApiKey => {
                "Check that the key belongs to this resource (Azure portal, \"Keys and Endpoint\") and was not \
                 regenerated. Key authentication may be disabled by policy on the resource, and Mythos models take no \
                 keys: use Entra ID then. A 403 can also be a network rule of the resource."
            }
            HeaderStyle::Bearer => {
                "Check that the key is complete, was not revoked, and belongs to the provider at this address. An \
                 Azure resource may have key authentication disabled by policy: use Entra ID then."
            }
            HeaderStyle::XApiKey => {
                "Check that the key is complete, was not revoked, and may use this model."
            }
        }
    }
}

impl fmt::Display for HeaderStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeaderStyle::ApiKey => "header api-key",
            HeaderStyle::Bearer => "header Authorization: Bearer",
            HeaderStyle::XApiKey => "header x-api-key",
            HeaderStyle::XApiKeyAndApiKey => "headers x-api-key and api-key",
        })
    }
}

/// Adds `Authorization: Bearer …`. `None` when the text cannot travel in a header.
pub(super) fn bearer(secret: &str, headers: &mut HeaderMap) -> Option<()> {
    headers.insert(http::header::AUTHORIZATION, wire::sensitive(&format!("Bearer {secret}"))?);
    Some(())
}

/// A fixed key.
#[derive(Debug, Clone)]
pub struct ApiKey {
    key: SecretString,
    style: HeaderStyle,
    origin: Option<String>,
}

impl ApiKey {
    /// A key that travels in the given header. White space around it is not part of it.
    pub fn new(key: SecretString, style: HeaderStyle) -> Self {
        Self { key, style, origin: None }
    }

    /// Says where the key was found, for example the name of a variable, so that errors can point there.
    #[must_use]
    pub fn found_in(mut self, origin: impl Into<String>) -> Self {
        self.origin = Some(origin.into());
        self
    }
}

#[async_trait]
impl Credential for ApiKey {
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError> {
        self.style.apply(&self.key, headers).map_err(|unfit| AiError::Auth {
            tried: self.describe(),
            hint: "Set the key again, without quotes or line breaks.".to_owned(),
            reply: Reply::local(unfit),
        })
    }

    fn describe(&self) -> String {
        match &self.origin {
            Some(origin) => format!("API key from {origin} ({})", self.style),
            None => format!("API key ({})", self.style),
        }
    }

    fn hint(&self) -> String {
        self.style.hint().to_owned()
    }
}

/// No credential: for servers on this machine that ask for none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredential;

#[async_trait]
impl Credential for NoCredential {
    async fn authorize(&self, _headers: &mut HeaderMap) -> Result<(), AiError> {
        Ok(())
    }

    fn describe(&self) -> String {
        "no credential".to_owned()
    }

    fn hint(&self) -> String {
        "The server asks for a credential and none is set. Set an API key or use Entra ID.".to_owned()
    }
}

#[cfg(test)]
mod tests;
