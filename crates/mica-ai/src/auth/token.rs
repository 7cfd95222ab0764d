//! Access tokens: what one is, for which scope, and the trait of the things that fetch them.

use std::fmt;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;

use crate::error::Reply;

/// Assumed when an answer does not say how long its token lives. Short, because asking too often costs a request and
/// asking too late costs a failed turn.
const UNSAID_LIFETIME: Duration = Duration::from_secs(300);

/// Tells the time of day, for answers that give a token's end as a date. Only binaries have a clock of their own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> SystemTime;
}

impl<F: Fn() -> SystemTime + Send + Sync> Clock for F {
    fn now(&self) -> SystemTime {
        self()
    }
}

/// What a token is good for.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Scope(String);

impl Scope {
    /// A scope by its full name, for example `https://ai.azure.com/.default`.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Azure AI Foundry: the scope its documentation names today, and the default.
    pub fn foundry() -> Self {
        Self::named("https://ai.azure.com/.default")
    }

    /// The older scope of Azure OpenAI, which some resources still want.
    pub fn cognitive_services() -> Self {
        Self::named("https://cognitiveservices.azure.com/.default")
    }

    /// Key Vault in the public cloud.
    pub fn key_vault() -> Self {
        Self::named("https://vault.azure.net/.default")
    }

    /// The scope as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The resource a managed identity is asked for: the scope without its permission part.
    pub fn resource(&self) -> &str {
        self.0.strip_suffix("/.default").unwrap_or(&self.0)
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self::foundry()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// A token, and how long it lives from the moment it was asked for.
#[derive(Debug, Clone)]
pub struct AccessToken {
    /// The token itself.
    pub secret: SecretString,
    /// How long it is valid.
    pub lifetime: Duration,
    /// When its issuer would like it to be replaced, if it said so.
    pub refresh_in: Option<Duration>,
}

/// How hard a source should try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Find out whether the source exists at all, without long waits: others are waiting in line.
    Probe,
    /// The source is known or meant to work: ride out its temporary failures.
    Full,
}

/// Fetches a token. Remembers nothing: caching is the credential's work.
#[async_trait]
pub trait TokenSource: Send + Sync {
    /// Asks for a token.
    ///
    /// # Errors
    /// Why there is none, and what to do about it.
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError>;

    /// Whose token it fetches; never a secret. For people.
    fn describe(&self) -> String;

    /// What to look at when the token is not accepted, beyond what holds for every identity.
    fn hint(&self) -> String {
        String::new()
    }
}

/// Why a source gave no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reply}")]
pub struct TokenError {
    /// What the source said.
    pub reply: Box<Reply>,
    /// What to do.
    pub hint: String,
}

impl TokenError {
    /// A failure that is known here, without an answer from elsewhere.
    pub fn local(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reply: Reply::local(message), hint: hint.into() }
    }
}

impl AccessToken {
    /// Reads the answer of a token endpoint, of a metadata service or of the Azure CLI. They agree on the idea and
    /// differ in spelling: numbers come as text, ends as durations or as dates.
    ///
    /// Errors name positions and fields, never contents: what failed to parse may hold a token.
    pub(super) fn read(body: &[u8], now: Option<SystemTime>) -> Result<Self, String> {
        let answer: Value = serde_json::from_slice(body).map_err(|error| {
            format!("its answer is not JSON (line {}, column {})", error.line(), error.column())
        })?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let token = text("access_token")
            .or_else(|| text("accessToken"))
            .ok_or_else(|| "its answer holds no access token".to_owned())?;
        let seconds = |name: &str| answer.get(name).and_then(number).map(Duration::from_secs);
        let until = |name: &str| {
            let since_epoch = now?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(seconds(name)?.saturating_sub(since_epoch))
        };
        let lifetime = seconds("expires_in").or_else(|| until("expires_on")).unwrap_or(UNSAID_LIFETIME);
        let refresh_in =
            seconds("refresh_in").or_else(|| until("refresh_on")).filter(|wait| *wait < lifetime);
        Ok(Self { secret: SecretString::from(token), lifetime, refresh_in })
    }
}

/// A whole number of seconds, written as a number or as text.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
