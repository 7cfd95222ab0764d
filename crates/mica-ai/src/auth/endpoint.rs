//! The token endpoint of Entra ID: one form, posted; a token, or a numbered refusal.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use secrecy::SecretString;

use super::token::{AccessToken, Patience, Scope, TokenError};
use super::{aadsts, wire};
use crate::error::Reply;
use crate::transport::Transport;

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(15);

/// Waits before the second and the third attempt, when the endpoint does not ask for others.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// A longer wait than this is not worth it: the caller's deadline is near anyway.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

/// Who issues tokens: one per cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority(String);

impl Authority {
    /// The public cloud. The default.
    pub fn public() -> Self {
        Self::at("https://login.microsoftonline.com")
    }

    /// Azure Government.
    pub fn us_government() -> Self {
        Self::at("https://login.microsoftonline.us")
    }

    /// Azure operated by 21Vianet.
    pub fn china() -> Self {
        Self::at("https://login.chinacloudapi.cn")
    }

    /// Any other address. Secrets are sent there only over TLS, or when it is this machine.
    pub fn at(address: impl AsRef<str>) -> Self {
        Self(address.as_ref().trim_end_matches('/').to_owned())
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::public()
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The endpoint of one tenant, for one application.
#[derive(Clone)]
pub(super) struct TokenEndpoint {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) authority: Authority,
    pub(super) tenant: String,
    pub(super) client: String,
}

impl TokenEndpoint {
    /// Asks for a token of the application itself. `proof` is what shows that it is the application; `secrets` are
    /// the values among it, which no error may repeat.
    pub(super) async fn ask(
        &self,
        scope: &Scope,
        proof: &[(&str, &str)],
        secrets: &[&SecretString],
        patience: Patience,
    ) -> Result<AccessToken, TokenError> {
        let url = self.address()?;
        let mut fields = vec![
            ("grant_type", "client_credentials"),
            ("client_id", &self.client),
            ("scope", scope.as_str()),
        ];
        fields.extend_from_slice(proof);
        let mut pauses = PAUSES.iter().take(match patience {
            Patience::Probe => 1,
            Patience::Full => PAUSES.len(),
        });
        loop {
            let request = wire::post_form(url.clone(), &fields);
            let (failure, asked) = match wire::exchange(&*self.transport, request, ATTEMPT).await {
                Ok(answer) if answer.status.is_success() => return self.read(&answer.body),
                Ok(answer) => {
                    let refusal = self.refused(&answer, secrets);
                    if !is_temporary(answer.status) {
                        return Err(refusal);
                    }
                    (refusal, answer.retry_after())
                }
                Err(wire::NoAnswer(why)) => (self.unreachable(wire::redact(&why, secrets)), None),
            };
            match pauses.next() {
                Some(pause) if asked.unwrap_or_default() <= LONGEST_PAUSE => {
                    tokio::time::sleep(asked.unwrap_or(*pause)).await;
                }
                _ => return Err(failure),
            }
        }
    }

    fn address(&self) -> Result<String, TokenError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        if self.tenant.is_empty() || !self.tenant.bytes().all(fits) {
            return Err(TokenError::local(
                format!("{:?} is not a tenant id", self.tenant),
                "A tenant id is a GUID or a domain name. Find it in the Azure portal under \"Microsoft Entra ID\".",
            ));
        }
        if self.client.is_empty() {
            return Err(TokenError::local("the client id is empty", "Set the application's client id."));
        }
        let url = format!("{}/{}/oauth2/v2.0/token", self.authority, self.tenant);
        if !wire::may_carry_secrets(&url) {
            return Err(TokenError::local(
                format!("the authority {} is not an https address", self.authority),
                "Set the authority host to an https address, for example https://login.microsoftonline.com.",
            ));
        }
        Ok(url)
    }

    fn read(&self, body: &[u8]) -> Result<AccessToken, TokenError> {
        AccessToken::read(body, None).map_err(|why| {
            TokenError::local(
                format!("{} did not answer with a token: {why}", self.authority),
                "Check the authority host, and that no proxy answers in its place.",
            )
        })
    }

    fn refused(&self, answer: &wire::Answer, secrets: &[&SecretString]) -> TokenError {
        let reply = answer.refusal(secrets);
        let known = reply.code.as_deref().and_then(aadsts::hint).map(str::to_owned);
        let hint = known.unwrap_or_else(|| {
            if is_temporary(answer.status) {
                format!("{} is busy or failing. Try again in a while.", self.authority)
            } else {
                format!("Check tenant {}, client {} and the scope.", self.tenant, self.client)
            }
        });
        TokenError { reply, hint }
    }

    fn unreachable(&self, why: String) -> TokenError {
        TokenError {
            reply: Reply::local(why),
            hint: format!("Check that {} can be reached: network, proxy, authority host.", self.authority),
        }
    }
}

fn is_temporary(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status.is_server_error()
}

#[cfg(test)]
mod tests;
