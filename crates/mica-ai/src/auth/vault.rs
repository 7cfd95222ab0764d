//! An API key that lives in Azure Key Vault, read with an Entra ID token and kept for a while.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderMap, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::Credential;
use super::cache::{Cache, Fresh};
use super::entra::Tokens;
use super::key::{HeaderStyle, bearer};
use super::token::{Scope, TokenSource};
use super::wire;
use crate::error::{AiError, Reply};
use crate::transport::Transport;

const API_VERSION: &str = "7.4";

/// How long one attempt to read the secret may take.
const ATTEMPT: Duration = Duration::from_secs(15);

/// The wait before a second attempt, when the vault is busy.
const PAUSE: Duration = Duration::from_secs(2);

/// Token and secret together: the time of a token, and of two attempts.
const DEADLINE: Duration = Duration::from_secs(130);

/// How long a key is used before the vault is asked again. A rotated key is also noticed when it is refused.
const LIFETIME: Duration = Duration::from_secs(3600);

/// Signs requests with a key that is a secret in a vault.
pub struct KeyVaultKey {
    reader: Reader,
    style: HeaderStyle,
    lifetime: Duration,
    cache: Cache<SecretString>,
}

/// What is needed to read the secret, apart from the cache. Cloned into each fetch, which may outlive the call that
/// began it.
#[derive(Clone)]
struct Reader {
    transport: Arc<dyn Transport>,
    tokens: Arc<Tokens>,
    vault: String,
    name: String,
    version: Option<String>,
}

impl KeyVaultKey {
    /// The newest version of the secret `name` in the vault at `vault`, for example
    /// `https://example.vault.azure.net`, read with tokens from `source`.
    pub fn new(
        transport: Arc<dyn Transport>,
        source: Arc<dyn TokenSource>,
        vault: impl AsRef<str>,
        name: impl Into<String>,
        style: HeaderStyle,
    ) -> Self {
        let reader = Reader {
            transport,
            tokens: Arc::new(Tokens::new(source, Scope::key_vault())),
            vault: vault.as_ref().trim_end_matches('/').to_owned(),
            name: name.into(),
            version: None,
        };
        Self { reader, style, lifetime: LIFETIME, cache: Cache::new() }
    }

    /// One version of the secret, and no other. Rotation goes unnoticed then.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.reader.version = Some(version.into());
        self
    }

    /// For a vault in another cloud, whose tokens have another scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.reader.tokens = Arc::new(self.reader.tokens.for_scope(scope));
        self
    }

    /// Asks the vault again after this time. While the vault cannot be read, the key is used for as long again.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    async fn key(&self) -> Result<Arc<SecretString>, AiError> {
        let (reader, lifetime) = (self.reader.clone(), self.lifetime);
        let fetch = async move {
            let value = reader.read().await?;
            Ok(Fresh { value, lifetime: lifetime.saturating_mul(2), refresh_in: Some(lifetime) })
        };
        let tried = self.reader.describe();
        let late = move || AiError::Auth {
            tried,
            hint: "The vault is slow or out of reach. Check the network and the vault's firewall.".to_owned(),
            reply: Reply::local(format!("no answer within {} s", DEADLINE.as_secs())),
        };
        self.cache.get(DEADLINE, fetch, late).await
    }
}

impl Reader {
    fn describe(&self) -> String {
        format!("secret {} of key vault {} read with {}", self.name, self.vault, self.tokens.describe())
    }

    fn failed(&self, reply: Box<Reply>, hint: impl Into<String>) -> AiError {
        AiError::Auth { tried: self.describe(), hint: hint.into(), reply }
    }

    fn address(&self) -> Result<String, AiError> {
        let fits = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if !fits(&self.name) || !self.version.as_deref().is_none_or(fits) {
            return Err(self.failed(
                Reply::local("that is not the name or version of a secret"),
                "Names of secrets consist of letters, digits and dashes.",
            ));
        }
        let version = self.version.as_deref().map(|version| format!("/{version}")).unwrap_or_default();
        let url = format!("{}/secrets/{}{version}?api-version={API_VERSION}", self.vault, self.name);
        if !wire::may_carry_secrets(&url) {
            return Err(self.failed(
                Reply::local("the vault's address is not an https address"),
                "Set it as https://<name>.vault.azure.net.",
            ));
        }
        Ok(url)
    }

    /// Reads the secret. Tries once more when the vault is busy, and once more with a new token when it refuses the
    /// one it got.
    async fn read(&self) -> Result<SecretString, AiError> {
        let url = self.address()?;
        let mut again = true;
        loop {
            let token = self.tokens.get().await?;
            let mut request = wire::get(url.clone());
            bearer(token.secret.expose_secret(), &mut request.headers).ok_or_else(|| self.tokens.unfit())?;
            let answer = match wire::exchange(&*self.transport, request, ATTEMPT).await {
                Ok(answer) => answer,
                Err(wire::NoAnswer(_)) if again => {
                    again = false;
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                Err(wire::NoAnswer(why)) => {
                    let why = wire::redact(&why, &[&token.secret]);
                    return Err(self.failed(
                        Reply::local(why),
                        "Check that the vault can be reached: its address, the network, a private endpoint.",
                    ));
                }
            };
            match answer.status {
                status if status.is_success() => return self.value(&answer.body),
                StatusCode::UNAUTHORIZED if again => self.tokens.forget(),
                StatusCode::TOO_MANY_REQUESTS if again => tokio::time::sleep(PAUSE).await,
                status if status.is_server_error() && again => tokio::time::sleep(PAUSE).await,
                _ => return Err(self.refused(&answer, &token.secret)),
            }
            again = false;
        }
    }

    fn value(&self, body: &[u8]) -> Result<SecretString, AiError> {
        // What failed to parse may hold the key, so nothing of it is quoted.
        let answer: Option<Value> = serde_json::from_slice(body).ok();
        let value = answer.as_ref().and_then(|answer| answer.get("value")).and_then(Value::as_str);
        match value.map(str::trim) {
            Some("") => {
                Err(self.failed(Reply::local("the secret is empty"), "Set the secret's value in the vault."))
            }
            Some(value) => Ok(SecretString::from(value)),
            None => Err(self.failed(
                Reply::local("the vault's answer holds no secret"),
                "Check the vault's address, and that no proxy answers in its place.",
            )),
        }
    }

    fn refused(&self, answer: &wire::Answer, token: &SecretString) -> AiError {
        let reply = answer.refusal(&[token]);
        let hint = match (answer.status, reply.code.as_deref()) {
            (StatusCode::UNAUTHORIZED, _) => {
                "The vault did not accept the token. Check that the identity is of the vault's tenant, and the scope."
            }
            (_, Some("SecretDisabled")) => {
                "Enable the secret in the vault, or name a version that is enabled."
            }
            (_, Some("ForbiddenByFirewall" | "ForbiddenByConnection")) => {
                "The vault's firewall keeps this machine out. Allow its address, or use a private endpoint."
            }
            (StatusCode::FORBIDDEN, _) => {
                "Give the identity the role \"Key Vault Secrets User\" on the vault, or a \"get\" permission for secrets \
                 in its access policy. The vault's firewall may also be in the way."
            }
            (StatusCode::NOT_FOUND, _) => {
                "Check the name of the secret, its version, and that it was not deleted."
            }
            _ => "The vault is busy or failing. Try again in a while.",
        };
        self.failed(reply, hint)
    }
}

#[async_trait]
impl Credential for KeyVaultKey {
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError> {
        let key = self.key().await?;
        self.style.apply(&key, headers).map_err(|unfit| {
            self.reader
                .failed(Reply::local(unfit), "Set the secret's value in the vault again, as the key alone.")
        })
    }

    fn describe(&self) -> String {
        format!("API key ({}): {}", self.style, self.reader.describe())
    }

    fn hint(&self) -> String {
        format!("The key in the vault may be an old one. {}", self.style.hint())
    }

    async fn rejected(&self) {
        self.cache.forget();
    }
}

impl fmt::Debug for KeyVaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyVaultKey({})", self.describe())
    }
}

#[cfg(test)]
mod tests;
