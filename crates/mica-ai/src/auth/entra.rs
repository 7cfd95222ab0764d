//! Entra ID tokens as a credential: any token source, one scope, one cache.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderMap;
use secrecy::ExposeSecret;

use super::Credential;
use super::cache::{Cache, Fresh};
use super::key::bearer;
use super::token::{AccessToken, Patience, Scope, TokenSource};
use crate::error::{AiError, Reply};

/// How long one token may take, retries included. Long enough for a chain of four silent members to say what each of
/// them was waiting for, and for a metadata service that is being updated.
const DEADLINE: Duration = Duration::from_secs(90);

/// Signs requests with a token of Entra ID.
pub struct EntraCredential {
    tokens: Tokens,
}

impl EntraCredential {
    /// Tokens from `source`, for [`Scope::foundry`].
    pub fn new(source: Arc<dyn TokenSource>) -> Self {
        Self { tokens: Tokens::new(source, Scope::default()) }
    }

    /// For another scope.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.tokens = self.tokens.for_scope(scope);
        self
    }

    /// Waits this long for a token, retries included.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.tokens.deadline = deadline;
        self
    }
}

#[async_trait]
impl Credential for EntraCredential {
    async fn authorize(&self, headers: &mut HeaderMap) -> Result<(), AiError> {
        let token = self.tokens.get().await?;
        bearer(token.secret.expose_secret(), headers).ok_or_else(|| self.tokens.unfit())
    }

    fn describe(&self) -> String {
        self.tokens.describe()
    }

    fn hint(&self) -> String {
        let scope = &self.tokens.scope;
        let other = if *scope == Scope::cognitive_services() {
            Scope::foundry()
        } else {
            Scope::cognitive_services()
        };
        let hint = format!(
            "Give the identity the role \"Cognitive Services OpenAI User\" on the resource (\"Cognitive Services User\" \
             for models that are not OpenAI's); a new assignment takes some minutes to apply. If it has the role, the \
             scope may be wrong: {scope} was used, try {other}. The identity must be of the resource's tenant. A 403 \
             can also be a network rule of the resource, or a suspended one."
        );
        match self.tokens.source.hint() {
            more if more.is_empty() => hint,
            more => format!("{hint} {more}"),
        }
    }

    async fn rejected(&self) {
        self.tokens.forget();
    }
}

impl fmt::Debug for EntraCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EntraCredential({})", self.describe())
    }
}

/// The tokens of one source for one scope, cached.
pub(super) struct Tokens {
    source: Arc<dyn TokenSource>,
    scope: Scope,
    deadline: Duration,
    cache: Cache<AccessToken>,
}

impl Tokens {
    pub(super) fn new(source: Arc<dyn TokenSource>, scope: Scope) -> Self {
        Self { source, scope, deadline: DEADLINE, cache: Cache::new() }
    }

    /// The same source for another scope, with nothing cached: a token is good for one scope only.
    pub(super) fn for_scope(&self, scope: Scope) -> Self {
        Self { deadline: self.deadline, ..Self::new(self.source.clone(), scope) }
    }

    pub(super) fn describe(&self) -> String {
        tried(&*self.source, &self.scope)
    }

    pub(super) async fn get(&self) -> Result<Arc<AccessToken>, AiError> {
        let (source, scope, deadline) = (self.source.clone(), self.scope.clone(), self.deadline);
        let fetch = async move {
            let token = source.fetch(&scope, Patience::Full).await.map_err(|error| AiError::Auth {
                tried: tried(&*source, &scope),
                hint: error.hint,
                reply: error.reply,
            })?;
            Ok(Fresh { lifetime: token.lifetime, refresh_in: token.refresh_in, value: token })
        };
        let tried = self.describe();
        let late = move || {
            AiError::Auth {
            tried,
            hint: "The identity service is slow or out of reach. Check the network and the proxy, then try again."
                .to_owned(),
            reply: Reply::local(format!("no token within {} s", deadline.as_secs_f32())),
        }
        };
        self.cache.get(deadline, fetch, late).await
    }

    pub(super) fn forget(&self) {
        self.cache.forget();
    }

    /// A token that cannot travel in a header is none.
    pub(super) fn unfit(&self) -> AiError {
        AiError::Auth {
            tried: self.describe(),
            hint: "The identity service answers something that is no token. Check its address.".to_owned(),
            reply: Reply::local("the token holds characters that a header cannot carry"),
        }
    }
}

fn tried(source: &dyn TokenSource, scope: &Scope) -> String {
    format!("{}, scope {scope}", source.describe())
}

#[cfg(test)]
mod tests;
