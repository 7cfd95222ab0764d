//! Managed identity: the platform vouches for the machine. Two forms of the same idea: the metadata service of a
//! virtual machine, and the endpoint that App Service, Functions and Container Apps give to their processes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::{HeaderValue, StatusCode};
use secrecy::{ExposeSecret, SecretString};

use super::token::{AccessToken, Clock, Patience, Scope, TokenError, TokenSource};
use super::wire;
use crate::error::Reply;
use crate::transport::{HttpRequest, Transport};

/// The metadata service has the same link-local address on every virtual machine.
const IMDS: &str = "http://169.254.169.254";

/// It answers in milliseconds when it is there, and not at all when it is not. Elsewhere the address may swallow
/// packets, so this is also how long a machine outside Azure waits to find out.
const PROBE: Duration = Duration::from_secs(2);

/// The longest one attempt may take when the service is known.
const ATTEMPT: Duration = Duration::from_secs(10);

/// Waits between attempts. The service's documentation asks for exponential backoff on 404, 410, 429 and 5xx; while
/// it is being updated it can be away for most of a minute.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];

enum Form {
    Imds { address: String },
    AppService { endpoint: String, header: SecretString },
}

/// Fetches tokens of the identity that the platform gives to this machine.
pub struct ManagedIdentity {
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    form: Form,
    client: Option<String>,
}

impl ManagedIdentity {
    /// The metadata service of a virtual machine.
    pub fn imds(transport: Arc<dyn Transport>, clock: Arc<dyn Clock>) -> Self {
        Self { transport, clock, form: Form::Imds { address: IMDS.to_owned() }, client: None }
    }

    /// The endpoint of App Service, Functions and Container Apps: the values of `IDENTITY_ENDPOINT` and
    /// `IDENTITY_HEADER`.
    pub fn app_service(
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        endpoint: impl Into<String>,
        header: SecretString,
    ) -> Self {
        Self { transport, clock, form: Form::AppService { endpoint: endpoint.into(), header }, client: None }
    }

    /// A user-assigned identity, by its client id. Without one, the identity of the machine itself.
    #[must_use]
    pub fn client_id(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// Puts the metadata service at another address: for emulators and tests. The other form keeps its endpoint.
    #[must_use]
    pub fn imds_at(mut self, address: impl AsRef<str>) -> Self {
        if let Form::Imds { address: here } = &mut self.form {
            *here = address.as_ref().trim_end_matches('/').to_owned();
        }
        self
    }

    fn request(&self, scope: &Scope) -> Result<HttpRequest, TokenError> {
        let version = match &self.form {
            Form::Imds { .. } => "2018-02-01",
            Form::AppService { .. } => "2019-08-01",
        };
        let mut fields = vec![("api-version", version), ("resource", scope.resource())];
        if let Some(client) = &self.client {
            fields.push(("client_id", client));
        }
        let query = wire::query(&fields);
        match &self.form {
            Form::Imds { address } => {
                let mut request = wire::get(format!("{address}/metadata/identity/oauth2/token?{query}"));
                request.headers.insert("metadata", HeaderValue::from_static("true"));
                Ok(request)
            }
            Form::AppService { endpoint, header } => {
                let joint = if endpoint.contains('?') { '&' } else { '?' };
                let mut request = wire::get(format!("{endpoint}{joint}{query}"));
                let value = wire::sensitive(header.expose_secret()).ok_or_else(|| {
                    TokenError::local(
                        "the value of IDENTITY_HEADER cannot travel in a header",
                        "The platform sets IDENTITY_ENDPOINT and IDENTITY_HEADER: do not set them by hand.",
                    )
                })?;
                request.headers.insert("x-identity-header", value);
                Ok(request)
            }
        }
    }

    /// Whether a refusal passes by itself. While looking around, a 404 is taken at its word: other clouds have a
    /// metadata service at the same address, and it knows no such path.
    fn passes(&self, status: StatusCode, patience: Patience) -> bool {
        match status {
            StatusCode::NOT_FOUND => matches!(self.form, Form::Imds { .. }) && patience == Patience::Full,
            StatusCode::GONE | StatusCode::TOO_MANY_REQUESTS => true,
            other => other.is_server_error(),
        }
    }

    fn refused(&self, answer: &wire::Answer) -> TokenError {
        let secrets = match &self.form {
            Form::AppService { header, .. } => vec![header],
            Form::Imds { .. } => Vec::new(),
        };
        let reply = answer.refusal(&secrets);
        let hint = match (answer.status, &self.client) {
            (StatusCode::BAD_REQUEST, Some(client)) => format!(
                "Assign the user-assigned identity {client} to this machine, or correct its client id. Check the scope too."
            ),
            (StatusCode::BAD_REQUEST, None) => "Turn on the system-assigned identity of this machine, or name the \
                client id of a user-assigned one. Check the scope too."
                .to_owned(),
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => {
                "The identity endpoint did not accept the process. Its variables change with each start of the \
                 platform: do not copy them."
                    .to_owned()
            }
            _ => "The platform's identity service is busy or being updated. Try again in a minute.".to_owned(),
        };
        TokenError { reply, hint }
    }

    fn silent(&self, why: String) -> TokenError {
        let hint = match &self.form {
            Form::Imds { .. } => {
                "There is no metadata service: this is not an Azure virtual machine, or a firewall or proxy keeps \
                 169.254.169.254 away. Use another credential here."
            }
            Form::AppService { .. } => "Check IDENTITY_ENDPOINT: the platform sets it for the process.",
        };
        TokenError { reply: Reply::local(why), hint: hint.to_owned() }
    }
}

#[async_trait]
impl TokenSource for ManagedIdentity {
    async fn fetch(&self, scope: &Scope, patience: Patience) -> Result<AccessToken, TokenError> {
        let request = self.request(scope)?;
        let mut pauses = PAUSES.iter();
        // Silence on the first attempt means that there is nobody; after an answer it is one more failure that passes.
        let mut heard = false;
        loop {
            let limit = if heard || patience == Patience::Full { ATTEMPT } else { PROBE };
            let failure = match wire::exchange(&*self.transport, request.clone(), limit).await {
                Ok(answer) if answer.status.is_success() => {
                    return AccessToken::read(&answer.body, Some(self.clock.now())).map_err(|why| {
                        TokenError::local(
                            format!("the identity service did not answer with a token: {why}"),
                            "Something else may be answering at its address, such as a proxy.",
                        )
                    });
                }
                Ok(answer) => {
                    heard = true;
                    let refusal = self.refused(&answer);
                    if !self.passes(answer.status, patience) {
                        return Err(refusal);
                    }
                    refusal
                }
                Err(wire::NoAnswer(why)) => {
                    let failure = self.silent(why);
                    if !heard {
                        return Err(failure);
                    }
                    failure
                }
            };
            match pauses.next() {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(failure),
            }
        }
    }

    fn describe(&self) -> String {
        let place = match &self.form {
            Form::Imds { .. } => "of this virtual machine",
            Form::AppService { .. } => "of this app",
        };
        match &self.client {
            Some(client) => format!("managed identity {client} {place}"),
            None => format!("system-assigned managed identity {place}"),
        }
    }

    fn hint(&self) -> String {
        "Assign the role to the managed identity itself: membership of a group reaches its tokens only after up to a \
         day, because the platform caches them."
            .to_owned()
    }
}

impl fmt::Debug for ManagedIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManagedIdentity({})", self.describe())
    }
}

#[cfg(test)]
mod tests;
